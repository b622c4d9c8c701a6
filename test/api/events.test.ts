// Tests GET /v1/events: pages, cursors and access.
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { BusinessId } from "../../core/ids.ts";
import { receivesEventType } from "../../core/webhooks/endpoint.ts";
import { createSchedules } from "../../workers/background/follow-up-work.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import { commitEvents, eventSequences, createBusiness, createApiKey } from "../support/events.ts";
import { call, submitConsent, getWithKey, buildSubmission, world, createServiceCall, type TestResponse } from "../support/world.ts";

let business = "";
let ownKey = "";
beforeAll(async () => {
  business = await createBusiness();
  ownKey = await createApiKey(business);
});

afterEach(() => {
  vi.useRealTimers();
});

const uuidV4Pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const requestFeed = (query = "", key = ownKey): Promise<TestResponse> => getWithKey(`/v1/events${query}`, key);
const commit = async (count: number, ...change: Parameters<typeof commitEvents>[2][]): Promise<string[]> => {
  const ids = await commitEvents(business, count, change[0]);
  await eventSequences.getByName(business).drain();
  return ids;
};

describe("GET /v1/events", () => {
  test("returns an empty page with the given cursor before any event", async () => {
    expect((await requestFeed()).body.data).toEqual({ events: [], next_cursor: 0, has_more: false, head: 0 });
    expect((await requestFeed("?cursor=77")).body.data).toEqual({ events: [], next_cursor: 77, has_more: false, head: 0 });
  });

  test("returns events in order in the documented format, with the cursor of the next page", async () => {
    const ids = await commit(3);
    const first = (await requestFeed("?limit=2")).body.data;
    expect(first.events.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
    expect(first).toMatchObject({ next_cursor: 2, has_more: true });
    expect(Object.keys(first.events[0])).toEqual(["id", "type", "created_at", "share_id", "cert_id", "data", "seq"]);
    expect(first.events[0]).toMatchObject({ type: "certificate.revoked", share_id: null, data: null, seq: 1 });
    expect(first.events[0].cert_id).toMatch(/^cc_00/);
    expect(first.events[0].created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const rest = (await requestFeed(`?cursor=${first.next_cursor}&limit=2`)).body.data;
    expect(rest).toMatchObject({ events: [{ id: ids[2], seq: 3 }], next_cursor: 3, has_more: false });
    expect((await requestFeed("?cursor=3")).body.data).toEqual({ events: [], next_cursor: 3, has_more: false, head: 3 });
  });

  test("returns 100 events by default and 500 at most", { timeout: 60_000 }, async () => {
    await commit(600);
    expect((await requestFeed()).body.data.events).toHaveLength(100);
    expect((await requestFeed("?limit=501")).body.data.events).toHaveLength(500);
    expect((await requestFeed("?limit=99999999999999999999")).body.data.events).toHaveLength(500);
  });

  test.each([
    ...["-1", "1.5", "1e3", "abc", "", " 1", "0x10", "01", "9007199254740992", "99999999999999999999", "NaN", "null", "0;drop"].map(
      (cursor) => [`cursor=${encodeURIComponent(cursor)}`],
    ),
    ...["0", "-1", "1.5", "abc", "", "1e2"].map((limit) => [`limit=${limit}`]),
    ["types=no.such.type"],
    ["types=certificate.revoked,"],
    ["types="],
    ["cursor=1&cursor=2"],
    ["limit=1&limit=2"],
  ])("returns 400 invalid_request for ?%s", async (query) => {
    const response = await requestFeed(`?${query}`);
    expect(response.status).toBe(400);
    expect(response.body.error.code).toBe("invalid_request");
    expect(response.body.error.message).toMatch(/^(?:cursor|limit|types): /);
  });

  test("accepts the largest exact number as a cursor", async () => {
    expect((await requestFeed("?cursor=9007199254740991")).body.data).toEqual({
      events: [],
      next_cursor: 9_007_199_254_740_991,
      has_more: false,
      head: expect.any(Number),
    });
  });

  test("returns only the requested types, and advances the cursor past the others", async () => {
    const before = (await requestFeed("?cursor=9007199254740991")).status;
    expect(before).toBe(200);
    const [id] = await commit(1, { type: "share.created", certId: null, shareId: "shr_1" });
    await commit(1);
    const page = (await requestFeed("?types=share.created,share.revoked")).body.data;
    expect(page.events.map((event: { id: string }) => event.id)).toEqual([id]);
    expect(page.next_cursor).toBe(page.events[0].seq + 1);
    expect(page.has_more).toBe(false);
  });

  test("keeps the event of an update but withholds its payload once the share is not active", async () => {
    const [id] = await commit(1, { type: "consumer.updated.email", certId: null, shareId: "shr_gone", dataSealed: "1.not-to-be-opened" });
    const page = (await requestFeed("?types=consumer.updated.email")).body.data;
    expect(page.events).toMatchObject([{ id, share_id: "shr_gone", data: null }]);
    expect(JSON.stringify(page)).not.toContain("sealed");
  });

  test("returns only the business's own events, and none to a test key", async () => {
    await commit(1);
    expect((await requestFeed("", await createApiKey(await createBusiness()))).body.data.events).toEqual([]);
    await commitEvents(world.acme.id, 1);
    await eventSequences.getByName(world.acme.id).drain();
    expect((await requestFeed("", world.acme.keys.sandbox)).body.data).toEqual({ events: [], next_cursor: 0, has_more: false, head: 0 });
    expect((await requestFeed("", "sk_live_00wrong")).status).toBe(401);
  });

  test("contains certificate.issued only if the business enabled it, and endpoints receive it only if they name it", async () => {
    const listPlacedEvents = async (): Promise<readonly string[]> => {
      await eventSequences.getByName(world.other.id).drain();
      return (await eventSequences.getByName(world.other.id).listEvents(0, 500, null)).events.map(
        (event) => `${event.type} ${event.certId}`,
      );
    };
    const issue = async (): Promise<{ cert_id: string }> =>
      (await submitConsent({ ...buildSubmission(world.other), page_url: "https://other.example/" }, { origin: "https://other.example" }))
        .body.data;
    await issue();
    const before = await listPlacedEvents();
    expect(before.filter((event) => event.startsWith("certificate.issued"))).toEqual([]);
    await env.DB.prepare("UPDATE businesses SET emit_certificate_issued = 1 WHERE id = ?").bind(world.other.id).run();
    const { cert_id } = await issue();
    expect(await listPlacedEvents()).toEqual([...before, `certificate.issued ${cert_id}`]);
    const { events } = (await requestFeed("?types=certificate.issued", world.other.keys.live)).body.data;
    expect(events).toMatchObject([{ id: expect.stringMatching(uuidV4Pattern), cert_id }]);
    expect(receivesEventType(null, "certificate.issued")).toBe(false);
    expect(receivesEventType(["certificate.issued"], "certificate.issued")).toBe(true);
    expect(receivesEventType(null, "certificate.revoked")).toBe(true);
  });

  test("refuses one of the service's own deliveries", async () => {
    const headers = { authorization: `Bearer ${world.acme.keys.live}`, "svc-delivery-id": "dlv_00k3v9d2m4q8x1c7b5n0t6w2h9" };
    for (const path of ["/v1/events", "/v1/health", "/c/nothing"]) {
      const response = await call(path, { headers });
      expect([response.status, response.body.error.code]).toEqual([403, "forbidden"]);
    }
  });

  test("returns 429 after 120 requests a minute, without waking the Durable Object", { timeout: 60_000 }, async () => {
    const woken: string[] = [];
    const watched = {
      getByName: (name: string) => {
        woken.push(name);
        return eventSequences.getByName(name);
      },
    };
    const service = createServiceCall({ EVENT_SEQUENCE: watched });
    const key = await createApiKey(await createBusiness());
    vi.useFakeTimers({ toFake: ["Date"] }); // all requests happen at the same moment, regardless of how long they take
    const responses = await Promise.all(
      Array.from({ length: 125 }, () => service("/v1/events?cursor=0&limit=1", { headers: { authorization: `Bearer ${key}` } })),
    );
    const refused = responses.filter(({ status }) => status === 429);
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(120);
    expect(refused).toHaveLength(5);
    expect(woken).toHaveLength(120);
    for (const { headers } of refused) expect(headers.get("retry-after")).toBe("60");
    vi.setSystemTime(Date.now() + 60_000);
    expect((await service("/v1/events", { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
  });

  test("contains an event milliseconds after the change, without a cron run", async () => {
    const platform = await createPlatform(env);
    const work: Promise<void>[] = [];
    const notified = await createBusiness();
    const [id] = await commitEvents(notified, 1);
    createSchedules({ ...platform, waitUntil: (task) => void work.push(task()) }).scheduleEvents(notified as BusinessId, "live");
    await Promise.all(work);
    expect((await eventSequences.getByName(notified).listEvents(0, 10, null)).events.map((event) => event.id)).toEqual([id]);
  });
});
