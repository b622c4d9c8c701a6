// Tests looking up a refused request by its ID. The business that sent the request can look it up for a week, and the record contains
// nothing that the business sent.
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { signIn } from "../../support/people.ts";
import { callPortal, describeOutcome, type Person } from "../../support/portal.ts";
import {
  submitConsent,
  buildConsentRequest,
  readDatabaseContents,
  getWithKey,
  createServiceCall,
  buildSubmission,
  world,
  type TestResponse,
} from "../../support/world.ts";

let owner: Person;
let member: Person;
let stranger: Person;
beforeAll(async () => {
  owner = await signIn(world.ownerEmail);
  member = await signIn(world.memberEmail);
  stranger = await signIn(world.otherOwnerEmail);
});
afterEach(() => vi.useRealTimers());

const read = (id: string, person: Person = owner): Promise<TestResponse> => callPortal(person, "GET", `/requests/${id}`);

/** Waits for the record, which is written after the response. */
const waitForRecord = (id: string): Promise<TestResponse> =>
  vi.waitFor(async () => {
    const response = await read(id);
    expect(describeOutcome(response)).toBe("200 ok");
    return response;
  }, 20_000);

describe("GET /v1/business/portal/requests/{id}", () => {
  test("returns the codes, hosts and ids of a refused request to owners and members", async () => {
    const before = await readDatabaseContents();
    const refused = await submitConsent({ ...buildSubmission(), page_url: "https://Shop.elsewhere.example/quote?who=pat" });
    expect(describeOutcome(refused)).toBe("403 page_url_not_verified");
    const { data } = (await waitForRecord(refused.body.request_id)).body;
    expect(data).toEqual({
      request_id: refused.body.request_id,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      method: "POST",
      route: "/v1/consent",
      status: 403,
      code: "page_url_not_verified",
      message: refused.body.error.message,
      origin_host: "www.example.com",
      page_host: "shop.elsewhere.example",
      client_id: world.acme.clients.live,
      key_id: null,
    });
    expect((await read(refused.body.request_id, member)).body.data).toEqual(data);
    expect(await readDatabaseContents()).toEqual(before);
  });

  test("returns the API key's id and the route's template", async () => {
    const refused = await getWithKey(`/v1/certs/cc_${"0".repeat(26)}`, world.acme.keys.live);
    const { data } = (await waitForRecord(refused.body.request_id)).body;
    expect(data).toMatchObject({ code: "cert_not_found", status: 404, key_id: expect.stringMatching(/^key_/), client_id: null });
    expect(data.route).not.toContain("cc_");
  });

  test("stores nothing that was sent", async () => {
    const marker = "marker-of-this-test";
    const refused = await submitConsent(
      {
        ...buildSubmission(),
        fields: { email: `${marker}@example.com`, note: marker },
        disclosure_text: marker,
        purpose: marker,
        page_url: `https://www.example.com/${marker}?q=${marker}#${marker}`,
        entities: [],
      },
      { referer: `https://www.example.com/${marker}`, "user-agent": marker },
    );
    expect(refused.status).toBe(400);
    await waitForRecord(refused.body.request_id);
    const { keys } = await env.KV.list({ prefix: `refused:${world.acme.id}:` });
    const stored = await Promise.all(keys.map(({ name }) => env.KV.get(name)));
    expect(keys.some(({ name }) => name.endsWith(refused.body.request_id))).toBe(true);
    expect(JSON.stringify(stored)).not.toContain(marker);
  });

  test("stores no host that is too long to exist, because anyone who knows a client ID can send one", async () => {
    const refused = await submitConsent({ ...buildSubmission(), page_url: `https://${"long.".repeat(10_000)}example` });
    expect(refused.status).toBe(400);
    expect((await waitForRecord(refused.body.request_id)).body.data.page_host).toBeNull();
  });

  test("returns 404 to another business, for a successful request and for an unknown ID, and 401 without a session", async () => {
    const successful = await submitConsent(buildSubmission());
    expect(successful.status).toBe(201);
    const refused = await submitConsent({ ...buildSubmission(), purpose: "" });
    await waitForRecord(refused.body.request_id);
    expect(describeOutcome(await read(refused.body.request_id, stranger))).toBe("404 not_found");
    for (const id of [successful.body.request_id, `req_${"0".repeat(26)}`, "req_0", "..%2f", encodeURIComponent("refused:x:y")])
      expect(describeOutcome(await read(id)), id).toBe("404 not_found");
    expect(describeOutcome(await callPortal(null, "GET", `/requests/${refused.body.request_id}`))).toBe("401 unauthorized");
  });

  test("stores nothing for an unknown client", async () => {
    const refused = await submitConsent({ ...buildSubmission(), client_id: `pc_live_${"0".repeat(26)}` });
    expect(describeOutcome(refused)).toBe("404 client_not_found");
    const laterResponse = await submitConsent({ ...buildSubmission(), purpose: "" });
    await waitForRecord(laterResponse.body.request_id);
    const names: string[] = [];
    for (let cursor: string | undefined, isLast = false; !isLast; ) {
      const page: KVNamespaceListResult<unknown> = await env.KV.list({ prefix: "refused:", ...(cursor !== undefined && { cursor }) });
      names.push(...page.keys.map(({ name }) => name));
      isLast = page.list_complete;
      cursor = page.list_complete ? undefined : page.cursor;
    }
    expect(names.filter((name) => name.endsWith(laterResponse.body.request_id))).toHaveLength(1);
    expect(names.filter((name) => name.endsWith(refused.body.request_id))).toEqual([]);
  });

  test("returns 404 after a week", async () => {
    const refused = await submitConsent({ ...buildSubmission(), purpose: "" });
    const id = refused.body.request_id;
    const stored = await waitForRecord(id);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(stored.body.data.at) + 7 * 86_400_000 - 1 });
    const laterSession = await signIn(world.ownerEmail);
    expect(describeOutcome(await read(id, laterSession))).toBe("200 ok");
    vi.setSystemTime(Date.parse(stored.body.data.at) + 7 * 86_400_000);
    expect(describeOutcome(await read(id, laterSession))).toBe("404 not_found");
  });

  test("stores a limited number per day, so that a stranger cannot fill the store", async () => {
    const small = createServiceCall({ LIMIT_REFUSALS_KEPT: "2/86400" });
    const bad = buildConsentRequest({ ...buildSubmission(world.examples.free), purpose: "" });
    const before = (await env.KV.list({ prefix: `refused:${world.examples.free.id}:` })).keys.length;
    for (let sent = 0; sent < 5; sent += 1) expect((await small("/v1/consent", bad)).status).toBe(400);
    await vi.waitFor(async () => {
      expect((await env.KV.list({ prefix: `refused:${world.examples.free.id}:` })).keys.length).toBe(before + 2);
    }, 20_000);
  });

  test("stores the business's own requests after a stranger has used up the limit with its client ID", async () => {
    const { free } = world.examples;
    const small = createServiceCall({ LIMIT_REFUSALS_KEPT: "2/86400" });
    const isStored = async ({ body }: TestResponse): Promise<boolean> =>
      (await env.KV.get(`refused:${free.id}:${body.request_id}`)) !== null;
    const bad = buildConsentRequest({ ...buildSubmission(free), purpose: "" });
    let last = await small("/v1/consent", bad);
    for (let sent = 0; sent < 2; sent += 1) last = await small("/v1/consent", bad);
    const ownResponse = await small("/v1/certs?status=unknown", { headers: { authorization: `Bearer ${free.keys.live}` } });
    expect(ownResponse.status).toBe(400);
    await vi.waitFor(async () => expect(await isStored(ownResponse)).toBe(true), 20_000);
    expect(await isStored(last)).toBe(false);
  });

  test("stores a limited number from each network address, without looking up the client ID of the others", async () => {
    const { past_due: target } = world.examples;
    let lookups = 0;
    const countLookup = (sql: string): D1PreparedStatement => {
      if (sql.includes('from "clients"')) lookups += 1;
      return env.DB.prepare(sql);
    };
    const small = createServiceCall({
      DEV_RATE_SCALE: "1",
      LIMIT_REFUSALS_PER_IP: "2/60",
      DB: { prepare: countLookup, batch: env.DB.batch.bind(env.DB) },
    });
    const sendRequest = (ip: string): Promise<TestResponse> =>
      small(`/v1/certs?client_id=${target.clients.live}`, { headers: { "cf-connecting-ip": ip } });
    const count = async (): Promise<number> => (await env.KV.list({ prefix: `refused:${target.id}:` })).keys.length;
    const before = await count();
    for (let sent = 0; sent < 4; sent += 1) expect((await sendRequest("192.0.2.90")).status).toBe(401);
    await sendRequest("192.0.2.91");
    await vi.waitFor(async () => expect(await count()).toBe(before + 3), 20_000);
    expect(lookups).toBe(3);
  });
});
