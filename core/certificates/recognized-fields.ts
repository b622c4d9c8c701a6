// Decides which fields of a submission have a value that is valid for their key. Valid email addresses and phone numbers are indexed, so
// that a business can find certificates by them. All values are stored as typed. Invalid values are never used for matching.
import { normalizeEmailAddress, trimTypedAddress } from "../email-address.ts";
import { validateFieldKind } from "./field-kinds.ts";
import type { PublishedCertificate } from "./published-certificate.ts";
import type { SubjectFields } from "./subject.ts";

/**
 * Returns the E.164 form of a phone number, or null if the text is not a phone number. A number without a country code must be valid in
 * `country`. Without this rule, a foreign number could match someone else's number in `country`.
 */
export type ToE164 = (phone: string, country: string) => string | null;

/** Returns a phone number in international format, or the text unchanged if it is not a phone number. */
export type FormatPhone = (phone: string, country: string) => string;

export interface RecognizedFields {
  /** The keys of recognized fields with invalid values, sorted. */
  readonly unrecognized: readonly string[];
  /** Up to five email addresses without duplicates, normalized for matching. The same rules apply to `phones`. */
  readonly emails: readonly string[];
  readonly phones: readonly string[];
}

const maxAddresses = 5; // per kind (email and phone), because each address takes a row in an index

const qualifier =
  "home|work|business|office|personal|private|main|primary|secondary|second|other|alternate|alternative|alt|day|daytime|evening";
const toKeyPattern = (name: string): RegExp => new RegExp(`^(?:(?:${qualifier})_)?(?:${name})(?:_?[2-9]|_(?:${qualifier}))?$`);
const emailKeyPattern = toKeyPattern("e_?mail(?:_address)?");
const phoneKeyPattern = toKeyPattern("(?:phone|telephone|tel|mobile|cell|landline|whatsapp)(?:_(?:phone|number))?");

/**
 * Returns the email addresses in form order, each as typed and normalized. Removes invisible characters around each address, because no
 * email can be sent to an address with such a character.
 */
export const listEmailAddresses = (fields: SubjectFields): readonly (readonly [typed: string, normalized: string])[] =>
  [...fields].flatMap(([key, value]) => {
    const normalized = emailKeyPattern.test(key) ? normalizeEmailAddress(value) : null;
    return normalized === null ? [] : [[trimTypedAddress(value), normalized] as const];
  });

/** Returns true if the certificate has a valid email address, so that a withdrawal code can be emailed. */
export const hasEmailAddress = ({ subjectMasked, notes }: Pick<PublishedCertificate, "subjectMasked" | "notes">): boolean =>
  Object.entries(subjectMasked).some(
    ([key, masked]) => masked !== "" && emailKeyPattern.test(key) && !notes?.fields_unrecognized?.includes(key),
  );

/** Recognizes the fields. `country` is the business's country. */
export const recognizeFields = (fields: SubjectFields, country: string, toE164: ToE164): RecognizedFields => {
  const unrecognized: string[] = [];
  const emails = new Set<string>();
  const phones = new Set<string>();
  for (const [key, value] of fields) {
    if (value === "") continue;
    const isEmailKey = emailKeyPattern.test(key);
    if (!isEmailKey && !phoneKeyPattern.test(key)) {
      if (validateFieldKind(key, value) !== null) unrecognized.push(key);
      continue;
    }
    const normalized = isEmailKey ? normalizeEmailAddress(value) : toE164(value, country);
    if (normalized === null) unrecognized.push(key);
    else (isEmailKey ? emails : phones).add(normalized);
  }
  return { unrecognized: unrecognized.sort(), emails: [...emails].slice(0, maxAddresses), phones: [...phones].slice(0, maxAddresses) };
};
