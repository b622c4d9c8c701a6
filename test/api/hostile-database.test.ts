// Runs every route, every tool of the agent server and every scheduled job on a database that strangers have filled. Checks how many rows
// each SQL statement reads, in the databases and in Durable Objects. Also checks which GET routes store something. The test fails if it
// does not send a request to every route.
import { env } from "cloudflare:workers";
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { inspectRoutes } from "hono/dev";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import writePathsPage from "../../docs/internals/write-paths.md?raw";
import { sha256Hex } from "../../core/hash.ts";
import { computeCodeChallenge } from "../../core/shares/pkce.ts";
import { parseRemovalId } from "../../core/ids.ts";
import { openVaultFromVars } from "../../scripts/demo-world.ts";
import { buildApp } from "../../workers/app.ts";
import { everyMinute, runScheduledJobs } from "../../workers/background/schedule.ts";
import { recordRemovalProgress } from "../../workers/operations/consumers/record-removal-progress.ts";
import { listToolsForRealm } from "../../workers/mcp/tool-registry.ts";
import { openShards } from "../../storage/shards.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import { Authenticator } from "../support/authenticator.ts";
import { callTool, createTokenWith } from "../support/agents.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { createCustomer, signPayload } from "../support/billing.ts";
import { createBrowserSession, parseFormFields, parsePage } from "../support/browser-session.ts";
import { crowdEmail, makeWorkDue, seedHostileDatabase, several, type OriginalRecords } from "../support/hostile-database.ts";
import { buildAuthorizePath, buildForm, exchangeCode, registerClient } from "../support/oauth-connection.ts";
import { buildJsonRequest, clearCodes, findEmailCode, listMailTo, signIn } from "../support/people.ts";
import { createAcmeRecords, mockOutsideWorld, signInCast, type PortalCast, type Records } from "../support/portal-cast.ts";
import { createServicesWith } from "../support/changed-services.ts";
import { observeKv, observeWrites } from "../support/observed-writes.ts";
import { countRowsRead, type RowCounter } from "../support/rows-read.ts";
import { buildDecision, createVerifier, grantShare, postWithApiKey, signInPerson, type SignedPerson } from "../support/sharing.ts";
import { createEmailAddress, buildJsonPost, issueToNewPerson, startWithdrawal } from "../support/withdrawal.ts";
import { parseWritePaths } from "../support/write-paths.ts";
import {
  buildConsentRequest,
  buildSubmission,
  call,
  issueCertificate,
  origin,
  world,
  type Call,
  type TestResponse,
} from "../support/world.ts";

/**
 * The highest number of rows that one statement may read. This is enough for several pages of a list, but is far below the number of
 * hostile records.
 */
const maxRows = 2_000;

/** Routes whose statements may read more rows, with their maximum and the reason. */
const exceptions: readonly { readonly route: RegExp; readonly rows: number; readonly why: string }[] = [
  {
    route: /\/certs$|\/certs\/search$|\/certificates(?:\/export)?$/,
    rows: 40_000,
    why: "a page reads the certificates before it, up to the 10,000th, and a search the counters of up to 500 groups",
  },
  {
    route: /\/contact-check$/,
    rows: 12_000,
    why: "reads the newest 1,000 records of an email address and of a phone number, and a few rows for each",
  },
  { route: /\/sandbox(?:\/|-consent$)/, rows: 12_000, why: "counts up to 10,000 active test shares; a sweep changes 1,000 at a time" },
  { route: /\/recover$/, rows: 10_200, why: "requeues up to 10,000 deliveries" },
  {
    route: /\/me(?:\/(?:fields|certificates|shares|export))?$|\/me\/certificates\/|^GET \/app$|\/details|\/app\/export|\/mcp$/,
    rows: 8_000,
    why: "a person has up to 1,000 active shares; counts of what names them stop at 1,000",
  },
  { route: /\/app\/with\//, rows: 4_000, why: "two counts of a person's records with one business, which stop at 1,000 each" },
  {
    route: / \/portal/,
    rows: 3_200,
    why: "counts the withdrawals to confirm that the navigation shows, up to 1,000 of each of three kinds",
  },
  { route: /^jobs/, rows: 25_000, why: "batches of up to 1,000 records, and up to 22 rows for each" },
  { route: /^preparations/, rows: Number.POSITIVE_INFINITY, why: "the test's own statements" },
];

const uncalledRoutes: readonly { readonly route: RegExp; readonly why: string }[] = [
  { route: / \/dev\//, why: "development only" },
  { route: /\*$/, why: "unknown paths, which read no database, and logs in Durable Objects, which have their own tests" },
  { route: / \/(?:v1\/admin\/|operator$)/, why: "operators only" },
];

/**
 * Routes that return an error in this test, for example because the mocked external services have no page, record or payment for them. The
 * routes read everything that they need from the database before they fail.
 */
const refusingRoutes: readonly RegExp[] = [
  /\/integrate$|\/snippet$/,
  /\/domains\/:(?:id|domain_id)\/verify$/,
  /\/billing\/checkout$/,
  /security\.txt$/,
  /\/authorize\/(?:opened|end-one)$|\/sign-in\/elsewhere$|\/portal\/account\/passkeys$/,
  /^(?:GET|POST) \/portal\/test\//,
];

/**
 * This statement may read any number of rows: every audit log runs it to store its position, even if all new changes belong to other logs.
 * The tests have 30 audit logs, but a deployment has only a few.
 */
const auditLogsPass = /^insert into "change_readers"/;

/**
 * One statement of an audit log reads up to 500 unread changes, with up to eight rows each. Audit logs run in the background, so the
 * statement can run during any request.
 */
const auditLogReads = { sql: /^select "ord", "id", "chain", .* from "audit_entries"/s, rows: 4_000 };

let counter: RowCounter;
let cast: PortalCast;
let records: Records;
let originals: OriginalRecords;
/** A person who owns thousands of shares and whose address is on thousands of certificates. */
let pat: SignedPerson;
let routes: readonly { readonly name: string; readonly method: string; readonly path: RegExp }[] = [];

/** The lowest status that each called route has returned. */
const answered = new Map<string, number>();
const findings = new Map<string, { readonly rows: number; readonly during: string }>();

const checkStatements = (during: string): void => {
  const ofRoute = exceptions.find(({ route }) => route.test(during))?.rows ?? maxRows;
  const limitOf = (sql: string): number => (auditLogReads.sql.test(sql) ? Math.max(ofRoute, auditLogReads.rows) : ofRoute);
  for (const { sql, rows } of counter.take())
    if (rows > limitOf(sql) && !auditLogsPass.test(sql) && rows > (findings.get(sql)?.rows ?? 0)) findings.set(sql, { rows, during });
};

/** Returns the statements that have read too many rows since the previous call. */
const takeFindings = (): readonly string[] => {
  const found = [...findings].map(([sql, { rows, during }]) => `${during}: ${rows} rows: ${sql}`);
  findings.clear();
  return found;
};

const findRoute = (method: string, path: string): string =>
  routes.find((route) => (route.method === method || route.method === "ALL") && route.path.test(path))?.name ?? "no route";

/**
 * Tables and KV prefixes that any route may write to ("What every route can store" in write-paths.md). They store the day of a credential's
 * last use, and records of refused requests.
 */
const isCommonWrite = /^(?:api_keys|sessions|agent_tokens|KV refused)$/;

/** What GET requests stored, by route: the tables, and the key prefixes in KV. */
const storedByReads = new Map<string, ReadonlySet<string>>();

/** Sends a GET request to the app in this isolate, and records what the request and its background work store. */
const callAndRecordWrites = async (route: string, path: string, init?: RequestInit): Promise<TestResponse> => {
  const stored = new Set<string>(storedByReads.get(route));
  const base = await getPlatform(env);
  const observed = openShards({
    ...observeWrites({ DB: env.DB, DB_01: env.DB_01 }, (table) => void stored.add(table)),
    ENVIRONMENT: "test",
  });
  const execution = createExecutionContext();
  const scheduling = { scheduleFollowUp: () => {}, scheduleMail: () => {}, scheduleRelay: () => {}, scheduleEvents: () => {} };
  const kv = observeKv(base.kv, (prefix) => void stored.add(prefix));
  const services = Object.assign(createServicesWith(base, { shards: observed, kv }), scheduling);
  const response = await buildApp(services).fetch(new Request(`http://svc.test${path}`, init), env, execution);
  const text = await response.text();
  await waitOnExecutionContext(execution);
  if (stored.size > 0) storedByReads.set(route, stored);
  return { status: response.status, headers: response.headers, text, body: /^[[{]/.test(text) ? JSON.parse(text) : null };
};

/** Sends a request, waits for the work that follows the response, and checks the statements of both the request and that work. */
const sendRequest: Call = async (path, init) => {
  checkStatements("preparations");
  const route = findRoute(init?.method ?? "GET", path.replace(/[?#].*$/, ""));
  const response = await (route.startsWith("GET ") ? callAndRecordWrites(route, path, init) : call(path, init));
  await waitUntilSettled();
  checkStatements(route);
  answered.set(route, Math.min(response.status, answered.get(route) ?? response.status));
  return response;
};

const sendWithKey = (method: string, path: string, body?: unknown, key = world.acme.keys.live): Promise<TestResponse> =>
  sendRequest(path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

const sendWithSession = (session: { readonly cookie: string }, method: string, path: string, body?: unknown): Promise<TestResponse> =>
  sendRequest(path, {
    method,
    headers: { ...session, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const sendAsOwner = (method: string, path: string, body?: unknown) => sendWithSession(cast.owner, method, path, body);
const sendAsPat = (method: string, path: string, body?: unknown) => sendWithSession(pat.headers, method, path, body);

const partners = Array.from({ length: 1_000 }, (_, at) => `Partner ${at}`);
const buildReceipt = () => ({ method: "phone", received_at: new Date().toISOString() });
const patOnCertificate = { fields: { email: world.consumerEmail, phone: "+1 202 555 0123" } };

const createOriginals = async (): Promise<OriginalRecords> => {
  const { cert_id: certId } = await issueCertificate(patOnCertificate);
  await call(`/c/${certId}`, { headers: { accept: "text/html" } });
  const withdrawn = await issueToNewPerson({ fields: { email: createEmailAddress(), phone: "+1 202 555 0177" } });
  await postWithApiKey(`/v1/certs/${withdrawn.certId}/withdrawals`, buildReceipt());
  const list = await issueToNewPerson({ entities: partners });
  await call(`/v1/certs/${list.certId}/opt-out/manage`, buildJsonPost({ token: list.manageToken, entities: ["Partner 1"] }));
  pat = await signInPerson(undefined, call, world.consumerEmail);
  await env.DB.prepare("UPDATE consumers SET plan = 'white_glove'").run();
  const activeShareId = (await grantShare(pat)).share.id;
  const revokedShareId = (await grantShare(pat)).share.id;
  await pat.post(`/v1/shares/${revokedShareId}/revoke`, {});
  const decision = buildDecision(createVerifier(), { client_id: world.acme.clients.sandbox });
  const sandbox = await call("/v1/share/sandbox-consent", buildJsonRequest(decision, { origin }));
  const removal = await pat.post("/v1/me/removals", { authorize: true, targets: ["spokeo"] });
  const completed = new Map([["spokeo", "completed"]] as const);
  await recordRemovalProgress(await getPlatform(env), parseRemovalId(removal.body.data.id), completed);
  await waitUntilSettled();
  return {
    certId,
    withdrawnCertId: withdrawn.certId,
    listCertId: list.certId,
    activeShareId,
    revokedShareId,
    sandboxShareId: sandbox.body.data.share.id,
    consumerId: (await pat.get("/v1/me")).body.data.id,
    removalId: removal.body.data.id,
  };
};

let restoreLimits = (): void => undefined;
beforeAll(async () => {
  mockOutsideWorld();
  cast = await signInCast();
  records = await createAcmeRecords(cast);
  originals = await createOriginals();
  await seedHostileDatabase(originals);
  const platform = await getPlatform(env);
  const app = buildApp(platform);
  const names = new Set(inspectRoutes(app).flatMap(({ isMiddleware, method, path }) => (isMiddleware ? [] : [`${method} ${path}`])));
  routes = [...names]
    .map((name) => {
      const [method = "", path = ""] = name.split(" ");
      return { name, method, path: new RegExp(`^${path.replaceAll(/:[a-z_]+/g, "[^/]+").replaceAll("*", ".*")}$`) };
    })
    .toSorted(
      (a, b) => Number(/[:*]/.test(a.name)) - Number(/[:*]/.test(b.name)) || Number(a.name.includes("*")) - Number(b.name.includes("*")),
    );
  const allowAlways = async () => ({ isAllowed: true, remaining: 1, resetMs: 1 });
  const { takeApproximately, takeExactly } = platform;
  restoreLimits = () => void Object.assign(platform, { takeApproximately, takeExactly }); // later test files use the same platform
  Object.assign(platform, { takeApproximately: allowAlways, takeExactly: allowAlways });
  counter = await countRowsRead();
}, 400_000);
afterAll(() => {
  restoreLimits();
  counter?.stop();
  vi.restoreAllMocks();
});

type Fields = Readonly<Record<string, string>>;

const postForm = (session: { readonly cookie: string }, path: string, fields: Fields): Promise<TestResponse> =>
  sendRequest(path, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin", ...session },
    body: new URLSearchParams(fields).toString(),
    redirect: "manual",
  });

/** Submits a form without opening its page, with the token that the page would contain. */
const postSignedInForm = async (
  prefix: "form" | "portal form",
  session: { readonly cookie: string },
  path: string,
  fields: Fields = {},
) => {
  const vault = await openVaultFromVars(env);
  const secret = session.cookie.slice(session.cookie.indexOf("=") + 1);
  return postForm(session, path, { form: await vault.linkToken(`${prefix}\n${sha256Hex(secret)}\n${path}`), ...fields });
};

describe("no statement reads more than its stated number of rows", { timeout: 400_000 }, () => {
  test("when a business calls the API", async () => {
    const { certId, listCertId, activeShareId, revokedShareId } = originals;
    const submission = buildSubmission();
    await sendRequest("/v1/consent", buildConsentRequest({ ...submission, ...patOnCertificate }));
    await sendRequest("/v1/consent", buildConsentRequest({ ...submission, entities: partners }));
    for (const query of [
      "",
      "?status=revoked",
      "?subject_email=pat@example.com",
      "?q=solar",
      "?entity=Partner%207",
      "?origin_domain=www.example.com&status=active",
      "?from=2026-01-01T00:00:01.000Z&to=2028-01-01T00:00:01.000Z&entity=Acme%20Solar%20LLC&per_page=100&page=3",
      "?from=2026-01-01T00:00:01.000Z&q=number",
      "?per_page=100&page=100",
    ])
      await sendWithKey("GET", `/v1/certs${query}`);
    await sendWithKey("POST", "/v1/certs/search", { subject_email: world.consumerEmail, subject_phone: "+1 202 555 0123" });
    for (const id of [certId, listCertId]) {
      await sendWithKey("GET", `/v1/certs/${id}`);
      await sendWithKey("GET", `/v1/certs/${id}/evidence-pack`);
      await sendRequest(`/v1/certs/${id}/verify`);
      await sendWithKey("POST", `/v1/certs/${id}/match`, { email: world.consumerEmail });
    }
    await sendRequest(`/v1/certs/${originals.withdrawnCertId}/receipt`);
    for (const more of [{}, { entity: "Partner 7" }, { entity: "Acme Solar LLC", purpose: submission.purpose }])
      await sendWithKey("POST", "/v1/contact-check", { subjects: [{ email: world.consumerEmail }, { phone: "+1 202 555 0123" }], ...more });
    await sendWithKey("POST", "/v1/share/requests", { ...buildDecision(createVerifier()), consent: undefined, scope: "email" });
    for (const query of ["", "?status=active&limit=100", "?status=expired", `?starting_after=${activeShareId}`])
      for (const key of Object.values(world.acme.keys)) await sendWithKey("GET", `/v1/shares${query}`, undefined, key);
    await sendWithKey("GET", `/v1/shares/${activeShareId}`);
    await sendWithKey("GET", `/v1/consumers/${activeShareId}/current`);
    await sendWithKey("POST", `/v1/shares/${revokedShareId}/cease-ack`, {});
    for (const key of Object.values(world.acme.keys)) await sendWithKey("GET", "/v1/events?cursor=0&limit=500", undefined, key);
    const { sandbox } = world.acme.keys;
    await sendWithKey("GET", "/v1/sandbox/clock", undefined, sandbox);
    await sendWithKey("POST", "/v1/sandbox/trigger", { type: "share.created" }, sandbox);
    await sendWithKey("POST", "/v1/sandbox/clock", { advance_seconds: 60 }, sandbox);
    await sendWithKey("POST", "/v1/sandbox/reset", {}, sandbox);
    await sendWithKey("POST", `/v1/certs/${originals.withdrawnCertId}/cease-ack`, {});
    await sendWithKey("POST", `/v1/certs/${certId}/withdrawals`, buildReceipt());
    expect(takeFindings()).toEqual([]);
  });

  test("when a member calls the portal's API", async () => {
    const { certId } = originals;
    const portal = "/v1/business/portal";
    for (const path of [
      "",
      "/domains",
      "/keys",
      "/clients",
      "/members",
      "/agent-tokens",
      "/recipients",
      "/certs",
      "/certs?q=solar",
      "/audit",
    ])
      await sendAsOwner("GET", `${portal}${path}`);
    await sendAsOwner("PATCH", portal, { retention_years: 5 });
    const createRecord = async (path: string, body: object): Promise<string> =>
      (await sendAsOwner("POST", `${portal}${path}`, body)).body.data.id;
    const domainId = await createRecord("/domains", { domain: "hostile.example" });
    await sendAsOwner("POST", `${portal}/domains/${records.domain_id}/verify`, { method: "dns" });
    await sendAsOwner("DELETE", `${portal}/domains/${domainId}`);
    await sendAsOwner("DELETE", `${portal}/keys/${await createRecord("/keys", { name: "Hostile", environment: "live" })}`);
    const clientId = (await sendAsOwner("POST", `${portal}/clients`, { name: "Website", environment: "live" })).body.data.client_id;
    await sendAsOwner("PATCH", `${portal}/clients/${clientId}`, { return_urls: [] });
    const memberId = await createRecord("/members", { email: "sam@hostile.example", role: "member" });
    await sendAsOwner("PATCH", `${portal}/members/${memberId}`, { role: "owner" });
    await sendAsOwner("DELETE", `${portal}/members/${memberId}`);
    await sendAsOwner("DELETE", `${portal}/agent-tokens/${await createRecord("/agent-token", { name: "Hostile" })}`);
    const link = { entity: "Partner 7", business_id: world.other.id };
    await sendAsOwner("DELETE", `${portal}/recipients`, { entity: "Partner 8", business_id: `biz_00b${String(8).padStart(23, "0")}` });
    await sendAsOwner("POST", `${portal}/recipients`, link);
    await sendAsOwner("GET", `${portal}/certs/${certId}`);
    await sendAsOwner("POST", `${portal}/certs/${certId}/reveal`, {});
    await sendAsOwner("GET", `${portal}/certs/${certId}/views`);
    await sendAsOwner("GET", `${portal}/requests/${records.request_id}`);
    await sendAsOwner("POST", `${portal}/integrate`, {
      url: "https://www.example.com/quote",
      mode: "consent",
      purpose: "quotes",
      entities: ["Acme"],
    });
    await sendAsOwner("GET", "/v1/billing/checkout?plan=business");
    const event = JSON.stringify(createCustomer(world.other.id, "enterprise").checkout(0));
    await sendRequest("/v1/webhooks/stripe", {
      method: "POST",
      headers: { "content-type": "application/json", "stripe-signature": await signPayload(event) },
      body: event,
    });
    await sendWithSession(await signIn(world.memberEmail), "DELETE", `${portal}/members/me`);
    expect(takeFindings()).toEqual([]);
  });

  test("when a member calls the webhook API", async () => {
    await sendAsOwner("GET", "/v1/webhooks");
    const { id } = (await sendAsOwner("POST", "/v1/webhooks", { url: "https://hook2.merchant-tests.com/in" })).body.data;
    const { webhook_id: webhook, delivery_id: delivery } = records;
    await sendAsOwner("PATCH", `/v1/webhooks/${id}`, { description: "CRM" });
    await sendAsOwner("GET", `/v1/webhooks/${id}/secret`);
    await sendAsOwner("POST", `/v1/webhooks/${id}/rotate-secret`);
    await sendAsOwner("POST", `/v1/webhooks/${id}/test`);
    await sendAsOwner("DELETE", `/v1/webhooks/${id}`);
    await sendAsOwner("GET", `/v1/webhooks/${webhook}/deliveries`);
    await sendAsOwner("POST", `/v1/webhooks/${webhook}/recover`, { since: new Date(0).toISOString() });
    await sendAsOwner("GET", `/v1/webhooks/deliveries/${delivery}/attempts`);
    await sendAsOwner("POST", `/v1/webhooks/deliveries/${delivery}/reveal`);
    await sendAsOwner("POST", `/v1/webhooks/deliveries/${delivery}/replay`);
    expect(takeFindings()).toEqual([]);
  });

  test("when a person calls the API", async () => {
    const { certId, activeShareId, removalId } = originals;
    for (const path of [
      "",
      "/sessions",
      "/passkeys",
      "/agent-tokens",
      "/fields",
      "/shares",
      "/certificates",
      "/removals",
      "/audit",
      "/export",
    ])
      await sendAsPat("GET", `/v1/me${path}`);
    await sendAsPat("GET", `/v1/me/certificates/${world.acme.id}`);
    await sendAsPat("GET", `/v1/me/removals/${removalId}/affidavit`);
    await sendAsPat("GET", "/v1/auth/session");
    await sendAsPat("PUT", "/v1/me/fields", { phone: "+1 202 555 0199" });
    await sendAsPat("POST", "/v1/me/removals", { authorize: true, targets: ["spokeo"] });
    const { id } = (await sendAsPat("POST", "/v1/me/agent-token", { name: "Hostile" })).body.data;
    await sendAsPat("DELETE", `/v1/me/agent-tokens/${id}`);
    const { options } = (await sendAsPat("POST", "/v1/me/passkeys/options")).body.data;
    const authenticator = new Authenticator();
    const added = await sendAsPat("POST", "/v1/me/passkeys", { credential: await authenticator.make(options) });
    const signIn = (await sendRequest("/v1/auth/passkey/options", { method: "POST" })).body.data.options;
    await sendRequest("/v1/auth/passkey/verify", buildJsonRequest({ credential: await authenticator.sign(signIn) }));
    await sendAsPat("DELETE", `/v1/me/passkeys/${added.body.data.id}`);
    const verifier = createVerifier();
    const decision = buildDecision(verifier);
    await sendRequest(
      `/v1/authorize?${new URLSearchParams({ client_id: decision.client_id, origin, purpose: decision.purpose, code_challenge: decision.code_challenge, code_challenge_method: "S256", scope: "email" })}`,
    );
    const granted = (await sendAsPat("POST", "/v1/share/consent", decision)).body.data;
    const redeemed = { code: granted.code, code_verifier: verifier, client_id: world.acme.clients.live };
    await sendRequest("/v1/share/redeem", buildJsonRequest(redeemed, { origin }));
    await sendRequest(
      "/v1/share/sandbox-consent",
      buildJsonRequest(buildDecision(createVerifier(), { client_id: world.acme.clients.sandbox }), { origin }),
    );
    const renewed = (await sendAsPat("POST", `/v1/me/shares/${granted.share.id}/renew`, { consent: true })).body.data.share.id;
    await sendAsPat("POST", `/v1/shares/${renewed}/revoke`, {});
    await sendAsPat("POST", `/v1/me/sever/${activeShareId}`, {});
    await sendAsPat("POST", "/v1/me/certificates/withdraw", { scope: "certificate", cert_id: certId });
    await sendAsPat("POST", "/v1/me/certificates/withdraw", { scope: "business", business_id: world.acme.id });
    await sendAsPat("POST", "/v1/me/certificates/withdraw", { scope: "everything" });
    const other = (await sendAsPat("GET", "/v1/me/sessions")).body.data.sessions.find(({ current }: { current: boolean }) => !current);
    await sendAsPat("DELETE", `/v1/me/sessions/${other.id}`);
    await sendAsPat("DELETE", "/v1/me/sessions");
    await sendWithSession((await signInPerson()).headers, "DELETE", "/v1/me", { confirm: "DELETE" });
    expect(takeFindings()).toEqual([]);
  });

  test("when a stranger signs in, signs up or withdraws", async () => {
    await clearCodes();
    for (const [email, realm] of [
      [world.consumerEmail, "consumer"],
      [crowdEmail, "business"],
    ]) {
      const response = await sendRequest("/v1/auth/request-code", buildJsonRequest({ email, realm }));
      const cookie = response.headers
        .getSetCookie()
        .map((one) => one.split(";")[0])
        .join("; ");
      const code = await findEmailCode(email as string);
      const signed = await sendRequest("/v1/auth/verify-code", buildJsonRequest({ email, realm, code }, { cookie }));
      const session = {
        cookie: signed.headers
          .getSetCookie()
          .map((one) => one.split(";")[0])
          .join("; "),
      };
      await sendWithSession(session, "GET", "/v1/auth/session");
      if (realm === "business") {
        await sendRequest("/portal/businesses", { headers: session });
        await postSignedInForm("portal form", session, "/portal/businesses/decline", { id: `mem_00i${"1".padStart(23, "0")}` });
        await postSignedInForm("portal form", session, "/portal/businesses", { id: `mem_00b${"1".padStart(23, "0")}` });
      }
      await sendWithSession(session, "POST", "/v1/auth/logout");
    }
    await sendRequest("/v1/business/signup", buildJsonRequest({ business_name: "Fresh Roofs LLC", email: world.consumerEmail }));
    const issued = await issueToNewPerson({ ...patOnCertificate, entities: partners });
    const attempt = await sendRequest(`/v1/certs/${issued.certId}/opt-out/request`, buildJsonPost({ email: world.consumerEmail }));
    expect(attempt.status).toBe(200);
    const { code, cookie } = await startWithdrawal(issued.certId, world.consumerEmail);
    await sendRequest(
      `/v1/certs/${issued.certId}/opt-out/confirm`,
      buildJsonPost({ email: world.consumerEmail, code, entities: ["Partner 2"] }, cookie),
    );
    await sendRequest(`/v1/certs/${issued.certId}/opt-out/manage`, buildJsonPost({ token: issued.manageToken }));
    await sendAsOwner("POST", `/v1/certs/${issued.certId}/erase-subject`, { confirm: "ERASE", reason: "person_asked" });
    expect(takeFindings()).toEqual([]);
  });

  test("when a stranger opens public pages", async () => {
    const html = { headers: { accept: "text/html" } };
    for (const { method, name } of routes) {
      const path = name.slice(name.indexOf(" ") + 1);
      if (method === "GET" && !/[:*]|^\/(?:portal|app|v1|dev|oauth|authorize)/.test(path)) await sendRequest(path, html);
    }
    for (const path of [
      "/docs/api/certificates",
      "/docs/agents",
      "/c/format?number=x",
      "/app/sign-in",
      "/app/deleted",
      "/v1/health",
      "/v1/openapi.json",
    ])
      await sendRequest(path, html);
    const group = await sendRequest("/docs/api/certificates", html);
    await sendRequest(/href="(\/docs\/api\/certificates\/[^"#]+)"/.exec(group.text)?.[1] ?? "", html);
    const issued = await issueToNewPerson({ entities: partners });
    for (const id of [originals.certId, originals.listCertId, issued.certId]) {
      await sendRequest(`/c/${id}`, html);
      await sendRequest(`/c/${id}/`, html);
      await sendRequest(`/c/${id}/withdraw`, html);
      await sendRequest(`/c/${id}/withdraw/confirm`, html);
    }
    const person = createBrowserSession("", sendRequest);
    await clearCodes();
    await person.post(`/c/${issued.certId}/withdraw`, { email: issued.email });
    const [mail] = await listMailTo(issued.email);
    await person.post(`/c/${issued.certId}/withdraw/confirm`, { code: /^\d{6}$/m.exec(mail?.text ?? "")?.[0] ?? "" });
    await person.post(`/c/${issued.certId}/withdraw/link`, { token: issued.manageToken });
    await person.open(`/c/${issued.certId}/withdrawn`);
    await person.send(await person.open("/withdraw"), "/withdraw", { email: issued.email });
    const { share } = await grantShare(pat);
    await waitUntilSettled();
    const mails = (await listMailTo(pat.email)).map(({ text }) => text).join();
    const token = new RegExp(`/stop/${share.id}#t=([\\w-]{43})`).exec(mails)?.[1] ?? "";
    const page = await person.open(`/stop/${share.id}`);
    await person.send(page, `/stop/${share.id}`, { token });
    await person.open(`/stop/${share.id}/stopped`);
    expect(takeFindings()).toEqual([]);
  });

  /** The values to enter in required form fields, by field name. */
  const typed: Fields = {
    email: "typed@hostile.example",
    name: "Typed",
    domain: "typed.example",
    role: "member",
    url: "https://hook1.merchant-tests.com/typed",
    since: "2026-01-01T00:00",
    type: "share.created",
    advance: "60",
    days: "1",
    subject_email: world.consumerEmail,
    retention_years: "5",
    confirm: "on",
    environment: "live",
    business_name: "Fresh Roofs LLC",
    country: "US",
    chart: "certificate_days",
    query: world.consumerEmail,
    status: "active",
    method: "dns",
    key_name: "Typed",
    client_name: "Typed",
    authorize: "on",
    "target.spokeo": "on",
    notes: "",
  };
  const newestRemovalPath = `removals/rmv_00r${String(several).padStart(23, "0")}`;
  const recordOf = (path: string): string =>
    path
      .replace(/(certificates|deadlines)\/:id/, `$1/${originals.certId}`)
      .replace("shares/:id", `shares/${originals.revokedShareId}`)
      .replace("domains/:id", `domains/${records.domain_id}`)
      .replace("keys/:id", `keys/${records.key_id}`)
      .replace("clients/:id", `clients/${world.acme.clients.live}`)
      .replace("team/:id", `team/${records.member_id}`)
      .replace("webhooks/:id", `webhooks/${records.webhook_id}`)
      .replace("requests/:id", `requests/${records.request_id}`)
      .replace("removals/:id/affidavit", `removals/${originals.removalId}/affidavit`)
      .replace("removals/:id", newestRemovalPath)
      .replace(":business", world.acme.id)
      .replace(":delivery", records.delivery_id ?? "")
      .replace(":seq", records.seq ?? "");

  /** Opens every page at or below `root`, then submits a form to every POST route there. Routes that delete or end something come last. */
  const visitPages = async (root: string, session: { readonly cookie: string }, prefix: "form" | "portal form"): Promise<void> => {
    const isBelow = (path: string): boolean =>
      (path === root || path.startsWith(`${root}/`)) && (root !== "/portal" || !path.startsWith("/portal/test"));
    const below = routes.filter(({ method, name }) => isBelow(name.slice(method.length + 1)) && !name.includes("*"));
    const forms = new Map<string, Fields>();
    for (const { method, name } of below.filter((route) => route.method === "GET")) {
      const page = await sendRequest(recordOf(name.slice(method.length + 1)), {
        headers: { ...session, accept: "text/html" },
        redirect: "manual",
      });
      for (const [, action = ""] of page.text.matchAll(/<form[^>]* action="([^"?#]+)"/g)) {
        const path = action.replaceAll("&amp;", "&");
        if (!forms.has(path)) forms.set(path, parseFormFields(parsePage(page), action));
      }
    }
    const getFormPriority = (name: string): number =>
      /(?:sign-out|leave|delete|end-others)$/.test(name) ? 2 : /(?:remove|rotate|reset)$/.test(name) ? 1 : 0;
    for (const { name } of below
      .filter(({ method }) => method === "POST")
      .toSorted((a, b) => getFormPriority(a.name) - getFormPriority(b.name))) {
      const path = recordOf(name.slice("POST ".length));
      const formFields = Object.entries(forms.get(path) ?? {}).filter(([, value]) => value !== "");
      await postSignedInForm(prefix, session, path, { ...typed, id: records.request_id ?? "", ...Object.fromEntries(formFields) });
    }
  };

  test("when a member uses the portal", async () => {
    await visitPages("/portal", cast.owner, "portal form");
    await visitPages("/portal/test", await signIn(world.ownerEmail), "portal form");
    expect(takeFindings()).toEqual([]);
  });

  test("when an assistant calls the agent server", async () => {
    const sessions = { consumer: await signIn(world.consumerEmail, "consumer"), business: await signIn(world.ownerEmail) };
    for (const realm of ["consumer", "business"] as const) {
      const { token } = (await createTokenWith(realm, sessions[realm])).body.data;
      for (const { name } of listToolsForRealm(realm)) {
        const args = /share$/.test(name)
          ? { share_id: originals.activeShareId }
          : name === "svc_update_field"
            ? { field: "city", value: "Testville" }
            : {};
        const response = await callTool(token, name, args, sendRequest);
        expect(response.status, name).toBe(200);
      }
    }
    expect(takeFindings()).toEqual([]);
  });

  test("when a person connects an assistant", async () => {
    const client = await registerClient({}, sendRequest);
    const path = buildAuthorizePath(client);
    const search = path.slice("/oauth/authorize".length);
    await sendRequest(path);
    await sendRequest(`/oauth/authorize/email${search}`);
    await clearCodes();
    const response = await sendRequest(`/oauth/authorize/email${search}`, buildForm({ email: world.consumerEmail, as: "consumer" }));
    const back = response.headers.get("location") ?? "";
    const cookie = (response.headers.get("set-cookie") ?? "").split(";")[0] as string;
    await sendRequest(back.replace("/authorize?", "/authorize/new-code?"), buildForm({}, { cookie }));
    const code = await findEmailCode(world.consumerEmail);
    await sendRequest(back.replace("/authorize?", "/authorize/code?"), buildForm({ code }, { cookie }));
    await sendRequest(back.replace("/authorize?", "/authorize/other-address?"), buildForm({}, { cookie }));
    const session = await signIn(world.consumerEmail, "consumer");
    const page = await sendRequest(path, { headers: session });
    const sealed = /name="request" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
    const sent = await sendRequest("/oauth/authorize/decide", buildForm({ request: sealed, decision: "allow" }, session));
    const granted = new URL(sent.headers.get("location") ?? "http://none.test").searchParams.get("code") ?? "";
    const { access_token: token } = (await exchangeCode(granted, client, {}, {}, sendRequest)).body;
    await sendRequest("/oauth/revoke", buildForm({ token, client_id: client }));
    await waitUntilSettled();
    const mail = (await listMailTo(world.consumerEmail)).find(({ text }) => text.includes("/oauth/end/"));
    const link = new URL(/https?:\/\/\S+\/oauth\/end\/\S+/.exec(mail?.text ?? "")?.[0] as string);
    await sendRequest(`${link.pathname}${link.search}`);
    await sendRequest(`${link.pathname}${link.search}`, buildForm({}));
    await sendRequest("/oauth/authorize/end-one", buildForm({ request: sealed }, session));
    await sendRequest(`/oauth/authorize/sign-out${search}`, buildForm({}, session));
    expect(takeFindings()).toEqual([]);
  });

  test("when a person answers a request on the sheet", async () => {
    const search = `?${new URLSearchParams({
      client_id: world.acme.clients.live,
      origin,
      scope: "email phone?",
      purpose: "Send you a solar estimate",
      code_challenge: computeCodeChallenge(createVerifier()),
      code_challenge_method: "S256",
      return_url: `${origin}/quote`,
    })}`;
    const visitor = createBrowserSession("", sendRequest, { accept: "text/html" });
    const extractToken = ({ text }: TestResponse): string => /name="token" value="([^"]+)"/.exec(text)?.[1] ?? "";
    await clearCodes();
    await visitor.open(`/authorize${search}`, { referer: `${origin}/` });
    await visitor.open(`/authorize/not-now${search}`);
    await visitor.open(`/authorize/email${search}`);
    await visitor.post(`/authorize/email${search}`, { email: world.consumerEmail });
    await visitor.post(`/authorize/other-address${search}`, {});
    await visitor.post(`/authorize/email${search}`, { email: world.consumerEmail });
    await visitor.post(`/authorize/new-code${search}`, {});
    await visitor.post(`/authorize/code${search}`, { code: await findEmailCode(world.consumerEmail) });
    const review = await visitor.open(`/authorize${search}`, { referer: `${origin}/` });
    await visitor.post(`/authorize/opened${search}`, { token: extractToken(review), opener_origin: origin });
    await visitor.post(`/authorize/review${search}`, { token: extractToken(review) });
    await visitor.post(`/authorize/decide${search}`, { token: extractToken(review), days: "30" });
    await visitor.post(`/authorize/sign-out${search}`, {});
    await visitor.post(`/authorize/passkey${search}`, {});
    await visitor.post(`/authorize/passkey/verify${search}`, { credential: "{}" });
    expect(takeFindings()).toEqual([]);
  });

  test("when a person uses the app", async () => {
    await visitPages("/app", pat.headers, "form");
    expect(takeFindings()).toEqual([]);
  });

  test("when the minute's jobs run", async () => {
    await makeWorkDue();
    counter.take();
    const platform = await getPlatform(env);
    for (const cron of [everyMinute, "*/15 * * * *"]) {
      // All jobs of this run share a work budget of 100 steps.
      let steps = 100;
      const hasBudget = async (): Promise<boolean> => {
        steps -= 1;
        return steps > 0;
      };
      await runScheduledJobs(Object.assign(Object.create(platform) as typeof platform, { hasBudget }), cron, Date.now());
      await waitUntilSettled();
      checkStatements(`jobs at ${cron}`);
    }
    expect(takeFindings()).toEqual([]);
  });
});

test("calls every route", () => {
  const isExcused = (name: string): boolean =>
    uncalledRoutes.some(({ route }) => route.test(name)) || (answered.has(name) && refusingRoutes.some((route) => route.test(name)));
  const missing = routes.filter(({ name }) => !isExcused(name) && (answered.get(name) ?? 999) >= 400);
  expect(missing.map(({ name }) => `${name}: ${answered.get(name) ?? "not called"}`)).toEqual([]);
});

test("every GET route that stores something is in the table of write paths, and the table has no others", () => {
  const routesThatStore = [...storedByReads]
    .filter(([, stored]) => [...stored].some((name) => !isCommonWrite.test(name)))
    .map(([route]) => route.replace(/^GET \/portal\/test\//, "GET /portal/"));
  const listed = parseWritePaths(writePathsPage)
    .writePaths.flatMap((path) => path.routes)
    .filter((route) => route.startsWith("GET "));
  expect([...new Set(routesThatStore)].toSorted()).toEqual(listed.toSorted());
});
