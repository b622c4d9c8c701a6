// A business's certificates for its people (CONTRACT 10 and 19): masked, the person shown only by an audited POST.
import { z } from "@hono/zod-openapi";
import { toPublicView } from "../../../core/certificates/public-view.ts";
import { noBody } from "../../http/body.ts";
import { respond, success } from "../../http/envelope.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { portalGuard, portalReadGuard } from "../../http/guards/portal.ts";
import { successResponse, environmentSchema } from "../../http/wire.ts";
import { getViewContext } from "../../operations/certificates/get-view-context.ts";
import { getBusinessCertificate } from "../../operations/portal/get-business-certificate.ts";
import { listCertificateViews } from "../../operations/portal/list-certificate-views.ts";
import { revealCertificate } from "../../operations/portal/reveal-certificate.ts";
import { listCertificatesToWire } from "../certificates/routes.ts";
import {
  certificateDetailSchema,
  certificateListSchema,
  certIdParamSchema,
  certificateListQuerySchema,
  verifiedCertificateSchema,
  certificateViewSchema,
} from "../certificates/schema.ts";
import {
  certificateDetailExample,
  certificateDetailToWire,
  certificateListExample,
  certificateViewToWire,
  verifiedCertificateExample,
} from "../certificates/wire.ts";

const createRoute = createRouteFactory("portal");

const certificateNotFoundRefusal = { cert_not_found: "There is no such certificate, or it is not yours." } as const;

const listCertificatesRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/certs",
  operationId: "listPortalCertificates",
  summary: "List certificates in the portal",
  description: "As `GET /v1/certs`, for the person who is signed in.",
  middleware: portalGuard(),
  request: {
    query: certificateListQuerySchema.extend({
      environment: environmentSchema.default("live").openapi({ description: "Which records.", default: "live" }),
    }),
  },
  responses: { 200: successResponse("One page of them.", "PortalCertificatesAnswer", certificateListSchema, certificateListExample) },
});

const getCertificateRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/certs/{cert_id}",
  operationId: "readPortalCertificate",
  summary: "Read a certificate, masked",
  description: "As it is published, of yours only.",
  middleware: portalGuard(),
  request: { params: certIdParamSchema },
  responses: { 200: successResponse("The certificate.", "PortalCertificateAnswer", verifiedCertificateSchema, verifiedCertificateExample) },
  when: certificateNotFoundRefusal,
});

const revealCertificateRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/certs/{cert_id}/reveal",
  operationId: "revealPortalCertificate",
  summary: "Show the person of a certificate",
  description:
    "Personal data: the fields as typed and the circumstances. Each reading is entered in your audit chain before it is answered.",
  middleware: portalReadGuard(noBody),
  request: { params: certIdParamSchema },
  responses: {
    200: successResponse("The certificate, opened.", "RevealedCertificateAnswer", certificateDetailSchema, certificateDetailExample),
  },
  when: certificateNotFoundRefusal,
});

const certificateViewsSchema = z.object({
  views: z.array(certificateViewSchema).openapi({ description: "Newest first." }),
  total: z.int().openapi({ description: "Opens that are kept, at most 10,000 a certificate." }),
  page: z.int(),
  per_page: z.int(),
});

const listCertificateViewsRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/certs/{cert_id}/views",
  operationId: "listPortalCertificateViews",
  summary: "List who opened a certificate's page",
  description: "Each open of the public page, newest first. Network addresses are personal data.",
  middleware: portalGuard(),
  request: { params: certIdParamSchema, query: certificateListQuerySchema.pick({ page: true, per_page: true }) },
  responses: {
    200: successResponse("One page of them.", "CertificateViewsAnswer", certificateViewsSchema, {
      views: certificateDetailExample.view_trail,
      total: 1,
      page: 1,
      per_page: 25,
    }),
  },
  when: certificateNotFoundRefusal,
});

export const portalCertificateRoutes = createApi();

portalCertificateRoutes.openapi(listCertificatesRoute, async (c) => {
  const query = c.req.valid("query");
  const reader = { business: c.var.member.business, environment: query.environment };
  return success(c, 200, await listCertificatesToWire(c.var.services, reader, query));
});

portalCertificateRoutes.openapi(getCertificateRoute, async (c) => {
  const { services, member } = c.var;
  const found = await getBusinessCertificate(services, member, c.req.valid("param").cert_id);
  return respond(c, 200, found, (certificate) => toPublicView(certificate, getViewContext(services)));
});

portalCertificateRoutes.openapi(revealCertificateRoute, async (c) => {
  const { services, member } = c.var;
  const opened = await revealCertificate(services, member, c.req.valid("param").cert_id);
  return respond(c, 200, opened, (detail) => certificateDetailToWire(detail, getViewContext(services)));
});

portalCertificateRoutes.openapi(listCertificateViewsRoute, async (c) => {
  const { page, per_page: perPage } = c.req.valid("query");
  const found = await listCertificateViews(c.var.services, c.var.member, c.req.valid("param").cert_id, { page, perPage });
  return respond(c, 200, found, ({ views, total }) => ({ views: views.map(certificateViewToWire), total, page, per_page: perPage }));
});
