// Dependencies of the operations in this folder.
import type { Counters, Proofs, Schedules } from "../dependencies.ts";
import type { IntakeDependencies } from "../intake/dependencies.ts";

export interface WithdrawalDependencies extends IntakeDependencies, Proofs {}

export interface WithdrawalWriteDependencies extends WithdrawalDependencies, Schedules, Pick<Counters, "takeExactly"> {}
