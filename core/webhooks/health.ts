// Decides when the owners of a failing endpoint are notified.
import { hourMs, type Instant } from "../time.ts";
import type { EndpointHealth } from "./endpoint.ts";

export type FailureStreak = Pick<EndpointHealth, "failingSince" | "consecutiveFailures">;

const alertFailureThreshold = 100;
const alertAfterMs = 24 * hourMs;

/** Returns true after 100 consecutive failures, or if the endpoint has been failing for 24 hours. */
export const shouldAlert = ({ failingSince, consecutiveFailures }: FailureStreak, now: Instant): boolean =>
  failingSince !== null && (consecutiveFailures >= alertFailureThreshold || now - failingSince >= alertAfterMs);
