// What a business says of itself, and what it may choose about its account. Published beside certificates, so each text is one that
// looks like what it is.
import { isCountryCode } from "../certificates/field-kinds.ts";
import { isEmailAddress } from "../email-address.ts";
import { ok, refuse, type Result } from "../result.ts";
import type { WithdrawalScope } from "../withdrawals/withdrawal.ts";
import { validateLine, validateMultilineText, trimWhiteSpace } from "../text.ts";

export interface BusinessProfile {
  readonly name: string;
  /** How courts and letters call it. */
  readonly legalName: string | null;
  readonly mailingAddress: string | null;
  /** Published, for questions about consent. */
  readonly contactEmail: string | null;
  readonly contactPhone: string | null;
  readonly logoUrl: string | null;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  /** How long the persons of new certificates are kept. */
  readonly retentionYears: number;
  /** How far a withdrawal reaches that the business records without saying. */
  readonly revocationScopeDefault: WithdrawalScope;
  /** Whether endpoints may ask for the events that are off otherwise. */
  readonly emitsIssued: boolean;
}

/** What is undefined stays as it is. */
export type BusinessProfileChange = { readonly [K in keyof BusinessProfile]?: BusinessProfile[K] | undefined };

export const maxBusinessNameLength = 200;
const maxAddressLength = 500;
const maxUrlLength = 2_048;
const phonePattern = /^\+?[0-9][0-9 ()./-]{4,38}$/;

const lineValidator =
  (max: number) =>
  (text: string): string | null =>
    text.length > max ? `must be at most ${max} characters` : validateLine(text);

const validateMailingAddress = (text: string): string | null =>
  text.length > maxAddressLength ? `must be at most ${maxAddressLength} characters` : validateMultilineText(text);

/** An image on a page of ours is asked for by the browsers of persons: https, a name, and nothing that signs anybody in. */
const validateImageUrl = (text: string): string | null => {
  const rule = "must be an https address of at most 2,048 characters";
  if (text.length > maxUrlLength || !/^https:\/\/[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return rule;
  const { hostname, username, password } = new URL(text);
  return username !== "" || password !== "" || !hostname.includes(".") ? rule : null;
};

/** Each text with its name on the wire and the rule it must keep; null or an empty text clears it where that is allowed. */
const textFields = {
  legalName: ["legal_name", lineValidator(maxBusinessNameLength)],
  mailingAddress: ["mailing_address", validateMailingAddress],
  contactEmail: ["contact_email", (text: string) => (isEmailAddress(text) ? null : "must be one e-mail address")],
  contactPhone: ["contact_phone", (text: string) => (phonePattern.test(text) ? null : "must be a telephone number")],
  logoUrl: ["logo_url", validateImageUrl],
} as const;

/** The name of a business: something visible, on one line. */
export const validateBusinessName = (name: string): string | null =>
  name === "" ? "must hold something visible" : lineValidator(maxBusinessNameLength)(name);

/** Trimmed and judged. */
export const parseProfileChange = (asked: BusinessProfileChange): Result<BusinessProfileChange, "invalid_request"> => {
  const change: Record<string, unknown> = {};
  for (const [key, [wireName, faultOf]] of Object.entries(textFields) as [
    keyof typeof textFields,
    (typeof textFields)[keyof typeof textFields],
  ][]) {
    const given = asked[key];
    if (given === undefined) continue;
    const text = given === null ? "" : trimWhiteSpace(given);
    const fault = text === "" ? null : faultOf(text);
    if (fault !== null) return refuse("invalid_request", `${wireName}: ${fault}.`);
    change[key] = text === "" ? null : text;
  }
  if (asked.name !== undefined) {
    const name = trimWhiteSpace(asked.name);
    const fault = validateBusinessName(name);
    if (fault !== null) return refuse("invalid_request", `name: ${fault}.`);
    change.name = name;
  }
  if (asked.country !== undefined) {
    if (!isCountryCode(asked.country)) return refuse("invalid_request", "country: must be two letters of ISO 3166-1.");
    change.country = asked.country.toUpperCase();
  }
  if (asked.retentionYears !== undefined) change.retentionYears = asked.retentionYears;
  if (asked.emitsIssued !== undefined) change.emitsIssued = asked.emitsIssued;
  if (asked.revocationScopeDefault !== undefined) change.revocationScopeDefault = asked.revocationScopeDefault;
  return ok(change as BusinessProfileChange);
};
