// Routes for signed-in people. A person can find the certificates that name them and withdraw consent.
import { z } from "@hono/zod-openapi";
import { parseCertId, parseBusinessId } from "../../../core/ids.ts";
import { buildVerifyUrl } from "../../../core/certificates/certificate-urls.ts";
import { jsonBody } from "../../http/body.ts";
import { respond } from "../../http/envelope.ts";
import { idempotencyGuardOf, respondAndSave } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { consumerGuard } from "../../http/guards/consumer.ts";
import { successResponse, requestBody, idSchema, describedTime, toWire } from "../../http/wire.ts";
import { listBusinessesNamingPerson, type NamingBusinessPage } from "../../operations/consumers/list-businesses-naming-person.ts";
import { listCertificatesNamingPerson, type NamingCertificatePage } from "../../operations/consumers/list-certificates-naming-person.ts";
import { withdrawAllCertificates, type BulkWithdrawal } from "../../operations/consumers/withdraw-all-certificates.ts";
import { withdrawOwnCertificate } from "../../operations/consumers/withdraw-own-certificate.ts";
import type { WithdrawalResult } from "../../operations/withdrawals/withdrawal-request.ts";

const exampleTimestamp = "2026-11-20T10:05:00.000Z";
const exampleBusinessId = "biz_00f7m2k9x4c1v8b5n3q6t0w2h7";
const exampleCertId = "cc_00k3v9d2m4q8x1c7b5n0t6w2h9";

const businessListExample = {
  businesses: [
    {
      business_id: exampleBusinessId,
      name: "Acme Solar LLC",
      certificates: 2,
      active: 1,
      others_shares: 0,
      active_others_shares: 0,
      last_issued_at: exampleTimestamp,
    },
  ],
  has_more: false,
  incomplete: false,
};
const certificateListExample = {
  certificates: [
    {
      cert_id: exampleCertId,
      business_name: "Acme Solar LLC",
      status: "active",
      purpose: "solar quote follow-up",
      origin_domain: "acme-solar.example",
      issued_at: exampleTimestamp,
      withdrawn_at: null,
      cease_by: null,
      verify_url: `https://verify.example.com/c/${exampleCertId}`,
    },
  ],
  has_more: false,
};
const withdrawalResultExample = {
  withdrawn: 1,
  shares_ended: 0,
  pending: false,
  withdrawn_at: exampleTimestamp,
  cert_id: exampleCertId,
  cease_by: "2026-12-04T23:59:59.999Z",
};

const startingAfterSchema = <Id extends string>(parseId: (text: string) => Id | null, record: string) =>
  idSchema(parseId, `must be the ID of a ${record}`)
    .optional()
    .meta({ type: "string", description: `ID of the last ${record} on the previous page.` });

const businessListQuerySchema = z.object({ starting_after: startingAfterSchema(parseBusinessId, "business") });
const certificateListQuerySchema = z.object({ starting_after: startingAfterSchema(parseCertId, "certificate") });
/** Parses a malformed ID as null, so that the list is empty, as for an unknown business. */
const businessIdParamSchema = z.object({
  business_id: z.string().transform(parseBusinessId).meta({ type: "string", description: "ID of the business. Starts with `biz_`." }),
});

const namingBusinessSchema = z.object({
  business_id: z.string(),
  name: z.string(),
  certificates: z.int().meta({ description: "Number of certificates that contain your sign-in email address. 1,000 means 1,000 or more." }),
  active: z.int().meta({ description: "Number of these certificates with status `active`. 1,000 means 1,000 or more." }),
  others_shares: z.int().meta({
    description: "Number of shares that other people created with your sign-in email address. They do not count as your consent.",
  }),
  active_others_shares: z
    .int()
    .meta({ description: "Number of these shares that are active. They also end when you withdraw your consent for the business." }),
  last_issued_at: describedTime("When the newest of these certificates or shares was created"),
});

const businessListSchema = z
  .object({
    businesses: z.array(namingBusinessSchema).meta({ description: "Businesses sorted by ID, at most 20." }),
    has_more: z.boolean(),
    incomplete: z.boolean().meta({ description: "`true` if a database did not respond, so businesses may be missing from the list." }),
  })
  .openapi("BusinessesNamingYou");

const businessListToWire = (page: NamingBusinessPage): z.input<typeof businessListSchema> => ({
  businesses: page.businesses.map((business) => toWire(namingBusinessSchema, { ...business, businessId: business.id })),
  has_more: page.hasMore,
  incomplete: page.isIncomplete,
});

const namingCertificateSchema = z.object({
  cert_id: z.string(),
  business_name: z.string().meta({ description: "Name of the business when you submitted the form." }),
  status: z.enum(["active", "revoked"]),
  purpose: z.string(),
  origin_domain: z.string(),
  issued_at: describedTime("When the certificate was issued"),
  withdrawn_at: describedTime("When consent was withdrawn").nullable(),
  cease_by: describedTime("Deadline by which the business must stop contacting you").nullable(),
  verify_url: z.string().meta({ description: "URL of the certificate's public page." }),
});

const certificateListSchema = z
  .object({
    certificates: z.array(namingCertificateSchema).meta({ description: "Certificates, newest first, at most 50." }),
    has_more: z.boolean(),
  })
  .openapi("CertificatesNamingYou");

const certificateListToWire = (page: NamingCertificatePage, verifyBase: string): z.input<typeof certificateListSchema> => ({
  certificates: page.certificates.map((certificate) =>
    toWire(namingCertificateSchema, { ...certificate, certId: certificate.id, verifyUrl: buildVerifyUrl(verifyBase, certificate.id) }),
  ),
  has_more: page.hasMore,
});

const withdrawalRequestSchema = z
  .discriminatedUnion("scope", [
    z.object({ scope: z.literal("certificate"), cert_id: z.string().max(100) }),
    z.object({ scope: z.literal("business"), business_id: z.string().max(100) }),
    z.object({ scope: z.literal("everything") }),
  ])
  .openapi("WithdrawalFromAccount");

const withdrawalResultSchema = z
  .object({
    withdrawn: z.int().meta({ description: "Number of certificates withdrawn so far." }),
    shares_ended: z.int().meta({
      description:
        "Number of shares ended so far: your own shares, and shares that other people created with your sign-in email address. 0 with scope `certificate`.",
    }),
    pending: z.boolean().meta({ description: "`true` if more certificates will be withdrawn within minutes." }),
    withdrawn_at: describedTime("When you withdrew consent; the same for all certificates in this request"),
    cert_id: z.string().nullable().meta({ description: "ID of the certificate if the scope is `certificate`, otherwise `null`." }),
    cease_by: describedTime("Deadline by which the business must stop contacting you; `null` unless the scope is `certificate`").nullable(),
  })
  .openapi("WithdrawnFromAccount");

const singleWithdrawalToWire = (withdrawal: WithdrawalResult): z.input<typeof withdrawalResultSchema> =>
  toWire(withdrawalResultSchema, { ...withdrawal, withdrawn: 1, sharesEnded: 0, pending: false });

const bulkWithdrawalToWire = (withdrawal: BulkWithdrawal): z.input<typeof withdrawalResultSchema> =>
  toWire(withdrawalResultSchema, { ...withdrawal, pending: withdrawal.isPending, certId: null, ceaseBy: null });

const createRoute = createRouteFactory("account");

const listBusinessesRoute = createRoute({
  method: "get",
  path: "/v1/me/certificates",
  operationId: "listBusinessesNamingYou",
  summary: "List businesses with certificates about you",
  description:
    "Returns the businesses that have certificates with your sign-in email address, or shares that other people created with it.",
  middleware: consumerGuard(),
  request: { query: businessListQuerySchema },
  responses: { 200: successResponse("A page of businesses.", "BusinessesNamingYouResponse", businessListSchema, businessListExample) },
});

const listCertificatesRoute = createRoute({
  method: "get",
  path: "/v1/me/certificates/{business_id}",
  operationId: "listCertificatesNamingYou",
  summary: "List a business's certificates about you",
  description:
    "Returns the certificates of a business that contain your sign-in email address, newest first, with their public details. The list is empty if there are none.",
  middleware: consumerGuard(),
  request: { params: businessIdParamSchema, query: certificateListQuerySchema },
  responses: {
    200: successResponse("A page of certificates.", "CertificatesNamingYouResponse", certificateListSchema, certificateListExample),
  },
});

const withdrawCertificatesRoute = createRoute({
  method: "post",
  path: "/v1/me/certificates/withdraw",
  operationId: "withdrawAsPerson",
  summary: "Withdraw consent for certificates about you",
  description:
    "Withdraws consent for one certificate, for all certificates of one business, or for all certificates, if they contain your sign-in email address. In the last two cases, it also ends your shares with that business or with all businesses, and shares that other people created with your sign-in email address. It has the same effect as withdrawing with an email code, because you verified the address when you signed in. Each certificate gets a receipt and each business is notified. One email to you confirms the request. Certificates issued later are not affected.",
  middleware: consumerGuard(jsonBody, idempotencyGuardOf("cert_id")),
  request: { body: requestBody(withdrawalRequestSchema, { scope: "certificate", cert_id: exampleCertId }) },
  responses: { 200: successResponse("Consent was withdrawn.", "OwnWithdrawalResponse", withdrawalResultSchema, withdrawalResultExample) },
  when: {
    cert_not_found:
      "With `scope: certificate`, the certificate does not exist or does not contain your email address. With `scope: business`, the business has no certificate and no share with your email address, and you have no share with it.",
    already_revoked: "Consent was already withdrawn for this certificate.",
  },
});

export const consumerCertificateRoutes = createApi();

consumerCertificateRoutes.openapi(listBusinessesRoute, async (c) => {
  const found = await listBusinessesNamingPerson(c.var.services, c.var.person, c.req.valid("query").starting_after ?? null);
  return respond(c, 200, found, businessListToWire);
});

consumerCertificateRoutes.openapi(listCertificatesRoute, async (c) => {
  const { services, person } = c.var;
  const found = await listCertificatesNamingPerson(
    services,
    person,
    c.req.valid("param").business_id,
    c.req.valid("query").starting_after ?? null,
  );
  return respond(c, 200, found, (page) => certificateListToWire(page, services.config.verifyUrl));
});

consumerCertificateRoutes.openapi(withdrawCertificatesRoute, async (c) => {
  const { services, person, language } = c.var;
  const request = c.req.valid("json");
  if (request.scope === "certificate") {
    const certId = parseCertId(request.cert_id);
    return respondAndSave(c, 200, singleWithdrawalToWire, (save) => withdrawOwnCertificate(services, person, certId, language, save));
  }
  const from = request.scope === "everything" ? "everybody" : { businessId: parseBusinessId(request.business_id) };
  return respond(c, 200, await withdrawAllCertificates(services, person, from, language), bulkWithdrawalToWire);
});
