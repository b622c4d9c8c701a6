// The comparable forms of a subject's address and number. They serve matching and the blind index and are stored nowhere.
import { comparableMailbox } from "../mailbox.ts";
import { trimmed } from "../text.ts";
import type { SubjectFields } from "./subject.ts";

/** E.164 of a number typed in a country, or null when it does not parse. */
export type ToE164 = (phone: string, country: string) => string | null;

export const comparablePhone = (phone: string, country: string, toE164: ToE164): string =>
  toE164(phone, country) ??
  trimmed(phone)
    .normalize("NFC")
    .replace(/\p{White_Space}+/gu, " ");

export interface Comparable {
  readonly email: string | null;
  readonly phone: string | null;
}

export const comparableSubject = (fields: SubjectFields, country: string, toE164: ToE164): Comparable => {
  const email = fields.get("email") ?? "";
  const phone = fields.get("phone") || fields.get("mobile") || "";
  return {
    email: email === "" ? null : comparableMailbox(email),
    phone: phone === "" ? null : comparablePhone(phone, country, toE164),
  };
};
