// Certificate routes (SPEC Certificate API): issue, verify, list, read, export and erase.
import { cutText } from "../../../core/cut-text.ts";
import { z } from "@hono/zod-openapi";
import { etag, RETAINED_304_HEADERS } from "hono/etag";
import { isIpAddress } from "../../../core/access/ip-address.ts";
import { actorFromApiKey, type Principal, type BusinessScope } from "../../../core/access/principal.ts";
import type { CaptureContext } from "../../../core/certificates/certificate.ts";
import { buildEvidenceBundle } from "../../../core/certificates/evidence-bundle.ts";
import { buildEvidenceHtml, buildEvidenceZip } from "../../../core/certificates/evidence-pack.ts";
import { toPublicView } from "../../../core/certificates/public-json.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { parseClientId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { jsonBody, submissionBody } from "../../http/body.ts";
import type { AppEnv, RequestContext } from "../../http/context.ts";
import { respond, refusal, success } from "../../http/envelope.ts";
import { defineGuard, combineGuards } from "../../http/guards/define-guard.ts";
import { apiKeyGuard, optionalApiKeyGuard } from "../../http/guards/api-key.ts";
import { publicGuard } from "../../http/guards/public.ts";
import { enforceLimitByAddress, enforceLimit, limitByAddress, applySecondaryRateLimit } from "../../http/guards/rate-limits.ts";
import { idempotencyGuard } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { portalGuard, requireOwner } from "../../http/guards/portal.ts";
import { successResponse, requestBody, idempotencyKeySchema, rateHeaders, replayHeaders } from "../../http/wire.ts";
import { captureConsent } from "../../operations/certificates/capture-consent.ts";
import { eraseSubject } from "../../operations/certificates/erase-subject.ts";
import { exportEvidence } from "../../operations/certificates/export-evidence.ts";
import { listCertificates } from "../../operations/certificates/list-certificates.ts";
import { getCertificate } from "../../operations/certificates/get-certificate.ts";
import { getViewContext } from "../../operations/certificates/get-view-context.ts";
import { resolveSubmissionClient } from "../../operations/certificates/resolve-submission-client.ts";
import { verifyCertificate } from "../../operations/certificates/verify-certificate.ts";
import type { Services } from "../../platform/platform.ts";
import { evidencePageScript } from "../../pages/verifier.gen.ts";
import { getCertificateExamples } from "./worked-example.ts";
import { getCertificateSchemas } from "./response-schemas.ts";
import * as wire from "./schema.ts";
import {
  certificateDetailToWire,
  erasedSubjectToWire,
  certificateListQueryFromWire,
  certificateListToWire,
  consentReceiptToWire,
  submissionFromWire,
} from "./wire.ts";

const createRoute = createRouteFactory("certificates");

const invalidFilterRefusal = { invalid_request: "A filter is invalid. The message says which one and why." } as const;

/** `submissionBody` parses both media types as JSON, so both schemas have the same type. */
const consentRequestContent = {
  "application/json": { schema: wire.consentRequestSchema, example: wire.consentRequestExample },
  "text/plain": {
    schema: z
      .custom<z.input<typeof wire.consentRequestSchema>>()
      .meta({ type: "string", description: "The same JSON, sent as plain text." }),
  },
};

interface VisitorOrServerEnv {
  Variables: AppEnv["Variables"] & { principal?: Principal };
}

/** Limits visitors by IP address, and servers by API key. */
const limitByCaller = defineGuard<VisitorOrServerEnv>({ responseHeaders: rateHeaders }, async (c, next) => {
  const { principal } = c.var;
  const refused = principal === undefined ? enforceLimitByAddress(c, "CONSENT_PER_IP") : enforceLimit(c, "API_KEY", principal.keyHash);
  return (await refused) ?? next();
});

const issueCertificateRoute = createRoute({
  method: "post",
  path: "/v1/consent",
  operationId: "captureConsent",
  summary: "Issue a certificate",
  description:
    "Creates a certificate for one form submission. Called by the widget on your page, or by your server with an `Origin` header. Returns 201 only after the certificate is durably stored. The Origin and the host of `page_url` must be on your verified domains. Without an API key, the limit is 60 requests per minute per IP address. With an API key, the key's own limit applies, and your server can send the person's IP address and browser in `X-Subject-IP` and `X-Subject-User-Agent`.",
  middleware: combineGuards<VisitorOrServerEnv>(optionalApiKeyGuard, limitByCaller, submissionBody),
  request: {
    headers: z.object({
      // Optional in the schema, so that a missing Origin gets the error `origin_not_verified` instead of `invalid_request`.
      Origin: z
        .string()
        .optional()
        .openapi({
          param: { required: true },
          description:
            "Browsers set this header. If you call this route from your server, send the origin of the page that contains the form.",
          example: "https://www.acme-solar.example",
        }),
      "Idempotency-Key": idempotencyKeySchema(
        "Makes retries safe for 24 hours. Repeating the request with the same key and submission returns the same certificate with `Idempotency-Replayed: true`. Keys are scoped to your API key or, without one, to the client ID and Origin. `submission_id` in the body has the same effect.",
      ),
      "X-Subject-IP": z
        .string()
        .optional()
        .meta({ description: "IP address of the person. Used only with an API key.", example: "203.0.113.7" }),
      "X-Subject-User-Agent": z.string().optional().meta({ description: "User agent of the person's browser. Used only with an API key." }),
    }),
    body: {
      required: true,
      description:
        "Uncompressed JSON of at most 256 KiB, or at most 4 MiB if everything except `disclosure_text` and the lists of recipients takes at most 64 KiB. Browsers can send `text/plain` to avoid a preflight request.",
      content: consentRequestContent,
    },
  },
  responses: {
    201: {
      ...successResponse(
        "The certificate was issued.",
        "ConsentResponse",
        () => getCertificateSchemas().consentReceiptSchema,
        () => getCertificateExamples().consentReceipt,
      ),
      headers: replayHeaders,
    },
  },
  refuses: [
    "business_inactive",
    "business_suspended",
    "subscription_past_due",
    "origin_not_verified",
    "page_url_not_verified",
    "client_not_found",
    "idempotency_conflict",
  ],
  when: {
    unauthorized: "The API key is not valid.",
    plan_required: "Live certificates require the Enterprise plan.",
    forbidden: "The API key and the client ID belong to different businesses, or a test key was used with a live client.",
    rate_limited:
      "More than 60 requests per minute from one IP address, or 120 per minute with one API key. Without a key, also more than 600 requests per minute, 50,000 requests per day or 200 MB per day from the client's verified origins. With a key, also more than 500,000 requests or 2 GB per day for the business. For a test client, also more than 10,000 test records or 100 MB in 30 days for the business.",
    storage_unavailable:
      "Retry the same request. If it has an `Idempotency-Key` or `submission_id`, only one certificate is issued, even if the first request succeeded.",
  },
});

const maxUserAgentLength = 512;
const toPrintable = (text: string): string => cutText(text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ""), maxUserAgentLength);

interface RequestGeo {
  readonly country?: unknown;
  readonly region?: unknown;
  readonly city?: unknown;
}
const toTextOrNull = (value: unknown): string | null => (typeof value === "string" && value !== "" ? cutText(value, 100) : null);

/**
 * Returns the visitor's IP address, browser, location and Global Privacy Control signal, and how the submission was sent. Only a server
 * with an API key can set the visitor's IP address and browser.
 */
const parseCaptureCircumstances = (c: RequestContext, isServer: boolean): Result<CaptureContext, "invalid_request"> => {
  const subjectIp = isServer ? c.req.header("x-subject-ip") : undefined;
  if (subjectIp !== undefined && !isIpAddress(subjectIp)) return refuse("invalid_request", "X-Subject-IP: must be an IP address.");
  const subjectAgent = isServer ? c.req.header("x-subject-user-agent") : undefined;
  // Only Cloudflare's edge can locate IP addresses. A local runtime makes up a location, which must not become evidence.
  const hasGeo = !isServer && c.var.services.config.environment === "production";
  const geo: RequestGeo = hasGeo ? ((c.req.raw as { cf?: RequestGeo }).cf ?? {}) : {};
  return ok({
    ip: subjectIp ?? c.var.ip,
    userAgent: toPrintable(subjectAgent ?? c.req.header("user-agent") ?? ""),
    gpc: c.req.header("sec-gpc") === "1",
    capturedVia: !isServer && c.req.header("sec-fetch-mode") !== undefined ? "browser" : "server",
    geo: { country: toTextOrNull(geo.country), region: toTextOrNull(geo.region), city: toTextOrNull(geo.city) },
  });
};

/** Responds with 304 if the ETag matches, and keeps the CORS, rate limit and request ID headers in that response. */
const etagMiddleware = etag({
  retainedHeaders: [
    ...RETAINED_304_HEADERS,
    "Access-Control-Allow-Origin",
    "Access-Control-Expose-Headers",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "X-Request-Id",
  ],
});

const verifyCertificateRoute = createRoute({
  method: "get",
  path: "/v1/certs/{cert_id}/verify",
  operationId: "verifyCertificate",
  summary: "Verify a certificate",
  description:
    "Public. Returns the certificate without personal data. To verify it yourself, compare the SHA-256 of `canonical` with `fingerprint`, then verify `signature` with the key that its `kid` identifies. Calls do not count as views of the public page.",
  middleware: publicGuard(limitByAddress("VERIFY_PER_IP"), etagMiddleware),
  request: {
    params: wire.certIdParamSchema,
    headers: z.object({
      "If-None-Match": z
        .string()
        .optional()
        .meta({ description: "ETag of an earlier response. Returns 304 if the certificate has not changed." }),
    }),
  },
  responses: {
    200: {
      ...successResponse(
        "The certificate.",
        "VerifyResponse",
        () => getCertificateSchemas().verifiedCertificateSchema,
        () => getCertificateExamples().verifiedCertificate,
      ),
      headers: {
        ETag: { description: "Changes whenever the response data changes, for example after a withdrawal.", schema: { type: "string" } },
      },
    },
    304: { description: "The certificate has not changed since the ETag in `If-None-Match`." },
  },
  refuses: ["cert_not_found"],
});

const listCertificatesRoute = createRoute({
  method: "get",
  path: "/v1/certs",
  operationId: "listCertificates",
  summary: "List your certificates",
  description:
    "Returns certificates with masked personal data, newest first, and the total count. If you combine filters, a certificate must match all of them. A live key lists live certificates; a test key lists sandbox certificates.",
  middleware: apiKeyGuard(),
  request: { query: wire.certificateListQuerySchema },
  responses: {
    200: successResponse(
      "A page of certificates.",
      "ListResponse",
      () => getCertificateSchemas().certificateListSchema,
      () => getCertificateExamples().certificateList,
    ),
  },
  when: invalidFilterRefusal,
});

const searchCertificatesRoute = createRoute({
  method: "post",
  path: "/v1/certs/search",
  operationId: "searchCertificates",
  summary: "Search your certificates",
  description:
    "Same as `GET /v1/certs`, with the filters in the body. Use it to search for a person without putting an email address or phone number into a URL, which could be logged. Read-only: `Idempotency-Key` is ignored.",
  middleware: apiKeyGuard(jsonBody),
  request: { body: requestBody(wire.certificateSearchSchema, { subject_email: "pat@example.com" }) },
  responses: {
    200: successResponse(
      "A page of certificates.",
      "SearchResponse",
      () => getCertificateSchemas().certificateListSchema,
      () => getCertificateExamples().certificateList,
    ),
  },
  when: invalidFilterRefusal,
});

const getCertificateRoute = createRoute({
  method: "get",
  path: "/v1/certs/{cert_id}",
  operationId: "readCertificate",
  summary: "Read a certificate",
  description:
    "Returns the certificate with all personal data, including the fields as typed, the evidence, the policy texts and the page views. Each read is recorded in your audit trail.",
  middleware: apiKeyGuard(),
  request: { params: wire.certIdParamSchema },
  responses: {
    200: successResponse(
      "The certificate.",
      "DetailResponse",
      () => getCertificateSchemas().certificateDetailSchema,
      () => getCertificateExamples().certificateDetail,
    ),
  },
  when: wire.certificateNotFoundRefusal,
});

const evidenceBundleResponse = successResponse(
  "The evidence pack. ZIP and HTML files are attachments named `evidence-<cert_id>`.",
  "EvidenceResponse",
  () => getCertificateSchemas().evidenceBundleSchema,
  () => getCertificateExamples().evidenceBundle,
);

const exportEvidencePackRoute = createRoute({
  method: "get",
  path: "/v1/certs/{cert_id}/evidence-pack",
  operationId: "exportEvidencePack",
  summary: "Export an evidence pack",
  description:
    "Returns everything needed to verify the certificate without this service. Disclose only the fields you need: each field can be proven individually. Each export is recorded in your audit trail.",
  middleware: apiKeyGuard(),
  request: { params: wire.certIdParamSchema, query: wire.evidencePackQuerySchema },
  responses: {
    200: {
      ...evidenceBundleResponse,
      content: {
        ...evidenceBundleResponse.content,
        "application/zip": { schema: z.string().meta({ format: "binary", description: "The pack as a ZIP file." }) },
        "text/html": { schema: z.string().meta({ description: "The pack for `format=html`." }) },
      },
    },
  },
  when: wire.certificateNotFoundRefusal,
});

const eraseSubjectRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/erase-subject",
  operationId: "eraseSubject",
  summary: "Erase the personal data on a certificate",
  description:
    "Owners only. This cannot be undone. Erases the values that the person typed, the evidence (including IP address and user agent), the view trail, withdrawal notes and the search indexes for email address and phone number. Withdrawal codes and links for the certificate stop working. Hashes, times, status, signature and proofs are kept, and the certificate can still be verified. The person can no longer withdraw consent online, but you can still record a withdrawal. Export an evidence pack first if you are allowed to keep one. The database's point-in-time recovery keeps the values for up to 30 days.",
  middleware: portalGuard(requireOwner, jsonBody, idempotencyGuard),
  request: { params: wire.certIdParamSchema, body: requestBody(wire.eraseSubjectSchema, wire.eraseSubjectExample) },
  responses: {
    200: successResponse(
      "The person's data was erased. Repeating the request returns the first result.",
      "ErasedResponse",
      wire.erasedSubjectSchema,
      () => getCertificateExamples().erasedSubject,
    ),
  },
  when: {
    ...wire.certificateNotFoundRefusal,
    storage_unavailable: "A database did not respond, or a withdrawal of the person's consent is still being processed.",
  },
});

export const certificateRoutes = createApi();

certificateRoutes.openapi(issueCertificateRoute, async (c) => {
  const { services, principal } = c.var;
  const body = c.req.valid("json");
  const headers = c.req.valid("header");
  const circumstances = parseCaptureCircumstances(c, principal !== undefined);
  if (!circumstances.ok) return refusal(c, circumstances);

  const clientId = parseClientId(body.client_id);
  const originHeader = headers.Origin ?? null;
  const client = clientId === null ? null : await resolveSubmissionClient(services, clientId, originHeader);
  // A submission from an unverified origin does not count, so that other sites cannot use up the client's limit.
  if (principal === undefined && client?.origin.ok === true) {
    const state = await services.takeApproximately("CONSENT_PER_CLIENT", client.id);
    const limited = applySecondaryRateLimit(c, "CONSENT_PER_CLIENT", state);
    if (limited !== null) return limited;
  }

  const captured = await captureConsent(services, {
    client,
    submission: submissionFromWire(body),
    originHeader,
    circumstances: circumstances.value,
    idempotencyKey: headers["Idempotency-Key"] ?? body.submission_id?.toLowerCase() ?? null,
    caller:
      principal === undefined ? null : { keyId: principal.keyId, businessId: principal.business.id, environment: principal.environment },
  });
  if (captured.ok && captured.value.isReplayed) c.header("Idempotency-Replayed", "true");
  return respond(c, 201, captured, ({ receipt }) => consentReceiptToWire(receipt));
});

certificateRoutes.openapi(verifyCertificateRoute, async (c) => {
  const { services } = c.var;
  const found = await verifyCertificate(services, c.req.valid("param").cert_id);
  if (!found.ok) return refusal(c, found);
  const view = toPublicView(found.value, getViewContext(services));
  // Compute the ETag without the envelope, because the envelope's request ID changes with each response.
  c.header("ETag", `"${sha256Hex(JSON.stringify(view)).slice(0, 32)}"`);
  c.header("Cache-Control", "no-cache");
  return success(c, 200, view);
});

export const listCertificatesToWire = async (
  services: Services,
  reader: BusinessScope,
  query: z.output<typeof wire.certificateListQuerySchema>,
) => certificateListToWire(await listCertificates(services, reader, certificateListQueryFromWire(query)), getViewContext(services));

certificateRoutes.openapi(listCertificatesRoute, async (c) =>
  success(c, 200, await listCertificatesToWire(c.var.services, c.var.principal, c.req.valid("query"))),
);

certificateRoutes.openapi(searchCertificatesRoute, async (c) =>
  success(c, 200, await listCertificatesToWire(c.var.services, c.var.principal, c.req.valid("json"))),
);

certificateRoutes.openapi(getCertificateRoute, async (c) => {
  const { services, principal } = c.var;
  const detail = await getCertificate(services, principal, actorFromApiKey(principal), c.req.valid("param").cert_id);
  return respond(c, 200, detail, (certificate) => certificateDetailToWire(certificate, getViewContext(services)));
});

certificateRoutes.openapi(exportEvidencePackRoute, async (c) => {
  const { services, principal } = c.var;
  const { cert_id: certId } = c.req.valid("param");
  const { format, redact, disclose } = c.req.valid("query");
  const parts = await exportEvidence(services, principal, actorFromApiKey(principal), certId, {
    disclose: disclose === undefined ? null : new Set(disclose.split(",")),
    redacted: redact === "subject",
  });
  if (!parts.ok) return refusal(c, parts);
  if (format === "json") return success(c, 200, buildEvidenceBundle(parts.value));
  c.header("Content-Disposition", `attachment; filename="evidence-${certId}.${format}"`);
  return format === "zip"
    ? c.body(await buildEvidenceZip(parts.value), 200, { "Content-Type": "application/zip" })
    : c.body(await buildEvidenceHtml(parts.value, await c.var.services.readTextAsset(evidencePageScript)), 200, {
        "Content-Type": "text/html; charset=utf-8",
      });
});

certificateRoutes.openapi(eraseSubjectRoute, async (c) => {
  const { reason = null } = c.req.valid("json");
  return respond(c, 200, await eraseSubject(c.var.services, c.var.member, c.req.valid("param").cert_id, reason), erasedSubjectToWire);
});
