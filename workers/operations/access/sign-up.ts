// Implements POST /v1/business/signup. The account is created only after the emailed code verifies the address, so signing up with someone
// else's address gains nothing. The response, its duration and the number of written rows do not reveal whether the address is known: a
// member's address gets a sign-in code, and the sign-up is never completed.
import { getHostWithoutWww, parseClaimedDomain } from "../../../core/accounts/domain-claim.ts";
import { maxBusinessNameLength, validateBusinessName } from "../../../core/accounts/profile.ts";
import { isCountryCode } from "../../../core/certificates/field-kinds.ts";
import { generateId, type BusinessId } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import { ok, refuse, type Refusal, type Result } from "../../../core/result.ts";
import { normalizeEmailAddress, trimTypedAddress } from "../../../core/email-address.ts";
import { parseLine, trimWhiteSpace } from "../../../core/text.ts";
import { dayMs } from "../../../core/time.ts";
import { batch } from "../../../storage/database.ts";
import { insertSignup, type SignupRequest } from "../../../storage/signups.ts";
import type { PageFetcher } from "../dependencies.ts";
import type { AccessWriteDependencies } from "./dependencies.ts";
import { prepareEmailCode } from "./email-codes.ts";
import { createSignInUrl } from "./sign-in-link.ts";
import {
  invalidEmailMessage,
  lookUpAddress,
  toCodeRequester,
  toSignInCodeBinding,
  getSignInCodeLimits,
  openAddresseeEmail,
} from "./sign-in-address.ts";

/** Gives the person a day to request another code if the email was lost. */
const signupLifeMs = dayMs;

export interface SignupInput {
  readonly businessName: string;
  readonly legalName: string | null;
  readonly email: string;
  readonly country: string;
  /** A hostname or URL. */
  readonly website: string | null;
}

export interface SignupResult {
  readonly id: BusinessId;
  readonly name: string;
  readonly status: "active" | "pending";
}

/**
 * Returns the domain to claim for a website, or null if the website has no domain that can be claimed. In that case, the sign-up continues
 * without a domain. Returns `invalid_request` if the text is not a URL or hostname, or is too long.
 */
const parseWebsiteDomain = ({ getRegistrableDomain }: PageFetcher, website: string | null): Result<string | null, "invalid_request"> => {
  const text = website === null ? "" : trimWhiteSpace(website);
  if (text === "") return ok(null);
  const url = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  if (url.length > 2_048 || !URL.canParse(url))
    return refuse("invalid_request", "website: must be a URL or host name of at most 2,048 characters.");
  const claimed = parseClaimedDomain(getHostWithoutWww(url), { getRegistrableDomain, localHosts: [] });
  return ok(claimed.ok ? claimed.value : null);
};

/** The error of an invalid sign-up. `faults` are the errors of all invalid fields, and `detail` is the first of them. */
interface InvalidSignup extends Refusal<"invalid_request"> {
  readonly faults: readonly string[];
}

const refuseSignup = (faults: readonly string[]): InvalidSignup => ({ ...refuse("invalid_request", faults[0]), faults });

const parseSignup = (services: PageFetcher, input: SignupInput): { readonly ok: true; readonly value: SignupRequest } | InvalidSignup => {
  const name = trimWhiteSpace(input.businessName);
  const nameFault = validateBusinessName(name);
  const legalName = parseLine("legal_name", input.legalName, maxBusinessNameLength);
  const domain = parseWebsiteDomain(services, input.website);
  const faults = [
    nameFault !== null && `business_name: ${nameFault}.`,
    !legalName.ok && legalName.detail,
    !isCountryCode(input.country) && "country: must be a two-letter ISO 3166-1 code.",
    !domain.ok && domain.detail,
    normalizeEmailAddress(input.email) === null && invalidEmailMessage,
  ].filter((fault) => typeof fault === "string");
  if (!legalName.ok || !domain.ok || faults.length > 0) return refuseSignup(faults);
  return ok({ name, legalName: legalName.value, country: input.country.toUpperCase(), domain: domain.value });
};

/**
 * Stores a sign-up and emails a code. After the code is verified, the account is active, or pending if sign-ups need approval.
 * The only possible error is `invalid_request`.
 */
export const signUp = async (
  services: AccessWriteDependencies,
  input: SignupInput,
  { language, browser }: { readonly language: Language; readonly browser: string },
): Promise<{ readonly ok: true; readonly value: SignupResult } | InvalidSignup> => {
  const request = parseSignup(services, input);
  if (!request.ok) return request;
  const lookup = await lookUpAddress(services, "business", input.email);
  if (lookup === null) return refuseSignup([invalidEmailMessage]);
  const { vault, config } = services;
  const { db, shard, addressee, emailIndex } = lookup;
  const now = services.clock();
  const knownEmail = await openAddresseeEmail(services, lookup);
  const isMember = addressee?.kind === "person";
  const email = trimTypedAddress(input.email);
  const id = generateId("biz_", shard, services.random) as BusinessId;
  const binding = toSignInCodeBinding(lookup, knownEmail);
  const code = await prepareEmailCode(services, db, toCodeRequester(lookup, browser), {
    limits: getSignInCodeLimits(services),
    binding: () => binding,
    to: isMember ? knownEmail : email,
    mail: async (digits, codeId) => ({
      template: isMember ? "login_code" : "signup_code",
      data: { code: digits, signInUrl: await createSignInUrl(services, "business", codeId, binding) },
    }),
    language,
    signupId: isMember ? null : id,
    now,
  });
  const signup = await insertSignup(
    db,
    vault,
    { ...request.value, id, email, emailIndex, createdAt: now, expiresAt: now + signupLifeMs },
    code.id,
  );
  await batch(db, [...code.statements, ...signup]);
  services.scheduleMail();
  return ok({ id, name: request.value.name, status: config.requiresSignupApproval ? "pending" : "active" });
};
