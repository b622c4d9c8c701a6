// The routes of certificates: issue, verify, list, read, export.
import { z } from "@hono/zod-openapi";
import { etag, RETAINED_304_HEADERS } from "hono/etag";
import { isKnownIp } from "../../../core/access/address.ts";
import { keyActor, type Principal, type Reader } from "../../../core/access/principal.ts";
import type { CaptureCircumstances } from "../../../core/certificates/certificate.ts";
import { evidenceBundle } from "../../../core/certificates/evidence-bundle.ts";
import { evidenceHtml, evidenceZip } from "../../../core/certificates/evidence-pack.ts";
import { verifyView } from "../../../core/certificates/views.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { clientIdOf } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { secondsUntilTomorrow } from "../../../core/time.ts";
import { jsonBody, jsonOrTextBody } from "../../http/body.ts";
import type { Api, RequestContext } from "../../http/context.ts";
import { answer, refusal, success } from "../../http/envelope.ts";
import { guard, inTurn } from "../../http/guard.ts";
import {
  behindApiKey,
  countedByAddress,
  countedExactly,
  forAnyone,
  limitByAddress,
  optionalApiKey,
  overflowing,
} from "../../http/guards.ts";
import { idempotent } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindPortal, ownerOnly } from "../../http/session-guards.ts";
import { answerOf, bodyOf, idempotencyKey, rateHeaders, repeatHeaders } from "../../http/wire.ts";
import { captureConsent, countForClient } from "../../operations/certificates/capture.ts";
import { eraseSubject } from "../../operations/certificates/erase.ts";
import { gatherEvidence } from "../../operations/certificates/evidence.ts";
import { listCertificates } from "../../operations/certificates/list.ts";
import { readCertificate } from "../../operations/certificates/read.ts";
import { verifyCertificate, viewContext } from "../../operations/certificates/verify.ts";
import type { Services } from "../../services.ts";
import { verifierSource } from "../../pages/verifier.gen.ts";
import * as example from "./examples.ts";
import * as wire from "./schema.ts";
import { detailToWire, erasedToWire, listQueryFromWire, listToWire, receiptToWire, submissionFromWire } from "./to-wire.ts";

const createRoute = routesOf("certificates");

const notYours = { cert_not_found: "There is no such certificate, or it is not yours." } as const;
const namesFilter = { invalid_request: "The message names the filter and the rule." } as const;

/** Read as JSON whatever it is called; the type of both is one, so that the handler has it. */
const sealedText = {
  "application/json": { schema: wire.consentRequestSchema, example: example.consentRequestExample },
  "text/plain": {
    schema: z.custom<z.input<typeof wire.consentRequestSchema>>().openapi({ type: "string", description: "The same JSON." }),
  },
};

interface VisitorOrServer {
  Variables: Api["Variables"] & { principal?: Principal };
}

/** A visitor is counted by the address, the business's server by its key. */
const countedCaller = guard<VisitorOrServer>({ sets: rateHeaders }, async (c, next) => {
  const { principal } = c.var;
  const refused = principal === undefined ? countedByAddress(c, "CONSENT_PER_IP") : countedExactly(c, "API_KEY", principal.keyHash);
  return (await refused) ?? next();
});

const consentRoute = createRoute({
  method: "post",
  path: "/v1/consent",
  operationId: "captureConsent",
  summary: "Issue a certificate",
  description:
    "Seals one form submission into a certificate. Called by the page script from your page, or by your server with an `Origin` header. The 201 is answered only after the certificate is durable. Both the Origin and the host of `page_url` must be on your verified domains. With your API key, your server may also say whose submission it is (`X-Subject-IP`, `X-Subject-User-Agent`), and the limit is that of the key instead of 60 a minute for each address.",
  middleware: inTurn<VisitorOrServer>(optionalApiKey, countedCaller, jsonOrTextBody),
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
      "Idempotency-Key": idempotencyKey(
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
      content: sealedText,
    },
  },
  responses: {
    201: {
      ...answerOf("The certificate is issued.", "ConsentAnswer", wire.consentReceiptSchema, example.receiptExample),
      headers: repeatHeaders,
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
const printable = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "").slice(0, maxUserAgentLength);

interface Geo {
  readonly country?: unknown;
  readonly region?: unknown;
  readonly city?: unknown;
}
const textOrNull = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value.slice(0, 100) : null);

/** A server that holds the business's key may speak for the visitor's address and browser; nobody else may. */
const circumstancesOf = (c: RequestContext, byServer: boolean): Result<CaptureCircumstances, "invalid_request"> => {
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

/** A 304 is readable from any page and counted like the answer that it stands for. */
const tagged = etag({
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

const verifyRoute = createRoute({
  method: "get",
  path: "/v1/certs/{cert_id}/verify",
  operationId: "verifyCertificate",
  summary: "Verify a certificate",
  description:
    "For anyone, without a credential: everything but personal data. To check it yourself, hash `canonical` with SHA-256 and compare with `fingerprint`, then check `signature` with the key it names. Not counted as an open of the public page.",
  middleware: forAnyone(limitByAddress("VERIFY_PER_IP"), tagged),
  request: {
    params: wire.certParams,
    headers: z.object({
      "If-None-Match": z
        .string()
        .optional()
        .openapi({ description: "The ETag of an earlier answer; answers 304 while nothing has changed." }),
    }),
  },
  responses: {
    200: {
      ...answerOf("The certificate.", "VerifyAnswer", wire.verifySchema, example.verifyExample),
      headers: { ETag: { description: "Changes with every change of the certificate.", schema: { type: "string" } } },
    },
    304: { description: "Unchanged since the ETag sent in If-None-Match." },
  },
  refuses: ["cert_not_found"],
});

const listRoute = createRoute({
  method: "get",
  path: "/v1/certs",
  operationId: "listCertificates",
  summary: "List your certificates",
  description:
    "Newest first, subjects masked, with the exact total. Filters are combined. A live key lists live certificates, a test key sandbox ones.",
  middleware: behindApiKey(),
  request: { query: wire.listQuerySchema },
  responses: { 200: answerOf("One page of certificates.", "ListAnswer", wire.certificateListSchema, example.listExample) },
  when: namesFilter,
});

const searchRoute = createRoute({
  method: "post",
  path: "/v1/certs/search",
  operationId: "searchCertificates",
  summary: "List your certificates, filters in the body",
  description:
    "What `GET /v1/certs` answers, with the same filters as JSON: whoever searches for a person keeps the address or number out of URLs, which get logged. Changes nothing and takes no `Idempotency-Key`.",
  middleware: behindApiKey(jsonBody),
  request: { body: bodyOf(wire.searchSchema, { subject_email: "pat@example.com" }) },
  responses: { 200: answerOf("One page of certificates.", "SearchAnswer", wire.certificateListSchema, example.listExample) },
  when: namesFilter,
});

const detailRoute = createRoute({
  method: "get",
  path: "/v1/certs/{cert_id}",
  operationId: "readCertificate",
  summary: "Read one of your certificates",
  description:
    "Decrypted subject, evidence, policies with their text, and the trail of views. Treat the answer as personal data: each reading is entered in your audit chain.",
  middleware: behindApiKey(),
  request: { params: wire.certParams },
  responses: { 200: answerOf("The certificate.", "DetailAnswer", wire.certificateDetailSchema, example.detailExample) },
  when: notYours,
});

const evidenceAnswer = answerOf(
  "The evidence. Files are attachments named `evidence-<cert_id>`.",
  "EvidenceAnswer",
  wire.evidenceBundleSchema,
  example.evidenceExample,
);

const packRoute = createRoute({
  method: "get",
  path: "/v1/certs/{cert_id}/evidence-pack",
  operationId: "exportEvidencePack",
  summary: "Export the evidence of one of your certificates",
  description:
    "All that is needed to check the certificate without this service: as a zip of the exact signed and hashed files, as one page that checks itself when opened from disk, or as one JSON object. Disclose as few fields as the case needs: each disclosed field can be proved alone. Each export is entered in your audit chain.",
  middleware: behindApiKey(),
  request: { params: wire.certParams, query: wire.packQuerySchema },
  responses: {
    200: {
      ...evidenceAnswer,
      content: {
        ...evidenceAnswer.content,
        "application/zip": { schema: z.string().openapi({ format: "binary", description: "With `format=zip`." }) },
        "text/html": { schema: z.string().openapi({ description: "With `format=html`." }) },
      },
    },
  },
  when: notYours,
});

const eraseRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/erase-subject",
  operationId: "eraseSubject",
  summary: "Erase the person of a certificate",
  description:
    "Owners only, and for good: nobody can undo it. What the person typed, the evidence with network address and browser, the trail of views, the notes of a withdrawal and everything that finds the certificate by address or number are destroyed; codes and links of the certificate end. Hashes, times, status, signature and proofs stay, and the certificate still verifies. Nobody can withdraw it by mail afterwards; you can still record a withdrawal. Keep a copy of the evidence pack before, where you may. In the platform's point-in-time recovery the values last for up to 30 days.",
  middleware: behindPortal(ownerOnly, jsonBody, idempotent),
  request: { params: wire.certParams, body: bodyOf(wire.eraseSchema, example.eraseExample) },
  responses: {
    200: answerOf("The person is erased. A second time answers with the first.", "ErasedAnswer", wire.erasedSchema, example.erasedExample),
  },
  when: notYours,
});

export const certificates = newApi();

certificates.openapi(consentRoute, async (c) => {
  const { services, principal } = c.var;
  const body = c.req.valid("json");
  const headers = c.req.valid("header");
  const circumstances = circumstancesOf(c, principal !== undefined);
  if (!circumstances.ok) return refusal(c, circumstances);

  const clientId = clientIdOf(body.client_id);
  const originHeader = headers.Origin ?? null;
  const ofClient = clientId === null || principal !== undefined ? null : await countForClient(services, clientId, originHeader);
  const crowded = ofClient && overflowing(c, "CONSENT_PER_CLIENT", ofClient);
  if (crowded !== null) return crowded;

  const captured = await captureConsent(services, {
    clientId,
    submission: submissionFromWire(body),
    originHeader,
    circumstances: circumstances.value,
    idempotencyKey: headers["Idempotency-Key"] ?? body.submission_id?.toLowerCase() ?? null,
    caller:
      principal === undefined ? null : { keyId: principal.keyId, businessId: principal.business.id, environment: principal.environment },
  });
  if (!captured.ok && captured.code === "rate_limited") c.header("Retry-After", String(secondsUntilTomorrow(services.clock())));
  if (captured.ok && captured.value.replayed) c.header("Idempotency-Replayed", "true");
  return answer(c, 201, captured, ({ receipt }) => receiptToWire(receipt));
});

certificates.openapi(verifyRoute, async (c) => {
  const { services } = c.var;
  const found = await verifyCertificate(services, c.req.valid("param").cert_id);
  if (!found.ok) return refusal(c, found);
  const view = verifyView(found.value, viewContext(services));
  c.header("ETag", `"${sha256Hex(JSON.stringify(view)).slice(0, 32)}"`); // of the data: the envelope is new each time
  c.header("Cache-Control", "no-cache");
  return success(c, 200, view);
});

/** One page of what somebody may read. */
export const pageOf = async (services: Services, reader: Reader, query: z.output<typeof wire.listQuerySchema>) =>
  listToWire(await listCertificates(services, reader, listQueryFromWire(query)), viewContext(services));

certificates.openapi(listRoute, async (c) => success(c, 200, await pageOf(c.var.services, c.var.principal, c.req.valid("query"))));

certificates.openapi(searchRoute, async (c) => success(c, 200, await pageOf(c.var.services, c.var.principal, c.req.valid("json"))));

certificates.openapi(detailRoute, async (c) => {
  const { services, principal } = c.var;
  const detail = await readCertificate(services, principal, c.req.valid("param").cert_id);
  return answer(c, 200, detail, (read) => detailToWire(read, viewContext(services)));
});

certificates.openapi(packRoute, async (c) => {
  const { services, principal } = c.var;
  const { cert_id: certId } = c.req.valid("param");
  const { format, redact, disclose } = c.req.valid("query");
  const parts = await gatherEvidence(services, principal, keyActor(principal), certId, {
    disclose: disclose === undefined ? null : new Set(disclose.split(",")),
    redacted: redact === "subject",
  });
  if (!parts.ok) return refusal(c, parts);
  if (format === "json") return success(c, 200, evidenceBundle(parts.value));
  c.header("Content-Disposition", `attachment; filename="evidence-${certId}.${format}"`);
  return format === "zip"
    ? c.body(await evidenceZip(parts.value), 200, { "Content-Type": "application/zip" })
    : c.body(await evidenceHtml(parts.value, verifierSource), 200, { "Content-Type": "text/html; charset=utf-8" });
});

certificates.openapi(eraseRoute, async (c) => {
  const { reason = null } = c.req.valid("json");
  return answer(c, 200, await eraseSubject(c.var.services, c.var.member, c.req.valid("param").cert_id, reason), erasedToWire);
});
