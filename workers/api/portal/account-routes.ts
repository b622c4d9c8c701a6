// Signing up, and the profile of a business (CONTRACT 10).
import { z } from "@hono/zod-openapi";
import type { ProfileChange } from "../../../core/accounts/profile.ts";
import { isoOf } from "../../../core/time.ts";
import { jsonBody } from "../../http/body.ts";
import { answer, refusal, success } from "../../http/envelope.ts";
import { forAnyone, limitByAddress } from "../../http/guards.ts";
import { idempotent } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindPortal, ownerOnly, sameOrigin } from "../../http/session-guards.ts";
import { answerOf, bodyOf, time } from "../../http/wire.ts";
import { signUp, type SignedUp } from "../../operations/access/sign-up.ts";
import { userOf, type SignedInUser } from "../../operations/access/sign-in.ts";
import { changeAccount, readAccount, type Account } from "../../operations/portal/profile.ts";
import { userExample, userSchema, userToWire } from "../access/schema.ts";

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

const signedUpSchema = z
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

const signedUpToWire = ({ id, name, status }: SignedUp): z.input<typeof signedUpSchema> => ({
  business: { id, name, status, plan: "free" },
  code_sent: true,
});
const signedUpExample = {
  business: { id: userExample.business_id, name: "Acme Solar LLC", status: "active", plan: "free" },
  code_sent: true,
};

const text = (what: string, example: string) =>
  z
    .string()
    .nullish()
    .openapi({ description: `${what} Null or empty clears it.`, example });

const profileSchema = z
  .object({
    name: z.string().optional().openapi({ description: "Name shown to people. Certificates keep the name of their day." }),
    legal_name: text("Name for courts and letters.", "Acme Solar LLC"),
    mailing_address: text("Postal address, at most 500 characters; may have several lines.", "1 Example Street, Testville, CA 94000, US"),
    contact_email: text("Published, for questions about consent.", "privacy@acme-solar.example"),
    contact_phone: text("Published likewise.", "+1 202 555 0123"),
    logo_url: text("An https address of an image.", "https://acme-solar.example/logo.png"),
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

const profileFromWire = (body: z.output<typeof profileSchema>): ProfileChange => ({
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
      created_at: time,
    }),
    user: userSchema,
  })
  .openapi("PortalAccount");

const accountToWire = (account: Account, user: SignedInUser): z.input<typeof accountSchema> => ({
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
    created_at: isoOf(account.createdAt),
  },
  user: userToWire(user),
});
const accountExample = {
  business: {
    id: userExample.business_id,
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
  user: userExample,
};

const createRoute = routesOf("portal");

const signupRoute = createRoute({
  method: "post",
  path: "/v1/business/signup",
  operationId: "signUpBusiness",
  summary: "Open an account",
  description:
    "Mails a six-digit code. Entered at `POST /v1/auth/verify-code` (realm `business`) it makes the account, with a live and a sandbox client, and signs its owner in; until then there is none, and within a day `request-code` mails another. The answer is the same for an address that is known: it gets a code to sign in to the account it has.",
  middleware: forAnyone(sameOrigin, limitByAddress("SIGNUP_PER_IP"), jsonBody, idempotent),
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
  return answer(c, 201, await signUp(c.var.services, input, c.var.language), signedUpToWire);
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
