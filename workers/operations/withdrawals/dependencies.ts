// What the operations of this folder depend on.
import type { Proofs, ReadDependencies, Schedules } from "../dependencies.ts";

export interface WithdrawalDependencies extends ReadDependencies, Proofs {}

export interface WithdrawalWriteDependencies extends WithdrawalDependencies, Schedules {}
