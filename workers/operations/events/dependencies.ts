// Dependencies of the operations in this folder.
import type { ReadDependencies } from "../dependencies.ts";
import type { EventSequences } from "../webhooks/dependencies.ts";

export interface EventFeedDependencies extends ReadDependencies, EventSequences {}
