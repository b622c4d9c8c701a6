// Tests deliveries that a member triggers. Test events and replays are sent immediately; recovering an endpoint queues its failed
// deliveries. All are signed with the real secret. A test event is never recorded. A successful replay marks the original delivery as
// successful.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { BusinessId, DeliveryId, WebhookId } from "../../core/ids.ts";
import type { Delivery } from "../../core/webhooks/endpoint.ts";
import { verifySignature } from "../../core/webhooks/verify-signature.ts";
import { createSchedules } from "../../workers/background/follow-up-work.ts";
import { countFailedDeliveries } from "../../workers/operations/webhooks/count-failed-deliveries.ts";
import { recoverEndpoint } from "../../workers/operations/webhooks/recover-endpoint.ts";
import { replayDelivery } from "../../workers/operations/webhooks/replay-delivery.ts";
import { testEndpoint } from "../../workers/operations/webhooks/test-endpoint.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import type { Services } from "../../workers/platform/platform.ts";
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
} from "../support/events.ts";
import { readDatabaseContents } from "../support/world.ts";

const hook = "https://hook1.merchant-tests.com/in";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(farAhead);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const createServices = async (): Promise<Services> => {
  const platform = await createPlatform(env);
  const waitUntil = (): void => undefined;
  const quiet = { ...platform, waitUntil };
  return { ...quiet, ...createSchedules(quiet) };
};

const setUpEndpoint = async (status: () => number) => {
  const services = await createServices();
  const posts = mockReceivers(() => new Response(null, { status: status() }));
  const business = (await createBusiness()) as BusinessId;
  const registered = await registerEndpoint(business, hook);
  const listDeliveries = async (): Promise<readonly Delivery[]> =>
    (await eventSequences.getByName(business).listDeliveries(registered.id, 100, null))?.deliveries ?? [];
  const commitEvent = async (): Promise<DeliveryId> => {
    await commitEvents(business, 1);
    await eventSequences.getByName(business).drain();
    return ((await listDeliveries())[0] as Delivery).id as DeliveryId;
  };
  return { services, posts, business, ...registered, id: registered.id as WebhookId, deliveries: listDeliveries, commitEvent };
};

describe("testEndpoint", () => {
  test("sends a ping that is signed with the real secret, and that is in no feed, no list and no database", async () => {
    const { services, posts, business, id, secret, deliveries } = await setUpEndpoint(() => 200);
    const before = await readDatabaseContents();
    expect(await testEndpoint(services, business, id)).toMatchObject({ ok: true, value: { delivered: true, responseStatus: 200 } });
    const ping = JSON.parse(posts[0]?.body ?? "");
    expect(ping).toMatchObject({ type: "test.ping", seq: 0, share_id: null, cert_id: null, data: null });
    expect(verifySignature(posts[0]?.body ?? "", posts[0]?.headers.get("svc-signature"), secret, Date.now() / 1_000)).toBe(true);
    expect(posts[0]?.headers.get("svc-delivery-id")).toMatch(/^dlv_00/);
    expect(await readSequence(business)).toEqual([]);
    expect(await deliveries()).toEqual([]);
    expect(await readDatabaseContents()).toEqual(before);
  });

  test("returns status 0 when the receiver does not respond, and not_found to another business", async () => {
    const { services, business, id } = await setUpEndpoint(() => {
      throw new TypeError("Network connection lost.");
    });
    expect(await testEndpoint(services, business, id)).toMatchObject({ ok: true, value: { delivered: false, responseStatus: 0 } });
    expect(await testEndpoint(services, (await createBusiness()) as BusinessId, id)).toMatchObject({ ok: false, code: "not_found" });
  });

  test("sends nothing, and does not wait, if the object that counts attempts to the host does not respond", async () => {
    const { services, posts, business, id } = await setUpEndpoint(() => 200);
    const takeAttempt = () => new Promise<never>(() => undefined);
    const hanging = { ...services, destinationHost: () => ({ takeAttempt }) as never };
    await expect(testEndpoint(hanging, business, id)).rejects.toThrow("storage outage NO_ANSWER");
    expect(posts).toEqual([]);
  });
});

describe("replayDelivery", () => {
  test("ends an abandoned delivery as a success, and does not count as an attempt", async () => {
    let status = 500;
    const { services, posts, business, queue, deliveries, commitEvent } = await setUpEndpoint(() => status);
    const id = await commitEvent();
    await runAlarmsUntil(queue);
    expect(await deliveries()).toMatchObject([{ id, status: "abandoned", attempt: 5 }]);
    vi.setSystemTime(Date.now() + 5_000);
    const failed = await replayDelivery(services, business, id);
    expect(failed).toMatchObject({
      ok: true,
      value: { delivered: false, responseStatus: 500, delivery: { status: "abandoned", attempt: 5 } },
    });
    status = 200;
    vi.setSystemTime(Date.now() + 5_000);
    const replayed = await replayDelivery(services, business, id);
    expect(replayed).toMatchObject({
      ok: true,
      value: { delivered: true, responseStatus: 200, delivery: { id, status: "success", attempt: 5, deliveredAt: Date.now() } },
    });
    expect(await deliveries()).toHaveLength(1);
    expect(new Set(posts.map(({ body }) => body)).size).toBe(1);
    const signatures = posts.map(({ headers }) => headers.get("svc-signature"));
    expect(new Set(signatures).size).toBe(signatures.length);
  });

  test("leaves nothing to retry once it succeeds, even if an attempt is running", async () => {
    let release = (): void => undefined;
    const heldResponse = new Promise<Response>((resolve) => {
      release = () => resolve(new Response(null, { status: 500 }));
    });
    const { services, business, queue, deliveries, commitEvent } = await setUpEndpoint(() => 500);
    const id = await commitEvent();
    await runAlarmsUntil(queue, farAhead + 61_000); // two attempts have failed by then
    expect(await deliveries()).toMatchObject([{ status: "retrying", attempt: 2 }]);
    vi.restoreAllMocks();
    let isHeld = true;
    const posts = mockReceivers(() => (isHeld ? heldResponse : new Response(null, { status: 200 })));
    vi.setSystemTime(farAhead + 400_000);
    const third = runAlarm(queue);
    await vi.waitFor(() => expect(posts).toHaveLength(1), { timeout: 20_000 });
    isHeld = false;
    expect(await replayDelivery(services, business, id)).toMatchObject({ ok: true, value: { delivered: true } });
    release();
    await third;
    expect(await deliveries()).toMatchObject([{ status: "success", attempt: 2, nextAttemptAt: null }]);
    await runAlarmsUntil(queue);
    expect(posts).toHaveLength(2);
  });

  test("returns not_found for another business's delivery and an unknown one", async () => {
    const { services, business, commitEvent } = await setUpEndpoint(() => 200);
    const id = await commitEvent();
    expect(await replayDelivery(services, (await createBusiness()) as BusinessId, id)).toMatchObject({ ok: false, code: "not_found" });
    expect(await replayDelivery(services, business, "dlv_00zzzzzzzzzzzzzzzzzzzzzzzz" as DeliveryId)).toMatchObject({
      ok: false,
      code: "not_found",
    });
  });

  test("returns share_inactive for an update whose share is no longer active, and sends nothing", async () => {
    const { services, business, posts, queue, deliveries } = await setUpEndpoint(() => 200);
    await commitEvents(business, 1, { type: "consumer.updated.name", certId: null, shareId: "shr_gone", dataSealed: "1.x" });
    await eventSequences.getByName(business).drain();
    await runAlarmsUntil(queue);
    const [delivery] = await deliveries();
    expect(await replayDelivery(services, business, delivery?.id as DeliveryId)).toMatchObject({ ok: false, code: "share_inactive" });
    expect(posts).toEqual([]);
  });

  test("finds the endpoint of the delivery among many", async () => {
    const { services, business, commitEvent, posts } = await setUpEndpoint(() => 200);
    for (let at = 0; at < 5; at += 1) await registerEndpoint(business, `https://hook1.merchant-tests.com/other${at}`);
    const id = await commitEvent();
    expect(await replayDelivery(services, business, id)).toMatchObject({ ok: true, value: { delivery: { id } } });
    expect(posts.map(({ url }) => url)).toEqual([hook]);
  });
});

describe("recoverEndpoint", () => {
  test("sends failed deliveries again in order, at most ten a second, without counting attempts", async () => {
    let status = 500;
    const { services, posts, business, id, queue, deliveries } = await setUpEndpoint(() => status);
    await commitEvents(business, 12); // more than may be sent in a second
    await eventSequences.getByName(business).drain();
    await runAlarmsUntil(queue);
    expect(new Set((await deliveries()).map((entry) => `${entry.status} ${entry.attempt}`))).toEqual(new Set(["abandoned 5"]));
    vi.setSystemTime(Date.now() + 60_000);
    const since = farAhead;
    expect(await countFailedDeliveries(services, business, id, since)).toBe(12);
    expect(await countFailedDeliveries(services, business, id, Date.now())).toBe(0);
    status = 200;
    posts.length = 0;
    expect(await recoverEndpoint(services, business, id, since)).toEqual({ ok: true, value: { queued: 12, hasMore: false } });
    const repeated = await recoverEndpoint(services, business, id, since);
    expect(repeated).toEqual({ ok: true, value: { queued: 0, hasMore: false } });
    await runAlarmsUntil(queue);
    expect(posts).toHaveLength(12);
    const places = posts.map(({ body }) => (JSON.parse(body) as { seq: number }).seq);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    const spread = posts.map(({ at }) => at);
    for (const [at, first] of spread.entries())
      expect(spread.filter((entry, other) => other >= at && entry < first + 1_000).length).toBeLessThanOrEqual(10);
    expect(new Set(posts.map(({ headers }) => headers.get("svc-attempt")))).toEqual(new Set(["5"]));
    expect(new Set((await deliveries()).map((entry) => `${entry.status} ${entry.attempt}`))).toEqual(new Set(["success 5"]));
  }, 120_000); // 60 failed attempts take a long time on a busy machine

  test("keeps the state of a delivery that fails again, and ignores deliveries that never failed", async () => {
    const { services, business, id, queue, deliveries, commitEvent } = await setUpEndpoint(() => 500);
    await commitEvent();
    await runAlarmsUntil(queue, farAhead + 1_000); // one attempt has failed, and the next one is due in a minute
    expect(await deliveries()).toMatchObject([{ status: "retrying", attempt: 1 }]);
    expect(await recoverEndpoint(services, business, id, farAhead)).toMatchObject({ ok: true, value: { queued: 1 } });
    await runAlarmsUntil(queue, farAhead + 2_000);
    expect(await deliveries()).toMatchObject([{ status: "retrying", attempt: 1 }]);
    await runAlarmsUntil(queue);
    expect(await deliveries()).toMatchObject([{ status: "abandoned", attempt: 5 }]);
    const fresh = await setUpEndpoint(() => 200);
    await fresh.commitEvent();
    await runAlarmsUntil(fresh.queue);
    expect(await recoverEndpoint(fresh.services, fresh.business, fresh.id, farAhead)).toMatchObject({ ok: true, value: { queued: 0 } });
  });

  test("returns not_found for another business's endpoint, and refuses a time in the future", async () => {
    const { services, business, id } = await setUpEndpoint(() => 200);
    const stranger = (await createBusiness()) as BusinessId;
    expect(await recoverEndpoint(services, stranger, id, farAhead)).toMatchObject({ ok: false, code: "not_found" });
    expect(await countFailedDeliveries(services, stranger, id, farAhead)).toBeNull();
    expect(await recoverEndpoint(services, business, id, Date.now() + 1)).toMatchObject({ ok: false, code: "invalid_request" });
  });
});
