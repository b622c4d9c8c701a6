// When the owners of an endpoint hear that it has been failing for long.
import { hourMs, type Instant } from "../time.ts";
import type { EndpointHealth } from "./endpoint.ts";

export type Failing = Pick<EndpointHealth, "failingSince" | "consecutiveFailures">;

const alarmingFailures = 100;
const alarmingMs = 24 * hourMs;

/** A hundred attempts in a row failed, or the first of those that failed is a day ago. */
export const needsAlert = ({ failingSince, consecutiveFailures }: Failing, now: Instant): boolean =>
  failingSince !== null && (consecutiveFailures >= alarmingFailures || now - failingSince >= alarmingMs);
