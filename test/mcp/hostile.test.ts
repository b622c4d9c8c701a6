// Requests that mean harm, or nothing: each has one answer, and none of them changes anything but the audit history and the day a token
// was last used. Every class has something that works beside it, so that no row passes because nothing works at all.
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { bearer, mint, post, resultIn, type Minted } from "../support/agents.ts";
import { signIn } from "../support/people.ts";
import { settled } from "../support/settled.ts";
import { databaseContents, issue, serviceWith, world, worldInSecondHome, type Answer } from "../support/world.ts";

let consumer: Minted;
let business: Minted;
const gone: Record<string, string> = {};
let session = { cookie: "" };
let before: Record<string, string> = {};
let entriesBefore = 0;

/** More rows than a token may send in a minute. */
const ask = serviceWith({ LIMIT_AGENT_TOKEN: "10000/60" });

/** What a call may leave: its audit entry, and the day. */
const lasting = async (): Promise<Record<string, string>> => {
  const { audit_outbox: _, ...tables } = await databaseContents();
  const withoutDay = (rows: string) => JSON.stringify((JSON.parse(rows) as object[]).map((row) => ({ ...row, last_used_day: null })));
  return { ...tables, agent_tokens: withoutDay(tables.agent_tokens as string) };
};
const column = (id: string, set: string): Promise<unknown> => env.DB.prepare(`UPDATE agent_tokens SET ${set} WHERE id = ?`).bind(id).run();

beforeAll(async () => {
  await issue();
  consumer = await mint("consumer");
  business = await mint("business");
  const [revoked, expired, orphan, suspended] = [
    await mint("consumer"),
    await mint("consumer"),
    await mint("business", world.memberEmail),
    await mint("business", world.otherOwnerEmail),
  ];
  await column(revoked.id, "revoked_at = 1");
  await column(expired.id, "expires_at = 1");
  await column(orphan.id, "principal_id = 'mem_00nobody'");
  await env.DB.prepare("UPDATE businesses SET status = 'suspended' WHERE id = ?").bind(world.other.id).run();
  Object.assign(gone, { revoked: revoked.token, expired: expired.token, orphan: orphan.token, suspended: suspended.token });
  session = await signIn(world.consumerEmail, "consumer");
  await settled();
  before = await lasting();
  entriesBefore = (await env.DB.prepare("SELECT MAX(ord) AS n FROM audit_outbox").first<number>("n")) as number;
});

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const message = (change: object): string => JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", ...change });
const call1 = (name: unknown, args?: unknown): string =>
  message({ method: "tools/call", params: { name, ...(args !== undefined && { arguments: args }) } });
const bytes = (...values: number[]): Uint8Array => new Uint8Array(values);
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const nested = (levels: number): string => message({}).replace("}", `,"params":${'{"a":'.repeat(levels - 1)}1${"}".repeat(levels)}`);

/** `status code`, `status` where there is no body, or the text of a tool's failure. */
const outcomeOf = (answer: Answer): string => {
  const { status, body } = answer;
  if (Array.isArray(body)) return `${status} [${body.map(({ error }) => error?.code ?? "ok").join()}]`;
  if (body?.error !== undefined) return `${status} ${body.error.code}`;
  if (body?.result?.isError === true) return `${status} isError`;
  return body === null ? `${status}` : `${status} ok`;
};

interface Row {
  readonly name: string;
  readonly send: () => Promise<Answer>;
  readonly wanted: string;
}
const rows: Row[] = [];
const row = (name: string, wanted: string, send: () => Promise<Answer>): void => {
  rows.push({ name, wanted, send });
};
const asConsumer = (name: string, wanted: string, body: string | Uint8Array, headers: Record<string, string> = {}): void =>
  row(name, wanted, () => post(body, { ...bearer(consumer.token), ...headers }, ask));
const asBusiness = (name: string, wanted: string, body: string): void => row(name, wanted, () => post(body, bearer(business.token), ask));

// transport
for (const method of ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"])
  row(`method ${method}`, "405 -32600", () => ask("/mcp", { method, headers: bearer(consumer.token) }));
row("method HEAD", "405", () => ask("/mcp", { method: "HEAD", headers: bearer(consumer.token) }));
row("a stream is asked for", "405 -32600", () =>
  ask("/mcp", { headers: { ...bearer(consumer.token), accept: "text/event-stream", "last-event-id": "1" } }),
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
  asConsumer(`origin ${origin}`, "403 -32600", ping, { origin });
asConsumer("origin of our own", "200 ok", ping, { origin: "http://svc.test" });
asConsumer("accepts a stream alone", "200 ok", ping, { accept: "text/event-stream" });
asConsumer("a session that was never begun", "200 ok", ping, { "mcp-session-id": "00000000-0000-0000-0000-000000000000" });

// Authorization
const authorizations: Readonly<Record<string, () => string>> = {
  empty: () => "",
  "the scheme alone": () => "Bearer",
  "the scheme and a space": () => "Bearer ",
  "two spaces": () => `Bearer  ${consumer.token}`,
  "a tab": () => `Bearer\t${consumer.token}`,
  "the token alone": () => consumer.token,
  Basic: () => `Basic ${btoa(`${consumer.token}:`)}`,
  "joined with another": () => `Bearer ${consumer.token}, Bearer ${consumer.token}`,
  "joined with words": () => `Bearer ${consumer.token};x`,
  "one character more": () => `Bearer ${consumer.token}A`,
  "one character less": () => `Bearer ${consumer.token.slice(0, -1)}`,
  "in upper case": () => `Bearer ${consumer.token.toUpperCase()}`,
  "another home": () => `Bearer ${consumer.token.replace("pat_00", "pat_01")}`,
  "no home": () => `Bearer ${consumer.token.replace("pat_00", "pat_zz")}`,
  "an API key": () => `Bearer ${world.acme.keys.live}`,
  "a test key": () => `Bearer ${world.acme.keys.sandbox}`,
  "a key of another home": () => `Bearer ${worldInSecondHome.acme.keys.live}`,
  "an API key renamed": () => `Bearer ${world.acme.keys.live.replace("sk_live_", "pat_")}`,
  "the id of the token": () => `Bearer ${consumer.id}`,
  revoked: () => `Bearer ${gone.revoked}`,
  expired: () => `Bearer ${gone.expired}`,
  "of a member who is gone": () => `Bearer ${gone.orphan}`,
  "of a suspended business": () => `Bearer ${gone.suspended}`,
};
row("authorization: none", "401 -32001", () => post(ping));
for (const [name, authorization] of Object.entries(authorizations))
  row(`authorization: ${name}`, "401 -32001", () => post(ping, { authorization: authorization() }));
row("authorization: in the query", "401 -32001", () => ask(`/mcp?access_token=${consumer.token}`, { method: "POST", body: ping }));
row("authorization: in the body", "401 -32001", () => post(message({ access_token: consumer.token })));
row("authorization: in a cookie", "401 -32001", () =>
  post(ping, { cookie: `access_token=${consumer.token}; svc_session=${consumer.token}` }),
);
row("authorization: a session's cookie", "401 -32001", () => post(ping, session));
row("authorization: in another header", "401 -32001", () =>
  post(ping, { "x-api-key": consumer.token, "proxy-authorization": `Bearer ${consumer.token}` }),
);
row("authorization: in lower case", "200 ok", () => post(ping, { authorization: `bearer ${consumer.token}` }));

// body
const bodies: Readonly<Record<string, string | Uint8Array>> = {
  empty: "",
  null: "null",
  true: "true",
  "a text": '"x"',
  "a number": "7",
  half: "{",
  "a byte order mark": bytes(0xef, 0xbb, 0xbf, ...utf8(ping)),
  "bad UTF-8": bytes(...utf8('{"jsonrpc":"2.0","id":"'), 0xff, ...utf8('","method":"ping"}')),
  "half a surrogate pair": '{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
  "a key twice": '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}',
  "nested 33 deep": nested(33),
  "UTF-16": new Uint8Array(new Uint16Array([...ping].map((c) => c.charCodeAt(0))).buffer),
  "a number past every number": '{"jsonrpc":"2.0","id":1e400,"method":"ping"}',
  "a form": "jsonrpc=2.0&id=1&method=ping",
  "two in a row": `${ping}\n${ping}`,
};
for (const [name, body] of Object.entries(bodies)) asConsumer(`body: ${name}`, "400 -32600", body);
asConsumer("body: over 256 KiB", "413 -32600", `${ping}${" ".repeat(256 * 1_024)}`);
asConsumer("body: encoded", "400 -32600", ping, { "content-encoding": "gzip" });
asConsumer("body: nested 32 deep", "200 ok", nested(32));

// shape
const shapes: Readonly<Record<string, object>> = {
  "no version": { jsonrpc: undefined },
  "version 1.0": { jsonrpc: "1.0" },
  "version 2": { jsonrpc: 2 },
  "version with a space": { jsonrpc: "2.0 " },
  "no method": { method: undefined },
  "a number for a method": { method: 7 },
  "null for a method": { method: null },
  "an empty method": { method: "" },
  "a text for params": { params: "x" },
  "null for params": { params: null },
  "null for an id": { id: null },
  "an object for an id": { id: {} },
  "true for an id": { id: true },
  "an answer": { method: undefined, result: {} },
  "an error": { method: undefined, error: { code: 1, message: "x" } },
};
for (const [name, change] of Object.entries(shapes)) asConsumer(`shape: ${name}`, "400 -32600", message(change));
for (const id of [0, -1, 1.5, "", "é", "x".repeat(10_000)]) asConsumer(`id ${String(id).slice(0, 5)}`, "200 ok", message({ id }));

// batches
asConsumer("batch: empty", "400 -32600", "[]");
asConsumer("batch: of a number", "400 [-32600]", "[1]");
asConsumer("batch: of 21", "400 -32600", JSON.stringify(Array(21).fill(JSON.parse(ping))));
asConsumer("batch: in a batch", "400 [-32600]", `[[${ping}]]`);
asConsumer("batch: one bad of three", "200 [ok,-32600,ok]", `[${ping},{"jsonrpc":"2.0","id":2},${ping}]`);
asConsumer("batch: a beginning inside", "200 [-32600,ok]", `[${message({ method: "initialize" })},${ping}]`);
asConsumer("batch: notifications alone", "202", `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`);
asConsumer("batch: two equal ids", "200 [ok,ok]", `[${ping},${ping}]`);

// methods
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
  asConsumer(`method ${method}`, "200 -32601", message({ method }));
asConsumer("a notification of a tool's call", "202", message({ id: undefined, method: "tools/call", params: { name: "svc_get_audit" } }));

// names and realms
for (const name of [7, null, undefined, ["svc_get_audit"], { name: "svc_get_audit" }, true])
  asConsumer(`name ${JSON.stringify(name)}`, "200 -32602", call1(name));
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
  asConsumer(`name ${name.slice(0, 24)}`, "200 isError", call1(name));
asConsumer("a business's tool for a consumer", "200 isError", call1("svc_list_events"));
for (const name of ["svc_revoke_share", "svc_update_field"]) asBusiness(`a consumer's ${name} for a business`, "200 isError", call1(name));
asConsumer("a consumer's own tool", "200 ok", call1("svc_get_audit"));

// arguments
const badArguments: readonly unknown[] = [
  null,
  [],
  "x",
  7,
  true,
  { limit: "1" },
  { limit: 0 },
  { limit: 101 },
  { limit: 1.5 },
  { limit: null },
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
for (const args of badArguments) asConsumer(`arguments ${JSON.stringify(args)}`, "200 isError", call1("svc_get_audit", args));
asConsumer(
  "arguments with __proto__",
  "200 isError",
  call1("svc_get_audit").replace('"name"', '"arguments":{"__proto__":{"limit":1}},"name"'),
);
asConsumer(
  "arguments with a number past every number",
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
  asBusiness(`events with ${JSON.stringify(args)}`, "200 isError", call1("svc_list_events", args));
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
    asConsumer(`${name} with ${JSON.stringify(args).slice(0, 60)}`, "200 isError", call1(name, args));
for (const args of [
  { status: "granted" },
  { status: "" },
  { limit: 201 },
  { limit: "50" },
  { starting_after: "x" },
  { consumer_id: "con_00" },
])
  asConsumer(`shares with ${JSON.stringify(args)}`, "200 isError", call1("svc_list_shares", args));
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
  asConsumer(`a field with ${JSON.stringify(args).slice(0, 60)}`, "200 isError", call1("svc_update_field", args));
asConsumer("shares with no arguments", "200 ok", call1("svc_list_shares"));
asBusiness("events past the newest", "200 ok", call1("svc_list_events", { cursor: 2 ** 53 - 1 }));
asBusiness("events with no arguments", "200 ok", call1("svc_list_events"));

describe("hostile requests", () => {
  test("are more than a hundred, and no two are the same", () => {
    expect(rows.length).toBeGreaterThan(150);
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  });

  test.each(rows)("$name: $wanted", async ({ send, wanted }) => {
    expect(outcomeOf(await send())).toBe(wanted);
  });

  test("say nothing back of what was sent, nor of what lies behind", async () => {
    const marker = "zqmarkerqz";
    const sent = [
      message({ method: marker }),
      message({ jsonrpc: marker }),
      call1(marker),
      call1(`svc_${marker}`, { [marker]: marker }),
      call1("svc_get_audit", { [marker]: marker }),
      call1("svc_get_audit", { limit: marker }),
      call1("svc_list_events", { [marker]: 1 }),
      `{"${marker}"`,
      JSON.stringify([{ [marker]: marker }, { jsonrpc: "2.0", id: 1, method: marker }]),
    ];
    for (const body of sent) {
      const { text } = await post(body, bearer(consumer.token), ask);
      expect(text).not.toContain(marker);
      expect(text).not.toMatch(/SELECT|SQLITE|at \w+ \(|\.ts:\d/);
    }
  });

  test("are told by name what is wrong with an argument, in words that never change", async () => {
    const said = async (token: string, name: string, args: unknown) => resultIn(await post(call1(name, args), bearer(token), ask)).text;
    expect(await said(consumer.token, "svc_get_audit", { limit: 101 })).toBe("argument limit must be a whole number from 1 to 100");
    expect(await said(consumer.token, "svc_get_audit", { limit: "7" })).toBe("argument limit must be a whole number from 1 to 100");
    expect(await said(consumer.token, "svc_get_audit", { other: 1 })).toBe("arguments this tool takes: limit, before_seq");
    expect(await said(consumer.token, "svc_get_audit", [])).toBe("arguments this tool takes: limit, before_seq");
    expect(await said(consumer.token, "svc_list_events", { cursor: -1 })).toBe("tool svc_list_events requires a business token");
    expect(await said(business.token, "svc_create_share", {})).toBe(
      "no such tool; this token has: svc_list_shares, svc_get_share, svc_get_audit, svc_list_events. Agents cannot agree to or renew a share; the person does that at http://svc.test/app/shares",
    );
    const there = await ask("/app/shares", { redirect: "manual" });
    expect([there.status, there.headers.get("location")]).toEqual([303, "/app"]);
  });

  test("all of them together changed nothing but the audit history", async () => {
    await settled();
    const after = await lasting();
    expect(Object.keys(after).filter((table) => after[table] !== before[table])).toEqual([]);
    const { results } = await env.DB.prepare("SELECT DISTINCT type FROM audit_outbox WHERE ord > ?").bind(entriesBefore).all();
    expect(results).toEqual([{ type: "agent.called" }]);
  });
});
