// Signing up, and the profile of a business (CONTRACT 10).
import { z } from "@hono/zod-openapi";
import type { BusinessProfileChange } from "../../../core/accounts/profile.ts";
import { toIso } from "../../../core/time.ts";
import { jsonBody } from "../../http/body.ts";
import { respond, refusal, success } from "../../http/envelope.ts";
import { publicGuard } from "../../http/guards/public.ts";
import { limitByAddress } from "../../http/guards/rate-limits.ts";
import { idempotencyGuard } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { portalGuard, requireOwner } from "../../http/guards/portal.ts";
import { sameOriginGuard } from "../../http/guards/same-origin.ts";
import { successResponse, requestBody, timeSchema } from "../../http/wire.ts";
import { signUp, type SignupResult } from "../../operations/access/sign-up.ts";
import { getSignedInUser, type SignedInUser } from "../../operations/access/get-signed-in-user.ts";
import type { BusinessAccount } from "../../../storage/business-profiles.ts";
import { getAccount } from "../../operations/portal/get-account.ts";
import { updateAccount } from "../../operations/portal/update-account.ts";
import { memberUserExample, userSchema, userToWire } from "../sign-in/schema.ts";

const signupSchema = z
  .object({
    business_name: z.string().openapi({ description: "Name shown to people, at most 200 characters.", example: "Acme Solar LLC" }),
    legal_name: z.string().nullish().openapi({ description: "Name for courts and letters, if it is another.", example: "Acme Solar LLC" }),
    email: z.string().openapi({
      description: "Of the first owner. The account exists once the code mailed there is entered.",
      example: "owner@acme-solar.example",
    }),
    country: z.string().default("US").openapi({ description: "ISO 3166-1 alpha-2.", example: "US" }),
    website: z
      .string()
      .nullish()
      .openapi({ description: "Its domain is claimed for you, to be proved.", example: "https://acme-solar.example" }),
  })
  .openapi("SignupRequest");

const signupResultSchema = z
  .object({
    business: z.object({
      id: z.string().openapi({ description: "The id the account will have." }),
      name: z.string(),
      status: z.enum(["active", "pending"]).openapi({ description: "`pending` where the operator lets each account in by hand." }),
      plan: z.literal("free"),
    }),
    code_sent: z.literal(true),
  })
  .openapi("SignedUp");

const signupExample = {
  business_name: "Acme Solar LLC",
  email: "owner@acme-solar.example",
  country: "US",
  website: "https://acme-solar.example",
};

const signupResultToWire = ({ id, name, status }: SignupResult): z.input<typeof signupResultSchema> => ({
  business: { id, name, status, plan: "free" },
  code_sent: true,
});
const signupResultExample = {
  business: { id: memberUserExample.business_id, name: "Acme Solar LLC", status: "active", plan: "free" },
  code_sent: true,
};

const clearableTextSchema = (what: string, example: string) =>
  z
    .string()
    .nullish()
    .openapi({ description: `${what} Null or empty clears it.`, example });

const profileUpdateSchema = z
  .object({
    name: z.string().optional().openapi({ description: "Name shown to people. Certificates keep the name of their day." }),
    legal_name: clearableTextSchema("Name for courts and letters.", "Acme Solar LLC"),
    mailing_address: clearableTextSchema(
      "Postal address, at most 500 characters; may have several lines.",
      "1 Example Street, Testville, CA 94000, US",
    ),
    contact_email: clearableTextSchema("Published, for questions about consent.", "privacy@acme-solar.example"),
    contact_phone: clearableTextSchema("Published likewise.", "+1 202 555 0123"),
    logo_url: clearableTextSchema("An https address of an image.", "https://acme-solar.example/logo.png"),
    country: z.string().optional().openapi({ description: "ISO 3166-1 alpha-2; gives telephone numbers without a prefix their region." }),
    retention_years: z.int().min(1).max(10).optional().openapi({ description: "How long the persons of new certificates are kept." }),
    revocation_scope_default: z
      .enum(["certificate", "business"])
      .optional()
      .openapi({ description: "How far a withdrawal reaches that you record without saying." }),
    emit_certificate_issued: z
      .boolean()
      .optional()
      .openapi({ description: "Whether the events `certificate.issued` and `certificate.entities_withdrawn` are made." }),
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

const accountSchema = z
  .object({
    business: z.object({
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
    }),
    user: userSchema,
  })
  .openapi("PortalAccount");

const accountToWire = (account: BusinessAccount, user: SignedInUser): z.input<typeof accountSchema> => ({
  business: {
    id: account.id,
    name: account.name,
    status: account.status,
    plan: account.plan,
    legal_name: account.legalName,
    mailing_address: account.mailingAddress,
    contact_email: account.contactEmail,
    contact_phone: account.contactPhone,
    logo_url: account.logoUrl,
    country: account.country,
    retention_years: account.retentionYears,
    revocation_scope_default: account.revocationScopeDefault,
    emit_certificate_issued: account.emitsIssued,
    created_at: toIso(account.createdAt),
  },
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
  summary: "Open an account",
  description:
    "Mails a six-digit code. Entered at `POST /v1/auth/verify-code` (realm `business`) it makes the account, with a live and a sandbox client, and signs its owner in; until then there is none, and within a day `request-code` mails another. The answer is the same for an address that is known: it gets a code to sign in to the account it has.",
  middleware: publicGuard(sameOriginGuard, limitByAddress("SIGNUP_PER_IP"), jsonBody, idempotencyGuard),
  request: { body: requestBody(signupSchema, signupExample) },
  responses: {
    201: successResponse("Asked for, which says nothing about the address.", "SignupAnswer", signupResultSchema, signupResultExample),
  },
});

const getAccountRoute = createRoute({
  method: "get",
  path: "/v1/business/portal",
  operationId: "readAccount",
  summary: "Read your account",
  description: "The business and the person who is signed in.",
  middleware: portalGuard(),
  responses: { 200: successResponse("The account.", "AccountAnswer", accountSchema, accountExample) },
});

const updateAccountRoute = createRoute({
  method: "patch",
  path: "/v1/business/portal",
  operationId: "changeAccount",
  summary: "Change your profile",
  description:
    "Owners only. What is left out stays as it is. Certificates that were issued keep what stood then; `retention_years` holds for new ones.",
  middleware: portalGuard(requireOwner, jsonBody),
  request: { body: requestBody(profileUpdateSchema, { contact_email: "privacy@acme-solar.example", retention_years: 5 }) },
  responses: { 200: successResponse("The account as it is now.", "AccountAnswer", accountSchema, accountExample) },
});

export const accountRoutes = createApi();

accountRoutes.openapi(signUpRoute, async (c) => {
  const { business_name: businessName, legal_name, email, country, website } = c.req.valid("json");
  const input = { businessName, legalName: legal_name ?? null, email, country, website: website ?? null };
  return respond(c, 201, await signUp(c.var.services, input, c.var.language), signupResultToWire);
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
