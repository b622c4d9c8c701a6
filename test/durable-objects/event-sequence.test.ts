// Tests a business's event sequence: no event is lost or repeated, there are no gaps, and events are in commit order.
import { abortAllDurableObjects, evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import type { DeliveryQueue } from "../../durable-objects/delivery-queue/object.ts";
import type { EndpointSettings } from "../../core/webhooks/endpoint.ts";
import { EventSequence, type EventSequenceEnv } from "../../durable-objects/event-sequence/object.ts";
import { appendEvents } from "../../durable-objects/event-sequence/tables.ts";
import type { StoredEvent } from "../../core/events/event.ts";
import { runScheduledJobs } from "../../workers/background/schedule.ts";
import type { Environment } from "../../core/access/entitlement.ts";
import { sweepEvents } from "../../workers/background/event-sweep.ts";
import { runReader } from "../../storage/change-reader.ts";
import { createEventReader } from "../../storage/public-events.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import {
  getAlarm,
  commitEvents,
  buildEventRow,
  deliveryQueues,
  eventSequences,
  createBusiness,
  farAhead,
  mockReceivers,
  registerEndpoint,
  runAlarm,
  readSequence,
  type EventSequenceStub,
  type RegisteredEndpoint,
  type DeliveryQueueMethods,
} from "../support/events.ts";
import { worldInSecondShard } from "../support/world.ts";
import { batch, openDatabase } from "../../storage/database.ts";

const runMinute = async (): Promise<void> => runScheduledJobs(await createPlatform(env), "* * * * *", Date.now());

/** Lists the events of a business that the change log still contains. */
const inLog = async (businessId: string): Promise<string[]> => {
  const found = await env.DB.prepare("SELECT id FROM changes WHERE sequence = ? ORDER BY ord").bind(businessId).all<{ id: string }>();
  return found.results.map(({ id }) => id);
};

/** Returns when the reader will try a set-aside sequence again, or null if the sequence is not set aside. */
const setAsideUntil = (sequence: string): Promise<number | null> =>
  env.DB.prepare("SELECT next_at AS n FROM change_exceptions WHERE reader = 'events' AND subject = ?").bind(sequence).first<number>("n");

const listSeqs = (events: readonly StoredEvent[]): number[] => events.map(({ seq }) => seq);
const countUpTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

type Fault = (sql: string) => Promise<void> | void;

/** Wraps a database and calls `before` and `after` with each statement's text before and after the statement runs. */
const createFaultyDatabase = (db: D1Database, before: Fault, after: Fault = () => {}): D1Database => {
  const wrapStatement = (target: D1PreparedStatement, sql: string): D1PreparedStatement =>
    new Proxy(target, {
      get: (_, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (name === "bind") return wrapStatement(Reflect.apply(value, target, args) as D1PreparedStatement, sql);
          return (async () => {
            await before(sql);
            const result = (await Reflect.apply(value, target, args)) as unknown;
            await after(sql);
            return result;
          })();
        };
      },
    });
  const wrapTarget = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (_, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          const result = Reflect.apply(value, target, args) as object;
          if (name === "withSession") return wrapTarget(result);
          return name === "prepare" ? wrapStatement(result as D1PreparedStatement, String(args[0])) : result;
        };
      },
    });
  return wrapTarget(db);
};

/** Runs the object on the given database, which may fail. */
const useDatabase = (
  stub: EventSequenceStub,
  db: D1Database,
  use: (log: EventSequence, state: DurableObjectState) => Promise<void>,
): Promise<void> =>
  runInDurableObject(stub, async (_, state) => use(new EventSequence(state, { ...env, DB: db } as unknown as EventSequenceEnv), state));

/** Opens an event sequence, and records the queue of each push. A push fails if `beforePush` throws. */
const openRecordedSequence = (state: DurableObjectState, beforePush: (queueName: string) => void = () => undefined) => {
  const pushed: string[] = [];
  const namespace = {
    getByName: (name: string): DeliveryQueueMethods => ({
      push: async (...args: Parameters<DeliveryQueue["push"]>) => {
        pushed.push(name);
        beforePush(name);
        return deliveryQueues.getByName(name).push(...args);
      },
      getActivity: () => deliveryQueues.getByName(name).getActivity(),
    }),
  };
  return { pushed, log: new EventSequence(state, { ...env, DELIVERY_QUEUE: namespace } as unknown as EventSequenceEnv) };
};

describe("an event sequence", () => {
  test("stores each event once, and an event that is already stored uses no number", async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    const [id] = await commitEvents(business, 1);
    await stub.drain();
    await runInDurableObject(stub, (_, state) => {
      const repeatedEvent = {
        id: id as string,
        type: "certificate.revoked",
        createdAt: 1,
        shareId: null,
        certId: "cc_1",
        dataSealed: null,
      };
      expect(appendEvents(state.storage.sql, Array(100).fill(repeatedEvent), 1)).toBe(1);
    });
    await commitEvents(business, 2);
    await stub.drain();
    expect(listSeqs(await readSequence(business))).toEqual([1, 2, 3]);
  });

  test("stores no event twice after a crash between appending and storing the reader's position", async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    const ids = await commitEvents(business, 5);
    await stub.drain();
    expect(await inLog(business)).toEqual(ids);
    await evictDurableObject(stub);
    await runMinute();
    expect((await readSequence(business)).map((event) => event.id)).toEqual(ids);
    const laterIds = await commitEvents(business, 1);
    await stub.drain();
    expect((await readSequence(business)).map((event) => event.id)).toEqual([...ids, ...laterIds]);
  });

  test("takes events without a drain request in the next minute, in commit order", async () => {
    const business = await createBusiness();
    const first = await commitEvents(business, 1);
    const second = await commitEvents(business, 1);
    await runMinute();
    expect((await readSequence(business)).map(({ id }) => id)).toEqual([...first, ...second]);
  });

  test("includes events that are committed during a drain", { timeout: 60_000 }, async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    const slow = createFaultyDatabase(env.DB, () => scheduler.wait(20));
    await useDatabase(stub, slow, async (log) => {
      const drains: Promise<unknown>[] = [];
      for (let at = 0; at < 50; at += 1) {
        await batch(openDatabase(env.DB), [buildEventRow(business)]);
        drains.push(log.drain());
        if (at % 3 === 0) await scheduler.wait(7); // spreads the commits over different moments of the running drain
      }
      await Promise.all(drains);
      expect((await log.listEvents(0, 500, null)).events).toHaveLength(50);
    });
  });

  test("reads once more when a drain is requested after a pass has read", async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    await commitEvents(business, 1);
    let notices = 0;
    await runInDurableObject(stub, async (_, state) => {
      const commitLate = async (sql: string): Promise<void> => {
        if (!sql.startsWith("select") || notices === 2) return;
        notices += 1; // at this point, the drain has finished reading and is about to end
        await commitEvents(business, 1);
        void log.drain();
      };
      const late = createFaultyDatabase(env.DB, () => {}, commitLate);
      const log = new EventSequence(state, { ...env, DB: late } as unknown as EventSequenceEnv);
      await log.drain();
      expect(listSeqs((await log.listEvents(0, 500, null)).events)).toEqual([1, 2, 3]);
    });
    expect(notices).toBe(2);
  });

  test("loses nothing while the database fails, and tries again with growing pauses", async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    await commitEvents(business, 3);
    let failing = true;
    const down = createFaultyDatabase(env.DB, () => {
      if (failing) throw new Error("D1_ERROR: away");
    });
    using logged = vi.spyOn(console, "error");
    await useDatabase(stub, down, async (log, state) => {
      const pauses: number[] = [];
      for (let run = 0; run < 6; run += 1) {
        await log.alarm(); // the alarm must not reject, even while the database fails
        pauses.push(Math.round((((await state.storage.getAlarm()) ?? 0) - Date.now()) / 1_000));
      }
      expect(pauses).toEqual([5, 10, 20, 40, 60, 60]);
      expect(JSON.parse(logged.mock.calls[0]?.[0])).toEqual({ level: "error", at: "event-sequence.drain", error: "storage outage" });
      failing = false;
      await log.alarm();
      expect(await state.storage.getAlarm()).toBeNull();
      expect(listSeqs((await log.listEvents(0, 500, null)).events)).toEqual([1, 2, 3]);
    });
  });

  test("treats an unbound shard as unavailable, not as empty", async () => {
    const { DB_01: _, ...withoutShard } = env;
    await runInDurableObject(eventSequences.getByName(worldInSecondShard.other.id), async (__, state) => {
      await new EventSequence(state, withoutShard as unknown as EventSequenceEnv).alarm();
      expect(Math.round((((await state.storage.getAlarm()) ?? 0) - Date.now()) / 1_000)).toBe(5);
      await new EventSequence(state, env).alarm();
      expect(await state.storage.getAlarm()).toBeNull();
    });
  });

  test("takes only new events after the database was restored to an earlier state and reuses row numbers", async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    const old = await commitEvents(business, 50);
    await stub.drain();
    await env.DB.prepare("DELETE FROM changes WHERE sequence = ?").bind(business).run();
    await batch(
      openDatabase(env.DB),
      old.map((id) => buildEventRow(business, { id })),
    );
    const fresh = await commitEvents(business, 50);
    await stub.drain();
    const sequence = await readSequence(business);
    expect(listSeqs(sequence)).toEqual(countUpTo(100));
    expect(sequence.map(({ id }) => id)).toEqual([...old, ...fresh]);
  });

  test("is set aside while it is down, which does not delay the others, and gets its events in order afterward", async () => {
    const [broken, sound] = [await createBusiness(), await createBusiness()];
    const platform = await createPlatform(env);
    let isDown = true;
    let now = Date.now();
    const calls: string[] = [];
    const faulty = Object.assign(Object.create(platform) as typeof platform, {
      clock: () => now,
      eventSequence: (businessId: string, environment: Environment) => {
        calls.push(businessId);
        if (isDown && businessId === broken) throw new Error("overloaded");
        return platform.eventSequence(businessId, environment);
      },
    });
    const first = await commitEvents(broken, 2);
    const others = await commitEvents(sound, 2);
    await sweepEvents(faulty);
    expect((await readSequence(sound)).map(({ id }) => id)).toEqual(others);
    expect(await setAsideUntil(broken)).toBe(now + 30_000);

    // Later events wait behind the first ones. The reader does not call the sequence again until the next attempt is due.
    const second = await commitEvents(broken, 2);
    const more = await commitEvents(sound, 1);
    calls.length = 0;
    await sweepEvents(faulty);
    expect(calls).not.toContain(broken);
    expect((await readSequence(sound)).map(({ id }) => id)).toEqual([...others, ...more]);
    for (const pause of [60_000, 120_000, 240_000, 480_000, 600_000, 600_000]) {
      now = (await setAsideUntil(broken)) as number;
      await sweepEvents(faulty);
      expect(await setAsideUntil(broken)).toBe(now + pause);
    }
    await runMinute(); // one of these jobs deletes the changes that are no longer needed
    expect(await inLog(broken)).toEqual([...first, ...second]);

    isDown = false;
    now = (await setAsideUntil(broken)) as number;
    await sweepEvents(faulty);
    expect(await setAsideUntil(broken)).toBeNull();
    expect((await readSequence(broken)).map(({ id }) => id)).toEqual([...first, ...second]);
  });

  test("stays set aside if another run passes an event that its drain did not see", async () => {
    const business = await createBusiness();
    const ids = await commitEvents(business, 1);
    const db = openDatabase(env.DB);
    const canContinue = () => true;
    let isDown = true;
    const late: string[] = [];
    const reader = createEventReader(async (sequences) => {
      if (isDown || !sequences.includes(business)) return new Set(isDown ? sequences : []);
      await eventSequences.getByName(business).drain();
      // The reader runs again and moves its position past an event that this drain did not see.
      if (late.length === 0) {
        late.push(...(await commitEvents(business, 1)));
        await runReader(
          db,
          createEventReader(async () => new Set()),
          { clock: () => 0, canContinue },
        );
      }
      return new Set();
    });
    await runReader(db, reader, { clock: () => 0, canContinue });
    isDown = false;
    for (const now of [3_600_000, 7_200_000]) await runReader(db, reader, { clock: () => now, canContinue });
    expect(await setAsideUntil(business)).toBeNull();
    expect((await readSequence(business)).map(({ id }) => id)).toEqual([...ids, ...late]);
  });

  test("returns each event once and in order to three readers while it grows", { timeout: 60_000 }, async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    const total = 2_000;
    const readSeqs = async (limit: number): Promise<number[]> => {
      const seen: number[] = [];
      for (let cursor = 0; seen.length < total; ) {
        const page = await stub.listEvents(cursor, limit, null);
        seen.push(...listSeqs(page.events));
        expect(page.readThrough).toBe(seen.at(-1) ?? cursor);
        cursor = page.readThrough;
        if (page.events.length === 0) await scheduler.wait(2);
      }
      return seen;
    };
    const readers = [1, 7, 500].map(readSeqs);
    for (let at = 0; at < total; at += 100) {
      await commitEvents(business, 100);
      await stub.drain();
    }
    for (const seen of await Promise.all(readers)) expect(seen).toEqual(countUpTo(total));
  });

  test("skips event types that were not requested and returns how far it read", async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    await commitEvents(business, 3, { type: "share.created", certId: null, shareId: "shr_1" });
    await commitEvents(business, 1);
    await commitEvents(business, 2, { type: "share.revoked", certId: null, shareId: "shr_1" });
    await stub.drain();
    expect(await stub.listEvents(0, 100, ["certificate.revoked"])).toMatchObject({ events: [{ seq: 4 }], readThrough: 6, head: 6 });
    expect(await stub.listEvents(0, 2, ["share.created", "share.revoked"])).toMatchObject({
      events: [{ seq: 1 }, { seq: 2 }],
      readThrough: 2,
    });
    expect(await stub.listEvents(4, 100, ["certificate.revoked"])).toMatchObject({ events: [], readThrough: 6, head: 6 });
  });

  test("scans at most 20,000 events per page for rare types and continues from there", async () => {
    const business = await createBusiness();
    await runInDurableObject(eventSequences.getByName(business), async (_, state) => {
      state.storage.sql.exec(
        `WITH RECURSIVE n (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n WHERE seq < 20005)
         INSERT INTO event SELECT seq, 'event ' || seq, iif(seq = 20001, 'share.created', 'certificate.revoked'), NULL, NULL, NULL, 0 FROM n`,
      );
      const log = new EventSequence(state, env);
      expect(await log.listEvents(0, 100, ["share.created"])).toEqual({ events: [], readThrough: 20_000, head: 20_005 });
      expect(await log.listEvents(20_000, 100, ["share.created"])).toMatchObject({ events: [{ seq: 20_001 }], readThrough: 20_005 });
      expect(await log.listEvents(0, 1, null)).toMatchObject({ events: [{ seq: 1 }], readThrough: 1 });
    });
  });

  test("answers a poll without new events from memory, without reading a row", async () => {
    const business = await createBusiness();
    await commitEvents(business, 10);
    await eventSequences.getByName(business).drain();
    await runInDurableObject(eventSequences.getByName(business), async (log, state) => {
      const queries: string[] = [];
      const exec = state.storage.sql.exec.bind(state.storage.sql);
      state.storage.sql.exec = ((query: string, ...bound: never[]) => {
        queries.push(query);
        return exec(query, ...bound);
      }) as typeof state.storage.sql.exec;
      expect(await log.listEvents(10, 100, null)).toEqual({ events: [], readThrough: 10, head: 10 });
      expect(await log.listEvents(10_000, 100, ["share.created"])).toEqual({ events: [], readThrough: 10_000, head: 10 });
      expect(queries).toEqual([]);
      expect((await log.listEvents(9, 100, null)).events).toHaveLength(1);
      expect(queries).toHaveLength(1);
    });
  });

  test("hands events to every working endpoint while one fails, and retries that one with growing pauses", async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    const [broken, sound] = [
      await registerEndpoint(business, "https://a.merchant-tests.com/"),
      await registerEndpoint(business, "https://b.merchant-tests.com/"),
    ];
    await runAlarm(stub); // runs the alarm that the registration set
    await commitEvents(business, 3);
    let failing = true;
    const getBacklog = async ({ id }: RegisteredEndpoint): Promise<number | undefined> =>
      (await deliveryQueues.getByName(id).getActivity())?.health.backlog;
    await runInDurableObject(stub, async (_, state) => {
      const { log, pushed } = openRecordedSequence(state, (name) => {
        if (failing && name === broken.id) throw new Error("overloaded");
      });
      await log.drain();
      expect([await getBacklog(broken), await getBacklog(sound)]).toEqual([0, 3]);
      const pauseNow = async (): Promise<number> => Math.round((((await state.storage.getAlarm()) ?? 0) - Date.now()) / 1_000);
      expect(await pauseNow()).toBe(2);
      vi.useFakeTimers({ toFake: ["Date"] });
      for (const expected of [4, 8, 16, 32, 60, 60]) {
        vi.setSystemTime(Date.now() + 61_000);
        await log.alarm();
        expect(await pauseNow()).toBe(expected);
      }
      failing = false;
      vi.setSystemTime(Date.now() + 61_000);
      await log.alarm();
      vi.useRealTimers();
      expect(await state.storage.getAlarm()).toBeNull();
      expect(pushed.filter((name) => name === sound.id)).toHaveLength(1);
    });
    expect([await getBacklog(broken), await getBacklog(sound)]).toEqual([3, 3]);
  });

  test("sends the events of a second in one push to an endpoint that hangs, and new settings at once", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(farAhead);
    const posts = mockReceivers(({ url }) => (url.includes("hung") ? new Promise(() => undefined) : new Response(null, { status: 200 })));
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    const hung = await registerEndpoint(business, "https://hung.merchant-tests.com/");
    const sound = await registerEndpoint(business, "https://sound.merchant-tests.com/");
    const endpoints = [hung, sound];
    await commitEvents(business, 1);
    await stub.drain();
    await runAlarm(stub); // records that the queues have the event
    const stuck = runAlarm(hung.queue).catch(() => "died");
    await vi.waitFor(() => expect(posts.some(({ url }) => url.includes("hung"))).toBe(true), { timeout: 20_000 });
    vi.setSystemTime(Date.now() + 1_000);
    await runInDurableObject(stub, async (_, state) => {
      const { log, pushed } = openRecordedSequence(state);
      const countPushes = (): number[] => endpoints.map(({ id }) => pushed.filter((name) => name === id).length);
      const countWaiting = (): Promise<unknown[]> =>
        Promise.all(endpoints.map(async ({ id }) => (await deliveryQueues.getByName(id).getActivity())?.health.backlog));
      for (let count = 0; count < 3; count += 1) {
        await commitEvents(business, 1);
        await log.drain();
      }
      expect(countPushes()).toEqual([1, 3]);
      expect(await countWaiting()).toEqual([2, 4]);
      expect(await state.storage.getAlarm()).toBe(Date.now() + 1_000);

      await log.updateEndpoint(hung.id, { description: "Orders" });
      expect(countPushes()).toEqual([2, 3]);
      expect(await countWaiting()).toEqual([4, 4]);

      await commitEvents(business, 1);
      await log.drain();
      expect(countPushes()).toEqual([2, 4]);
      vi.setSystemTime(Date.now() + 1_000);
      await log.alarm();
      expect(countPushes()).toEqual([3, 4]);
      expect(await countWaiting()).toEqual([5, 5]);
    });
    await abortAllDurableObjects();
    await stuck;
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  test("hands events over with an alarm when the process dies before the delivery queues have them", async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    const { queue } = await registerEndpoint(business, "https://a.merchant-tests.com/");
    await runAlarm(stub); // runs the alarm that the registration set
    await commitEvents(business, 2);
    await runInDurableObject(stub, async (_, state) => {
      const never = { getByName: (): DeliveryQueueMethods => ({ push: () => new Promise(() => undefined) }) };
      const dying = new EventSequence(state, { ...env, DELIVERY_QUEUE: never } as unknown as EventSequenceEnv);
      void dying.drain();
      const readStored = (): unknown[] => state.storage.sql.exec("SELECT seq FROM event").toArray();
      await vi.waitFor(() => expect(readStored()).toHaveLength(2), { timeout: 20_000 });
    });
    expect((await queue.getActivity())?.health.backlog).toBe(0);
    expect(await getAlarm(stub)).not.toBeNull();
    await evictDurableObject(stub);
    expect(await runAlarm(stub)).toBe(true);
    expect((await queue.getActivity())?.health.backlog).toBe(2);
  });

  test("keeps the newest settings in the delivery queue when older ones arrive late", async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    const { id, queue } = await registerEndpoint(business, "https://old.merchant-tests.com/");
    const old = await stub.findEndpointSettings(id);
    await stub.updateEndpoint(id, { url: "https://new.merchant-tests.com/" });
    await queue.push(old as EndpointSettings, [], 0);
    const urls = await runInDurableObject(queue, (_, state) => state.storage.sql.exec("SELECT url FROM queue").toArray());
    expect(urls).toEqual([{ url: "https://new.merchant-tests.com/" }]);
  });

  test("pushes nothing to a removed endpoint, and an alarm wipes its queue after a crash", async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    const { id, queue } = await registerEndpoint(business, "https://a.merchant-tests.com/");
    await runAlarm(stub); // runs the alarm that the registration set
    expect(await getAlarm(stub)).toBeNull();
    await runInDurableObject(stub, async (_, state) => {
      const gone = { getByName: (): DeliveryQueueMethods => ({ wipe: () => Promise.reject(new Error("gone")) }) };
      const dying = new EventSequence(state, { ...env, DELIVERY_QUEUE: gone } as unknown as EventSequenceEnv);
      await expect(dying.removeEndpoint(id)).rejects.toThrow("storage outage");
    });
    await evictDurableObject(stub);
    expect(await stub.listEndpoints()).toEqual([]);
    await commitEvents(business, 2);
    await stub.drain();
    expect((await queue.getActivity())?.health.backlog).toBe(0);
    expect(await getAlarm(stub)).not.toBeNull();
    expect(await runAlarm(stub)).toBe(true);
    expect(await queue.getActivity()).toBeNull();
    expect(await getAlarm(stub)).toBeNull();
    const rows = await runInDurableObject(stub, (_, state) => state.storage.sql.exec("SELECT id FROM endpoint").toArray());
    expect(rows).toEqual([]);
  });

  test("pushes events to the other endpoints although the queue of a removed endpoint keeps failing", async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    const removed = await registerEndpoint(business, "https://removed.merchant-tests.com/");
    const other = await registerEndpoint(business, "https://other.merchant-tests.com/");
    await runInDurableObject(stub, async (_, state) => {
      const namespace = {
        getByName: (name: string): DeliveryQueueMethods =>
          name === removed.id ? { wipe: () => Promise.reject(new Error("gone")) } : deliveryQueues.getByName(name),
      };
      const failing = new EventSequence(state, { ...env, DELIVERY_QUEUE: namespace } as unknown as EventSequenceEnv);
      await expect(failing.removeEndpoint(removed.id)).rejects.toThrow("storage outage");
      await commitEvents(business, 2);
      await failing.alarm();
      expect(await state.storage.getAlarm()).not.toBeNull();
    });
    expect((await other.queue.getActivity())?.health.backlog).toBe(2);
  });

  test("pushes events to the other endpoints although the queue of a removed endpoint does not respond", async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    const removed = await registerEndpoint(business, "https://removed.merchant-tests.com/");
    const other = await registerEndpoint(business, "https://other.merchant-tests.com/");
    await runInDurableObject(stub, async (_, state) => {
      const namespace = {
        getByName: (name: string): DeliveryQueueMethods =>
          name === removed.id ? { wipe: () => new Promise<never>(() => undefined) } : deliveryQueues.getByName(name),
      };
      const hanging = new EventSequence(state, { ...env, DELIVERY_QUEUE: namespace } as unknown as EventSequenceEnv);
      const removal = expect(hanging.removeEndpoint(removed.id)).rejects.toThrow("storage outage NO_ANSWER");
      await commitEvents(business, 2);
      await hanging.alarm();
      await removal;
      expect(await state.storage.getAlarm()).not.toBeNull();
    });
    expect((await other.queue.getActivity())?.health.backlog).toBe(2);
  });

  test("lists endpoints and pushes events to the other endpoints although a queue does not respond", async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    const silent = await registerEndpoint(business, "https://silent.merchant-tests.com/");
    const other = await registerEndpoint(business, "https://other.merchant-tests.com/");
    const hang = () => new Promise<never>(() => undefined);
    await runInDurableObject(stub, async (_, state) => {
      const namespace = {
        getByName: (name: string): DeliveryQueueMethods =>
          name === silent.id ? { push: hang, getActivity: hang, listDeliveriesBetween: hang } : deliveryQueues.getByName(name),
      };
      const hanging = new EventSequence(state, { ...env, DELIVERY_QUEUE: namespace } as unknown as EventSequenceEnv);
      await commitEvents(business, 2);
      expect(await hanging.drain()).toBe(true);
      await hanging.alarm();
      expect(await state.storage.getAlarm()).not.toBeNull();
      expect((await hanging.listEndpoints()).map(({ health }) => health?.backlog ?? null)).toEqual([null, 2]);
      expect((await hanging.listDeliveriesBetween(0, 2)).map(({ url }) => url)).toEqual(
        Array.from({ length: 2 }, () => "https://other.merchant-tests.com/"),
      );
    });
    expect((await other.queue.getActivity())?.health.backlog).toBe(2);
  });

  test("refuses calls about an endpoint whose queue does not respond, instead of waiting", async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    const { id, queue } = await registerEndpoint(business, "https://silent.merchant-tests.com/");
    await commitEvents(business, 1);
    await stub.drain();
    const delivery = (await queue.listDeliveries(1, null))?.deliveries[0]?.id as string;
    const hang = () => new Promise<never>(() => undefined);
    await runInDurableObject(stub, async (_, state) => {
      const silent = {
        listDeliveries: hang,
        findRecord: hang,
        listAttemptHours: hang,
        countFailedSince: hang,
        recoverFailed: hang,
        saveReplay: hang,
      };
      const namespace = { getByName: (): DeliveryQueueMethods => silent };
      const sequence = new EventSequence(state, { ...env, DELIVERY_QUEUE: namespace } as unknown as EventSequenceEnv);
      const results = await Promise.allSettled([
        sequence.listDeliveries(id, 1, null),
        sequence.findDeliveryRecord(delivery),
        sequence.listAttemptHours(id, 0),
        sequence.countFailedSince(id, 0),
        sequence.recoverFailed(id, 0),
        sequence.saveReplay(id, delivery, { kind: "answered", status: 200, durationMs: 1 } as never),
      ]);
      const reasons = results.map((result) => result.status === "rejected" && (result.reason as Error).message);
      expect(reasons).toEqual(Array.from({ length: 6 }, () => "storage outage NO_ANSWER"));
    });
  });

  test("has no alarm when nothing is left to do", async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    await commitEvents(business, 1);
    await stub.drain();
    expect(await getAlarm(stub)).toBeNull();
    expect(await runAlarm(stub)).toBe(false);
  });
});
