// When a share is next due: a warning seven days and one day before its end, and the end (SPEC, Limits). A mark that does not lie
// after the grant is none: a share of five days is warned of once.
import { dayMs, type Instant } from "../time.ts";

const warningLeadTimesMs = [7 * dayMs, dayMs] as const;

/** The first mark after `after`; the end where no warning is left. */
export const computeNextDueAt = (share: { readonly createdAt: Instant; readonly expiresAt: Instant }, after: Instant): Instant =>
  warningLeadTimesMs.map((before) => share.expiresAt - before).find((mark) => mark > Math.max(share.createdAt, after)) ?? share.expiresAt;
