// Routes to sign up a business and to read and update its profile.
import { z } from "@hono/zod-openapi";
import type { BusinessProfileChange } from "../../../core/accounts/profile.ts";
import { optInEventTypes } from "../../../core/events/event.ts";
import { once } from "../../../core/once.ts";
import { trimTypedAddress } from "../../../core/email-address.ts";
import { jsonBody } from "../../http/body.ts";
import { respond, refusal, success } from "../../http/envelope.ts";
import { publicGuard } from "../../http/guards/public.ts";
import { limitByAddress } from "../../http/guards/rate-limits.ts";
import { idempotencyGuard } from "../../http/idempotency.ts";
import { identifySignInBrowser, savePendingSignIn } from "../../http/pending-sign-in.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { portalGuard, requireOwner } from "../../http/guards/portal.ts";
import { sameOriginGuard } from "../../http/guards/same-origin.ts";
import { memberWithDefault, optionalMember, successResponse, requestBody, timeSchema, toWire } from "../../http/wire.ts";
import { signUp, type SignupResult } from "../../operations/access/sign-up.ts";
import { getSignedInUser, type SignedInUser } from "../../operations/access/get-signed-in-user.ts";
import type { BusinessAccount } from "../../../storage/business-profiles.ts";
import { getAccount } from "../../operations/portal/get-account.ts";
import { updateAccount } from "../../operations/portal/update-account.ts";
import { memberUserExample, userSchema, userToWire } from "../sign-in/schema.ts";

const signupSchema = z
  .object({
    business_name: z.string().meta({ description: "Name shown to people, at most 200 characters.", example: "Acme Solar LLC" }),
    legal_name: z.string().nullish().meta({ description: "Legal name, if different.", example: "Acme Solar LLC" }),
    email: z.string().meta({
      description: "Email address of the first owner. The account is created when the owner enters the emailed code.",
      example: "owner@acme-solar.example",
    }),
    country: memberWithDefault(z.string(), "US").meta({
      default: "US",
      description: "Two-letter country code (ISO 3166-1).",
      example: "US",
    }),
    website: z.string().nullish().meta({
      description: "Website of the business. We add its domain to your account. You must then verify it.",
      example: "https://acme-solar.example",
    }),
  })
  .openapi("SignupRequest");

/** The schema is created on first use, because only the OpenAPI document needs it. */
const getSignupResultSchema = once(() =>
  z
    .object({
      business: z.object({
        id: z.string().meta({ description: "ID that the account will have." }),
        name: z.string(),
        status: z.enum(["active", "pending"]).meta({ description: "`pending` if the operator approves accounts manually." }),
        plan: z.literal("free"),
      }),
      code_sent: z.literal(true),
    })
    .openapi("SignedUp"),
);

const signupExample = {
  business_name: "Acme Solar LLC",
  email: "owner@acme-solar.example",
  country: "US",
  website: "https://acme-solar.example",
};

const signupResultToWire = ({ id, name, status }: SignupResult): z.input<ReturnType<typeof getSignupResultSchema>> => ({
  business: { id, name, status, plan: "free" },
  code_sent: true,
});
const signupResultExample = {
  business: { id: memberUserExample.business_id, name: "Acme Solar LLC", status: "active", plan: "free" },
  code_sent: true,
};

const clearableTextSchema = (description: string, example: string) =>
  z
    .string()
    .nullish()
    .meta({ description: `${description} \`null\` or an empty string clears it.`, example });

const profileUpdateSchema = z
  .object({
    name: optionalMember(z.string()).meta({ description: "Name shown to people. Existing certificates keep the previous name." }),
    legal_name: clearableTextSchema("Legal name.", "Acme Solar LLC"),
    mailing_address: clearableTextSchema(
      "Mailing address, at most 500 characters. Line breaks are allowed.",
      "1 Example Street, Testville, CA 94000, US",
    ),
    contact_email: clearableTextSchema("Public email address for questions about consent.", "privacy@acme-solar.example"),
    contact_phone: clearableTextSchema("Public phone number for questions about consent.", "+1 202 555 0123"),
    logo_url: clearableTextSchema("HTTPS URL of an image.", "https://acme-solar.example/logo.png"),
    country: optionalMember(z.string()).meta({
      description: "Two-letter country code (ISO 3166-1). Phone numbers without a calling code are read as numbers of this country.",
    }),
    retention_years: optionalMember(z.int().min(1).max(10)).meta({
      description: "Years to keep the personal data of new certificates, 1 to 10.",
    }),
    revocation_scope_default: optionalMember(z.enum(["certificate", "business"])).meta({
      description: "Default `scope` for withdrawals that you record.",
    }),
    emit_certificate_issued: optionalMember(z.boolean()).meta({
      description: `Whether to emit ${optInEventTypes.map((type) => `\`${type}\``).join(" and ")} events.`,
    }),
  })
  .openapi("ProfileChange");

const profileUpdateFromWire = (body: z.output<typeof profileUpdateSchema>): BusinessProfileChange => ({
  name: body.name,
  legalName: body.legal_name,
  mailingAddress: body.mailing_address,
  contactEmail: body.contact_email,
  contactPhone: body.contact_phone,
  logoUrl: body.logo_url,
  country: body.country,
  retentionYears: body.retention_years,
  revocationScopeDefault: body.revocation_scope_default,
  emitsIssued: body.emit_certificate_issued,
});

const businessSchema = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(["pending", "active", "past_due", "suspended", "closed"]),
  plan: z.enum(["free", "business", "enterprise"]),
  legal_name: z.string().nullable(),
  mailing_address: z.string().nullable(),
  contact_email: z.string().nullable(),
  contact_phone: z.string().nullable(),
  logo_url: z.string().nullable(),
  country: z.string(),
  retention_years: z.int(),
  revocation_scope_default: z.enum(["certificate", "business"]),
  emit_certificate_issued: z.boolean(),
  created_at: timeSchema,
});
const accountSchema = z.object({ business: businessSchema, user: userSchema }).openapi("PortalAccount");

const accountToWire = (account: BusinessAccount, user: SignedInUser): z.input<typeof accountSchema> => ({
  business: toWire(businessSchema, { ...account, emitCertificateIssued: account.emitsIssued }),
  user: userToWire(user),
});
const accountExample = {
  business: {
    id: memberUserExample.business_id,
    name: "Acme Solar LLC",
    status: "active",
    plan: "enterprise",
    legal_name: "Acme Solar LLC",
    mailing_address: "1 Example Street, Testville, CA 94000, US",
    contact_email: "privacy@acme-solar.example",
    contact_phone: null,
    logo_url: null,
    country: "US",
    retention_years: 5,
    revocation_scope_default: "business",
    emit_certificate_issued: false,
    created_at: "2026-03-04T05:06:07.089Z",
  },
  user: memberUserExample,
};

const createRoute = createRouteFactory("portal");

const signUpRoute = createRoute({
  method: "post",
  path: "/v1/business/signup",
  operationId: "signUpBusiness",
  summary: "Sign up a business",
  description:
    "Emails a 6-digit code. Send it to `POST /v1/auth/verify-code` (realm `business`) to create the account, with a live client and a test client, and sign in its owner. The account does not exist until then. For one day, you can get another code from `POST /v1/auth/request-code`. The response is the same if the email address is already registered; the email then contains a code to sign in to the existing account.",
  middleware: publicGuard(sameOriginGuard, limitByAddress("SIGNUP_PER_IP"), jsonBody, idempotencyGuard),
  request: { body: requestBody(signupSchema, signupExample) },
  responses: {
    201: successResponse(
      "Accepted. The response does not reveal whether the email address is registered.",
      "SignupResponse",
      getSignupResultSchema,
      signupResultExample,
    ),
  },
});

const getAccountRoute = createRoute({
  method: "get",
  path: "/v1/business/portal",
  operationId: "readAccount",
  summary: "Read your account",
  description: "Returns the business and the signed-in user.",
  middleware: portalGuard(),
  responses: { 200: successResponse("The account.", "AccountResponse", accountSchema, accountExample) },
});

const updateAccountRoute = createRoute({
  method: "patch",
  path: "/v1/business/portal",
  operationId: "changeAccount",
  summary: "Update your profile",
  description:
    "Owners only. Fields that you omit stay the same. Existing certificates keep their previous values; `retention_years` applies to new ones.",
  middleware: portalGuard(requireOwner, jsonBody),
  request: { body: requestBody(profileUpdateSchema, { contact_email: "privacy@acme-solar.example", retention_years: 5 }) },
  responses: { 200: successResponse("The updated account.", "AccountResponse", accountSchema, accountExample) },
});

export const accountRoutes = createApi();

accountRoutes.openapi(signUpRoute, async (c) => {
  const { business_name: businessName, legal_name, email, country, website } = c.req.valid("json");
  const input = { businessName, legalName: legal_name ?? null, email, country, website: website ?? null };
  const browser = await identifySignInBrowser(c);
  const signedUp = await signUp(c.var.services, input, { language: c.var.language, browser });
  if (signedUp.ok) await savePendingSignIn(c, { email: trimTypedAddress(email), browser, next: null });
  return respond(c, 201, signedUp, signupResultToWire);
});

accountRoutes.openapi(getAccountRoute, async (c) => {
  const { services, member } = c.var;
  const [account, user] = await Promise.all([getAccount(services, member), getSignedInUser(services, member)]);
  return success(c, 200, accountToWire(account, user));
});

accountRoutes.openapi(updateAccountRoute, async (c) => {
  const { services, member } = c.var;
  const changed = await updateAccount(services, member, profileUpdateFromWire(c.req.valid("json")));
  return changed.ok ? success(c, 200, accountToWire(changed.value, await getSignedInUser(services, member))) : refusal(c, changed);
});
