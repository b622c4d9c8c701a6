// The routes of a person who looks for certificates that name them, whoever issued them, and withdraws from there.
import { certIdOf, businessIdOf } from "../../../core/ids.ts";
import { jsonBody } from "../../http/body.ts";
import { answer } from "../../http/envelope.ts";
import { idempotent, keeping } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindConsumer } from "../../http/session-guards.ts";
import { answerOf, bodyOf } from "../../http/wire.ts";
import { businessesNaming, certificatesNaming, withdrawAll, withdrawOwn } from "../../operations/consumers/certificates.ts";
import { pageLanguage } from "../../pages/shared/language.ts";
import { businessesExample, certificatesExample, certIdExample, ownWithdrawnExample } from "./examples.ts";
import {
  businessesQuery,
  businessesSchema,
  businessesToWire,
  businessParam,
  certificatesQuery,
  certificatesSchema,
  certificatesToWire,
  ownWithdrawalSchema,
  ownWithdrawnSchema,
  withdrawnManyToWire,
  withdrawnOneToWire,
} from "./schema.ts";

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
  const { services, person } = c.var;
  const asked = c.req.valid("json");
  if (asked.scope === "certificate") {
    const language = pageLanguage(undefined, c.req.header("accept-language"));
    const withdrawn = await withdrawOwn(services, person, certIdOf(asked.cert_id), language, keeping(c, 200, withdrawnOneToWire));
    return answer(c, 200, withdrawn, withdrawnOneToWire);
  }
  const from = asked.scope === "everything" ? "everybody" : { businessId: businessIdOf(asked.business_id) };
  return answer(c, 200, await withdrawAll(services, person, from), withdrawnManyToWire);
});
