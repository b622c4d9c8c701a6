// The description of the API against the running thing: every route is described and every description is routed, and
// what each route really answers, in success and in every refusal it names, is what its description says.
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { PaymentProvider, ProviderAnswer } from "../../core/billing/payment-provider.ts";
import { BoundedMap } from "../../core/bounded-map.ts";
import { z } from "@hono/zod-openapi";
import { inspectRoutes } from "hono/dev";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import committed from "../../docs/openapi.json";
import { buildApp } from "../../workers/app.ts";
import type { Env } from "../../workers/env.ts";
import { openApiDocument } from "../../workers/http/openapi.ts";
import { openPlatform, type Platform, type Services } from "../../workers/services.ts";
import { exampleOwnerEmail } from "../../scripts/demo-world.ts";
import { erase } from "../support/erasing.ts";
import { customerOf, sendRaw, signed } from "../support/billing.ts";
import { askForCode, codeFor, forgetCodes, giveCode, json, signIn } from "../support/people.ts";
import { batch, databaseOf } from "../../storage/database.ts";
import { commitEvents, eventRow, logs, register } from "../support/events.ts";
import { call, consent, get, issue, origin, submission, world, type Answer } from "../support/world.ts";
import { answerCode, askCode, held, jsonPost, ready, withdrawn, type Held } from "../support/withdrawing.ts";
import { changedServices } from "../support/changed-services.ts";

type Json = Record<string, unknown>;
interface Described {
  readonly operationId: string;
  readonly responses: Record<string, { content?: Record<string, { schema: Json; examples?: Record<string, unknown> }> }>;
}
interface Document {
  readonly paths: Record<string, Record<string, Described>>;
  readonly components: { readonly schemas: Record<string, Json> };
}

/** What is routed and described nowhere, and why. */
const undocumented: readonly { readonly path: RegExp; readonly why: string }[] = [
  { path: /^GET \/health$/, why: "where load balancers look; the same answer as /v1/health" },
  { path: /^OPTIONS /, why: "asked by browsers on their own" },
  { path: /^(?:GET|POST|ALL) \/c(?:\/|$)/, why: "pages for people and their forms" },
  { path: /^(?:GET|HEAD|POST) \/(?:ledger|audit)\//, why: "transparency logs, whose interface is a public standard (docs/ledger.md)" },
  { path: /^GET \/docs$/, why: "the page that shows this description" },
  { path: /^GET \/\.well-known\/security\.txt$/, why: "whom to tell of a weakness, in the form of RFC 9116" },
  { path: /^(?:GET|POST) \/v1\/admin\//, why: "the operator's, outside the protocol surface (docs/operating.md)" },
  { path: /^GET \/dev\//, why: "development only" },
];

let clock = Date.now();
let platform: Services;
let document: Document;
let certId: string;
let withdrawnId: string;
let webhookId: string;
let deliveryId: string;

beforeAll(async () => {
  platform = await openPlatform(env as unknown as Env);
  document = (await get("/v1/openapi.json")).body;
  certId = (await issue()).cert_id;
  withdrawnId = await revoked();
  webhookId = (await register(world.acme.id, hook)).id;
  await commitEvents(world.acme.id, 1);
  await logs.getByName(world.acme.id).drain();
  deliveryId = (await logs.getByName(world.acme.id).deliveries(webhookId, 1, null))?.deliveries[0]?.id as string;
});
// People are asked about more often here than a person may ask.
beforeEach(() => {
  clock += 120_000;
  vi.useFakeTimers({ toFake: ["Date"], now: clock });
});
afterAll(() => {
  vi.useRealTimers();
});

const operations = (): { readonly key: string; readonly operation: Described }[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ key: `${method.toUpperCase()} ${path}`, operation })),
  );

describe("the description", () => {
  test("is the committed docs/openapi.json, but for the address (npm run openapi writes it)", async () => {
    const { servers: _here, ...served } = (await get("/v1/openapi.json")).body;
    const { servers: _there, ...kept } = committed as Json;
    expect(served).toEqual(kept);
  });

  test("stays the same however often an isolate builds its app", () => {
    buildApp(platform);
    buildApp(platform);
    const elsewhere = openApiDocument(buildApp(platform), "https://another.example") as Document & { servers: unknown };
    expect({ ...elsewhere, servers: null }).toEqual({ ...document, servers: null });
    expect(elsewhere.servers).toEqual([{ url: "https://another.example" }]);
  });

  test("names every route, and no other", () => {
    const routed = [
      ...new Set(
        inspectRoutes(buildApp(platform))
          .filter(({ isMiddleware }) => !isMiddleware)
          .map(({ method, path }) => `${method} ${path.replaceAll(/:([a-z_]+)/g, "{$1}")}`),
      ),
    ];
    const described = operations().map(({ key }) => key);
    const open = routed.filter((route) => !undocumented.some(({ path }) => path.test(route)));
    expect(open.sort()).toEqual(described.sort());
  });
});

/** The app on a platform that is changed in one way, to bring about what cannot be asked for from outside. */
const answerOf = async (changed: Partial<Platform>, path: string, init: RequestInit = {}): Promise<Answer> => {
  const execution = createExecutionContext();
  const response = await buildApp(changedServices(platform, changed)).fetch(new Request(`http://svc.test${path}`, init), env, execution);
  await waitOnExecutionContext(execution);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text === "" ? null : JSON.parse(text) };
};

/** There while the app is built, and no address when the description asks for it. */
const addressGoing = (): (() => string) => {
  let asked = 0;
  return () => (++asked === 1 ? platform.config.baseUrl : "no address");
};

const full = async () => ({ allowed: false, remaining: 0, resetMs: 1_500 });
const crowded = (): Partial<Platform> => ({ takeByAddress: full, takeExactly: full });
const fails = (error: Error) => (): never => {
  throw error;
};
const failing = (error: Error): Partial<Platform> => {
  const db = databaseOf({ prepare: fails(error), batch: fails(error) } as unknown as D1Database);
  // What an isolate remembers is asked for nothing here: the databases are what fails.
  return {
    homes: { of: () => db, all: () => [["00" as never, db]] },
    rememberedClients: new BoundedMap(1),
  };
};
const outage = (): Partial<Platform> => failing(new Error("D1_ERROR: the database is away"));
const bug = (): Partial<Platform> => failing(new TypeError("a mistake of ours"));

const bearer = (key: string): RequestInit => ({ headers: { authorization: `Bearer ${key}` } });
const post = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", origin },
  body: JSON.stringify(body),
});
const path = (rest = ""): string => `/v1/certs/${certId}${rest}`;
const unknownCert = "/v1/certs/cc_00zzzzzzzzzzzzzzzzzzzzzzzz";
const { free, past_due, suspended, closed } = world.examples;

const bearerOf = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
/** A POST of the business whose key it is. */
const keyed = (body: unknown, key = world.acme.keys.live): RequestInit => jsonPost(body, bearerOf(key));

/** The refusals that every route with an API key shares; `body` of one that is posted to. */
const keyRefusals = (at: () => string, body?: () => unknown): Record<string, () => Promise<Answer>> => {
  const by = (key: string): RequestInit => (body === undefined ? bearer(key) : keyed(body(), key));
  return {
    unauthorized: () => call(at(), by("sk_live_00wrong")),
    business_suspended: () => call(at(), by(suspended.keys.live)),
    business_inactive: () => call(at(), by(closed.keys.live)),
    rate_limited: () => answerOf(crowded(), at(), by(world.acme.keys.live)),
    storage_unavailable: () => answerOf(outage(), at(), by(world.acme.keys.live)),
    internal_error: () => answerOf(bug(), at(), by(world.acme.keys.live)),
  };
};
const bodyRefusals = (at: () => string, headers: Record<string, string> = {}): Record<string, () => Promise<Answer>> => ({
  payload_too_large: () => call(at(), { ...jsonPost({}, headers), body: " ".repeat(256 * 1_024 + 1) }),
  unsupported_media_type: () => call(at(), jsonPost({}, { ...headers, "content-type": "text/plain" })),
});
const outages = (at: () => string, init: RequestInit): Record<string, () => Promise<Answer>> => ({
  rate_limited: () => answerOf(crowded(), at(), init),
  storage_unavailable: () => answerOf(outage(), at(), init),
  internal_error: () => answerOf(bug(), at(), init),
});
const rightly = { email: "pat@example.com", code: "123456" };
const wrongToken = { token: "A".repeat(43) };
const manage = (certificate: Held): Promise<Answer> =>
  call(`/v1/certs/${certificate.certId}/opt-out/manage`, jsonPost({ token: certificate.manageToken }));
const told = () => ({ method: "sms_stop", received_at: new Date().toISOString(), note: "STOP" });
const revoked = async (): Promise<string> => {
  const { certId: id } = await held();
  await call(`/v1/certs/${id}/withdrawals`, keyed(told()));
  return id;
};

const asked = { email: world.ownerEmail, realm: "business" };
const proof = { ...asked, email: "never-asked@example.com", code: "123456" };
const changed = (init: RequestInit, headers: Record<string, string>): RequestInit => ({
  ...init,
  headers: { ...(init.headers as Record<string, string>), ...headers },
});

/** The refusals that unsafe routes of people share. */
const postRefusals = (at: string, good: () => RequestInit): Record<string, () => Promise<Answer>> => ({
  csrf_failed: () => call(at, changed(good(), { origin: "https://elsewhere.example" })),
  payload_too_large: () => call(at, { ...good(), body: " ".repeat(256 * 1_024 + 1) }),
  unsupported_media_type: () => call(at, changed(good(), { "content-type": "application/xml" })),
  storage_unavailable: () => answerOf(outage(), at, good()),
  internal_error: () => answerOf(bug(), at, good()),
});

const providerAnswering = (answer: ProviderAnswer): PaymentProvider => ({
  openCheckout: async () => answer,
  openAccount: async () => answer,
});
const paymentPage = providerAnswering({ outcome: "url", url: "https://checkout.stripe.com/c/pay/cs_test" });

interface Checkout {
  readonly as?: string;
  readonly plan?: string;
  readonly headers?: Record<string, string>;
  readonly changed?: Partial<Platform>;
}

const checkout = async ({ as = world.ownerEmail, plan = "business", headers = {}, changed = {} }: Checkout = {}): Promise<Answer> =>
  answerOf({ paymentProvider: paymentPage, ...changed }, `/v1/billing/checkout?plan=${plan}`, {
    headers: { ...(await signIn(as)), ...headers },
  });

const providerEvent = async (changed: Partial<Platform> = {}): Promise<Answer> => {
  const body = JSON.stringify(customerOf(world.other.id, "enterprise").checkout(0));
  const headers = { "content-type": "application/json", "stripe-signature": await signed(body) };
  return answerOf(changed, "/v1/webhooks/stripe", { method: "POST", headers, body });
};

const integrationPath = "/v1/business/portal/integrate";
const integrationRequest = { url: "https://www.example.com/quote", mode: "consent", purpose: "quotes", entities: ["Acme Solar LLC"] };
const quotePage: Partial<Platform> = {
  fetchPage: async ({ url }) => ({ outcome: "page", page: { url, type: "text/html", body: "<form><input type=email name=email></form>" } }),
};
const integrate = ({ body = integrationRequest, changed: parts = {}, ...more }: WebhookCall = {}): Promise<Answer> =>
  webhooks("POST", integrationPath, { body, changed: { ...quotePage, ...parts }, ...more });

const hook = "https://hook1.merchant-tests.com/in";
const auditPath = "/v1/business/portal/audit";
const noWebhook = "whk_00000000000000000000000000";
const noDelivery = "dlv_00000000000000000000000000";

interface WebhookCall {
  /** Otherwise a member asks. */
  readonly owner?: boolean;
  readonly as?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly changed?: Partial<Platform>;
}

/** Below the endpoints, unless it is a whole path. */
const portalPath = (at: string): string => (at.startsWith("/v1/") ? at : `/v1/webhooks${at}`);

/** A request of acme's people about its endpoints. */
const webhooks = async (
  method: string,
  at: string,
  { owner = false, as, body, headers = {}, changed = {} }: WebhookCall = {},
): Promise<Answer> => {
  const signed = await signIn(as ?? (owner ? world.ownerEmail : world.memberEmail));
  const sent = { ...signed, ...(body !== undefined && { "content-type": "application/json" }), ...headers };
  return answerOf(changed, portalPath(at), {
    method,
    headers: sent,
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
};

/** With a log that answers some questions otherwise. */
const inLog = (methods: object, ask: (changed: Partial<Platform>) => Promise<Answer>): Promise<Answer> => {
  const log = logs.getByName(world.acme.id);
  const changed = new Proxy(log, { get: (target, name) => Reflect.get(name in methods ? methods : target, name) as unknown });
  return ask({ businessLog: () => changed as never });
};

const failedDelivery = () => ({
  id: noDelivery,
  webhookId: noWebhook,
  eventId: crypto.randomUUID(),
  eventType: "certificate.revoked",
  status: "retrying" as const,
  attempt: 2,
  responseStatus: null,
  error: "timeout" as const,
  durationMs: 10_000,
  nextAttemptAt: 1_800_000_000_000,
  deliveredAt: null,
  createdAt: 1_700_000_000_000,
});

/** The refusals that the portal's routes share. */
const memberRefusals = (method: string, at: () => string, body?: unknown): Record<string, () => Promise<Answer>> => {
  const unknownSession = { cookie: `svc_session=ses_00${"A".repeat(43)}` };
  const sent = body === undefined ? {} : { body };
  return {
    unauthorized: () => webhooks(method, at(), { ...sent, headers: unknownSession }),
    business_suspended: () => webhooks(method, at(), { ...sent, as: exampleOwnerEmail("suspended") }),
    business_inactive: () => webhooks(method, at(), { ...sent, as: exampleOwnerEmail("closed") }),
    forbidden: async () => call(portalPath(at()), { method, headers: await signIn(world.consumerEmail, "consumer") }),
    rate_limited: () => webhooks(method, at(), { ...sent, owner: true, changed: crowded() }),
    storage_unavailable: () => webhooks(method, at(), { ...sent, owner: true, changed: outage() }),
    internal_error: () => webhooks(method, at(), { ...sent, owner: true, changed: bug() }),
  };
};
const unsafeRefusals = (method: string, at: () => string, body?: unknown): Record<string, () => Promise<Answer>> => ({
  ...memberRefusals(method, at, body),
  csrf_failed: () => webhooks(method, at(), { owner: true, headers: { origin: "https://elsewhere.example" } }),
  subscription_past_due: () => webhooks(method, at(), { as: exampleOwnerEmail("past_due") }),
  invalid_request: () => webhooks(method, at(), { owner: true, body: "{" }),
  payload_too_large: () => webhooks(method, at(), { owner: true, body: " ".repeat(256 * 1_024 + 1) }),
  unsupported_media_type: () => webhooks(method, at(), { owner: true, body: "a=b", headers: { "content-type": "text/plain" } }),
});
const ownerRefusals = (method: string, at: () => string, body?: unknown): Record<string, () => Promise<Answer>> => ({
  ...unsafeRefusals(method, at, body),
  owner_required: () => webhooks(method, at(), body === undefined ? {} : { body }),
});
/** The same key with one body and then with another. */
const twice = async (send: (body: object, headers: Record<string, string>) => Promise<Answer>, first: object, second: object) => {
  const key = { "idempotency-key": crypto.randomUUID() };
  await send(first, key);
  return send(second, key);
};
const portalConflict = (at: () => string) => ({
  idempotency_conflict: () => twice((body, headers) => webhooks("POST", at(), { owner: true, body, headers }), {}, { other: true }),
});
const notFound = (method: string, at: string, body?: unknown): Record<string, () => Promise<Answer>> => ({
  not_found: () => webhooks(method, at, { owner: true, ...(body !== undefined && { body }) }),
});

const erasedCert = async (): Promise<string> => {
  const { certId: id } = await held();
  await erase(id);
  return id;
};

/** For each operation: an answer of each success, by status, and of each refusal, by code. */
const scenarios: Readonly<Record<string, Readonly<Record<string, () => Promise<Answer>>>>> = {
  captureConsent: {
    201: () => consent(submission()),
    "201 recipient by recipient": () =>
      consent({ ...submission(), entities_accepted: ["Acme Solar LLC"], entities_rejected: [], submission_id: crypto.randomUUID() }),
    invalid_request: () => consent({ ...submission(), purpose: "" }),
    unauthorized: () => consent(submission(), { authorization: "Bearer sk_live_00wrong" }),
    plan_required: () => consent(submission(free)),
    business_inactive: () => consent(submission(closed)),
    business_suspended: () => consent(submission(suspended)),
    subscription_past_due: () => consent(submission(past_due)),
    origin_not_verified: () => consent(submission(), { origin: "https://elsewhere.example" }),
    page_url_not_verified: () => consent({ ...submission(), page_url: "https://elsewhere.example/" }),
    forbidden: () => consent(submission(), { authorization: `Bearer ${world.other.keys.live}` }),
    client_not_found: () => consent({ ...submission(), client_id: "pc_live_00zzzzzzzzzzzzzzzzzzzzzzzz" }),
    idempotency_conflict: async () => {
      const key = { "idempotency-key": crypto.randomUUID() };
      await consent(submission(), key);
      return consent({ ...submission(), purpose: "another purpose" }, key);
    },
    payload_too_large: () => consent(" ".repeat(256 * 1_024 + 1)),
    unsupported_media_type: () => consent(submission(), { "content-type": "application/xml" }),
    rate_limited: () => answerOf(crowded(), "/v1/consent", post(submission())),
    storage_unavailable: () => answerOf(outage(), "/v1/consent", post(submission())),
    internal_error: () => answerOf(bug(), "/v1/consent", post(submission())),
  },
  verifyCertificate: {
    200: () => get(path("/verify")),
    "200 withdrawn": () => get(`/v1/certs/${withdrawnId}/verify`),
    304: async () => {
      const etag = (await get(path("/verify"))).headers.get("etag") as string;
      return call(path("/verify"), { headers: { "if-none-match": etag } });
    },
    cert_not_found: () => get(`${unknownCert}/verify`),
    rate_limited: () => answerOf(crowded(), path("/verify")),
    storage_unavailable: () => answerOf(outage(), path("/verify")),
    internal_error: () => answerOf(bug(), path("/verify")),
  },
  listCertificates: {
    200: () => get("/v1/certs?q=solar&subject_email=pat@example.com", world.acme.keys.live),
    "200 withdrawn": () => get("/v1/certs?status=revoked", world.acme.keys.live),
    "200 empty": () => get("/v1/certs?page=9999", world.acme.keys.live),
    invalid_request: () => get("/v1/certs?page=0", world.acme.keys.live),
    ...keyRefusals(() => "/v1/certs"),
  },
  searchCertificates: {
    200: () => call("/v1/certs/search", keyed({ q: "solar", subject_email: "pat@example.com", per_page: 2 })),
    invalid_request: () => call("/v1/certs/search", keyed({ page: 0 })),
    ...bodyRefusals(() => "/v1/certs/search", bearerOf(world.acme.keys.live)),
    ...keyRefusals(
      () => "/v1/certs/search",
      () => ({}),
    ),
  },
  readCertificate: {
    200: () => get(path(), world.acme.keys.live),
    "200 withdrawn": () => get(`/v1/certs/${withdrawnId}`, world.acme.keys.live),
    "200 erased": async () => get(`/v1/certs/${await erasedCert()}`, world.acme.keys.live),
    cert_not_found: () => get(path(), world.other.keys.live),
    ...keyRefusals(path),
  },
  eraseSubject: {
    200: async () => erase((await held()).certId),
    ...ownerRefusals("POST", () => path("/erase-subject"), { confirm: "ERASE" }),
    invalid_request: () => erase(certId, { confirm: "yes" }),
    cert_not_found: () => erase(certId, undefined, { as: world.otherOwnerEmail }),
    idempotency_conflict: async () => {
      const { certId: id } = await held();
      return twice((body, headers) => erase(id, body, { headers }), { confirm: "ERASE" }, { confirm: "ERASE", reason: "other" });
    },
  },
  exportEvidencePack: {
    200: () => get(path("/evidence-pack"), world.acme.keys.live),
    "200 redacted": () => get(path("/evidence-pack?redact=subject"), world.acme.keys.live),
    "200 as a zip": () => get(path("/evidence-pack?format=zip"), world.acme.keys.live),
    "200 as a page": () => get(path("/evidence-pack?format=html"), world.acme.keys.live),
    "200 one field": () => get(path("/evidence-pack?format=json&disclose=email"), world.acme.keys.live),
    invalid_request: () => get(path("/evidence-pack?format=tar"), world.acme.keys.live),
    cert_not_found: () => get(`${unknownCert}/evidence-pack`, world.acme.keys.live),
    ...keyRefusals(() => path("/evidence-pack")),
  },
  createWebhook: {
    201: async () => webhooks("POST", "", { owner: true, body: { url: hook, events: ["share.revoked"], description: "CRM" } }),
    ...ownerRefusals("POST", () => "", { url: hook }),
    invalid_request: () => webhooks("POST", "", { owner: true, body: { url: hook, event: [] } }),
    invalid_webhook_url: () => webhooks("POST", "", { owner: true, body: { url: "https://localhost/" } }),
    webhook_limit: () =>
      inLog({ addEndpoint: async () => false }, (changed) => webhooks("POST", "", { owner: true, body: { url: hook }, changed })),
    idempotency_conflict: async () => {
      const headers = { "idempotency-key": crypto.randomUUID() };
      await webhooks("POST", "", { owner: true, body: { url: hook }, headers });
      return webhooks("POST", "", { owner: true, body: { url: hook, description: "another" }, headers });
    },
  },
  businessAuditTrail: {
    200: () => webhooks("GET", auditPath),
    "200 one entry of many": () => webhooks("GET", `${auditPath}?limit=1&before_seq=3`),
    "200 none yet": async () => call(auditPath, { headers: await signIn(world.otherOwnerEmail) }),
    invalid_request: () => webhooks("GET", `${auditPath}?limit=0`),
    ...memberRefusals("GET", () => auditPath),
  },
  listWebhooks: {
    200: () => webhooks("GET", ""),
    "200 none": async () => call("/v1/webhooks", { headers: await signIn(world.otherOwnerEmail) }),
    ...memberRefusals("GET", () => ""),
  },
  changeWebhook: {
    200: () => webhooks("PATCH", `/${webhookId}`, { owner: true, body: { description: null } }),
    ...ownerRefusals("PATCH", () => `/${webhookId}`, {}),
    ...notFound("PATCH", `/${noWebhook}`, {}),
    invalid_request: () => webhooks("PATCH", `/${webhookId}`, { owner: true, body: { status: "paused" } }),
    invalid_webhook_url: () => webhooks("PATCH", `/${webhookId}`, { owner: true, body: { url: "https://localhost/" } }),
  },
  revealWebhookSecret: {
    200: () => webhooks("GET", `/${webhookId}/secret`, { owner: true }),
    owner_required: () => webhooks("GET", `/${webhookId}/secret`),
    ...memberRefusals("GET", () => `/${webhookId}/secret`),
    ...notFound("GET", `/${noWebhook}/secret`),
  },
  rotateWebhookSecret: {
    200: () => webhooks("POST", `/${webhookId}/rotate-secret`, { owner: true }),
    ...ownerRefusals("POST", () => `/${webhookId}/rotate-secret`),
    ...portalConflict(() => `/${webhookId}/rotate-secret`),
    ...notFound("POST", `/${noWebhook}/rotate-secret`),
  },
  testWebhook: {
    200: () => webhooks("POST", `/${webhookId}/test`),
    ...unsafeRefusals("POST", () => `/${webhookId}/test`),
    ...portalConflict(() => `/${webhookId}/test`),
    ...notFound("POST", `/${noWebhook}/test`),
  },
  listDeliveries: {
    200: () => webhooks("GET", `/${webhookId}/deliveries?limit=100`),
    "200 with a failed one": () =>
      inLog({ deliveries: async () => ({ deliveries: [failedDelivery()], hasMore: true }) }, (changed) =>
        webhooks("GET", `/${webhookId}/deliveries`, { changed }),
      ),
    invalid_request: () => webhooks("GET", `/${webhookId}/deliveries?limit=0`),
    ...memberRefusals("GET", () => `/${webhookId}/deliveries`),
    ...notFound("GET", `/${noWebhook}/deliveries`),
  },
  replayDelivery: {
    200: () => webhooks("POST", `/deliveries/${deliveryId}/replay`),
    ...unsafeRefusals("POST", () => `/deliveries/${deliveryId}/replay`),
    ...portalConflict(() => `/deliveries/${deliveryId}/replay`),
    ...notFound("POST", `/deliveries/${noDelivery}/replay`),
    share_inactive: async () => {
      const { id } = await logs
        .getByName(world.acme.id)
        .replaySource(deliveryId)
        .then((source) => source!.delivery);
      const source = await logs.getByName(world.acme.id).replaySource(id);
      const event = { ...source!.sending.event, dataSealed: "of a share that is gone" };
      return inLog({ replaySource: async () => ({ ...source!, sending: { ...source!.sending, event } }) }, (changed) =>
        webhooks("POST", `/deliveries/${deliveryId}/replay`, { changed }),
      );
    },
  },
  deleteWebhook: {
    200: async () => {
      const made = await webhooks("POST", "", { owner: true, body: { url: hook } });
      return webhooks("DELETE", `/${made.body.data.id}`, { owner: true });
    },
    ...ownerRefusals("DELETE", () => `/${webhookId}`),
    ...notFound("DELETE", `/${noWebhook}`),
  },
  requestLoginCode: {
    200: () => call("/v1/auth/request-code", json(asked)),
    invalid_request: () => call("/v1/auth/request-code", json({ ...asked, email: "nobody" })),
    idempotency_conflict: () =>
      twice((body, key) => call("/v1/auth/request-code", json(body, key)), asked, { ...asked, email: world.memberEmail }),
    ...postRefusals("/v1/auth/request-code", () => json(asked)),
    rate_limited: () => answerOf(crowded(), "/v1/auth/request-code", json(asked)),
  },
  verifyLoginCode: {
    200: async () => {
      await forgetCodes();
      await askForCode(world.ownerEmail, "business");
      return giveCode(world.ownerEmail, await codeFor(world.ownerEmail), "business");
    },
    "200 a consumer": async () => {
      await askForCode("described@example.com", "consumer");
      return giveCode("described@example.com", await codeFor("described@example.com"), "consumer");
    },
    login_failed: () => call("/v1/auth/verify-code", json(proof)),
    invalid_request: () => call("/v1/auth/verify-code", json({ ...proof, code: "12" })),
    ...postRefusals("/v1/auth/verify-code", () => json(proof)),
    rate_limited: () => answerOf(crowded(), "/v1/auth/verify-code", json(proof)),
  },
  signOut: {
    200: () => call("/v1/auth/logout", { method: "POST" }),
    "200 of a session": async () => call("/v1/auth/logout", json({}, await signIn(world.memberEmail))),
    invalid_request: () => call("/v1/auth/logout", { ...json({}), body: "{" }),
    ...postRefusals("/v1/auth/logout", () => json({}, { cookie: `svc_session=ses_00${"A".repeat(43)}` })),
  },
  currentSession: {
    200: async () => call("/v1/auth/session", { headers: await signIn(world.memberEmail) }),
    "200 of a consumer": async () => call("/v1/auth/session", { headers: await signIn(world.consumerEmail, "consumer") }),
    unauthorized: () => get("/v1/auth/session"),
    rate_limited: async () => answerOf(crowded(), "/v1/auth/session", { headers: await signIn(world.ownerEmail) }),
    storage_unavailable: () => answerOf(outage(), "/v1/auth/session", { headers: { cookie: `svc_session=ses_00${"A".repeat(43)}` } }),
    internal_error: () => answerOf(bug(), "/v1/auth/session", { headers: { cookie: `svc_session=ses_00${"A".repeat(43)}` } }),
  },
  listEvents: {
    200: () => get("/v1/events", world.acme.keys.live),
    "200 with one of each kind": async () => {
      await commitEvents(world.acme.id, 1);
      await batch(databaseOf(env.DB), [eventRow(world.acme.id, { type: "share.created", certId: null, shareId: "shr_1" })]);
      await logs.getByName(world.acme.id).drain();
      return get("/v1/events?cursor=0&limit=500", world.acme.keys.live);
    },
    invalid_request: () => get("/v1/events?cursor=-1", world.acme.keys.live),
    ...keyRefusals(() => "/v1/events"),
  },
  requestWithdrawalCode: {
    200: () => askCode(certId, "pat@example.com"),
    invalid_request: () => askCode(certId, "no address"),
    cert_not_found: () => call(`${unknownCert}/opt-out/request`, jsonPost({ email: "pat@example.com" })),
    idempotency_conflict: () =>
      twice((body, key) => call(path("/opt-out/request"), jsonPost(body, key)), { email: "pat@example.com" }, { email: "pam@example.com" }),
    ...bodyRefusals(() => path("/opt-out/request")),
    ...outages(() => path("/opt-out/request"), jsonPost({ email: "pat@example.com" })),
  },
  confirmWithdrawal: {
    200: async () => withdrawn(await held()),
    "200 of everything": async () => withdrawn(await held(), "business"),
    invalid_request: () => answerCode(certId, { email: "pat@example.com", code: "12345" }),
    opt_out_failed: () => answerCode(certId, rightly),
    forbidden: () => answerCode(certId, rightly, { origin: "https://elsewhere.example" }),
    cert_not_found: () => call(`${unknownCert}/opt-out/confirm`, jsonPost(rightly)),
    idempotency_conflict: async () => {
      const mine = await held();
      const { code, cookie } = await ready(mine.certId, mine.email);
      const right = { email: mine.email, code };
      return twice((body, key) => answerCode(mine.certId, { ...body }, { ...cookie, ...key }), right, { ...right, scope: "business" });
    },
    already_revoked: async () => {
      const mine = await held();
      const { code, cookie } = await ready(mine.certId, mine.email);
      await answerCode(mine.certId, { email: mine.email, code }, cookie);
      return answerCode(mine.certId, { email: mine.email, code }, cookie);
    },
    ...bodyRefusals(() => path("/opt-out/confirm")),
    ...outages(() => path("/opt-out/confirm"), jsonPost(rightly)),
  },
  withdrawByLink: {
    200: async () => manage(await held()),
    invalid_request: () => call(path("/opt-out/manage"), jsonPost({ token: "short" })),
    opt_out_failed: () => call(path("/opt-out/manage"), jsonPost(wrongToken)),
    forbidden: () => call(path("/opt-out/manage"), jsonPost(wrongToken, { origin: "https://elsewhere.example" })),
    cert_not_found: () => call(`${unknownCert}/opt-out/manage`, jsonPost(wrongToken)),
    idempotency_conflict: async () => {
      const { certId: id, manageToken: token } = await held();
      return twice((body, key) => call(`/v1/certs/${id}/opt-out/manage`, jsonPost(body, key)), { token }, { token, scope: "business" });
    },
    already_revoked: async () => {
      const mine = await held();
      await manage(mine);
      return manage(mine);
    },
    ...bodyRefusals(() => path("/opt-out/manage")),
    ...outages(() => path("/opt-out/manage"), jsonPost(wrongToken)),
  },
  withdrawalReceipt: {
    200: () => get(`/v1/certs/${withdrawnId}/receipt`),
    "200 as iso27560": () => get(`/v1/certs/${withdrawnId}/receipt?format=iso27560`),
    "200 as kantara": () => get(path("/receipt?format=kantara")),
    invalid_request: () => get(path("/receipt?format=pdf")),
    cert_not_found: () => get(`${unknownCert}/receipt`),
    not_found: () => get(path("/receipt")),
    not_a_consent: async () => {
      const { cert_id: refusedId } = await issue({ entities: ["A Ltd"], entities_accepted: [], entities_rejected: ["A Ltd"] });
      return get(`/v1/certs/${refusedId}/receipt?format=kantara`);
    },
    ...outages(() => path("/receipt"), {}),
  },
  recordWithdrawal: {
    201: async () => call(`/v1/certs/${(await held()).certId}/withdrawals`, keyed(told())),
    invalid_request: () => call(path("/withdrawals"), keyed({ ...told(), method: "telepathy" })),
    cert_not_found: () => call(path("/withdrawals"), keyed(told(), world.other.keys.live)),
    already_revoked: () => call(`/v1/certs/${withdrawnId}/withdrawals`, keyed(told())),
    idempotency_conflict: async () => {
      const { certId: id } = await held();
      const once = jsonPost(told(), { ...bearerOf(world.acme.keys.live), "idempotency-key": "once" });
      await call(`/v1/certs/${id}/withdrawals`, once);
      return call(`/v1/certs/${id}/withdrawals`, { ...once, body: JSON.stringify({ ...told(), note: "another" }) });
    },
    ...bodyRefusals(() => path("/withdrawals"), bearerOf(world.acme.keys.live)),
    ...keyRefusals(() => path("/withdrawals"), told),
  },
  acknowledgeWithdrawal: {
    200: async () => call(`/v1/certs/${await revoked()}/cease-ack`, keyed({ note: "done", actions: ["removed"] })),
    "200 a second time": async () => {
      const certId = await revoked();
      await call(`/v1/certs/${certId}/cease-ack`, keyed({}));
      return call(`/v1/certs/${certId}/cease-ack`, keyed({}));
    },
    invalid_request: () => call(path("/cease-ack"), keyed({ note: 1 })),
    subscription_past_due: () => call(path("/cease-ack"), keyed({}, past_due.keys.live)),
    cert_not_found: () => call(path("/cease-ack"), keyed({}, world.other.keys.live)),
    cease_not_open: () => call(path("/cease-ack"), keyed({})),
    idempotency_conflict: async () => {
      const at = `/v1/certs/${await revoked()}/cease-ack`;
      return twice((body, key) => call(at, changed(keyed(body), key)), {}, { note: "other" });
    },
    ...bodyRefusals(() => path("/cease-ack"), bearerOf(world.acme.keys.live)),
    ...keyRefusals(
      () => path("/cease-ack"),
      () => ({}),
    ),
  },
  matchSubject: {
    200: () => call(path("/match"), keyed({ email: "pat@example.com", phone: "+1 202 555 0123" })),
    "200 by hash": () => call(path("/match"), keyed({ email_sha256: "0".repeat(64) })),
    invalid_request: () => call(path("/match"), keyed({})),
    cert_not_found: () => call(path("/match"), keyed({ email: "pat@example.com" }, free.keys.live)),
    idempotency_conflict: () =>
      twice((body, key) => call(path("/match"), changed(keyed(body), key)), { email: "pat@example.com" }, { phone: "+1 202 555 0123" }),
    ...bodyRefusals(() => path("/match"), bearerOf(world.acme.keys.live)),
    ...keyRefusals(
      () => path("/match"),
      () => ({ email: "pat@example.com" }),
    ),
  },
  checkContact: {
    200: () => call("/v1/contact-check", keyed({ subjects: [{ email: "pat@example.com" }, { phone: "+1 999" }] })),
    invalid_request: () => call("/v1/contact-check", keyed({ subjects: [] })),
    idempotency_conflict: () =>
      twice(
        (body, key) => call("/v1/contact-check", changed(keyed(body), key)),
        { subjects: [{ email: "pat@example.com" }] },
        { subjects: [{ email: "pam@example.com" }] },
      ),
    ...bodyRefusals(() => "/v1/contact-check", bearerOf(world.acme.keys.live)),
    ...keyRefusals(
      () => "/v1/contact-check",
      () => ({ subjects: [{ email: "pat@example.com" }] }),
    ),
  },
  integratePage: {
    200: () => integrate(),
    invalid_request: () => integrate({ body: { ...integrationRequest, mode: "both" } }),
    page_url_not_verified: () => integrate({ body: { ...integrationRequest, url: "https://elsewhere.example.net/" } }),
    subscription_past_due: () => integrate({ as: exampleOwnerEmail("past_due") }),
    page_unreachable: () => integrate({ changed: { fetchPage: async () => ({ outcome: "unreached", reason: "network" }) } }),
    csrf_failed: () => integrate({ headers: { origin: "https://elsewhere.example" } }),
    payload_too_large: () => integrate({ body: " ".repeat(256 * 1_024 + 1) }),
    unsupported_media_type: () => integrate({ headers: { "content-type": "text/plain" } }),
    idempotency_conflict: () =>
      twice((body, key) => integrate({ body, headers: key }), integrationRequest, { ...integrationRequest, purpose: "another" }),
    ...memberRefusals("POST", () => integrationPath, integrationRequest),
  },
  openCheckout: {
    303: () => checkout(),
    invalid_request: () => checkout({ plan: "enterprise" }),
    unauthorized: () => call("/v1/billing/checkout?plan=business"),
    business_suspended: () => checkout({ as: exampleOwnerEmail("suspended") }),
    business_inactive: () => checkout({ as: exampleOwnerEmail("closed") }),
    csrf_failed: () => checkout({ headers: { "sec-fetch-site": "cross-site" } }),
    forbidden: () => checkout({ plan: "white_glove" }),
    owner_required: () => checkout({ as: world.memberEmail }),
    not_found: () => checkout({ changed: { paymentProvider: null } }),
    rate_limited: () => checkout({ changed: crowded() }),
    billing_unavailable: () => checkout({ changed: { paymentProvider: providerAnswering({ outcome: "unavailable" }) } }),
    storage_unavailable: () => checkout({ changed: outage() }),
    internal_error: () => checkout({ changed: bug() }),
  },
  takeInProviderEvent: {
    200: () => providerEvent(),
    invalid_request: () => sendRaw("{}", null),
    csrf_failed: () => call("/v1/webhooks/stripe", { method: "POST", headers: { origin: "https://elsewhere.example" }, body: "{}" }),
    not_found: () => providerEvent({ config: { ...platform.config, billing: null } }),
    payload_too_large: () => sendRaw(" ".repeat(256 * 1_024 + 1), null),
    rate_limited: () => providerEvent(crowded()),
    storage_unavailable: () => providerEvent(outage()),
    internal_error: () => providerEvent(bug()),
  },
  health: {
    200: () => get("/v1/health"),
    unhealthy: () => answerOf(outage(), "/v1/health"),
    rate_limited: () => answerOf(crowded(), "/v1/health"),
    internal_error: () => answerOf({ clock: () => Number.NaN }, "/v1/health"),
  },
  issuerKeys: {
    200: () => get("/.well-known/jwks.json"),
    rate_limited: () => answerOf(crowded(), "/.well-known/jwks.json"),
    internal_error: () => answerOf({ signer: undefined as never }, "/.well-known/jwks.json"),
  },
  trust: {
    200: () => get("/.well-known/svc-trust.json"),
    rate_limited: () => answerOf(crowded(), "/.well-known/svc-trust.json"),
    internal_error: () => answerOf({ signer: undefined as never }, "/.well-known/svc-trust.json"),
  },
  openApiDocument: {
    200: () => get("/v1/openapi.json"),
    rate_limited: () => answerOf(crowded(), "/v1/openapi.json"),
    internal_error: () => {
      const config = Object.defineProperty({ ...platform.config }, "baseUrl", { get: addressGoing() });
      return answerOf({ config }, "/v1/openapi.json");
    },
  },
};

/** Every object that lists its members lists all of them: an answer with a member that nobody described does not pass. */
const strict = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== "object" || schema === null) return schema;
  const members = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === "$ref" ? String(value).replace("#/components/schemas/", "#/$defs/") : name === "example" ? undefined : strict(value),
    ]),
  );
  return "properties" in members && !("additionalProperties" in members) ? { ...members, additionalProperties: false } : members;
};

const validatorOf = (schema: Json): z.ZodType => {
  const $defs = Object.fromEntries(Object.entries(document.components.schemas).map(([name, defined]) => [name, strict(defined)]));
  return z.fromJSONSchema({ ...(strict(schema) as Json), $defs } as Parameters<typeof z.fromJSONSchema>[0]);
};

const describedFailures = (operation: Described): string[] =>
  Object.values(operation.responses).flatMap(({ content }) => Object.keys(content?.["application/json"]?.examples ?? {}));
const describedSuccesses = (operation: Described): string[] => Object.keys(operation.responses).filter((status) => status < "400");

describe("live answers", () => {
  test("are asked for in every success and every refusal that the description names", () => {
    const wanted = operations().flatMap(({ operation }) =>
      [...describedSuccesses(operation), ...describedFailures(operation)].map((name) => `${operation.operationId} ${name}`),
    );
    const tried = Object.entries(scenarios).flatMap(([id, of]) => Object.keys(of).map((name) => `${id} ${name}`));
    expect(wanted.filter((name) => !tried.includes(name))).toEqual([]);
    const successOf = (name: string): string => name.replace(/^(\w+ \d{3}) .*$/, "$1");
    expect(tried.filter((name) => !wanted.includes(successOf(name)))).toEqual([]);
  });

  for (const [id, of] of Object.entries(scenarios)) {
    for (const [name, send] of Object.entries(of)) {
      test(`${id} answers ${name} as described`, async () => {
        const answer = await send();
        const found = operations().find(({ operation }) => operation.operationId === id);
        const isSuccess = /^\d/.test(name);
        if (isSuccess) expect(answer.status).toBe(Number.parseInt(name, 10));
        else expect(answer.body.error.code).toBe(name);
        const response = found?.operation.responses[answer.status];
        expect(response, `status ${answer.status} is described`).toBeDefined();
        const type = (answer.headers.get("content-type") ?? "application/json").split(";")[0] as string;
        const content = response?.content?.[type];
        if (content === undefined) return expect(answer.text).toBe("");
        if (type !== "application/json") return expect(answer.text.length).toBeGreaterThan(1_000); // a file; other tests look into it
        if (!isSuccess) expect(Object.keys(content.examples ?? {})).toContain(name);
        const { error } = validatorOf(content.schema).safeParse(answer.body);
        expect(error?.issues ?? []).toEqual([]);
        expect(answer.headers.get("x-request-id")).toMatch(/^req_00/);
      });
    }
  }

  test("carry a member that is not described only to be refused by this test", () => {
    const schema = document.components.schemas.Health as Json;
    const health = {
      status: "ok",
      checks: { database: { ok: true, latency_ms: 1 }, kv: { ok: true, latency_ms: 1 }, crypto: { ok: true, latency_ms: 1 } },
      version: "1",
      time: "2026-03-04T05:06:07.089Z",
    };
    expect(validatorOf(schema).safeParse(health).success).toBe(true);
    expect(validatorOf(schema).safeParse({ ...health, extra: 1 }).success).toBe(false);
    expect(validatorOf(schema).safeParse({ ...health, checks: { ...health.checks, kv: { ok: "yes", latency_ms: 1 } } }).success).toBe(
      false,
    );
  });
});
