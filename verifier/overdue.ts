// Checks whether withdrawals are correctly marked as overdue. A withdrawal is overdue if it is not acknowledged and its deadline passed
// before the pack was created.
import { minuteMs } from "../core/time.ts";
import type { JsonObject } from "../core/canonical-json.ts";
import { isIsoTime } from "../core/ledger/key-validity.ts";
import { boundDetailsSince } from "./format-changes.ts";
import { asObject } from "./json.ts";

const maxClockSkewMs = 5 * minuteMs; // the deadline can pass between reading the certificate and creating the pack

const isFaulty = (withdrawal: JsonObject, acknowledgedAt: unknown, createdAt: string): boolean => {
  const { withdrawn_at: at, cease_by: ceaseBy, overdue } = withdrawal;
  // Older withdrawals do not have to be marked. If a time is malformed, other checks report it.
  if (!isIsoTime(at) || at < boundDetailsSince || !isIsoTime(ceaseBy)) return false;
  const lateMs = Date.parse(createdAt) - Date.parse(ceaseBy);
  if (acknowledgedAt === null && Math.abs(lateMs) <= maxClockSkewMs) return typeof overdue !== "boolean";
  return overdue !== (acknowledgedAt === null && lateMs > 0);
};

/**
 * Finds a withdrawal that is wrongly marked as overdue or as not overdue. Returns null if there is none. If the whole withdrawal was
 * acknowledged, this counts for each recipient.
 */
export const findOverdueFault = (certificate: JsonObject, createdAt: string): string | null => {
  const withdrawal = asObject(certificate.withdrawal);
  const wholeAcknowledgedAt = withdrawal?.cease_acknowledged_at ?? null;
  const recipients = (Array.isArray(certificate.entities_withdrawn) ? certificate.entities_withdrawn : []).map(asObject);
  const isWrong =
    (withdrawal !== null && isFaulty(withdrawal, wholeAcknowledgedAt, createdAt)) ||
    recipients.some((one) => one !== null && isFaulty(one, one.cease_acknowledged_at ?? wholeAcknowledgedAt, createdAt));
  return isWrong ? "a withdrawal is wrongly called overdue or not" : null;
};
