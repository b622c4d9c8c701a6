// Dependencies of the operations in this folder.
import type { ContactFieldDependencies } from "../consumers/dependencies.ts";
import type { Proofs, Schedules } from "../dependencies.ts";

export interface ShareDependencies extends ContactFieldDependencies, Proofs {}

export interface ShareWriteDependencies extends ShareDependencies, Schedules {}
