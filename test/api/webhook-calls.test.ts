// The test button and the replay of a delivery: sent at once, with the real secret, and leaving no trace but the delivery's end.
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
import type { Env } from "../../workers/env.ts";
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

const servicesNow = async (): Promise<Services> => {
  const platform = await createPlatform(env as unknown as Env);
  const waitUntil = (): void => undefined;
  const quiet = { ...platform, waitUntil };
  return { ...quiet, ...createSchedules(quiet) };
};

const started = async (status: () => number) => {
  const services = await servicesNow();
  const posts = mockReceivers(() => new Response(null, { status: status() }));
  const business = (await createBusiness()) as BusinessId;
  const registered = await registerEndpoint(business, hook);
  const deliveries = async (): Promise<readonly Delivery[]> =>
    (await eventSequences.getByName(business).listDeliveries(registered.id, 100, null))?.deliveries ?? [];
  const tellOne = async (): Promise<DeliveryId> => {
    await commitEvents(business, 1);
    await eventSequences.getByName(business).drain();
    return ((await deliveries())[0] as Delivery).id as DeliveryId;
  };
  return { services, posts, business, ...registered, id: registered.id as WebhookId, deliveries, tellOne };
};

describe("a test", () => {
  test("W22: is signed with the real secret, and is in no feed, no list and no database", async () => {
    const { services, posts, business, id, secret, deliveries } = await started(() => 200);
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

  test("says 0 where nobody answered, and nothing of another business", async () => {
    const { services, business, id } = await started(() => {
      throw new TypeError("Network connection lost.");
    });
    expect(await testEndpoint(services, business, id)).toMatchObject({ ok: true, value: { delivered: false, responseStatus: 0 } });
    expect(await testEndpoint(services, (await createBusiness()) as BusinessId, id)).toMatchObject({ ok: false, code: "not_found" });
  });
});

describe("a replay", () => {
  test("W21: of an abandoned delivery ends it as a success and does not count as an attempt", async () => {
    let status = 500;
    const { services, posts, business, queue, deliveries, tellOne } = await started(() => status);
    const id = await tellOne();
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

  test("W21: that is delivered leaves nothing to retry, also while an attempt is under way", async () => {
    let release = (): void => undefined;
    const held = new Promise<Response>((resolve) => {
      release = () => resolve(new Response(null, { status: 500 }));
    });
    const { services, business, queue, deliveries, tellOne } = await started(() => 500);
    const id = await tellOne();
    await runAlarmsUntil(queue, farAhead + 61_000); // two attempts failed
    expect(await deliveries()).toMatchObject([{ status: "retrying", attempt: 2 }]);
    vi.restoreAllMocks();
    let holds = true;
    const posts = mockReceivers(() => (holds ? held : new Response(null, { status: 200 })));
    vi.setSystemTime(farAhead + 400_000);
    const third = runAlarm(queue);
    await vi.waitFor(() => expect(posts).toHaveLength(1), { timeout: 20_000 });
    holds = false;
    expect(await replayDelivery(services, business, id)).toMatchObject({ ok: true, value: { delivered: true } });
    release();
    await third;
    expect(await deliveries()).toMatchObject([{ status: "success", attempt: 2, nextAttemptAt: null }]);
    await runAlarmsUntil(queue);
    expect(posts).toHaveLength(2);
  });

  test("W21: of another business's delivery, or of none, finds nothing", async () => {
    const { services, business, tellOne } = await started(() => 200);
    const id = await tellOne();
    expect(await replayDelivery(services, (await createBusiness()) as BusinessId, id)).toMatchObject({ ok: false, code: "not_found" });
    expect(await replayDelivery(services, business, "dlv_00zzzzzzzzzzzzzzzzzzzzzzzz" as DeliveryId)).toMatchObject({
      ok: false,
      code: "not_found",
    });
  });

  test("of an update whose share is no longer active sends nothing", async () => {
    const { services, business, posts, queue, deliveries } = await started(() => 200);
    await commitEvents(business, 1, { type: "consumer.updated.name", certId: null, shareId: "shr_gone", dataSealed: "1.x" });
    await eventSequences.getByName(business).drain();
    await runAlarmsUntil(queue);
    const [delivery] = await deliveries();
    expect(await replayDelivery(services, business, delivery?.id as DeliveryId)).toMatchObject({ ok: false, code: "share_inactive" });
    expect(posts).toEqual([]);
  });

  test("finds the one endpoint among many that holds the delivery", async () => {
    const { services, business, tellOne, posts } = await started(() => 200);
    for (let at = 0; at < 5; at += 1) await registerEndpoint(business, `https://hook1.merchant-tests.com/other${at}`);
    const id = await tellOne();
    expect(await replayDelivery(services, business, id)).toMatchObject({ ok: true, value: { delivery: { id } } });
    expect(posts.map(({ url }) => url)).toEqual([hook]);
  });
});

describe("recovering", () => {
  test("sends what failed again in the order of its events, at most ten a second, and counts no attempt", async () => {
    let status = 500;
    const { services, posts, business, id, queue, deliveries } = await started(() => status);
    await commitEvents(business, 25);
    await eventSequences.getByName(business).drain();
    await runAlarmsUntil(queue);
    expect(new Set((await deliveries()).map((one) => `${one.status} ${one.attempt}`))).toEqual(new Set(["abandoned 5"]));
    vi.setSystemTime(Date.now() + 60_000);
    const since = farAhead;
    expect(await countFailedDeliveries(services, business, id, since)).toBe(25);
    expect(await countFailedDeliveries(services, business, id, Date.now())).toBe(0);
    status = 200;
    posts.length = 0;
    expect(await recoverEndpoint(services, business, id, since)).toEqual({ ok: true, value: { queued: 25, hasMore: false } });
    const again = await recoverEndpoint(services, business, id, since);
    expect(again).toEqual({ ok: true, value: { queued: 0, hasMore: false } });
    await runAlarmsUntil(queue);
    expect(posts).toHaveLength(25);
    const places = posts.map(({ body }) => (JSON.parse(body) as { seq: number }).seq);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    const spread = posts.map(({ at }) => at);
    for (const [at, first] of spread.entries())
      expect(spread.filter((one, other) => other >= at && one < first + 1_000).length).toBeLessThanOrEqual(10);
    expect(new Set(posts.map(({ headers }) => headers.get("svc-attempt")))).toEqual(new Set(["5"]));
    expect(new Set((await deliveries()).map((one) => `${one.status} ${one.attempt}`))).toEqual(new Set(["success 5"]));
  });

  test("leaves what fails again where it was, and what never failed alone", async () => {
    const { services, business, id, queue, deliveries, tellOne } = await started(() => 500);
    await tellOne();
    await runAlarmsUntil(queue, farAhead + 1_000); // one attempt failed, the next one is a minute off
    expect(await deliveries()).toMatchObject([{ status: "retrying", attempt: 1 }]);
    expect(await recoverEndpoint(services, business, id, farAhead)).toMatchObject({ ok: true, value: { queued: 1 } });
    await runAlarmsUntil(queue, farAhead + 2_000);
    expect(await deliveries()).toMatchObject([{ status: "retrying", attempt: 1 }]);
    await runAlarmsUntil(queue);
    expect(await deliveries()).toMatchObject([{ status: "abandoned", attempt: 5 }]);
    const fresh = await started(() => 200);
    await fresh.tellOne();
    await runAlarmsUntil(fresh.queue);
    expect(await recoverEndpoint(fresh.services, fresh.business, fresh.id, farAhead)).toMatchObject({ ok: true, value: { queued: 0 } });
  });

  test("is of the business's own endpoints, and not of what is to come", async () => {
    const { services, business, id } = await started(() => 200);
    const stranger = (await createBusiness()) as BusinessId;
    expect(await recoverEndpoint(services, stranger, id, farAhead)).toMatchObject({ ok: false, code: "not_found" });
    expect(await countFailedDeliveries(services, stranger, id, farAhead)).toBeNull();
    expect(await recoverEndpoint(services, business, id, Date.now() + 1)).toMatchObject({ ok: false, code: "invalid_request" });
  });
});
