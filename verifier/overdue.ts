// Checks whether withdrawals are correctly marked as overdue: the deadline had passed without an acknowledgment when the pack was made.
import { minuteMs } from "../core/time.ts";
import { boundDetailsSince } from "./format-changes.ts";
import { asObject, isIsoInstant, type JsonObject } from "./json.ts";

const maxClockSkewMs = 5 * minuteMs; // the certificate is read shortly before the pack is created

const isFaulty = (withdrawal: JsonObject, acknowledgedAt: unknown, createdAt: string): boolean => {
  const { withdrawn_at: at, cease_by: ceaseBy, overdue } = withdrawal;
  if (!isIsoInstant(at) || at < boundDetailsSince || !isIsoInstant(ceaseBy)) return false; // other checks find a malformed time
  const lateMs = Date.parse(createdAt) - Date.parse(ceaseBy);
  if (acknowledgedAt === null && Math.abs(lateMs) <= maxClockSkewMs) return typeof overdue !== "boolean";
  return overdue !== (acknowledgedAt === null && lateMs > 0);
};

/** An acknowledgment of the whole withdrawal counts for each recipient. Returns null if the overdue mark of every withdrawal is correct. */
export const findOverdueFault = (certificate: JsonObject, createdAt: string): string | null => {
  const withdrawal = asObject(certificate.withdrawal);
  const wholeAcknowledgedAt = withdrawal?.cease_acknowledged_at ?? null;
  const recipients = (Array.isArray(certificate.entities_withdrawn) ? certificate.entities_withdrawn : []).map(asObject);
  const isWrong =
    (withdrawal !== null && isFaulty(withdrawal, wholeAcknowledgedAt, createdAt)) ||
    recipients.some((one) => one !== null && isFaulty(one, one.cease_acknowledged_at ?? wholeAcknowledgedAt, createdAt));
  return isWrong ? "a withdrawal is wrongly called overdue or not" : null;
};
