// A subject's normalized email address and phone number. Used only for matching and the blind index; never stored.
import { normalizeEmailAddress } from "../email-address.ts";
import { trimWhiteSpace } from "../text.ts";
import type { SubjectFields } from "./subject.ts";

/** Returns the E.164 form of a number typed in a country, or null if it does not parse. */
export type ToE164 = (phone: string, country: string) => string | null;

/** Returns E.164 if the number parses in `country`, otherwise the trimmed text with whitespace collapsed. */
export const normalizePhone = (phone: string, country: string, toE164: ToE164): string =>
  toE164(phone, country) ??
  trimWhiteSpace(phone)
    .normalize("NFC")
    .replace(/\p{White_Space}+/gu, " ");

export interface NormalizedSubject {
  readonly email: string | null;
  readonly phone: string | null;
}

/**
 * Normalizes a subject. A value is null for a missing email or phone, and for an email that is not exactly one address. `phone` is
 * preferred over `mobile`.
 */
export const normalizeSubject = (fields: SubjectFields, country: string, toE164: ToE164): NormalizedSubject => {
  const email = fields.get("email") ?? "";
  const phone = fields.get("phone") || fields.get("mobile") || "";
  return {
    email: email === "" ? null : normalizeEmailAddress(email),
    phone: phone === "" ? null : normalizePhone(phone, country, toE164),
  };
};
