// The routes of a person who looks for certificates that name them, whoever issued them, and withdraws from there.
import { z } from "@hono/zod-openapi";
import { parseCertId, parseBusinessId } from "../../../core/ids.ts";
import { buildVerifyUrl } from "../../../core/certificates/certificate-urls.ts";
import { toIso, toIsoOrNull } from "../../../core/time.ts";
import { jsonBody } from "../../http/body.ts";
import { respond } from "../../http/envelope.ts";
import { idempotencyGuard, saveIdempotentResponse } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { consumerGuard } from "../../http/guards/consumer.ts";
import { successResponse, requestBody, idSchema, describedTime } from "../../http/wire.ts";
import { listBusinessesNamingPerson, type NamingBusinessPage } from "../../operations/consumers/list-businesses-naming-person.ts";
import { listCertificatesNamingPerson, type NamingCertificatePage } from "../../operations/consumers/list-certificates-naming-person.ts";
import { withdrawAllCertificates, type BulkWithdrawal } from "../../operations/consumers/withdraw-all-certificates.ts";
import { withdrawOwnCertificate } from "../../operations/consumers/withdraw-own-certificate.ts";
import type { WithdrawalResult } from "../../operations/withdrawals/withdraw-certificate.ts";

const exampleTimestamp = "2026-11-20T10:05:00.000Z";
const exampleBusinessId = "biz_00f7m2k9x4c1v8b5n3q6t0w2h7";
const exampleCertId = "cc_00k3v9d2m4q8x1c7b5n0t6w2h9";

const businessListExample = {
  businesses: [{ business_id: exampleBusinessId, name: "Acme Solar LLC", certificates: 2, active: 1, last_issued_at: exampleTimestamp }],
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
  pending: false,
  withdrawn_at: exampleTimestamp,
  cert_id: exampleCertId,
  cease_by: "2026-12-04T23:59:59.999Z",
};

/** Of a page that starts behind something: an id that is none starts nowhere, and is refused. */
const startingAfterSchema = <Id extends string>(idOf: (text: string) => Id | null, what: string) =>
  idSchema(idOf, `must be the id of a ${what}`).optional().openapi({ type: "string", description: "The last of the page before." });

const businessListQuerySchema = z.object({ starting_after: startingAfterSchema(parseBusinessId, "business") });
const certificateListQuerySchema = z.object({ starting_after: startingAfterSchema(parseCertId, "certificate") });
/** Null for what is no id: such a business holds nothing about anybody. */
const businessIdParamSchema = z.object({
  business_id: z.string().transform(parseBusinessId).openapi({ type: "string", description: "Id of the business: `biz_…`." }),
});

const businessListSchema = z
  .object({
    businesses: z
      .array(
        z.object({
          business_id: z.string(),
          name: z.string(),
          certificates: z.int().openapi({ description: "How many name you; 1,000 stands for that many and more." }),
          active: z.int().openapi({ description: "Of these, how many are not withdrawn; counted likewise." }),
          last_issued_at: describedTime("When the newest was issued"),
        }),
      )
      .openapi({ description: "By id, at most 20." }),
    has_more: z.boolean(),
    incomplete: z.boolean().openapi({ description: "A database did not answer just now: there may be others." }),
  })
  .openapi("BusinessesNamingYou");

const businessListToWire = (found: NamingBusinessPage): z.input<typeof businessListSchema> => ({
  businesses: found.businesses.map(({ id, name, certificates, active, lastIssuedAt }) => ({
    business_id: id,
    name,
    certificates,
    active,
    last_issued_at: toIso(lastIssuedAt),
  })),
  has_more: found.hasMore,
  incomplete: found.isIncomplete,
});

const certificateListSchema = z
  .object({
    certificates: z
      .array(
        z.object({
          cert_id: z.string(),
          business_name: z.string().openapi({ description: "As it was when the form was sent." }),
          status: z.enum(["active", "revoked"]),
          purpose: z.string(),
          origin_domain: z.string(),
          issued_at: describedTime("When the form was sent"),
          withdrawn_at: describedTime("When the consent was withdrawn").nullable(),
          cease_by: describedTime("When contact must have ended").nullable(),
          verify_url: z.string().openapi({ description: "Its public page." }),
        }),
      )
      .openapi({ description: "The newest first, at most 50." }),
    has_more: z.boolean(),
  })
  .openapi("CertificatesNamingYou");

const certificateListToWire = (found: NamingCertificatePage, verifyBase: string): z.input<typeof certificateListSchema> => ({
  certificates: found.certificates.map((one) => ({
    cert_id: one.id,
    business_name: one.businessName,
    status: one.status,
    purpose: one.purpose,
    origin_domain: one.originDomain,
    issued_at: toIso(one.issuedAt),
    withdrawn_at: toIsoOrNull(one.withdrawnAt),
    cease_by: toIsoOrNull(one.ceaseBy),
    verify_url: buildVerifyUrl(verifyBase, one.id),
  })),
  has_more: found.hasMore,
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
    withdrawn: z.int().openapi({ description: "Certificates that are withdrawn by now." }),
    pending: z.boolean().openapi({ description: "There are more; they follow within minutes." }),
    withdrawn_at: describedTime("The moment of your withdrawal, which each of them bears"),
    cert_id: z.string().nullable().openapi({ description: "With scope `certificate`." }),
    cease_by: describedTime("When contact must have ended; with scope `certificate`").nullable(),
  })
  .openapi("WithdrawnFromAccount");

const singleWithdrawalToWire = ({ certId, withdrawnAt, ceaseBy }: WithdrawalResult): z.input<typeof withdrawalResultSchema> => ({
  withdrawn: 1,
  pending: false,
  withdrawn_at: toIso(withdrawnAt),
  cert_id: certId,
  cease_by: toIso(ceaseBy),
});

const bulkWithdrawalToWire = ({ withdrawn, isPending, withdrawnAt }: BulkWithdrawal): z.input<typeof withdrawalResultSchema> => ({
  withdrawn,
  pending: isPending,
  withdrawn_at: toIso(withdrawnAt),
  cert_id: null,
  cease_by: null,
});

const createRoute = createRouteFactory("account");

const listBusinessesRoute = createRoute({
  method: "get",
  path: "/v1/me/certificates",
  operationId: "listBusinessesNamingYou",
  summary: "List businesses with certificates that name you",
  description:
    "Businesses that hold certificates with the address you sign in with, whichever form you sent. Open one to see its certificates.",
  middleware: consumerGuard(),
  request: { query: businessListQuerySchema },
  responses: { 200: successResponse("A page of businesses.", "BusinessesNamingYouAnswer", businessListSchema, businessListExample) },
});

const listCertificatesRoute = createRoute({
  method: "get",
  path: "/v1/me/certificates/{business_id}",
  operationId: "listCertificatesNamingYou",
  summary: "List a business's certificates that name you",
  description: "The newest first; of each as much as its public page tells. None for a business that holds none about you.",
  middleware: consumerGuard(),
  request: { params: businessIdParamSchema, query: certificateListQuerySchema },
  responses: {
    200: successResponse("A page of certificates.", "CertificatesNamingYouAnswer", certificateListSchema, certificateListExample),
  },
});

const withdrawCertificatesRoute = createRoute({
  method: "post",
  path: "/v1/me/certificates/withdraw",
  operationId: "withdrawAsPerson",
  summary: "Withdraw from certificates that name you",
  description:
    "From one certificate, from one business, or from everything that names you at this moment. The same as answering a code on the certificate's page: your address was proven when you signed in. Each certificate has its receipt, and each business is told. A certificate that is issued later is a new consent.",
  middleware: consumerGuard(jsonBody, idempotencyGuard),
  request: { body: requestBody(withdrawalRequestSchema, { scope: "certificate", cert_id: exampleCertId }) },
  responses: { 200: successResponse("Withdrawn.", "OwnWithdrawalAnswer", withdrawalResultSchema, withdrawalResultExample) },
  when: {
    cert_not_found: "There is no such certificate that names you, or none of that business.",
    already_revoked: "That certificate is withdrawn already.",
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
  const asked = c.req.valid("json");
  if (asked.scope === "certificate") {
    const withdrawn = await withdrawOwnCertificate(
      services,
      person,
      parseCertId(asked.cert_id),
      language,
      saveIdempotentResponse(c, 200, singleWithdrawalToWire),
    );
    return respond(c, 200, withdrawn, singleWithdrawalToWire);
  }
  const from = asked.scope === "everything" ? "everybody" : { businessId: parseBusinessId(asked.business_id) };
  return respond(c, 200, await withdrawAllCertificates(services, person, from), bulkWithdrawalToWire);
});
