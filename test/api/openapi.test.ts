// The description of the API against the running thing: every route is described and every description is routed, and
// what each route really answers, in success and in every refusal it names, is what its description says.
import { env } from "cloudflare:workers";
import type { PaymentProvider, PaymentProviderResult } from "../../core/billing/payment-provider.ts";
import { eventToWire, standardEventTypes, optInEventTypes, type EventData } from "../../core/events/event.ts";
import { z } from "@hono/zod-openapi";
import { inspectRoutes } from "hono/dev";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import committed from "../../docs/reference/openapi.json";
import { buildApp } from "../../workers/app.ts";
import type { Platform } from "../../workers/services.ts";
import { getExampleOwnerEmail } from "../../scripts/demo-world.ts";
import { attestationCredentialExample, assertionCredentialExample } from "../../workers/api/passkeys/schema.ts";
import { Authenticator } from "../support/authenticator.ts";
import { requestErasure } from "../support/erasure.ts";
import { registerPasskey, requestCreationOptions, submitSignedCredential, signInWithPasskey } from "../support/passkeys.ts";
import { createCustomer, sendRawProviderEvent, signPayload } from "../support/billing.ts";
import { requestEmailCode, findEmailCode, clearCodes, submitEmailCode, buildJsonRequest, signIn } from "../support/people.ts";
import { toBase64Url, encodeUtf8 } from "../../core/bytes.ts";
import { batch, openDatabase } from "../../storage/database.ts";
import { commitEvents, buildEventRow, eventSequences, registerEndpoint, type EventSequenceMethods } from "../support/events.ts";
import {
  callWith,
  bearerHeader,
  listBodyRefusals,
  createFaultyPlatform,
  withHeaders,
  createRateLimitedPlatform,
  buildKeyedPost,
  listKeyRefusals,
  createOutagePlatform,
  listOutages,
  platform,
  buildPost,
  sendTwice,
  type Scenarios,
} from "../support/scenarios.ts";
import { accountScenarios } from "../support/account-scenarios.ts";
import { sandboxScenarios } from "../support/sandbox-scenarios.ts";
import { sharingScenarios } from "../support/sharing-scenarios.ts";
import {
  call,
  submitConsent,
  getWithKey,
  issueCertificate,
  createServiceCall,
  buildSubmission,
  world,
  type TestResponse,
} from "../support/world.ts";
import {
  submitWithdrawalCode,
  requestWithdrawalCode,
  issueToNewPerson,
  buildJsonPost,
  startWithdrawal,
  withdrawCertificate,
  type IssuedCertificate,
} from "../support/withdrawal.ts";
import { createToken, createTokenWith } from "../support/agents.ts";

type Json = Record<string, unknown>;
interface Described {
  readonly operationId: string;
  readonly responses: Record<string, { content?: Record<string, { schema: Json; examples?: Record<string, unknown> }> }>;
}
interface Document {
  readonly paths: Record<string, Record<string, Described>>;
  readonly webhooks: Record<string, { readonly post: { readonly requestBody: { readonly content: Record<string, { schema: Json }> } } }>;
  readonly components: { readonly schemas: Record<string, Json> };
}

/** What is routed and described nowhere, and why. */
const undocumented: readonly { readonly path: RegExp; readonly why: string }[] = [
  { path: /^GET \/health$/, why: "where load balancers look; the same answer as /v1/health" },
  { path: /^OPTIONS /, why: "asked by browsers on their own" },
  { path: /^(?:GET|POST|ALL) \/(?:c|authorize|app|stop|portal|oauth\/(?:authorize|end))(?:\/|$)/, why: "pages for people and their forms" },
  {
    path: /^(?:GET|HEAD|POST) \/(?:ledger|audit)\//,
    why: "transparency logs, whose interface is a public standard (docs/reference/ledger.md)",
  },
  {
    path: /^(?:GET \/|(?:GET|POST) \/withdraw)$/,
    why: "the first page and the way to withdraw, for people; programs are told where this description is",
  },
  { path: /^GET \/docs(?:\/|$)/, why: "the pages that show this description and the guides" },
  { path: /^GET \/\.well-known\/security\.txt$/, why: "whom to tell of a weakness, in the form of RFC 9116" },
  { path: /^(?:GET|POST) \/v1\/admin\//, why: "the operator's, outside the protocol surface (docs/operate/admin-commands.md)" },
  { path: /^GET \/dev\//, why: "development only" },
  { path: /^(?:GET|POST) \/oauth\/(?:authorize|end)(?:\/|$)/, why: "pages on which people let an assistant be connected, and their forms" },
  {
    path: /^(?:POST \/oauth\/(?:token|register|revoke)|(?:GET|ALL) \/\.well-known\/oauth-.*)$/,
    why: "what programs ask to be connected, whose interface is OAuth (docs/guides/agents.md)",
  },
  { path: /^ALL \/mcp$/, why: "the agent server, whose interface is the Model Context Protocol (docs/guides/agents.md)" },
];

let clock = Date.now();
let document: Document;
let certId: string;
let withdrawnId: string;
let webhookId: string;
let deliveryId: string;

beforeAll(async () => {
  document = (await getWithKey("/v1/openapi.json")).body;
  certId = (await issueCertificate()).cert_id;
  withdrawnId = await revoked();
  webhookId = (await registerEndpoint(world.acme.id, hook)).id;
  await commitEvents(world.acme.id, 1);
  await eventSequences.getByName(world.acme.id).drain();
  deliveryId = (await eventSequences.getByName(world.acme.id).listDeliveries(webhookId, 1, null))?.deliveries[0]?.id as string;
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
  test("is the committed docs/reference/openapi.json, but for the address (npm run openapi writes it)", async () => {
    const { servers: _here, ...served } = (await getWithKey("/v1/openapi.json")).body;
    const { servers: _there, ...kept } = committed as Json;
    expect(served).toEqual(kept);
  });

  test("stays the same however often an isolate builds its app and describes it", async () => {
    for (const host of ["http://one.example", "http://another.example"]) {
      const elsewhere = (await createServiceCall({ BASE_URL: `${host}/v1` })("/v1/openapi.json")).body;
      expect({ ...elsewhere, servers: null }).toEqual({ ...document, servers: null });
      expect(elsewhere.servers).toEqual([{ url: host }]);
    }
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

/** There while the app is built, and no address when the description asks for it. */
const addressGoing = (): (() => string) => {
  let asked = 0;
  return () => (++asked === 1 ? platform.config.baseUrl : "no address");
};

const path = (rest = ""): string => `/v1/certs/${certId}${rest}`;
const unknownCert = "/v1/certs/cc_00zzzzzzzzzzzzzzzzzzzzzzzz";
const { free, past_due, suspended, closed } = world.examples;

const rightly = { email: "pat@example.com", code: "123456" };
const wrongToken = { token: "A".repeat(43) };
const manage = (certificate: IssuedCertificate): Promise<TestResponse> =>
  call(`/v1/certs/${certificate.certId}/opt-out/manage`, buildJsonPost({ token: certificate.manageToken }));
const told = () => ({ method: "sms_stop", received_at: new Date().toISOString(), note: "STOP" });
const revoked = async (): Promise<string> => {
  const { certId: id } = await issueToNewPerson();
  await call(`/v1/certs/${id}/withdrawals`, buildKeyedPost(told()));
  return id;
};

const asked = { email: world.ownerEmail, realm: "business" };
const proof = { ...asked, email: "never-asked@example.com", code: "123456" };
/** The refusals that unsafe routes of people share. */
const postRefusals = (at: string, good: () => RequestInit): Scenarios => ({
  csrf_failed: () => call(at, withHeaders(good(), { origin: "https://elsewhere.example" })),
  payload_too_large: () => call(at, { ...good(), body: " ".repeat(256 * 1_024 + 1) }),
  unsupported_media_type: () => call(at, withHeaders(good(), { "content-type": "application/xml" })),
  storage_unavailable: () => callWith(createOutagePlatform(), at, good()),
  internal_error: () => callWith(createFaultyPlatform(), at, good()),
});

const providerAnswering = (answer: PaymentProviderResult): PaymentProvider => ({
  createCheckout: async () => answer,
  createBillingPortal: async () => answer,
  cancelSubscription: async () => "unavailable",
});
const paymentPage = providerAnswering({ outcome: "url", url: "https://checkout.stripe.com/c/pay/cs_test" });

interface Checkout {
  readonly as?: string;
  readonly plan?: string;
  readonly headers?: Record<string, string>;
  readonly changed?: Partial<Platform>;
}

const checkout = async ({ as = world.ownerEmail, plan = "business", headers = {}, changed = {} }: Checkout = {}): Promise<TestResponse> =>
  callWith({ paymentProvider: paymentPage, ...changed }, `/v1/billing/checkout?plan=${plan}`, {
    headers: { ...(await signIn(as)), ...headers },
  });

const providerEvent = async (changed: Partial<Platform> = {}): Promise<TestResponse> => {
  const body = JSON.stringify(createCustomer(world.other.id, "enterprise").checkout(0));
  const headers = { "content-type": "application/json", "stripe-signature": await signPayload(body) };
  return callWith(changed, "/v1/webhooks/stripe", { method: "POST", headers, body });
};

const integrationPath = "/v1/business/portal/integrate";
const integrationRequest = { url: "https://www.example.com/quote", mode: "consent", purpose: "quotes", entities: ["Acme Solar LLC"] };
const quotePage: Partial<Platform> = {
  fetchPage: async ({ url }) => ({ outcome: "page", page: { url, type: "text/html", body: "<form><input type=email name=email></form>" } }),
};
const integrate = ({ body = integrationRequest, changed: parts = {}, ...more }: WebhookCall = {}): Promise<TestResponse> =>
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
): Promise<TestResponse> => {
  const signed = await signIn(as ?? (owner ? world.ownerEmail : world.memberEmail));
  const sent = { ...signed, ...(body !== undefined && { "content-type": "application/json" }), ...headers };
  return callWith(changed, portalPath(at), {
    method,
    headers: sent,
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
};

/** With a log that answers some questions otherwise. */
const inLog = (methods: EventSequenceMethods, ask: (changed: Partial<Platform>) => Promise<TestResponse>): Promise<TestResponse> => {
  const log = eventSequences.getByName(world.acme.id);
  const changed = new Proxy(log, { get: (target, name) => Reflect.get(name in methods ? methods : target, name) as unknown });
  return ask({ eventSequence: () => changed as never });
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
const memberRefusals = (method: string, at: () => string, body?: unknown): Scenarios => {
  const unknownSession = { cookie: `svc_session=ses_00${"A".repeat(43)}` };
  const sent = body === undefined ? {} : { body };
  return {
    unauthorized: () => webhooks(method, at(), { ...sent, headers: unknownSession }),
    business_suspended: () => webhooks(method, at(), { ...sent, as: getExampleOwnerEmail("suspended") }),
    business_inactive: () => webhooks(method, at(), { ...sent, as: getExampleOwnerEmail("closed") }),
    forbidden: async () => call(portalPath(at()), { method, headers: await signIn(world.consumerEmail, "consumer") }),
    rate_limited: () => webhooks(method, at(), { ...sent, owner: true, changed: createRateLimitedPlatform() }),
    storage_unavailable: () => webhooks(method, at(), { ...sent, owner: true, changed: createOutagePlatform() }),
    internal_error: () => webhooks(method, at(), { ...sent, owner: true, changed: createFaultyPlatform() }),
  };
};
const unsafeRefusals = (method: string, at: () => string, body?: unknown): Scenarios => ({
  ...memberRefusals(method, at, body),
  csrf_failed: () => webhooks(method, at(), { owner: true, headers: { origin: "https://elsewhere.example" } }),
  subscription_past_due: () => webhooks(method, at(), { as: getExampleOwnerEmail("past_due") }),
  invalid_request: () => webhooks(method, at(), { owner: true, body: "{" }),
  payload_too_large: () => webhooks(method, at(), { owner: true, body: " ".repeat(256 * 1_024 + 1) }),
  unsupported_media_type: () => webhooks(method, at(), { owner: true, body: "a=b", headers: { "content-type": "text/plain" } }),
});
const ownerRefusals = (method: string, at: () => string, body?: unknown): Scenarios => ({
  ...unsafeRefusals(method, at, body),
  owner_required: () => webhooks(method, at(), body === undefined ? {} : { body }),
});
const portalConflict = (at: () => string) => ({
  idempotency_conflict: () => sendTwice((body, headers) => webhooks("POST", at(), { owner: true, body, headers }), {}, { other: true }),
});
const notFound = (method: string, at: string, body?: unknown): Scenarios => ({
  not_found: () => webhooks(method, at, { owner: true, ...(body !== undefined && { body }) }),
});

/** With client data that names a challenge: only then is a database asked. */
const challenged = {
  ...assertionCredentialExample,
  response: { ...assertionCredentialExample.response, clientDataJSON: toBase64Url(encodeUtf8('{"challenge":"AAAA"}')) },
};
const noPasskey = "/v1/me/passkeys/psk_00000000000000000000000000";
const noSession = "/v1/me/sessions/ssn_00000000000000000000000000";

/** A request of a consumer about their own account. */
const own = async (
  method: string,
  at: string,
  { as = world.consumerEmail, body, headers = {}, changed = {} }: Omit<WebhookCall, "owner"> = {},
): Promise<TestResponse> => {
  const sent = { ...(await signIn(as, "consumer")), ...(body !== undefined && { "content-type": "application/json" }), ...headers };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return callWith(changed, at, { method, headers: sent, ...(body !== undefined && { body: text }) });
};

/** The refusals that the routes of one's own account share. */
const ownRefusals = (method: string, at: string, body?: unknown): Record<string, () => Promise<TestResponse>> => {
  const sent = body === undefined ? {} : { body };
  return {
    unauthorized: () => own(method, at, { ...sent, headers: { cookie: `svc_session=ses_00${"A".repeat(43)}` } }),
    forbidden: async () => call(at, { method, headers: await signIn(world.memberEmail) }),
    rate_limited: () => own(method, at, { ...sent, changed: createRateLimitedPlatform() }),
    storage_unavailable: () => own(method, at, { ...sent, changed: createOutagePlatform() }),
    internal_error: () => own(method, at, { ...sent, changed: createFaultyPlatform() }),
  };
};
const ownUnsafeRefusals = (method: string, at: string, body?: unknown): Record<string, () => Promise<TestResponse>> => ({
  ...ownRefusals(method, at, body),
  csrf_failed: () => own(method, at, { headers: { origin: "https://elsewhere.example" } }),
  invalid_request: () => own(method, at, { body: "{" }),
  payload_too_large: () => own(method, at, { body: " ".repeat(256 * 1_024 + 1) }),
  unsupported_media_type: () => own(method, at, { body: "a=b", headers: { "content-type": "text/plain" } }),
});
/** Of an account that has as many as it may. */
const withTenPasskeys = async (): Promise<Record<string, string>> => {
  const email = `${crypto.randomUUID()}@example.com`;
  const headers = await signIn(email, "consumer");
  for (let made = 0; made < 10; made += 1) await registerPasskey(headers);
  return headers;
};
const signupPath = "/v1/business/signup";
const signup = () => ({ business_name: "Fresh Roofs LLC", email: `founder-${crypto.randomUUID()}@example.com` });
const portal = (at: string): string => `/v1/business/portal${at}`;
const noDomain = "dom_00zzzzzzzzzzzzzzzzzzzzzzzz";
const noKey = "key_00zzzzzzzzzzzzzzzzzzzzzzzz";
const noMember = "mem_00zzzzzzzzzzzzzzzzzzzzzzzz";
const freshDomain = () => ({ domain: `d${crypto.randomUUID()}.example.net` });
const invited = () => ({ email: `invited-${crypto.randomUUID()}@example.com`, role: "member" });
const ownerId = async (): Promise<string> => (await webhooks("GET", portal(""), { owner: true })).body.data.user.id;

/** With as many of something as a business may have; other columns have what every row needs. */
const filled = async (table: string, columns: string, values: string, at: string, body: object): Promise<TestResponse> => {
  const named = /^(?:api_keys|clients)$/.test(table) ? [", name", ", 'filled'"] : ["", ""];
  await env.DB.prepare(
    `INSERT INTO ${table} (id, business_id, created_at, ${columns}${named[0]}) SELECT 'filled_' || value, ?1, 0, ${values}${named[1]} FROM json_each(?2)`,
  )
    .bind(world.acme.id, JSON.stringify(Array.from({ length: 100 }, (_, number) => number)))
    .run();
  try {
    return await webhooks("POST", portal(at), { owner: true, body });
  } finally {
    await env.DB.prepare(`DELETE FROM ${table} WHERE id LIKE 'filled_%'`).run();
  }
};
const withoutPastDue = ({ subscription_past_due: _writes, ...others }: Record<string, () => Promise<TestResponse>>) => others;

const erasedCert = async (): Promise<string> => {
  const { certId: id } = await issueToNewPerson();
  await requestErasure(id);
  return id;
};

const tokensPath = "/v1/business/portal/agent-token";
const noToken = "tok_00000000000000000000000000";

/** A request of the demo's consumer. */
const byConsumer = async (
  method: string,
  at: string,
  headers: Record<string, string> = {},
  changed: Partial<Platform> = {},
  body?: string,
) => {
  const sent = { ...(await signIn(world.consumerEmail, "consumer")), "content-type": "application/json", ...headers };
  return callWith(changed, at, { method, headers: sent, ...(body !== undefined && { body }) });
};
const consumerRefusals = (method: string, at: string): Record<string, () => Promise<TestResponse>> => ({
  unauthorized: () => byConsumer(method, at, { cookie: `svc_session=ses_00${"A".repeat(43)}` }),
  forbidden: async () => call(at, { method, headers: await signIn(world.ownerEmail) }),
  rate_limited: () => byConsumer(method, at, {}, createRateLimitedPlatform()),
  storage_unavailable: () => byConsumer(method, at, {}, createOutagePlatform()),
  internal_error: () => byConsumer(method, at, {}, createFaultyPlatform()),
  ...(method !== "GET" && { csrf_failed: () => byConsumer(method, at, { origin: "https://elsewhere.example" }) }),
});
/** Ten tokens work, and one more is asked for. */
const eleventh = async (realm: "consumer" | "business"): Promise<TestResponse> => {
  const session = await signIn(realm === "consumer" ? world.consumerEmail : world.ownerEmail, realm);
  for (let made = 0; made < 10; made += 1) await createTokenWith(realm, session);
  const answer = await createTokenWith(realm, session);
  await env.DB.prepare("DELETE FROM agent_tokens").run();
  return answer;
};

/** For each operation: an answer of each success, by status, and of each refusal, by code. */
const scenarios: Readonly<Record<string, Scenarios>> = {
  captureConsent: {
    201: () => submitConsent(buildSubmission()),
    "201 recipient by recipient": () =>
      submitConsent({
        ...buildSubmission(),
        entities_accepted: ["Acme Solar LLC"],
        entities_rejected: [],
        submission_id: crypto.randomUUID(),
      }),
    invalid_request: () => submitConsent({ ...buildSubmission(), purpose: "" }),
    unauthorized: () => submitConsent(buildSubmission(), { authorization: "Bearer sk_live_00wrong" }),
    plan_required: () => submitConsent(buildSubmission(free)),
    business_inactive: () => submitConsent(buildSubmission(closed)),
    business_suspended: () => submitConsent(buildSubmission(suspended)),
    subscription_past_due: () => submitConsent(buildSubmission(past_due)),
    origin_not_verified: () => submitConsent(buildSubmission(), { origin: "https://elsewhere.example" }),
    page_url_not_verified: () => submitConsent({ ...buildSubmission(), page_url: "https://elsewhere.example/" }),
    forbidden: () => submitConsent(buildSubmission(), { authorization: `Bearer ${world.other.keys.live}` }),
    client_not_found: () => submitConsent({ ...buildSubmission(), client_id: "pc_live_00zzzzzzzzzzzzzzzzzzzzzzzz" }),
    idempotency_conflict: async () => {
      const key = { "idempotency-key": crypto.randomUUID() };
      await submitConsent(buildSubmission(), key);
      return submitConsent({ ...buildSubmission(), purpose: "another purpose" }, key);
    },
    payload_too_large: () => submitConsent(" ".repeat(256 * 1_024 + 1)),
    unsupported_media_type: () => submitConsent(buildSubmission(), { "content-type": "application/xml" }),
    rate_limited: () => callWith(createRateLimitedPlatform(), "/v1/consent", buildPost(buildSubmission())),
    storage_unavailable: () => callWith(createOutagePlatform(), "/v1/consent", buildPost(buildSubmission())),
    internal_error: () => callWith(createFaultyPlatform(), "/v1/consent", buildPost(buildSubmission())),
  },
  verifyCertificate: {
    200: () => getWithKey(path("/verify")),
    "200 withdrawn": () => getWithKey(`/v1/certs/${withdrawnId}/verify`),
    304: async () => {
      const etag = (await getWithKey(path("/verify"))).headers.get("etag") as string;
      return call(path("/verify"), { headers: { "if-none-match": etag } });
    },
    cert_not_found: () => getWithKey(`${unknownCert}/verify`),
    rate_limited: () => callWith(createRateLimitedPlatform(), path("/verify")),
    storage_unavailable: () => callWith(createOutagePlatform(), path("/verify")),
    internal_error: () => callWith(createFaultyPlatform(), path("/verify")),
  },
  listCertificates: {
    200: () => getWithKey("/v1/certs?q=solar&subject_email=pat@example.com", world.acme.keys.live),
    "200 withdrawn": () => getWithKey("/v1/certs?status=revoked", world.acme.keys.live),
    "200 empty": () => getWithKey("/v1/certs?page=9999", world.acme.keys.live),
    invalid_request: () => getWithKey("/v1/certs?page=0", world.acme.keys.live),
    ...listKeyRefusals(() => "/v1/certs"),
  },
  searchCertificates: {
    200: () => call("/v1/certs/search", buildKeyedPost({ q: "solar", subject_email: "pat@example.com", per_page: 2 })),
    invalid_request: () => call("/v1/certs/search", buildKeyedPost({ page: 0 })),
    ...listBodyRefusals(() => "/v1/certs/search", bearerHeader(world.acme.keys.live)),
    ...listKeyRefusals(
      () => "/v1/certs/search",
      () => ({}),
    ),
  },
  readCertificate: {
    200: () => getWithKey(path(), world.acme.keys.live),
    "200 withdrawn": () => getWithKey(`/v1/certs/${withdrawnId}`, world.acme.keys.live),
    "200 erased": async () => getWithKey(`/v1/certs/${await erasedCert()}`, world.acme.keys.live),
    cert_not_found: () => getWithKey(path(), world.other.keys.live),
    ...listKeyRefusals(path),
  },
  eraseSubject: {
    200: async () => requestErasure((await issueToNewPerson()).certId),
    ...ownerRefusals("POST", () => path("/erase-subject"), { confirm: "ERASE" }),
    invalid_request: () => requestErasure(certId, { confirm: "yes" }),
    cert_not_found: () => requestErasure(certId, undefined, { as: world.otherOwnerEmail }),
    idempotency_conflict: async () => {
      const { certId: id } = await issueToNewPerson();
      return sendTwice(
        (body, headers) => requestErasure(id, body, { headers }),
        { confirm: "ERASE" },
        { confirm: "ERASE", reason: "other" },
      );
    },
  },
  exportEvidencePack: {
    200: () => getWithKey(path("/evidence-pack"), world.acme.keys.live),
    "200 redacted": () => getWithKey(path("/evidence-pack?redact=subject"), world.acme.keys.live),
    "200 as a zip": () => getWithKey(path("/evidence-pack?format=zip"), world.acme.keys.live),
    "200 as a page": () => getWithKey(path("/evidence-pack?format=html"), world.acme.keys.live),
    "200 one field": () => getWithKey(path("/evidence-pack?format=json&disclose=email"), world.acme.keys.live),
    invalid_request: () => getWithKey(path("/evidence-pack?format=tar"), world.acme.keys.live),
    cert_not_found: () => getWithKey(`${unknownCert}/evidence-pack`, world.acme.keys.live),
    ...listKeyRefusals(() => path("/evidence-pack")),
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
  mintAgentToken: {
    201: () => byConsumer("POST", "/v1/me/agent-token"),
    ...consumerRefusals("POST", "/v1/me/agent-token"),
    invalid_request: () => byConsumer("POST", "/v1/me/agent-token", {}, {}, "{"),
    payload_too_large: () => byConsumer("POST", "/v1/me/agent-token", {}, {}, " ".repeat(256 * 1_024 + 1)),
    unsupported_media_type: () => byConsumer("POST", "/v1/me/agent-token", { "content-type": "text/plain" }, {}, "a=b"),
    token_limit: () => eleventh("consumer"),
    idempotency_conflict: async () => {
      const session = await signIn(world.consumerEmail, "consumer");
      return sendTwice((body, key) => createTokenWith("consumer", { ...session, ...key }, body), {}, { name: "another" });
    },
  },
  listAgentTokens: {
    200: async () => {
      await createToken("consumer");
      return byConsumer("GET", "/v1/me/agent-tokens");
    },
    ...consumerRefusals("GET", "/v1/me/agent-tokens"),
  },
  revokeAgentToken: {
    200: async () => byConsumer("DELETE", `/v1/me/agent-tokens/${(await createToken("consumer")).id}`),
    ...consumerRefusals("DELETE", `/v1/me/agent-tokens/${noToken}`),
    not_found: () => byConsumer("DELETE", `/v1/me/agent-tokens/${noToken}`),
  },
  mintBusinessAgentToken: {
    201: () => webhooks("POST", tokensPath, { body: { name: "Cursor" } }),
    ...unsafeRefusals("POST", () => tokensPath),
    token_limit: () => eleventh("business"),
    ...portalConflict(() => tokensPath),
  },
  listBusinessAgentTokens: {
    200: async () => {
      await createToken("business");
      return webhooks("GET", `${tokensPath}s`);
    },
    ...memberRefusals("GET", () => `${tokensPath}s`),
  },
  revokeBusinessAgentToken: {
    200: async () => webhooks("DELETE", `${tokensPath}s/${(await createToken("business")).id}`, { owner: true }),
    ...memberRefusals("DELETE", () => `${tokensPath}s/${noToken}`),
    csrf_failed: () => webhooks("DELETE", `${tokensPath}s/${noToken}`, { headers: { origin: "https://elsewhere.example" } }),
    subscription_past_due: () => webhooks("DELETE", `${tokensPath}s/${noToken}`, { as: getExampleOwnerEmail("past_due") }),
    owner_required: async () => webhooks("DELETE", `${tokensPath}s/${(await createToken("business")).id}`),
    not_found: () => webhooks("DELETE", `${tokensPath}s/${noToken}`),
  },
  businessAuditTrail: {
    200: () => webhooks("GET", auditPath),
    "200 one entry of many": () => webhooks("GET", `${auditPath}?limit=1&before_seq=3`),
    "200 none yet": async () => call(auditPath, { headers: await signIn(world.otherOwnerEmail) }),
    invalid_request: () => webhooks("GET", `${auditPath}?limit=0`),
    ...memberRefusals("GET", () => auditPath),
  },
  signUpBusiness: {
    201: () => call(signupPath, buildJsonRequest(signup())),
    invalid_request: () => call(signupPath, buildJsonRequest({ ...signup(), email: "nobody" })),
    idempotency_conflict: () => sendTwice((body, key) => call(signupPath, buildJsonRequest(body, key)), signup(), signup()),
    ...postRefusals(signupPath, () => buildJsonRequest(signup())),
    rate_limited: () => callWith(createRateLimitedPlatform(), signupPath, buildJsonRequest(signup())),
  },
  readAccount: {
    200: () => webhooks("GET", portal("")),
    ...memberRefusals("GET", () => portal("")),
  },
  changeAccount: {
    200: () => webhooks("PATCH", portal(""), { owner: true, body: { contact_phone: "+1 202 555 0123", legal_name: null } }),
    ...ownerRefusals("PATCH", () => portal(""), {}),
  },
  addDomain: {
    201: () => webhooks("POST", portal("/domains"), { owner: true, body: freshDomain() }),
    ...ownerRefusals("POST", () => portal("/domains"), freshDomain()),
    invalid_request: () => webhooks("POST", portal("/domains"), { owner: true, body: { domain: "co.uk" } }),
    domain_taken: () => webhooks("POST", portal("/domains"), { owner: true, body: { domain: "example.com" } }),
    domain_limit: () => filled("domains", "domain, status", "'filled-' || value || '.com', 'pending'", "/domains", freshDomain()),
    idempotency_conflict: () =>
      sendTwice((body, headers) => webhooks("POST", portal("/domains"), { owner: true, body, headers }), freshDomain(), freshDomain()),
  },
  listDomains: {
    200: async () => {
      await webhooks("POST", portal("/domains"), { owner: true, body: freshDomain() });
      return webhooks("GET", portal("/domains"));
    },
    ...memberRefusals("GET", () => portal("/domains")),
  },
  verifyDomain: {
    200: async () => {
      const { id, token } = (await webhooks("POST", portal("/domains"), { owner: true, body: freshDomain() })).body.data;
      const changed = { lookupTxt: async () => [[`svc-verify=${token}`]] };
      return webhooks("POST", portal(`/domains/${id}/verify`), { owner: true, body: { method: "dns" }, changed });
    },
    ...ownerRefusals("POST", () => portal(`/domains/${noDomain}/verify`)),
    ...notFound("POST", portal(`/domains/${noDomain}/verify`)),
    domain_unverified: async () => {
      const { id } = (await webhooks("POST", portal("/domains"), { owner: true, body: freshDomain() })).body.data;
      const changed = { lookupTxt: async () => [[]] };
      return webhooks("POST", portal(`/domains/${id}/verify`), { owner: true, body: { method: "dns" }, changed });
    },
    idempotency_conflict: async () => {
      const { id, token } = (await webhooks("POST", portal("/domains"), { owner: true, body: freshDomain() })).body.data;
      const changed = { lookupTxt: async () => [[`svc-verify=${token}`]] };
      const at = portal(`/domains/${id}/verify`);
      const first = { method: "dns" };
      return sendTwice((body, headers) => webhooks("POST", at, { owner: true, body, headers, changed }), first, { ...first, other: true });
    },
  },
  removeDomain: {
    200: async () => {
      const { id } = (await webhooks("POST", portal("/domains"), { owner: true, body: freshDomain() })).body.data;
      return webhooks("DELETE", portal(`/domains/${id}`), { owner: true });
    },
    ...ownerRefusals("DELETE", () => portal(`/domains/${noDomain}`)),
    ...notFound("DELETE", portal(`/domains/${noDomain}`)),
  },
  createKey: {
    201: () => webhooks("POST", portal("/keys"), { owner: true, body: { name: "CRM", environment: "test" } }),
    ...ownerRefusals("POST", () => portal("/keys"), { name: "CRM" }),
    key_limit: () => filled("api_keys", "environment, key_hash, last4", "'live', 'filled ' || value, 'xxxx'", "/keys", { name: "CRM" }),
    idempotency_conflict: () =>
      sendTwice((body, headers) => webhooks("POST", portal("/keys"), { owner: true, body, headers }), { name: "A" }, { name: "B" }),
  },
  listKeys: {
    200: () => webhooks("GET", portal("/keys")),
    ...memberRefusals("GET", () => portal("/keys")),
  },
  revokeKey: {
    200: async () => {
      const { id } = (await webhooks("POST", portal("/keys"), { owner: true, body: { name: "CRM" } })).body.data;
      return webhooks("DELETE", portal(`/keys/${id}`), { owner: true });
    },
    ...ownerRefusals("DELETE", () => portal(`/keys/${noKey}`)),
    ...notFound("DELETE", portal(`/keys/${noKey}`)),
  },
  createClient: {
    201: () => webhooks("POST", portal("/clients"), { owner: true, body: { name: "Website", environment: "sandbox" } }),
    ...ownerRefusals("POST", () => portal("/clients"), { name: "Website" }),
    client_limit: () => filled("clients", "environment", "'live'", "/clients", { name: "Website" }),
    idempotency_conflict: () =>
      sendTwice((body, headers) => webhooks("POST", portal("/clients"), { owner: true, body, headers }), { name: "A" }, { name: "B" }),
  },
  listClients: {
    200: () => webhooks("GET", portal("/clients")),
    ...memberRefusals("GET", () => portal("/clients")),
  },
  listMembers: {
    200: async () => {
      await webhooks("POST", portal("/members"), { owner: true, body: invited() });
      return webhooks("GET", portal("/members"));
    },
    ...memberRefusals("GET", () => portal("/members")),
  },
  inviteMember: {
    201: () => webhooks("POST", portal("/members"), { owner: true, body: invited() }),
    ...ownerRefusals("POST", () => portal("/members"), invited()),
    member_limit: () =>
      filled("invitations", "email_index, email_sealed, role, expires_at", "'filled ' || value, '', 'member', 0", "/members", invited()),
    idempotency_conflict: () =>
      sendTwice((body, headers) => webhooks("POST", portal("/members"), { owner: true, body, headers }), invited(), invited()),
  },
  changeMember: {
    200: async () => {
      const { id } = (await webhooks("POST", portal("/members"), { owner: true, body: invited() })).body.data;
      return webhooks("PATCH", portal(`/members/${id}`), { owner: true, body: { role: "owner" } });
    },
    ...ownerRefusals("PATCH", () => portal(`/members/${noMember}`), { role: "member" }),
    ...notFound("PATCH", portal(`/members/${noMember}`), { role: "member" }),
    last_owner: async () => webhooks("PATCH", portal(`/members/${await ownerId()}`), { owner: true, body: { role: "member" } }),
  },
  leaveBusiness: {
    200: async () => {
      const leaver = "leaver@acme-solar.example";
      await webhooks("POST", portal("/members"), { owner: true, body: { email: leaver, role: "member" } });
      return webhooks("DELETE", portal("/members/me"), { as: leaver });
    },
    ...unsafeRefusals("DELETE", () => portal("/members/me")),
    last_owner: () => webhooks("DELETE", portal("/members/me"), { owner: true }),
  },
  removeMember: {
    200: async () => {
      const { id } = (await webhooks("POST", portal("/members"), { owner: true, body: invited() })).body.data;
      return webhooks("DELETE", portal(`/members/${id}`), { owner: true });
    },
    ...ownerRefusals("DELETE", () => portal(`/members/${noMember}`)),
    ...notFound("DELETE", portal(`/members/${noMember}`)),
    last_owner: async () => webhooks("DELETE", portal(`/members/${await ownerId()}`), { owner: true }),
  },
  readRefusedRequest: {
    200: async () => {
      const refusedId = (await webhooks("GET", portal(`/certs/cc_${"0".repeat(26)}`))).body.request_id;
      return vi.waitFor(async () => {
        const found = await webhooks("GET", portal(`/requests/${refusedId}`));
        expect(found.status).toBe(200);
        return found;
      });
    },
    ...notFound("GET", portal(`/requests/req_${"0".repeat(26)}`)),
    ...memberRefusals("GET", () => portal("/requests/req_0")),
  },
  listPortalCertificates: {
    200: () => webhooks("GET", portal("/certs?q=solar")),
    "200 of the sandbox": () => webhooks("GET", portal("/certs?environment=sandbox")),
    invalid_request: () => webhooks("GET", portal("/certs?page=0")),
    ...memberRefusals("GET", () => portal("/certs")),
  },
  readPortalCertificate: {
    200: () => webhooks("GET", portal(`/certs/${certId}`)),
    "200 withdrawn": () => webhooks("GET", portal(`/certs/${withdrawnId}`)),
    cert_not_found: () => webhooks("GET", portal(`/certs/${certId}`), { as: world.otherOwnerEmail }),
    ...memberRefusals("GET", () => portal(`/certs/${certId}`)),
  },
  revealPortalCertificate: {
    200: () => webhooks("POST", portal(`/certs/${certId}/reveal`)),
    "200 erased": async () => webhooks("POST", portal(`/certs/${await erasedCert()}/reveal`)),
    cert_not_found: () => webhooks("POST", portal(`/certs/${certId}/reveal`), { as: world.otherOwnerEmail }),
    ...withoutPastDue(unsafeRefusals("POST", () => portal(`/certs/${certId}/reveal`))),
  },
  listPortalCertificateViews: {
    200: async () => {
      await call(`/c/${certId}`, { headers: { "user-agent": "Mozilla/5.0 (X11; Linux)" } });
      return webhooks("GET", portal(`/certs/${certId}/views`));
    },
    invalid_request: () => webhooks("GET", portal(`/certs/${certId}/views?per_page=0`)),
    cert_not_found: () => webhooks("GET", portal(`/certs/${certId}/views`), { as: world.otherOwnerEmail }),
    ...memberRefusals("GET", () => portal(`/certs/${certId}/views`)),
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
      inLog({ listDeliveries: async () => ({ deliveries: [failedDelivery()], hasMore: true }) }, (changed) =>
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
      const { id } = await eventSequences
        .getByName(world.acme.id)
        .findReplaySource(deliveryId)
        .then((source) => source!.delivery);
      const source = await eventSequences.getByName(world.acme.id).findReplaySource(id);
      const event = { ...source!.sending.event, dataSealed: "of a share that is gone" };
      return inLog({ findReplaySource: async () => ({ ...source!, sending: { ...source!.sending, event } }) }, (changed) =>
        webhooks("POST", `/deliveries/${deliveryId}/replay`, { changed }),
      );
    },
  },
  recoverWebhook: {
    200: () => webhooks("POST", `/${webhookId}/recover`, { body: { since: "2026-01-01T00:00:00Z" } }),
    ...unsafeRefusals("POST", () => `/${webhookId}/recover`, { since: "2026-01-01T00:00:00Z" }),
    idempotency_conflict: () =>
      sendTwice(
        (body, headers) => webhooks("POST", `/${webhookId}/recover`, { body, headers }),
        { since: "2026-01-01" },
        { since: "2026-01-02" },
      ),
    ...notFound("POST", `/${noWebhook}/recover`, { since: "2026-01-01T00:00:00Z" }),
    invalid_request: () => webhooks("POST", `/${webhookId}/recover`, { body: { since: "2999-01-01" } }),
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
    200: () => call("/v1/auth/request-code", buildJsonRequest(asked)),
    invalid_request: () => call("/v1/auth/request-code", buildJsonRequest({ ...asked, email: "nobody" })),
    idempotency_conflict: () =>
      sendTwice((body, key) => call("/v1/auth/request-code", buildJsonRequest(body, key)), asked, { ...asked, email: world.memberEmail }),
    ...postRefusals("/v1/auth/request-code", () => buildJsonRequest(asked)),
    rate_limited: () => callWith(createRateLimitedPlatform(), "/v1/auth/request-code", buildJsonRequest(asked)),
  },
  verifyLoginCode: {
    200: async () => {
      await clearCodes();
      await requestEmailCode(world.ownerEmail, "business");
      return submitEmailCode(world.ownerEmail, await findEmailCode(world.ownerEmail), "business");
    },
    "200 a consumer": async () => {
      await requestEmailCode("described@example.com", "consumer");
      return submitEmailCode("described@example.com", await findEmailCode("described@example.com"), "consumer");
    },
    login_failed: () => call("/v1/auth/verify-code", buildJsonRequest(proof)),
    invalid_request: () => call("/v1/auth/verify-code", buildJsonRequest({ ...proof, code: "12" })),
    ...postRefusals("/v1/auth/verify-code", () => buildJsonRequest(proof)),
    rate_limited: () => callWith(createRateLimitedPlatform(), "/v1/auth/verify-code", buildJsonRequest(proof)),
  },
  signOut: {
    200: () => call("/v1/auth/logout", { method: "POST" }),
    "200 of a session": async () => call("/v1/auth/logout", buildJsonRequest({}, await signIn(world.memberEmail))),
    invalid_request: () => call("/v1/auth/logout", { ...buildJsonRequest({}), body: "{" }),
    ...postRefusals("/v1/auth/logout", () => buildJsonRequest({}, { cookie: `svc_session=ses_00${"A".repeat(43)}` })),
  },
  currentSession: {
    200: async () => call("/v1/auth/session", { headers: await signIn(world.memberEmail) }),
    "200 of a consumer": async () => call("/v1/auth/session", { headers: await signIn(world.consumerEmail, "consumer") }),
    unauthorized: () => getWithKey("/v1/auth/session"),
    rate_limited: async () => callWith(createRateLimitedPlatform(), "/v1/auth/session", { headers: await signIn(world.ownerEmail) }),
    storage_unavailable: () =>
      callWith(createOutagePlatform(), "/v1/auth/session", { headers: { cookie: `svc_session=ses_00${"A".repeat(43)}` } }),
    internal_error: () =>
      callWith(createFaultyPlatform(), "/v1/auth/session", { headers: { cookie: `svc_session=ses_00${"A".repeat(43)}` } }),
  },
  askToSignInWithPasskey: {
    200: () => call("/v1/auth/passkey/options", { method: "POST" }),
    invalid_request: () => call("/v1/auth/passkey/options", { ...buildJsonRequest({}), body: "{" }),
    ...postRefusals("/v1/auth/passkey/options", () => buildJsonRequest({})),
    rate_limited: () => callWith(createRateLimitedPlatform(), "/v1/auth/passkey/options", buildJsonRequest({})),
  },
  signInWithPasskey: {
    200: async () => signInWithPasskey((await registerPasskey(await signIn(world.consumerEmail, "consumer"))).authenticator),
    login_failed: () => submitSignedCredential(assertionCredentialExample),
    invalid_request: () => submitSignedCredential({}),
    ...postRefusals("/v1/auth/passkey/verify", () => buildJsonRequest({ credential: challenged })),
    rate_limited: () =>
      callWith(createRateLimitedPlatform(), "/v1/auth/passkey/verify", buildJsonRequest({ credential: assertionCredentialExample })),
  },
  listSessions: {
    200: () => own("GET", "/v1/me/sessions"),
    ...ownRefusals("GET", "/v1/me/sessions"),
  },
  endSession: {
    200: async () => {
      const headers = await signIn(world.consumerEmail, "consumer");
      const { sessions } = (await call("/v1/me/sessions", { headers })).body.data;
      return call(`/v1/me/sessions/${sessions[0].id}`, { method: "DELETE", headers });
    },
    ...ownUnsafeRefusals("DELETE", noSession),
    not_found: () => own("DELETE", noSession),
  },
  endOtherSessions: {
    200: () => own("DELETE", "/v1/me/sessions"),
    ...ownUnsafeRefusals("DELETE", "/v1/me/sessions"),
  },
  listPasskeys: {
    200: async () => {
      const headers = await signIn(world.consumerEmail, "consumer");
      await registerPasskey(headers);
      return call("/v1/me/passkeys", { headers });
    },
    "200 none": () => own("GET", "/v1/me/passkeys", { as: "without.passkeys@example.com" }),
    ...ownRefusals("GET", "/v1/me/passkeys"),
  },
  askForPasskey: {
    200: () => own("POST", "/v1/me/passkeys/options"),
    ...ownUnsafeRefusals("POST", "/v1/me/passkeys/options"),
    passkey_limit: async () => requestCreationOptions(await withTenPasskeys()),
  },
  addPasskey: {
    201: async () => (await registerPasskey(await signIn(world.consumerEmail, "consumer"))).answer,
    ...ownUnsafeRefusals("POST", "/v1/me/passkeys", { credential: attestationCredentialExample }),
    passkey_refused: () => own("POST", "/v1/me/passkeys", { body: { credential: attestationCredentialExample } }),
    passkey_limit: async () => {
      const headers = await signIn(`${crypto.randomUUID()}@example.com`, "consumer");
      for (let made = 0; made < 9; made += 1) await registerPasskey(headers);
      const { options } = (await requestCreationOptions(headers)).body.data;
      await registerPasskey(headers);
      return call("/v1/me/passkeys", buildJsonRequest({ credential: await new Authenticator().make(options) }, headers));
    },
    idempotency_conflict: async () => {
      const headers = await signIn(world.consumerEmail, "consumer");
      const { options } = (await requestCreationOptions(headers)).body.data;
      const credential = await new Authenticator().make(options);
      return sendTwice(
        (body, key) => call("/v1/me/passkeys", buildJsonRequest(body, { ...headers, ...key })),
        { credential },
        { credential, name: "x" },
      );
    },
  },
  removePasskey: {
    200: async () => {
      const headers = await signIn(world.consumerEmail, "consumer");
      const { answer } = await registerPasskey(headers);
      return call(`/v1/me/passkeys/${answer.body.data.id}`, { method: "DELETE", headers });
    },
    ...ownUnsafeRefusals("DELETE", noPasskey),
    not_found: () => own("DELETE", noPasskey),
  },
  ownAuditTrail: {
    200: () => own("GET", "/v1/me/audit"),
    "200 none yet": () => own("GET", "/v1/me/audit", { as: "without.entries@example.com" }),
    invalid_request: () => own("GET", "/v1/me/audit?limit=0"),
    ...ownRefusals("GET", "/v1/me/audit"),
  },
  listEvents: {
    200: () => getWithKey("/v1/events", world.acme.keys.live),
    "200 with one of each kind": async () => {
      await commitEvents(world.acme.id, 1);
      await batch(openDatabase(env.DB), [buildEventRow(world.acme.id, { type: "share.created", certId: null, shareId: "shr_1" })]);
      await eventSequences.getByName(world.acme.id).drain();
      return getWithKey("/v1/events?cursor=0&limit=500", world.acme.keys.live);
    },
    invalid_request: () => getWithKey("/v1/events?cursor=-1", world.acme.keys.live),
    ...listKeyRefusals(() => "/v1/events"),
  },
  requestWithdrawalCode: {
    200: () => requestWithdrawalCode(certId, "pat@example.com"),
    invalid_request: () => requestWithdrawalCode(certId, "no address"),
    cert_not_found: () => call(`${unknownCert}/opt-out/request`, buildJsonPost({ email: "pat@example.com" })),
    idempotency_conflict: () =>
      sendTwice(
        (body, key) => call(path("/opt-out/request"), buildJsonPost(body, key)),
        { email: "pat@example.com" },
        { email: "pam@example.com" },
      ),
    ...listBodyRefusals(() => path("/opt-out/request")),
    ...listOutages(() => path("/opt-out/request"), buildJsonPost({ email: "pat@example.com" })),
  },
  confirmWithdrawal: {
    200: async () => withdrawCertificate(await issueToNewPerson()),
    "200 of everything": async () => withdrawCertificate(await issueToNewPerson(), "business"),
    invalid_request: () => submitWithdrawalCode(certId, { email: "pat@example.com", code: "12345" }),
    opt_out_failed: () => submitWithdrawalCode(certId, rightly),
    forbidden: () => submitWithdrawalCode(certId, rightly, { origin: "https://elsewhere.example" }),
    cert_not_found: () => call(`${unknownCert}/opt-out/confirm`, buildJsonPost(rightly)),
    idempotency_conflict: async () => {
      const mine = await issueToNewPerson();
      const { code, cookie } = await startWithdrawal(mine.certId, mine.email);
      const right = { email: mine.email, code };
      return sendTwice((body, key) => submitWithdrawalCode(mine.certId, { ...body }, { ...cookie, ...key }), right, {
        ...right,
        scope: "business",
      });
    },
    already_revoked: async () => {
      const mine = await issueToNewPerson();
      const { code, cookie } = await startWithdrawal(mine.certId, mine.email);
      await submitWithdrawalCode(mine.certId, { email: mine.email, code }, cookie);
      return submitWithdrawalCode(mine.certId, { email: mine.email, code }, cookie);
    },
    ...listBodyRefusals(() => path("/opt-out/confirm")),
    ...listOutages(() => path("/opt-out/confirm"), buildJsonPost(rightly)),
  },
  withdrawByLink: {
    200: async () => manage(await issueToNewPerson()),
    invalid_request: () => call(path("/opt-out/manage"), buildJsonPost({ token: "short" })),
    opt_out_failed: () => call(path("/opt-out/manage"), buildJsonPost(wrongToken)),
    forbidden: () => call(path("/opt-out/manage"), buildJsonPost(wrongToken, { origin: "https://elsewhere.example" })),
    cert_not_found: () => call(`${unknownCert}/opt-out/manage`, buildJsonPost(wrongToken)),
    idempotency_conflict: async () => {
      const { certId: id, manageToken: token } = await issueToNewPerson();
      return sendTwice(
        (body, key) => call(`/v1/certs/${id}/opt-out/manage`, buildJsonPost(body, key)),
        { token },
        { token, scope: "business" },
      );
    },
    already_revoked: async () => {
      const mine = await issueToNewPerson();
      await manage(mine);
      return manage(mine);
    },
    ...listBodyRefusals(() => path("/opt-out/manage")),
    ...listOutages(() => path("/opt-out/manage"), buildJsonPost(wrongToken)),
  },
  withdrawalReceipt: {
    200: () => getWithKey(`/v1/certs/${withdrawnId}/receipt`),
    "200 as iso27560": () => getWithKey(`/v1/certs/${withdrawnId}/receipt?format=iso27560`),
    "200 as kantara": () => getWithKey(path("/receipt?format=kantara")),
    invalid_request: () => getWithKey(path("/receipt?format=pdf")),
    cert_not_found: () => getWithKey(`${unknownCert}/receipt`),
    not_found: () => getWithKey(path("/receipt")),
    not_a_consent: async () => {
      const { cert_id: refusedId } = await issueCertificate({ entities: ["A Ltd"], entities_accepted: [], entities_rejected: ["A Ltd"] });
      return getWithKey(`/v1/certs/${refusedId}/receipt?format=kantara`);
    },
    ...listOutages(() => path("/receipt"), {}),
  },
  recordWithdrawal: {
    201: async () => call(`/v1/certs/${(await issueToNewPerson()).certId}/withdrawals`, buildKeyedPost(told())),
    invalid_request: () => call(path("/withdrawals"), buildKeyedPost({ ...told(), method: "telepathy" })),
    cert_not_found: () => call(path("/withdrawals"), buildKeyedPost(told(), world.other.keys.live)),
    already_revoked: () => call(`/v1/certs/${withdrawnId}/withdrawals`, buildKeyedPost(told())),
    idempotency_conflict: async () => {
      const { certId: id } = await issueToNewPerson();
      const once = buildJsonPost(told(), { ...bearerHeader(world.acme.keys.live), "idempotency-key": "once" });
      await call(`/v1/certs/${id}/withdrawals`, once);
      return call(`/v1/certs/${id}/withdrawals`, { ...once, body: JSON.stringify({ ...told(), note: "another" }) });
    },
    ...listBodyRefusals(() => path("/withdrawals"), bearerHeader(world.acme.keys.live)),
    ...listKeyRefusals(() => path("/withdrawals"), told),
  },
  acknowledgeWithdrawal: {
    200: async () => call(`/v1/certs/${await revoked()}/cease-ack`, buildKeyedPost({ note: "done", actions: ["removed"] })),
    "200 a second time": async () => {
      const certId = await revoked();
      await call(`/v1/certs/${certId}/cease-ack`, buildKeyedPost({}));
      return call(`/v1/certs/${certId}/cease-ack`, buildKeyedPost({}));
    },
    invalid_request: () => call(path("/cease-ack"), buildKeyedPost({ note: 1 })),
    subscription_past_due: () => call(path("/cease-ack"), buildKeyedPost({}, past_due.keys.live)),
    cert_not_found: () => call(path("/cease-ack"), buildKeyedPost({}, world.other.keys.live)),
    cease_not_open: () => call(path("/cease-ack"), buildKeyedPost({})),
    idempotency_conflict: async () => {
      const at = `/v1/certs/${await revoked()}/cease-ack`;
      return sendTwice((body, key) => call(at, withHeaders(buildKeyedPost(body), key)), {}, { note: "other" });
    },
    ...listBodyRefusals(() => path("/cease-ack"), bearerHeader(world.acme.keys.live)),
    ...listKeyRefusals(
      () => path("/cease-ack"),
      () => ({}),
    ),
  },
  matchSubject: {
    200: () => call(path("/match"), buildKeyedPost({ email: "pat@example.com", phone: "+1 202 555 0123" })),
    "200 by hash": () => call(path("/match"), buildKeyedPost({ email_sha256: "0".repeat(64) })),
    invalid_request: () => call(path("/match"), buildKeyedPost({})),
    cert_not_found: () => call(path("/match"), buildKeyedPost({ email: "pat@example.com" }, free.keys.live)),
    idempotency_conflict: () =>
      sendTwice(
        (body, key) => call(path("/match"), withHeaders(buildKeyedPost(body), key)),
        { email: "pat@example.com" },
        { phone: "+1 202 555 0123" },
      ),
    ...listBodyRefusals(() => path("/match"), bearerHeader(world.acme.keys.live)),
    ...listKeyRefusals(
      () => path("/match"),
      () => ({ email: "pat@example.com" }),
    ),
  },
  checkContact: {
    200: () => call("/v1/contact-check", buildKeyedPost({ subjects: [{ email: "pat@example.com" }, { phone: "+1 999" }] })),
    invalid_request: () => call("/v1/contact-check", buildKeyedPost({ subjects: [] })),
    idempotency_conflict: () =>
      sendTwice(
        (body, key) => call("/v1/contact-check", withHeaders(buildKeyedPost(body), key)),
        { subjects: [{ email: "pat@example.com" }] },
        { subjects: [{ email: "pam@example.com" }] },
      ),
    ...listBodyRefusals(() => "/v1/contact-check", bearerHeader(world.acme.keys.live)),
    ...listKeyRefusals(
      () => "/v1/contact-check",
      () => ({ subjects: [{ email: "pat@example.com" }] }),
    ),
  },
  integratePage: {
    200: () => integrate(),
    invalid_request: () => integrate({ body: { ...integrationRequest, mode: "both" } }),
    page_url_not_verified: () => integrate({ body: { ...integrationRequest, url: "https://elsewhere.example.net/" } }),
    subscription_past_due: () => integrate({ as: getExampleOwnerEmail("past_due") }),
    page_unreachable: () => integrate({ changed: { fetchPage: async () => ({ outcome: "unreached", reason: "network" }) } }),
    csrf_failed: () => integrate({ headers: { origin: "https://elsewhere.example" } }),
    payload_too_large: () => integrate({ body: " ".repeat(256 * 1_024 + 1) }),
    unsupported_media_type: () => integrate({ headers: { "content-type": "text/plain" } }),
    idempotency_conflict: () =>
      sendTwice((body, key) => integrate({ body, headers: key }), integrationRequest, { ...integrationRequest, purpose: "another" }),
    ...memberRefusals("POST", () => integrationPath, integrationRequest),
  },
  openCheckout: {
    303: () => checkout(),
    invalid_request: () => checkout({ plan: "enterprise" }),
    unauthorized: () => call("/v1/billing/checkout?plan=business"),
    business_suspended: () => checkout({ as: getExampleOwnerEmail("suspended") }),
    business_inactive: () => checkout({ as: getExampleOwnerEmail("closed") }),
    csrf_failed: () => checkout({ headers: { "sec-fetch-site": "cross-site" } }),
    forbidden: () => checkout({ plan: "white_glove" }),
    owner_required: () => checkout({ as: world.memberEmail }),
    not_found: () => checkout({ changed: { paymentProvider: null } }),
    rate_limited: () => checkout({ changed: createRateLimitedPlatform() }),
    billing_unavailable: () => checkout({ changed: { paymentProvider: providerAnswering({ outcome: "unavailable" }) } }),
    storage_unavailable: () => checkout({ changed: createOutagePlatform() }),
    internal_error: () => checkout({ changed: createFaultyPlatform() }),
  },
  takeInProviderEvent: {
    200: () => providerEvent(),
    invalid_request: () => sendRawProviderEvent("{}", null),
    csrf_failed: () => call("/v1/webhooks/stripe", { method: "POST", headers: { origin: "https://elsewhere.example" }, body: "{}" }),
    not_found: () => providerEvent({ config: { ...platform.config, billing: null } }),
    payload_too_large: () => sendRawProviderEvent(" ".repeat(256 * 1_024 + 1), null),
    rate_limited: () => providerEvent(createRateLimitedPlatform()),
    storage_unavailable: () => providerEvent(createOutagePlatform()),
    internal_error: () => providerEvent(createFaultyPlatform()),
  },
  health: {
    200: () => getWithKey("/v1/health"),
    unhealthy: () => callWith(createOutagePlatform(), "/v1/health"),
    rate_limited: () => callWith(createRateLimitedPlatform(), "/v1/health"),
    internal_error: () => callWith({ clock: () => Number.NaN }, "/v1/health"),
  },
  issuerKeys: {
    200: () => getWithKey("/.well-known/jwks.json"),
    rate_limited: () => callWith(createRateLimitedPlatform(), "/.well-known/jwks.json"),
    internal_error: () => callWith({ signer: undefined as never }, "/.well-known/jwks.json"),
  },
  trust: {
    200: () => getWithKey("/.well-known/svc-trust.json"),
    rate_limited: () => callWith(createRateLimitedPlatform(), "/.well-known/svc-trust.json"),
    internal_error: () => callWith({ signer: undefined as never }, "/.well-known/svc-trust.json"),
  },
  openApiDocument: {
    200: () => getWithKey("/v1/openapi.json"),
    rate_limited: () => callWith(createRateLimitedPlatform(), "/v1/openapi.json"),
    internal_error: () => {
      const config = Object.defineProperty({ ...platform.config }, "baseUrl", { get: addressGoing() });
      return callWith({ config }, "/v1/openapi.json");
    },
  },
  ...sharingScenarios,
  ...accountScenarios,
  ...sandboxScenarios,
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

let $defs: Json | undefined;
/** Most refusals have one schema: each is made into a validator once. */
const validators = new Map<string, z.ZodType>();
const validatorOf = (schema: Json): z.ZodType => {
  $defs ??= Object.fromEntries(Object.entries(document.components.schemas).map(([name, defined]) => [name, strict(defined)]));
  const text = JSON.stringify(schema);
  const validator =
    validators.get(text) ?? z.fromJSONSchema({ ...(strict(schema) as Json), $defs } as Parameters<typeof z.fromJSONSchema>[0]);
  validators.set(text, validator);
  return validator;
};

const describedFailures = (operation: Described): string[] =>
  Object.values(operation.responses).flatMap(({ content }) => Object.keys(content?.["application/json"]?.examples ?? {}));
const describedSuccesses = (operation: Described): string[] => Object.keys(operation.responses).filter((status) => status < "400");

describe("webhooks", () => {
  const bodySchema = (type: string): z.ZodType =>
    validatorOf(document.webhooks[type]?.post.requestBody.content["application/json"]?.schema as Json);
  const sent = (type: string, about: { shareId?: string; certId?: string }, data: EventData | null = null) =>
    eventToWire(
      { id: crypto.randomUUID(), type, createdAt: clock, shareId: about.shareId ?? null, certId: about.certId ?? null, seq: 7 },
      data,
    );
  const ofShare = { shareId: "shr_00k3v9d2m4q8x1c7b5n0t6w2h9" };
  const values: Readonly<Record<string, EventData>> = {
    "consumer.updated.email": { email: "pat@example.com" },
    "consumer.updated.phone": { phone: null },
    "consumer.updated.address": { city: "Testville", country: "US" },
    "consumer.updated.name": { first_name: "Pat", last_name: "Example" },
  };

  test("are every type of event there is, and the ping of a test", () => {
    expect(Object.keys(document.webhooks).sort()).toEqual([...standardEventTypes, ...optInEventTypes, "test.ping"].sort());
  });

  test("describe the body of each type: its ids, its values, and nothing else", () => {
    for (const type of [...standardEventTypes, ...optInEventTypes]) {
      const schema = bodySchema(type);
      const about = type.startsWith("certificate.") ? { certId } : ofShare;
      expect(schema.safeParse(sent(type, about)).error, type).toBeUndefined();
      expect(schema.safeParse(sent(type, about, values[type] ?? null)).error, type).toBeUndefined();
      expect(schema.safeParse(sent(type, about, { ssn: "1" })).success, type).toBe(false);
      expect(schema.safeParse(sent(type, type.startsWith("certificate.") ? ofShare : {})).success, type).toBe(type === "business.ceased");
      expect(schema.safeParse(sent("another.type", about)).success, type).toBe(false);
    }
  });

  test("describe what the feed really holds", async () => {
    const { events } = (await getWithKey("/v1/events?limit=500", world.acme.keys.live)).body.data as { events: { type: string }[] };
    expect(events.length).toBeGreaterThan(0);
    for (const event of events) expect(bodySchema(event.type).safeParse(event).error, event.type).toBeUndefined();
  });
});

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
