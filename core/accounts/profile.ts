// A business's profile and settings. Profile text is published next to certificates, so each field must be visible, unambiguous text.
import { isCountryCode } from "../certificates/field-kinds.ts";
import type { ToE164 } from "../certificates/recognized-fields.ts";
import { isEmailAddress } from "../email-address.ts";
import { ok, refuse, type Result } from "../result.ts";
import type { WithdrawalScope } from "../withdrawals/withdrawal.ts";
import { validateLine, validateMultilineText, trimWhiteSpace } from "../text.ts";

export interface BusinessProfile {
  readonly name: string;
  readonly legalName: string | null;
  readonly mailingAddress: string | null;
  /** The published email address at which people can ask about their consent. */
  readonly contactEmail: string | null;
  readonly contactPhone: string | null;
  readonly logoUrl: string | null;
  /** The country as an ISO 3166-1 alpha-2 code. */
  readonly country: string;
  /** How many years the personal data in new certificates is kept. */
  readonly retentionYears: number;
  /** The default scope of withdrawals that the business records. */
  readonly revocationScopeDefault: WithdrawalScope;
  /** True if endpoints may subscribe to the opt-in event types. */
  readonly emitsIssued: boolean;
}

/** Changes to the profile. Undefined properties stay unchanged. */
export type BusinessProfileChange = { readonly [K in keyof BusinessProfile]?: BusinessProfile[K] | undefined };

export const maxBusinessNameLength = 200;
const maxAddressLength = 500;
const maxUrlLength = 2_048;
/** Matches the usual ways to write a phone number. The number does not have to exist in a numbering plan. */
const phonePattern = /^\+?[0-9][0-9 ()./-]{4,38}$/;
const maxPhoneLength = 60;

const lineValidator =
  (max: number) =>
  (text: string): string | null =>
    text.length > max ? `must be at most ${max} characters` : validateLine(text);

const validateMailingAddress = (text: string): string | null =>
  text.length > maxAddressLength ? `must be at most ${maxAddressLength} characters` : validateMultilineText(text);

/** Validates a logo URL, which consumers' browsers load. It must use https, have a host with a dot, and contain no credentials. */
const validateImageUrl = (text: string): string | null => {
  const rule = "must be an https URL of at most 2,048 characters";
  if (text.length > maxUrlLength || !/^https:\/\/[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return rule;
  const { hostname, username, password } = new URL(text);
  return username !== "" || password !== "" || !hostname.includes(".") ? rule : null;
};

/** The optional text fields, each with its JSON key and validator. Null or empty text clears the field. */
const textFields = {
  legalName: ["legal_name", lineValidator(maxBusinessNameLength)],
  mailingAddress: ["mailing_address", validateMailingAddress],
  contactEmail: ["contact_email", (text: string) => (isEmailAddress(text) ? null : "must be a valid email address")],
  contactPhone: ["contact_phone", lineValidator(maxPhoneLength)],
  logoUrl: ["logo_url", validateImageUrl],
} as const;

/** Returns what is wrong with a business name, or null if it is valid. */
export const validateBusinessName = (name: string): string | null =>
  name === "" ? "must not be empty" : lineValidator(maxBusinessNameLength)(name);

/**
 * Trims and validates the text properties in the change. A phone number that does not match `phonePattern` is accepted only if `toE164` can
 * parse it with the account's country, or the new country if the change contains one. Refuses with `invalid_request`. The message contains
 * the field and the rule.
 */
export const parseProfileChange = (
  requested: BusinessProfileChange,
  current: Pick<BusinessProfile, "country">,
  toE164: ToE164,
): Result<BusinessProfileChange, "invalid_request"> => {
  const change: Record<string, unknown> = {};
  for (const [key, [jsonKey, validate]] of Object.entries(textFields) as [
    keyof typeof textFields,
    (typeof textFields)[keyof typeof textFields],
  ][]) {
    const value = requested[key];
    if (value === undefined) continue;
    const text = value === null ? "" : trimWhiteSpace(value);
    const fault = text === "" ? null : validate(text);
    if (fault !== null) return refuse("invalid_request", `${jsonKey}: ${fault}.`);
    change[key] = text === "" ? null : text;
  }
  if (requested.name !== undefined) {
    const name = trimWhiteSpace(requested.name);
    const fault = validateBusinessName(name);
    if (fault !== null) return refuse("invalid_request", `name: ${fault}.`);
    change.name = name;
  }
  if (requested.country !== undefined) {
    if (!isCountryCode(requested.country)) return refuse("invalid_request", "country: must be a two-letter ISO 3166-1 code.");
    change.country = requested.country.toUpperCase();
  }
  const phone = change.contactPhone as string | null | undefined;
  if (phone != null && !phonePattern.test(phone) && toE164(phone, requested.country?.toUpperCase() ?? current.country) === null)
    return refuse("invalid_request", "contact_phone: must be a phone number.");
  if (requested.retentionYears !== undefined) change.retentionYears = requested.retentionYears;
  if (requested.emitsIssued !== undefined) change.emitsIssued = requested.emitsIssued;
  if (requested.revocationScopeDefault !== undefined) change.revocationScopeDefault = requested.revocationScopeDefault;
  return ok(change as BusinessProfileChange);
};
