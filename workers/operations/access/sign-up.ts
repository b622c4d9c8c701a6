// POST /v1/business/signup: an account is asked for. It comes to exist when its address is proved by the code that is mailed, so
// whoever signs up somebody else's address gains nothing; and nothing the answer says, costs or leaves behind tells whether the
// address is known: one that is gets a code to sign in, and its sign-up is never opened.
import { parseClaimedDomain } from "../../../core/accounts/domain-claim.ts";
import { maxBusinessNameLength, validateBusinessName } from "../../../core/accounts/profile.ts";
import { isCountryCode } from "../../../core/certificates/field-kinds.ts";
import { generateId, type BusinessId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { parseLine, trimWhiteSpace } from "../../../core/text.ts";
import { dayMs } from "../../../core/time.ts";
import { batch } from "../../../storage/database.ts";
import { insertSignup, type SignupRequest } from "../../../storage/signups.ts";
import type { PageFetcher } from "../dependencies.ts";
import type { AccessWriteDependencies } from "./dependencies.ts";
import { prepareEmailCode } from "./email-codes.ts";
import { lookUpAddress, toCodeRequester, toSignInCodeBinding, getSignInCodeLimits, openAddresseeEmail } from "./sign-in-address.ts";

/** A person who lost the mail can have another code for a day. */
const signupLifeMs = dayMs;

export interface SignupInput {
  readonly businessName: string;
  readonly legalName: string | null;
  readonly email: string;
  readonly country: string;
  /** A host, or the address of a page on it. */
  readonly website: string | null;
}

export interface SignupResult {
  readonly id: BusinessId;
  readonly name: string;
  readonly status: "active" | "pending";
}

/** The domain of a website as it may be claimed; null where there is none to claim, which is no fault of the sign-up. */
const parseWebsiteDomain = ({ getRegistrableDomain }: PageFetcher, website: string | null): Result<string | null, "invalid_request"> => {
  const text = website === null ? "" : trimWhiteSpace(website);
  if (text === "") return ok(null);
  const address = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  if (address.length > 2_048 || !URL.canParse(address)) return refuse("invalid_request", "website: must be an https address.");
  const claimed = parseClaimedDomain(new URL(address).hostname.replace(/^www\./, ""), { getRegistrableDomain, localHosts: [] });
  return ok(claimed.ok ? claimed.value : null);
};

const parseSignup = (services: PageFetcher, input: SignupInput): Result<SignupRequest, "invalid_request"> => {
  const name = trimWhiteSpace(input.businessName);
  const fault = validateBusinessName(name);
  if (fault !== null) return refuse("invalid_request", `business_name: ${fault}.`);
  const legalName = parseLine("legal_name", input.legalName, maxBusinessNameLength);
  if (!legalName.ok) return legalName;
  if (!isCountryCode(input.country)) return refuse("invalid_request", "country: must be two letters of ISO 3166-1.");
  const domain = parseWebsiteDomain(services, input.website);
  if (!domain.ok) return domain;
  return ok({ name, legalName: legalName.value, country: input.country.toUpperCase(), domain: domain.value });
};

export const signUp = async (
  services: AccessWriteDependencies,
  input: SignupInput,
  language: MailLanguage,
): Promise<Result<SignupResult, "invalid_request">> => {
  const request = parseSignup(services, input);
  if (!request.ok) return request;
  const asked = await lookUpAddress(services, "business", input.email);
  if (asked === null) return refuse("invalid_request", "email: must be one e-mail address.");
  const { vault, config } = services;
  const { db, home, addressee, emailIndex } = asked;
  const now = services.clock();
  const known = await openAddresseeEmail(services, asked);
  const isMember = addressee?.kind === "person";
  const email = trimWhiteSpace(input.email);
  const id = generateId("biz_", home, services.random) as BusinessId;
  const code = await prepareEmailCode(services, db, toCodeRequester(asked), {
    limits: getSignInCodeLimits(services),
    binding: () => toSignInCodeBinding(asked, known),
    to: isMember ? known : email,
    mail: async (digits) => ({ template: isMember ? "login_code" : "signup_code", data: { code: digits } }),
    language,
    opens: isMember ? null : id,
    now,
  });
  const signup = await insertSignup(
    db,
    vault,
    { ...request.value, id, email, emailIndex, createdAt: now, expiresAt: now + signupLifeMs },
    code.id,
  );
  await batch(db, [...code.rows, ...signup]);
  services.scheduleMail();
  return ok({ id, name: request.value.name, status: config.requiresSignupApproval ? "pending" : "active" });
};
