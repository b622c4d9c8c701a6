// The routes of certificates: issue, verify, list, read, export.
import { z } from "@hono/zod-openapi";
import { etag, RETAINED_304_HEADERS } from "hono/etag";
import { isIpAddress } from "../../../core/access/ip-address.ts";
import { actorFromApiKey, type Principal, type BusinessScope } from "../../../core/access/principal.ts";
import type { CaptureContext } from "../../../core/certificates/certificate.ts";
import { buildEvidenceBundle } from "../../../core/certificates/evidence-bundle.ts";
import { buildEvidenceHtml, buildEvidenceZip } from "../../../core/certificates/evidence-pack.ts";
import { toPublicView } from "../../../core/certificates/public-view.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { parseClientId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { getSecondsUntilTomorrow } from "../../../core/time.ts";
import { jsonBody, jsonOrTextBody } from "../../http/body.ts";
import type { AppEnv, RequestContext } from "../../http/context.ts";
import { respond, refusal, success } from "../../http/envelope.ts";
import { defineGuard, combineGuards } from "../../http/guards/define-guard.ts";
import { apiKeyGuard, optionalApiKeyGuard } from "../../http/guards/api-key.ts";
import { publicGuard } from "../../http/guards/public.ts";
import { countByAddress, countExactly, limitByAddress, applySecondaryRateLimit } from "../../http/guards/rate-limits.ts";
import { idempotencyGuard } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { portalGuard, requireOwner } from "../../http/guards/portal.ts";
import { successResponse, requestBody, idempotencyKeySchema, rateHeaders, replayHeaders } from "../../http/wire.ts";
import { captureConsent } from "../../operations/certificates/capture-consent.ts";
import { countSubmission } from "../../operations/certificates/count-submission.ts";
import { eraseSubject } from "../../operations/certificates/erase-subject.ts";
import { exportEvidence } from "../../operations/certificates/export-evidence.ts";
import { listCertificates } from "../../operations/certificates/list-certificates.ts";
import { getCertificate } from "../../operations/certificates/get-certificate.ts";
import { getViewContext } from "../../operations/certificates/get-view-context.ts";
import { resolveSubmissionClient } from "../../operations/certificates/resolve-submission-client.ts";
import { verifyCertificate } from "../../operations/certificates/verify-certificate.ts";
import type { Services } from "../../services.ts";
import { verifierSource } from "../../pages/verifier.gen.ts";
import * as example from "./examples.ts";
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

const certificateNotFoundRefusal = { cert_not_found: "There is no such certificate, or it is not yours." } as const;
const invalidFilterRefusal = { invalid_request: "The message names the filter and the rule." } as const;

/** Read as JSON whatever it is called; the type of both is one, so that the handler has it. */
const consentRequestContent = {
  "application/json": { schema: wire.consentRequestSchema, example: example.consentRequestExample },
  "text/plain": {
    schema: z.custom<z.input<typeof wire.consentRequestSchema>>().openapi({ type: "string", description: "The same JSON." }),
  },
};

interface VisitorOrServerEnv {
  Variables: AppEnv["Variables"] & { principal?: Principal };
}

/** A visitor is counted by the address, the business's server by its key. */
const limitByCaller = defineGuard<VisitorOrServerEnv>({ responseHeaders: rateHeaders }, async (c, next) => {
  const { principal } = c.var;
  const refused = principal === undefined ? countByAddress(c, "CONSENT_PER_IP") : countExactly(c, "API_KEY", principal.keyHash);
  return (await refused) ?? next();
});

const issueCertificateRoute = createRoute({
  method: "post",
  path: "/v1/consent",
  operationId: "captureConsent",
  summary: "Issue a certificate",
  description:
    "Seals one form submission into a certificate. Called by the page script from your page, or by your server with an `Origin` header. The 201 is answered only after the certificate is durable. Both the Origin and the host of `page_url` must be on your verified domains. With your API key, your server may also say whose submission it is (`X-Subject-IP`, `X-Subject-User-Agent`), and the limit is that of the key instead of 60 a minute for each address.",
  middleware: combineGuards<VisitorOrServerEnv>(optionalApiKeyGuard, limitByCaller, jsonOrTextBody),
  request: {
    headers: z.object({
      // Its absence has a refusal of its own, so the schema lets it through.
      Origin: z
        .string()
        .optional()
        .openapi({
          param: { required: true },
          description: "Set by browsers; your server names the origin of the page that held the form.",
          example: "https://www.acme-solar.example",
        }),
      "Idempotency-Key": idempotencyKeySchema(
        "The same key with the same submission answers with the same certificate for 24 hours, marked `Idempotency-Replayed: true`. The key is your API key's own where you send one, else that of this client and Origin together. `submission_id` in the body means the same.",
      ),
      "X-Subject-IP": z
        .string()
        .optional()
        .openapi({ description: "Address of the visitor. Heard only with your API key.", example: "203.0.113.7" }),
      "X-Subject-User-Agent": z.string().optional().openapi({ description: "Browser of the visitor. Heard only with your API key." }),
    }),
    body: {
      required: true,
      description:
        "At most 256 KiB of JSON without a content encoding. As `text/plain` a browser sends it without asking first (preflight).",
      content: consentRequestContent,
    },
  },
  responses: {
    201: {
      ...successResponse("The certificate is issued.", "ConsentAnswer", wire.consentReceiptSchema, example.consentReceiptExample),
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
    unauthorized: "An API key was sent and is not valid.",
    plan_required: "Live certificates need the Enterprise plan.",
    forbidden: "The API key belongs to another business than the client id, or is a test key and the client is live.",
    rate_limited:
      "More than 60 a minute from one address or 120 a minute with one API key; without a key also more than 600 a minute, 50,000 a day or 200 MB a day from the client's verified origins.",
    storage_unavailable:
      "Send the same request again. With the same Idempotency-Key or submission_id it is one certificate, also where the first was written after all.",
  },
});

const maxUserAgentLength = 512;
const toPrintable = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "").slice(0, maxUserAgentLength);

interface RequestGeo {
  readonly country?: unknown;
  readonly region?: unknown;
  readonly city?: unknown;
}
const toTextOrNull = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value.slice(0, 100) : null);

/** A server that holds the business's key may speak for the visitor's address and browser; nobody else may. */
const parseCaptureCircumstances = (c: RequestContext, byServer: boolean): Result<CaptureContext, "invalid_request"> => {
  const subjectIp = byServer ? c.req.header("x-subject-ip") : undefined;
  if (subjectIp !== undefined && !isIpAddress(subjectIp)) return refuse("invalid_request", "X-Subject-IP: must be an IP address.");
  const subjectAgent = byServer ? c.req.header("x-subject-user-agent") : undefined;
  // Only Cloudflare's edge knows where an address is; a local runtime invents a place, and evidence must not.
  const located = !byServer && c.var.services.config.environment === "production";
  const geo: RequestGeo = located ? ((c.req.raw as { cf?: RequestGeo }).cf ?? {}) : {};
  return ok({
    ip: subjectIp ?? c.var.ip,
    userAgent: toPrintable(subjectAgent ?? c.req.header("user-agent") ?? ""),
    gpc: c.req.header("sec-gpc") === "1",
    capturedVia: !byServer && c.req.header("sec-fetch-mode") !== undefined ? "browser" : "server",
    geo: { country: toTextOrNull(geo.country), region: toTextOrNull(geo.region), city: toTextOrNull(geo.city) },
  });
};

/** A 304 is readable from any page and counted like the answer that it stands for. */
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
    "For anyone, without a credential: everything but personal data. To check it yourself, hash `canonical` with SHA-256 and compare with `fingerprint`, then check `signature` with the key it names. Not counted as an open of the public page.",
  middleware: publicGuard(limitByAddress("VERIFY_PER_IP"), etagMiddleware),
  request: {
    params: wire.certIdParamSchema,
    headers: z.object({
      "If-None-Match": z
        .string()
        .optional()
        .openapi({ description: "The ETag of an earlier answer; answers 304 while nothing has changed." }),
    }),
  },
  responses: {
    200: {
      ...successResponse("The certificate.", "VerifyAnswer", wire.verifiedCertificateSchema, example.verifiedCertificateExample),
      headers: { ETag: { description: "Changes with every change of the certificate.", schema: { type: "string" } } },
    },
    304: { description: "Unchanged since the ETag sent in If-None-Match." },
  },
  refuses: ["cert_not_found"],
});

const listCertificatesRoute = createRoute({
  method: "get",
  path: "/v1/certs",
  operationId: "listCertificates",
  summary: "List your certificates",
  description:
    "Newest first, subjects masked, with the exact total. Filters are combined. A live key lists live certificates, a test key sandbox ones.",
  middleware: apiKeyGuard(),
  request: { query: wire.certificateListQuerySchema },
  responses: {
    200: successResponse("One page of certificates.", "ListAnswer", wire.certificateListSchema, example.certificateListExample),
  },
  when: invalidFilterRefusal,
});

const searchCertificatesRoute = createRoute({
  method: "post",
  path: "/v1/certs/search",
  operationId: "searchCertificates",
  summary: "List your certificates, filters in the body",
  description:
    "What `GET /v1/certs` answers, with the same filters as JSON: whoever searches for a person keeps the address or number out of URLs, which get logged. Changes nothing and takes no `Idempotency-Key`.",
  middleware: apiKeyGuard(jsonBody),
  request: { body: requestBody(wire.certificateSearchSchema, { subject_email: "pat@example.com" }) },
  responses: {
    200: successResponse("One page of certificates.", "SearchAnswer", wire.certificateListSchema, example.certificateListExample),
  },
  when: invalidFilterRefusal,
});

const getCertificateRoute = createRoute({
  method: "get",
  path: "/v1/certs/{cert_id}",
  operationId: "readCertificate",
  summary: "Read one of your certificates",
  description:
    "Decrypted subject, evidence, policies with their text, and the trail of views. Treat the answer as personal data: each reading is entered in your audit chain.",
  middleware: apiKeyGuard(),
  request: { params: wire.certIdParamSchema },
  responses: { 200: successResponse("The certificate.", "DetailAnswer", wire.certificateDetailSchema, example.certificateDetailExample) },
  when: certificateNotFoundRefusal,
});

const evidenceBundleResponse = successResponse(
  "The evidence. Files are attachments named `evidence-<cert_id>`.",
  "EvidenceAnswer",
  wire.evidenceBundleSchema,
  example.evidenceBundleExample,
);

const exportEvidencePackRoute = createRoute({
  method: "get",
  path: "/v1/certs/{cert_id}/evidence-pack",
  operationId: "exportEvidencePack",
  summary: "Export the evidence of one of your certificates",
  description:
    "All that is needed to check the certificate without this service: as a zip of the exact signed and hashed files, as one page that checks itself when opened from disk, or as one JSON object. Disclose as few fields as the case needs: each disclosed field can be proved alone. Each export is entered in your audit chain.",
  middleware: apiKeyGuard(),
  request: { params: wire.certIdParamSchema, query: wire.evidencePackQuerySchema },
  responses: {
    200: {
      ...evidenceBundleResponse,
      content: {
        ...evidenceBundleResponse.content,
        "application/zip": { schema: z.string().openapi({ format: "binary", description: "With `format=zip`." }) },
        "text/html": { schema: z.string().openapi({ description: "With `format=html`." }) },
      },
    },
  },
  when: certificateNotFoundRefusal,
});

const eraseSubjectRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/erase-subject",
  operationId: "eraseSubject",
  summary: "Erase the person of a certificate",
  description:
    "Owners only, and for good: nobody can undo it. What the person typed, the evidence with network address and browser, the trail of views, the notes of a withdrawal and everything that finds the certificate by address or number are destroyed; codes and links of the certificate end. Hashes, times, status, signature and proofs stay, and the certificate still verifies. Nobody can withdraw it by mail afterwards; you can still record a withdrawal. Keep a copy of the evidence pack before, where you may. In the platform's point-in-time recovery the values last for up to 30 days.",
  middleware: portalGuard(requireOwner, jsonBody, idempotencyGuard),
  request: { params: wire.certIdParamSchema, body: requestBody(wire.eraseSubjectSchema, example.eraseSubjectExample) },
  responses: {
    200: successResponse(
      "The person is erased. A second time answers with the first.",
      "ErasedAnswer",
      wire.erasedSubjectSchema,
      example.erasedSubjectExample,
    ),
  },
  when: certificateNotFoundRefusal,
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
  const clientLimit = principal === undefined ? await countSubmission(services, client) : null;
  const rateLimited = clientLimit && applySecondaryRateLimit(c, "CONSENT_PER_CLIENT", clientLimit);
  if (rateLimited !== null) return rateLimited;

  const captured = await captureConsent(services, {
    client,
    submission: submissionFromWire(body),
    originHeader,
    circumstances: circumstances.value,
    idempotencyKey: headers["Idempotency-Key"] ?? body.submission_id?.toLowerCase() ?? null,
    caller:
      principal === undefined ? null : { keyId: principal.keyId, businessId: principal.business.id, environment: principal.environment },
  });
  if (!captured.ok && captured.code === "rate_limited") c.header("Retry-After", String(getSecondsUntilTomorrow(services.clock())));
  if (captured.ok && captured.value.isReplayed) c.header("Idempotency-Replayed", "true");
  return respond(c, 201, captured, ({ receipt }) => consentReceiptToWire(receipt));
});

certificateRoutes.openapi(verifyCertificateRoute, async (c) => {
  const { services } = c.var;
  const found = await verifyCertificate(services, c.req.valid("param").cert_id);
  if (!found.ok) return refusal(c, found);
  const view = toPublicView(found.value, getViewContext(services));
  c.header("ETag", `"${sha256Hex(JSON.stringify(view)).slice(0, 32)}"`); // of the data: the envelope is new each time
  c.header("Cache-Control", "no-cache");
  return success(c, 200, view);
});

/** One page of what somebody may read. */
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
  const detail = await getCertificate(services, principal, c.req.valid("param").cert_id);
  return respond(c, 200, detail, (read) => certificateDetailToWire(read, getViewContext(services)));
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
    : c.body(await buildEvidenceHtml(parts.value, verifierSource), 200, { "Content-Type": "text/html; charset=utf-8" });
});

certificateRoutes.openapi(eraseSubjectRoute, async (c) => {
  const { reason = null } = c.req.valid("json");
  return respond(c, 200, await eraseSubject(c.var.services, c.var.member, c.req.valid("param").cert_id, reason), erasedSubjectToWire);
});
