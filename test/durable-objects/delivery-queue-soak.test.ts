// Tests delivery queues with days of random load: events, receivers that fail, hang and recover, processes that end, endpoints that are
// disabled and enabled, and hours without an alarm. After every step, a queue with work must have an alarm, and no row may be past its
// retention period. At the end, no work may be left. SOAK_ALARMS is the number of alarms per run (npm run stress sets 10,000).
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { dayMs, hourMs, minuteMs } from "../../core/time.ts";
import { findNextDueAt, type DeliveryRow } from "../../durable-objects/delivery-queue/deliveries.ts";
import { hasDeliveryTables } from "../../durable-objects/delivery-queue/queue-row.ts";
import {
  commitEvents,
  farAhead,
  eventSequences,
  createBusiness,
  mockReceivers,
  registerEndpoint,
  runAlarm,
  runAlarmsUntil,
  readSequence,
  type DeliveryQueueStub,
  type ReceivedPost,
} from "../support/events.ts";
import { createProgressPrinter } from "../support/progress.ts";

const wantedAlarms = Number(env.SOAK_ALARMS);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(farAhead);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Returns reproducible random numbers that are at least 0 and less than 1. */
const createRandom = (seed: number) => (): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};

const keptMs = { success: 30 * dayMs, abandoned: 90 * dayMs } as const;

const listRows = (queue: DeliveryQueueStub): Promise<DeliveryRow[]> =>
  runInDurableObject(queue, (_, { storage: { sql } }) => sql.exec<DeliveryRow>("SELECT * FROM delivery ORDER BY seq").toArray());

/** The state of a queue: when its next work is due, when its alarm is set, and how many rows are past their retention period. */
interface QueueState {
  readonly due: number | null;
  readonly alarm: number | null;
  readonly overdue: number;
}
const readState = (queue: DeliveryQueueStub): Promise<QueueState> =>
  runInDurableObject(queue, async (_, { storage }) => {
    const { sql } = storage;
    const alarm = await storage.getAlarm();
    if (!hasDeliveryTables(sql)) return { due: null, alarm, overdue: 0 };
    const { overdue } = sql
      .exec<{ overdue: number }>(
        "SELECT COUNT(*) AS overdue FROM delivery WHERE (status = 'success' AND ended_at <= ?) OR (status = 'abandoned' AND ended_at <= ?)",
        Date.now() - keptMs.success,
        Date.now() - keptMs.abandoned,
      )
      .one();
    return { due: findNextDueAt(sql), alarm, overdue };
  });

/** An endpoint and its receiver's failure rate: 0 accepts everything, 1 accepts nothing. */
interface Soaked {
  readonly id: string;
  readonly queue: DeliveryQueueStub;
  readonly host: string;
  mood: number;
  disabled: boolean;
}

interface Answered extends ReceivedPost {
  readonly isDelivered: boolean;
}

const pauses = [minuteMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs];

test.each([
  [1, 1],
  [3, 1],
  [7, 2],
])(
  "days of deliveries leave no work undone, no row past its retention and no queue without its alarm (seed %i, endpoints %i)",
  {
    timeout: hourMs,
  },
  async (seed, count) => {
    const next = createRandom(seed);
    const business = await createBusiness();
    const log = eventSequences.getByName(business);
    const endpoints: Soaked[] = [];
    const answered = new Map<string, Answered[]>();
    mockReceivers((post) => {
      const { host } = new URL(post.url);
      const mood = endpoints.find((endpoint) => endpoint.host === host)?.mood ?? 0;
      const fate = next();
      const key = `${host} ${post.headers.get("svc-event-id")}`;
      answered.set(key, [...(answered.get(key) ?? []), { ...post, isDelivered: fate >= mood }]);
      if (fate < mood / 2) throw new TypeError("Network connection lost.");
      return new Response(null, { status: fate < mood ? 500 + Math.floor(next() * 5) : 200 });
    });
    for (let n = 1; n <= count; n += 1) {
      const host = `hook${n}.merchant-tests.com`;
      endpoints.push({ ...(await registerEndpoint(business, `https://${host}/`)), host, mood: 0, disabled: false });
    }
    const toggle = async (endpoint: Soaked): Promise<void> => {
      endpoint.disabled = !endpoint.disabled;
      await log.updateEndpoint(endpoint.id, { status: endpoint.disabled ? "disabled" : "enabled" });
    };
    /** Runs the alarm that is due first. Returns false if no alarm is set. */
    const runFirst = async (): Promise<boolean> => {
      const states = await Promise.all(endpoints.map(async ({ queue }) => ({ queue, ...(await readState(queue)) })));
      const [first] = states.flatMap(({ queue, alarm }) => (alarm === null ? [] : [{ queue, alarm }])).sort((a, b) => a.alarm - b.alarm);
      if (first === undefined) return false;
      vi.setSystemTime(Math.max(Date.now(), first.alarm));
      await runAlarm(first.queue);
      expect((await readState(first.queue)).overdue).toBe(0);
      return true;
    };

    const progress = createProgressPrinter(`seed ${seed}, endpoints ${count}`, wantedAlarms);
    for (let ran = 0; ran < wantedAlarms; ) {
      const choice = next();
      const endpoint = endpoints[Math.floor(next() * count)] as Soaked;
      if (choice < 0.2) {
        await commitEvents(business, 1 + Math.floor(next() * 6));
        await log.drain();
      } else if (choice < 0.28) endpoint.mood = next() < 0.4 ? 0 : next();
      else if (choice < 0.32) await evictDurableObject(endpoint.queue);
      else if (choice < 0.36) await toggle(endpoint);
      else if (choice < 0.38) vi.setSystemTime(Date.now() + Math.floor(next() * 12 * hourMs));
      else if (await runFirst()) ran += 1;
      else vi.setSystemTime(Date.now() + minuteMs);
      progress(ran);
      for (const { queue } of endpoints) {
        const { due, alarm } = await readState(queue);
        if (due !== null) expect(alarm ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(Math.max(due, Date.now()) + 2_000);
      }
    }
    for (const endpoint of endpoints) {
      endpoint.mood = 0;
      if (endpoint.disabled) await toggle(endpoint);
    }
    for (const { queue } of endpoints) await runAlarmsUntil(queue);

    const events = await readSequence(business);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    expect(events.length).toBeGreaterThan(wantedAlarms);
    for (const { queue, host } of endpoints) {
      const rows = new Map((await listRows(queue)).map((row) => [row.seq, row]));
      for (const event of events) {
        const posts = answered.get(`${host} ${event.id}`) ?? [];
        expect(posts.length).toBeGreaterThan(0);
        expect(posts.length).toBeLessThanOrEqual(5);
        expect(posts.slice(0, -1).some(({ isDelivered }) => isDelivered)).toBe(false); // after a success, the delivery is not sent again
        for (const [at, post] of posts.slice(1).entries())
          expect(post.at - (posts[at] as ReceivedPost).at).toBeGreaterThanOrEqual(pauses[at] as number);
        const wasDelivered = posts.at(-1)?.isDelivered === true;
        expect(wasDelivered || posts.length === 5).toBe(true);
        const row = rows.get(event.seq);
        const age = Date.now() - (posts.at(-1) as ReceivedPost).at;
        if (row === undefined) expect(age).toBeGreaterThanOrEqual(keptMs[wasDelivered ? "success" : "abandoned"]);
        else expect(row).toMatchObject({ status: wasDelivered ? "success" : "abandoned", attempt: posts.length, due: null });
      }
    }
    const days = (Date.now() - farAhead) / dayMs;
    console.log(`seed ${seed}, endpoints ${count}: ${wantedAlarms} alarms in ${days.toFixed(1)} days, ${events.length} events each`);
  },
);
