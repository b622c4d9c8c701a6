// Tests webhook endpoints as members manage them: permissions, allowed addresses, secrets and audit entries.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { getEventSequenceName } from "../../core/events/event-sequence-name.ts";
import { standardEventTypes } from "../../core/events/event.ts";
import { verifySignature } from "../../core/webhooks/verify-signature.ts";
import { getExampleOwnerEmail } from "../../scripts/demo-world.ts";
import { commitEvents, farAhead, deliveryQueues, eventSequences, mockReceivers, runAlarm, type ReceivedPost } from "../support/events.ts";
import { openExchange } from "../../storage/webhook-exchanges.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { signIn } from "../support/people.ts";
import { createPersonEmail, grantShare, signInPerson, type SignedPerson } from "../support/sharing.ts";
import { call, readDatabaseContents, createServiceCall, world, type TestResponse, type Call } from "../support/world.ts";

const hook = "https://hook1.merchant-tests.com/in";
const { ownerEmail, memberEmail, consumerEmail, otherOwnerEmail } = world;
const hour = 3_600_000;

type Method = "GET" | "POST" | "PATCH" | "DELETE";
interface Person {
  readonly cookie: string;
}
/** Each test starts days after the previous one, so the limits that earlier tests used up have been reset. */
let start = farAhead;
let owner: Person;
let member: Person;
let posts: ReceivedPost[] = [];
let receiverStatus = 200;
let addresses: (name: string) => readonly string[] | Response;

beforeEach(async () => {
  start += 48 * hour;
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(start);
  receiverStatus = 200;
  addresses = () => ["93.184.216.34"];
  posts = mockReceivers(
    () => new Response("the receiver's own words", { status: receiverStatus }),
    (name) => addresses(name),
  );
  await env.DB.batch([
    env.DB.prepare("DELETE FROM audit_entries WHERE entity_type = 'webhook'"),
    env.DB.prepare("DELETE FROM idempotent_responses"),
    env.DB.prepare("UPDATE businesses SET status = 'active' WHERE id = ?").bind(world.acme.id),
  ]);
  for (const business of [world.acme.id, world.other.id])
    for (const name of [business, getEventSequenceName(business, "sandbox")])
      for (const { endpoint } of await eventSequences.getByName(name).listEndpoints())
        await eventSequences.getByName(name).removeEndpoint(endpoint.id);
  owner = await signIn(ownerEmail);
  member = await signIn(memberEmail);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body?.error?.code ?? "ok"}`;
const callWebhooks = (
  person: Person | null,
  method: Method,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  service: Call = call,
) =>
  service(`/v1/webhooks${path}`, {
    method,
    headers: {
      ...(person !== null && { cookie: person.cookie }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
const create = (body: unknown = { url: hook }, headers: Record<string, string> = {}): Promise<TestResponse> =>
  callWebhooks(owner, "POST", "", body, headers);
const createWebhook = async (body: unknown = { url: hook }): Promise<{ readonly id: string; readonly secret: string }> => {
  const response = await create(body);
  if (response.status !== 201) throw new Error(`not created: ${response.text}`);
  return response.body.data;
};
const list = async (person: Person = owner): Promise<Record<string, unknown>[]> =>
  (await callWebhooks(person, "GET", "")).body.data.webhooks;
const listEntryTypes = async (): Promise<string[]> =>
  (await env.DB.prepare("SELECT type FROM audit_entries WHERE entity_type = 'webhook' ORDER BY ord").all<{ type: string }>()).results.map(
    ({ type }) => type,
  );
/** Commits an event and runs the first delivery attempt. Returns the delivery's ID. */
const createDelivery = async (id: string): Promise<string> => {
  await commitEvents(world.acme.id, 1);
  await eventSequences.getByName(world.acme.id).drain();
  await runAlarm(deliveryQueues.getByName(id));
  return (await callWebhooks(owner, "GET", `/${id}/deliveries`)).body.data.deliveries[0].id;
};

describe("POST /v1/webhooks", () => {
  test("creates an endpoint and returns its secret, which no list shows again", async () => {
    const response = await create({ url: hook, description: " CRM " });
    expect(response.status).toBe(201);
    const { id, secret, created_at, ...rest } = response.body.data;
    expect(id).toMatch(/^whk_00[0-9a-hjkmnp-tv-z]{24}$/);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(created_at).toBe(new Date(start).toISOString());
    expect(rest).toEqual({ url: hook, events: [...standardEventTypes], description: "CRM", environment: "live", status: "enabled" });
    const read = await callWebhooks(member, "GET", "");
    expect(read.body.data.webhooks).toEqual([
      {
        id,
        ...rest,
        secret_hint: `whsec_…${secret.slice(-4)}`,
        created_at,
        last_delivery_at: null,
        last_response_status: null,
        consecutive_failures: 0,
        failing_since: null,
        backlog: 0,
        oldest_pending_at: null,
      },
    ]);
    expect(read.text).not.toContain(secret);
    expect(JSON.stringify(await readDatabaseContents())).not.toContain(secret);
  });

  test("stores the named event types once each and in order, with certificate.issued only if named", async () => {
    const response = await create({ url: hook, events: ["certificate.revoked", "share.created", "certificate.issued", "share.created"] });
    expect(response.body.data.events).toEqual(["share.created", "certificate.revoked", "certificate.issued"]);
    for (const events of [undefined, null])
      expect((await create({ url: `${hook}?all=${events}`, events })).body.data.events).toEqual([...standardEventTypes]);
  });

  const bad: readonly (readonly [string, unknown])[] = [
    ["an empty body", {}],
    ["a list", []],
    ["a string", "x"],
    ["no address", { events: ["share.created"] }],
    ["an address that is a number", { url: 7 }],
    ["a type that does not exist", { url: hook, events: ["share.made"] }],
    ["test.ping as a type", { url: hook, events: ["test.ping"] }],
    ["no types at all", { url: hook, events: [] }],
    ["types that are not a list", { url: hook, events: "share.created" }],
    ["a type that is not a string", { url: hook, events: [1] }],
    ["a long description", { url: hook, description: "x".repeat(201) }],
    ["a description with a control character", { url: hook, description: "a\u0000b" }],
    ["an unknown member", { url: hook, event: ["share.created"] }],
    ["a status", { url: hook, status: "disabled" }],
    ["a secret", { url: hook, secret: "whsec_mine" }],
    ["another business", { url: hook, business_id: world.other.id }],
  ];
  test("returns 400 invalid_request for missing, invalid or unknown members", async () => {
    for (const [name, body] of bad) expect(describeOutcome(await create(body)), name).toBe("400 invalid_request");
    expect(await list()).toEqual([]);
    expect(await listEntryTypes()).toEqual([]);
  });

  const urls = [
    "http://hook1.merchant-tests.com/in",
    "https://127.0.0.1/in",
    "https://2130706433/",
    "https://[::1]/",
    "https://localhost/in",
    "https://hook.localhost/",
    "https://receiver/",
    "https://receiver.internal/",
    "https://receiver.local/",
    "https://receiver.lan/",
    "https://receiver.intranet/",
    "https://receiver.corp/",
    "https://receiver.home.arpa/",
    "https://169.254.169.254/latest/meta-data/",
    "https://metadata.google.internal/",
    "https://user:password@hook1.merchant-tests.com/",
    "https://hook1.merchant-tests.com/#x",
    "https://hook1.merchant-tests.com./",
    "https://hook1.merchant-tests.com:8080/",
    "https://hook1.merchant-tests.com:22/",
    `https://hook1.merchant-tests.com/${"x".repeat(2_048)}`,
    "https:hook1.merchant-tests.com",
    "ftp://hook1.merchant-tests.com/",
    "https://hook1.merchant\u2060-tests.com/",
    "https://svc.test/v1/webhooks",
    "javascript:alert(1)",
    "",
  ];
  test("returns 400 invalid_webhook_url for a URL that cannot be a public receiver", async () => {
    for (const url of urls) expect(describeOutcome(await create({ url })), url).toBe("400 invalid_webhook_url");
    expect(await list()).toEqual([]);
  });

  test.each([
    ["http://hook1.merchant-tests.com/", "url: must start with https://."],
    ["https://user:password@hook1.merchant-tests.com/", "url: must not contain a username or password."],
    ["https://hook1.merchant-tests.com/#x", "url: must not contain a fragment (#)."],
    ["https://127.0.0.1/", "url: must contain a host name, not an IP address."],
    ["https://hook1.merchant-tests.com:8080/", "url: must use port 443 or 8443."],
    ["https://receiver/", "url: must have a public host name, such as hooks.acme.com."],
    ["https://receiver.local/", "url: must not have an internal or reserved host, such as localhost or a name that ends with .local."],
    [
      "https://hook1.merchant-tests.com/a\\b",
      "url: must be one URL of at most 2,048 characters, with spaces and other special characters encoded.",
    ],
  ])("names the rule that %s breaks", async (url, message) => {
    expect((await create({ url })).body.error).toEqual({ code: "invalid_webhook_url", message });
  });

  test.each([
    "https://bücher-tests.com/in",
    "https://hook1.merchant-tests.com/größe",
    " https://hook1.merchant-tests.com/in ",
    "https://hook1.merchant-tests.com/a b",
    "https://hook1.merchant-tests.com/{tenant}/in",
    "https://hook1.merchant-tests.com/in?tags=a|b",
    "https://hook_1.merchant-tests.com/in",
  ])("refuses %j instead of rewriting it, in changes too", async (url) => {
    const { id } = await createWebhook();
    expect(describeOutcome(await create({ url }))).toBe("400 invalid_webhook_url");
    expect(describeOutcome(await callWebhooks(owner, "PATCH", `/${id}`, { url }))).toBe("400 invalid_webhook_url");
    expect((await list()).map((endpoint) => endpoint.url)).toEqual([hook]);
  });

  test("returns 400 invalid_webhook_url if a resolver returns an address that is not public, in changes too", async () => {
    const { id } = await createWebhook();
    for (const address of ["10.0.0.7", "127.0.0.1", "169.254.169.254", "192.168.1.1"]) {
      addresses = (name) => [name.startsWith("inside") ? address : "93.184.216.34"];
      const url = "https://inside.merchant-tests.com/";
      expect(describeOutcome(await create({ url })), address).toBe("400 invalid_webhook_url");
      expect(describeOutcome(await callWebhooks(owner, "PATCH", `/${id}`, { url })), address).toBe("400 invalid_webhook_url");
    }
    expect((await list()).map(({ url }) => url)).toEqual([hook]);
  });

  test("accepts a host that has no address yet, or for which no resolver answers, because each delivery attempt resolves it again", async () => {
    addresses = () => [];
    expect((await create({ url: "https://later.merchant-tests.com/" })).status).toBe(201);
    addresses = () => new Response(null, { status: 500 });
    expect((await create({ url: "https://silent.merchant-tests.com:8443/in?x=1" })).status).toBe(201);
  });

  test("returns 409 webhook_limit past twenty endpoints, however many are requested at the same time", async () => {
    const outcomes = (await Promise.all(Array.from({ length: 30 }, (_, tenant) => create({ url: `${hook}?tenant=${tenant}` })))).map(
      describeOutcome,
    );
    expect(outcomes.filter((one) => one === "201 ok").length).toBe(20);
    expect(outcomes.filter((one) => one === "409 webhook_limit").length).toBe(10);
    expect((await list()).length).toBe(20);
    expect((await listEntryTypes()).length).toBe(20);
  });

  test("returns 409 webhook_exists for a URL that the business has already registered, however it is written", async () => {
    await createWebhook({ url: "https://hook1.merchant-tests.com/a/in?x=1" });
    for (const url of [
      "https://hook1.merchant-tests.com/a/in?x=1",
      "https://HOOK1.merchant-tests.com/a/in?x=1",
      "https://hook1.merchant-tests.com:443/a/in?x=1",
      "https://hook1.merchant-tests.com/a/./b/../in?x=1",
    ])
      expect(describeOutcome(await create({ url })), url).toBe("409 webhook_exists");
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => create()));
    expect(outcomes.filter(({ status }) => status === 201).length).toBe(1);
    expect((await list()).length).toBe(2);
    expect(await listEntryTypes()).toEqual(["webhook.created", "webhook.created"]);
  });

  test("accepts a registered URL for another business, for the sandbox, and after its endpoint is deleted", async () => {
    const { id } = await createWebhook();
    expect((await create({ url: hook, environment: "sandbox" })).status).toBe(201);
    expect(describeOutcome(await create({ url: hook, environment: "sandbox" }))).toBe("409 webhook_exists");
    const other = await signIn(otherOwnerEmail);
    expect((await callWebhooks(other, "POST", "", { url: hook })).status).toBe(201);
    expect((await callWebhooks(owner, "DELETE", `/${id}`)).status).toBe(200);
    expect((await create()).status).toBe(201);
  });

  test("creates one endpoint per idempotency key, and returns the same response", async () => {
    const key = { "idempotency-key": "crm-1" };
    const [first, second] = [await create({ url: hook }, key), await create({ url: hook }, key)];
    expect([second.status, second.headers.get("idempotency-replayed"), second.body.data]).toEqual([201, "true", first.body.data]);
    expect(first.headers.has("idempotency-replayed")).toBe(false);
    expect(describeOutcome(await create({ url: hook, description: "another" }, key))).toBe("409 idempotency_conflict");
    expect(describeOutcome(await create({ url: hook }, { "idempotency-key": "not a key" }))).toBe("400 invalid_request");
    expect((await list()).length).toBe(1);
    const other = await signIn(otherOwnerEmail);
    expect((await callWebhooks(other, "POST", "", { url: hook }, key)).body.data.id).not.toBe(first.body.data.id);
    expect(JSON.stringify(await readDatabaseContents())).not.toContain(first.body.data.secret);
  });

  test("creates one endpoint for concurrent requests with one idempotency key", async () => {
    const responses = await Promise.all(Array.from({ length: 10 }, () => create({ url: hook }, { "idempotency-key": "crm-2" })));
    expect(new Set(responses.map(({ body }) => body.data?.id)).size).toBe(1);
    expect((await list()).length).toBe(1);
  });

  test("undoes the creation if its audit entry cannot be written", async () => {
    await env.DB.prepare("CREATE TRIGGER no_audit BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'injected'); END").run();
    try {
      expect(describeOutcome(await create())).toBe("503 storage_unavailable");
      expect(await list()).toEqual([]);
    } finally {
      await env.DB.prepare("DROP TRIGGER no_audit").run();
    }
  });

  /**
   * The service with a database that commits the next change with an audit entry but loses the response. With `isAwayAfter`, later reads
   * also fail.
   */
  const callLosingResponse = (isAwayAfter: boolean): Call => {
    let isLost = false;
    const rejectQuery = (): Promise<never> => Promise.reject(new Error("D1_ERROR: Network connection lost."));
    const DB = new Proxy(env.DB, {
      get: (db, name) => {
        if (name === "batch" && !isLost)
          return async (statements: D1PreparedStatement[]) => {
            const before = (await listEntryTypes()).length;
            const results = await db.batch(statements);
            if ((await listEntryTypes()).length === before) return results;
            isLost = true;
            return rejectQuery();
          };
        if (name === "withSession" && isLost && isAwayAfter) throw new Error("D1_ERROR: Network connection lost.");
        const value = Reflect.get(db, name) as unknown;
        return typeof value === "function" ? (value.bind(db) as unknown) : value;
      },
    });
    return createServiceCall({ DB });
  };

  test("keeps the endpoint and its response if the audit entry was committed but the database's response was lost", async () => {
    const key = { "idempotency-key": "crm-lost" };
    const first = await callWebhooks(owner, "POST", "", { url: hook }, key, callLosingResponse(false));
    expect(describeOutcome(first)).toBe("201 ok");
    expect((await list()).map(({ id }) => id)).toEqual([first.body.data.id]);
    const repeated = await create({ url: hook }, key);
    expect([repeated.status, repeated.body.data]).toEqual([201, first.body.data]);
    expect(await listEntryTypes()).toEqual(["webhook.created"]);
  });

  test("keeps the endpoint if it is unknown whether the audit entry was committed, and a repeat returns an existing one", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const key = { "idempotency-key": "crm-away" };
    expect(describeOutcome(await callWebhooks(owner, "POST", "", { url: hook }, key, callLosingResponse(true)))).toBe(
      "503 storage_unavailable",
    );
    const repeated = await create({ url: hook }, key);
    expect(repeated.status).toBe(201);
    expect((await list()).map(({ id }) => id)).toContain(repeated.body.data.id);
  });
});

describe("PATCH /v1/webhooks/{webhook_id}", () => {
  test("changes the given members and keeps the others", async () => {
    const { id } = await createWebhook({ url: hook, events: ["share.created"], description: "CRM" });
    const before = (await list())[0];
    const url = "https://hook2.merchant-tests.com/in";
    expect((await callWebhooks(owner, "PATCH", `/${id}`, { url })).body.data).toEqual({ ...before, url });
    expect((await callWebhooks(owner, "PATCH", `/${id}`, { events: null, description: null, later: 1 })).body.data).toEqual({
      ...before,
      url,
      events: [...standardEventTypes],
      description: null,
    });
    const { body } = await callWebhooks(owner, "PATCH", `/${id}`, { status: "disabled", events: ["share.revoked"] });
    expect(body.data).toMatchObject({ status: "disabled", events: ["share.revoked"] });
    expect((await list())[0]).toEqual(body.data);
  });

  test("changes nothing and records nothing without a member to change", async () => {
    const { id } = await createWebhook();
    const before = (await list())[0];
    expect((await callWebhooks(owner, "PATCH", `/${id}`, {})).body.data).toEqual(before);
    expect(await listEntryTypes()).toEqual(["webhook.created"]);
  });

  test("returns 409 webhook_exists for the URL of another endpoint and records nothing, but accepts an endpoint's own URL", async () => {
    const { id } = await createWebhook();
    const url = "https://hook2.merchant-tests.com/in";
    await createWebhook({ url });
    const before = await list();
    for (const status of ["enabled", "disabled"])
      expect(describeOutcome(await callWebhooks(owner, "PATCH", `/${id}`, { url, status }))).toBe("409 webhook_exists");
    expect(await list()).toEqual(before);
    expect(await listEntryTypes()).toEqual(["webhook.created", "webhook.created"]);
    expect((await callWebhooks(owner, "PATCH", `/${id}`, { url: hook, status: "disabled" })).status).toBe(200);
  });

  test("returns 400 for invalid values and changes nothing", async () => {
    const { id } = await createWebhook();
    const before = await list();
    const refused: readonly (readonly [unknown, string])[] = [
      [{ status: "paused" }, "invalid_request"],
      [{ events: [] }, "invalid_request"],
      [{ events: ["x"] }, "invalid_request"],
      [{ description: "x".repeat(201) }, "invalid_request"],
      [{ url: 1 }, "invalid_request"],
      [[], "invalid_request"],
      [{ url: "https://10.0.0.1/" }, "invalid_webhook_url"],
      [{ url: "" }, "invalid_webhook_url"],
    ];
    for (const [body, code] of refused)
      expect(describeOutcome(await callWebhooks(owner, "PATCH", `/${id}`, body)), JSON.stringify(body)).toBe(`400 ${code}`);
    expect(await list()).toEqual(before);
    expect(await listEntryTypes()).toEqual(["webhook.created"]);
  });
});

describe("the secret of an endpoint", () => {
  test("is shown to an owner, after the request is recorded", async () => {
    const { id, secret } = await createWebhook();
    expect((await callWebhooks(owner, "GET", `/${id}/secret`)).body.data).toEqual({ id, secret });
    expect(await listEntryTypes()).toEqual(["webhook.created", "webhook.secret_revealed"]);
    await env.DB.prepare("CREATE TRIGGER no_audit BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'injected'); END").run();
    try {
      const response = await callWebhooks(owner, "GET", `/${id}/secret`);
      expect(describeOutcome(response)).toBe("503 storage_unavailable");
      expect(response.text).not.toContain(secret);
    } finally {
      await env.DB.prepare("DROP TRIGGER no_audit").run();
    }
  });

  test("is replaced by rotation, and the previous one also signs for exactly one day", async () => {
    const { id, secret } = await createWebhook();
    const rotated = (await callWebhooks(owner, "POST", `/${id}/rotate-secret`)).body.data;
    expect(rotated).toEqual({
      id,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      previous_secret_until: new Date(start + 24 * hour).toISOString(),
    });
    expect(rotated.secret).not.toBe(secret);
    expect((await callWebhooks(owner, "GET", `/${id}/secret`)).body.data.secret).toBe(rotated.secret);
    expect((await list())[0]?.secret_hint).toBe(`whsec_…${rotated.secret.slice(-4)}`);
    const verifyBothSecrets = async (): Promise<boolean[]> => {
      posts.length = 0;
      await callWebhooks(await signIn(ownerEmail), "POST", `/${id}/test`);
      const [{ body, headers }] = posts as [ReceivedPost];
      const header = headers.get("svc-signature") as string;
      const now = Math.floor(Date.now() / 1_000);
      return Promise.all([rotated.secret, secret].map((one) => verifySignature(body, header, one, now)));
    };
    expect(await verifyBothSecrets()).toEqual([true, true]);
    vi.setSystemTime(start + 24 * hour - 1);
    expect(await verifyBothSecrets()).toEqual([true, true]);
    vi.setSystemTime(start + 24 * hour);
    expect(await verifyBothSecrets()).toEqual([true, false]);
  });
});

describe("POST /v1/webhooks/{webhook_id}/test", () => {
  test("sends a signed ping immediately, returns the result, and stores nothing", async () => {
    const { id, secret } = await createWebhook();
    const before = await readDatabaseContents();
    const response = await callWebhooks(member, "POST", `/${id}/test`);
    expect(response.body.data).toEqual({ delivered: true, response_status: 200, duration_ms: expect.any(Number) });
    const [post] = posts as [ReceivedPost];
    expect(post.url).toBe(hook);
    expect(JSON.parse(post.body)).toMatchObject({ type: "test.ping", seq: 0, share_id: null, cert_id: null, data: null });
    expect(await verifySignature(post.body, post.headers.get("svc-signature") as string, secret, Math.floor(Date.now() / 1_000))).toBe(
      true,
    );
    const { sessions: _sessions, ...after } = await readDatabaseContents();
    const { sessions: _before, ...untouched } = before;
    expect(after).toEqual(untouched);
    expect((await callWebhooks(member, "GET", `/${id}/deliveries`)).body.data).toEqual({ deliveries: [], has_more: false });
  });

  test("returns the receiver's status without its body", async () => {
    const { id } = await createWebhook();
    receiverStatus = 503;
    const response = await callWebhooks(owner, "POST", `/${id}/test`);
    expect(response.body.data).toMatchObject({ delivered: false, response_status: 503 });
    expect(response.text).not.toContain("own words");
    vi.spyOn(globalThis, "fetch").mockImplementation(() => Promise.reject(new TypeError("no route")));
    expect((await callWebhooks(owner, "POST", `/${id}/test`)).body.data).toMatchObject({ delivered: false, response_status: 0 });
  });
});

describe("GET /v1/webhooks/{webhook_id}/deliveries", () => {
  test("lists deliveries newest first, page by page", async () => {
    const { id } = await createWebhook();
    const ids: string[] = [];
    for (let sent = 0; sent < 5; sent += 1) {
      vi.setSystemTime(start + sent * 1_000);
      ids.unshift(await createDelivery(id));
    }
    const [newest] = (await callWebhooks(member, "GET", `/${id}/deliveries`)).body.data.deliveries;
    expect(newest).toEqual({
      id: ids[0],
      webhook_id: id,
      event_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      event_type: "certificate.revoked",
      status: "success",
      attempt: 1,
      response_status: 200,
      error: null,
      duration_ms: expect.any(Number),
      next_attempt_at: null,
      delivered_at: expect.stringMatching(/Z$/),
      created_at: expect.stringMatching(/Z$/),
    });
    const pages: string[][] = [];
    for (let before: string | undefined, more = true; more; ) {
      const { data } = (await callWebhooks(member, "GET", `/${id}/deliveries?limit=2${before === undefined ? "" : `&before=${before}`}`))
        .body;
      pages.push(data.deliveries.map((delivery: { id: string }) => delivery.id));
      before = pages.at(-1)?.at(-1);
      more = data.has_more;
    }
    expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    expect((await callWebhooks(member, "GET", `/${id}/deliveries?limit=1000000`)).body.data.deliveries.length).toBe(5);
    for (const query of ["limit=0", "limit=-1", "limit=1.5", "limit=x", "limit=", "limit=1&limit=2", "before=dlv_none", "before="])
      expect(describeOutcome(await callWebhooks(member, "GET", `/${id}/deliveries?${query}`)), query).toBe("400 invalid_request");
  });

  test("shows why a delivery failed, and counts the failure in the endpoint's state", async () => {
    const { id } = await createWebhook();
    receiverStatus = 500;
    await createDelivery(id);
    const { data } = (await callWebhooks(owner, "GET", `/${id}/deliveries`)).body;
    expect(data.deliveries[0]).toMatchObject({ status: "retrying", attempt: 1, response_status: 500, error: "http", delivered_at: null });
    expect(Date.parse(data.deliveries[0].next_attempt_at)).toBeGreaterThanOrEqual(start + 60_000);
    expect((await list())[0]).toMatchObject({
      last_response_status: 500,
      consecutive_failures: 1,
      backlog: 1,
      failing_since: expect.any(String),
    });
    receiverStatus = 200;
    const replayed = await callWebhooks(member, "POST", `/deliveries/${data.deliveries[0].id}/replay`);
    expect(replayed.body.data).toEqual({
      delivered: true,
      response_status: 200,
      duration_ms: expect.any(Number),
      delivery: expect.objectContaining({ id: data.deliveries[0].id, status: "success", attempt: 1, response_status: 200, error: null }),
    });
    expect(await listEntryTypes()).toEqual(["webhook.created"]);
  });
});

describe("DELETE /v1/webhooks/{webhook_id}", () => {
  test("deletes the endpoint with its deliveries", async () => {
    const { id } = await createWebhook();
    const delivery = await createDelivery(id);
    expect((await callWebhooks(owner, "DELETE", `/${id}`)).body.data).toEqual({ deleted: true, id });
    expect(await list()).toEqual([]);
    for (const [method, path] of [
      ["DELETE", `/${id}`],
      ["GET", `/${id}/secret`],
      ["GET", `/${id}/deliveries`],
      ["POST", `/${id}/test`],
      ["POST", `/deliveries/${delivery}/replay`],
    ] as const)
      expect(describeOutcome(await callWebhooks(owner, method, path)), path).toBe("404 not_found");
    expect(await listEntryTypes()).toEqual(["webhook.created", "webhook.deleted"]);
  });

  test("records one deletion when two requests delete the same endpoint at the same time", async () => {
    const { id } = await createWebhook();
    await Promise.all([callWebhooks(owner, "DELETE", `/${id}`), callWebhooks(owner, "DELETE", `/${id}`)]);
    expect(await listEntryTypes()).toEqual(["webhook.created", "webhook.deleted"]);
  });
});

/** Every webhook route, with a valid body if it needs one. */
const routes: readonly (readonly [name: string, method: Method, path: string, body?: unknown])[] = [
  ["list", "GET", ""],
  ["create", "POST", "", { url: `${hook}?second` }],
  ["change", "PATCH", "/{webhook}", { description: "x" }],
  ["secret", "GET", "/{webhook}/secret"],
  ["rotate", "POST", "/{webhook}/rotate-secret"],
  ["test", "POST", "/{webhook}/test"],
  ["deliveries", "GET", "/{webhook}/deliveries"],
  ["replay", "POST", "/deliveries/{delivery}/replay"],
  ["recover", "POST", "/{webhook}/recover", { since: "2026-01-01T00:00:00Z" }],
  ["delete", "DELETE", "/{webhook}"],
];
const ownerRoutes: readonly string[] = ["create", "change", "secret", "rotate", "delete"];
const recordRoutes = routes.filter(([, , path]) => path !== "");
const callRoutes = async (
  testedRoutes: readonly (typeof routes)[number][],
  person: Person | null,
  records: { readonly webhook: string; readonly delivery: string },
  headers: Record<string, string> = {},
): Promise<Record<string, string>> => {
  const outcomes: Record<string, string> = {};
  for (const [name, method, path, body] of testedRoutes) {
    const filled = path.replace("{webhook}", records.webhook).replace("{delivery}", records.delivery);
    outcomes[name] = describeOutcome(await callWebhooks(person, method, filled, body, headers));
  }
  return outcomes;
};
const expectAll = (
  testedRoutes: readonly (typeof routes)[number][],
  getExpected: (name: string, method: Method) => string,
): Record<string, string> => Object.fromEntries(testedRoutes.map(([name, method]) => [name, getExpected(name, method)]));
const record = async (): Promise<{ readonly webhook: string; readonly delivery: string }> => {
  const { id } = await createWebhook();
  return { webhook: id, delivery: await createDelivery(id) };
};

describe("permissions on webhooks", () => {
  test("allow an owner everything", async () => {
    expect(await callRoutes(routes, owner, await record())).toEqual(expectAll(routes, (name) => (name === "create" ? "201 ok" : "200 ok")));
  });

  test("let a member list, test, replay and read deliveries; other routes return 403 owner_required, even for unknown ids", async () => {
    const records = await record();
    const before = await list();
    const getExpected = (name: string): string => (ownerRoutes.includes(name) ? "403 owner_required" : "200 ok");
    expect(await callRoutes(routes, member, records)).toEqual(expectAll(routes, getExpected));
    expect(await list()).toEqual(before.map((one) => ({ ...one, last_delivery_at: expect.anything() })));
    expect(await listEntryTypes()).toEqual(["webhook.created"]);
    const none = { webhook: `whk_00${"z".repeat(24)}`, delivery: `dlv_00${"z".repeat(24)}` };
    expect(await callRoutes(recordRoutes, member, none)).toEqual(
      expectAll(recordRoutes, (name) => (ownerRoutes.includes(name) ? "403 owner_required" : "404 not_found")),
    );
  });

  test("follow a change of role at the next request", async () => {
    const { webhook } = await record();
    const updateRole = (id: string, newRole: string) => env.DB.prepare("UPDATE members SET role = ? WHERE id = ?").bind(newRole, id);
    const readUserId = async (person: Person): Promise<string> =>
      (await call("/v1/auth/session", { headers: { cookie: person.cookie } })).body.data.user.id;
    const [ownerId, memberId] = [await readUserId(owner), await readUserId(member)];
    try {
      await env.DB.batch([updateRole(memberId, "owner"), updateRole(ownerId, "member")]); // in this order, because a business must always have an owner
      expect(describeOutcome(await callWebhooks(owner, "GET", `/${webhook}/secret`))).toBe("403 owner_required");
      expect(describeOutcome(await callWebhooks(member, "GET", `/${webhook}/secret`))).toBe("200 ok");
    } finally {
      await env.DB.batch([updateRole(ownerId, "owner"), updateRole(memberId, "member")]);
    }
  });

  test("return the same 404 to another business's owner as for an unknown endpoint", async () => {
    const records = await record();
    const before = await list();
    const other = await signIn(otherOwnerEmail);
    const outcomes = await callRoutes(recordRoutes, other, records);
    expect(outcomes).toEqual(expectAll(recordRoutes, () => "404 not_found"));
    expect(await list(other)).not.toContainEqual(expect.objectContaining({ id: records.webhook }));
    const foreign = await callWebhooks(other, "GET", `/${records.webhook}/secret`);
    const unknown = await callWebhooks(other, "GET", `/whk_00${"z".repeat(24)}/secret`);
    expect(foreign.text.replace(foreign.body.request_id, "")).toBe(unknown.text.replace(unknown.body.request_id, ""));
    expect(await list()).toEqual(before);
    expect(await listEntryTypes()).toEqual(["webhook.created"]);
  });

  test("refuse consumers with 403 forbidden and any other credential with 401 unauthorized", async () => {
    const records = await record();
    const consumer = await signIn(consumerEmail, "consumer");
    expect(await callRoutes(routes, consumer, records)).toEqual(expectAll(routes, () => "403 forbidden"));
    for (const headers of [{}, { authorization: `Bearer ${world.acme.keys.live}` }, { cookie: `svc_session=${world.acme.keys.live}` }])
      expect(await callRoutes(routes, null, records, headers as Record<string, string>)).toEqual(
        expectAll(routes, () => "401 unauthorized"),
      );
    expect((await list()).length).toBe(1);
  });

  test.each([
    ["past_due", (method: Method): string => (method === "GET" ? "200 ok" : "402 subscription_past_due")],
    ["suspended", (): string => "402 business_suspended"],
    ["closed", (): string => "402 business_inactive"],
    ["pending", (): string => "402 business_inactive"],
  ])("follow the business's status: %s", async (status, wanted) => {
    const records = await record();
    const before = await list();
    await env.DB.prepare("UPDATE businesses SET status = ? WHERE id = ?").bind(status, world.acme.id).run();
    expect(await callRoutes(routes, owner, records)).toEqual(expectAll(routes, (_name, method) => wanted(method)));
    const getMemberOutcome = (name: string, method: Method): string =>
      wanted(method) === "200 ok" && ownerRoutes.includes(name) ? "403 owner_required" : wanted(method);
    expect(await callRoutes(routes, member, records)).toEqual(expectAll(routes, getMemberOutcome));
    await env.DB.prepare("UPDATE businesses SET status = 'active' WHERE id = ?").bind(world.acme.id).run();
    expect(await list()).toEqual(before);
  });

  test("return the status error to owners of suspended and closed businesses, who see no other business's endpoints", async () => {
    for (const [name, wanted] of [
      ["suspended", "402 business_suspended"],
      ["closed", "402 business_inactive"],
      ["past_due", "200 ok"],
    ] as const)
      expect(describeOutcome(await callWebhooks(await signIn(getExampleOwnerEmail(name)), "GET", "")), name).toBe(wanted);
  });

  test("refuse unsafe requests from other sites before anything else", async () => {
    const records = await record();
    const before = await list();
    for (const headers of [{ origin: "https://evil.example" }, { origin: "null" }, { "sec-fetch-site": "cross-site" }])
      expect(await callRoutes(routes, owner, records, headers as Record<string, string>)).toEqual(
        expectAll(routes, (_name, method) => (method === "GET" ? "200 ok" : "403 csrf_failed")),
      );
    expect(await list()).toEqual(before);
    expect(await callRoutes(routes, owner, records, { origin: "http://svc.test", "sec-fetch-site": "same-origin" })).toEqual(
      expectAll(routes, (name) => (name === "create" ? "201 ok" : "200 ok")),
    );
  });

  test("require JSON, even on routes without required members", async () => {
    const { webhook, delivery } = await record();
    for (const path of [`/${webhook}/test`, `/${webhook}/rotate-secret`, `/deliveries/${delivery}/replay`, ""])
      expect(
        describeOutcome(await callWebhooks(owner, "POST", path, "a=b", { "content-type": "application/x-www-form-urlencoded" })),
        path,
      ).toBe("415 unsupported_media_type");
    expect(describeOutcome(await callWebhooks(owner, "DELETE", `/${webhook}`, "a=b", { "content-type": "text/plain" }))).toBe(
      "415 unsupported_media_type",
    );
    expect(describeOutcome(await callWebhooks(owner, "POST", `/${webhook}/test`, "{}"))).toBe("200 ok");
  });
});

describe("the audit chain of webhooks", () => {
  test("records each change and each reading of a secret, and no test, replay or list (C7)", async () => {
    const { webhook, delivery } = await record();
    await callRoutes(
      routes.filter(([name]) => !["create", "delete"].includes(name)),
      owner,
      { webhook, delivery },
    );
    await callRoutes(
      routes.filter(([name]) => !ownerRoutes.includes(name)),
      member,
      { webhook, delivery },
    );
    await callWebhooks(owner, "DELETE", `/${webhook}`);
    expect(await listEntryTypes()).toEqual([
      "webhook.created",
      "webhook.changed",
      "webhook.secret_revealed",
      "webhook.secret_rotated",
      "webhook.deleted",
    ]);
    const { results } = await env.DB.prepare("SELECT DISTINCT entity_id, chain FROM audit_entries WHERE entity_type = 'webhook'").all();
    expect(results).toEqual([{ entity_id: webhook, chain: world.acme.chain }]);
  });
});

describe("tests and replays", () => {
  test("share a limit of 60 in ten minutes per person", async () => {
    const { webhook, delivery } = await record();
    const limitStart = start + hour;
    vi.setSystemTime(limitStart);
    const statuses: number[] = [];
    for (let sent = 0; sent < 60; sent += 1) {
      const path = sent % 2 === 0 ? `/${webhook}/test` : `/deliveries/${delivery}/replay`;
      statuses.push((await callWebhooks(member, "POST", path)).status);
    }
    expect(new Set(statuses)).toEqual(new Set([200]));
    for (const path of [`/${webhook}/test`, `/deliveries/${delivery}/replay`]) {
      const refused = await callWebhooks(member, "POST", path);
      expect([describeOutcome(refused), refused.headers.get("retry-after"), refused.headers.get("ratelimit-limit")]).toEqual([
        "429 rate_limited",
        "600",
        "60",
      ]);
    }
    expect((await callWebhooks(member, "GET", "")).status).toBe(200);
    expect((await callWebhooks(owner, "POST", `/${webhook}/test`)).status).toBe(200);
    vi.setSystemTime(limitStart + 600_000 - 1);
    expect((await callWebhooks(member, "POST", `/${webhook}/test`)).status).toBe(429);
    vi.setSystemTime(limitStart + 600_000);
    expect((await callWebhooks(member, "POST", `/${webhook}/test`)).status).toBe(200);
  });

  test("share the limit for a host that has not returned 2xx to the business yet, which the first 2xx lifts", async () => {
    const host = `host-${crypto.randomUUID()}.merchant-tests.com`;
    const [first, second] = [await createWebhook({ url: `https://${host}/1` }), await createWebhook({ url: `https://${host}/2` })];
    receiverStatus = 500;
    const id = await createDelivery(first.id);
    const limited = createServiceCall({ LIMIT_WEBHOOK_CALLS: "1000/60" });
    const callBoth = async (): Promise<string[]> => [
      describeOutcome(await callWebhooks(owner, "POST", `/${second.id}/test`, undefined, {}, limited)),
      describeOutcome(await callWebhooks(owner, "POST", `/deliveries/${id}/replay`, undefined, {}, limited)),
    ];
    for (let calls = 0; calls < 4; calls += 1) expect(await callBoth()).toEqual(["200 ok", "200 ok"]);
    expect(await callBoth()).toEqual(["200 ok", "429 rate_limited"]);
    expect(posts.length).toBe(10); // nine allowed calls and the first delivery
    const refused = await callWebhooks(owner, "POST", `/${second.id}/test`, undefined, {}, limited);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
    vi.setSystemTime(Date.now() + 60_000);
    receiverStatus = 202;
    expect(describeOutcome(await callWebhooks(owner, "POST", `/${second.id}/test`, undefined, {}, limited))).toBe("200 ok");
    receiverStatus = 500;
    for (let calls = 0; calls < 6; calls += 1) expect(await callBoth()).toEqual(["200 ok", "200 ok"]);
  });

  test("are counted exactly, and are not scaled in development", async () => {
    const { webhook } = await record();
    vi.setSystemTime(start + 2 * hour);
    const service = createServiceCall({ DEV_RATE_SCALE: "1000", LIMIT_SESSION: "1000/60" });
    const responses = await Promise.all(
      Array.from({ length: 70 }, () => callWebhooks(member, "POST", `/${webhook}/test`, undefined, {}, service)),
    );
    expect(responses.filter(({ status }) => status === 200).length).toBe(60);
    expect(responses.filter(({ status }) => status === 429).length).toBe(10);
  });
});

describe("a delivery", () => {
  const getDelivery = (id: string, person: Person = member) => callWebhooks(person, "GET", `/deliveries/${id}/attempts`);
  const revealDelivery = (id: string, person: Person = member) => callWebhooks(person, "POST", `/deliveries/${id}/reveal`);

  test("is shown with the request and response of each attempt", async () => {
    receiverStatus = 503;
    const { id } = await createWebhook();
    const delivery = await createDelivery(id);
    receiverStatus = 200;
    vi.setSystemTime(start + 5_000);
    await callWebhooks(member, "POST", `/deliveries/${delivery}/replay`);
    const { body } = await getDelivery(delivery);
    expect(body.data).toMatchObject({ withheld: false, request_body: posts[0]?.body, delivery: { id: delivery, status: "success" } });
    expect(body.data.attempts).toMatchObject([
      { number: 1, resend: true, response_status: 200, error: null, response_body: "the receiver's own words", response_cut: false },
      { number: 1, resend: false, response_status: 503, error: "http", at: new Date(start).toISOString() },
    ]);
    expect(body.data.attempts[1].request_headers).toContainEqual({
      name: "svc-signature",
      value: posts[0]?.headers.get("svc-signature"),
    });
    expect((await revealDelivery(delivery)).body.data).toEqual(body.data);
    expect(await listEntryTypes()).toEqual(["webhook.created"]); // nothing was withheld, so no reveal is recorded
  });

  test("is not found by another business or under an unknown ID", async () => {
    const { id } = await createWebhook();
    const delivery = await createDelivery(id);
    const other = await signIn(otherOwnerEmail);
    for (const response of [
      await getDelivery(delivery, other),
      await revealDelivery(delivery, other),
      await getDelivery("dlv_00zzzzzzzzzzzzzzzzzzzzzzzz"),
      await revealDelivery("dlv_00zzzzzzzzzzzzzzzzzzzzzzzz"),
    ])
      expect(describeOutcome(response)).toBe("404 not_found");
  });

  describe("of shared details", () => {
    /** Creates a person who shares their details and changes their email address. The receiver sends back what it receives. */
    const setUpUpdate = async () => {
      const person = await signInPerson();
      const { share } = await grantShare(person);
      const { id } = await createWebhook();
      vi.restoreAllMocks();
      posts = mockReceivers(({ body }) => new Response(`echo ${body}`, { headers: { "x-echo": body } }));
      const email = createPersonEmail();
      expect((await person.put("/v1/me/fields", { email })).status).toBe(200);
      await waitUntilSettled();
      await eventSequences.getByName(world.acme.id).drain();
      await runAlarm(deliveryQueues.getByName(id));
      expect(posts.map(({ body }) => JSON.parse(body).data)).toEqual([{ email }]);
      const [{ id: delivery }] = (await callWebhooks(owner, "GET", `/${id}/deliveries`)).body.data.deliveries;
      return { person, share, webhook: id, delivery: delivery as string, email };
    };

    test("shows them only when a member reveals them, which is recorded first", async () => {
      const { delivery, email, webhook } = await setUpUpdate();
      const withheld = await getDelivery(delivery);
      expect(withheld.body.data).toMatchObject({
        withheld: true,
        attempts: [{ response_status: 200, request_headers: null, response_headers: null, response_body: null }],
      });
      expect(JSON.parse(withheld.body.data.request_body)).toMatchObject({ type: "consumer.updated.email", data: null });
      expect(withheld.text).not.toContain(email);
      expect(await listEntryTypes()).toEqual(["webhook.created"]);
      const revealed = await revealDelivery(delivery);
      expect(revealed.body.data).toMatchObject({
        withheld: false,
        request_body: posts[0]?.body,
        attempts: [{ response_body: `echo ${posts[0]?.body}` }],
      });
      expect(await listEntryTypes()).toEqual(["webhook.created", "webhook.delivery_revealed"]);
      const row = await env.DB.prepare("SELECT entity_id FROM audit_entries WHERE type = 'webhook.delivery_revealed'").first();
      expect(row).toEqual({ entity_id: webhook });
    });

    test.each([
      ["stops sharing", (person: SignedPerson, shareId: string) => person.post(`/v1/shares/${shareId}/revoke`, {})],
      ["deletes their account", (person: SignedPerson) => call("/v1/me", { method: "DELETE", headers: person.headers })],
    ] as const)("cannot be read by anyone after the person %s, nor can the response", async (_, end) => {
      const { person, share, delivery, email } = await setUpUpdate();
      const record = await eventSequences.getByName(world.acme.id).findDeliveryRecord(delivery);
      expect((await end(person, share.id)).status).toBe(200);
      expect(describeOutcome(await revealDelivery(delivery))).toBe("409 share_inactive");
      const { body, text } = await getDelivery(delivery);
      expect(text).not.toContain(email);
      expect(body.data.attempts).toMatchObject([{ response_status: 200, response_body: null }]);
      const { vault } = await getPlatform(env);
      const sealed = record?.attempts[0]?.exchangeSealed as string;
      await expect(openExchange(vault, { deliveryId: delivery, businessId: world.acme.id }, sealed)).rejects.toThrow();
      expect(await readDatabaseContents()).not.toContain(email);
    });
  });
});
