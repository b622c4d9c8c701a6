// Tests the limit on the share updates that one person can cause. Updates above the limit wait and are combined, and no change is lost.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { parseClientId, type ConsumerId } from "../../core/ids.ts";
import { computeCodeChallenge } from "../../core/shares/pkce.ts";
import { ok } from "../../core/result.ts";
import { findPersonChain } from "../../storage/people.ts";
import { settleShares } from "../../workers/background/share-settling.ts";
import { grantShare as grantShareDirectly } from "../../workers/operations/shares/grant-share.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { createServicesWith } from "../support/changed-services.ts";
import { createVerifier, getWithApiKey, grantShare, listAllEvents, signInPerson } from "../support/sharing.ts";
import { createServiceCall, origin, world } from "../support/world.ts";

const setting = { LIMIT_SHARE_UPDATES: "7/3600" };
const service = createServiceCall(setting);
const minute = 60_000;

let start = Date.UTC(2047, 0, 1);

beforeEach(() => {
  start += 24 * 60 * minute;
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(start);
});
afterEach(() => {
  vi.useRealTimers();
});

/** Runs the job `afterMs` milliseconds after the start. */
const settleAt = async (afterMs: number): Promise<void> => {
  await waitUntilSettled();
  vi.setSystemTime(start + afterMs);
  await settleShares(await createPlatform({ ...env, ...setting }));
  await waitUntilSettled();
};

describe("field changes of a person with several shares", () => {
  test("above the hourly limit reach every share later, once, with the values at that time", async () => {
    const pat = await signInPerson(undefined, service);
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.push((await grantShare(pat)).share.id);
    const change = async (phone: string): Promise<number> => (await pat.put("/v1/me/fields", { phone })).body.data.events_emitted;
    const listPhones = async (id: string): Promise<readonly string[]> =>
      (await listAllEvents())
        .filter(({ share_id, type }) => share_id === id && type === "consumer.updated.phone")
        .map(({ data }) => data.phone);
    const emitted: number[] = [];
    for (const last of [1, 2, 3, 4, 5]) emitted.push(await change(`+1 202 555 018${last}`));
    expect(emitted).toEqual([3, 3, 0, 0, 0]);
    for (const afterMs of [minute, 30 * minute, 59 * minute]) await settleAt(afterMs);
    for (const id of ids) expect(await listPhones(id)).toEqual(["+1 202 555 0181", "+1 202 555 0182"]);

    await settleAt(61 * minute);
    for (const id of ids) {
      expect(await listPhones(id)).toEqual(["+1 202 555 0181", "+1 202 555 0182", "+1 202 555 0185"]);
      expect((await getWithApiKey(`/v1/consumers/${id}/current`)).body.data.fields.phone).toBe("+1 202 555 0185");
    }
    expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM field_fanouts").first("n")).toBe(0);
  });

  test("made with a new share count once, even if another change forces a second attempt", async () => {
    const pat = await signInPerson(undefined, service);
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.push((await grantShare(pat)).share.id);
    const services = createServicesWith(await createPlatform({ ...env, ...setting }), {});
    const id = (await pat.get("/v1/me")).body.data.id as ConsumerId;
    const chain = await findPersonChain(services.shards.forId(id), id);
    if (chain === null) throw new Error("no such person");
    let attempts = 0;
    const granted = await grantShareDirectly(
      services,
      { person: { id, chain, actor: { kind: "consumer", id } } },
      {
        clientId: parseClientId(world.acme.clients.live),
        origin,
        purpose: "Send you a solar estimate",
        disclosureText: null,
        durationDays: 30,
        challenge: computeCodeChallenge(createVerifier()),
        requestEvidence: "request_signature",
        scope: ["email"],
        allowedMissing: [],
        fieldChanges: new Map([["phone", "+1 202 555 0189"]]),
        decisionKey: null,
        language: "en",
        requestId: "req_test",
        checkDecision: async () => {
          attempts += 1;
          if (attempts === 1) expect((await pat.put("/v1/me/fields", { first_name: "Patricia" })).body.data.events_emitted).toBe(0);
          return ok(true);
        },
      },
    );
    expect([granted.ok, attempts]).toEqual([true, 2]);
    // The two attempts count as 3 updates, so that 3 more are within the limit of 7.
    expect((await pat.put("/v1/me/fields", { phone: "+1 202 555 0190" })).body.data.events_emitted).toBe(3);
  });

  test("reach all shares in batches if there are more of them than the hourly limit allows", async () => {
    const pat = await signInPerson(undefined, service);
    const ids: string[] = [];
    for (let n = 0; n < 10; n += 1) ids.push((await grantShare(pat)).share.id);
    expect((await pat.put("/v1/me/fields", { phone: "+1 202 555 0190" })).body.data.events_emitted).toBe(0);
    const countUpdated = async (): Promise<number> => {
      const updated = (await listAllEvents()).filter(({ share_id, type }) => ids.includes(share_id) && type === "consumer.updated.phone");
      return updated.length;
    };
    await settleAt(minute);
    expect(await countUpdated()).toBe(7);
    await settleAt(62 * minute);
    expect(await countUpdated()).toBe(10);
  });

  test("do not delay the waiting updates of another person", async () => {
    const kim = await signInPerson(undefined, service);
    const kimsShares: string[] = [];
    for (let n = 0; n < 10; n += 1) kimsShares.push((await grantShare(kim)).share.id);
    await kim.put("/v1/me/fields", { phone: "+1 202 555 0191" });
    await settleAt(minute);
    const countUpdated = async (): Promise<number> =>
      (await listAllEvents()).filter(({ share_id, type }) => kimsShares.includes(share_id) && type === "consumer.updated.phone").length;
    expect(await countUpdated()).toBe(7);

    vi.setSystemTime(start + 55 * minute);
    const pat = await signInPerson(undefined, service);
    for (let n = 0; n < 3; n += 1) await grantShare(pat);
    const change = async (phone: string): Promise<number> => (await pat.put("/v1/me/fields", { phone })).body.data.events_emitted;
    expect([await change("+1 202 555 0192"), await change("+1 202 555 0193")]).toEqual([3, 3]);
    vi.setSystemTime(start + 62 * minute);
    expect(await change("+1 202 555 0194")).toBe(0); // reaches the limit; the request continues all updates that are due
    await waitUntilSettled();
    expect(await countUpdated()).toBe(10);
  });
});
