// Tests the limits on delivery attempts to a host that has not yet returned a 2xx response to the business. The limits keep a business
// from flooding a third party's server by registering its address.
import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Delivery } from "../../core/webhooks/endpoint.ts";
import {
  commitEvents,
  createBusiness,
  deliveryQueues,
  destinationHosts,
  eventSequences,
  farAhead,
  mockReceivers,
  proveHost,
  registerEndpoint,
  runAlarm,
  runAlarmsUntil,
  type ReceivedPost,
  type RegisteredEndpoint,
} from "../support/events.ts";

const minute = 60_000;
const step = 1_000;

let status = 500;
let posts: ReceivedPost[] = [];
let host = "";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(farAhead);
  status = 500;
  posts = mockReceivers(() => new Response(null, { status }));
  host = `host-${crypto.randomUUID()}.merchant-tests.com`;
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

interface Sender {
  readonly business: string;
  readonly endpoints: readonly RegisteredEndpoint[];
}

/** Creates a business whose endpoints are all on the host, with `events` deliveries waiting for each of them. */
const createSender = async (endpointCount: number, events: number): Promise<Sender> => {
  const business = await createBusiness();
  const endpoints: RegisteredEndpoint[] = [];
  for (let n = 0; n < endpointCount; n += 1) endpoints.push(await registerEndpoint(business, `https://${host}/${business}/${n}`));
  await commitEvents(business, events);
  await eventSequences.getByName(business).drain();
  return { business, endpoints };
};

/** Runs the queues' alarms every `stepMs` milliseconds for `durationMs` milliseconds. */
const run = async (senders: readonly Sender[], durationMs: number, stepMs = step): Promise<void> => {
  for (const end = Date.now() + durationMs; Date.now() < end; vi.setSystemTime(Date.now() + stepMs))
    // Gets new stubs each time, because a crash breaks stubs.
    for (const { endpoints } of senders) for (const { id } of endpoints) await runAlarm(deliveryQueues.getByName(id));
};

const countFrom = ({ business }: Sender): number => posts.filter(({ url }) => url.includes(business)).length;
const listDeliveries = async ({ queue }: RegisteredEndpoint): Promise<readonly Delivery[]> =>
  (await queue.listDeliveries(100, null))?.deliveries ?? [];
const parseSeq = ({ body }: ReceivedPost): number => (JSON.parse(body) as { seq: number }).seq;

/** Returns the largest number of posts in any minute. */
const countBusiestMinute = (received: readonly ReceivedPost[]): number =>
  Math.max(...received.map(({ at }) => received.filter((other) => other.at >= at && other.at < at + minute).length));

describe("a host that has never returned a 2xx status for a business", () => {
  test("gets at most 10 attempts in any minute from 20 endpoints of the business, and no event is lost", async () => {
    const sender = await createSender(20, 2);
    await run([sender], 3 * minute, 5 * step);
    expect(countFrom(sender)).toBe(30);
    expect(countBusiestMinute(posts)).toBe(10);
    const waiting = (await Promise.all(sender.endpoints.map(listDeliveries))).flat();
    expect(waiting.length).toBe(40);
    expect(waiting.filter((delivery) => delivery.status === "abandoned")).toEqual([]);
    status = 200;
    await run([sender], 7 * minute, minute); // the third attempts are due five minutes after the second ones
    expect((await Promise.all(sender.endpoints.map(listDeliveries))).flat().every((delivery) => delivery.status === "success")).toBe(true);
  }, 60_000);

  test("gets at most 60 attempts in any minute from all such businesses together, each of which gets its turn", async () => {
    const senders: Sender[] = [];
    for (let n = 0; n < 9; n += 1) senders.push(await createSender(1, 30));
    await run(senders, minute);
    expect(posts.length).toBe(60);
    await run(senders, 2 * minute, 5 * step);
    expect(countBusiestMinute(posts)).toBe(60);
    expect(Math.min(...senders.map(countFrom))).toBeGreaterThanOrEqual(6);
  }, 60_000);

  test("gets the events of an endpoint in order, and all at once as soon as it has accepted one of them", async () => {
    status = 200;
    const sender = await createSender(1, 30);
    await run([sender], step);
    expect(posts.map(parseSeq)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  });

  test("gets waiting first attempts in order while it fails", async () => {
    const sender = await createSender(1, 25);
    await run([sender], 2 * minute, 5 * step);
    const firstAttempts = posts.filter(({ headers }) => headers.get("svc-attempt") === "1").map(parseSeq);
    expect(firstAttempts).toEqual(firstAttempts.toSorted((a, b) => a - b));
    expect(countBusiestMinute(posts)).toBe(10);
  });

  test("has each attempt counted before it is sent, so a process that dies does not give the business more attempts", async () => {
    const sender = await createSender(1, 30);
    await run([sender], 10 * step);
    await abortAllDurableObjects();
    await run([sender], 30 * step);
    expect(posts.length).toBe(10);
  });

  test("gets ever fewer attempts, and all waiting events soon after it accepts one", async () => {
    const sender = await createSender(1, 40);
    const [endpoint] = sender.endpoints as [RegisteredEndpoint];
    const hour = 60 * minute;
    await runAlarmsUntil(endpoint.queue, farAhead + 5 * hour);
    const countInHour = (n: number): number => posts.filter(({ at }) => at >= farAhead + (n - 1) * hour && at < farAhead + n * hour).length;
    expect(countInHour(1)).toBeGreaterThan(50);
    expect(countInHour(1)).toBeLessThan(90);
    expect(countInHour(5)).toBeLessThanOrEqual(8);
    status = 200;
    await runAlarmsUntil(endpoint.queue, farAhead + 6 * hour);
    expect(new Set((await listDeliveries(endpoint)).map((delivery) => delivery.status))).toEqual(new Set(["success"]));
  }, 60_000);

  test("keeps the place of a business that asks again while the queue of businesses is full", async () => {
    const stub = destinationHosts.getByName(host);
    const limits = { business: { count: 1, seconds: 60 }, host: { count: 1, seconds: 60 } };
    const takeAttemptAfter = async (businessId: string, afterSeconds: number): Promise<string> =>
      (await stub.takeAttempt({ businessId, now: farAhead + afterSeconds * 1_000, limits, isMemberCall: false })).kind;
    expect(await takeAttemptAfter("first", 0)).toBe("counted");
    const waiting = Array.from({ length: 1_000 }, (_, n) => `waiting-${n}`);
    for (const businessId of waiting) expect(await takeAttemptAfter(businessId, 0)).toBe("wait");
    expect(await takeAttemptAfter("waiting-500", 50)).toBe("wait"); // keeps its place in line; the others lose theirs after 90 seconds
    expect(await takeAttemptAfter("newcomer", 100)).toBe("wait");
    expect(await takeAttemptAfter("waiting-500", 100)).toBe("counted");
  });

  test("keeps no rows of attempts and businesses after a day without attempts", async () => {
    const sender = await createSender(1, 12);
    await run([sender], 5 * step);
    for (const { queue } of sender.endpoints) await queue.wipe();
    const stub = destinationHosts.getByName(host);
    vi.setSystemTime(farAhead + 2 * 24 * 60 * minute);
    await runAlarm(stub as never);
    const rows = await runInDurableObject(stub, (_, { storage }) =>
      ["attempt", "unproven", "waiting"].map((table) => storage.sql.exec(`SELECT * FROM ${table}`).toArray().length),
    );
    expect(rows).toEqual([0, 0, 0]);
  });
});

describe("a host that has returned a 2xx status for a business", () => {
  test("is not limited for that business, regardless of its later responses and of other businesses", async () => {
    const proven = await createSender(2, 20);
    await proveHost(proven.business, `https://${host}/`);
    const others: Sender[] = [];
    for (let n = 0; n < 7; n += 1) others.push(await createSender(1, 20));
    await run([...others, proven], step);
    expect(countFrom(proven)).toBe(40);
    expect(posts.length).toBe(100);
  });

  test("stays limited for other businesses", async () => {
    const [proven, other] = [await createSender(1, 1), await createSender(1, 20)];
    status = 200;
    await run([proven], step);
    status = 500;
    await run([other], 30 * step);
    expect(countFrom(other)).toBe(10);
  });

  test("does not lift the limit for the endpoint's next host", async () => {
    const sender = await createSender(1, 1);
    status = 200;
    await run([sender], step);
    status = 500;
    const next = `next-${host}`;
    const [endpoint] = sender.endpoints as [RegisteredEndpoint];
    await eventSequences.getByName(sender.business).updateEndpoint(endpoint.id, { url: `https://${next}/in` });
    await commitEvents(sender.business, 20);
    await eventSequences.getByName(sender.business).drain();
    await run([sender], 30 * step);
    expect(posts.filter(({ url }) => url.includes(next)).length).toBe(10);
  });
});
