// What the operations of this folder depend on.
import type { ReadDependencies } from "../dependencies.ts";
import type { EventSequences } from "../webhooks/dependencies.ts";

export interface AdminDependencies extends ReadDependencies, EventSequences {}
