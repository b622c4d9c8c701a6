// What the operations of this folder depend on.
import type { ContactFieldDependencies } from "../consumers/dependencies.ts";
import type { Proofs, Schedules } from "../dependencies.ts";

export interface ShareDependencies extends ContactFieldDependencies, Proofs {}

export interface ShareWriteDependencies extends ShareDependencies, Schedules {}
