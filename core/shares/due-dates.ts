// Computes when a share next needs processing: at its next expiry warning (seven days and one day before it expires), or when it expires.
// There is no warning for a time before the grant, so a five-day share has only one warning.
import { dayMs, type Instant } from "../time.ts";
import type { ShareStatus } from "./share.ts";

const warningLeadTimesMs = [7 * dayMs, dayMs] as const;

/** Returns the first due date after `after`, or the expiry if no warnings are left. */
export const computeNextDueAt = (share: { readonly createdAt: Instant; readonly expiresAt: Instant }, after: Instant): Instant =>
  warningLeadTimesMs.map((leadTime) => share.expiresAt - leadTime).find((warningAt) => warningAt > Math.max(share.createdAt, after)) ??
  share.expiresAt;

/** Returns the number of whole days until a share ends. Returns null if the share ends eight or more days from now, or is not active. */
export const getDaysUntilEnd = (share: { readonly status: ShareStatus; readonly expiresAt: Instant }, now: Instant): number | null => {
  const days = Math.floor((share.expiresAt - now) / dayMs);
  return share.status === "active" && days * dayMs <= warningLeadTimesMs[0] ? days : null;
};
