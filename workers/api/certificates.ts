// The wire of certificates: schemas, guards, statuses. Snake case stops here.
import { z } from "@hono/zod-openapi";
import type { Context, Hono } from "hono";
import type { CaptureCircumstances, Submission } from "../../core/certificates/certificate.ts";
import { isKnownIp } from "../../core/access/address.ts";
import type { Json } from "../../core/canonical-json.ts";
import { entityTag, verifyView } from "../../core/certificates/views.ts";
import { certIdOf, clientIdOf, type CertId } from "../../core/ids.ts";
import { ok, refuse, type Result } from "../../core/result.ts";
import { authenticateKey } from "../operations/access.ts";
import {
  captureConsent,
  evidencePack,
  listCertificates,
  readCertificate,
  verifyCertificate,
  type ListQuery,
} from "../operations/certificates.ts";
import { addressKey } from "../adapters/address-windows.ts";
import { jsonOrText, readJsonBody } from "./body.ts";
import type { Api } from "./context.ts";
import { answer, failure, refusal, success } from "./envelope.ts";
import { anyOrigin, apiKey, limitByAddress, limited, preflight } from "./guards.ts";
import { createRoute, mount } from "./openapi.ts";
import {
  certificateDetailSchema,
  certificateListSchema,
  consentReceiptSchema,
  consentRequestSchema,
  evidenceBundleSchema,
  listQuerySchema,
  verifySchema,
} from "./certificate-schemas.ts";
import { envelope, failures, schemaFault } from "./wire.ts";

const certParam = z.object({
  cert_id: z.string().openapi({ description: "Id of the certificate.", example: "cc_00m3v9d2m4q8x1c7b5n0t6w2h9" }),
});
const keyFailures = {
  401: "unauthorized: missing, unknown or revoked API key",
  402: "business_suspended, business_inactive",
  429: "rate_limited: more than 120 requests in 60 seconds with this key",
  503: "storage_unavailable",
};

const consentRoute = createRoute({
  method: "post",
  path: "/v1/consent",
  operationId: "captureConsent",
  tags: ["certificates"],
  summary: "Issue a certificate for a form submission",
  description:
    "Called by the page script from the business's page, or by the business's server with an Origin header. Takes JSON as application/json or, without a preflight, as text/plain. The 201 is answered only after the certificate is durable.",
  security: [],
  request: {
    headers: z.object({
      "Idempotency-Key": z
        .string()
        .optional()
        .openapi({
          description:
            "1 to 64 of A-Z a-z 0-9 _ -; the same key with the same submission answers with the same certificate for 24 hours. `submission_id` in the body means the same.",
        }),
    }),
    body: { required: true, content: { "application/json": { schema: consentRequestSchema } } },
  },
  responses: {
    201: { description: "Issued.", content: { "application/json": { schema: envelope("ConsentAnswer", consentReceiptSchema) } } },
    ...failures({
      400: "invalid_request",
      401: "unauthorized: an API key was sent and is not valid",
      402: "plan_required, business_inactive, business_suspended, subscription_past_due",
      403: "origin_not_verified, page_url_not_verified, forbidden",
      404: "client_not_found",
      409: "idempotency_conflict",
      413: "payload_too_large",
      415: "unsupported_media_type",
      429: "rate_limited",
      503: "storage_unavailable: nothing was written",
    }),
  },
});

const verifyRoute = createRoute({
  method: "get",
  path: "/v1/certs/{cert_id}/verify",
  operationId: "verifyCertificate",
  tags: ["certificates"],
  summary: "Verify a certificate",
  description:
    "Public. Everything but personal data; the subject is masked. `preimage` and `canonical` let anyone recompute the fingerprint.",
  security: [],
  request: { params: certParam },
  responses: {
    200: { description: "The certificate.", content: { "application/json": { schema: envelope("VerifyAnswer", verifySchema) } } },
    304: { description: "Unchanged since the ETag sent in If-None-Match." },
    ...failures({ 404: "cert_not_found", 429: "rate_limited", 503: "storage_unavailable" }),
  },
});

const listRoute = createRoute({
  method: "get",
  path: "/v1/certs",
  operationId: "listCertificates",
  tags: ["certificates"],
  summary: "List your certificates",
  description: "Newest first, subjects masked, with the exact total. A live key lists live certificates, a test key sandbox ones.",
  security: [{ apiKey: [] }],
  request: { query: listQuerySchema },
  responses: {
    200: { description: "One page.", content: { "application/json": { schema: envelope("ListAnswer", certificateListSchema) } } },
    ...failures({ 400: "invalid_request", ...keyFailures }),
  },
});

const detailRoute = createRoute({
  method: "get",
  path: "/v1/certs/{cert_id}",
  operationId: "readCertificate",
  tags: ["certificates"],
  summary: "Read one of your certificates",
  description:
    "Decrypted subject, evidence, policies with text and the view trail: treat it as personal data. Each reading is entered in your audit chain.",
  security: [{ apiKey: [] }],
  request: { params: certParam },
  responses: {
    200: {
      description: "The certificate.",
      content: { "application/json": { schema: envelope("DetailAnswer", certificateDetailSchema) } },
    },
    ...failures({ 404: "cert_not_found: unknown, or not yours", ...keyFailures }),
  },
});

const packRoute = createRoute({
  method: "get",
  path: "/v1/certs/{cert_id}/evidence-pack",
  operationId: "exportEvidencePack",
  tags: ["certificates"],
  summary: "Export the evidence of one of your certificates",
  security: [{ apiKey: [] }],
  request: {
    params: certParam,
    query: z.object({
      format: z.enum(["json"]).optional().openapi({ description: "`json` (default): one enveloped bundle." }),
      redact: z.enum(["subject"]).optional().openapi({ description: "`subject` leaves out every personal value." }),
      disclose: z
        .string()
        .optional()
        .openapi({ description: "Comma-separated field keys; only these are disclosed.", example: "email,phone" }),
    }),
  },
  responses: {
    200: { description: "The bundle.", content: { "application/json": { schema: envelope("EvidenceAnswer", evidenceBundleSchema) } } },
    ...failures({ 400: "invalid_request", 404: "cert_not_found: unknown, or not yours", ...keyFailures }),
  },
});

type ConsentBody = z.infer<typeof consentRequestSchema>;

const submissionFromWire = (body: ConsentBody): Result<Submission, "client_not_found"> => {
  const clientId = clientIdOf(body.client_id);
  if (clientId === null) return refuse("client_not_found");
  const extras: Record<string, Json> = {};
  for (const name of ["locale", "presentation", "esign", "widget", "referrer", "client_time"] as const) {
    const value = body[name];
    if (value !== undefined && value !== null) extras[name] = JSON.parse(JSON.stringify(value)) as Json;
  }
  return ok({
    clientId,
    fields: body.fields,
    disclosureText: body.disclosure_text,
    entities: body.entities,
    entitiesAccepted: body.entities_accepted ?? undefined,
    entitiesRejected: body.entities_rejected ?? undefined,
    purpose: body.purpose,
    pageUrl: body.page_url,
    extras,
  });
};

const longestUserAgent = 512;
const printable = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "").slice(0, longestUserAgent);

interface Geo {
  readonly country?: unknown;
  readonly region?: unknown;
  readonly city?: unknown;
}
const textOrNull = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value.slice(0, 100) : null);

/** A server that holds the business's key may speak for the visitor's address and browser; nobody else may. */
const circumstancesOf = (c: Context<Api>, byServer: boolean): Result<CaptureCircumstances, "invalid_request"> => {
  const subjectIp = byServer ? c.req.header("x-subject-ip") : undefined;
  if (subjectIp !== undefined && !isKnownIp(subjectIp)) return refuse("invalid_request", "X-Subject-IP: must be an IP address.");
  const subjectAgent = byServer ? c.req.header("x-subject-user-agent") : undefined;
  // Only Cloudflare's edge knows where an address is; a local runtime invents a place, and evidence must not.
  const located = !byServer && c.var.services.config.environment === "production";
  const geo: Geo = located ? ((c.req.raw as { cf?: Geo }).cf ?? {}) : {};
  return ok({
    ip: subjectIp ?? c.var.ip,
    userAgent: printable(subjectAgent ?? c.req.header("user-agent") ?? ""),
    gpc: c.req.header("sec-gpc") === "1",
    capturedVia: !byServer && c.req.header("sec-fetch-mode") !== undefined ? "browser" : "server",
    geo: { country: textOrNull(geo.country), region: textOrNull(geo.region), city: textOrNull(geo.city) },
  });
};

const idempotencyPattern = /^[A-Za-z0-9_-]{1,64}$/;

const consent = async (c: Context<Api>): Promise<Response> => {
  const { services } = c.var;
  const authorization = c.req.header("authorization") ?? null;
  const key = authorization === null ? null : await authenticateKey(services, authorization);
  if (key !== null && !key.ok) return refusal(c, key);
  const crowded =
    key === null
      ? limited(c, "CONSENT_PER_IP", await services.takeByAddress("CONSENT_PER_IP", addressKey(c.var.ip)))
      : limited(c, "API_KEY", await services.takeExactly("API_KEY", key.value.keyHash));
  if (crowded !== null) return crowded;

  const body = await readJsonBody(c.req.raw, jsonOrText);
  if (!body.ok) return refusal(c, body);
  const parsed = consentRequestSchema.safeParse(body.value);
  if (!parsed.success) return failure(c, "invalid_request", schemaFault(parsed.error));
  const header = c.req.header("idempotency-key");
  if (header !== undefined && !idempotencyPattern.test(header))
    return failure(c, "invalid_request", "Idempotency-Key: must be 1 to 64 of A-Z a-z 0-9 _ -.");
  const circumstances = circumstancesOf(c, key !== null);
  if (!circumstances.ok) return refusal(c, circumstances);
  const submission = submissionFromWire(parsed.data);
  if (!submission.ok) return refusal(c, submission);

  const ofClient = await services.takeByAddress("CONSENT_PER_CLIENT", submission.value.clientId);
  if (!ofClient.allowed) return limited(c, "CONSENT_PER_CLIENT", ofClient) as Response;

  const captured = await captureConsent(services, {
    submission: submission.value,
    originHeader: c.req.header("origin") ?? null,
    circumstances: circumstances.value,
    idempotencyKey: header ?? parsed.data.submission_id ?? null,
    callerBusiness: key === null ? null : key.value.business.id,
  });
  if (!captured.ok) return refusal(c, captured);
  if (captured.value.replayed) c.header("Idempotency-Replayed", "true");
  return success(c, 201, captured.value.receipt);
};

const certIdParam = (c: Context<Api>): CertId | null => certIdOf(c.req.param("cert_id") ?? "");

const verify = async (c: Context<Api>): Promise<Response> => {
  const certId = certIdParam(c);
  const found = certId === null ? refuse("cert_not_found") : await verifyCertificate(c.var.services, certId);
  if (!found.ok) return refusal(c, found);
  const view = verifyView(found.value, c.var.services.config.verifyUrl);
  const tag = entityTag(view);
  c.header("ETag", tag);
  c.header("Cache-Control", "no-cache");
  if (c.req.header("if-none-match") === tag) return c.body(null, 304);
  return success(c, 200, view);
};

const listQueryOf = (c: Context<Api>): Result<ListQuery, "invalid_request"> => {
  const raw = c.req.queries();
  const repeated = Object.entries(raw).find(([name, values]) => name in listQuerySchema.shape && values.length > 1);
  if (repeated !== undefined) return refuse("invalid_request", `${repeated[0]}: must be given once.`);
  const parsed = listQuerySchema.safeParse(Object.fromEntries(Object.entries(raw).map(([name, values]) => [name, values[0]])));
  if (!parsed.success) return refuse("invalid_request", schemaFault(parsed.error));
  const query = parsed.data;
  return ok({
    page: query.page ?? 1,
    perPage: Math.min(100, query.per_page ?? 25),
    status: query.status ?? null,
    subjectEmail: query.subject_email ?? null,
    subjectPhone: query.subject_phone ?? null,
    q: query.q === undefined || query.q === "" ? null : query.q,
    originDomain: query.origin_domain?.toLowerCase() ?? null,
    entity: query.entity ?? null,
    from: query.from === undefined ? null : Date.parse(query.from),
    to: query.to === undefined ? null : Date.parse(query.to),
  });
};

const list = async (c: Context<Api>): Promise<Response> => {
  const query = listQueryOf(c);
  if (!query.ok || c.var.principal === undefined) return query.ok ? failure(c, "unauthorized") : refusal(c, query);
  return success(c, 200, await listCertificates(c.var.services, c.var.principal, query.value));
};

const detail = async (c: Context<Api>): Promise<Response> => {
  const certId = certIdParam(c);
  if (certId === null || c.var.principal === undefined) return failure(c, "cert_not_found");
  return answer(c, 200, await readCertificate(c.var.services, c.var.principal, certId));
};

const fieldList = /^[a-z][a-z0-9_]{0,39}(?:,[a-z][a-z0-9_]{0,39}){0,19}$/;

const pack = async (c: Context<Api>): Promise<Response> => {
  const certId = certIdParam(c);
  if (certId === null || c.var.principal === undefined) return failure(c, "cert_not_found");
  const { format, redact, disclose } = c.req.query();
  if (format !== undefined && format !== "json") return failure(c, "invalid_request", "format: must be json.");
  if (redact !== undefined && redact !== "subject") return failure(c, "invalid_request", "redact: must be subject.");
  if (disclose !== undefined && !fieldList.test(disclose))
    return failure(c, "invalid_request", "disclose: must be field keys separated by commas.");
  return answer(
    c,
    200,
    await evidencePack(c.var.services, c.var.principal, certId, {
      disclose: disclose === undefined ? null : new Set(disclose.split(",")),
      redacted: redact === "subject",
    }),
  );
};

export const mountCertificates = (app: Hono<Api>): void => {
  app.use("/v1/consent", anyOrigin);
  app.options("/v1/consent", preflight("POST", "Content-Type, Idempotency-Key"));
  mount(app, consentRoute, consent);

  app.use("/v1/certs/:cert_id/verify", anyOrigin);
  app.options("/v1/certs/:cert_id/verify", preflight("GET", "If-None-Match"));
  mount(app, verifyRoute, limitByAddress("VERIFY_PER_IP"), verify);

  mount(app, listRoute, apiKey, list);
  mount(app, detailRoute, apiKey, detail);
  mount(app, packRoute, apiKey, pack);
};
