// Tests an event sequence that reaches its size limit and moves older events to segments. Readers, writers and endpoints must not notice
// this. The limit is small here, so that a few hundred events fill several segments.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { EventSequence, type EventSequenceEnv } from "../../durable-objects/event-sequence/object.ts";
import type { StoredEvent } from "../../core/events/event.ts";
import {
  getAlarm,
  commitEvents,
  buildEventRow,
  farAhead,
  deliveryQueues,
  eventSequences,
  createBusiness,
  mockReceivers,
  registerEndpoint,
  runAlarm,
  runAlarmsUntil,
  type EventSequenceStub,
  type DeliveryQueueMethods,
  type EventSequenceMethods,
} from "../support/events.ts";
import { batch, openDatabase } from "../../storage/database.ts";

// The size of an empty sequence plus room for a few hundred events.
const limitBytes = "100000";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

type Namespace = { readonly getByName: (name: string) => EventSequenceMethods };

/**
 * Creates a new instance of the sequence with a small size limit, and calls `use` with it. `segments` replaces the sequences that store its
 * segments.
 */
const useSmallLog = <T>(
  stub: EventSequenceStub,
  use: (log: EventSequence, state: DurableObjectState) => Promise<T>,
  segments?: Namespace,
): Promise<T> =>
  runInDurableObject(stub, (_, state) =>
    use(
      new EventSequence(state, {
        ...env,
        DEV_EVENT_SEQUENCE_BYTES: limitBytes,
        EVENT_SEQUENCE: segments ?? eventSequences,
      } as unknown as EventSequenceEnv),
      state,
    ),
  );

const countUpTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

type SegmentRow = { number: number; after: number; up_to: number; moved: number };
const listSegments = (state: DurableObjectState): SegmentRow[] =>
  state.storage.sql.exec<SegmentRow>("SELECT * FROM segment ORDER BY number").toArray();
const countRows = (state: DurableObjectState): number => state.storage.sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM event").one().n;

const readAll = async (log: EventSequence, limit: number): Promise<StoredEvent[]> => {
  const events: StoredEvent[] = [];
  for (let cursor = 0; ; ) {
    const page = await log.listEvents(cursor, limit, null);
    // Every page except the last is full, no matter where the events are stored.
    expect(page.events.length === limit || page.readThrough === page.head).toBe(true);
    events.push(...page.events);
    if (page.readThrough >= page.head) return events;
    cursor = page.readThrough;
  }
};

/** Fills a sequence until at least `count` segments are complete and none is being filled. Returns the event IDs in order. */
const fillLog = async (business: string, count: number): Promise<string[]> => {
  const ids: string[] = [];
  await useSmallLog(eventSequences.getByName(business), async (log, state) => {
    for (;;) {
      const rows = listSegments(state);
      if (rows.length >= count && rows.every(({ moved, up_to }) => moved === up_to)) return;
      ids.push(...(await commitEvents(business, 100)));
      await log.drain();
      if (ids.length > 20_000) throw new Error("the sequence fills no segment");
    }
  });
  return ids;
};

describe("an event sequence at its size limit", () => {
  test("moves the older half to a segment, and its feed stays the same", async () => {
    const business = await createBusiness();
    const ids = await fillLog(business, 3);
    await useSmallLog(eventSequences.getByName(business), async (log, state) => {
      const rows = listSegments(state);
      expect(rows.map(({ number }) => number)).toEqual(countUpTo(rows.length));
      expect(rows.map(({ after }) => after)).toEqual([0, ...rows.slice(0, -1).map(({ up_to }) => up_to)]);
      const movedThrough = rows.at(-1)?.up_to as number;
      expect(countRows(state)).toBe(ids.length - movedThrough); // each event is stored once
      expect(state.storage.sql.databaseSize).toBeLessThan(2 * Number(limitBytes));
      for (const { number, after, up_to } of rows) {
        await runInDurableObject(eventSequences.getByName(`${business}#${number}`), (_, segment) => {
          expect(countRows(segment)).toBe(up_to - after);
        });
      }
      for (const limit of [7, 100, 500]) {
        const events = await readAll(log, limit);
        expect(events.map(({ seq }) => seq)).toEqual(countUpTo(ids.length));
        expect(events.map(({ id }) => id)).toEqual(ids);
      }
      const border = rows[0]?.up_to as number;
      const across = await log.listEvents(border - 3, 6, null); // this page contains events from two objects
      expect(across.events.map(({ seq }) => seq)).toEqual([-2, -1, 0, 1, 2, 3].map((offset) => border + offset));
      const recent = await log.listEvents(movedThrough - 3, 6, null);
      expect(recent.events.map(({ seq }) => seq)).toEqual([-2, -1, 0, 1, 2, 3].map((offset) => movedThrough + offset));
    });
  });

  test("returns each event once and in order to three readers while it grows and moves events", {
    timeout: 60_000,
  }, async () => {
    const business = await createBusiness();
    const total = 2_000;
    await useSmallLog(eventSequences.getByName(business), async (log, state) => {
      const readSeqs = async (limit: number): Promise<number[]> => {
        const seen: number[] = [];
        for (let cursor = 0; seen.length < total; ) {
          const page = await log.listEvents(cursor, limit, null);
          seen.push(...page.events.map(({ seq }) => seq));
          expect(page.readThrough).toBe(seen.at(-1) ?? cursor);
          cursor = page.readThrough;
          if (page.events.length === 0) await scheduler.wait(2);
        }
        return seen;
      };
      const readers = [1, 7, 500].map(readSeqs);
      for (let at = 0; at < total; at += 100) {
        await commitEvents(business, 100);
        await log.drain();
      }
      for (const seen of await Promise.all(readers)) expect(seen).toEqual(countUpTo(total));
      expect(listSegments(state).length).toBeGreaterThanOrEqual(3);
    });
  });

  test("skips other event types in every segment when a reader asks for rare ones", async () => {
    const business = await createBusiness();
    const before = await commitEvents(business, 1, { type: "share.created", certId: null, shareId: "shr_1" });
    const ids = await fillLog(business, 2);
    await useSmallLog(eventSequences.getByName(business), async (log) => {
      const page = await log.listEvents(0, 100, ["share.created"]);
      expect(page.events.map(({ id }) => id)).toEqual(before);
      expect(page).toMatchObject({ readThrough: ids.length + 1, head: ids.length + 1 });
    });
  });

  test("gives no second number to an event that is in a segment", async () => {
    const business = await createBusiness();
    const ids = await fillLog(business, 2);
    const old = ids.slice(0, 50);
    await batch(
      openDatabase(env.DB),
      old.map((id) => buildEventRow(business, { id })),
    ); // commits the same events again, as after a database restore
    const fresh = await commitEvents(business, 3);
    await useSmallLog(eventSequences.getByName(business), async (log) => {
      await log.drain();
      expect((await readAll(log, 500)).map(({ id }) => id)).toEqual([...ids, ...fresh]);
    });
  });

  test("has each event once at every moment when it crashes before, during or after a move", async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    let step = 0;
    // A third of the batches fail before the segment stores them, and another third fail afterward.
    const dying: Namespace = {
      getByName: (name) => {
        const segment = eventSequences.getByName(name);
        return {
          listSegmentEvents: (...args: Parameters<typeof segment.listSegmentEvents>) => segment.listSegmentEvents(...args),
          listKnownIds: (ids: readonly string[]) => segment.listKnownIds(ids),
          saveToSegment: async (events: readonly StoredEvent[]) => {
            step += 1;
            if (step % 3 === 1) throw new Error("gone before");
            const last = await segment.saveToSegment(events);
            if (step % 3 === 2) throw new Error("gone after");
            return last;
          },
        };
      },
    };
    const ids: string[] = [];
    for (let process = 0; process < 40; process += 1) {
      ids.push(...(await commitEvents(business, 50)));
      await useSmallLog(
        stub,
        async (log, state) => {
          await log.drain();
          expect((await readAll(log, 500)).map(({ id }) => id)).toEqual(ids);
          if (listSegments(state).some(({ moved, up_to }) => moved < up_to)) expect(await state.storage.getAlarm()).not.toBeNull();
        },
        dying,
      );
      await evictDurableObject(stub);
    }
    expect(step).toBeGreaterThan(6);
    await useSmallLog(stub, async (_, state) => {
      expect(listSegments(state).length).toBeGreaterThanOrEqual(3);
    });
  });

  test("rejects instead of returning a gap when a segment does not respond", async () => {
    const business = await createBusiness();
    const ids = await fillLog(business, 1);
    const unavailableNamespace: Namespace = {
      getByName: () => ({
        listSegmentEvents: () => Promise.reject(new Error("away")),
        listKnownIds: () => Promise.reject(new Error("away")),
      }),
    };
    await useSmallLog(
      eventSequences.getByName(business),
      async (log, state) => {
        await expect(log.listEvents(0, 100, null)).rejects.toThrow("storage outage");
        const movedThrough = listSegments(state).at(-1)?.up_to as number;
        expect((await log.listEvents(movedThrough, 500, null)).events).toHaveLength(ids.length - movedThrough); // events that are still in the sequence itself can be read
        await commitEvents(business, 1);
        await log.drain(); // a segment might already contain the event, so the sequence appends it only once the segments respond again
        expect((await log.listEvents(movedThrough, 500, null)).head).toBe(ids.length);
        expect(await state.storage.getAlarm()).not.toBeNull();
      },
      unavailableNamespace,
    );
    await useSmallLog(eventSequences.getByName(business), async (log) => {
      await log.drain();
      expect(await readAll(log, 500)).toHaveLength(ids.length + 1);
    });
  });

  test("does not wait for a segment that hangs", async () => {
    const business = await createBusiness();
    await fillLog(business, 1);
    const hang = () => new Promise<never>(() => undefined);
    const hangingNamespace: Namespace = { getByName: () => ({ listSegmentEvents: hang, listKnownIds: hang }) };
    await useSmallLog(
      eventSequences.getByName(business),
      async (log, state) => {
        await commitEvents(business, 1);
        const page = expect(log.listEvents(0, 100, null)).rejects.toThrow("storage outage NO_ANSWER");
        expect(await log.drain()).toBe(false);
        await page;
        expect(await state.storage.getAlarm()).not.toBeNull();
      },
      hangingNamespace,
    );
  });

  test("appends events and hands them over while moving fails, and retries the move with growing pauses", async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    const full: Namespace = {
      getByName: () => ({ saveToSegment: () => Promise.reject(new Error("full")), listKnownIds: () => Promise.resolve([]) }),
    };
    await useSmallLog(
      stub,
      async (log, state) => {
        const pauses: number[] = [];
        vi.useFakeTimers({ toFake: ["Date"] });
        for (let count = 0; pauses.length < 4; count += 100) {
          await commitEvents(business, 100);
          vi.setSystemTime(Date.now() + 61_000);
          await log.alarm();
          expect((await log.listEvents(0, 500, null)).head).toBe(count + 100);
          if (listSegments(state).length > 0) pauses.push(Math.round((((await state.storage.getAlarm()) ?? 0) - Date.now()) / 1_000));
        }
        expect(pauses).toEqual([5, 10, 20, 40]);
      },
      full,
    );
  });

  test("fills a segment with its alarms when no more events come, and then has no alarm", async () => {
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    await useSmallLog(stub, async (log, state) => {
      await commitEvents(business, 3_000); // the older half moves to a segment, which takes more than one batch
      await log.drain();
      expect(listSegments(state)).toMatchObject([{ after: 0, moved: 500 }]);
      for (let alarms = 0; (await state.storage.getAlarm()) !== null; alarms += 1) {
        expect(alarms).toBeLessThan(60);
        await log.alarm();
      }
      expect(listSegments(state).every(({ moved, up_to }) => moved === up_to)).toBe(true);
      expect((await readAll(log, 500)).map(({ seq }) => seq)).toEqual(countUpTo(3_000));
    });
    expect(await getAlarm(stub)).toBeNull();
  });
});

describe("an endpoint of an event sequence at its size limit", () => {
  test("gets every event once, even if its queue stores the events and returns an invalid response", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(farAhead);
    const posts = mockReceivers(() => new Response(null, { status: 200 }));
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    const { id, queue } = await registerEndpoint(business, "https://hook1.merchant-tests.com/");
    await runAlarm(stub); // runs the alarm that the registration set
    let isWrong = true;
    await runInDurableObject(stub, async (_, state) => {
      const push = async (...args: Parameters<typeof queue.push>) => {
        const result = await deliveryQueues.getByName(id).push(...args);
        return isWrong ? undefined : result;
      };
      const log = new EventSequence(state, { ...env, DELIVERY_QUEUE: { getByName: () => ({ push }) } } as unknown as EventSequenceEnv);
      await commitEvents(business, 2);
      await log.drain();
      isWrong = false;
      await commitEvents(business, 1);
      vi.setSystemTime(Date.now() + 61_000);
      await log.alarm();
    });
    await runAlarmsUntil(queue);
    expect(posts.map(({ body }) => (JSON.parse(body) as { seq: number }).seq).sort((a, b) => a - b)).toEqual(countUpTo(3));
  });

  test("gets every event once, including events that moved to a segment before they were handed over", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(farAhead);
    const posts = mockReceivers(() => new Response(null, { status: 200 }));
    const business = await createBusiness();
    const stub = eventSequences.getByName(business);
    const { id, queue } = await registerEndpoint(business, "https://hook1.merchant-tests.com/");
    await runAlarm(stub); // runs the alarm that the registration set
    let isUnavailable = true;
    const total = 1_500;
    await runInDurableObject(stub, async (_, state) => {
      const namespace = {
        getByName: (name: string): DeliveryQueueMethods => ({
          push: async (...args: Parameters<typeof queue.push>) => {
            if (isUnavailable) throw new Error("overloaded");
            return deliveryQueues.getByName(name).push(...args);
          },
        }),
      };
      const log = new EventSequence(state, {
        ...env,
        DEV_EVENT_SEQUENCE_BYTES: limitBytes,
        DELIVERY_QUEUE: namespace,
      } as unknown as EventSequenceEnv);
      for (let count = 0; count < total; count += 100) {
        await commitEvents(business, 100);
        await log.drain();
      }
      expect(listSegments(state).length).toBeGreaterThanOrEqual(2);
      expect((await deliveryQueues.getByName(id).getActivity())?.health.backlog).toBe(0);
      isUnavailable = false;
      vi.setSystemTime(Date.now() + 61_000);
      await log.alarm();
    });
    await runAlarmsUntil(queue);
    const events = posts.map(({ body }) => (JSON.parse(body) as { seq: number }).seq).sort((a, b) => a - b);
    expect(events).toEqual(countUpTo(total));
    expect((await deliveryQueues.getByName(id).getActivity())?.health.backlog).toBe(0);
  });
});

describe("a segment", () => {
  test("is the only kind of object that accepts moved events", async () => {
    const business = await createBusiness();
    const events = [
      { seq: 1, id: crypto.randomUUID(), type: "share.created", createdAt: 0, shareId: null, certId: null, dataSealed: null },
    ];
    await runInDurableObject(eventSequences.getByName(business), (log) => {
      expect(() => log.saveToSegment(events)).toThrow("not a segment");
    });
    expect(await eventSequences.getByName(`${business}#1`).saveToSegment(events)).toBe(1);
    expect(await eventSequences.getByName(`${business}#1`).saveToSegment(events)).toBe(1);
  });
});
