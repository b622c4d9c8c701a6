// Dependencies of the operations in this folder.
import type { CountRequests } from "../../adapters/request-counts.ts";
import type { ReadDependencies } from "../dependencies.ts";
import type { EventSequences } from "../webhooks/dependencies.ts";

export interface AdminDependencies extends ReadDependencies, EventSequences {}

export interface Metrics {
  /** Null if this deployment cannot read its metrics. */
  readonly countRequests: CountRequests | null;
}
