// Tests deliveries to an endpoint: they are made exactly on schedule and at least once, and the queue never gets stuck.
import { abortAllDurableObjects, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { DeliveryQueue } from "../../durable-objects/delivery-queue/object.ts";
import type { WebhookExchange } from "../../core/webhooks/exchange.ts";
import type { Delivery, DeliveryRecord, EndpointHealth, RecordedAttempt } from "../../core/webhooks/endpoint.ts";
import { sha256Hex } from "../../core/hash.ts";
import { attemptLeaseMs, maxDeliveryAttempts, maxConcurrentDeliveries } from "../../core/webhooks/retry-schedule.ts";
import { insertAttempt, listAttempts } from "../../durable-objects/delivery-queue/attempts.ts";
import { idleRunMs } from "../../workers/platform/delivery-queue-binding.ts";
import {
  cancelDelivery,
  claimDelivery,
  findDeliveryRow,
  findNextDueAt,
  deferDelivery,
  requeueInterrupted,
  settleAttempt,
  type DeliveryRow,
} from "../../durable-objects/delivery-queue/deliveries.ts";
import { secretLength, formatWebhookSecret } from "../../core/webhooks/signature.ts";
import { verifySignature } from "../../core/webhooks/verify-signature.ts";
import { openExchange } from "../../storage/webhook-exchanges.ts";
import { sealWebhookSecret } from "../../storage/webhook-secrets.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import {
  getAlarm,
  commitEvents,
  farAhead,
  deliveryQueues,
  eventSequences,
  createBusiness,
  mockReceivers,
  proveHost,
  registerEndpoint,
  runAlarm,
  runAlarmsUntil,
  runEveryAlarm,
  readSequence,
  type DeliveryQueueStub,
  type RegisteredEndpoint,
} from "../support/events.ts";
import { createServiceCall } from "../support/world.ts";

const hook = "https://hook1.merchant-tests.com/in?tenant=7";
const createAnsweredOutcome = (status: number) => ({ kind: "answered", status, durationMs: 1, exchangeSealed: null }) as const;
const createResponder = (status: number) => () => new Response(null, { status });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(farAhead);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Creates a business with one endpoint, whose host has responded with 2xx before, and `events` deliveries in its queue. */
const createQueueWith = async (events: number, url = hook): Promise<RegisteredEndpoint & { readonly business: string }> => {
  const business = await createBusiness();
  const registered = await registerEndpoint(business, url);
  await proveHost(business, url);
  await commitEvents(business, events);
  await eventSequences.getByName(business).drain();
  return { ...registered, business };
};

const listDeliveries = async (queue: DeliveryQueueStub): Promise<readonly Delivery[]> =>
  (await queue.listDeliveries(100, null))?.deliveries ?? [];
const getDelivery = async (queue: DeliveryQueueStub): Promise<Delivery> => (await listDeliveries(queue))[0] as Delivery;
const getHealth = async (queue: DeliveryQueueStub): Promise<EndpointHealth> => (await queue.getActivity())?.health as EndpointHealth;

describe("the retry schedule", () => {
  test("retries exactly 1 min, 5 min, 30 min and 2 h after each failure and stops after five attempts", async () => {
    const posts = mockReceivers(createResponder(500));
    const { queue } = await createQueueWith(1);
    await runEveryAlarm(queue, async (at) => {
      const before = posts.length;
      vi.setSystemTime(Math.max(Date.now(), at - 1));
      if (before > 0) {
        await runAlarm(queue);
        expect(posts).toHaveLength(before);
      }
    });
    const first = posts[0]?.at ?? 0;
    expect(posts.map(({ at }) => at - first)).toEqual([0, 60_000, 360_000, 2_160_000, 9_360_000]);
    expect(posts).toHaveLength(maxDeliveryAttempts);
    expect(await getDelivery(queue)).toMatchObject({
      status: "abandoned",
      attempt: 5,
      responseStatus: 500,
      error: "http",
      nextAttemptAt: null,
    });
    expect(await getAlarm(queue)).toBe(first + 7 * 86_400_000); // this alarm deletes the first attempt when its retention period ends
    expect(posts.map(({ headers }) => headers.get("svc-attempt"))).toEqual(["1", "2", "3", "4", "5"]);
  });

  test("shows when the next attempt is due and ends with the first success", async () => {
    let status = 503;
    const posts = mockReceivers(() => new Response(null, { status }));
    const { queue } = await createQueueWith(1);
    expect(await getDelivery(queue)).toMatchObject({ status: "pending", attempt: 0, responseStatus: null });
    await runAlarmsUntil(queue, farAhead + 1_000);
    const failed = await getDelivery(queue);
    expect(failed).toMatchObject({ status: "retrying", attempt: 1, responseStatus: 503, deliveredAt: null });
    expect(failed.nextAttemptAt).toBe((posts[0]?.at ?? 0) + 60_000);
    status = 204;
    await runAlarmsUntil(queue);
    expect(await getDelivery(queue)).toMatchObject({
      status: "success",
      attempt: 2,
      responseStatus: 204,
      error: null,
      nextAttemptAt: null,
    });
    expect(posts).toHaveLength(2);
    // This alarm deletes the first attempt when its retention period ends.
    expect(await getAlarm(queue)).toBe((posts[0]?.at ?? 0) + 7 * 86_400_000);
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
  ])("treats status %i as success or failure as documented", async (status, delivered) => {
    const posts = mockReceivers(
      () => new Response(null, { status, headers: { location: "https://elsewhere.merchant-tests.com/", "retry-after": "7200" } }),
    );
    const { queue } = await createQueueWith(1);
    await runAlarmsUntil(queue, farAhead + 1_000);
    expect(await getDelivery(queue)).toMatchObject({ status: delivered ? "success" : "retrying", responseStatus: status });
    expect(posts.map(({ url }) => url)).toEqual([hook]);
  });

  test.each([
    ["Network connection lost.", "connection"],
    ["TLS handshake failed: certificate verify failed", "tls"],
    ["DNS lookup failed.", "dns"],
  ])("retries after %s", async (message, error) => {
    mockReceivers(() => {
      throw new TypeError(message);
    });
    const { queue } = await createQueueWith(1);
    await runAlarmsUntil(queue, farAhead + 1_000);
    expect(await getDelivery(queue)).toMatchObject({ status: "retrying", attempt: 1, responseStatus: null, error });
    expect((await getHealth(queue)).consecutiveFailures).toBe(1);
  });

  test.each([301, 302, 303, 307, 308])("follows no redirect (%i)", async (status) => {
    const posts = mockReceivers(() => new Response(null, { status, headers: { location: "http://169.254.169.254/latest/meta-data/" } }));
    const { queue } = await createQueueWith(1);
    await runAlarmsUntil(queue);
    expect(new Set(posts.map(({ url }) => url))).toEqual(new Set([hook]));
    expect(posts).toHaveLength(5);
  });

  test("stays the same when the process ends between attempts", async () => {
    const posts = mockReceivers(createResponder(500));
    const { queue } = await createQueueWith(1);
    await runEveryAlarm(queue, () => evictDurableObject(queue));
    const first = posts[0]?.at ?? 0;
    expect(posts.map(({ at }) => at - first)).toEqual([0, 60_000, 360_000, 2_160_000, 9_360_000]);
  });

  test("continues after a restart even if the alarm was lost", async () => {
    const posts = mockReceivers(createResponder(200));
    const { queue } = await createQueueWith(1);
    await runInDurableObject(queue, (_, state) => state.storage.deleteAlarm());
    await evictDurableObject(queue);
    expect(await getHealth(queue)).toMatchObject({ backlog: 1 }); // any call starts the object
    await runAlarmsUntil(queue);
    expect(posts).toHaveLength(1);
  });

  test("continues after the sending code fails 20 times, without abandoning a delivery or rejecting an alarm", async () => {
    const posts = mockReceivers(createResponder(200));
    const { queue } = await createQueueWith(1);
    await runInDurableObject(queue, async (object, state) => {
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
        await (object as DeliveryQueue).alarm();
        expect(await state.storage.getAlarm()).toBe(Date.now() + 5_000);
        vi.setSystemTime(Date.now() + 5_000);
      }
      await (object as DeliveryQueue).alarm();
    });
    expect(posts).toHaveLength(1);
    expect(await getDelivery(queue)).toMatchObject({ status: "success", attempt: 1 });
  });

  test("counts no attempt while the resolver does not respond, until that lasts too long", async () => {
    vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response("busy", { status: 503 }));
    const { queue } = await createQueueWith(1, "https://unresolved.merchant-tests.com/");
    await runAlarmsUntil(queue, farAhead + 90_000);
    expect(await getDelivery(queue)).toMatchObject({ status: "pending", attempt: 0 });
    await runAlarmsUntil(queue, farAhead + 120_000);
    expect(await getDelivery(queue)).toMatchObject({ status: "retrying", attempt: 1, error: "dns" });
  });
});

describe("an alarm", () => {
  test("starts no attempt after 45 seconds, and the next alarm continues a moment later", async () => {
    const posts = mockReceivers(() => {
      vi.setSystemTime(Date.now() + 9_000); // close to the ten-second limit of an attempt
      return new Response(null, { status: 200 });
    });
    const { queue } = await createQueueWith(100);
    await runAlarm(queue);
    expect(posts).toHaveLength(maxConcurrentDeliveries); // five deliveries of nine seconds each reach the limit of 45 seconds
    const next = await getAlarm(queue);
    expect(next).toBeGreaterThan(Date.now()); // an alarm set for the current moment might be lost
    expect(next).toBeLessThan(Date.now() + 1_000);
    expect(await getHealth(queue)).toMatchObject({ backlog: 100 - maxConcurrentDeliveries });
    await runAlarmsUntil(queue);
    expect(new Set(posts.map(({ headers }) => headers.get("svc-event-id"))).size).toBe(100);
    expect(posts).toHaveLength(100);
  });

  test("waits for a moment after a delivery, and sends an event that arrives in this time without another alarm", async () => {
    const posts = mockReceivers(createResponder(200));
    const { queue, business } = await createQueueWith(1);
    const { promise: idleTime, resolve: endIdleTime } = Promise.withResolvers<void>();
    const wait = scheduler.wait.bind(scheduler);
    vi.spyOn(scheduler, "wait").mockImplementation((ms) => (ms === idleRunMs ? idleTime : wait(ms)));
    const run = runAlarm(queue);
    await vi.waitFor(() => expect(posts).toHaveLength(1), 20_000);
    await vi.waitFor(() => expect(scheduler.wait).toHaveBeenCalledWith(idleRunMs), 20_000);
    await commitEvents(business, 1);
    await eventSequences.getByName(business).drain();
    await vi.waitFor(() => expect(posts).toHaveLength(2), 20_000);
    endIdleTime();
    await run;
    expect(await getHealth(queue)).toMatchObject({ backlog: 0 });
  });

  test("runs every minute in development, so that a clock that jumps forward delays no delivery", async () => {
    mockReceivers(createResponder(500));
    const { queue } = await createQueueWith(1);
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      vi.setSystemTime((await getDelivery(queue)).nextAttemptAt as number);
      await runAlarm(queue);
    }
    expect((await getDelivery(queue)).nextAttemptAt).toBe(Date.now() + 7_200_000);
    expect(await getAlarm(queue)).toBe(Date.now() + 60_000);
  });

  test("sends the delivery that has been due longest first, regardless of its sequence number", async () => {
    let status = 500;
    const posts = mockReceivers(() => new Response(null, { status }));
    const { queue, business } = await createQueueWith(6);
    await runAlarm(queue); // six attempts fail, and the next ones are due in a minute
    status = 200;
    vi.setSystemTime(farAhead + 30_000);
    await commitEvents(business, 6);
    await eventSequences.getByName(business).drain();
    vi.setSystemTime(farAhead + 120_000);
    await runAlarm(queue);
    const seqs = posts.slice(6).map(({ body }) => (JSON.parse(body) as { seq: number }).seq);
    expect(seqs).toEqual([7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6]);
  });
});

describe("a failure on our side", () => {
  test("does not count the first 20 times before each attempt, and then counts as a failed attempt", async () => {
    mockReceivers(createResponder(200));
    const { queue } = await createQueueWith(1);
    await runInDurableObject(queue, (_, { storage: { sql } }) => {
      let now = farAhead;
      const claim = (): DeliveryRow => {
        now = findNextDueAt(sql) as number;
        return claimDelivery(sql, now) as DeliveryRow;
      };
      for (const [attempt, ends] of [...[false, true].entries()]) {
        for (let times = 0; times < 20; times += 1) {
          deferDelivery(sql, claim(), "dns", now);
          expect(findNextDueAt(sql)).toBe(now + 5_000);
        }
        const row = claim();
        expect(row.attempt).toBe(attempt);
        if (ends) deferDelivery(sql, row, "dns", now);
        else settleAttempt(sql, row, createAnsweredOutcome(500), now);
        expect(findDeliveryRow(sql, row.id)).toMatchObject({
          status: "pending",
          attempt: attempt + 1,
          due: now + (ends ? 300_000 : 60_000),
        });
      }
    });
  });
});

describe("an attempt in progress", () => {
  const hang = (): Promise<Response> => new Promise<Response>(() => undefined);

  test("is sent again at once under the same number after a crash, three times, and then counts as failed", async () => {
    let alive = false;
    const posts = mockReceivers(() => (alive ? new Response(null, { status: 500 }) : hang()));
    const { id } = await createQueueWith(1);
    let queue = deliveryQueues.getByName(id);
    for (let death = 1; death <= 4; death += 1) {
      const alarm = runAlarm(queue).catch(() => "died");
      await vi.waitFor(() => expect(posts).toHaveLength(death), { timeout: 20_000 });
      expect((await getAlarm(queue)) ?? 0).toBeGreaterThan(Date.now() + 10_000); // the next alarm is set before anything is sent
      await abortAllDurableObjects();
      await alarm;
      queue = deliveryQueues.getByName(id); // a dead object's stub does not recover, so get a new one
      expect(await getDelivery(queue)).toMatchObject({ status: "pending", attempt: 0 });
    }
    expect(posts.map(({ headers }) => headers.get("svc-attempt"))).toEqual(["1", "1", "1", "1"]);
    alive = true;
    await runAlarm(queue); // counts the fourth crash as a failed attempt
    expect(await getDelivery(queue)).toMatchObject({ status: "retrying", attempt: 1, error: "connection" });
    await runAlarmsUntil(queue);
    expect(posts).toHaveLength(5 + 3);
    expect(await getDelivery(queue)).toMatchObject({ status: "abandoned", attempt: 5 });
  });

  test("does not count after its lease expired and the delivery was claimed again", async () => {
    mockReceivers(createResponder(200));
    const { queue } = await createQueueWith(1);
    await runInDurableObject(queue, (_, { storage: { sql } }) => {
      const first = claimDelivery(sql, farAhead) as DeliveryRow;
      requeueInterrupted(sql, farAhead + attemptLeaseMs - 1, false);
      expect(claimDelivery(sql, farAhead + attemptLeaseMs - 1)).toBeNull(); // the lease of the first claim has not expired
      requeueInterrupted(sql, farAhead + attemptLeaseMs, false);
      const second = claimDelivery(sql, farAhead + attemptLeaseMs) as DeliveryRow;
      settleAttempt(sql, first, createAnsweredOutcome(500), farAhead + attemptLeaseMs);
      deferDelivery(sql, first, "dns", farAhead + attemptLeaseMs);
      cancelDelivery(sql, first, farAhead + attemptLeaseMs);
      expect(findDeliveryRow(sql, second.id)).toEqual(second);
      settleAttempt(sql, second, createAnsweredOutcome(200), farAhead + attemptLeaseMs);
      expect(findDeliveryRow(sql, second.id)).toMatchObject({ status: "success", attempt: 1, interruptions: 1 });
    });
  });

  test("is the only one that still reaches a receiver after its endpoint is removed, and no data of the endpoint remains", async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const posts = mockReceivers(async () => {
      await held;
      return new Response(null, { status: 200 });
    });
    const { id, queue, business } = await createQueueWith(100);
    const alarm = runAlarm(queue);
    await vi.waitFor(() => expect(posts).toHaveLength(maxConcurrentDeliveries), { timeout: 20_000 });
    expect(await eventSequences.getByName(business).removeEndpoint(id)).toBe(true);
    release();
    await alarm;
    await commitEvents(business, 3);
    await eventSequences.getByName(business).drain();
    expect(posts).toHaveLength(maxConcurrentDeliveries);
    await runInDurableObject(deliveryQueues.getByName(id), async (_, state) => {
      expect(await state.storage.getAlarm()).toBeNull();
      const tables = state.storage.sql
        .exec("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'")
        .toArray();
      expect(tables).toEqual([]);
    });
    expect(await eventSequences.getByName(business).listEndpoints()).toEqual([]);
    expect(await eventSequences.getByName(business).removeEndpoint(id)).toBe(false);
  });

  test("is one of at most five per endpoint, and a finished one frees its slot at once", async () => {
    let open = 0;
    let max = 0;
    const posts = mockReceivers(async () => {
      open += 1;
      max = Math.max(max, open);
      await scheduler.wait(2);
      open -= 1;
      return new Response(null, { status: 200 });
    });
    const { queue } = await createQueueWith(100);
    await runAlarm(queue);
    expect(posts).toHaveLength(100);
    expect(max).toBe(maxConcurrentDeliveries);
    expect(posts.map(({ headers }) => headers.get("svc-event-id"))).toEqual([
      ...new Set(posts.map(({ headers }) => headers.get("svc-event-id"))),
    ]);
  });

  test("leaves no timer that keeps the object awake", async () => {
    mockReceivers(createResponder(200));
    const { queue } = await createQueueWith(100);
    await runAlarm(queue);
    const startedAt = performance.now();
    await evictDurableObject(queue); // waits for timers and requests that are still pending
    expect(performance.now() - startedAt).toBeLessThan(9_500); // with a leftover timer, eviction would take ten seconds
  });
});

describe("an endpoint", () => {
  test("gets the same body at every attempt, with a new signature that is valid for 300 seconds", async () => {
    const posts = mockReceivers(createResponder(500));
    const { queue, secret, business } = await createQueueWith(1);
    await runAlarmsUntil(queue);
    const [event] = await readSequence(business);
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

  test("gets two signatures for a day after a secret rotation, and one afterward", async () => {
    const posts = mockReceivers(createResponder(200));
    const { id, queue, business, secret } = await createQueueWith(1);
    await runAlarmsUntil(queue);
    const { vault } = await getPlatform(env);
    const newSecret = formatWebhookSecret(crypto.getRandomValues(new Uint8Array(secretLength)));
    const sealed = await sealWebhookSecret(vault, { endpointId: id, businessId: business }, newSecret);
    await eventSequences.getByName(business).rotateSecret(id, { sealed, hint: "whsec_…" }, Date.now());
    const deliverNext = async (): Promise<string> => {
      await commitEvents(business, 1);
      await eventSequences.getByName(business).drain();
      await runAlarmsUntil(queue);
      return posts.at(-1)?.headers.get("svc-signature") ?? "";
    };
    const during = await deliverNext();
    expect(during).toMatch(/^t=\d{10}(,v1=[0-9a-f]{64}){2}$/);
    const isSignatureValid = (header: string, signingSecret: string): boolean =>
      verifySignature(posts.at(-1)?.body ?? "", header, signingSecret, Date.now() / 1_000);
    expect([isSignatureValid(during, secret), isSignatureValid(during, newSecret)]).toEqual([true, true]);
    vi.setSystemTime(Date.now() + 24 * 3_600_000);
    const after = await deliverNext();
    expect(after).toMatch(/^t=\d{10},v1=[0-9a-f]{64}$/);
    expect([isSignatureValid(after, secret), isSignatureValid(after, newSecret)]).toEqual([false, true]);
  });

  test("gets the event types it selected, and no events from before it was added", async () => {
    const posts = mockReceivers(createResponder(200));
    const business = await createBusiness();
    await commitEvents(business, 3);
    await eventSequences.getByName(business).drain();
    const { queue } = await registerEndpoint(business, hook, ["share.revoked"]);
    await commitEvents(business, 2);
    await commitEvents(business, 1, { type: "share.revoked", certId: null, shareId: "shr_1" });
    await eventSequences.getByName(business).drain();
    await runAlarmsUntil(queue);
    expect(posts.map(({ body }) => JSON.parse(body).type)).toEqual(["share.revoked"]);
    expect(posts.map(({ body }) => JSON.parse(body).seq)).toEqual([6]);
  });

  test("gets each event once from a sequence that lost its progress, including events whose delivery was deleted", async () => {
    const posts = mockReceivers(createResponder(200));
    const { queue, business } = await createQueueWith(3);
    await runAlarmsUntil(queue);
    const log = eventSequences.getByName(business);
    const forget = (): Promise<void> =>
      runInDurableObject(log, (_, { storage: { sql } }) => {
        sql.exec("UPDATE endpoint SET acked = 0");
      });
    for (const delay of [0, 31 * 86_400_000]) {
      vi.setSystemTime(farAhead + delay);
      await evictDurableObject(log);
      await forget();
      await evictDurableObject(log);
      await commitEvents(business, 1);
      await eventSequences.getByName(business).drain();
      await runAlarmsUntil(queue);
    }
    const ids = (await readSequence(business)).map(({ id }) => id);
    expect(ids).toHaveLength(5);
    expect(posts.map(({ headers }) => headers.get("svc-event-id"))).toEqual(ids);
  });

  test("gets nothing while it is disabled and everything afterward", async () => {
    const posts = mockReceivers(createResponder(200));
    const { id, queue, business } = await createQueueWith(1);
    await eventSequences.getByName(business).updateEndpoint(id, { status: "disabled" });
    await commitEvents(business, 2);
    await eventSequences.getByName(business).drain();
    await runAlarm(queue);
    expect(posts).toEqual([]);
    expect(await getHealth(queue)).toMatchObject({ backlog: 3, consecutiveFailures: 0 });
    await eventSequences.getByName(business).updateEndpoint(id, { status: "enabled" });
    await runAlarmsUntil(queue);
    expect(posts).toHaveLength(3);
  });

  test("never gets a payload of a share that has ended", async () => {
    const posts = mockReceivers(createResponder(200));
    const business = await createBusiness();
    const { queue } = await registerEndpoint(business, hook);
    await commitEvents(business, 1, { type: "consumer.updated.email", certId: null, shareId: "shr_gone", dataSealed: "1.sealed" });
    await eventSequences.getByName(business).drain();
    await runAlarmsUntil(queue);
    expect(posts).toEqual([]);
    expect(await getDelivery(queue)).toMatchObject({ status: "abandoned", attempt: 0, error: null });
    expect((await getHealth(queue)).consecutiveFailures).toBe(0);
  });

  test("does not count a delivery as failed if its share ended after a failed attempt", async () => {
    const posts = mockReceivers(createResponder(200));
    const business = await createBusiness();
    const { queue } = await registerEndpoint(business, hook);
    await commitEvents(business, 1, { type: "consumer.updated.email", certId: null, shareId: "shr_gone", dataSealed: "1.sealed" });
    await eventSequences.getByName(business).drain();
    await runInDurableObject(queue, (_, state) => {
      state.storage.sql.exec("UPDATE delivery SET attempt = 1, error = 'HTTP 500', failed_at = created_at");
    });
    await runAlarmsUntil(queue);
    expect(posts).toEqual([]);
    expect(await getDelivery(queue)).toMatchObject({ status: "abandoned", attempt: 1, error: null });
    expect(await queue.countFailedSince(0)).toBe(0);
    expect(await queue.recoverFailed(0)).toMatchObject({ queued: 0 });
  });

  test("is not called at a private address that was written directly to the database", async () => {
    const posts = mockReceivers(createResponder(200));
    const { queue } = await createQueueWith(1);
    await runInDurableObject(queue, (_, state) => {
      state.storage.sql.exec("UPDATE queue SET url = 'http://169.254.169.254/latest/'");
    });
    await runAlarmsUntil(queue, farAhead + 1_000);
    expect(posts).toEqual([]);
    expect(await getDelivery(queue)).toMatchObject({ status: "retrying", attempt: 1, responseStatus: null });
  });

  test("alerts its owners once and is listed for the operator after 100 failures in a row or a day without success, and stays enabled", async () => {
    let status = 500;
    const posts = mockReceivers(() => new Response(null, { status }));
    const { queue, business, id } = await createQueueWith(99);
    const operator = createServiceCall({ ADMIN_TOKEN_SHA256: sha256Hex("o".repeat(43)) });
    const listStuck = async (): Promise<readonly object[]> => {
      const { body } = await operator("/v1/admin/stuck", { headers: { authorization: `Bearer ${"o".repeat(43)}` } });
      return body.data.failing_endpoints.filter(({ business_id }: { business_id: string }) => business_id === business);
    };
    const countAlertNotes = (): Promise<number | null> =>
      env.DB.prepare("SELECT COUNT(*) AS n FROM outbox WHERE kind = 'failing_endpoint' AND entity_id = ?").bind(id).first<number>("n");
    await env.DB.prepare("UPDATE businesses SET contact_email = 'ops@acme.example.com' WHERE id = ?").bind(business).run();
    const countAlertEmails = (): Promise<number | null> =>
      env.DB.prepare("SELECT TOTAL(notices) AS n FROM owner_notices WHERE kind = 'webhook_failing'").first<number>("n");
    await runAlarmsUntil(queue, farAhead + 30_000);
    expect(await getHealth(queue)).toMatchObject({ consecutiveFailures: 99, failingSince: posts[0]?.at });
    expect(await countAlertEmails()).toBe(0);
    expect(await listStuck()).toEqual([]);
    await runAlarmsUntil(queue, farAhead + 90_000);
    expect(await countAlertEmails()).toBe(1);
    const { consecutiveFailures: failures, failingSince, backlog } = await getHealth(queue);
    expect(await listStuck()).toEqual([
      {
        shard: "00",
        webhook_id: id,
        business_id: business,
        failing_since: new Date(failingSince as number).toISOString(),
        failures,
        waiting: backlog,
      },
    ]);
    await runAlarmsUntil(queue, farAhead + 400_000);
    expect(await countAlertEmails()).toBe(1);
    status = 200;
    await runAlarmsUntil(queue);
    expect(await getHealth(queue)).toMatchObject({ consecutiveFailures: 0, failingSince: null, backlog: 0, lastResponseStatus: 200 });
    expect([await countAlertNotes(), await listStuck(), await countAlertNotes()]).toEqual([1, [], 0]);
    status = 500;
    await commitEvents(business, 100);
    await eventSequences.getByName(business).drain();
    await runAlarmsUntil(queue, Date.now() + 30_000);
    expect(await countAlertEmails()).toBe(2); // the endpoint had recovered, so a new failure triggers a new alert
    expect(await listStuck()).toMatchObject([{ webhook_id: id }]);
    await eventSequences.getByName(business).removeEndpoint(id);
    expect([await listStuck(), await countAlertNotes()]).toEqual([[], 0]);
    const late = await createQueueWith(1);
    await env.DB.prepare("UPDATE businesses SET contact_email = 'ops@acme.example.com' WHERE id = ?").bind(late.business).run();
    await runAlarmsUntil(late.queue);
    expect(await countAlertEmails()).toBe(2);
    vi.setSystemTime(Date.now() + 86_400_000);
    await commitEvents(late.business, 1);
    await eventSequences.getByName(late.business).drain();
    const startedAt = performance.now();
    await runAlarmsUntil(late.queue, Date.now() + 1_000);
    // The alarm does not wait for an attempt that ends while the email is being stored.
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(await countAlertEmails()).toBe(3);
  });

  test("is not called while its host resolves to a private address, which is checked again at the next attempt", async () => {
    const posts = mockReceivers(createResponder(200));
    const outside = vi.mocked(globalThis.fetch).getMockImplementation() as typeof fetch;
    let address = "10.0.0.7";
    const resolverHosts: string[] = [];
    vi.mocked(globalThis.fetch).mockImplementation(async (input, init) => {
      const url = new URL(new Request(input as RequestInfo, init as RequestInit).url);
      if (!url.searchParams.has("type")) return outside(input, init);
      resolverHosts.push(url.host);
      const name = url.searchParams.get("name");
      return Response.json({ Status: 0, Answer: url.searchParams.get("type") === "A" ? [{ name, type: 1, TTL: 1, data: address }] : [] });
    });
    const { queue } = await createQueueWith(1, "https://turns.merchant-tests.com/");
    await runAlarmsUntil(queue, farAhead + 1_000);
    expect(posts).toEqual([]);
    expect(await getDelivery(queue)).toMatchObject({ status: "retrying", attempt: 1, responseStatus: null, error: "dns" });
    expect(new Set(resolverHosts).size).toBe(2); // both resolvers were queried
    address = "93.184.216.34";
    await runAlarmsUntil(queue);
    expect(posts).toHaveLength(1);
    expect(resolverHosts.length).toBe(8);
  });

  test("keeps the verdict that its host is public for five seconds, whichever way the clock moves", async () => {
    let address = "93.184.216.34";
    let lookups = 0;
    const posts = mockReceivers(createResponder(200), () => {
      lookups += 1;
      return [address];
    });
    const { queue, business } = await createQueueWith(0, "https://rebinds.merchant-tests.com/");
    const attemptAt = async (at: number): Promise<{ readonly posts: number; readonly isLookedUp: boolean }> => {
      const before = { posts: posts.length, lookups };
      vi.setSystemTime(at);
      await commitEvents(business, 1);
      await eventSequences.getByName(business).drain();
      await runAlarm(queue);
      return { posts: posts.length - before.posts, isLookedUp: lookups > before.lookups };
    };
    expect(await attemptAt(farAhead)).toEqual({ posts: 1, isLookedUp: true });
    address = "10.0.0.7";
    expect(await attemptAt(farAhead + 4_999)).toEqual({ posts: 1, isLookedUp: false });
    expect(await attemptAt(farAhead + 5_000)).toEqual({ posts: 0, isLookedUp: true });
    expect(await attemptAt(farAhead + 5_001)).toEqual({ posts: 0, isLookedUp: true }); // a lookup that finds a private address is not cached
    address = "93.184.216.34";
    expect(await attemptAt(farAhead + 10_000)).toEqual({ posts: 1, isLookedUp: true });
    address = "10.0.0.7";
    expect(await attemptAt(farAhead + 1)).toEqual({ posts: 0, isLookedUp: true }); // the clock was set back, which must not extend how long the result is cached
  });

  test("has at most 4 kB of its response read when the response never ends", async () => {
    let cancelled = 0;
    const posts = mockReceivers(
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
    const { queue } = await createQueueWith(1);
    await runAlarmsUntil(queue);
    expect(posts).toHaveLength(1);
    expect(cancelled).toBe(1);
    expect(await getDelivery(queue)).toMatchObject({ status: "success", responseStatus: 200 });
  });

  test("gets its deliveries while 20 other endpoints of the business hang", async () => {
    const posts = mockReceivers(({ url }) => (url.includes("slow") ? hangForever() : new Response(null, { status: 200 })));
    const business = await createBusiness();
    const slow = await Promise.all(
      Array.from({ length: 19 }, (_, at) => registerEndpoint(business, `https://slow${at}.merchant-tests.com/`)),
    );
    const { queue } = await registerEndpoint(business, hook);
    await commitEvents(business, 20);
    await eventSequences.getByName(business).drain();
    const stuck = slow.map((one) => runAlarm(one.queue).catch(() => "died"));
    await runAlarm(queue);
    expect(posts.filter(({ url }) => url === hook)).toHaveLength(20);
    expect(await getHealth(queue)).toMatchObject({ backlog: 0 });
    await abortAllDurableObjects();
    await Promise.all(stuck);
  });

  test("keeps successful deliveries for 30 days and abandoned ones for 90 days", async () => {
    let status = 200;
    mockReceivers(() => new Response(null, { status }));
    const { queue, business } = await createQueueWith(3);
    await runAlarmsUntil(queue);
    status = 500;
    const attemptOnce = async (): Promise<void> => {
      await commitEvents(business, 1);
      await eventSequences.getByName(business).drain();
      await runAlarmsUntil(queue);
    };
    await attemptOnce();
    expect(await listDeliveries(queue)).toHaveLength(4);
    vi.setSystemTime(farAhead + 31 * 86_400_000);
    await attemptOnce();
    expect((await listDeliveries(queue)).map(({ status }) => status)).toEqual(["abandoned", "abandoned"]);
    vi.setSystemTime(farAhead + 91 * 86_400_000);
    await attemptOnce();
    expect(await listDeliveries(queue)).toHaveLength(2);
  });

  test("deletes old deliveries even if nothing else happens on the endpoint, and while it is disabled", async () => {
    let status = 200;
    mockReceivers(() => new Response(null, { status }));
    const { id, queue, business } = await createQueueWith(3);
    await runAlarmsUntil(queue);
    status = 500;
    await commitEvents(business, 1);
    await eventSequences.getByName(business).drain();
    await runAlarmsUntil(queue);
    await eventSequences.getByName(business).updateEndpoint(id, { status: "disabled" });
    const ended = Date.now();
    const left: (readonly [days: number, deliveries: number])[] = [];
    for (let at = await getAlarm(queue); at !== null; at = await getAlarm(queue)) {
      vi.setSystemTime(at);
      await runAlarm(queue);
      left.push([Math.round((at - ended) / 86_400_000), (await listDeliveries(queue)).length]);
    }
    // The alarms of the first 7 days only delete old attempts.
    expect(left.filter(([days]) => days > 7)).toEqual([
      [30, 1],
      [90, 0],
    ]);
  });

  test("deletes old deliveries after the alarm was lost", async () => {
    mockReceivers(createResponder(200));
    const { queue } = await createQueueWith(1);
    await runAlarmsUntil(queue);
    await runInDurableObject(queue, (_, state) => state.storage.deleteAlarm());
    await evictDurableObject(queue);
    expect(await getHealth(queue)).toMatchObject({ backlog: 0 }); // any call starts the object
    await vi.waitFor(async () => expect(await getAlarm(queue)).not.toBeNull(), 20_000);
    await runAlarm(queue);
    expect(await getAlarm(queue)).toBeGreaterThan(farAhead + 6 * 86_400_000);
  });
});

const hangForever = (): Promise<Response> => new Promise<Response>(() => undefined);

describe("the hourly attempt counts", () => {
  const hour = 3_600_000;
  const start = Math.floor(farAhead / hour) * hour;
  const listHours = (queue: DeliveryQueueStub) => queue.listAttemptHours(0);

  test("count each attempt in the hour it ended, without rows for empty hours", async () => {
    let status = 500;
    mockReceivers(() => new Response(null, { status }));
    const { queue } = await createQueueWith(2);
    await runAlarmsUntil(queue, farAhead + 1_000);
    expect(await listHours(queue)).toEqual([{ start, delivered: 0, failed: 2 }]);
    vi.setSystemTime(start + 5 * hour);
    status = 204;
    await runAlarmsUntil(queue);
    expect(await listHours(queue)).toEqual([
      { start, delivered: 0, failed: 2 },
      { start: start + 5 * hour, delivered: 2, failed: 0 },
    ]);
    expect(await queue.listAttemptHours(start + hour)).toEqual([{ start: start + 5 * hour, delivered: 2, failed: 0 }]);
  });

  test("count a successful replay, but no failed replay and no deferred delivery", async () => {
    vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response("busy", { status: 503 }));
    const { queue } = await createQueueWith(1, "https://unresolved.merchant-tests.com/");
    await runAlarmsUntil(queue, farAhead + 60_000);
    expect(await listHours(queue)).toEqual([]);
    await queue.saveReplay((await getDelivery(queue)).id, createAnsweredOutcome(500));
    expect(await listHours(queue)).toEqual([]);
    await queue.saveReplay((await getDelivery(queue)).id, createAnsweredOutcome(200));
    expect(await listHours(queue)).toEqual([{ start, delivered: 1, failed: 0 }]);
  });

  test("are kept for two days", async () => {
    mockReceivers(createResponder(200));
    const { queue, business } = await createQueueWith(1);
    await runAlarmsUntil(queue);
    for (const hours of [47, 48]) {
      vi.setSystemTime(start + hours * hour);
      await commitEvents(business, 1);
      await eventSequences.getByName(business).drain();
      await runAlarmsUntil(queue);
    }
    expect((await listHours(queue)).map((one) => (one.start - start) / hour)).toEqual([47, 48]);
  });

  test("are deleted with the endpoint", async () => {
    mockReceivers(createResponder(200));
    const { queue } = await createQueueWith(1);
    await runAlarmsUntil(queue);
    await queue.wipe();
    expect(await listHours(queue)).toEqual([]);
  });

  test("stay deleted if a delayed call would open the queue", async () => {
    const { queue } = await createQueueWith(1);
    const { settings } = (await queue.findRecord((await getDelivery(queue)).id)) as DeliveryRecord;
    await queue.wipe();
    await queue.open(settings, 0);
    const tables = await runInDurableObject(queue, (_, { storage: { sql } }) =>
      sql.exec("SELECT name FROM sqlite_master WHERE name NOT GLOB '_cf_*'").toArray(),
    );
    expect(tables).toEqual([]);
  });
});

describe("the recorded attempts", () => {
  const day = 86_400_000;
  const recordOf = async (queue: DeliveryQueueStub): Promise<DeliveryRecord> =>
    (await queue.findRecord((await getDelivery(queue)).id)) as DeliveryRecord;
  const readAttempts = async (queue: DeliveryQueueStub): Promise<readonly RecordedAttempt[]> => (await recordOf(queue)).attempts;
  const openExchanges = async (queue: DeliveryQueueStub): Promise<readonly (WebhookExchange | null)[]> => {
    const { vault } = await getPlatform(env);
    const { settings, delivery, attempts } = await recordOf(queue);
    const owner = { deliveryId: delivery.id, businessId: settings.businessId };
    return Promise.all(attempts.map(({ exchangeSealed }) => (exchangeSealed === null ? null : openExchange(vault, owner, exchangeSealed))));
  };
  const countAttempts = (queue: DeliveryQueueStub): Promise<number> =>
    runInDurableObject(
      queue,
      (_, { storage: { sql } }) => sql.exec<{ count: number }>("SELECT COUNT(*) AS count FROM attempt").one().count,
    );

  test("have the request headers as sent, and the status, headers and body of the response", async () => {
    let status = 500;
    const posts = mockReceivers(() => new Response(`answer ${status}`, { status, headers: { "X-Trace": `trace-${status}` } }));
    const { queue } = await createQueueWith(1);
    await runAlarmsUntil(queue, farAhead + 1_000);
    status = 202;
    await runAlarmsUntil(queue);
    expect(await readAttempts(queue)).toMatchObject([
      { number: 2, isResend: false, at: posts[1]?.at, responseStatus: 202, error: null },
      { number: 1, isResend: false, at: posts[0]?.at, responseStatus: 500, error: "http" },
    ]);
    const exchanges = await openExchanges(queue);
    expect(exchanges.map((one) => one?.response?.body)).toEqual(["answer 202", "answer 500"]);
    expect(exchanges[1]?.response?.headers).toContainEqual(["x-trace", "trace-500"]);
    for (const [at, exchange] of exchanges.entries())
      for (const [name, value] of exchange?.requestHeaders ?? []) expect(posts[1 - at]?.headers.get(name), name).toBe(value);
    expect(exchanges[0]?.requestHeaders.map(([name]) => name)).toEqual([
      "content-type",
      "user-agent",
      "svc-signature",
      "svc-event-id",
      "svc-event-type",
      "svc-delivery-id",
      "svc-attempt",
      "webhook-id",
      "webhook-timestamp",
      "webhook-signature",
    ]);
  });

  test("are encrypted, bound to their delivery and business, and never have the signing secret", async () => {
    mockReceivers(() => new Response("words of the receiver", { status: 500 }));
    const { queue, secret } = await createQueueWith(1);
    await runAlarmsUntil(queue, farAhead + 1_000);
    const rows = await runInDurableObject(queue, (_, { storage: { sql } }) => JSON.stringify(sql.exec("SELECT * FROM attempt").toArray()));
    expect(rows).not.toContain("words of the receiver");
    expect(rows).not.toContain("svc-signature");
    expect(JSON.stringify(await openExchanges(queue))).not.toContain(secret.slice("whsec_".length, -1));
    const { vault } = await getPlatform(env);
    const { settings, delivery, attempts } = await recordOf(queue);
    const sealed = attempts[0]?.exchangeSealed as string;
    const owner = { deliveryId: delivery.id, businessId: settings.businessId };
    await expect(openExchange(vault, { ...owner, deliveryId: "dlv_other" }, sealed)).rejects.toThrow();
    await expect(openExchange(vault, { ...owner, businessId: "biz_other" }, sealed)).rejects.toThrow();
  });

  test("have no response when there was none, and no request when nothing was sent", async () => {
    let address = "93.184.216.34";
    mockReceivers(
      () => {
        throw new TypeError("Network connection lost.");
      },
      () => [address],
    );
    const { queue } = await createQueueWith(1);
    await runAlarmsUntil(queue, farAhead + 1_000);
    address = "10.0.0.7";
    await runAlarmsUntil(queue, farAhead + 70_000);
    expect(await readAttempts(queue)).toMatchObject([
      { number: 2, error: "dns", exchangeSealed: null },
      { number: 1, error: "connection" },
    ]);
    expect(await openExchanges(queue)).toMatchObject([null, { response: null }]);
  });

  test("include replays, even those that failed", async () => {
    mockReceivers(createResponder(500));
    const { queue } = await createQueueWith(1);
    await runAlarmsUntil(queue, farAhead + 1_000);
    const { id } = await getDelivery(queue);
    vi.setSystemTime(farAhead + 2_000);
    await queue.saveReplay(id, createAnsweredOutcome(500));
    vi.setSystemTime(farAhead + 3_000);
    await queue.saveReplay(id, createAnsweredOutcome(200));
    expect(await readAttempts(queue)).toMatchObject([
      { number: 1, isResend: true, responseStatus: 200, error: null },
      { number: 1, isResend: true, responseStatus: 500, error: "http" },
      { number: 1, isResend: false, responseStatus: 500, error: "http" },
    ]);
  });

  test("keep the first 4 kB of a response that never ends, and the delivery succeeds", async () => {
    mockReceivers(
      () => new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(1_000).fill(0x78)) }), { status: 200 }),
    );
    const { queue } = await createQueueWith(1);
    await runAlarmsUntil(queue);
    expect(await openExchanges(queue)).toMatchObject([{ response: { body: "x".repeat(4_096), isCut: true } }]);
  });

  test("keep what arrived of a response that stalls, and the delivery succeeds", async () => {
    mockReceivers(
      () => new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array([0x6f, 0x6b])) }), { status: 200 }),
    );
    const { queue } = await createQueueWith(1);
    await runAlarmsUntil(queue);
    expect(await getDelivery(queue)).toMatchObject({ status: "success", responseStatus: 200 });
    expect(await openExchanges(queue)).toMatchObject([{ response: { body: "ok", isCut: true } }]);
  });

  test("take at most 32 kB each, whatever the receiver returns", async () => {
    const hostile = new Uint8Array(100_000).map((_, at) => [0x22, 0x5c, 0x00, 0xff][at % 4] as number);
    mockReceivers(() => new Response(hostile, { status: 200, headers: { "x-large": '"'.repeat(4_000), "x-larger": "y".repeat(9_000) } }));
    const { queue } = await createQueueWith(1);
    await runAlarmsUntil(queue);
    const [attempt] = await readAttempts(queue);
    expect(attempt?.exchangeSealed?.length).toBeLessThan(32_000);
    expect(await openExchanges(queue)).toMatchObject([{ response: { isCut: true } }]);
  });

  test("are an endpoint's newest 1,000 successes and newest 2,000 failures", async () => {
    mockReceivers(createResponder(200));
    const { queue } = await createQueueWith(1);
    await runInDurableObject(queue, (_, { storage }) =>
      storage.transactionSync(() => {
        for (let at = 1; at <= 5_000; at += 1)
          for (const status of [200, 500])
            insertAttempt(storage.sql, { seq: at, number: 1, isResend: false, result: createAnsweredOutcome(status) }, farAhead + at);
        for (const [status, kept] of [
          [200, 1_000],
          [500, 2_000],
        ]) {
          const { first, count } = storage.sql
            .exec<{ first: number; count: number }>(
              "SELECT MIN(seq) AS first, COUNT(*) AS count FROM attempt WHERE response_status = ?",
              status,
            )
            .one();
          expect([first, count]).toEqual([5_001 - (kept ?? 0), kept]);
        }
        expect(listAttempts(storage.sql, 5_000)).toHaveLength(2);
      }),
    );
  });

  test("are deleted after seven days, even if nothing else happens on the endpoint", async () => {
    mockReceivers(createResponder(200));
    const { queue } = await createQueueWith(3);
    await runAlarmsUntil(queue);
    expect(await countAttempts(queue)).toBe(3);
    vi.setSystemTime(farAhead + 7 * day - 1);
    await runAlarm(queue);
    expect(await countAttempts(queue)).toBe(3);
    vi.setSystemTime((await getAlarm(queue)) as number);
    await runAlarm(queue);
    expect(Date.now()).toBeLessThan(farAhead + 7 * day + 3_600_001);
    expect(await countAttempts(queue)).toBe(0);
    expect(await recordOf(queue)).toMatchObject({ delivery: { status: "success" }, attempts: [] });
  });
});

describe("the list of deliveries", () => {
  test("can be limited to those that are retrying or abandoned", async () => {
    let status = 200;
    mockReceivers(() => new Response(null, { status }));
    const { queue, business } = await createQueueWith(2);
    await runAlarmsUntil(queue);
    status = 500;
    const commitAndSend = async (until?: number): Promise<void> => {
      await commitEvents(business, 1);
      await eventSequences.getByName(business).drain();
      await runAlarmsUntil(queue, until);
    };
    await commitAndSend();
    await commitAndSend(Date.now() + 1_000);
    const listStatuses = (list: Awaited<ReturnType<DeliveryQueueStub["listDeliveries"]>>) =>
      list?.deliveries.map(({ status: deliveryStatus }) => deliveryStatus);
    expect(listStatuses(await queue.listDeliveries(10, null))).toEqual(["retrying", "abandoned", "success", "success"]);
    expect(listStatuses(await queue.listDeliveries(10, null, "retrying"))).toEqual(["retrying"]);
    expect(listStatuses(await queue.listDeliveries(10, null, "abandoned"))).toEqual(["abandoned"]);
    const overview = await queue.getOverview(10, null, "abandoned");
    expect(overview).toMatchObject({ health: { backlog: 1 }, page: { hasMore: false, deliveries: [{ status: "abandoned" }] } });
    expect(overview?.hours.reduce((sum, { failed }) => sum + failed, 0)).toBe(6);
  });

  test("reads few rows for a rare result among many deliveries", async () => {
    mockReceivers(createResponder(200));
    const { queue } = await createQueueWith(0);
    await runInDurableObject(queue, (_, { storage: { sql } }) => {
      sql.exec(`INSERT INTO delivery (seq, id, event_id, type, happened_at, created_at, status, attempt, due, interruptions, unready, ended_at)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        SELECT i, 'dlv_' || i, 'e', 'share.created', 1, 1, 'success', 1, NULL, 0, 0, 1 FROM n`);
      sql.exec("UPDATE delivery SET status = 'abandoned' WHERE seq = 3");
      sql.exec("UPDATE delivery SET status = 'pending', due = 1 WHERE seq = 5");
      for (const condition of ["status = 'abandoned'", "due IS NOT NULL AND attempt > 0"]) {
        const cursor = sql.exec(`SELECT * FROM delivery WHERE seq < 30000 AND ${condition} ORDER BY seq DESC LIMIT 26`);
        expect(cursor.toArray()).toHaveLength(1);
        expect(cursor.rowsRead).toBeLessThan(10);
      }
    });
  });
});
