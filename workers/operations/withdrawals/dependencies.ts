// Dependencies of the operations in this folder.
import type { Proofs, ReadDependencies, Schedules } from "../dependencies.ts";

export interface WithdrawalDependencies extends ReadDependencies, Proofs {}

export interface WithdrawalWriteDependencies extends WithdrawalDependencies, Schedules {}
