// Certificate routes for the portal. `reveal` and `views` return personal data and write an audit entry. The other routes mask personal
// data.
import { z } from "@hono/zod-openapi";
import { toPublicView } from "../../../core/certificates/public-json.ts";
import { noBody } from "../../http/body.ts";
import { respond, success } from "../../http/envelope.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { portalGuard, portalReadGuard } from "../../http/guards/portal.ts";
import { successResponse, environmentSchema, toWire } from "../../http/wire.ts";
import { getViewContext } from "../../operations/certificates/get-view-context.ts";
import { getBusinessCertificate } from "../../operations/portal/get-business-certificate.ts";
import { listCertificateViews } from "../../operations/portal/list-certificate-views.ts";
import { revealCertificate } from "../../operations/portal/reveal-certificate.ts";
import { listCertificatesToWire } from "../certificates/routes.ts";
import {
  certIdParamSchema,
  certificateNotFoundRefusal,
  certificateListQuerySchema,
  certificateViewSchema,
} from "../certificates/schema.ts";
import { getCertificateSchemas } from "../certificates/response-schemas.ts";
import { getCertificateExamples } from "../certificates/worked-example.ts";
import { certificateDetailToWire } from "../certificates/wire.ts";

const createRoute = createRouteFactory("portal");

const listCertificatesRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/certs",
  operationId: "listPortalCertificates",
  summary: "List certificates in the portal",
  description: "Same as `GET /v1/certs`, for a signed-in member.",
  middleware: portalGuard(),
  request: {
    query: certificateListQuerySchema.extend({
      environment: environmentSchema.default("live").meta({ description: "Environment of the certificates.", default: "live" }),
    }),
  },
  responses: {
    200: successResponse(
      "A page of certificates.",
      "PortalCertificatesResponse",
      () => getCertificateSchemas().certificateListSchema,
      () => getCertificateExamples().certificateList,
    ),
  },
});

const getCertificateRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/certs/{cert_id}",
  operationId: "readPortalCertificate",
  summary: "Read a masked certificate",
  description: "Returns one of your certificates as on its public page, without personal data.",
  middleware: portalGuard(),
  request: { params: certIdParamSchema },
  responses: {
    200: successResponse(
      "The certificate.",
      "PortalCertificateResponse",
      () => getCertificateSchemas().verifiedCertificateSchema,
      () => getCertificateExamples().verifiedCertificate,
    ),
  },
  when: certificateNotFoundRefusal,
});

const revealCertificateRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/certs/{cert_id}/reveal",
  operationId: "revealPortalCertificate",
  summary: "Reveal the personal data on a certificate",
  description:
    "Returns the certificate with personal data: the fields as typed and the evidence. Each read is recorded in your audit trail.",
  middleware: portalReadGuard(noBody),
  request: { params: certIdParamSchema },
  responses: {
    200: successResponse(
      "The certificate with personal data.",
      "RevealedCertificateResponse",
      () => getCertificateSchemas().certificateDetailSchema,
      () => getCertificateExamples().certificateDetail,
    ),
  },
  when: certificateNotFoundRefusal,
});

const getCertificateViewsSchema = () =>
  z.object({
    views: z.array(certificateViewSchema).meta({ description: "Views on this page, newest first." }),
    total: z.int().meta({ description: "Number of stored views, at most 10,000 per certificate." }),
    page: z.int(),
    per_page: z.int(),
  });

const listCertificateViewsRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/certs/{cert_id}/views",
  operationId: "listPortalCertificateViews",
  summary: "List page views of a certificate",
  description:
    "Returns the views of the public page, newest first. IP addresses are personal data, so each call is recorded in your audit trail.",
  middleware: portalGuard(),
  request: { params: certIdParamSchema, query: certificateListQuerySchema.pick({ page: true, per_page: true }) },
  responses: {
    200: successResponse("A page of views.", "CertificateViewsResponse", getCertificateViewsSchema, () => ({
      views: getCertificateExamples().certificateDetail.view_trail,
      total: 1,
      page: 1,
      per_page: 25,
    })),
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
  return respond(c, 200, found, ({ views, total }) => ({
    views: views.map((view) => toWire(certificateViewSchema, view)),
    total,
    page,
    per_page: perPage,
  }));
});
