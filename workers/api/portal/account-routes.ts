// Signing up, and the profile of a business (CONTRACT 10).
import { jsonBody } from "../../http/body.ts";
import { answer, refusal, success } from "../../http/envelope.ts";
import { forAnyone, limitByAddress } from "../../http/guards.ts";
import { idempotentByAddress } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindPortal, ownerOnly, sameOrigin } from "../../http/session-guards.ts";
import { answerOf, bodyOf } from "../../http/wire.ts";
import { signUp } from "../../operations/access/sign-up.ts";
import { userOf } from "../../operations/access/sign-in.ts";
import { changeAccount, readAccount } from "../../operations/portal/profile.ts";
import { pageLanguage } from "../../pages/shared/language.ts";
import {
  accountExample,
  accountSchema,
  accountToWire,
  profileFromWire,
  profileSchema,
  signedUpExample,
  signedUpSchema,
  signedUpToWire,
  signupExample,
  signupSchema,
} from "./account-schema.ts";

const createRoute = routesOf("portal");

const signupRoute = createRoute({
  method: "post",
  path: "/v1/business/signup",
  operationId: "signUpBusiness",
  summary: "Open an account",
  description:
    "Mails a six-digit code. Entered at `POST /v1/auth/verify-code` (realm `business`) it makes the account, with a live and a sandbox client, and signs its owner in; until then there is none, and within a day `request-code` mails another. The answer is the same for an address that is known: it gets a code to sign in to the account it has.",
  middleware: forAnyone(sameOrigin, limitByAddress("SIGNUP_PER_IP"), jsonBody, idempotentByAddress),
  request: { body: bodyOf(signupSchema, signupExample) },
  responses: { 201: answerOf("Asked for, which says nothing about the address.", "SignupAnswer", signedUpSchema, signedUpExample) },
});

const readRoute = createRoute({
  method: "get",
  path: "/v1/business/portal",
  operationId: "readAccount",
  summary: "Read your account",
  description: "The business and the person who is signed in.",
  middleware: behindPortal(),
  responses: { 200: answerOf("The account.", "AccountAnswer", accountSchema, accountExample) },
});

const changeRoute = createRoute({
  method: "patch",
  path: "/v1/business/portal",
  operationId: "changeAccount",
  summary: "Change your profile",
  description:
    "Owners only. What is left out stays as it is. Certificates that were issued keep what stood then; `retention_years` holds for new ones.",
  middleware: behindPortal(ownerOnly, jsonBody),
  request: { body: bodyOf(profileSchema, { contact_email: "privacy@acme-solar.example", retention_years: 5 }) },
  responses: { 200: answerOf("The account as it is now.", "AccountAnswer", accountSchema, accountExample) },
});

export const accounts = newApi();

accounts.openapi(signupRoute, async (c) => {
  const { business_name: businessName, legal_name, email, country, website } = c.req.valid("json");
  const input = { businessName, legalName: legal_name ?? null, email, country, website: website ?? null };
  return answer(c, 201, await signUp(c.var.services, input, pageLanguage(undefined, c.req.header("accept-language"))), signedUpToWire);
});

accounts.openapi(readRoute, async (c) => {
  const { services, member } = c.var;
  const [account, user] = await Promise.all([readAccount(services, member), userOf(services, member)]);
  return success(c, 200, accountToWire(account, user));
});

accounts.openapi(changeRoute, async (c) => {
  const { services, member } = c.var;
  const changed = await changeAccount(services, member, profileFromWire(c.req.valid("json")));
  return changed.ok ? success(c, 200, accountToWire(changed.value, await userOf(services, member))) : refusal(c, changed);
});
