// Tests malicious and malformed requests. Each has exactly one expected response. None changes anything except the audit trail and the day
// when a token was last used. Each group also contains a valid request, which shows that the other requests do not fail for another reason.
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { buildBearerHeader, createToken, postToAgentServer, parseResult, type CreatedToken } from "../support/agents.ts";
import {
  getAuthorizationCode,
  buildAuthorizePath,
  openConsentPage,
  postDecision,
  exchangeCode,
  buildForm,
  loopback,
  postRegistration,
  registerClient,
  verifier,
} from "../support/oauth-connection.ts";
import { signIn } from "../support/people.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import {
  call,
  readDatabaseContents,
  issueCertificate,
  createServiceCall,
  world,
  worldInSecondShard,
  type TestResponse,
} from "../support/world.ts";

let consumer: CreatedToken;
let business: CreatedToken;
const gone: Record<string, string> = {};
let session = { cookie: "" };
/** A client, a code that its user approved, and the sealed request of an authorization page that has not been submitted. */
let client = "";
let code = "";
let sealed = "";
let otherSession = { cookie: "" };
let before: Record<string, string> = {};
let entriesBefore = 0;

/** A service with a higher limit, because these tests send more requests than one token may send per minute. */
const callUnlimited = createServiceCall({ LIMIT_AGENT_TOKEN: "10000/60" });

/**
 * Returns the database contents, except for the data that any call may change: the call's audit entry and the day when the token was last
 * used.
 */
const readLastingTables = async (): Promise<Record<string, string>> => {
  const { audit_entries: _, ...tables } = await readDatabaseContents();
  const withoutDay = (rows: string) => JSON.stringify((JSON.parse(rows) as object[]).map((row) => ({ ...row, last_used_day: null })));
  return { ...tables, agent_tokens: withoutDay(tables.agent_tokens as string) };
};
const setTokenColumn = (id: string, set: string): Promise<unknown> =>
  env.DB.prepare(`UPDATE agent_tokens SET ${set} WHERE id = ?`).bind(id).run();

beforeAll(async () => {
  await issueCertificate();
  consumer = await createToken("consumer");
  business = await createToken("business");
  const [revoked, expired, orphan, suspended] = [
    await createToken("consumer"),
    await createToken("consumer"),
    await createToken("business", world.memberEmail),
    await createToken("business", world.otherOwnerEmail),
  ];
  await setTokenColumn(revoked.id, "revoked_at = 1");
  await setTokenColumn(expired.id, "expires_at = 1");
  await setTokenColumn(orphan.id, "principal_id = 'mem_00nobody'");
  await env.DB.prepare("UPDATE businesses SET status = 'suspended' WHERE id = ?").bind(world.other.id).run();
  Object.assign(gone, { revoked: revoked.token, expired: expired.token, orphan: orphan.token, suspended: suspended.token });
  session = await signIn(world.consumerEmail, "consumer");
  otherSession = await signIn(world.ownerEmail);
  client = await registerClient();
  code = await getAuthorizationCode(client, session);
  sealed = (await openConsentPage(client, session)).sealed;
  await waitUntilSettled();
  before = await readLastingTables();
  entriesBefore = (await env.DB.prepare("SELECT MAX(ord) AS n FROM audit_entries").first<number>("n")) as number;
});

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const buildMessage = (change: object): string => JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", ...change });
const call1 = (name: unknown, args?: unknown): string =>
  buildMessage({ method: "tools/call", params: { name, ...(args !== undefined && { arguments: args }) } });
const toBytes = (...values: number[]): Uint8Array => new Uint8Array(values);
const encodeUtf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const buildNested = (levels: number): string =>
  buildMessage({}).replace("}", `,"params":${'{"a":'.repeat(levels - 1)}1${"}".repeat(levels)}`);

/** Returns the status, followed by the error code, `isError` (a failed tool call) or `ok`. Without a body, returns only the status. */
const describeOutcome = (response: TestResponse): string => {
  const { status, body } = response;
  if (Array.isArray(body)) return `${status} [${body.map(({ error }) => error?.code ?? "ok").join()}]`;
  if (typeof body?.error === "string") return `${status} ${body.error}`; // the format of OAuth errors
  if (body?.error !== undefined) return `${status} ${body.error.code}`;
  if (body?.result?.isError === true) return `${status} isError`;
  return body === null ? `${status}` : `${status} ok`;
};

interface Row {
  readonly name: string;
  readonly send: () => Promise<TestResponse>;
  readonly expected: string;
}
const rows: Row[] = [];
const addRow = (name: string, expected: string, send: () => Promise<TestResponse>): void => {
  rows.push({ name, expected, send });
};
const addConsumerRow = (name: string, expected: string, body: string | Uint8Array, headers: Record<string, string> = {}): void =>
  addRow(name, expected, () => postToAgentServer(body, { ...buildBearerHeader(consumer.token), ...headers }, callUnlimited));
const addBusinessRow = (name: string, expected: string, body: string): void =>
  addRow(name, expected, () => postToAgentServer(body, buildBearerHeader(business.token), callUnlimited));

// Hostile methods, origins and headers of the HTTP request.
for (const method of ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"])
  addRow(`method ${method}`, "405 -32600", () => callUnlimited("/mcp", { method, headers: buildBearerHeader(consumer.token) }));
addRow("method HEAD", "405", () => callUnlimited("/mcp", { method: "HEAD", headers: buildBearerHeader(consumer.token) }));
addRow("a request for a stream", "405 -32600", () =>
  callUnlimited("/mcp", { headers: { ...buildBearerHeader(consumer.token), accept: "text/event-stream", "last-event-id": "1" } }),
);
for (const origin of [
  "https://evil.example",
  "null",
  "https://svc.test",
  "http://svc.test.evil.example",
  "http://evil.example#http://svc.test",
  "file://",
  "http://localhost.",
  "http://127.0.0.1.evil.example",
  "http://0.0.0.0",
])
  addConsumerRow(`origin ${origin}`, "403 -32600", ping, { origin });
addConsumerRow("the service's own origin", "200 ok", ping, { origin: "http://svc.test" });
addConsumerRow("accepts only a stream", "200 ok", ping, { accept: "text/event-stream" });
addConsumerRow("an unknown session ID", "200 ok", ping, { "mcp-session-id": "00000000-0000-0000-0000-000000000000" });

// Hostile Authorization headers.
const authorizations: Readonly<Record<string, () => string>> = {
  empty: () => "",
  "only the scheme": () => "Bearer",
  "the scheme and a space": () => "Bearer ",
  "two spaces": () => `Bearer  ${consumer.token}`,
  "a tab": () => `Bearer\t${consumer.token}`,
  "only the token": () => consumer.token,
  Basic: () => `Basic ${btoa(`${consumer.token}:`)}`,
  "the token twice": () => `Bearer ${consumer.token}, Bearer ${consumer.token}`,
  "followed by other text": () => `Bearer ${consumer.token};x`,
  "one extra character": () => `Bearer ${consumer.token}A`,
  "one missing character": () => `Bearer ${consumer.token.slice(0, -1)}`,
  "in uppercase": () => `Bearer ${consumer.token.toUpperCase()}`,
  "the ID of another shard": () => `Bearer ${consumer.token.replace("pat_00", "pat_01")}`,
  "the ID of a shard that does not exist": () => `Bearer ${consumer.token.replace("pat_00", "pat_zz")}`,
  "an API key": () => `Bearer ${world.acme.keys.live}`,
  "a test key": () => `Bearer ${world.acme.keys.sandbox}`,
  "an API key of another shard": () => `Bearer ${worldInSecondShard.acme.keys.live}`,
  "an API key with the prefix of a token": () => `Bearer ${world.acme.keys.live.replace("sk_live_", "pat_")}`,
  "the id of the token": () => `Bearer ${consumer.id}`,
  revoked: () => `Bearer ${gone.revoked}`,
  expired: () => `Bearer ${gone.expired}`,
  "of a removed member": () => `Bearer ${gone.orphan}`,
  "of a suspended business": () => `Bearer ${gone.suspended}`,
};
addRow("authorization: none", "401 -32001", () => postToAgentServer(ping));
for (const [name, authorization] of Object.entries(authorizations))
  addRow(`authorization: ${name}`, "401 -32001", () => postToAgentServer(ping, { authorization: authorization() }));
addRow("authorization: in the query", "401 -32001", () =>
  callUnlimited(`/mcp?access_token=${consumer.token}`, { method: "POST", body: ping }),
);
addRow("authorization: in the body", "401 -32001", () => postToAgentServer(buildMessage({ access_token: consumer.token })));
addRow("authorization: in a cookie", "401 -32001", () =>
  postToAgentServer(ping, { cookie: `access_token=${consumer.token}; svc_session=${consumer.token}` }),
);
addRow("authorization: a session's cookie", "401 -32001", () => postToAgentServer(ping, session));
addRow("authorization: in another header", "401 -32001", () =>
  postToAgentServer(ping, { "x-api-key": consumer.token, "proxy-authorization": `Bearer ${consumer.token}` }),
);
addRow("authorization: scheme in lowercase", "200 ok", () => postToAgentServer(ping, { authorization: `bearer ${consumer.token}` }));

// Malformed, oversized and encoded bodies.
const bodies: Readonly<Record<string, string | Uint8Array>> = {
  empty: "",
  null: "null",
  true: "true",
  "a string": '"x"',
  "a number": "7",
  "truncated JSON": "{",
  "a byte order mark": toBytes(0xef, 0xbb, 0xbf, ...encodeUtf8(ping)),
  "invalid UTF-8": toBytes(...encodeUtf8('{"jsonrpc":"2.0","id":"'), 0xff, ...encodeUtf8('","method":"ping"}')),
  "half a surrogate pair": '{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
  "a duplicate key": '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}',
  "nested 33 deep": buildNested(33),
  "UTF-16": new Uint8Array(new Uint16Array([...ping].map((c) => c.charCodeAt(0))).buffer),
  "a number that is too large": '{"jsonrpc":"2.0","id":1e400,"method":"ping"}',
  "a form": "jsonrpc=2.0&id=1&method=ping",
  "two messages in a row": `${ping}\n${ping}`,
};
for (const [name, body] of Object.entries(bodies)) addConsumerRow(`body: ${name}`, "400 -32600", body);
addConsumerRow("body: over 256 KiB", "413 -32600", `${ping}${" ".repeat(256 * 1_024)}`);
addConsumerRow("body: with a content encoding", "400 -32600", ping, { "content-encoding": "gzip" });
addConsumerRow("body: nested 32 deep", "200 ok", buildNested(32));

// Messages with missing or malformed members.
const shapes: Readonly<Record<string, object>> = {
  "no version": { jsonrpc: undefined },
  "version 1.0": { jsonrpc: "1.0" },
  "version 2": { jsonrpc: 2 },
  "version with a space": { jsonrpc: "2.0 " },
  "no method": { method: undefined },
  "a number for a method": { method: 7 },
  "null for a method": { method: null },
  "an empty method": { method: "" },
  "a string for params": { params: "x" },
  "null for an id": { id: null },
  "an object for an id": { id: {} },
  "true for an id": { id: true },
  "a response": { method: undefined, result: {} },
  "an error": { method: undefined, error: { code: 1, message: "x" } },
};
for (const [name, change] of Object.entries(shapes)) addConsumerRow(`shape: ${name}`, "400 -32600", buildMessage(change));
addConsumerRow("shape: null for params", "200 ok", buildMessage({ params: null }));
for (const change of [{}, { params: null }, { params: "x" }, { params: 7 }, { id: 1 }, { id: null }, { id: {} }])
  for (const method of ["notifications/initialized", "notifications/cancelled", "notifications/unheard_of"])
    addConsumerRow(`${method} with ${JSON.stringify(change)}`, "202", buildMessage({ id: undefined, method, ...change }));
for (const id of [0, -1, 1.5, "", "é", "x".repeat(10_000)]) addConsumerRow(`id ${String(id).slice(0, 5)}`, "200 ok", buildMessage({ id }));

// Malformed batches.
addConsumerRow("batch: empty", "400 -32600", "[]");
addConsumerRow("batch: containing a number", "400 [-32600]", "[1]");
addConsumerRow("batch: with 21 messages", "400 -32600", JSON.stringify(Array(21).fill(JSON.parse(ping))));
addConsumerRow("batch: inside a batch", "400 [-32600]", `[[${ping}]]`);
addConsumerRow("batch: one malformed message of three", "200 [ok,-32600,ok]", `[${ping},{"jsonrpc":"2.0","id":2},${ping}]`);
addConsumerRow("batch: with initialize", "200 [-32600,ok]", `[${buildMessage({ method: "initialize" })},${ping}]`);
addConsumerRow("batch: only notifications", "202", `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`);
addConsumerRow("batch: two messages with the same ID", "200 [ok,ok]", `[${ping},${ping}]`);

// Methods that do not exist.
for (const method of [
  "resources/list",
  "resources/read",
  "prompts/list",
  "logging/setLevel",
  "completion/complete",
  "sampling/createMessage",
  "elicitation/create",
  "subscriptions/listen",
  "server/discover",
  "TOOLS/LIST",
  "tools/list\u0000",
  "__proto__",
  "constructor",
  "toString",
])
  addConsumerRow(`method ${method}`, "200 -32601", buildMessage({ method }));
addConsumerRow(
  "a tool call without an ID",
  "202",
  buildMessage({ id: undefined, method: "tools/call", params: { name: "svc_get_audit" } }),
);

// Hostile tool names, including tools of another realm.
for (const name of [7, null, undefined, ["svc_get_audit"], { name: "svc_get_audit" }, true])
  addConsumerRow(`name ${JSON.stringify(name)}`, "200 -32602", call1(name));
for (const name of [
  "",
  "svc_create_share",
  "svc_issue_certificate",
  "svc_renew_share",
  "svc_grant",
  "svc_mint_token",
  "constructor",
  "__proto__",
  "SVC_GET_AUDIT",
  "svc_get_audit ",
  "svc_get_аudit",
  "x".repeat(100_000),
])
  addConsumerRow(`name ${name.slice(0, 24)}`, "200 isError", call1(name));
addConsumerRow("a business's tool for a consumer", "200 isError", call1("svc_list_events"));
for (const name of ["svc_revoke_share", "svc_update_field"])
  addBusinessRow(`a consumer's ${name} for a business`, "200 isError", call1(name));
addConsumerRow("a consumer's own tool", "200 ok", call1("svc_get_audit"));

// Hostile tool arguments.
for (const args of [null, undefined, {}, { limit: null }, { before_seq: null, limit: null }, { limit: "" }])
  addConsumerRow(`arguments ${JSON.stringify(args)}`, "200 ok", call1("svc_get_audit", args));
for (const args of [{ status: null }, { status: "" }, { status: null, limit: null }])
  addConsumerRow(`shares with ${JSON.stringify(args)}`, "200 ok", call1("svc_list_shares", args));
const badArguments: readonly unknown[] = [
  [],
  "x",
  7,
  true,
  { limit: "1" },
  { limit: 0 },
  { limit: 101 },
  { limit: 1.5 },
  { limit: -1 },
  { before_seq: 0 },
  { before_seq: "1; DROP TABLE agent_tokens" },
  { before_seq: 2 ** 53 },
  { extra: 1 },
  { principal_id: "con_00" },
  { chain: "x" },
  { constructor: 1 },
  { limit: { $gt: 0 } },
  { limit: [1] },
];
for (const args of badArguments) addConsumerRow(`arguments ${JSON.stringify(args)}`, "200 isError", call1("svc_get_audit", args));
addConsumerRow(
  "arguments with __proto__",
  "200 isError",
  call1("svc_get_audit").replace('"name"', '"arguments":{"__proto__":{"limit":1}},"name"'),
);
addConsumerRow(
  "arguments with a number that is too large",
  "400 -32600",
  call1("svc_get_audit").replace('"name"', '"arguments":{"limit":1e309},"name"'),
);
for (const args of [
  { cursor: -1 },
  { cursor: 0.5 },
  { cursor: "0" },
  { limit: 501 },
  { types: "share.revoked" },
  { business_id: world.other.id },
])
  addBusinessRow(`events with ${JSON.stringify(args)}`, "200 isError", call1("svc_list_events", args));
for (const args of [
  {},
  { share_id: 7 },
  { share_id: "x" },
  { share_id: "shr_00000000000000000000000000" },
  { share_id: "' OR 1=1 --" },
  { share_id: "x".repeat(65) },
  { share_id: "shr_00000000000000000000000000", consent: true },
])
  for (const name of ["svc_get_share", "svc_revoke_share"])
    addConsumerRow(`${name} with ${JSON.stringify(args).slice(0, 60)}`, "200 isError", call1(name, args));
for (const args of [{ status: "granted" }, { limit: 201 }, { limit: "50" }, { starting_after: "x" }, { consumer_id: "con_00" }])
  addConsumerRow(`shares with ${JSON.stringify(args)}`, "200 isError", call1("svc_list_shares", args));
for (const args of [
  {},
  { field: "email" },
  { field: "plan", value: "white_glove" },
  { field: "__proto__", value: "x" },
  { field: "email", value: 7 },
  { field: "email", value: null },
  { field: "email", value: "nobody" },
  { field: "phone", value: "1" },
  { field: "country", value: "Earth" },
  { field: "city", value: "a\u202eb" },
  { field: "city", value: "x".repeat(255) },
  { field: "city", value: " " },
])
  addConsumerRow(`a field with ${JSON.stringify(args).slice(0, 60)}`, "200 isError", call1("svc_update_field", args));
addConsumerRow("shares with no arguments", "200 ok", call1("svc_list_shares"));
addBusinessRow("events past the newest", "200 ok", call1("svc_list_events", { cursor: 2 ** 53 - 1 }));
addBusinessRow("events with no arguments", "200 ok", call1("svc_list_events"));

// Requests of revision 2026-07-28, and their headers.
const modernVersion = "2026-07-28";
const buildMetaKey = (name: string): string => `io.modelcontextprotocol/${name}`;
const claim = { [buildMetaKey("protocolVersion")]: modernVersion, [buildMetaKey("clientCapabilities")]: {} };
const laterHeaders = { "mcp-protocol-version": modernVersion, "mcp-method": "tools/list" };
const buildClaimingMessage = (meta: unknown, change: object = {}): string =>
  buildMessage({ method: "tools/list", params: { _meta: meta }, ...change });
const withClaim = (name: string, expected: string, body: string, headers: Record<string, string> = {}): void =>
  addConsumerRow(`claim: ${name}`, expected, body, { ...laterHeaders, ...headers });
withClaim("correct", "200 ok", buildClaimingMessage(claim));
for (const version of [7, null, "", "2025-11-25", "2026-07-28 ", [modernVersion], { later: modernVersion }, true])
  withClaim(
    `of version ${JSON.stringify(version)}`,
    typeof version === "string" ? "400 -32020" : "400 -32602",
    buildClaimingMessage({ ...claim, [buildMetaKey("protocolVersion")]: version }),
  );
withClaim(
  "of an unknown version in both places",
  "400 -32022",
  buildClaimingMessage({ ...claim, [buildMetaKey("protocolVersion")]: "2099-01-01" }),
  {
    "mcp-protocol-version": "2099-01-01",
  },
);
for (const [name, capabilities] of Object.entries({
  missing: undefined,
  "in a list": [],
  "that are null": null,
  "that are a string": "all",
}))
  withClaim(
    `with capabilities ${name}`,
    "400 -32602",
    buildClaimingMessage({ ...claim, [buildMetaKey("clientCapabilities")]: capabilities }),
  );
withClaim("with a client that is a string", "400 -32602", buildClaimingMessage({ ...claim, [buildMetaKey("clientInfo")]: "Claude" }));
withClaim("and another version in the header", "400 -32020", buildClaimingMessage(claim), { "mcp-protocol-version": "2025-03-26" });
withClaim("and the version twice", "400 -32020", buildClaimingMessage(claim), {
  "mcp-protocol-version": `${modernVersion}, ${modernVersion}`,
});
withClaim("and another method in the header", "400 -32020", buildClaimingMessage(claim), { "mcp-method": "tools/call" });
withClaim("and the method in uppercase", "400 -32020", buildClaimingMessage(claim), { "mcp-method": "TOOLS/LIST" });
addConsumerRow("claim: without headers", "400 -32020", buildClaimingMessage(claim));
withClaim("in a list, which does not count", "200 ok", buildClaimingMessage([claim]));
withClaim(
  "on a prototype, which does not count",
  "200 ok",
  '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"__proto__":{}}}}',
);
withClaim("in a batch", "400 -32600", `[${ping},${buildClaimingMessage(claim)}]`);
withClaim("and a cursor", "200 -32602", buildMessage({ method: "tools/list", params: { _meta: claim, cursor: "x" } }));
for (const method of ["initialize", "ping", "logging/setLevel", "resources/list", "tasks/get", "elicitation/create"])
  withClaim(`and the method ${method}`, "404 -32601", buildClaimingMessage(claim, { method }), { "mcp-method": method });
const buildModernCall = (name: unknown, more: object = {}): string =>
  buildMessage({ method: "tools/call", params: { _meta: claim, name, arguments: {}, ...more } });
const callHeaders = (name: string) => ({ "mcp-method": "tools/call", "mcp-name": name });
withClaim("and another tool in the header", "400 -32020", buildModernCall("svc_revoke_share"), callHeaders("svc_get_audit"));
withClaim("and a tool in broken base64", "400 -32020", buildModernCall("svc_get_audit"), callHeaders("=?base64?!?="));
withClaim("and no tool", "200 -32602", buildModernCall(undefined), { "mcp-method": "tools/call" });
withClaim("and a tool that grants", "200 isError", buildModernCall("svc_grant_share"), callHeaders("svc_grant_share"));
withClaim("and invalid responses", "200 -32602", buildModernCall("svc_get_share", { inputResponses: 7 }), callHeaders("svc_get_share"));
withClaim(
  "and a response that was not requested",
  "200 isError",
  buildModernCall("svc_get_share", { inputResponses: { sheet: { action: "accept" } } }),
  callHeaders("svc_get_share"),
);

// OAuth requests: authorization page, token exchange, registration and revocation.
const addPageRow = (name: string, expected: string, change: Record<string, string | null>): void =>
  addRow(`connecting: ${name}`, expected, () => call(buildAuthorizePath(client, change), { headers: session, redirect: "manual" }));
addPageRow("a valid request", "200", {});
for (const [name, change] of Object.entries({
  "a token in the response": { response_type: "token" },
  "an id token": { response_type: "code id_token" },
  "no PKCE": { code_challenge: null, code_challenge_method: null },
  "plain PKCE": { code_challenge_method: "plain" },
  "a short challenge": { code_challenge: "x" },
  "a fragment": { response_mode: "fragment" },
  "a request object": { request: "e30.e30." },
  "a request at another URL": { request_uri: "https://evil.example/r" },
  "another resource": { resource: "https://evil.example/mcp" },
  "a state that is too long": { state: "x".repeat(2_049) },
}))
  addPageRow(name, "400", change);
for (const redirect_uri of [
  "https://evil.example/cb",
  "http://127.0.0.1:7777/other",
  "http://127.0.0.1:7777/callback?x=1",
  "http://127.0.0.1:7777/callback#x",
  "http://127.0.0.1:7777/./callback",
  "http://127.0.0.1:7777/callback%2f..",
  "http://127.0.0.1.evil.example:7777/callback",
  "http://user@127.0.0.1:7777/callback",
  "https://127.0.0.1:7777/callback",
  "http://0.0.0.0:7777/callback",
  "javascript:alert(1)//callback",
  "\thttp://127.0.0.1:7777/callback",
])
  addPageRow(`redirect to ${redirect_uri.trim()}`, "400", { redirect_uri });
addRow("connecting: an unknown client", "400", () => call(buildAuthorizePath("dcr_bm9ib2R5.x"), { headers: session }));

const addDecisionRow = (name: string, expected: string, send: () => Promise<TestResponse>): void =>
  addRow(`decision: ${name}`, expected, send);
addDecisionRow("from another site", "403", () =>
  postDecision(sealed, "allow", { ...session, "sec-fetch-site": "cross-site", origin: "https://evil.example" }),
);
addDecisionRow("from a sister site", "403", () => postDecision(sealed, "allow", { ...session, "sec-fetch-site": "same-site" }));
addDecisionRow("without a session", "400", () => postDecision(sealed, "allow", { cookie: "" }));
addDecisionRow("with another person's session", "400", async () => postDecision(sealed, "allow", otherSession));
addDecisionRow("with a changed page token", "400", () => postDecision(`${sealed}A`, "allow", session));
addDecisionRow("with an unknown value", "403", () => postDecision(sealed, "grant", session));
addDecisionRow("with both values in one form", "403", () =>
  call("/oauth/authorize/decide", {
    ...buildForm({ request: sealed }, session),
    body: `request=${encodeURIComponent(sealed)}&decision=allow&decision=deny`,
  }),
);

const addExchangeRow = (
  name: string,
  expected: string,
  change: Record<string, string | null>,
  headers: Record<string, string> = {},
): void => addRow(`exchange: ${name}`, expected, () => exchangeCode(code, client, change, headers));
addExchangeRow("without a verifier", "400 invalid_request", { code_verifier: null });
addExchangeRow("with a short verifier", "400 invalid_grant", { code_verifier: "x" });
addExchangeRow("with another verifier", "400 invalid_grant", { code_verifier: `${verifier}x` });
addExchangeRow("with another port", "400 invalid_grant", { redirect_uri: loopback.replace("7777", "7778") });
addExchangeRow("without a redirect URI", "400 invalid_request", { redirect_uri: null });
addExchangeRow("by another client", "400 invalid_grant", { client_id: "https://claude.ai/oauth/mcp-oauth-client-metadata" });
addExchangeRow("by an unknown client", "401 invalid_client", { client_id: "dcr_bm9ib2R5.x" });
addExchangeRow("without a client", "400 invalid_request", { client_id: null });
addExchangeRow("with a wrong secret", "401 invalid_client", { client_secret: "x" });
addExchangeRow("with malformed Basic", "401 invalid_client", {}, { authorization: "Basic x" });
addExchangeRow("with a bearer token", "401 invalid_client", {}, { authorization: "Bearer x" });
addExchangeRow("with a password", "400 unsupported_grant_type", { grant_type: "password", username: "x", password: "x" });
addExchangeRow("with a refresh token", "400 unsupported_grant_type", { grant_type: "refresh_token", refresh_token: "x" });
addExchangeRow("for another resource", "400 invalid_target", { resource: "https://evil.example/" });
addExchangeRow("with an unknown code", "400 invalid_grant", { code: `oac_00${"A".repeat(43)}` });
addExchangeRow("with a code of a shard that does not exist", "400 invalid_grant", { code: `oac_zz${"A".repeat(43)}` });
addRow("exchange: as JSON", "400 invalid_request", () =>
  call("/oauth/token", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }),
);
addRow("exchange: too large", "400 invalid_request", () => call("/oauth/token", buildForm({ x: "x".repeat(9_000) })));
addRow("exchange: by GET", "405 method_not_allowed", () => call("/oauth/token"));

const addRegistrationRow = (name: string, expected: string, body: object): void =>
  addRow(`registering: ${name}`, expected, () => postRegistration(body));
for (const uri of [
  "https://evil.example/cb",
  "http://evil.example/cb",
  "https://claude.ai.evil.example/cb",
  "https://claude.ai:8443/cb",
  "https://user@claude.ai/cb",
  "cursor://evil/cb",
  "myapp://cb",
  "javascript:alert(1)",
  "data:text/html,x",
  "file:///etc/passwd",
])
  addRegistrationRow(uri, "400 invalid_redirect_uri", { redirect_uris: [uri] });
addRegistrationRow("a list", "400 invalid_client_metadata", []);
addRow("registering: no JSON", "400 invalid_client_metadata", () =>
  call("/oauth/register", { method: "POST", headers: { "content-type": "application/json" }, body: "{" }),
);
addRow("ending: no token", "400 invalid_request", () => call("/oauth/revoke", buildForm({ token_type_hint: "access_token" })));
addRow("ending: an unknown token", "200", () => call("/oauth/revoke", buildForm({ token: `pat_00${"A".repeat(43)}` })));
addRow("ending: an API key", "200", () => call("/oauth/revoke", buildForm({ token: world.acme.keys.live })));
addRow("ending: a code", "200", () => call("/oauth/revoke", buildForm({ token: code })));
addRow("ending: with a wrong link", "404", () => call(`/oauth/end/${consumer.id}?t=x`, buildForm({})));

describe("hostile requests", () => {
  test("include more than a hundred different requests", () => {
    expect(rows.length).toBeGreaterThan(250);
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  });

  test.each(rows)("$name: $expected", async ({ send, expected }) => {
    expect(describeOutcome(await send())).toBe(expected);
  });

  test("never return input or internal details", async () => {
    const marker = "zqmarkerqz";
    const sent = [
      buildMessage({ method: marker }),
      buildMessage({ jsonrpc: marker }),
      call1(marker),
      call1(`svc_${marker}`, { [marker]: marker }),
      call1("svc_get_audit", { [marker]: marker }),
      call1("svc_get_audit", { limit: marker }),
      call1("svc_list_events", { [marker]: 1 }),
      `{"${marker}"`,
      JSON.stringify([{ [marker]: marker }, { jsonrpc: "2.0", id: 1, method: marker }]),
    ];
    for (const body of sent) {
      const { text } = await postToAgentServer(body, buildBearerHeader(consumer.token), callUnlimited);
      expect(text).not.toContain(marker);
      expect(text).not.toMatch(/SELECT|SQLITE|at \w+ \(|\.ts:\d/);
    }
  });

  test("name the invalid argument and its rule in constant text", async () => {
    const readToolText = async (token: string, name: string, args: unknown) =>
      parseResult(await postToAgentServer(call1(name, args), buildBearerHeader(token), callUnlimited)).text;
    expect(await readToolText(consumer.token, "svc_get_audit", { limit: 101 })).toBe(
      "Argument limit must be a whole number from 1 to 100.",
    );
    expect(await readToolText(consumer.token, "svc_get_audit", { limit: "7" })).toBe(
      "Argument limit must be a whole number from 1 to 100.",
    );
    expect(await readToolText(consumer.token, "svc_get_audit", { other: 1 })).toBe(
      "This tool accepts only these arguments: limit, before_seq.",
    );
    expect(await readToolText(consumer.token, "svc_get_audit", [])).toBe("This tool accepts only these arguments: limit, before_seq.");
    expect(await readToolText(consumer.token, "svc_list_events", { cursor: -1 })).toBe("tool svc_list_events requires a business token");
    expect(await readToolText(business.token, "svc_create_share", {})).toBe(
      "Unknown tool. This token can use: svc_list_shares, svc_get_share, svc_get_audit, svc_list_events. Agents cannot agree to or renew a share; the person does that at http://svc.test/app/shares.",
    );
    const signedOutResponse = await callUnlimited("/app/shares", { redirect: "manual" });
    expect([signedOutResponse.status, signedOutResponse.headers.get("location")]).toEqual([303, "/app"]);
  });

  test("together change nothing but the audit history", async () => {
    await waitUntilSettled();
    const after = await readLastingTables();
    expect(Object.keys(after).filter((table) => after[table] !== before[table])).toEqual([]);
    const { results } = await env.DB.prepare("SELECT DISTINCT type FROM audit_entries WHERE ord > ?").bind(entriesBefore).all();
    expect(results).toEqual([{ type: "agent.called" }]);
  });

  test("leave the authorization page and the code usable", async () => {
    expect((await postDecision(sealed, "allow", session)).status).toBe(303);
    expect(describeOutcome(await exchangeCode(code, client))).toBe("200 ok");
  });
});
