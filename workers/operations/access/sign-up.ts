// POST /v1/business/signup: an account is asked for. It comes to exist when its address is proved by the code that is mailed, so
// whoever signs up somebody else's address gains nothing; and nothing the answer says, costs or leaves behind tells whether the
// address is known: one that is gets a code to sign in, and its sign-up is never opened.
import { claimedDomain } from "../../../core/accounts/domain-claim.ts";
import { maxNameLength, nameFault } from "../../../core/accounts/profile.ts";
import { isCountry } from "../../../core/certificates/field-kinds.ts";
import { newId, type BusinessId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { chosenLine, trimmed } from "../../../core/text.ts";
import { dayMs } from "../../../core/time.ts";
import { batch } from "../../../storage/database.ts";
import { insertSignup, type SignupRequest } from "../../../storage/signups.ts";
import type { Memories, Runtime, Schedules, Stores, Web } from "../../services.ts";
import { mailedCode } from "./mailed-codes.ts";
import { ask, asker, codeBinding, codeLimits, knownAddress } from "./sign-in.ts";

/** A person who lost the mail can have another code for a day. */
const keptMs = dayMs;

export interface SignupInput {
  readonly businessName: string;
  readonly legalName: string | null;
  readonly email: string;
  readonly country: string;
  /** A host, or the address of a page on it. */
  readonly website: string | null;
}

export interface SignedUp {
  readonly id: BusinessId;
  readonly name: string;
  readonly status: "active" | "pending";
}

/** The domain of a website as it may be claimed; null where there is none to claim, which is no fault of the sign-up. */
const domainOf = ({ registrableOf }: Web, website: string | null): Result<string | null, "invalid_request"> => {
  const text = website === null ? "" : trimmed(website);
  if (text === "") return ok(null);
  const address = /^https?:\/\//i.test(text) ? text : `https://${text}`;
  if (address.length > 2_048 || !URL.canParse(address)) return refuse("invalid_request", "website: must be an https address.");
  const claimed = claimedDomain(new URL(address).hostname.replace(/^www\./, ""), { registrableOf, localHosts: [] });
  return ok(claimed.ok ? claimed.value : null);
};

const requestOf = (services: Web, input: SignupInput): Result<SignupRequest, "invalid_request"> => {
  const name = trimmed(input.businessName);
  const fault = nameFault(name);
  if (fault !== null) return refuse("invalid_request", `business_name: ${fault}.`);
  const legalName = chosenLine("legal_name", input.legalName, maxNameLength);
  if (!legalName.ok) return legalName;
  if (!isCountry(input.country)) return refuse("invalid_request", "country: must be two letters of ISO 3166-1.");
  const domain = domainOf(services, input.website);
  if (!domain.ok) return domain;
  return ok({ name, legalName: legalName.value, country: input.country.toUpperCase(), domain: domain.value });
};

export const signUp = async (
  services: Runtime & Stores & Memories & Schedules & Web,
  input: SignupInput,
  language: MailLanguage,
): Promise<Result<SignedUp, "invalid_request">> => {
  const request = requestOf(services, input);
  if (!request.ok) return request;
  const asked = await ask(services, "business", input.email);
  if (asked === null) return refuse("invalid_request", "email: must be one e-mail address.");
  const { vault, config } = services;
  const { db, home, addressee, emailIndex } = asked;
  const now = services.clock();
  const known = await knownAddress(services, asked);
  const isMember = addressee?.kind === "person";
  const email = trimmed(input.email);
  const id = newId("biz_", home, services.random) as BusinessId;
  const code = await mailedCode(services, db, asker(asked), {
    limits: codeLimits(services),
    binding: () => codeBinding(asked, known),
    to: isMember ? known : email,
    mail: async (digits) => ({ template: isMember ? "login_code" : "signup_code", data: { code: digits } }),
    language,
    opens: isMember ? null : id,
    now,
  });
  const signup = await insertSignup(
    db,
    vault,
    { ...request.value, id, email, emailIndex, createdAt: now, expiresAt: now + keptMs },
    code.id,
  );
  await batch(db, [...code.rows, ...signup]);
  services.scheduleMail();
  return ok({ id, name: request.value.name, status: config.approvesSignups ? "pending" : "active" });
};
