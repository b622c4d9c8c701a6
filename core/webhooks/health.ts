// When the owners of an endpoint hear that it has been failing for long.
import { hourMs, type Instant } from "../time.ts";
import type { EndpointHealth } from "./endpoint.ts";

export type FailureStreak = Pick<EndpointHealth, "failingSince" | "consecutiveFailures">;

const alertFailureThreshold = 100;
const alertAfterMs = 24 * hourMs;

/** A hundred attempts in a row failed, or the first of those that failed is a day ago. */
export const shouldAlert = ({ failingSince, consecutiveFailures }: FailureStreak, now: Instant): boolean =>
  failingSince !== null && (consecutiveFailures >= alertFailureThreshold || now - failingSince >= alertAfterMs);
