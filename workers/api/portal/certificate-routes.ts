// A business's certificates for its people (CONTRACT 10 and 19): masked, the person shown only by an audited POST.
import { z } from "@hono/zod-openapi";
import { verifyView } from "../../../core/certificates/views.ts";
import { noBody } from "../../http/body.ts";
import { answer, success } from "../../http/envelope.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindPortal, behindPortalToRead } from "../../http/session-guards.ts";
import { answerOf, environmentSchema } from "../../http/wire.ts";
import { viewContext } from "../../operations/certificates/verify.ts";
import { ownCertificate, revealCertificate, viewsOfCertificate } from "../../operations/portal/certificates.ts";
import { pageOf } from "../certificates/routes.ts";
import { detailExample, listExample, verifyExample } from "../certificates/examples.ts";
import {
  certificateDetailSchema,
  certificateListSchema,
  certParams,
  listQuerySchema,
  verifySchema,
  viewSchema,
} from "../certificates/schema.ts";
import { detailToWire, viewToWire } from "../certificates/to-wire.ts";

const createRoute = routesOf("portal");

const notYours = { cert_not_found: "There is no such certificate, or it is not yours." } as const;

const listRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/certs",
  operationId: "listPortalCertificates",
  summary: "List certificates in the portal",
  description: "As `GET /v1/certs`, for the person who is signed in.",
  middleware: behindPortal(),
  request: {
    query: listQuerySchema.extend({
      environment: environmentSchema.default("live").openapi({ description: "Which records.", default: "live" }),
    }),
  },
  responses: { 200: answerOf("One page of them.", "PortalCertificatesAnswer", certificateListSchema, listExample) },
});

const readRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/certs/{cert_id}",
  operationId: "readPortalCertificate",
  summary: "Read a certificate, masked",
  description: "As it is published, of yours only.",
  middleware: behindPortal(),
  request: { params: certParams },
  responses: { 200: answerOf("The certificate.", "PortalCertificateAnswer", verifySchema, verifyExample) },
  when: notYours,
});

const revealRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/certs/{cert_id}/reveal",
  operationId: "revealPortalCertificate",
  summary: "Show the person of a certificate",
  description:
    "Personal data: the fields as typed and the circumstances. Each reading is entered in your audit chain before it is answered.",
  middleware: behindPortalToRead(noBody),
  request: { params: certParams },
  responses: { 200: answerOf("The certificate, opened.", "RevealedCertificateAnswer", certificateDetailSchema, detailExample) },
  when: notYours,
});

const viewsSchema = z.object({
  views: z.array(viewSchema).openapi({ description: "Newest first." }),
  total: z.int().openapi({ description: "Opens that are kept, at most 10,000 a certificate." }),
  page: z.int(),
  per_page: z.int(),
});

const viewsRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/certs/{cert_id}/views",
  operationId: "listPortalCertificateViews",
  summary: "List who opened a certificate's page",
  description: "Each open of the public page, newest first. Network addresses are personal data.",
  middleware: behindPortal(),
  request: { params: certParams, query: listQuerySchema.pick({ page: true, per_page: true }) },
  responses: {
    200: answerOf("One page of them.", "CertificateViewsAnswer", viewsSchema, {
      views: detailExample.view_trail,
      total: 1,
      page: 1,
      per_page: 25,
    }),
  },
  when: notYours,
});

export const portalCertificates = newApi();

portalCertificates.openapi(listRoute, async (c) => {
  const query = c.req.valid("query");
  const reader = { business: c.var.member.business, environment: query.environment };
  return success(c, 200, await pageOf(c.var.services, reader, query));
});

portalCertificates.openapi(readRoute, async (c) => {
  const { services, member } = c.var;
  const found = await ownCertificate(services, member, c.req.valid("param").cert_id);
  return answer(c, 200, found, (certificate) => verifyView(certificate, viewContext(services)));
});

portalCertificates.openapi(revealRoute, async (c) => {
  const { services, member } = c.var;
  const opened = await revealCertificate(services, member, c.req.valid("param").cert_id);
  return answer(c, 200, opened, (detail) => detailToWire(detail, viewContext(services)));
});

portalCertificates.openapi(viewsRoute, async (c) => {
  const { page, per_page: perPage } = c.req.valid("query");
  const found = await viewsOfCertificate(c.var.services, c.var.member, c.req.valid("param").cert_id, { page, perPage });
  return answer(c, 200, found, ({ views, total }) => ({ views: views.map(viewToWire), total, page, per_page: perPage }));
});
