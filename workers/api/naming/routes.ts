// The routes of a person who looks for certificates that name them, whoever issued them, and withdraws from there.
import { z } from "@hono/zod-openapi";
import { certIdOf, businessIdOf } from "../../../core/ids.ts";
import { verifyUrlOf } from "../../../core/certificates/views.ts";
import { isoOf, isoOrNull } from "../../../core/time.ts";
import { jsonBody } from "../../http/body.ts";
import { answer } from "../../http/envelope.ts";
import { idempotent, keeping } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindConsumer } from "../../http/session-guards.ts";
import { answerOf, bodyOf, idText, timeOf } from "../../http/wire.ts";
import {
  businessesNaming,
  certificatesNaming,
  withdrawAll,
  withdrawOwn,
  type NamingBusinesses,
  type NamingCertificates,
  type WithdrawnMany,
} from "../../operations/consumers/certificates.ts";
import type { Withdrawn } from "../../operations/withdrawals/withdraw.ts";

const at = "2026-11-20T10:05:00.000Z";
const businessId = "biz_00f7m2k9x4c1v8b5n3q6t0w2h7";
const certIdExample = "cc_00k3v9d2m4q8x1c7b5n0t6w2h9";

const businessesExample = {
  businesses: [{ business_id: businessId, name: "Acme Solar LLC", certificates: 2, active: 1, last_issued_at: at }],
  has_more: false,
  incomplete: false,
};
const certificatesExample = {
  certificates: [
    {
      cert_id: certIdExample,
      business_name: "Acme Solar LLC",
      status: "active",
      purpose: "solar quote follow-up",
      origin_domain: "acme-solar.example",
      issued_at: at,
      withdrawn_at: null,
      cease_by: null,
      verify_url: `https://verify.example.com/c/${certIdExample}`,
    },
  ],
  has_more: false,
};
const ownWithdrawnExample = {
  withdrawn: 1,
  pending: false,
  withdrawn_at: at,
  cert_id: certIdExample,
  cease_by: "2026-12-04T23:59:59.999Z",
};

/** Of a page that starts behind something: an id that is none starts nowhere, and is refused. */
const startingAfter = <Id extends string>(idOf: (text: string) => Id | null, what: string) =>
  idText(idOf, `must be the id of a ${what}`).optional().openapi({ type: "string", description: "The last of the page before." });

const businessesQuery = z.object({ starting_after: startingAfter(businessIdOf, "business") });
const certificatesQuery = z.object({ starting_after: startingAfter(certIdOf, "certificate") });
/** Null for what is no id: such a business holds nothing about anybody. */
const businessParam = z.object({
  business_id: z.string().transform(businessIdOf).openapi({ type: "string", description: "Id of the business: `biz_…`." }),
});

const businessesSchema = z
  .object({
    businesses: z
      .array(
        z.object({
          business_id: z.string(),
          name: z.string(),
          certificates: z.int().openapi({ description: "How many name you; 1,000 stands for that many and more." }),
          active: z.int().openapi({ description: "Of these, how many are not withdrawn; counted likewise." }),
          last_issued_at: timeOf("When the newest was issued"),
        }),
      )
      .openapi({ description: "By id, at most 20." }),
    has_more: z.boolean(),
    incomplete: z.boolean().openapi({ description: "A database did not answer just now: there may be others." }),
  })
  .openapi("BusinessesNamingYou");

const businessesToWire = (found: NamingBusinesses): z.input<typeof businessesSchema> => ({
  businesses: found.businesses.map(({ id, name, certificates, active, lastIssuedAt }) => ({
    business_id: id,
    name,
    certificates,
    active,
    last_issued_at: isoOf(lastIssuedAt),
  })),
  has_more: found.hasMore,
  incomplete: found.isIncomplete,
});

const certificatesSchema = z
  .object({
    certificates: z
      .array(
        z.object({
          cert_id: z.string(),
          business_name: z.string().openapi({ description: "As it was when the form was sent." }),
          status: z.enum(["active", "revoked"]),
          purpose: z.string(),
          origin_domain: z.string(),
          issued_at: timeOf("When the form was sent"),
          withdrawn_at: timeOf("When the consent was withdrawn").nullable(),
          cease_by: timeOf("When contact must have ended").nullable(),
          verify_url: z.string().openapi({ description: "Its public page." }),
        }),
      )
      .openapi({ description: "The newest first, at most 50." }),
    has_more: z.boolean(),
  })
  .openapi("CertificatesNamingYou");

const certificatesToWire = (found: NamingCertificates, verifyBase: string): z.input<typeof certificatesSchema> => ({
  certificates: found.certificates.map((one) => ({
    cert_id: one.id,
    business_name: one.businessName,
    status: one.status,
    purpose: one.purpose,
    origin_domain: one.originDomain,
    issued_at: isoOf(one.issuedAt),
    withdrawn_at: isoOrNull(one.withdrawnAt),
    cease_by: isoOrNull(one.ceaseBy),
    verify_url: verifyUrlOf(verifyBase, one.id),
  })),
  has_more: found.hasMore,
});

const ownWithdrawalSchema = z
  .discriminatedUnion("scope", [
    z.object({ scope: z.literal("certificate"), cert_id: z.string().max(100) }),
    z.object({ scope: z.literal("business"), business_id: z.string().max(100) }),
    z.object({ scope: z.literal("everything") }),
  ])
  .openapi("WithdrawalFromAccount");

const ownWithdrawnSchema = z
  .object({
    withdrawn: z.int().openapi({ description: "Certificates that are withdrawn by now." }),
    pending: z.boolean().openapi({ description: "There are more; they follow within minutes." }),
    withdrawn_at: timeOf("The moment of your withdrawal, which each of them bears"),
    cert_id: z.string().nullable().openapi({ description: "With scope `certificate`." }),
    cease_by: timeOf("When contact must have ended; with scope `certificate`").nullable(),
  })
  .openapi("WithdrawnFromAccount");

const withdrawnOneToWire = ({ certId, withdrawnAt, ceaseBy }: Withdrawn): z.input<typeof ownWithdrawnSchema> => ({
  withdrawn: 1,
  pending: false,
  withdrawn_at: isoOf(withdrawnAt),
  cert_id: certId,
  cease_by: isoOf(ceaseBy),
});

const withdrawnManyToWire = ({ withdrawn, isPending, withdrawnAt }: WithdrawnMany): z.input<typeof ownWithdrawnSchema> => ({
  withdrawn,
  pending: isPending,
  withdrawn_at: isoOf(withdrawnAt),
  cert_id: null,
  cease_by: null,
});

const createRoute = routesOf("account");

const businessesRoute = createRoute({
  method: "get",
  path: "/v1/me/certificates",
  operationId: "listBusinessesNamingYou",
  summary: "List businesses with certificates that name you",
  description:
    "Businesses that hold certificates with the address you sign in with, whichever form you sent. Open one to see its certificates.",
  middleware: behindConsumer(),
  request: { query: businessesQuery },
  responses: { 200: answerOf("A page of businesses.", "BusinessesNamingYouAnswer", businessesSchema, businessesExample) },
});

const certificatesRoute = createRoute({
  method: "get",
  path: "/v1/me/certificates/{business_id}",
  operationId: "listCertificatesNamingYou",
  summary: "List a business's certificates that name you",
  description: "The newest first; of each as much as its public page tells. None for a business that holds none about you.",
  middleware: behindConsumer(),
  request: { params: businessParam, query: certificatesQuery },
  responses: { 200: answerOf("A page of certificates.", "CertificatesNamingYouAnswer", certificatesSchema, certificatesExample) },
});

const withdrawRoute = createRoute({
  method: "post",
  path: "/v1/me/certificates/withdraw",
  operationId: "withdrawAsPerson",
  summary: "Withdraw from certificates that name you",
  description:
    "From one certificate, from one business, or from everything that names you at this moment. The same as answering a code on the certificate's page: your address was proven when you signed in. Each certificate has its receipt, and each business is told. A certificate that is issued later is a new consent.",
  middleware: behindConsumer(jsonBody, idempotent),
  request: { body: bodyOf(ownWithdrawalSchema, { scope: "certificate", cert_id: certIdExample }) },
  responses: { 200: answerOf("Withdrawn.", "OwnWithdrawalAnswer", ownWithdrawnSchema, ownWithdrawnExample) },
  when: {
    cert_not_found: "There is no such certificate that names you, or none of that business.",
    already_revoked: "That certificate is withdrawn already.",
  },
});

export const naming = newApi();

naming.openapi(businessesRoute, async (c) => {
  const found = await businessesNaming(c.var.services, c.var.person, c.req.valid("query").starting_after ?? null);
  return answer(c, 200, found, businessesToWire);
});

naming.openapi(certificatesRoute, async (c) => {
  const { services, person } = c.var;
  const found = await certificatesNaming(services, person, c.req.valid("param").business_id, c.req.valid("query").starting_after ?? null);
  return answer(c, 200, found, (page) => certificatesToWire(page, services.config.verifyUrl));
});

naming.openapi(withdrawRoute, async (c) => {
  const { services, person, language } = c.var;
  const asked = c.req.valid("json");
  if (asked.scope === "certificate") {
    const withdrawn = await withdrawOwn(services, person, certIdOf(asked.cert_id), language, keeping(c, 200, withdrawnOneToWire));
    return answer(c, 200, withdrawn, withdrawnOneToWire);
  }
  const from = asked.scope === "everything" ? "everybody" : { businessId: businessIdOf(asked.business_id) };
  return answer(c, 200, await withdrawAll(services, person, from), withdrawnManyToWire);
});
