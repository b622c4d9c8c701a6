// The feed through the front door: what a page is, what a cursor may be, and what nobody may read.
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { BusinessId } from "../../core/ids.ts";
import { receivesEventType } from "../../core/webhooks/endpoint.ts";
import { createSchedules } from "../../workers/background/follow-up-work.ts";
import type { Env } from "../../workers/env.ts";
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

const feed = (query = "", key = ownKey): Promise<TestResponse> => getWithKey(`/v1/events${query}`, key);
const tell = async (count: number, ...change: Parameters<typeof commitEvents>[2][]): Promise<string[]> => {
  const ids = await commitEvents(business, count, change[0]);
  await eventSequences.getByName(business).drain();
  return ids;
};

describe("the feed", () => {
  test("is empty, with the cursor as it was given, before anything happened", async () => {
    expect((await feed()).body.data).toEqual({ events: [], next_cursor: 0, has_more: false, head: 0 });
    expect((await feed("?cursor=77")).body.data).toEqual({ events: [], next_cursor: 77, has_more: false, head: 0 });
  });

  test("shows each event as SPEC has it, in order, and leads on by its cursor", async () => {
    const ids = await tell(3);
    const first = (await feed("?limit=2")).body.data;
    expect(first.events.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
    expect(first).toMatchObject({ next_cursor: 2, has_more: true });
    expect(Object.keys(first.events[0])).toEqual(["id", "type", "created_at", "share_id", "cert_id", "data", "seq"]);
    expect(first.events[0]).toMatchObject({ type: "certificate.revoked", share_id: null, data: null, seq: 1 });
    expect(first.events[0].cert_id).toMatch(/^cc_00/);
    expect(first.events[0].created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const rest = (await feed(`?cursor=${first.next_cursor}&limit=2`)).body.data;
    expect(rest).toMatchObject({ events: [{ id: ids[2], seq: 3 }], next_cursor: 3, has_more: false });
    expect((await feed("?cursor=3")).body.data).toEqual({ events: [], next_cursor: 3, has_more: false, head: 3 });
  });

  test("has pages of 100 unless asked otherwise, and never more than 500", { timeout: 60_000 }, async () => {
    await tell(600);
    expect((await feed()).body.data.events).toHaveLength(100);
    expect((await feed("?limit=501")).body.data.events).toHaveLength(500);
    expect((await feed("?limit=99999999999999999999")).body.data.events).toHaveLength(500);
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
  ])("refuses ?%s", async (query) => {
    const answer = await feed(`?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe("invalid_request");
    expect(answer.body.error.message).toMatch(/^(?:cursor|limit|types): /);
  });

  test("takes the largest exact number for a cursor", async () => {
    expect((await feed("?cursor=9007199254740991")).body.data).toEqual({
      events: [],
      next_cursor: 9_007_199_254_740_991,
      has_more: false,
      head: expect.any(Number),
    });
  });

  test("shows only the types asked for, while the cursor passes over the others", async () => {
    const before = (await feed("?cursor=9007199254740991")).status;
    expect(before).toBe(200);
    const [id] = await tell(1, { type: "share.created", certId: null, shareId: "shr_1" });
    await tell(1);
    const page = (await feed("?types=share.created,share.revoked")).body.data;
    expect(page.events.map((event: { id: string }) => event.id)).toEqual([id]);
    expect(page.next_cursor).toBe(page.events[0].seq + 1);
    expect(page.has_more).toBe(false);
  });

  test("W9: keeps the event of an update and withholds its payload once the share is not active", async () => {
    const [id] = await tell(1, { type: "consumer.updated.email", certId: null, shareId: "shr_gone", dataSealed: "1.not-to-be-opened" });
    const page = (await feed("?types=consumer.updated.email")).body.data;
    expect(page.events).toMatchObject([{ id, share_id: "shr_gone", data: null }]);
    expect(JSON.stringify(page)).not.toContain("sealed");
  });

  test("is one business's own, and a test key's is empty", async () => {
    await tell(1);
    expect((await feed("", await createApiKey(await createBusiness()))).body.data.events).toEqual([]);
    await commitEvents(world.acme.id, 1);
    await eventSequences.getByName(world.acme.id).drain();
    expect((await feed("", world.acme.keys.sandbox)).body.data).toEqual({ events: [], next_cursor: 0, has_more: false, head: 0 });
    expect((await feed("", "sk_live_00wrong")).status).toBe(401);
  });

  test("tells of issuances only a business that asked, and of those an endpoint only that names them", async () => {
    const placed = async (): Promise<readonly string[]> => {
      await eventSequences.getByName(world.other.id).drain();
      return (await eventSequences.getByName(world.other.id).listEvents(0, 500, null)).events.map(
        (event) => `${event.type} ${event.certId}`,
      );
    };
    const issueOne = async (): Promise<{ cert_id: string }> =>
      (await submitConsent({ ...buildSubmission(world.other), page_url: "https://other.example/" }, { origin: "https://other.example" }))
        .body.data;
    await issueOne();
    const before = await placed();
    expect(before.filter((event) => event.startsWith("certificate.issued"))).toEqual([]);
    await env.DB.prepare("UPDATE businesses SET emit_certificate_issued = 1 WHERE id = ?").bind(world.other.id).run();
    const { cert_id } = await issueOne();
    expect(await placed()).toEqual([...before, `certificate.issued ${cert_id}`]);
    expect(receivesEventType(null, "certificate.issued")).toBe(false);
    expect(receivesEventType(["certificate.issued"], "certificate.issued")).toBe(true);
    expect(receivesEventType(null, "certificate.revoked")).toBe(true);
  });

  test("refuses a delivery of our own that finds its way back to us", async () => {
    const headers = { authorization: `Bearer ${world.acme.keys.live}`, "svc-delivery-id": "dlv_00k3v9d2m4q8x1c7b5n0t6w2h9" };
    for (const path of ["/v1/events", "/v1/health", "/c/nothing"]) {
      const answer = await call(path, { headers });
      expect([answer.status, answer.body.error.code]).toEqual([403, "forbidden"]);
    }
  });

  test("W30: is answered 120 times a minute; the next poll waits and wakes nobody", { timeout: 60_000 }, async () => {
    const woken: string[] = [];
    const watched = {
      getByName: (name: string) => {
        woken.push(name);
        return eventSequences.getByName(name);
      },
    };
    const service = createServiceCall({ EVENT_SEQUENCE: watched });
    const key = await createApiKey(await createBusiness());
    vi.useFakeTimers({ toFake: ["Date"] }); // all of it in one moment, however long it takes here
    const answers = await Promise.all(
      Array.from({ length: 125 }, () => service("/v1/events?cursor=0&limit=1", { headers: { authorization: `Bearer ${key}` } })),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(120);
    expect(refused).toHaveLength(5);
    expect(woken).toHaveLength(120);
    for (const { headers } of refused) expect(headers.get("retry-after")).toBe("60");
    vi.setSystemTime(Date.now() + 60_000);
    expect((await service("/v1/events", { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
  });

  test("has an event some milliseconds after the change was answered, without any cron", async () => {
    const platform = await createPlatform(env as unknown as Env);
    const work: Promise<void>[] = [];
    const told = await createBusiness();
    const [id] = await commitEvents(told, 1);
    createSchedules({ ...platform, waitUntil: (task) => void work.push(task()) }).scheduleEvents(told as BusinessId, "live");
    await Promise.all(work);
    expect((await eventSequences.getByName(told).listEvents(0, 10, null)).events.map((event) => event.id)).toEqual([id]);
  });
});
