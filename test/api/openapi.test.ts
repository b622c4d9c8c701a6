// Tests the OpenAPI document against the running Worker: every route is described, every described route exists, and the live responses
// of each operation, both successes and refusals, match their schemas.
import { env } from "cloudflare:workers";
import type { PaymentProvider, PaymentProviderResult } from "../../core/billing/payment-provider.ts";
import { eventToWire, standardEventTypes, optInEventTypes, type EventData } from "../../core/events/event.ts";
import { z } from "@hono/zod-openapi";
import { inspectRoutes } from "hono/dev";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import committed from "../../docs/reference/openapi.json";
import { buildApp } from "../../workers/app.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { getExampleOwnerEmail } from "../../scripts/demo-world.ts";
import { attestationCredentialExample, assertionCredentialExample } from "../../workers/api/passkeys/schema.ts";
import { Authenticator } from "../support/authenticator.ts";
import { requestErasure } from "../support/erasure.ts";
import { registerPasskey, requestCreationOptions, submitSignedCredential, signInWithPasskey } from "../support/passkeys.ts";
import { createCustomer, sendRawProviderEvent, signPayload } from "../support/billing.ts";
import { acceptInvitation } from "../support/portal-pages.ts";
import { requestEmailCode, findEmailCode, clearCodes, submitEmailCode, buildJsonRequest, signIn } from "../support/people.ts";
import { toBase64Url, encodeUtf8 } from "../../core/bytes.ts";
import { batch, openDatabase } from "../../storage/database.ts";
import { commitEvents, buildEventRow, eventSequences, registerEndpoint, type EventSequenceMethods } from "../support/events.ts";
import {
  callWith,
  buildBearerHeader,
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
  origin,
  world,
  type TestResponse,
} from "../support/world.ts";
import {
  createEmailAddress,
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
interface Content {
  readonly schema: Json;
  readonly example?: unknown;
  readonly examples?: Record<string, { readonly value: unknown }>;
}
interface Described {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Record<string, Content> };
  readonly responses: Record<string, { content?: Record<string, Content> }>;
}
interface Document {
  readonly paths: Record<string, Record<string, Described>>;
  readonly webhooks: Record<string, { readonly post: { readonly requestBody: { readonly content: Record<string, { schema: Json }> } } }>;
  readonly components: { readonly schemas: Record<string, Json> };
}

const undocumentedRoutes: readonly { readonly path: RegExp; readonly why: string }[] = [
  { path: /^GET \/health$/, why: "for load balancers; same response as /v1/health" },
  { path: /^OPTIONS /, why: "preflight requests of browsers" },
  { path: /^(?:GET|POST|ALL) \/(?:c|authorize|app|stop|portal|oauth\/(?:authorize|end))(?:\/|$)/, why: "pages and forms for people" },
  {
    path: /^(?:GET|HEAD|POST) \/(?:ledger|audit)\//,
    why: "transparency logs, which follow a public standard (docs/reference/ledger.md)",
  },
  {
    path: /^(?:GET \/(?:status)?|(?:GET|POST) \/withdraw)$/,
    why: "landing page, status page and withdrawal page for people",
  },
  { path: /^GET \/docs(?:\/|$)/, why: "pages that show the API reference and the guides" },
  { path: /^GET \/\.well-known\/security\.txt$/, why: "security contact (RFC 9116)" },
  { path: /^(?:GET|POST|DELETE) \/v1\/admin\//, why: "operator routes (docs/operate/admin-commands.md)" },
  { path: /^GET \/operator$/, why: "the operator's page" },
  { path: /^(?:GET|POST) \/dev\//, why: "development only" },
  { path: /^(?:GET|POST) \/oauth\/(?:authorize|end)(?:\/|$)/, why: "pages and forms that connect an assistant" },
  {
    path: /^(?:POST \/oauth\/(?:token|register|revoke)|(?:GET|ALL) \/\.well-known\/oauth-.*)$/,
    why: "OAuth endpoints of the agent server (docs/guides/agents.md)",
  },
  { path: /^ALL \/mcp$/, why: "agent server, which follows the Model Context Protocol (docs/guides/agents.md)" },
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
  withdrawnId = await createRevokedCert();
  webhookId = (await registerEndpoint(world.acme.id, hook)).id;
  await commitEvents(world.acme.id, 1);
  await eventSequences.getByName(world.acme.id).drain();
  deliveryId = (await eventSequences.getByName(world.acme.id).listDeliveries(webhookId, 1, null))?.deliveries[0]?.id as string;
});
// These tests send more requests per person than the rate limits allow, so each test moves the clock two minutes forward.
beforeEach(() => {
  clock += 120_000;
  vi.useFakeTimers({ toFake: ["Date"], now: clock });
});
afterAll(() => {
  vi.useRealTimers();
});

const listOperations = (): { readonly key: string; readonly operation: Described }[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ key: `${method.toUpperCase()} ${path}`, operation })),
  );

describe("OpenAPI document", () => {
  test("equals the committed docs/reference/openapi.json except for the server address (run npm run openapi to update it)", async () => {
    const { servers: _servedAt, ...served } = (await getWithKey("/v1/openapi.json")).body;
    const { servers: _committedAt, ...expected } = committed as Json;
    expect(served).toEqual(expected);
  });

  test("stays the same when an isolate builds several apps", async () => {
    for (const host of ["http://one.example", "http://another.example"]) {
      const other = (await createServiceCall({ BASE_URL: `${host}/v1` })("/v1/openapi.json")).body;
      expect({ ...other, servers: null }).toEqual({ ...document, servers: null });
      expect(other.servers).toEqual([{ url: host }]);
    }
  });

  test("describes every route and no others", () => {
    const routed = [
      ...new Set(
        inspectRoutes(buildApp(platform))
          .filter(({ isMiddleware }) => !isMiddleware)
          .map(({ method, path }) => `${method} ${path.replaceAll(/:([a-z_]+)/g, "{$1}")}`),
      ),
    ];
    const described = listOperations().map(({ key }) => key);
    const documented = routed.filter((route) => !undocumentedRoutes.some(({ path }) => path.test(route)));
    expect(documented.sort()).toEqual(described.sort());
  });
});

/**
 * Returns a function for the base URL. Its first call, when the app is built, returns a valid URL. Later calls, for the document, return an
 * invalid one.
 */
const createVanishingUrl = (): (() => string) => {
  let reads = 0;
  return () => (++reads === 1 ? platform.config.baseUrl : "no address");
};

const buildCertPath = (rest = ""): string => `/v1/certs/${certId}${rest}`;
const unknownCert = "/v1/certs/cc_00zzzzzzzzzzzzzzzzzzzzzzzz";
const { free, past_due, suspended, closed } = world.examples;

const wrongCode = { email: "pat@example.com", code: "123456" };
const wrongToken = { token: "A".repeat(43) };
const withdrawByLink = (certificate: IssuedCertificate): Promise<TestResponse> =>
  call(`/v1/certs/${certificate.certId}/opt-out/manage`, buildJsonPost({ token: certificate.manageToken }));
const buildWithdrawal = () => ({ method: "sms_stop", received_at: new Date().toISOString(), note: "STOP" });
/**
 * Issues a certificate whose only address is on no other certificate, because a withdrawal that the business records applies to every
 * certificate with the same address.
 */
const issueToEmailOnly = () => issueToNewPerson({ fields: { email: createEmailAddress() } });
const createRevokedCert = async (): Promise<string> => {
  const { certId: id } = await issueToEmailOnly();
  await call(`/v1/certs/${id}/withdrawals`, buildKeyedPost(buildWithdrawal()));
  return id;
};

const codeRequest = { email: world.ownerEmail, realm: "business" };
const proof = { ...codeRequest, email: "never-asked@example.com", code: "123456" };
/** Refusals shared by public POST routes. */
const postRefusals = (at: string, validRequest: () => RequestInit): Scenarios => ({
  csrf_failed: () => call(at, withHeaders(validRequest(), { origin: "https://elsewhere.example" })),
  payload_too_large: () => call(at, { ...validRequest(), body: " ".repeat(256 * 1_024 + 1) }),
  unsupported_media_type: () => call(at, withHeaders(validRequest(), { "content-type": "application/xml" })),
  storage_unavailable: () => callWith(createOutagePlatform(), at, validRequest()),
  internal_error: () => callWith(createFaultyPlatform(), at, validRequest()),
});

const createProvider = (result: PaymentProviderResult): PaymentProvider => ({
  createCheckout: async () => result,
  createBillingPortal: async () => result,
  cancelSubscription: async () => "unavailable",
});
const paymentPage = createProvider({ outcome: "url", url: "https://checkout.stripe.com/c/pay/cs_test" });

interface Checkout {
  readonly as?: string;
  readonly plan?: string;
  readonly headers?: Record<string, string>;
  readonly changed?: Partial<Platform>;
}

/** The default is a business on the Free plan, because an Enterprise plan that is paid by agreement never leads to the payment provider. */
const requestCheckout = async ({
  as = getExampleOwnerEmail("free"),
  plan = "business",
  headers = {},
  changed = {},
}: Checkout = {}): Promise<TestResponse> =>
  callWith({ paymentProvider: paymentPage, ...changed }, `/v1/billing/checkout?plan=${plan}`, {
    headers: { ...(await signIn(as)), ...headers },
  });

const sendProviderEvent = async (changed: Partial<Platform> = {}): Promise<TestResponse> => {
  const body = JSON.stringify(createCustomer(world.other.id, "enterprise").checkout(0));
  const headers = { "content-type": "application/json", "stripe-signature": await signPayload(body) };
  return callWith(changed, "/v1/webhooks/stripe", { method: "POST", headers, body });
};

const integrationPath = "/v1/business/portal/integrate";
const integrationRequest = { url: "https://www.example.com/quote", mode: "consent", purpose: "quotes", entities: ["Acme Solar LLC"] };
const quotePage: Partial<Platform> = {
  fetchPage: async ({ url }) => ({ outcome: "page", page: { url, type: "text/html", body: "<form><input type=email name=email></form>" } }),
};
const requestIntegration = ({ body = integrationRequest, changed: parts = {}, ...more }: WebhookCall = {}): Promise<TestResponse> =>
  callAsMember("POST", integrationPath, { body, changed: { ...quotePage, ...parts }, ...more });

const hook = "https://hook1.merchant-tests.com/in";
const auditPath = "/v1/business/portal/audit";
/** A business can have only one endpoint per URL, so each new endpoint needs another URL. */
const createHookUrl = (): string => `${hook}?tenant=${crypto.randomUUID()}`;
const noWebhook = "whk_00000000000000000000000000";
const noDelivery = "dlv_00000000000000000000000000";

interface WebhookCall {
  /** Sends the request as the owner instead of as a member. */
  readonly owner?: boolean;
  readonly as?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly changed?: Partial<Platform>;
}

const resolvePath = (at: string): string => (at.startsWith("/v1/") ? at : `/v1/webhooks${at}`);

const callAsMember = async (
  method: string,
  at: string,
  { owner = false, as, body, headers = {}, changed = {} }: WebhookCall = {},
): Promise<TestResponse> => {
  const signed = await signIn(as ?? (owner ? world.ownerEmail : world.memberEmail));
  const sent = { ...signed, ...(body !== undefined && { "content-type": "application/json" }), ...headers };
  return callWith(changed, resolvePath(at), {
    method,
    headers: sent,
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
};

/** Sends a request to a service in which `methods` replace those of the business's event sequence. */
const withEventSequence = (
  methods: EventSequenceMethods,
  send: (changed: Partial<Platform>) => Promise<TestResponse>,
): Promise<TestResponse> => {
  const sequence = eventSequences.getByName(world.acme.id);
  const changed = new Proxy(sequence, { get: (target, name) => Reflect.get(name in methods ? methods : target, name) as unknown });
  return send({ eventSequence: () => changed as never });
};

const buildFailedDelivery = () => ({
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

/** Refusals shared by portal routes. */
const buildMemberRefusals = (method: string, at: () => string, body?: unknown): Scenarios => {
  const unknownSession = { cookie: `svc_session=ses_00${"A".repeat(43)}` };
  const sent = body === undefined ? {} : { body };
  return {
    unauthorized: () => callAsMember(method, at(), { ...sent, headers: unknownSession }),
    business_suspended: () => callAsMember(method, at(), { ...sent, as: getExampleOwnerEmail("suspended") }),
    business_inactive: () => callAsMember(method, at(), { ...sent, as: getExampleOwnerEmail("closed") }),
    forbidden: async () => call(resolvePath(at()), { method, headers: await signIn(world.consumerEmail, "consumer") }),
    rate_limited: () => callAsMember(method, at(), { ...sent, owner: true, changed: createRateLimitedPlatform() }),
    storage_unavailable: () => callAsMember(method, at(), { ...sent, owner: true, changed: createOutagePlatform() }),
    internal_error: () => callAsMember(method, at(), { ...sent, owner: true, changed: createFaultyPlatform() }),
  };
};
const buildUnsafeRefusals = (method: string, at: () => string, body?: unknown): Scenarios => ({
  ...buildMemberRefusals(method, at, body),
  csrf_failed: () => callAsMember(method, at(), { owner: true, headers: { origin: "https://elsewhere.example" } }),
  subscription_past_due: () => callAsMember(method, at(), { as: getExampleOwnerEmail("past_due") }),
  invalid_request: () => callAsMember(method, at(), { owner: true, body: "{" }),
  payload_too_large: () => callAsMember(method, at(), { owner: true, body: " ".repeat(256 * 1_024 + 1) }),
  unsupported_media_type: () => callAsMember(method, at(), { owner: true, body: "a=b", headers: { "content-type": "text/plain" } }),
});
const buildOwnerRefusals = (method: string, at: () => string, body?: unknown): Scenarios => ({
  ...buildUnsafeRefusals(method, at, body),
  owner_required: () => callAsMember(method, at(), body === undefined ? {} : { body }),
});
const buildPortalConflict = (at: () => string) => ({
  idempotency_conflict: () => sendTwice((body, headers) => callAsMember("POST", at(), { owner: true, body, headers }), {}, { other: true }),
});
const buildNotFound = (method: string, at: string, body?: unknown): Scenarios => ({
  not_found: () => callAsMember(method, at, { owner: true, ...(body !== undefined && { body }) }),
});

/** A request body that links a recipient's name on acme's certificates to the account of the other business. */
const buildBrightRecipient = () => ({ entity: "Bright Homes Inc", business_id: world.other.id });

/** Client data that contains a challenge. Without a challenge, the request is refused before any database is read. */
const credentialWithChallenge = {
  ...assertionCredentialExample,
  response: { ...assertionCredentialExample.response, clientDataJSON: toBase64Url(encodeUtf8('{"challenge":"AAAA"}')) },
};
const noPasskey = "/v1/me/passkeys/psk_00000000000000000000000000";
const noSession = "/v1/me/sessions/ssn_00000000000000000000000000";

const callAsConsumer = async (
  method: string,
  at: string,
  { as = world.consumerEmail, body, headers = {}, changed = {} }: Omit<WebhookCall, "owner"> = {},
): Promise<TestResponse> => {
  const sent = { ...(await signIn(as, "consumer")), ...(body !== undefined && { "content-type": "application/json" }), ...headers };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return callWith(changed, at, { method, headers: sent, ...(body !== undefined && { body: text }) });
};

/** Refusals shared by the routes of a consumer account. */
const buildOwnRefusals = (method: string, at: string, body?: unknown): Record<string, () => Promise<TestResponse>> => {
  const sent = body === undefined ? {} : { body };
  return {
    unauthorized: () => callAsConsumer(method, at, { ...sent, headers: { cookie: `svc_session=ses_00${"A".repeat(43)}` } }),
    forbidden: async () => call(at, { method, headers: await signIn(world.memberEmail) }),
    rate_limited: () => callAsConsumer(method, at, { ...sent, changed: createRateLimitedPlatform() }),
    storage_unavailable: () => callAsConsumer(method, at, { ...sent, changed: createOutagePlatform() }),
    internal_error: () => callAsConsumer(method, at, { ...sent, changed: createFaultyPlatform() }),
  };
};
const buildOwnUnsafeRefusals = (method: string, at: string, body?: unknown): Record<string, () => Promise<TestResponse>> => ({
  ...buildOwnRefusals(method, at, body),
  csrf_failed: () => callAsConsumer(method, at, { headers: { origin: "https://elsewhere.example" } }),
  invalid_request: () => callAsConsumer(method, at, { body: "{" }),
  payload_too_large: () => callAsConsumer(method, at, { body: " ".repeat(256 * 1_024 + 1) }),
  unsupported_media_type: () => callAsConsumer(method, at, { body: "a=b", headers: { "content-type": "text/plain" } }),
});
/** Signs in to a new account and registers as many passkeys as an account can have. */
const signInWithTenPasskeys = async (): Promise<Record<string, string>> => {
  const email = `${crypto.randomUUID()}@example.com`;
  const headers = await signIn(email, "consumer");
  for (let count = 0; count < 10; count += 1) await registerPasskey(headers);
  return headers;
};
const signupPath = "/v1/business/signup";
const buildSignup = () => ({ business_name: "Fresh Roofs LLC", email: `founder-${crypto.randomUUID()}@example.com` });
const buildPortalPath = (at: string): string => `/v1/business/portal${at}`;
const buildClientPath = (): string => buildPortalPath(`/clients/${world.acme.clients.live}`);
const noDomain = "dom_00zzzzzzzzzzzzzzzzzzzzzzzz";
const noKey = "key_00zzzzzzzzzzzzzzzzzzzzzzzz";
const noMember = "mem_00zzzzzzzzzzzzzzzzzzzzzzzz";
const buildDomain = () => ({ domain: `d${crypto.randomUUID()}.example.net` });
const buildInvitation = () => ({ email: `invited-${crypto.randomUUID()}@example.com`, role: "member" });
const readOwnerId = async (): Promise<string> => (await callAsMember("GET", buildPortalPath(""), { owner: true })).body.data.user.id;

/** Sends the request while the table contains 100 additional rows of acme, so that acme is at or above its limit. */
const callAtLimit = async (table: string, columns: string, values: string, at: string, body: object): Promise<TestResponse> => {
  const [nameColumn, nameValue] = /^(?:api_keys|clients)$/.test(table) ? [", name", ", 'filled'"] : ["", ""];
  await env.DB.prepare(
    `INSERT INTO ${table} (id, business_id, created_at, ${columns}${nameColumn}) SELECT 'filled_' || value, ?1, 0, ${values}${nameValue} FROM json_each(?2)`,
  )
    .bind(world.acme.id, JSON.stringify(Array.from({ length: 100 }, (_, number) => number)))
    .run();
  try {
    return await callAsMember("POST", buildPortalPath(at), { owner: true, body });
  } finally {
    await env.DB.prepare(`DELETE FROM ${table} WHERE id LIKE 'filled_%'`).run();
  }
};
const withoutPastDue = ({ subscription_past_due: _writes, ...others }: Record<string, () => Promise<TestResponse>>) => others;

const createErasedCert = async (): Promise<string> => {
  const { certId: id } = await issueToNewPerson();
  await requestErasure(id);
  return id;
};

const tokensPath = "/v1/business/portal/agent-token";
const noToken = "tok_00000000000000000000000000";

const callAsWorldConsumer = async (
  method: string,
  at: string,
  headers: Record<string, string> = {},
  changed: Partial<Platform> = {},
  body?: string,
) => {
  const sent = { ...(await signIn(world.consumerEmail, "consumer")), "content-type": "application/json", ...headers };
  return callWith(changed, at, { method, headers: sent, ...(body !== undefined && { body }) });
};
const buildConsumerRefusals = (method: string, at: string): Record<string, () => Promise<TestResponse>> => ({
  unauthorized: () => callAsWorldConsumer(method, at, { cookie: `svc_session=ses_00${"A".repeat(43)}` }),
  forbidden: async () => call(at, { method, headers: await signIn(world.ownerEmail) }),
  rate_limited: () => callAsWorldConsumer(method, at, {}, createRateLimitedPlatform()),
  storage_unavailable: () => callAsWorldConsumer(method, at, {}, createOutagePlatform()),
  internal_error: () => callAsWorldConsumer(method, at, {}, createFaultyPlatform()),
  ...(method !== "GET" && { csrf_failed: () => callAsWorldConsumer(method, at, { origin: "https://elsewhere.example" }) }),
});
const createEleventhToken = async (realm: "consumer" | "business"): Promise<TestResponse> => {
  const session = await signIn(realm === "consumer" ? world.consumerEmail : world.ownerEmail, realm);
  for (let count = 0; count < 10; count += 1) await createTokenWith(realm, session);
  const response = await createTokenWith(realm, session);
  await env.DB.prepare("DELETE FROM agent_tokens").run();
  return response;
};

/** For each operation, requests that produce each success (by status) and each refusal (by code). */
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
    200: () => getWithKey(buildCertPath("/verify")),
    "200 withdrawn": () => getWithKey(`/v1/certs/${withdrawnId}/verify`),
    304: async () => {
      const etag = (await getWithKey(buildCertPath("/verify"))).headers.get("etag") as string;
      return call(buildCertPath("/verify"), { headers: { "if-none-match": etag } });
    },
    cert_not_found: () => getWithKey(`${unknownCert}/verify`),
    rate_limited: () => callWith(createRateLimitedPlatform(), buildCertPath("/verify")),
    storage_unavailable: () => callWith(createOutagePlatform(), buildCertPath("/verify")),
    internal_error: () => callWith(createFaultyPlatform(), buildCertPath("/verify")),
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
    ...listBodyRefusals(() => "/v1/certs/search", buildBearerHeader(world.acme.keys.live)),
    ...listKeyRefusals(
      () => "/v1/certs/search",
      () => ({}),
    ),
  },
  readCertificate: {
    200: () => getWithKey(buildCertPath(), world.acme.keys.live),
    "200 withdrawn": () => getWithKey(`/v1/certs/${withdrawnId}`, world.acme.keys.live),
    "200 erased": async () => getWithKey(`/v1/certs/${await createErasedCert()}`, world.acme.keys.live),
    cert_not_found: () => getWithKey(buildCertPath(), world.other.keys.live),
    ...listKeyRefusals(buildCertPath),
  },
  eraseSubject: {
    200: async () => requestErasure((await issueToNewPerson()).certId),
    ...buildOwnerRefusals("POST", () => buildCertPath("/erase-subject"), { confirm: "ERASE" }),
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
    200: () => getWithKey(buildCertPath("/evidence-pack"), world.acme.keys.live),
    "200 redacted": () => getWithKey(buildCertPath("/evidence-pack?redact=subject"), world.acme.keys.live),
    "200 as a zip": () => getWithKey(buildCertPath("/evidence-pack?format=zip"), world.acme.keys.live),
    "200 as a page": () => getWithKey(buildCertPath("/evidence-pack?format=html"), world.acme.keys.live),
    "200 one field": () => getWithKey(buildCertPath("/evidence-pack?format=json&disclose=email"), world.acme.keys.live),
    invalid_request: () => getWithKey(buildCertPath("/evidence-pack?format=tar"), world.acme.keys.live),
    cert_not_found: () => getWithKey(`${unknownCert}/evidence-pack`, world.acme.keys.live),
    ...listKeyRefusals(() => buildCertPath("/evidence-pack")),
  },
  createWebhook: {
    201: async () =>
      callAsMember("POST", "", { owner: true, body: { url: createHookUrl(), events: ["share.revoked"], description: "CRM" } }),
    ...buildOwnerRefusals("POST", () => "", { url: hook }),
    invalid_request: () => callAsMember("POST", "", { owner: true, body: { url: hook, event: [] } }),
    invalid_webhook_url: () => callAsMember("POST", "", { owner: true, body: { url: "https://localhost/" } }),
    webhook_limit: () =>
      withEventSequence({ addEndpoint: async () => "limit_reached" }, (changed) =>
        callAsMember("POST", "", { owner: true, body: { url: hook }, changed }),
      ),
    webhook_exists: () => callAsMember("POST", "", { owner: true, body: { url: hook } }),
    idempotency_conflict: async () => {
      const headers = { "idempotency-key": crypto.randomUUID() };
      const url = createHookUrl();
      await callAsMember("POST", "", { owner: true, body: { url }, headers });
      return callAsMember("POST", "", { owner: true, body: { url, description: "another" }, headers });
    },
  },
  mintAgentToken: {
    201: () => callAsWorldConsumer("POST", "/v1/me/agent-token"),
    ...buildConsumerRefusals("POST", "/v1/me/agent-token"),
    invalid_request: () => callAsWorldConsumer("POST", "/v1/me/agent-token", {}, {}, "{"),
    payload_too_large: () => callAsWorldConsumer("POST", "/v1/me/agent-token", {}, {}, " ".repeat(256 * 1_024 + 1)),
    unsupported_media_type: () => callAsWorldConsumer("POST", "/v1/me/agent-token", { "content-type": "text/plain" }, {}, "a=b"),
    token_limit: () => createEleventhToken("consumer"),
    idempotency_conflict: async () => {
      const session = await signIn(world.consumerEmail, "consumer");
      return sendTwice((body, key) => createTokenWith("consumer", { ...session, ...key }, body), {}, { name: "another" });
    },
  },
  listAgentTokens: {
    200: async () => {
      await createToken("consumer");
      return callAsWorldConsumer("GET", "/v1/me/agent-tokens");
    },
    ...buildConsumerRefusals("GET", "/v1/me/agent-tokens"),
  },
  revokeAgentToken: {
    200: async () => callAsWorldConsumer("DELETE", `/v1/me/agent-tokens/${(await createToken("consumer")).id}`),
    ...buildConsumerRefusals("DELETE", `/v1/me/agent-tokens/${noToken}`),
    not_found: () => callAsWorldConsumer("DELETE", `/v1/me/agent-tokens/${noToken}`),
  },
  mintBusinessAgentToken: {
    201: () => callAsMember("POST", tokensPath, { body: { name: "Cursor" } }),
    ...buildUnsafeRefusals("POST", () => tokensPath),
    token_limit: () => createEleventhToken("business"),
    ...buildPortalConflict(() => tokensPath),
  },
  listBusinessAgentTokens: {
    200: async () => {
      await createToken("business");
      return callAsMember("GET", `${tokensPath}s`);
    },
    ...buildMemberRefusals("GET", () => `${tokensPath}s`),
  },
  revokeBusinessAgentToken: {
    200: async () => callAsMember("DELETE", `${tokensPath}s/${(await createToken("business")).id}`, { owner: true }),
    ...buildMemberRefusals("DELETE", () => `${tokensPath}s/${noToken}`),
    csrf_failed: () => callAsMember("DELETE", `${tokensPath}s/${noToken}`, { headers: { origin: "https://elsewhere.example" } }),
    subscription_past_due: () => callAsMember("DELETE", `${tokensPath}s/${noToken}`, { as: getExampleOwnerEmail("past_due") }),
    owner_required: async () => callAsMember("DELETE", `${tokensPath}s/${(await createToken("business")).id}`),
    not_found: () => callAsMember("DELETE", `${tokensPath}s/${noToken}`),
  },
  businessAuditTrail: {
    200: () => callAsMember("GET", auditPath),
    "200 one entry of many": () => callAsMember("GET", `${auditPath}?limit=1&before_seq=3`),
    "200 none yet": async () => call(auditPath, { headers: await signIn(world.otherOwnerEmail) }),
    invalid_request: () => callAsMember("GET", `${auditPath}?limit=0`),
    ...buildMemberRefusals("GET", () => auditPath),
  },
  signUpBusiness: {
    201: () => call(signupPath, buildJsonRequest(buildSignup())),
    invalid_request: () => call(signupPath, buildJsonRequest({ ...buildSignup(), email: "nobody" })),
    idempotency_conflict: () => sendTwice((body, key) => call(signupPath, buildJsonRequest(body, key)), buildSignup(), buildSignup()),
    ...postRefusals(signupPath, () => buildJsonRequest(buildSignup())),
    rate_limited: () => callWith(createRateLimitedPlatform(), signupPath, buildJsonRequest(buildSignup())),
  },
  readAccount: {
    200: () => callAsMember("GET", buildPortalPath("")),
    ...buildMemberRefusals("GET", () => buildPortalPath("")),
  },
  changeAccount: {
    200: () => callAsMember("PATCH", buildPortalPath(""), { owner: true, body: { contact_phone: "+1 202 555 0123", legal_name: null } }),
    ...buildOwnerRefusals("PATCH", () => buildPortalPath(""), {}),
  },
  addDomain: {
    201: () => callAsMember("POST", buildPortalPath("/domains"), { owner: true, body: buildDomain() }),
    ...buildOwnerRefusals("POST", () => buildPortalPath("/domains"), buildDomain()),
    invalid_request: () => callAsMember("POST", buildPortalPath("/domains"), { owner: true, body: { domain: "co.uk" } }),
    domain_taken: () => callAsMember("POST", buildPortalPath("/domains"), { owner: true, body: { domain: "example.com" } }),
    domain_limit: () => callAtLimit("domains", "domain, status", "'filled-' || value || '.com', 'pending'", "/domains", buildDomain()),
    idempotency_conflict: () =>
      sendTwice(
        (body, headers) => callAsMember("POST", buildPortalPath("/domains"), { owner: true, body, headers }),
        buildDomain(),
        buildDomain(),
      ),
  },
  listDomains: {
    200: async () => {
      await callAsMember("POST", buildPortalPath("/domains"), { owner: true, body: buildDomain() });
      return callAsMember("GET", buildPortalPath("/domains"));
    },
    ...buildMemberRefusals("GET", () => buildPortalPath("/domains")),
  },
  verifyDomain: {
    200: async () => {
      const { id, token } = (await callAsMember("POST", buildPortalPath("/domains"), { owner: true, body: buildDomain() })).body.data;
      const changed = { lookupTxt: async () => [[`svc-verify=${token}`]] };
      return callAsMember("POST", buildPortalPath(`/domains/${id}/verify`), { owner: true, body: { method: "dns" }, changed });
    },
    ...buildOwnerRefusals("POST", () => buildPortalPath(`/domains/${noDomain}/verify`)),
    ...buildNotFound("POST", buildPortalPath(`/domains/${noDomain}/verify`)),
    domain_unverified: async () => {
      const { id } = (await callAsMember("POST", buildPortalPath("/domains"), { owner: true, body: buildDomain() })).body.data;
      const changed = { lookupTxt: async () => [[]] };
      return callAsMember("POST", buildPortalPath(`/domains/${id}/verify`), { owner: true, body: { method: "dns" }, changed });
    },
    idempotency_conflict: async () => {
      const { id, token } = (await callAsMember("POST", buildPortalPath("/domains"), { owner: true, body: buildDomain() })).body.data;
      const changed = { lookupTxt: async () => [[`svc-verify=${token}`]] };
      const at = buildPortalPath(`/domains/${id}/verify`);
      const first = { method: "dns" };
      return sendTwice((body, headers) => callAsMember("POST", at, { owner: true, body, headers, changed }), first, {
        ...first,
        other: true,
      });
    },
  },
  removeDomain: {
    200: async () => {
      const { id } = (await callAsMember("POST", buildPortalPath("/domains"), { owner: true, body: buildDomain() })).body.data;
      return callAsMember("DELETE", buildPortalPath(`/domains/${id}`), { owner: true });
    },
    ...buildOwnerRefusals("DELETE", () => buildPortalPath(`/domains/${noDomain}`)),
    ...buildNotFound("DELETE", buildPortalPath(`/domains/${noDomain}`)),
  },
  linkRecipient: {
    201: () => callAsMember("POST", buildPortalPath("/recipients"), { owner: true, body: buildBrightRecipient() }),
    ...buildOwnerRefusals("POST", () => buildPortalPath("/recipients"), buildBrightRecipient()),
    invalid_request: () =>
      callAsMember("POST", buildPortalPath("/recipients"), { owner: true, body: { ...buildBrightRecipient(), entity: " " } }),
    not_found: () =>
      callAsMember("POST", buildPortalPath("/recipients"), {
        owner: true,
        body: { ...buildBrightRecipient(), business_id: "biz_00000000000000000000000000" },
      }),
    recipient_limit: async () => {
      await env.DB.prepare(
        "INSERT INTO linked_recipients (business_id, recipient_id, entity, created_at) SELECT ?1, ?2, 'filled ' || value, 0 FROM json_each(?3)",
      )
        .bind(world.acme.id, world.other.id, JSON.stringify(Array.from({ length: 1_000 }, (_, number) => number)))
        .run();
      try {
        return await callAsMember("POST", buildPortalPath("/recipients"), {
          owner: true,
          body: { ...buildBrightRecipient(), entity: "One More Inc" },
        });
      } finally {
        await env.DB.prepare("DELETE FROM linked_recipients WHERE entity LIKE 'filled %'").run();
      }
    },
    idempotency_conflict: () =>
      sendTwice(
        (body, headers) => callAsMember("POST", buildPortalPath("/recipients"), { owner: true, body, headers }),
        buildBrightRecipient(),
        {
          ...buildBrightRecipient(),
          entity: "Bright Homes LLC",
        },
      ),
  },
  listLinkedRecipients: {
    200: async () => {
      await callAsMember("POST", buildPortalPath("/recipients"), { owner: true, body: buildBrightRecipient() });
      return callAsMember("GET", buildPortalPath("/recipients"), { owner: true });
    },
    ...buildMemberRefusals("GET", () => buildPortalPath("/recipients")),
    owner_required: () => callAsMember("GET", buildPortalPath("/recipients")),
  },
  unlinkRecipient: {
    200: async () => {
      await callAsMember("POST", buildPortalPath("/recipients"), { owner: true, body: buildBrightRecipient() });
      return callAsMember("DELETE", buildPortalPath("/recipients"), { owner: true, body: buildBrightRecipient() });
    },
    ...buildOwnerRefusals("DELETE", () => buildPortalPath("/recipients"), buildBrightRecipient()),
    invalid_request: () => callAsMember("DELETE", buildPortalPath("/recipients"), { owner: true, body: {} }),
    ...buildNotFound("DELETE", buildPortalPath("/recipients"), { ...buildBrightRecipient(), entity: "Nobody Inc" }),
  },
  createKey: {
    201: () => callAsMember("POST", buildPortalPath("/keys"), { owner: true, body: { name: "CRM", environment: "test" } }),
    ...buildOwnerRefusals("POST", () => buildPortalPath("/keys"), { name: "CRM" }),
    key_limit: () =>
      callAtLimit("api_keys", "environment, key_hash, last4", "'live', 'filled ' || value, 'xxxx'", "/keys", { name: "CRM" }),
    idempotency_conflict: () =>
      sendTwice(
        (body, headers) => callAsMember("POST", buildPortalPath("/keys"), { owner: true, body, headers }),
        { name: "A" },
        { name: "B" },
      ),
  },
  listKeys: {
    200: () => callAsMember("GET", buildPortalPath("/keys")),
    ...buildMemberRefusals("GET", () => buildPortalPath("/keys")),
  },
  revokeKey: {
    200: async () => {
      const { id } = (await callAsMember("POST", buildPortalPath("/keys"), { owner: true, body: { name: "CRM" } })).body.data;
      return callAsMember("DELETE", buildPortalPath(`/keys/${id}`), { owner: true });
    },
    ...buildOwnerRefusals("DELETE", () => buildPortalPath(`/keys/${noKey}`)),
    ...buildNotFound("DELETE", buildPortalPath(`/keys/${noKey}`)),
  },
  createClient: {
    201: () => callAsMember("POST", buildPortalPath("/clients"), { owner: true, body: { name: "Website", environment: "sandbox" } }),
    ...buildOwnerRefusals("POST", () => buildPortalPath("/clients"), { name: "Website" }),
    client_limit: () => callAtLimit("clients", "environment", "'live'", "/clients", { name: "Website" }),
    idempotency_conflict: () =>
      sendTwice(
        (body, headers) => callAsMember("POST", buildPortalPath("/clients"), { owner: true, body, headers }),
        { name: "A" },
        { name: "B" },
      ),
  },
  updateClient: {
    200: () => callAsMember("PATCH", buildClientPath(), { owner: true, body: { return_urls: [`${origin}/landing`] } }),
    ...buildOwnerRefusals("PATCH", buildClientPath, { return_urls: [] }),
    not_found: () =>
      callAsMember("PATCH", buildPortalPath(`/clients/${world.other.clients.live}`), { owner: true, body: { return_urls: [] } }),
    invalid_request: () => callAsMember("PATCH", buildClientPath(), { owner: true, body: { return_urls: ["https://elsewhere.example/"] } }),
  },
  listClients: {
    200: () => callAsMember("GET", buildPortalPath("/clients")),
    ...buildMemberRefusals("GET", () => buildPortalPath("/clients")),
  },
  listMembers: {
    200: async () => {
      await callAsMember("POST", buildPortalPath("/members"), { owner: true, body: buildInvitation() });
      return callAsMember("GET", buildPortalPath("/members"));
    },
    ...buildMemberRefusals("GET", () => buildPortalPath("/members")),
  },
  inviteMember: {
    201: () => callAsMember("POST", buildPortalPath("/members"), { owner: true, body: buildInvitation() }),
    ...buildOwnerRefusals("POST", () => buildPortalPath("/members"), buildInvitation()),
    member_limit: () =>
      callAtLimit(
        "invitations",
        "email_index, email_sealed, role, expires_at",
        "'filled ' || value, '', 'member', 0",
        "/members",
        buildInvitation(),
      ),
    idempotency_conflict: () =>
      sendTwice(
        (body, headers) => callAsMember("POST", buildPortalPath("/members"), { owner: true, body, headers }),
        buildInvitation(),
        buildInvitation(),
      ),
  },
  changeMember: {
    200: async () => {
      const { id } = (await callAsMember("POST", buildPortalPath("/members"), { owner: true, body: buildInvitation() })).body.data;
      return callAsMember("PATCH", buildPortalPath(`/members/${id}`), { owner: true, body: { role: "owner" } });
    },
    ...buildOwnerRefusals("PATCH", () => buildPortalPath(`/members/${noMember}`), { role: "member" }),
    ...buildNotFound("PATCH", buildPortalPath(`/members/${noMember}`), { role: "member" }),
    last_owner: async () =>
      callAsMember("PATCH", buildPortalPath(`/members/${await readOwnerId()}`), { owner: true, body: { role: "member" } }),
  },
  leaveBusiness: {
    200: async () => {
      const leaver = "leaver@acme-solar.example";
      await callAsMember("POST", buildPortalPath("/members"), { owner: true, body: { email: leaver, role: "member" } });
      await acceptInvitation(leaver);
      return callAsMember("DELETE", buildPortalPath("/members/me"), { as: leaver });
    },
    ...buildUnsafeRefusals("DELETE", () => buildPortalPath("/members/me")),
    last_owner: () => callAsMember("DELETE", buildPortalPath("/members/me"), { owner: true }),
  },
  removeMember: {
    200: async () => {
      const { id } = (await callAsMember("POST", buildPortalPath("/members"), { owner: true, body: buildInvitation() })).body.data;
      return callAsMember("DELETE", buildPortalPath(`/members/${id}`), { owner: true });
    },
    ...buildOwnerRefusals("DELETE", () => buildPortalPath(`/members/${noMember}`)),
    ...buildNotFound("DELETE", buildPortalPath(`/members/${noMember}`)),
    last_owner: async () => callAsMember("DELETE", buildPortalPath(`/members/${await readOwnerId()}`), { owner: true }),
  },
  readRefusedRequest: {
    200: async () => {
      const refusedId = (await callAsMember("GET", buildPortalPath(`/certs/cc_${"0".repeat(26)}`))).body.request_id;
      return vi.waitFor(async () => {
        const found = await callAsMember("GET", buildPortalPath(`/requests/${refusedId}`));
        expect(found.status).toBe(200);
        return found;
      }, 20_000);
    },
    ...buildNotFound("GET", buildPortalPath(`/requests/req_${"0".repeat(26)}`)),
    ...buildMemberRefusals("GET", () => buildPortalPath("/requests/req_0")),
  },
  listPortalCertificates: {
    200: () => callAsMember("GET", buildPortalPath("/certs?q=solar")),
    "200 of the sandbox": () => callAsMember("GET", buildPortalPath("/certs?environment=sandbox")),
    invalid_request: () => callAsMember("GET", buildPortalPath("/certs?page=0")),
    ...buildMemberRefusals("GET", () => buildPortalPath("/certs")),
  },
  readPortalCertificate: {
    200: () => callAsMember("GET", buildPortalPath(`/certs/${certId}`)),
    "200 withdrawn": () => callAsMember("GET", buildPortalPath(`/certs/${withdrawnId}`)),
    cert_not_found: () => callAsMember("GET", buildPortalPath(`/certs/${certId}`), { as: world.otherOwnerEmail }),
    ...buildMemberRefusals("GET", () => buildPortalPath(`/certs/${certId}`)),
  },
  revealPortalCertificate: {
    200: () => callAsMember("POST", buildPortalPath(`/certs/${certId}/reveal`)),
    "200 erased": async () => callAsMember("POST", buildPortalPath(`/certs/${await createErasedCert()}/reveal`)),
    cert_not_found: () => callAsMember("POST", buildPortalPath(`/certs/${certId}/reveal`), { as: world.otherOwnerEmail }),
    ...withoutPastDue(buildUnsafeRefusals("POST", () => buildPortalPath(`/certs/${certId}/reveal`))),
  },
  listPortalCertificateViews: {
    200: async () => {
      await call(`/c/${certId}`, { headers: { "user-agent": "Mozilla/5.0 (X11; Linux)" } });
      return callAsMember("GET", buildPortalPath(`/certs/${certId}/views`));
    },
    invalid_request: () => callAsMember("GET", buildPortalPath(`/certs/${certId}/views?per_page=0`)),
    cert_not_found: () => callAsMember("GET", buildPortalPath(`/certs/${certId}/views`), { as: world.otherOwnerEmail }),
    ...buildMemberRefusals("GET", () => buildPortalPath(`/certs/${certId}/views`)),
  },
  listWebhooks: {
    200: () => callAsMember("GET", ""),
    "200 none": async () => call("/v1/webhooks", { headers: await signIn(world.otherOwnerEmail) }),
    ...buildMemberRefusals("GET", () => ""),
  },
  changeWebhook: {
    200: () => callAsMember("PATCH", `/${webhookId}`, { owner: true, body: { description: null } }),
    ...buildOwnerRefusals("PATCH", () => `/${webhookId}`, {}),
    ...buildNotFound("PATCH", `/${noWebhook}`, {}),
    invalid_request: () => callAsMember("PATCH", `/${webhookId}`, { owner: true, body: { status: "paused" } }),
    invalid_webhook_url: () => callAsMember("PATCH", `/${webhookId}`, { owner: true, body: { url: "https://localhost/" } }),
    webhook_exists: async () => {
      const url = createHookUrl();
      await callAsMember("POST", "", { owner: true, body: { url } });
      return callAsMember("PATCH", `/${webhookId}`, { owner: true, body: { url } });
    },
  },
  revealWebhookSecret: {
    200: () => callAsMember("GET", `/${webhookId}/secret`, { owner: true }),
    owner_required: () => callAsMember("GET", `/${webhookId}/secret`),
    ...buildMemberRefusals("GET", () => `/${webhookId}/secret`),
    ...buildNotFound("GET", `/${noWebhook}/secret`),
  },
  rotateWebhookSecret: {
    200: () => callAsMember("POST", `/${webhookId}/rotate-secret`, { owner: true }),
    ...buildOwnerRefusals("POST", () => `/${webhookId}/rotate-secret`),
    ...buildPortalConflict(() => `/${webhookId}/rotate-secret`),
    ...buildNotFound("POST", `/${noWebhook}/rotate-secret`),
  },
  testWebhook: {
    200: () => callAsMember("POST", `/${webhookId}/test`),
    ...buildUnsafeRefusals("POST", () => `/${webhookId}/test`),
    ...buildPortalConflict(() => `/${webhookId}/test`),
    ...buildNotFound("POST", `/${noWebhook}/test`),
  },
  listDeliveries: {
    200: () => callAsMember("GET", `/${webhookId}/deliveries?limit=100`),
    "200 with a failed one": () =>
      withEventSequence({ listDeliveries: async () => ({ deliveries: [buildFailedDelivery()], hasMore: true }) }, (changed) =>
        callAsMember("GET", `/${webhookId}/deliveries`, { changed }),
      ),
    invalid_request: () => callAsMember("GET", `/${webhookId}/deliveries?limit=0`),
    ...buildMemberRefusals("GET", () => `/${webhookId}/deliveries`),
    ...buildNotFound("GET", `/${noWebhook}/deliveries`),
  },
  getDeliveryAttempts: {
    200: () => callAsMember("GET", `/deliveries/${deliveryId}/attempts`),
    "200 with attempts": async () => {
      await callAsMember("POST", `/deliveries/${deliveryId}/replay`);
      return callAsMember("GET", `/deliveries/${deliveryId}/attempts`);
    },
    ...buildMemberRefusals("GET", () => `/deliveries/${deliveryId}/attempts`),
    ...buildNotFound("GET", `/deliveries/${noDelivery}/attempts`),
  },
  revealDelivery: {
    200: () => callAsMember("POST", `/deliveries/${deliveryId}/reveal`),
    ...withoutPastDue(buildUnsafeRefusals("POST", () => `/deliveries/${deliveryId}/reveal`)),
    ...buildNotFound("POST", `/deliveries/${noDelivery}/reveal`),
    share_inactive: async () => {
      const record = await eventSequences.getByName(world.acme.id).findDeliveryRecord(deliveryId);
      const event = { ...record!.event, dataSealed: "of a share that is gone" };
      return withEventSequence({ findDeliveryRecord: async () => ({ ...record!, event }) }, (changed) =>
        callAsMember("POST", `/deliveries/${deliveryId}/reveal`, { changed }),
      );
    },
  },
  replayDelivery: {
    200: () => callAsMember("POST", `/deliveries/${deliveryId}/replay`),
    ...buildUnsafeRefusals("POST", () => `/deliveries/${deliveryId}/replay`),
    ...buildPortalConflict(() => `/deliveries/${deliveryId}/replay`),
    ...buildNotFound("POST", `/deliveries/${noDelivery}/replay`),
    share_inactive: async () => {
      const record = await eventSequences.getByName(world.acme.id).findDeliveryRecord(deliveryId);
      const event = { ...record!.event, dataSealed: "of a share that is gone" };
      return withEventSequence({ findDeliveryRecord: async () => ({ ...record!, event }) }, (changed) =>
        callAsMember("POST", `/deliveries/${deliveryId}/replay`, { changed }),
      );
    },
  },
  recoverWebhook: {
    200: () => callAsMember("POST", `/${webhookId}/recover`, { body: { since: "2026-01-01T00:00:00Z" } }),
    ...buildUnsafeRefusals("POST", () => `/${webhookId}/recover`, { since: "2026-01-01T00:00:00Z" }),
    idempotency_conflict: () =>
      sendTwice(
        (body, headers) => callAsMember("POST", `/${webhookId}/recover`, { body, headers }),
        { since: "2026-01-01" },
        { since: "2026-01-02" },
      ),
    ...buildNotFound("POST", `/${noWebhook}/recover`, { since: "2026-01-01T00:00:00Z" }),
    invalid_request: () => callAsMember("POST", `/${webhookId}/recover`, { body: { since: "2999-01-01" } }),
  },
  deleteWebhook: {
    200: async () => {
      const created = await callAsMember("POST", "", { owner: true, body: { url: createHookUrl() } });
      return callAsMember("DELETE", `/${created.body.data.id}`, { owner: true });
    },
    ...buildOwnerRefusals("DELETE", () => `/${webhookId}`),
    ...buildNotFound("DELETE", `/${noWebhook}`),
  },
  requestLoginCode: {
    200: () => call("/v1/auth/request-code", buildJsonRequest(codeRequest)),
    invalid_request: () => call("/v1/auth/request-code", buildJsonRequest({ ...codeRequest, email: "nobody" })),
    idempotency_conflict: () =>
      sendTwice((body, key) => call("/v1/auth/request-code", buildJsonRequest(body, key)), codeRequest, {
        ...codeRequest,
        email: world.memberEmail,
      }),
    ...postRefusals("/v1/auth/request-code", () => buildJsonRequest(codeRequest)),
    rate_limited: () => callWith(createRateLimitedPlatform(), "/v1/auth/request-code", buildJsonRequest(codeRequest)),
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
    rate_limited: () => callWith(createRateLimitedPlatform(), "/v1/auth/logout", { method: "POST" }),
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
    ...postRefusals("/v1/auth/passkey/verify", () => buildJsonRequest({ credential: credentialWithChallenge })),
    rate_limited: () =>
      callWith(createRateLimitedPlatform(), "/v1/auth/passkey/verify", buildJsonRequest({ credential: assertionCredentialExample })),
  },
  listSessions: {
    200: () => callAsConsumer("GET", "/v1/me/sessions"),
    ...buildOwnRefusals("GET", "/v1/me/sessions"),
  },
  endSession: {
    200: async () => {
      const headers = await signIn(world.consumerEmail, "consumer");
      const { sessions } = (await call("/v1/me/sessions", { headers })).body.data;
      return call(`/v1/me/sessions/${sessions[0].id}`, { method: "DELETE", headers });
    },
    ...buildOwnUnsafeRefusals("DELETE", noSession),
    not_found: () => callAsConsumer("DELETE", noSession),
  },
  endOtherSessions: {
    200: () => callAsConsumer("DELETE", "/v1/me/sessions"),
    ...buildOwnUnsafeRefusals("DELETE", "/v1/me/sessions"),
  },
  listPasskeys: {
    200: async () => {
      const headers = await signIn(world.consumerEmail, "consumer");
      await registerPasskey(headers);
      return call("/v1/me/passkeys", { headers });
    },
    "200 none": () => callAsConsumer("GET", "/v1/me/passkeys", { as: "without.passkeys@example.com" }),
    ...buildOwnRefusals("GET", "/v1/me/passkeys"),
  },
  askForPasskey: {
    200: () => callAsConsumer("POST", "/v1/me/passkeys/options"),
    ...buildOwnUnsafeRefusals("POST", "/v1/me/passkeys/options"),
    passkey_limit: async () => requestCreationOptions(await signInWithTenPasskeys()),
  },
  addPasskey: {
    201: async () => (await registerPasskey(await signIn(world.consumerEmail, "consumer"))).response,
    ...buildOwnUnsafeRefusals("POST", "/v1/me/passkeys", { credential: attestationCredentialExample }),
    passkey_refused: () => callAsConsumer("POST", "/v1/me/passkeys", { body: { credential: attestationCredentialExample } }),
    passkey_limit: async () => {
      const headers = await signIn(`${crypto.randomUUID()}@example.com`, "consumer");
      for (let count = 0; count < 9; count += 1) await registerPasskey(headers);
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
      const { response } = await registerPasskey(headers);
      return call(`/v1/me/passkeys/${response.body.data.id}`, { method: "DELETE", headers });
    },
    ...buildOwnUnsafeRefusals("DELETE", noPasskey),
    not_found: () => callAsConsumer("DELETE", noPasskey),
  },
  ownAuditTrail: {
    200: () => callAsConsumer("GET", "/v1/me/audit"),
    "200 none yet": () => callAsConsumer("GET", "/v1/me/audit", { as: "without.entries@example.com" }),
    invalid_request: () => callAsConsumer("GET", "/v1/me/audit?limit=0"),
    ...buildOwnRefusals("GET", "/v1/me/audit"),
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
        (body, key) => call(buildCertPath("/opt-out/request"), buildJsonPost(body, key)),
        { email: "pat@example.com" },
        { email: "pam@example.com" },
      ),
    ...listBodyRefusals(() => buildCertPath("/opt-out/request")),
    ...listOutages(() => buildCertPath("/opt-out/request"), buildJsonPost({ email: "pat@example.com" })),
  },
  confirmWithdrawal: {
    200: async () => withdrawCertificate(await issueToNewPerson()),
    "200 of everything": async () => withdrawCertificate(await issueToNewPerson(), "business"),
    invalid_request: () => submitWithdrawalCode(certId, { email: "pat@example.com", code: "12345" }),
    opt_out_failed: () => submitWithdrawalCode(certId, wrongCode),
    forbidden: () => submitWithdrawalCode(certId, wrongCode, { origin: "https://elsewhere.example" }),
    cert_not_found: () => call(`${unknownCert}/opt-out/confirm`, buildJsonPost(wrongCode)),
    idempotency_conflict: async () => {
      const issued = await issueToNewPerson();
      const { code, cookie } = await startWithdrawal(issued.certId, issued.email);
      const right = { email: issued.email, code };
      return sendTwice((body, key) => submitWithdrawalCode(issued.certId, { ...body }, { ...cookie, ...key }), right, {
        ...right,
        scope: "business",
      });
    },
    already_revoked: async () => {
      const issued = await issueToNewPerson();
      const { code, cookie } = await startWithdrawal(issued.certId, issued.email);
      await submitWithdrawalCode(issued.certId, { email: issued.email, code }, cookie);
      return submitWithdrawalCode(issued.certId, { email: issued.email, code }, cookie);
    },
    ...listBodyRefusals(() => buildCertPath("/opt-out/confirm")),
    ...listOutages(() => buildCertPath("/opt-out/confirm"), buildJsonPost(wrongCode)),
  },
  withdrawByLink: {
    200: async () => withdrawByLink(await issueToNewPerson()),
    invalid_request: () => call(buildCertPath("/opt-out/manage"), buildJsonPost({ token: "short" })),
    opt_out_failed: () => call(buildCertPath("/opt-out/manage"), buildJsonPost(wrongToken)),
    forbidden: () => call(buildCertPath("/opt-out/manage"), buildJsonPost(wrongToken, { origin: "https://elsewhere.example" })),
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
      const issued = await issueToNewPerson();
      await withdrawByLink(issued);
      return withdrawByLink(issued);
    },
    ...listBodyRefusals(() => buildCertPath("/opt-out/manage")),
    ...listOutages(() => buildCertPath("/opt-out/manage"), buildJsonPost(wrongToken)),
  },
  withdrawalReceipt: {
    200: () => getWithKey(`/v1/certs/${withdrawnId}/receipt`),
    "200 as iso27560": () => getWithKey(`/v1/certs/${withdrawnId}/receipt?format=iso27560`),
    "200 as kantara": () => getWithKey(buildCertPath("/receipt?format=kantara")),
    invalid_request: () => getWithKey(buildCertPath("/receipt?format=pdf")),
    cert_not_found: () => getWithKey(`${unknownCert}/receipt`),
    not_found: () => getWithKey(buildCertPath("/receipt")),
    not_a_consent: async () => {
      const { cert_id: refusedId } = await issueCertificate({ entities: ["A Ltd"], entities_accepted: [], entities_rejected: ["A Ltd"] });
      return getWithKey(`/v1/certs/${refusedId}/receipt?format=kantara`);
    },
    ...listOutages(() => buildCertPath("/receipt"), {}),
  },
  recordWithdrawal: {
    201: async () => call(`/v1/certs/${(await issueToEmailOnly()).certId}/withdrawals`, buildKeyedPost(buildWithdrawal())),
    invalid_request: () => call(buildCertPath("/withdrawals"), buildKeyedPost({ ...buildWithdrawal(), method: "telepathy" })),
    cert_not_found: () => call(buildCertPath("/withdrawals"), buildKeyedPost(buildWithdrawal(), world.other.keys.live)),
    already_revoked: () => call(`/v1/certs/${withdrawnId}/withdrawals`, buildKeyedPost(buildWithdrawal())),
    idempotency_conflict: async () => {
      const { certId: id } = await issueToEmailOnly();
      const once = buildJsonPost(buildWithdrawal(), { ...buildBearerHeader(world.acme.keys.live), "idempotency-key": "once" });
      await call(`/v1/certs/${id}/withdrawals`, once);
      return call(`/v1/certs/${id}/withdrawals`, { ...once, body: JSON.stringify({ ...buildWithdrawal(), note: "another" }) });
    },
    ...listBodyRefusals(() => buildCertPath("/withdrawals"), buildBearerHeader(world.acme.keys.live)),
    ...listKeyRefusals(() => buildCertPath("/withdrawals"), buildWithdrawal),
  },
  acknowledgeWithdrawal: {
    200: async () => call(`/v1/certs/${await createRevokedCert()}/cease-ack`, buildKeyedPost({ note: "done", actions: ["removed"] })),
    "200 a second time": async () => {
      const certId = await createRevokedCert();
      await call(`/v1/certs/${certId}/cease-ack`, buildKeyedPost({}));
      return call(`/v1/certs/${certId}/cease-ack`, buildKeyedPost({}));
    },
    invalid_request: () => call(buildCertPath("/cease-ack"), buildKeyedPost({ note: 1 })),
    subscription_past_due: () => call(buildCertPath("/cease-ack"), buildKeyedPost({}, past_due.keys.live)),
    cert_not_found: () => call(buildCertPath("/cease-ack"), buildKeyedPost({}, world.other.keys.live)),
    cease_not_open: () => call(buildCertPath("/cease-ack"), buildKeyedPost({})),
    idempotency_conflict: async () => {
      const at = `/v1/certs/${await createRevokedCert()}/cease-ack`;
      return sendTwice((body, key) => call(at, withHeaders(buildKeyedPost(body), key)), {}, { note: "other" });
    },
    ...listBodyRefusals(() => buildCertPath("/cease-ack"), buildBearerHeader(world.acme.keys.live)),
    ...listKeyRefusals(
      () => buildCertPath("/cease-ack"),
      () => ({}),
    ),
  },
  matchSubject: {
    200: () => call(buildCertPath("/match"), buildKeyedPost({ email: "pat@example.com", phone: "+1 202 555 0123" })),
    "200 by hash": () => call(buildCertPath("/match"), buildKeyedPost({ email_sha256: "0".repeat(64) })),
    invalid_request: () => call(buildCertPath("/match"), buildKeyedPost({})),
    cert_not_found: () => call(buildCertPath("/match"), buildKeyedPost({ email: "pat@example.com" }, free.keys.live)),
    idempotency_conflict: () =>
      sendTwice(
        (body, key) => call(buildCertPath("/match"), withHeaders(buildKeyedPost(body), key)),
        { email: "pat@example.com" },
        { phone: "+1 202 555 0123" },
      ),
    ...listBodyRefusals(() => buildCertPath("/match"), buildBearerHeader(world.acme.keys.live)),
    ...listKeyRefusals(
      () => buildCertPath("/match"),
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
    ...listBodyRefusals(() => "/v1/contact-check", buildBearerHeader(world.acme.keys.live)),
    ...listKeyRefusals(
      () => "/v1/contact-check",
      () => ({ subjects: [{ email: "pat@example.com" }] }),
    ),
  },
  integratePage: {
    200: () => requestIntegration(),
    invalid_request: () => requestIntegration({ body: { ...integrationRequest, mode: "both" } }),
    page_url_not_verified: () => requestIntegration({ body: { ...integrationRequest, url: "https://elsewhere.example.net/" } }),
    subscription_past_due: () => requestIntegration({ as: getExampleOwnerEmail("past_due") }),
    page_unreachable: () => requestIntegration({ changed: { fetchPage: async () => ({ outcome: "unreached", reason: "network" }) } }),
    csrf_failed: () => requestIntegration({ headers: { origin: "https://elsewhere.example" } }),
    payload_too_large: () => requestIntegration({ body: " ".repeat(256 * 1_024 + 1) }),
    unsupported_media_type: () => requestIntegration({ headers: { "content-type": "text/plain" } }),
    idempotency_conflict: () =>
      sendTwice((body, key) => requestIntegration({ body, headers: key }), integrationRequest, {
        ...integrationRequest,
        purpose: "another",
      }),
    ...buildMemberRefusals("POST", () => integrationPath, integrationRequest),
  },
  openCheckout: {
    303: () => requestCheckout(),
    invalid_request: () => requestCheckout({ plan: "enterprise" }),
    unauthorized: () => call("/v1/billing/checkout?plan=business"),
    business_suspended: () => requestCheckout({ as: getExampleOwnerEmail("suspended") }),
    business_inactive: () => requestCheckout({ as: getExampleOwnerEmail("closed") }),
    csrf_failed: () => requestCheckout({ headers: { "sec-fetch-site": "cross-site" } }),
    forbidden: () => requestCheckout({ plan: "white_glove" }),
    owner_required: () => requestCheckout({ as: world.memberEmail }),
    not_found: () => requestCheckout({ changed: { paymentProvider: null } }),
    rate_limited: () => requestCheckout({ changed: createRateLimitedPlatform() }),
    billing_unavailable: () => requestCheckout({ changed: { paymentProvider: createProvider({ outcome: "unavailable" }) } }),
    storage_unavailable: () => requestCheckout({ changed: createOutagePlatform() }),
    internal_error: () => requestCheckout({ changed: createFaultyPlatform() }),
  },
  takeInProviderEvent: {
    200: () => sendProviderEvent(),
    invalid_request: () => sendRawProviderEvent("{}", null),
    csrf_failed: () => call("/v1/webhooks/stripe", { method: "POST", headers: { origin: "https://elsewhere.example" }, body: "{}" }),
    not_found: () => sendProviderEvent({ config: { ...platform.config, billing: null } }),
    payload_too_large: () => sendRawProviderEvent(" ".repeat(256 * 1_024 + 1), null),
    rate_limited: () => sendProviderEvent(createRateLimitedPlatform()),
    storage_unavailable: () => sendProviderEvent(createOutagePlatform()),
    internal_error: () => sendProviderEvent(createFaultyPlatform()),
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
      const config = Object.defineProperty({ ...platform.config }, "baseUrl", { get: createVanishingUrl() });
      return callWith({ config }, "/v1/openapi.json");
    },
  },
  ...sharingScenarios,
  ...accountScenarios,
  ...sandboxScenarios,
};

/** Forbids keys that a schema does not list, so that an undescribed key in a response fails the test. */
const makeStrict = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(makeStrict);
  if (typeof schema !== "object" || schema === null) return schema;
  const members = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === "$ref" ? String(value).replace("#/components/schemas/", "#/$defs/") : name === "example" ? undefined : makeStrict(value),
    ]),
  );
  return "properties" in members && !("additionalProperties" in members) ? { ...members, additionalProperties: false } : members;
};

let $defs: Json | undefined;
/** Validators by schema text. Most refusals share one schema. */
const validators = new Map<string, z.ZodType>();
const buildValidator = (schema: Json): z.ZodType => {
  $defs ??= Object.fromEntries(Object.entries(document.components.schemas).map(([name, defined]) => [name, makeStrict(defined)]));
  const text = JSON.stringify(schema);
  const validator =
    validators.get(text) ?? z.fromJSONSchema({ ...(makeStrict(schema) as Json), $defs } as Parameters<typeof z.fromJSONSchema>[0]);
  validators.set(text, validator);
  return validator;
};

const listExamples = ({ example, examples = {} }: Content): unknown[] => [
  ...(example === undefined ? [] : [example]),
  ...Object.values(examples).map(({ value }) => value),
];

const listDescribedFailures = (operation: Described): string[] =>
  Object.values(operation.responses).flatMap(({ content }) => Object.keys(content?.["application/json"]?.examples ?? {}));
const listDescribedSuccesses = (operation: Described): string[] => Object.keys(operation.responses).filter((status) => status < "400");

test("the filters from and to have no format, because they accept a date or a time", () => {
  const { parameters } = committed.paths["/v1/certs"].get;
  for (const name of ["from", "to"]) expect(parameters.find((parameter) => parameter.name === name)?.schema).not.toHaveProperty("format");
});

describe("examples", () => {
  test("match the schemas of their requests and responses", () => {
    for (const { key, operation } of listOperations()) {
      for (const { content } of [...Object.values(operation.responses), ...(operation.requestBody ? [operation.requestBody] : [])]) {
        const json = content?.["application/json"];
        if (json === undefined) continue;
        for (const example of listExamples(json))
          expect(buildValidator(json.schema).safeParse(example).error?.issues ?? [], key).toEqual([]);
      }
    }
  });
});

describe("webhook events", () => {
  const getBodyValidator = (type: string): z.ZodType =>
    buildValidator(document.webhooks[type]?.post.requestBody.content["application/json"]?.schema as Json);
  const buildSentEvent = (type: string, about: { shareId?: string; certId?: string }, data: EventData | null = null) =>
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

  test("cover every event type and test.ping", () => {
    expect(Object.keys(document.webhooks).sort()).toEqual([...standardEventTypes, ...optInEventTypes, "test.ping"].sort());
  });

  test("describe the ids and values of each type, and nothing else", () => {
    for (const type of [...standardEventTypes, ...optInEventTypes]) {
      const schema = getBodyValidator(type);
      const about = type.startsWith("certificate.") ? { certId } : ofShare;
      expect(schema.safeParse(buildSentEvent(type, about)).error, type).toBeUndefined();
      expect(schema.safeParse(buildSentEvent(type, about, values[type] ?? null)).error, type).toBeUndefined();
      expect(schema.safeParse(buildSentEvent(type, about, { ssn: "1" })).success, type).toBe(false);
      expect(schema.safeParse(buildSentEvent(type, type.startsWith("certificate.") ? ofShare : {})).success, type).toBe(
        type === "business.ceased",
      );
      expect(schema.safeParse(buildSentEvent("another.type", about)).success, type).toBe(false);
    }
  });

  test("match the events in the feed", async () => {
    const { events } = (await getWithKey("/v1/events?limit=500", world.acme.keys.live)).body.data as { events: { type: string }[] };
    expect(events.length).toBeGreaterThan(0);
    for (const event of events) expect(getBodyValidator(event.type).safeParse(event).error, event.type).toBeUndefined();
  });
});

describe("live responses", () => {
  test("are requested for every success and refusal in the document", () => {
    const wanted = listOperations().flatMap(({ operation }) =>
      [...listDescribedSuccesses(operation), ...listDescribedFailures(operation)].map((name) => `${operation.operationId} ${name}`),
    );
    const tried = Object.entries(scenarios).flatMap(([id, cases]) => Object.keys(cases).map((name) => `${id} ${name}`));
    expect(
      wanted.filter((name) => !tried.includes(name)),
      "described in the document, but `scenarios` in this file has no request for it",
    ).toEqual([]);
    const extractSuccess = (name: string): string => name.replace(/^(\w+ \d{3}) .*$/, "$1");
    expect(tried.filter((name) => !wanted.includes(extractSuccess(name)))).toEqual([]);
  });

  for (const [id, cases] of Object.entries(scenarios)) {
    for (const [name, send] of Object.entries(cases)) {
      test(`${id} returns ${name} as described`, async () => {
        const answer = await send();
        const found = listOperations().find(({ operation }) => operation.operationId === id);
        const isSuccess = /^\d/.test(name);
        if (isSuccess) expect(answer.status).toBe(Number.parseInt(name, 10));
        else expect(answer.body.error.code).toBe(name);
        const response = found?.operation.responses[answer.status];
        expect(response, `status ${answer.status} is described`).toBeDefined();
        const type = (answer.headers.get("content-type") ?? "application/json").split(";")[0] as string;
        const content = response?.content?.[type];
        if (content === undefined) return expect(answer.text).toBe("");
        // The response is a file, which other tests check.
        if (type !== "application/json") return expect(answer.text.length).toBeGreaterThan(1_000);
        if (!isSuccess) expect(Object.keys(content.examples ?? {})).toContain(name);
        const { error } = buildValidator(content.schema).safeParse(answer.body);
        expect(error?.issues ?? []).toEqual([]);
        expect(answer.headers.get("x-request-id")).toMatch(/^req_00/);
      });
    }
  }

  test("fail validation with an undescribed key", () => {
    const schema = document.components.schemas.Health as Json;
    const health = {
      status: "ok",
      checks: { database: { ok: true, latency_ms: 1 }, kv: { ok: true, latency_ms: 1 }, crypto: { ok: true, latency_ms: 1 } },
      version: "1",
      time: "2026-03-04T05:06:07.089Z",
    };
    expect(buildValidator(schema).safeParse(health).success).toBe(true);
    expect(buildValidator(schema).safeParse({ ...health, extra: 1 }).success).toBe(false);
    expect(buildValidator(schema).safeParse({ ...health, checks: { ...health.checks, kv: { ok: "yes", latency_ms: 1 } } }).success).toBe(
      false,
    );
  });
});
