// Tests deliveries over real sockets on the real runtime: how long a receiver may take, how much of its response is read, what it gets
// after it recovers, and that no business has to wait for another. BESIDE_EVENTS sets the number of the other business's events (npm run
// stress sets 5,000).
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  commitEvents,
  listDeliveries,
  listEvents,
  loadProducerScript,
  registerEndpoint,
  type ProducerTarget,
} from "../../scripts/bench/producer.ts";
import { createDemoWorld, seedDemo } from "../../scripts/demo-world.ts";
import { startRuntime, type Runtime } from "../../scripts/local-runtime.ts";
import { ensureBuiltWorker } from "../support/local-service.ts";
import { testVars, worldSecret } from "../support/local-vars.ts";

const besideEvents = Number(process.env.BESIDE_EVENTS ?? "1000");
const world = createDemoWorld(worldSecret);
const state = mkdtempSync(join(tmpdir(), "svc-receivers-"));
let runtime: Runtime;
let server: Server;
let at = "";
type Play = (request: IncomingMessage, response: ServerResponse) => void;
const plays = new Map<string, Play>();
const hits = new Map<string, number>();

beforeAll(async () => {
  const bundledIn = await ensureBuiltWorker();
  server = createServer((request, response) => {
    const path = request.url ?? "";
    hits.set(path, (hits.get(path) ?? 0) + 1);
    request.resume();
    request.on("end", () => plays.get(path)?.(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  at = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  runtime = await startRuntime({
    port: 0,
    stateDir: join(state, "svc"),
    bundleDir: bundledIn,
    vars: { ...testVars, DEV_FETCH_ALLOW: at },
    sidecarScript: loadProducerScript(),
  });
  await seedDemo(await runtime.database(), world, Date.now());
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await runtime.dispose();
  rmSync(state, { recursive: true, force: true });
});

const place = (business: string): ProducerTarget => ({ url: runtime.url, vars: testVars, business });
const register = (business: string, path: string, play: Play): Promise<{ readonly id: string }> => {
  plays.set(path, play);
  return registerEndpoint(place(business), `http://${at}${path}`);
};

interface ShownDelivery {
  readonly status: string;
  readonly attempt: number;
  readonly responseStatus: number | null;
  readonly error: string | null;
  readonly durationMs: number | null;
}
const readDeliveries = async (business: string, endpoint: string): Promise<readonly ShownDelivery[]> =>
  (await listDeliveries(place(business), endpoint, null)).deliveries as unknown as readonly ShownDelivery[];

/** Returns the endpoint's only delivery, once its first attempt has ended. */
const waitForDelivery = async (business: string, endpoint: string): Promise<ShownDelivery> => {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const [one] = await readDeliveries(business, endpoint);
    if (one !== undefined && one.attempt > 0) return one;
    if (Date.now() > deadline) throw new Error("the attempt did not end");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

describe("a receiver", () => {
  test("has ten seconds, at most 4 kB of its response is read, and every failure is retried", {
    timeout: 60_000,
  }, async () => {
    const business = world.acme.id;
    let dripClosed = false;
    const slow = await register(business, "/slow", (_, response) => setTimeout(() => response.writeHead(200).end(), 9_000));
    const never = await register(business, "/never", () => undefined);
    const drip = await register(business, "/drip", (_, response) => {
      response.writeHead(200);
      const dripping = setInterval(() => response.write("x".repeat(1_024)), 20);
      response.on("close", () => {
        dripClosed = true;
        clearInterval(dripping);
      });
    });
    const reset = await register(business, "/reset", (request) => request.socket.destroy());
    const moved = await register(business, "/moved", (_, response) => response.writeHead(307, { location: `http://${at}/target` }).end());
    await commitEvents(place(business), 1, { wait: true });

    expect(await waitForDelivery(business, drip.id)).toMatchObject({ status: "success", attempt: 1, responseStatus: 200 });
    await vi.waitFor(() => expect(dripClosed).toBe(true), { timeout: 20_000 }); // the socket closes a moment later
    expect(await waitForDelivery(business, reset.id)).toMatchObject({ status: "retrying", responseStatus: null, error: "connection" });
    expect(await waitForDelivery(business, moved.id)).toMatchObject({ status: "retrying", responseStatus: 307, error: "http" });
    expect(hits.get("/target")).toBeUndefined();
    expect(await waitForDelivery(business, slow.id)).toMatchObject({ status: "success", responseStatus: 200 });
    const late = await waitForDelivery(business, never.id);
    expect(late).toMatchObject({ status: "retrying", attempt: 1, responseStatus: null, error: "timeout" });
    expect(late.durationMs).toBeGreaterThanOrEqual(9_990);
    expect(late.durationMs).toBeLessThan(12_000);
  });

  test("gets all waiting deliveries after it recovers, never more than five at once", { timeout: 150_000 }, async () => {
    const business = world.other.id;
    let open = 0;
    let max = 0;
    let held: ServerResponse[] = [];
    let hanging = true;
    const endpoint = await register(business, "/flips", (_, response) => {
      open += 1;
      max = Math.max(max, open);
      response.on("close", () => {
        open -= 1;
      });
      if (hanging) held.push(response);
      else response.writeHead(200).end();
    });
    for (let at = 0; at < 6; at += 1) await commitEvents(place(business), 100, { wait: true });
    expect(hits.get("/flips")).toBeLessThanOrEqual(5);
    hanging = false;
    for (const response of held) response.writeHead(200).end();
    held = [];
    const deadline = Date.now() + 120_000;
    const countPending = async (): Promise<number> =>
      (await readDeliveries(business, endpoint.id)).filter(({ status }) => status !== "success").length;
    // Counts requests before it lists deliveries, because listing hundreds of them slows the service down.
    while (Date.now() < deadline && (hits.get("/flips") ?? 0) < 600) await new Promise((resolve) => setTimeout(resolve, 20));
    while (Date.now() < deadline && (await countPending()) > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await countPending()).toBe(0);
    expect((await readDeliveries(business, endpoint.id)).length).toBe(600);
    expect(max).toBeLessThanOrEqual(5);
    expect(hits.get("/flips")).toBeGreaterThanOrEqual(600);
    expect(hits.get("/flips")).toBeLessThanOrEqual(605); // if all this took longer than ten seconds, the first five were sent twice
  });

  test("gets all events from one drain, each once", { timeout: 120_000 }, async () => {
    const business = world.examples.suspended.id;
    const arrived: string[] = [];
    const endpoint = await register(business, "/many", (request, response) => {
      arrived.push(String(request.headers["svc-event-id"]));
      response.writeHead(200).end();
    });
    const ids: string[] = [];
    for (let left = besideEvents; left > 0; left -= 500)
      ids.push(...(await commitEvents(place(business), Math.min(500, left), { notify: false })));
    await commitEvents(place(business), 0, { wait: true }); // one drain adds all waiting events and pushes them to the delivery queues
    const deadline = Date.now() + 100_000;
    while (Date.now() < deadline && arrived.length < ids.length) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(arrived.toSorted()).toEqual(ids.toSorted());
    const listStatuses = async () =>
      new Set((await listDeliveries(place(business), endpoint.id, null)).deliveries.map(({ status }) => status));
    await expect.poll(listStatuses).toEqual(new Set(["success"])); // the receiver sees a request before its result is stored
  });

  // The test does not depend on timing, because the busy business is blocked at two points until the other business has been served.
  test("is not delayed by many events of another business, and neither is the feed", { timeout: 180_000 }, async () => {
    const [busy, other] = [world.examples.free.id, world.examples.past_due.id];
    const arrived = new Map<string, string[]>([
      ["/busy", []],
      ["/other", []],
    ]);
    const take = (path: string, request: IncomingMessage): number =>
      arrived.get(path)?.push(String(request.headers["svc-event-id"])) ?? Number.NaN;
    const countDistinct = (path: string): number => new Set(arrived.get(path)).size;
    const waitUntil = async (holds: () => boolean): Promise<void> => {
      for (const deadline = Date.now() + 150_000; !holds() && Date.now() < deadline; )
        await new Promise((resolve) => setTimeout(resolve, 10));
      expect(holds()).toBe(true);
    };
    const held: ServerResponse[] = [];
    let holding = true;
    const releaseHeld = (): void => {
      holding = false;
      for (const response of held.splice(0)) response.writeHead(200).end();
    };
    const middle = Math.floor(besideEvents / 2);
    const busyEndpoint = await register(busy, "/busy", (request, response) => {
      const count = take("/busy", request);
      if (count === middle) holding = true;
      if (holding) held.push(response);
      else response.writeHead(200).end();
    });
    await register(other, "/other", (request, response) => {
      take("/other", request);
      response.writeHead(200).end();
    });
    for (let left = besideEvents; left > 0; left -= 500) await commitEvents(place(busy), Math.min(500, left), { notify: false });
    await commitEvents(place(busy), 0, { wait: true });
    await waitUntil(() => held.length === 5);

    const committed = [...(await commitEvents(place(other), 20, { wait: true }))];
    await waitUntil(() => countDistinct("/other") === 20);
    expect(arrived.get("/busy")).toHaveLength(5); // all of the busy endpoint's slots were in use the whole time
    releaseHeld();

    await waitUntil(() => held.length === 5);
    for (let poll = 0; poll < 50; poll += 1) {
      const page = await listEvents(place(other), poll % 20, 100);
      expect(page.events.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 - (poll % 20) }, (_, at) => (poll % 20) + at + 1));
      expect(page.events.map(({ id }) => id)).toEqual(committed.slice(poll % 20));
    }
    committed.push(...(await commitEvents(place(other), 20, { wait: true })));
    await waitUntil(() => countDistinct("/other") === 40);
    expect(countDistinct("/busy")).toBeLessThan(besideEvents);
    releaseHeld();

    await waitUntil(() => countDistinct("/busy") === besideEvents);
    expect(arrived.get("/other")?.toSorted()).toEqual(committed.toSorted());
    // Each event arrives once. Only the ten held events may arrive again, if they were held longer than a receiver may take.
    expect(arrived.get("/busy")?.length).toBeLessThanOrEqual(besideEvents + 10);
    const seqs: number[] = [];
    for (let cursor = 0; cursor < besideEvents; ) {
      const page = await listEvents(place(busy), cursor, 500);
      seqs.push(...page.events.map(({ seq }) => seq));
      cursor = page.readThrough;
    }
    expect(seqs).toEqual(Array.from({ length: besideEvents }, (_, at) => at + 1));
    const listed = await listDeliveries(place(busy), busyEndpoint.id, null);
    expect(listed.deliveries.length).toBe(Math.min(1_000, besideEvents));
  });
});
