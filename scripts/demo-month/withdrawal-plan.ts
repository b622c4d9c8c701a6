// Plans which certificates of the demo month are withdrawn, when, and how. Most withdrawals are acknowledged on time, one is overdue, and a
// few are still waiting for acknowledgment.
import { dayMs, hourMs, minuteMs, type Instant } from "../../core/time.ts";
import { getLastTimeWithDeadlineBefore, getOutageStart } from "./calendar.ts";
import type { Lead } from "./leads.ts";

/** The recipient from which people withdraw in withdrawals of the kind `recipient`. */
export const namedRecipient = "Bright Homes Inc";

/**
 * How the person withdraws consent: with a link, with a link for one recipient only, or by calling the business, which records the
 * withdrawal.
 */
export type WithdrawalKind = "link" | "recipient" | "phone";

interface WithdrawalTimes {
  readonly at: Instant;
  readonly kind: WithdrawalKind;
  /** Null if the withdrawal is not acknowledged yet. */
  readonly acknowledgedAt: Instant | null;
}

export interface PlannedWithdrawal extends WithdrawalTimes {
  /** The index of the certificate in the list of leads. */
  readonly lead: number;
}

/** The kind of each acknowledged withdrawal, its age in days, and the days until its acknowledgment. */
const acknowledged = [
  ["link", 27.213, 2.1],
  ["link", 25.648, 5.2],
  ["phone", 23.119, 0.1],
  ["link", 21.402, 3.3],
  ["recipient", 20.337, 4.2],
  ["link", 19.156, 6.1],
  ["link", 12.371, 4.3],
  ["phone", 9.244, 0.1],
  ["link", 8.529, 2.2],
  ["link", 4.283, 1.4],
] as const;

/** When people withdraw consent during the endpoint's outage, in minutes after its start. */
const outageMinutes = [13, 37];

const open = [
  ["recipient", 5.418],
  ["link", 2.657],
  ["link", 0.446],
] as const;

const listTimes = (now: Instant): readonly WithdrawalTimes[] => {
  const before = (days: number): Instant => Math.floor(now - days * dayMs);
  const times: readonly WithdrawalTimes[] = [
    ...acknowledged.map(([kind, age, days]) => ({ kind, at: before(age), acknowledgedAt: before(age - days) })),
    ...outageMinutes.map((minutes): WithdrawalTimes => {
      const at = getOutageStart(now) + minutes * minuteMs;
      return { kind: "link", at, acknowledgedAt: at + 4 * hourMs };
    }),
    ...open.map(([kind, age]) => ({ kind, at: before(age), acknowledgedAt: null })),
    { kind: "link", at: getLastTimeWithDeadlineBefore(now, now - dayMs / 2), acknowledgedAt: null }, // this withdrawal is overdue
    // This withdrawal has the next deadline.
    { kind: "link", at: getLastTimeWithDeadlineBefore(now, now + 6 * hourMs) + hourMs, acknowledgedAt: null },
  ];
  return times.toSorted((a, b) => a.at - b.at);
};

/**
 * Consent can be withdrawn only for recipients that the person accepted. A withdrawal for a single recipient must leave at least one other
 * recipient, so that the certificate stays active.
 */
const canWithdraw = ({ submission }: Lead, kind: WithdrawalKind): boolean => {
  const accepted = submission.entitiesAccepted ?? submission.entities;
  return kind === "recipient" ? accepted.length > 1 && accepted.includes(namedRecipient) : accepted.length > 0;
};

/**
 * For each withdrawal, chooses the newest suitable certificate that was issued more than five hours earlier. Chooses no certificate twice.
 */
export const planWithdrawals = (leads: readonly Lead[], now: Instant): readonly PlannedWithdrawal[] => {
  const taken = new Set<number>();
  return listTimes(now).map((times) => {
    const lead = leads.findLastIndex((one, at) => !taken.has(at) && one.at < times.at - 5 * hourMs && canWithdraw(one, times.kind));
    if (lead === -1) throw new Error("demo month: no certificate can be withdrawn at this time");
    taken.add(lead);
    return { ...times, lead };
  });
};
