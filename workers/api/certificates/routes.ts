// The wire of certificates: schemas, guards, statuses. Snake case stops here.
import { z } from "@hono/zod-openapi";
import type { Context, Hono } from "hono";
import type { CaptureCircumstances, Submission } from "../../../core/certificates/certificate.ts";
import { addressKey, isKnownIp } from "../../../core/access/address.ts";
import type { Json } from "../../../core/canonical-json.ts";
import { evidenceBundle } from "../../../core/certificates/evidence-bundle.ts";
import { evidenceHtml, evidenceZip } from "../../../core/certificates/evidence-pack.ts";
import { entityTag, verifyView } from "../../../core/certificates/views.ts";
import { certIdOf, clientIdOf, type CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { authenticateKey } from "../../operations/access.ts";
import { captureConsent, listCertificates, readCertificate, verifyCertificate, type ListQuery } from "../../operations/certificates.ts";
import { gatherEvidence } from "../../operations/evidence.ts";
import { verifierSource } from "../../pages/verifier.gen.ts";
import { viewContext } from "../../operations/view-context.ts";
import { jsonOrText, readJsonBody } from "../../http/body.ts";
import type { Api } from "../../http/context.ts";
import { answer, failure, refusal, success, successText } from "../../http/envelope.ts";
import { anyOrigin, apiKey, limitByAddress, limited, preflight, unauthorized } from "../../http/guards.ts";
import { idempotencyKeyOf } from "../../http/idempotency.ts";
import { createRoute, mount } from "../../http/openapi.ts";
import { queryOf } from "./query.ts";
import {
  certificateDetailSchema,
  certificateListSchema,
  consentReceiptSchema,
  consentRequestSchema,
  evidenceBundleSchema,
  listQuerySchema,
  verifySchema,
} from "./schema.ts";
import {
  consentRequestExample,
  detailExample,
  evidenceExample,
  exampleCertId,
  listExample,
  receiptExample,
  verifyExample,
} from "./examples.ts";
import { envelope, enveloped, failures, idempotencyKey, rateHeaders, repeatHeaders, schemaFault } from "../../http/wire.ts";
import { respond, setHeaders } from "./headers.ts";

const fieldList = /^[a-z][a-z0-9_]{0,39}(?:,[a-z][a-z0-9_]{0,39}){0,19}$/;

const packFormats = ["json", "zip", "html"] as const;
type PackFormat = (typeof packFormats)[number];
const isPackFormat = (text: string): text is PackFormat => (packFormats as readonly string[]).includes(text);

const certParam = z.object({
  cert_id: z.string().openapi({ description: "Id of the certificate, prefix `cc_`.", example: exampleCertId }),
});
const keyRefusals = ["unauthorized", "business_suspended", "business_inactive", "rate_limited", "storage_unavailable"] as const;
const notYours = { cert_not_found: "There is no such certificate, or it is not yours." } as const;
const sealedText = { "application/json": { schema: consentRequestSchema, example: consentRequestExample } };

const consentRoute = createRoute({
  method: "post",
  path: "/v1/consent",
  operationId: "captureConsent",
  tags: ["certificates"],
  summary: "Issue a certificate",
  description:
    "Seals one form submission into a certificate. Called by the page script from your page, or by your server with an `Origin` header. The 201 is answered only after the certificate is durable. Both the Origin and the host of `page_url` must be on your verified domains. With your API key, your server may also say whose submission it is (`X-Subject-IP`, `X-Subject-User-Agent`), and the limit is that of the key instead of 60 a minute for each address.",
  security: [{}, { apiKey: [] }],
  request: {
    headers: z.object({
      Origin: z.string().openapi({
        description: "Set by browsers; your server names the origin of the page that held the form.",
        example: "https://www.acme-solar.example",
      }),
      "Idempotency-Key": idempotencyKey(
        "The same key with the same submission answers with the same certificate for 24 hours, marked `Idempotency-Replayed: true`. `submission_id` in the body means the same.",
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
      content: { ...sealedText, "text/plain": { schema: z.string().openapi({ description: "The same JSON." }) } },
    },
  },
  responses: {
    201: {
      description: "The certificate is issued.",
      headers: repeatHeaders,
      content: {
        "application/json": { schema: envelope("ConsentAnswer", consentReceiptSchema), example: enveloped(receiptExample) },
      },
    },
    ...failures(
      [
        "invalid_request",
        "unauthorized",
        "plan_required",
        "business_inactive",
        "business_suspended",
        "subscription_past_due",
        "origin_not_verified",
        "page_url_not_verified",
        "forbidden",
        "client_not_found",
        "idempotency_conflict",
        "payload_too_large",
        "unsupported_media_type",
        "rate_limited",
        "storage_unavailable",
      ],
      {
        invalid_request: "The message names the input and the rule.",
        unauthorized: "An API key was sent and is not valid.",
        plan_required: "Live certificates need the Enterprise plan.",
        forbidden: "The API key belongs to another business than the client id, or is a test key and the client is live.",
        rate_limited: "More than 60 a minute from one address, 600 a minute for one client, or 120 a minute with one API key.",
        storage_unavailable: "Nothing was written; send the same request again.",
      },
    ),
  },
});

const verifyRoute = createRoute({
  method: "get",
  path: "/v1/certs/{cert_id}/verify",
  operationId: "verifyCertificate",
  tags: ["certificates"],
  summary: "Verify a certificate",
  description:
    "For anyone, without a credential: everything but personal data. To check it yourself, hash `canonical` with SHA-256 and compare with `fingerprint`, then check `signature` with the key it names. Not counted as an open of the public page.",
  security: [],
  request: {
    params: certParam,
    headers: z.object({
      "If-None-Match": z
        .string()
        .optional()
        .openapi({ description: "The ETag of an earlier answer; answers 304 while nothing has changed." }),
    }),
  },
  responses: {
    200: {
      description: "The certificate.",
      headers: { ...rateHeaders, ETag: { description: "Changes with every change of the certificate.", schema: { type: "string" } } },
      content: { "application/json": { schema: envelope("VerifyAnswer", verifySchema), example: enveloped(verifyExample) } },
    },
    304: { description: "Unchanged since the ETag sent in If-None-Match." },
    ...failures(["cert_not_found", "rate_limited", "storage_unavailable"], {
      rate_limited: "More than 120 a minute from one address.",
    }),
  },
});

const listRoute = createRoute({
  method: "get",
  path: "/v1/certs",
  operationId: "listCertificates",
  tags: ["certificates"],
  summary: "List your certificates",
  description:
    "Newest first, subjects masked, with the exact total. Filters are combined. A live key lists live certificates, a test key sandbox ones.",
  security: [{ apiKey: [] }],
  request: { query: listQuerySchema },
  responses: {
    200: {
      description: "One page of certificates.",
      headers: rateHeaders,
      content: { "application/json": { schema: envelope("ListAnswer", certificateListSchema), example: enveloped(listExample) } },
    },
    ...failures(["invalid_request", ...keyRefusals], { invalid_request: "The message names the filter and the rule." }),
  },
});

const detailRoute = createRoute({
  method: "get",
  path: "/v1/certs/{cert_id}",
  operationId: "readCertificate",
  tags: ["certificates"],
  summary: "Read one of your certificates",
  description:
    "Decrypted subject, evidence, policies with their text, and the trail of views. Treat the answer as personal data: each reading is entered in your audit chain.",
  security: [{ apiKey: [] }],
  request: { params: certParam },
  responses: {
    200: {
      description: "The certificate.",
      headers: rateHeaders,
      content: { "application/json": { schema: envelope("DetailAnswer", certificateDetailSchema), example: enveloped(detailExample) } },
    },
    ...failures(["cert_not_found", ...keyRefusals], notYours),
  },
});

const packRoute = createRoute({
  method: "get",
  path: "/v1/certs/{cert_id}/evidence-pack",
  operationId: "exportEvidencePack",
  tags: ["certificates"],
  summary: "Export the evidence of one of your certificates",
  description:
    "All that is needed to check the certificate without this service: as a zip of the exact signed and hashed files, as one page that checks itself when opened from disk, or as one JSON object. Disclose as few fields as the case needs: each disclosed field can be proved alone. Each export is entered in your audit chain.",
  security: [{ apiKey: [] }],
  request: {
    params: certParam,
    query: z.object({
      format: z.enum(packFormats).optional().openapi({
        description:
          "`json` (default): one enveloped bundle. `zip`: the evidence pack, for `svc-verify` and common tools. `html`: the same pack inside a page that checks itself.",
      }),
      redact: z.enum(["subject"]).optional().openapi({ description: "`subject` leaves out every personal value." }),
      disclose: z.string().regex(fieldList).optional().openapi({
        description: "Field keys separated by commas; only these are disclosed. Default: every field.",
        example: "email,phone",
      }),
    }),
  },
  responses: {
    200: {
      description: "The evidence. Files are attachments named `evidence-<cert_id>`.",
      headers: rateHeaders,
      content: {
        "application/json": { schema: envelope("EvidenceAnswer", evidenceBundleSchema), example: enveloped(evidenceExample) },
        "application/zip": { schema: z.string().openapi({ format: "binary", description: "With `format=zip`." }) },
        "text/html": { schema: z.string().openapi({ description: "With `format=html`." }) },
      },
    },
    ...failures(["invalid_request", "cert_not_found", ...keyRefusals], {
      ...notYours,
      invalid_request: "The message names the parameter and the rule.",
    }),
  },
});

type ConsentBody = z.infer<typeof consentRequestSchema>;

const submissionFromWire = (body: ConsentBody): Submission => {
  const extras: Record<string, Json> = {};
  for (const name of ["locale", "presentation", "esign", "widget", "referrer", "client_time"] as const) {
    const value = body[name];
    if (value !== undefined && value !== null) extras[name] = value as Json;
  }
  return {
    fields: body.fields,
    disclosureText: body.disclosure_text,
    entities: body.entities,
    entitiesAccepted: body.entities_accepted ?? undefined,
    entitiesRejected: body.entities_rejected ?? undefined,
    purpose: body.purpose,
    pageUrl: body.page_url,
    extras,
  };
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
  const located = !byServer && c.get("services").config.environment === "production";
  const geo: Geo = located ? ((c.req.raw as { cf?: Geo }).cf ?? {}) : {};
  return ok({
    ip: subjectIp ?? c.get("ip"),
    userAgent: printable(subjectAgent ?? c.req.header("user-agent") ?? ""),
    gpc: c.req.header("sec-gpc") === "1",
    capturedVia: !byServer && c.req.header("sec-fetch-mode") !== undefined ? "browser" : "server",
    geo: { country: textOrNull(geo.country), region: textOrNull(geo.region), city: textOrNull(geo.city) },
  });
};

const consent = async (c: Context<Api>): Promise<Response> => {
  const services = c.get("services");
  const authorization = c.req.header("authorization") ?? null;
  const key = authorization === null ? null : await authenticateKey(services, authorization);
  if (key !== null && !key.ok) return unauthorized(c);
  const crowded =
    key === null
      ? limited(c, "CONSENT_PER_IP", await services.takeByAddress("CONSENT_PER_IP", addressKey(c.get("ip"))))
      : limited(c, "API_KEY", await services.takeExactly("API_KEY", key.value.keyHash));
  if (crowded !== null) return crowded;

  const body = await readJsonBody(c.req.raw, jsonOrText);
  if (!body.ok) return refusal(c, body);
  const parsed = consentRequestSchema.safeParse(body.value);
  if (!parsed.success) return failure(c, "invalid_request", schemaFault(parsed.error));
  const repeatKey = idempotencyKeyOf(c);
  if (!repeatKey.ok) return refusal(c, repeatKey);
  const circumstances = circumstancesOf(c, key !== null);
  if (!circumstances.ok) return refusal(c, circumstances);

  const clientId = clientIdOf(parsed.data.client_id);
  const ofClient = clientId === null ? null : await services.takeByAddress("CONSENT_PER_CLIENT", clientId);
  if (ofClient?.allowed === false) return limited(c, "CONSENT_PER_CLIENT", ofClient) as Response;

  const captured = await captureConsent(services, {
    clientId,
    submission: submissionFromWire(parsed.data),
    originHeader: c.req.header("origin") ?? null,
    circumstances: circumstances.value,
    idempotencyKey: repeatKey.value ?? parsed.data.submission_id?.toLowerCase() ?? null,
    caller: key === null ? null : { businessId: key.value.business.id, environment: key.value.environment },
  });
  if (!captured.ok) return refusal(c, captured);
  if (captured.value.replayed) setHeaders(c, { "Idempotency-Replayed": "true" });
  return success(c, 201, captured.value.receipt);
};

const certIdParam = (c: Context<Api>): CertId | null => certIdOf(c.req.param("cert_id") ?? "");

/** RFC 9110 13.1.2: a list of tags or `*`, compared without the weakness mark that a proxy may have added. */
const isNamedIn = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch?.split(",").some((named) => named.trim() === "*" || named.trim().replace(/^W\//, "") === tag) ?? false;

const verify = async (c: Context<Api>): Promise<Response> => {
  const certId = certIdParam(c);
  const found = certId === null ? refuse("cert_not_found") : await verifyCertificate(c.get("services"), certId);
  if (!found.ok) return refusal(c, found);
  const view = JSON.stringify(verifyView(found.value, viewContext(c.get("services"))));
  const tag = entityTag(view);
  setHeaders(c, { ETag: tag, "Cache-Control": "no-cache" });
  if (isNamedIn(c.req.header("if-none-match"), tag)) return respond(c, 304, null);
  return successText(c, 200, view);
};

const listQueryOf = (c: Context<Api>): Result<ListQuery, "invalid_request"> => {
  const given = queryOf(c, Object.keys(listQuerySchema.shape));
  if (!given.ok) return given;
  const parsed = listQuerySchema.safeParse(given.value);
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
  return success(c, 200, await listCertificates(c.get("services"), c.var.principal, query.value));
};

const detail = async (c: Context<Api>): Promise<Response> => {
  const certId = certIdParam(c);
  if (certId === null || c.var.principal === undefined) return failure(c, "cert_not_found");
  return answer(c, 200, await readCertificate(c.get("services"), c.var.principal, certId));
};

const pack = async (c: Context<Api>): Promise<Response> => {
  const certId = certIdParam(c);
  if (certId === null || c.var.principal === undefined) return failure(c, "cert_not_found");
  const given = queryOf(c, ["format", "redact", "disclose"]);
  if (!given.ok) return refusal(c, given);
  const { format = "json", redact, disclose } = given.value;
  if (!isPackFormat(format)) return failure(c, "invalid_request", "format: must be json, zip or html.");
  if (redact !== undefined && redact !== "subject") return failure(c, "invalid_request", "redact: must be subject.");
  if (disclose !== undefined && !fieldList.test(disclose))
    return failure(c, "invalid_request", "disclose: must be field keys separated by commas.");
  const parts = await gatherEvidence(c.get("services"), c.var.principal, certId, {
    disclose: disclose === undefined ? null : new Set(disclose.split(",")),
    redacted: redact === "subject",
  });
  if (!parts.ok) return refusal(c, parts);
  if (format === "json") return success(c, 200, evidenceBundle(parts.value));
  setHeaders(c, { "Content-Disposition": `attachment; filename="evidence-${certId}.${format}"` });
  return format === "zip"
    ? respond(c, 200, await evidenceZip(parts.value), "application/zip")
    : respond(c, 200, await evidenceHtml(parts.value, verifierSource), "text/html; charset=utf-8");
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
