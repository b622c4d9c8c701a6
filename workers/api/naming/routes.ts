// The routes of a person who looks for certificates that name them, whoever issued them, and withdraws from there.
import { jsonBody } from "../../http/body.ts";
import { certIdOf, businessIdOf } from "../../../core/ids.ts";
import { refusal, success } from "../../http/envelope.ts";
import { idempotent, keeping } from "../../http/idempotency.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { behindConsumer } from "../../http/session-guards.ts";
import {
  answerOf,
  bodyOf,
  changeRefusals,
  failures,
  idempotencyHeaders,
  onlyPeople,
  rateHeaders,
  repeatHeaders,
  sessionRefusals,
} from "../../http/wire.ts";
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

const session = [{ session: [] }];
const badStart = { ...onlyPeople, invalid_request: "The message names the parameter and the rule." } as const;

const businessesRoute = createRoute({
  method: "get",
  path: "/v1/me/certificates",
  operationId: "listBusinessesNamingYou",
  tags: ["account"],
  summary: "List businesses with certificates that name you",
  description:
    "Businesses that hold certificates with the address you sign in with, whichever form you sent. Open one to see its certificates.",
  security: session,
  middleware: behindConsumer(),
  request: { query: businessesQuery },
  responses: {
    200: {
      description: "A page of businesses.",
      headers: rateHeaders,
      content: answerOf("BusinessesNamingYouAnswer", businessesSchema, businessesExample),
    },
    ...failures(["invalid_request", ...sessionRefusals], badStart),
  },
});

const certificatesRoute = createRoute({
  method: "get",
  path: "/v1/me/certificates/{business_id}",
  operationId: "listCertificatesNamingYou",
  tags: ["account"],
  summary: "List a business's certificates that name you",
  description: "The newest first; of each as much as its public page tells. None for a business that holds none about you.",
  security: session,
  middleware: behindConsumer(),
  request: { params: businessParam, query: certificatesQuery },
  responses: {
    200: {
      description: "A page of certificates.",
      headers: rateHeaders,
      content: answerOf("CertificatesNamingYouAnswer", certificatesSchema, certificatesExample),
    },
    ...failures(["invalid_request", ...sessionRefusals], badStart),
  },
});

const withdrawRoute = createRoute({
  method: "post",
  path: "/v1/me/certificates/withdraw",
  operationId: "withdrawAsPerson",
  tags: ["account"],
  summary: "Withdraw from certificates that name you",
  description:
    "From one certificate, from one business, or from everything that names you at this moment. The same as answering a code on the certificate's page: your address was proven when you signed in. Each certificate has its receipt, and each business is told. A certificate that is issued later is a new consent.",
  security: session,
  middleware: behindConsumer(jsonBody, idempotent),
  request: {
    headers: idempotencyHeaders,
    body: bodyOf(ownWithdrawalSchema, { scope: "certificate", cert_id: certIdExample }),
  },
  responses: {
    200: {
      description: "Withdrawn.",
      headers: repeatHeaders,
      content: answerOf("OwnWithdrawalAnswer", ownWithdrawnSchema, ownWithdrawnExample),
    },
    ...failures([...changeRefusals, "cert_not_found", "already_revoked", "idempotency_conflict"], {
      ...onlyPeople,
      cert_not_found: "There is no such certificate that names you, or none of that business.",
      already_revoked: "That certificate is withdrawn already.",
    }),
  },
});

export const naming = newApi();

naming.openapi(businessesRoute, async (c) => {
  const found = await businessesNaming(c.var.services, c.var.person, c.req.valid("query").starting_after ?? null);
  return found.ok ? success(c, 200, businessesToWire(found.value)) : refusal(c, found);
});

naming.openapi(certificatesRoute, async (c) => {
  const { services, person } = c.var;
  const found = await certificatesNaming(services, person, c.req.valid("param").business_id, c.req.valid("query").starting_after ?? null);
  return found.ok ? success(c, 200, certificatesToWire(found.value, services.config.verifyUrl)) : refusal(c, found);
});

naming.openapi(withdrawRoute, async (c) => {
  const { services, person } = c.var;
  const asked = c.req.valid("json");
  if (asked.scope === "certificate") {
    const withdrawn = await withdrawOwn(
      services,
      person,
      certIdOf(asked.cert_id),
      pageLanguage(undefined, c.req.header("accept-language")),
      keeping(c, 200, withdrawnOneToWire),
    );
    return withdrawn.ok ? success(c, 200, withdrawnOneToWire(withdrawn.value)) : refusal(c, withdrawn);
  }
  const from = asked.scope === "everything" ? "everybody" : { businessId: businessIdOf(asked.business_id) };
  const withdrawn = await withdrawAll(services, person, from);
  return withdrawn.ok ? success(c, 200, withdrawnManyToWire(withdrawn.value)) : refusal(c, withdrawn);
});
