// A lane through a day of everything at once: events, receivers that fail, hang up and come back, processes that end, endpoints that
// are switched off and on. After every step it must know when to go on, and at the end nothing may be left.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { hasDeliveryTables, nextDueAt, type DeliveryRow } from "../../durable-objects/delivery-tables.ts";
import {
  alarmOf,
  commitEvents,
  in2030,
  logs,
  newBusiness,
  playReceivers,
  register,
  runAlarm,
  sequenceOf,
  type LaneStub,
} from "../support/events.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(in2030);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Numbers in [0, 1) that are the same in every run. */
const drawn = (seed: number) => (): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};

const rowsOf = (lane: LaneStub): Promise<DeliveryRow[]> =>
  runInDurableObject(lane, (_, { storage: { sql } }) => sql.exec<DeliveryRow>("SELECT * FROM delivery ORDER BY seq").toArray());
const dueOf = (lane: LaneStub): Promise<number | null> =>
  runInDurableObject(lane, (_, { storage: { sql } }) => (hasDeliveryTables(sql) ? nextDueAt(sql) : null));

test.each([1, 3])("W31: a day of it leaves nothing undone and never sleeps over what is due (%i)", { timeout: 120_000 }, async (seed) => {
  const next = drawn(seed);
  let mood = 0;
  const posts = playReceivers(() => {
    const fate = next();
    if (fate < mood / 2) throw new TypeError("Network connection lost.");
    return new Response(null, { status: fate < mood ? 500 + Math.floor(next() * 5) : 200 });
  });
  const business = await newBusiness();
  const log = logs.getByName(business);
  const { id, lane } = await register(business, "https://hook1.merchant-tests.com/");
  let disabled = false;
  const endOfDay = in2030 + 86_400_000;
  for (let step = 0; Date.now() < endOfDay && step < 400; step += 1) {
    const choice = next();
    if (choice < 0.35) {
      await commitEvents(business, 1 + Math.floor(next() * 4));
      await log.drain();
    } else if (choice < 0.45) {
      mood = next() < 0.4 ? 0 : next();
    } else if (choice < 0.5) {
      await evictDurableObject(lane);
    } else if (choice < 0.54) {
      disabled = !disabled;
      await log.changeEndpoint(id, { status: disabled ? "disabled" : "enabled" });
    } else {
      const alarm = await alarmOf(lane);
      if (alarm === null) vi.setSystemTime(Date.now() + 60_000);
      else {
        vi.setSystemTime(Math.max(Date.now(), alarm));
        await runAlarm(lane);
      }
    }
    const [due, alarm] = [await dueOf(lane), await alarmOf(lane)];
    if (due !== null) expect(alarm === null ? Number.POSITIVE_INFINITY : alarm).toBeLessThanOrEqual(Math.max(due, Date.now()) + 2_000);
  }

  mood = 0;
  if (disabled) await log.changeEndpoint(id, { status: "enabled" });
  for (let alarm = await alarmOf(lane); alarm !== null; alarm = await alarmOf(lane)) {
    vi.setSystemTime(Math.max(Date.now(), alarm));
    await runAlarm(lane);
  }
  const events = await sequenceOf(business);
  const rows = await rowsOf(lane);
  expect(rows.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq));
  expect(rows.length).toBeGreaterThan(100);
  expect(new Set(rows.map(({ status }) => status))).toEqual(
    new Set(rows.some(({ status }) => status === "abandoned") ? ["success", "abandoned"] : ["success"]),
  );
  const pauses = [60_000, 300_000, 1_800_000, 7_200_000];
  for (const row of rows) {
    const sent = posts.filter(({ headers }) => headers.get("svc-delivery-id") === row.id);
    expect(sent.length).toBe(row.attempt);
    expect(row.status === "abandoned" ? row.attempt : 5).toBe(5);
    for (const [at, post] of sent.entries()) {
      const before = sent[at - 1];
      if (before !== undefined) expect(post.at - before.at).toBeGreaterThanOrEqual(pauses[at - 1] as number);
    }
  }
});
