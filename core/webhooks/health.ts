// Decides when the owners of a failing endpoint are notified.
import { hourMs, type Instant } from "../time.ts";
import type { EndpointHealth } from "./endpoint.ts";

export type FailureStreak = Pick<EndpointHealth, "failingSince" | "consecutiveFailures">;

const alertFailureThreshold = 100;
const alertAfterMs = 24 * hourMs;

/** Returns true after 100 consecutive failures, or 24 hours after the first of them. */
export const shouldAlert = ({ failingSince, consecutiveFailures }: FailureStreak, now: Instant): boolean =>
  failingSince !== null && (consecutiveFailures >= alertFailureThreshold || now - failingSince >= alertAfterMs);
