// Deliveries to an endpoint: exactly on the schedule, at least once, and never silent for good.
import { abortAllDurableObjects, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { EndpointLane } from "../../durable-objects/endpoint-lane/object.ts";
import type { Delivery, EndpointHealth } from "../../core/webhooks/endpoint.ts";
import { sha256Hex } from "../../core/hash.ts";
import { leaseMs, maxAttempts, slots } from "../../core/webhooks/schedule.ts";
import {
  cancelDelivery,
  claimDelivery,
  deliveryRow,
  nextDueAt,
  deferDelivery,
  requeueInterrupted,
  settleAttempt,
  type DeliveryRow,
} from "../../durable-objects/endpoint-lane/tables.ts";
import { secretBytes, webhookSecret } from "../../core/webhooks/signature.ts";
import { verifySignature } from "../../core/webhooks/verify-signature.ts";
import { sealSecret } from "../../storage/webhook-secrets.ts";
import type { Env } from "../../workers/env.ts";
import { platformOf } from "../../workers/services.ts";
import {
  alarmOf,
  commitEvents,
  farAhead,
  lanes,
  logs,
  newBusiness,
  playReceivers,
  register,
  runAlarm,
  runAlarmsUntil,
  runEveryAlarm,
  sequenceOf,
  type LaneStub,
  type Registered,
} from "../support/events.ts";
import { serviceWith } from "../support/world.ts";

const hook = "https://hook1.merchant-tests.com/in?tenant=7";
const answering = (status: number) => () => new Response(null, { status });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(farAhead);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A business with one endpoint and so many events on their way to it. */
const laneWith = async (events: number, url = hook): Promise<Registered & { readonly business: string }> => {
  const business = await newBusiness();
  const registered = await register(business, url);
  await commitEvents(business, events);
  await logs.getByName(business).drain();
  return { ...registered, business };
};

const deliveriesOf = async (lane: LaneStub): Promise<readonly Delivery[]> => (await lane.deliveries(100, null))?.deliveries ?? [];
const deliveryOf = async (lane: LaneStub): Promise<Delivery> => (await deliveriesOf(lane))[0] as Delivery;
const healthOf = async (lane: LaneStub): Promise<EndpointHealth> => (await lane.health()) as EndpointHealth;

describe("the schedule", () => {
  test("W10: is 1 min, 5 min, 30 min and 2 h after each failure, not a millisecond earlier, five attempts and then never again", async () => {
    const posts = playReceivers(answering(500));
    const { lane } = await laneWith(1);
    await runEveryAlarm(lane, async (at) => {
      const before = posts.length;
      vi.setSystemTime(Math.max(Date.now(), at - 1));
      if (before > 0) {
        await runAlarm(lane);
        expect(posts).toHaveLength(before);
      }
    });
    const first = posts[0]?.at ?? 0;
    expect(posts.map(({ at }) => at - first)).toEqual([0, 60_000, 360_000, 2_160_000, 9_360_000]);
    expect(posts).toHaveLength(maxAttempts);
    expect(await deliveryOf(lane)).toMatchObject({
      status: "abandoned",
      attempt: 5,
      responseStatus: 500,
      error: "http",
      nextAttemptAt: null,
    });
    expect(await alarmOf(lane)).toBe(Date.now() + 90 * 86_400_000); // to drop it, when it has been kept for as long as was said
    expect(posts.map(({ headers }) => headers.get("svc-attempt"))).toEqual(["1", "2", "3", "4", "5"]);
  });

  test("W10: says when the next attempt is due, and is over with the first success", async () => {
    let status = 503;
    const posts = playReceivers(() => new Response(null, { status }));
    const { lane } = await laneWith(1);
    expect(await deliveryOf(lane)).toMatchObject({ status: "pending", attempt: 0, responseStatus: null });
    await runAlarmsUntil(lane, farAhead + 1_000);
    const failed = await deliveryOf(lane);
    expect(failed).toMatchObject({ status: "retrying", attempt: 1, responseStatus: 503, deliveredAt: null });
    expect(failed.nextAttemptAt).toBe((posts[0]?.at ?? 0) + 60_000);
    status = 204;
    await runAlarmsUntil(lane);
    expect(await deliveryOf(lane)).toMatchObject({ status: "success", attempt: 2, responseStatus: 204, error: null, nextAttemptAt: null });
    expect(posts).toHaveLength(2);
    expect(await alarmOf(lane)).toBe(Date.now() + 30 * 86_400_000); // to drop it, when it has been kept for as long as was said
  });

  test.each([
    [200, true],
    [204, true],
    [299, true],
    [300, false],
    [301, false],
    [302, false],
    [307, false],
    [308, false],
    [400, false],
    [410, false],
    [429, false],
    [500, false],
  ])("W12: takes %i for what it is", async (status, delivered) => {
    const posts = playReceivers(
      () => new Response(null, { status, headers: { location: "https://elsewhere.merchant-tests.com/", "retry-after": "7200" } }),
    );
    const { lane } = await laneWith(1);
    await runAlarmsUntil(lane, farAhead + 1_000);
    expect(await deliveryOf(lane)).toMatchObject({ status: delivered ? "success" : "retrying", responseStatus: status });
    expect(posts.map(({ url }) => url)).toEqual([hook]);
  });

  test.each([
    ["Network connection lost.", "connection"],
    ["TLS handshake failed: certificate verify failed", "tls"],
    ["DNS lookup failed.", "dns"],
  ])("W12: tries again after %s", async (message, error) => {
    playReceivers(() => {
      throw new TypeError(message);
    });
    const { lane } = await laneWith(1);
    await runAlarmsUntil(lane, farAhead + 1_000);
    expect(await deliveryOf(lane)).toMatchObject({ status: "retrying", attempt: 1, responseStatus: null, error });
    expect((await healthOf(lane)).consecutiveFailures).toBe(1);
  });

  test.each([301, 302, 303, 307, 308])("W26: follows no redirect, wherever it leads (%i)", async (status) => {
    const posts = playReceivers(() => new Response(null, { status, headers: { location: "http://169.254.169.254/latest/meta-data/" } }));
    const { lane } = await laneWith(1);
    await runAlarmsUntil(lane);
    expect(new Set(posts.map(({ url }) => url))).toEqual(new Set([hook]));
    expect(posts).toHaveLength(5);
  });

  test("W15: stays the same however often the process ends between two attempts", async () => {
    const posts = playReceivers(answering(500));
    const { lane } = await laneWith(1);
    await runEveryAlarm(lane, () => evictDurableObject(lane));
    const first = posts[0]?.at ?? 0;
    expect(posts.map(({ at }) => at - first)).toEqual([0, 60_000, 360_000, 2_160_000, 9_360_000]);
  });

  test("W15: goes on after a restart even if its alarm was lost", async () => {
    const posts = playReceivers(answering(200));
    const { lane } = await laneWith(1);
    await runInDurableObject(lane, (_, state) => state.storage.deleteAlarm());
    await evictDurableObject(lane);
    expect(await healthOf(lane)).toMatchObject({ backlog: 1 }); // whoever asks it anything wakes it
    await runAlarmsUntil(lane);
    expect(posts).toHaveLength(1);
  });

  test("W13: goes on when sending itself fails twenty times over: nothing is abandoned, no alarm ever rejects", async () => {
    const posts = playReceivers(answering(200));
    const { lane } = await laneWith(1);
    await runInDurableObject(lane, async (object, state) => {
      const exec = state.storage.sql.exec.bind(state.storage.sql);
      let failures = 20;
      state.storage.sql.exec = ((query: string, ...bound: never[]) => {
        if (query.includes("SET status = 'sending'") && failures > 0) {
          failures -= 1;
          throw new Error("failpoint");
        }
        return exec(query, ...bound);
      }) as typeof state.storage.sql.exec;
      for (let run = 0; run < 20; run += 1) {
        await (object as EndpointLane).alarm();
        expect(await state.storage.getAlarm()).toBe(Date.now() + 5_000);
        vi.setSystemTime(Date.now() + 5_000);
      }
      await (object as EndpointLane).alarm();
    });
    expect(posts).toHaveLength(1);
    expect(await deliveryOf(lane)).toMatchObject({ status: "success", attempt: 1 });
  });

  test("W13: does not charge the receiver for a resolver that is silent, until it has been silent for long", async () => {
    vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response("busy", { status: 503 }));
    const { lane } = await laneWith(1, "https://unresolved.merchant-tests.com/");
    await runAlarmsUntil(lane, farAhead + 90_000);
    expect(await deliveryOf(lane)).toMatchObject({ status: "pending", attempt: 0 });
    await runAlarmsUntil(lane, farAhead + 120_000);
    expect(await deliveryOf(lane)).toMatchObject({ status: "retrying", attempt: 1, error: "dns" });
  });
});

describe("an alarm", () => {
  test("W13: starts nothing after 45 seconds, and the next one, a moment later, goes on", async () => {
    const posts = playReceivers(() => {
      vi.setSystemTime(Date.now() + 9_000); // each attempt takes as long as a receiver may
      return new Response(null, { status: 200 });
    });
    const { lane } = await laneWith(100);
    await runAlarm(lane);
    expect(posts).toHaveLength(slots); // five times nine seconds
    const next = await alarmOf(lane);
    expect(next).toBeGreaterThan(Date.now()); // at the very moment it might be lost
    expect(next).toBeLessThan(Date.now() + 1_000);
    expect(await healthOf(lane)).toMatchObject({ backlog: 100 - slots });
    await runAlarmsUntil(lane);
    expect(new Set(posts.map(({ headers }) => headers.get("svc-event-id"))).size).toBe(100);
    expect(posts).toHaveLength(100);
  });

  test("comes each minute in development, so that a clock that jumped while nothing ran makes nothing late", async () => {
    playReceivers(answering(500));
    const { lane } = await laneWith(1);
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      vi.setSystemTime((await deliveryOf(lane)).nextAttemptAt as number);
      await runAlarm(lane);
    }
    expect((await deliveryOf(lane)).nextAttemptAt).toBe(Date.now() + 7_200_000);
    expect(await alarmOf(lane)).toBe(Date.now() + 60_000);
  });

  test("takes what has been due longest first, whatever its place in the sequence", async () => {
    let status = 500;
    const posts = playReceivers(() => new Response(null, { status }));
    const { lane, business } = await laneWith(6);
    await runAlarm(lane); // six failures: due again in a minute
    status = 200;
    vi.setSystemTime(farAhead + 30_000);
    await commitEvents(business, 6);
    await logs.getByName(business).drain();
    vi.setSystemTime(farAhead + 120_000);
    await runAlarm(lane);
    const seqs = posts.slice(6).map(({ body }) => (JSON.parse(body) as { seq: number }).seq);
    expect(seqs).toEqual([7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6]);
  });
});

describe("what is missing on our side", () => {
  test("W13: is forgiven twenty times before each attempt, and then counts as one", async () => {
    playReceivers(answering(200));
    const { lane } = await laneWith(1);
    await runInDurableObject(lane, (_, { storage: { sql } }) => {
      let now = farAhead;
      const claim = (): DeliveryRow => {
        now = nextDueAt(sql) as number;
        return claimDelivery(sql, now) as DeliveryRow;
      };
      for (const [attempt, ends] of [...[false, true].entries()]) {
        for (let times = 0; times < 20; times += 1) {
          deferDelivery(sql, claim(), "dns", now);
          expect(nextDueAt(sql)).toBe(now + 5_000);
        }
        const row = claim();
        expect(row.attempt).toBe(attempt);
        if (ends) deferDelivery(sql, row, "dns", now);
        else settleAttempt(sql, row, { kind: "answered", status: 500, durationMs: 1 }, now);
        expect(deliveryRow(sql, row.id)).toMatchObject({ status: "pending", attempt: attempt + 1, due: now + (ends ? 300_000 : 60_000) });
      }
    });
  });
});

describe("what was under way", () => {
  const hanging = (): Promise<Response> => new Promise<Response>(() => undefined);

  test("W14: when the process died is sent again at once under the same number, three times; then it counts", async () => {
    let alive = false;
    const posts = playReceivers(() => (alive ? new Response(null, { status: 500 }) : hanging()));
    const { id } = await laneWith(1);
    let lane = lanes.getByName(id);
    for (let death = 1; death <= 4; death += 1) {
      const alarm = runAlarm(lane).catch(() => "died");
      await vi.waitFor(() => expect(posts).toHaveLength(death), { timeout: 20_000 });
      expect((await alarmOf(lane)) ?? 0).toBeGreaterThan(Date.now() + 10_000); // the next time is set before anything is tried
      await abortAllDurableObjects();
      await alarm;
      lane = lanes.getByName(id); // the stub of a dead object stays dead
      expect(await deliveryOf(lane)).toMatchObject({ status: "pending", attempt: 0 });
    }
    expect(posts.map(({ headers }) => headers.get("svc-attempt"))).toEqual(["1", "1", "1", "1"]);
    alive = true;
    await runAlarm(lane); // takes the fourth death for a failure
    expect(await deliveryOf(lane)).toMatchObject({ status: "retrying", attempt: 1, error: "connection" });
    await runAlarmsUntil(lane);
    expect(posts).toHaveLength(5 + 3);
    expect(await deliveryOf(lane)).toMatchObject({ status: "abandoned", attempt: 5 });
  });

  test("W14: and outlived its lease does not count once the delivery was claimed again", async () => {
    playReceivers(answering(200));
    const { lane } = await laneWith(1);
    await runInDurableObject(lane, (_, { storage: { sql } }) => {
      const first = claimDelivery(sql, farAhead) as DeliveryRow;
      requeueInterrupted(sql, farAhead + leaseMs - 1, false);
      expect(claimDelivery(sql, farAhead + leaseMs - 1)).toBeNull(); // its lease still holds
      requeueInterrupted(sql, farAhead + leaseMs, false);
      const second = claimDelivery(sql, farAhead + leaseMs) as DeliveryRow;
      settleAttempt(sql, first, { kind: "answered", status: 500, durationMs: 1 }, farAhead + leaseMs);
      deferDelivery(sql, first, "dns", farAhead + leaseMs);
      cancelDelivery(sql, first, farAhead + leaseMs);
      expect(deliveryRow(sql, second.id)).toEqual(second);
      settleAttempt(sql, second, { kind: "answered", status: 200, durationMs: 1 }, farAhead + leaseMs);
      expect(deliveryRow(sql, second.id)).toMatchObject({ status: "success", attempt: 1, interruptions: 1 });
    });
  });

  test("W24: is all that still reaches a receiver once its endpoint is removed, and nothing of the endpoint stays", async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const posts = playReceivers(async () => {
      await held;
      return new Response(null, { status: 200 });
    });
    const { id, lane, business } = await laneWith(100);
    const alarm = runAlarm(lane);
    await vi.waitFor(() => expect(posts).toHaveLength(slots), { timeout: 20_000 });
    expect(await logs.getByName(business).removeEndpoint(id)).toBe(true);
    release();
    await alarm;
    await commitEvents(business, 3);
    await logs.getByName(business).drain();
    expect(posts).toHaveLength(slots);
    await runInDurableObject(lanes.getByName(id), async (_, state) => {
      expect(await state.storage.getAlarm()).toBeNull();
      const tables = state.storage.sql
        .exec("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'")
        .toArray();
      expect(tables).toEqual([]);
    });
    expect(await logs.getByName(business).endpoints()).toEqual([]);
    expect(await logs.getByName(business).removeEndpoint(id)).toBe(false);
  });

  test("W18: is at most five deliveries of one endpoint, and each finished one makes room at once", async () => {
    let open = 0;
    let max = 0;
    const posts = playReceivers(async () => {
      open += 1;
      max = Math.max(max, open);
      await scheduler.wait(2);
      open -= 1;
      return new Response(null, { status: 200 });
    });
    const { lane } = await laneWith(100);
    await runAlarm(lane);
    expect(posts).toHaveLength(100);
    expect(max).toBe(slots);
    expect(posts.map(({ headers }) => headers.get("svc-event-id"))).toEqual([
      ...new Set(posts.map(({ headers }) => headers.get("svc-event-id"))),
    ]);
  });

  test("W18: leaves nothing behind that keeps the object awake", async () => {
    playReceivers(answering(200));
    const { lane } = await laneWith(100);
    await runAlarm(lane);
    const began = performance.now();
    await evictDurableObject(lane); // waits for timers and requests that are still open
    expect(performance.now() - began).toBeLessThan(8_000); // a time-out left behind would be ten seconds
  });
});

describe("an endpoint", () => {
  test("W20: gets the same bytes at every attempt under a fresh signature that verifies, within 300 seconds", async () => {
    const posts = playReceivers(answering(500));
    const { lane, secret, business } = await laneWith(1);
    await runAlarmsUntil(lane);
    const [event] = await sequenceOf(business);
    expect(new Set(posts.map(({ body }) => body)).size).toBe(1);
    expect(JSON.parse(posts[0]?.body ?? "")).toEqual({
      id: event?.id,
      type: "certificate.revoked",
      created_at: new Date(event?.createdAt ?? 0).toISOString(),
      share_id: null,
      cert_id: event?.certId,
      data: null,
      seq: 1,
    });
    const headers = posts.map((post) => post.headers.get("svc-signature") ?? "");
    expect(new Set(headers).size).toBe(5);
    for (const [at, header] of headers.entries()) {
      expect(header).toMatch(/^t=\d{10},v1=[0-9a-f]{64}$/);
      const now = Math.floor((posts[at]?.at ?? 0) / 1_000);
      expect(header).toContain(`t=${now},`);
      const body = posts[at]?.body ?? "";
      expect(verifySignature(body, header, secret, now + 300)).toBe(true);
      expect(verifySignature(body, header, secret, now + 301)).toBe(false);
      expect(verifySignature(`${body} `, header, secret, now)).toBe(false);
    }
  });

  test("signs with two secrets for a day after a rotation, and with one afterwards", async () => {
    const posts = playReceivers(answering(200));
    const { id, lane, business, secret } = await laneWith(1);
    await runAlarmsUntil(lane);
    const { vault } = await platformOf(env as unknown as Env);
    const newSecret = webhookSecret(crypto.getRandomValues(new Uint8Array(secretBytes)));
    const sealed = await sealSecret(vault, { endpointId: id, businessId: business }, newSecret);
    await logs.getByName(business).rotateSecret(id, { sealed, hint: "whsec_…" }, Date.now());
    const next = async (): Promise<string> => {
      await commitEvents(business, 1);
      await logs.getByName(business).drain();
      await runAlarmsUntil(lane);
      return posts.at(-1)?.headers.get("svc-signature") ?? "";
    };
    const during = await next();
    expect(during).toMatch(/^t=\d{10}(,v1=[0-9a-f]{64}){2}$/);
    const fits = (header: string, by: string): boolean => verifySignature(posts.at(-1)?.body ?? "", header, by, Date.now() / 1_000);
    expect([fits(during, secret), fits(during, newSecret)]).toEqual([true, true]);
    vi.setSystemTime(Date.now() + 24 * 3_600_000);
    const after = await next();
    expect(after).toMatch(/^t=\d{10},v1=[0-9a-f]{64}$/);
    expect([fits(after, secret), fits(after, newSecret)]).toEqual([false, true]);
  });

  test("hears of the types it chose, and of nothing before it was there", async () => {
    const posts = playReceivers(answering(200));
    const business = await newBusiness();
    await commitEvents(business, 3);
    await logs.getByName(business).drain();
    const { lane } = await register(business, hook, ["share.revoked"]);
    await commitEvents(business, 2);
    await commitEvents(business, 1, { type: "share.revoked", certId: null, shareId: "shr_1" });
    await logs.getByName(business).drain();
    await runAlarmsUntil(lane);
    expect(posts.map(({ body }) => JSON.parse(body).type)).toEqual(["share.revoked"]);
    expect(posts.map(({ body }) => JSON.parse(body).seq)).toEqual([6]);
  });

  test("gets each event once from a log that no longer knows how far its lane has come, also what was long dropped", async () => {
    const posts = playReceivers(answering(200));
    const { lane, business } = await laneWith(3);
    await runAlarmsUntil(lane);
    const log = logs.getByName(business);
    const forget = (): Promise<void> =>
      runInDurableObject(log, (_, { storage: { sql } }) => {
        sql.exec("UPDATE endpoint SET acked = 0");
      });
    for (const later of [0, 31 * 86_400_000]) {
      vi.setSystemTime(farAhead + later);
      await evictDurableObject(log);
      await forget();
      await evictDurableObject(log);
      await commitEvents(business, 1);
      await logs.getByName(business).drain();
      await runAlarmsUntil(lane);
    }
    const ids = (await sequenceOf(business)).map(({ id }) => id);
    expect(ids).toHaveLength(5);
    expect(posts.map(({ headers }) => headers.get("svc-event-id"))).toEqual(ids);
  });

  test("that is disabled gets nothing and loses nothing", async () => {
    const posts = playReceivers(answering(200));
    const { id, lane, business } = await laneWith(1);
    await logs.getByName(business).changeEndpoint(id, { status: "disabled" });
    await commitEvents(business, 2);
    await logs.getByName(business).drain();
    await runAlarm(lane);
    expect(posts).toEqual([]);
    expect(await healthOf(lane)).toMatchObject({ backlog: 3, consecutiveFailures: 0 });
    await logs.getByName(business).changeEndpoint(id, { status: "enabled" });
    await runAlarmsUntil(lane);
    expect(posts).toHaveLength(3);
  });

  test("W9: never gets a payload that may no longer be read", async () => {
    const posts = playReceivers(answering(200));
    const business = await newBusiness();
    const { lane } = await register(business, hook);
    await commitEvents(business, 1, { type: "consumer.updated.email", certId: null, shareId: "shr_gone", dataSealed: "1.sealed" });
    await logs.getByName(business).drain();
    await runAlarmsUntil(lane);
    expect(posts).toEqual([]);
    expect(await deliveryOf(lane)).toMatchObject({ status: "abandoned", attempt: 0, error: null });
    expect((await healthOf(lane)).consecutiveFailures).toBe(0);
  });

  test("W25: whose address was changed behind our back is not called", async () => {
    const posts = playReceivers(answering(200));
    const { lane } = await laneWith(1);
    await runInDurableObject(lane, (_, state) => {
      state.storage.sql.exec("UPDATE lane SET url = 'http://169.254.169.254/latest/'");
    });
    await runAlarmsUntil(lane, farAhead + 1_000);
    expect(posts).toEqual([]);
    expect(await deliveryOf(lane)).toMatchObject({ status: "retrying", attempt: 1, responseStatus: null });
  });

  test("that fails a hundred times in a row, or for a day, is told of to the owners once and listed for the operator, and not switched off", async () => {
    let status = 500;
    const posts = playReceivers(() => new Response(null, { status }));
    const { lane, business, id } = await laneWith(99);
    const operator = serviceWith({ ADMIN_TOKEN_SHA256: sha256Hex("o".repeat(43)) });
    const listed = async (): Promise<readonly object[]> => {
      const { body } = await operator("/v1/admin/stuck", { headers: { authorization: `Bearer ${"o".repeat(43)}` } });
      return body.data.failing_endpoints.filter(({ business_id }: { business_id: string }) => business_id === business);
    };
    const noted = (): Promise<number | null> =>
      env.DB.prepare("SELECT COUNT(*) AS n FROM outbox WHERE kind = 'failing_endpoint' AND entity_id = ?").bind(id).first<number>("n");
    await env.DB.prepare("UPDATE businesses SET contact_email = 'ops@acme.example.com' WHERE id = ?").bind(business).run();
    const letters = (): Promise<number | null> =>
      env.DB.prepare("SELECT COUNT(*) AS n FROM mail_outbox WHERE template = 'webhook_failing'").first<number>("n");
    await runAlarmsUntil(lane, farAhead + 30_000);
    expect(await healthOf(lane)).toMatchObject({ consecutiveFailures: 99, failingSince: posts[0]?.at });
    expect(await letters()).toBe(0);
    expect(await listed()).toEqual([]);
    await runAlarmsUntil(lane, farAhead + 90_000);
    expect(await letters()).toBe(1);
    const { consecutiveFailures: failures, failingSince, backlog } = await healthOf(lane);
    expect(await listed()).toEqual([
      {
        home: "00",
        webhook_id: id,
        business_id: business,
        failing_since: new Date(failingSince as number).toISOString(),
        failures,
        waiting: backlog,
      },
    ]);
    await runAlarmsUntil(lane, farAhead + 400_000);
    expect(await letters()).toBe(1);
    status = 200;
    await runAlarmsUntil(lane);
    expect(await healthOf(lane)).toMatchObject({ consecutiveFailures: 0, failingSince: null, backlog: 0, lastResponseStatus: 200 });
    expect([await noted(), await listed(), await noted()]).toEqual([1, [], 0]);
    status = 500;
    await commitEvents(business, 100);
    await logs.getByName(business).drain();
    await runAlarmsUntil(lane, Date.now() + 30_000);
    expect(await letters()).toBe(2); // it had recovered: failing again is news
    expect(await listed()).toMatchObject([{ webhook_id: id }]);
    await logs.getByName(business).removeEndpoint(id);
    expect([await listed(), await noted()]).toEqual([[], 0]);
    const late = await laneWith(1);
    await env.DB.prepare("UPDATE businesses SET contact_email = 'ops@acme.example.com' WHERE id = ?").bind(late.business).run();
    await runAlarmsUntil(late.lane);
    expect(await letters()).toBe(2);
    vi.setSystemTime(Date.now() + 86_400_000);
    await commitEvents(late.business, 1);
    await logs.getByName(late.business).drain();
    const began = performance.now();
    await runAlarmsUntil(late.lane, Date.now() + 1_000);
    expect(performance.now() - began).toBeLessThan(5_000); // an attempt that ends while the letter is written is not waited for
    expect(await letters()).toBe(3);
  });

  test("W25: whose host turns out to lead inside is not called, and is asked about anew at the next attempt", async () => {
    const posts = playReceivers(answering(200));
    const outside = vi.mocked(globalThis.fetch).getMockImplementation() as typeof fetch;
    let address = "10.0.0.7";
    const asked: string[] = [];
    vi.mocked(globalThis.fetch).mockImplementation(async (input, init) => {
      const url = new URL(new Request(input as RequestInfo, init as RequestInit).url);
      if (!url.searchParams.has("type")) return outside(input, init);
      asked.push(url.host);
      const name = url.searchParams.get("name");
      return Response.json({ Status: 0, Answer: url.searchParams.get("type") === "A" ? [{ name, type: 1, TTL: 1, data: address }] : [] });
    });
    const { lane } = await laneWith(1, "https://turns.merchant-tests.com/");
    await runAlarmsUntil(lane, farAhead + 1_000);
    expect(posts).toEqual([]);
    expect(await deliveryOf(lane)).toMatchObject({ status: "retrying", attempt: 1, responseStatus: null, error: "dns" });
    expect(new Set(asked).size).toBe(2); // both resolvers
    address = "93.184.216.34";
    await runAlarmsUntil(lane);
    expect(posts).toHaveLength(1);
    expect(asked.length).toBe(8);
  });

  test("W25: whose host was found public is taken for that for five seconds and no longer, whichever way the clock moves", async () => {
    let address = "93.184.216.34";
    let asked = 0;
    const posts = playReceivers(answering(200), () => {
      asked += 1;
      return [address];
    });
    const { lane, business } = await laneWith(0, "https://rebinds.merchant-tests.com/");
    const attemptAt = async (at: number): Promise<{ readonly posts: number; readonly asked: boolean }> => {
      const before = { posts: posts.length, asked };
      vi.setSystemTime(at);
      await commitEvents(business, 1);
      await logs.getByName(business).drain();
      await runAlarm(lane);
      return { posts: posts.length - before.posts, asked: asked > before.asked };
    };
    expect(await attemptAt(farAhead)).toEqual({ posts: 1, asked: true });
    address = "10.0.0.7";
    expect(await attemptAt(farAhead + 4_999)).toEqual({ posts: 1, asked: false });
    expect(await attemptAt(farAhead + 5_000)).toEqual({ posts: 0, asked: true });
    expect(await attemptAt(farAhead + 5_001)).toEqual({ posts: 0, asked: true }); // a refusal is not remembered
    address = "93.184.216.34";
    expect(await attemptAt(farAhead + 10_000)).toEqual({ posts: 1, asked: true });
    address = "10.0.0.7";
    expect(await attemptAt(farAhead + 1)).toEqual({ posts: 0, asked: true }); // set back: the verdict would have held for longer
  });

  test("W12: that answers without end is heard to its status and no further", async () => {
    let cancelled = 0;
    const posts = playReceivers(
      () =>
        new Response(
          new ReadableStream({
            pull: async (stream) => {
              stream.enqueue(new Uint8Array(1_024));
              await scheduler.wait(1);
            },
            cancel: () => {
              cancelled += 1;
            },
          }),
        ),
    );
    const { lane } = await laneWith(1);
    await runAlarmsUntil(lane);
    expect(posts).toHaveLength(1);
    expect(cancelled).toBe(1);
    expect(await deliveryOf(lane)).toMatchObject({ status: "success", responseStatus: 200 });
  });

  test("W16: is reached while twenty others of the same business hang", async () => {
    const posts = playReceivers(({ url }) => (url.includes("slow") ? hangsForGood() : new Response(null, { status: 200 })));
    const business = await newBusiness();
    const slow = await Promise.all(Array.from({ length: 19 }, (_, at) => register(business, `https://slow${at}.merchant-tests.com/`)));
    const { lane } = await register(business, hook);
    await commitEvents(business, 20);
    await logs.getByName(business).drain();
    const stuck = slow.map((one) => runAlarm(one.lane).catch(() => "died"));
    await runAlarm(lane);
    expect(posts.filter(({ url }) => url === hook)).toHaveLength(20);
    expect(await healthOf(lane)).toMatchObject({ backlog: 0 });
    await abortAllDurableObjects();
    await Promise.all(stuck);
  });

  test("W31: keeps what it delivered for a month and what it gave up for three, and no longer", async () => {
    let status = 200;
    playReceivers(() => new Response(null, { status }));
    const { lane, business } = await laneWith(3);
    await runAlarmsUntil(lane);
    status = 500;
    const one = async (): Promise<void> => {
      await commitEvents(business, 1);
      await logs.getByName(business).drain();
      await runAlarmsUntil(lane);
    };
    await one();
    expect(await deliveriesOf(lane)).toHaveLength(4);
    vi.setSystemTime(farAhead + 31 * 86_400_000);
    await one();
    expect((await deliveriesOf(lane)).map(({ status }) => status)).toEqual(["abandoned", "abandoned"]);
    vi.setSystemTime(farAhead + 91 * 86_400_000);
    await one();
    expect(await deliveriesOf(lane)).toHaveLength(2);
  });

  test("W31: keeps it no longer either when nothing ever happens on the endpoint again, also while it is switched off", async () => {
    let status = 200;
    playReceivers(() => new Response(null, { status }));
    const { id, lane, business } = await laneWith(3);
    await runAlarmsUntil(lane);
    status = 500;
    await commitEvents(business, 1);
    await logs.getByName(business).drain();
    await runAlarmsUntil(lane);
    await logs.getByName(business).changeEndpoint(id, { status: "disabled" });
    const ended = Date.now();
    const left: (readonly [days: number, deliveries: number])[] = [];
    for (let at = await alarmOf(lane); at !== null; at = await alarmOf(lane)) {
      vi.setSystemTime(at);
      await runAlarm(lane);
      left.push([Math.round((at - ended) / 86_400_000), (await deliveriesOf(lane)).length]);
    }
    expect(left).toEqual([
      [30, 1],
      [90, 0],
    ]);
  });

  test("W31: also what an earlier deployment left without an alarm", async () => {
    playReceivers(answering(200));
    const { lane } = await laneWith(1);
    await runAlarmsUntil(lane);
    await runInDurableObject(lane, (_, state) => state.storage.deleteAlarm());
    await evictDurableObject(lane);
    expect(await healthOf(lane)).toMatchObject({ backlog: 0 }); // whoever asks it anything wakes it
    await vi.waitFor(async () => expect(await alarmOf(lane)).not.toBeNull(), 20_000);
    await runAlarm(lane);
    expect(await alarmOf(lane)).toBeGreaterThan(farAhead + 29 * 86_400_000);
  });
});

const hangsForGood = (): Promise<Response> => new Promise<Response>(() => undefined);

describe("the hours of attempts", () => {
  const hour = 3_600_000;
  const start = Math.floor(farAhead / hour) * hour;
  const hoursOf = (lane: LaneStub) => lane.attemptHours(0);

  test("count each attempt that ended, in the hour it ended in, and no hour in which none did", async () => {
    let status = 500;
    playReceivers(() => new Response(null, { status }));
    const { lane } = await laneWith(2);
    await runAlarmsUntil(lane, farAhead + 1_000);
    expect(await hoursOf(lane)).toEqual([{ start, delivered: 0, failed: 2 }]);
    vi.setSystemTime(start + 5 * hour);
    status = 204;
    await runAlarmsUntil(lane);
    expect(await hoursOf(lane)).toEqual([
      { start, delivered: 0, failed: 2 },
      { start: start + 5 * hour, delivered: 2, failed: 0 },
    ]);
    expect(await lane.attemptHours(start + hour)).toEqual([{ start: start + 5 * hour, delivered: 2, failed: 0 }]);
  });

  test("count a replay that was delivered, and neither one that failed nor what was put off for a reason of ours", async () => {
    vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response("busy", { status: 503 }));
    const { lane } = await laneWith(1, "https://unresolved.merchant-tests.com/");
    await runAlarmsUntil(lane, farAhead + 60_000);
    expect(await hoursOf(lane)).toEqual([]);
    await lane.keepReplay((await deliveryOf(lane)).id, { kind: "answered", status: 500, durationMs: 1 });
    expect(await hoursOf(lane)).toEqual([]);
    await lane.keepReplay((await deliveryOf(lane)).id, { kind: "answered", status: 200, durationMs: 1 });
    expect(await hoursOf(lane)).toEqual([{ start, delivered: 1, failed: 0 }]);
  });

  test("are kept as long as they are shown, two days", async () => {
    playReceivers(answering(200));
    const { lane, business } = await laneWith(1);
    await runAlarmsUntil(lane);
    for (const later of [47, 48]) {
      vi.setSystemTime(start + later * hour);
      await commitEvents(business, 1);
      await logs.getByName(business).drain();
      await runAlarmsUntil(lane);
    }
    expect((await hoursOf(lane)).map((one) => (one.start - start) / hour)).toEqual([47, 48]);
  });

  test("are gone with the endpoint", async () => {
    playReceivers(answering(200));
    const { lane } = await laneWith(1);
    await runAlarmsUntil(lane);
    await lane.wipe();
    expect(await hoursOf(lane)).toEqual([]);
  });
});
