// A business's certificates for its people (CONTRACT 10 and 19): masked, the person shown only by an audited POST.
import { z } from "@hono/zod-openapi";
import { verifyView } from "../../../core/certificates/views.ts";
import { optionalJsonBody } from "../../http/body.ts";
import { failure, refusal, success } from "../../http/envelope.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { environmentSchema, noBody, portal, postedReadFailures, readFailures } from "../../http/portal-wire.ts";
import { behindPortal, behindPortalToRead } from "../../http/session-guards.ts";
import { answerOf, rateHeaders } from "../../http/wire.ts";
import { listCertificates } from "../../operations/certificates/list.ts";
import { viewContext } from "../../operations/certificates/verify.ts";
import { ownCertificate, revealCertificate, viewsOfCertificate } from "../../operations/portal/certificates.ts";
import { detailExample, listExample, verifyExample } from "../certificates/examples.ts";
import {
  certificateDetailSchema,
  certificateListSchema,
  certParams,
  listQuerySchema,
  verifySchema,
  viewSchema,
} from "../certificates/schema.ts";
import { detailToWire, listQueryFromWire, listToWire, viewToWire } from "../certificates/to-wire.ts";

const notYours = { cert_not_found: "There is no such certificate, or it is not yours." } as const;

const listRoute = createRoute({
  ...portal,
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
  responses: {
    200: {
      description: "One page of them.",
      headers: rateHeaders,
      content: answerOf("PortalCertificatesAnswer", certificateListSchema, listExample),
    },
    ...readFailures(["invalid_request"]),
  },
});

const readRoute = createRoute({
  ...portal,
  method: "get",
  path: "/v1/business/portal/certs/{cert_id}",
  operationId: "readPortalCertificate",
  summary: "Read a certificate, masked",
  description: "As it is published, of yours only.",
  middleware: behindPortal(),
  request: { params: certParams },
  responses: {
    200: {
      description: "The certificate.",
      headers: rateHeaders,
      content: answerOf("PortalCertificateAnswer", verifySchema, verifyExample),
    },
    ...readFailures(["cert_not_found"], notYours),
  },
});

const revealRoute = createRoute({
  ...portal,
  method: "post",
  path: "/v1/business/portal/certs/{cert_id}/reveal",
  operationId: "revealPortalCertificate",
  summary: "Show the person of a certificate",
  description:
    "Personal data: the fields as typed and the circumstances. Each reading is entered in your audit chain before it is answered.",
  middleware: behindPortalToRead(optionalJsonBody),
  request: { params: certParams },
  responses: {
    200: {
      description: "The certificate, opened.",
      headers: rateHeaders,
      content: answerOf("RevealedCertificateAnswer", certificateDetailSchema, detailExample),
    },
    ...postedReadFailures(["cert_not_found"], { ...notYours, invalid_request: noBody }),
  },
});

const viewsSchema = z.object({
  views: z.array(viewSchema).openapi({ description: "Newest first." }),
  total: z.int().openapi({ description: "Opens that are kept, at most 10,000 a certificate." }),
  page: z.int(),
  per_page: z.int(),
});

const viewsRoute = createRoute({
  ...portal,
  method: "get",
  path: "/v1/business/portal/certs/{cert_id}/views",
  operationId: "listPortalCertificateViews",
  summary: "List who opened a certificate's page",
  description: "Each open of the public page, newest first. Network addresses are personal data.",
  middleware: behindPortal(),
  request: { params: certParams, query: listQuerySchema.pick({ page: true, per_page: true }) },
  responses: {
    200: {
      description: "One page of them.",
      headers: rateHeaders,
      content: answerOf("CertificateViewsAnswer", viewsSchema, { views: detailExample.view_trail, total: 1, page: 1, per_page: 25 }),
    },
    ...readFailures(["cert_not_found", "invalid_request"], notYours),
  },
});

export const portalCertificates = newApi();

portalCertificates.openapi(listRoute, async (c) => {
  const { services, member } = c.var;
  const query = c.req.valid("query");
  const reader = { business: member.business, environment: query.environment };
  return success(c, 200, listToWire(await listCertificates(services, reader, listQueryFromWire(query)), viewContext(services)));
});

portalCertificates.openapi(readRoute, async (c) => {
  const { services, member } = c.var;
  const { cert_id: certId } = c.req.valid("param");
  if (certId === null) return failure(c, "cert_not_found");
  const found = await ownCertificate(services, member, certId);
  return found.ok ? success(c, 200, verifyView(found.value, viewContext(services))) : refusal(c, found);
});

portalCertificates.openapi(revealRoute, async (c) => {
  const { services, member } = c.var;
  const { cert_id: certId } = c.req.valid("param");
  if (certId === null) return failure(c, "cert_not_found");
  const opened = await revealCertificate(services, member, certId);
  return opened.ok ? success(c, 200, detailToWire(opened.value, viewContext(services))) : refusal(c, opened);
});

portalCertificates.openapi(viewsRoute, async (c) => {
  const { services, member } = c.var;
  const { cert_id: certId } = c.req.valid("param");
  if (certId === null) return failure(c, "cert_not_found");
  const { page, per_page: perPage } = c.req.valid("query");
  const found = await viewsOfCertificate(services, member, certId, { page, perPage });
  if (!found.ok) return refusal(c, found);
  return success(c, 200, { views: found.value.views.map(viewToWire), total: found.value.total, page, per_page: perPage });
});
