// Notices to the owners of a business. Other people can cause many notices, so owners do not get an email for each one. The first notice of
// a kind is emailed immediately. Later ones wait and are combined in one email, which says how many there are.
import type { Instant } from "../time.ts";
import type { MailData, OwnerNoticeKind, TemplatedMail } from "./templates.ts";

export type OwnerNotice = Extract<TemplatedMail, { template: OwnerNoticeKind }>;

/** Returns the number of records (such as certificates or shares) that a notice is about. */
export const countNoticeRecords = ({ data }: OwnerNotice): number =>
  "certIds" in data ? data.certIds.length : "shareIds" in data ? data.shareIds.length : 1;

/** Returns the cease deadline in a notice, or null for kinds without one. */
export const getNoticeDeadline = ({ data }: OwnerNotice): Instant | null => ("ceaseBy" in data ? data.ceaseBy : null);

/** The waiting notices of one kind for one business. */
export interface WaitingNotices {
  readonly kind: OwnerNoticeKind;
  /** The number of waiting notices; at least 1. */
  readonly notices: number;
  /**
   * The sealed details of the oldest waiting notice. Null if they were not stored: while several notices wait, only the details of the
   * first and the last one are stored.
   */
  readonly firstSealed: string | null;
  /** The number of records that these notices are about. */
  readonly records: number;
  readonly earliestCeaseBy: Instant | null;
  /** When the waiting notices will be emailed. */
  readonly dueAt: Instant;
  /** When the owners last got an email of this kind; null if they never did. */
  readonly sentAt: Instant | null;
}

/**
 * Which email to send. `first`: email the oldest notice alone and keep the rest waiting. `only`: email the only waiting notice. `digest`:
 * email all waiting notices together.
 */
export type OwnerEmail = { readonly kind: "first" | "only" } | { readonly kind: "digest"; readonly data: MailData["owner_digest"] };

/**
 * Decides what to email at `dueAt`. If the oldest notice did not have to wait for an earlier email, it is emailed alone, even if others
 * have arrived since. Such an email contains more details than a digest. `spacingMs` is the minimum time between two emails.
 */
export const chooseOwnerEmail = (waiting: WaitingNotices, spacingMs: number): OwnerEmail => {
  const { kind, notices, firstSealed, records, earliestCeaseBy, dueAt, sentAt } = waiting;
  if (notices === 1) return { kind: "only" };
  if (sentAt === null || (firstSealed !== null && dueAt > sentAt + spacingMs)) return { kind: "first" };
  return { kind: "digest", data: { kind, count: records, since: sentAt, earliestCeaseBy } };
};
