// Tests that an account issues no more certificates in another shard once it is suspended. The account is in shard 00, its certificates are
// in shard 01, and the process that changes the account can die at any database round trip.
import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import type { BusinessId, ShardId } from "../../core/ids.ts";
import { batch } from "../../storage/database.ts";
import { StorageFault } from "../../storage/faults.ts";
import { runWhileHeld, tryHoldAccount } from "../../storage/issuing-shards.ts";
import { businesses } from "../../storage/schema.ts";
import { openShards } from "../../storage/shards.ts";
import { endExpiredHolds } from "../../workers/background/expired-holds.ts";
import { updateEntitlement } from "../../workers/operations/admin/update-entitlement.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import { createKillableIsolate, type KillableIsolate } from "../support/killable-isolate.ts";
import { closeFirstShard, issueThrough, submitThrough } from "../support/overflow.ts";
import { createServiceCall, world, type Call, type TestResponse } from "../support/world.ts";

const platform = await getPlatform(env);
const shards = openShards(env);
const id = world.acme.id as BusinessId;
const otherShard = "01" as ShardId;

let killable: KillableIsolate;
/** An isolate that has cached the account. */
let issuer: Call;
beforeAll(async () => {
  await closeFirstShard();
  issuer = createServiceCall({ LIMIT_CONSENT_PER_CLIENT: "100000/60" });
  expect((await issueThrough(issuer)).cert_id).toMatch(/^cc_01/);
  killable = await createKillableIsolate();
});

const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body.error?.code ?? "ok"}`;
const submit = async (): Promise<string> => describeOutcome(await submitThrough(issuer));
const setStatus = (status: "active" | "suspended", services = platform) => updateEntitlement(services, id, { status });
const getStatus = () => env.DB.prepare("SELECT status FROM businesses WHERE id = ?").bind(id).first<string>("status");
/** Makes the holds of dead processes expire, as if 30 seconds had passed. */
const expireHolds = () => env.DB_01.exec("UPDATE issuers SET held_until = 1 WHERE revision IS NULL");
/** Makes the holds of dead processes last for hours, so that the test does not depend on the speed of the machine. */
const keepHolds = () => env.DB_01.exec("UPDATE issuers SET held_until = held_until + 10000000 WHERE revision IS NULL");
const countCertificates = () =>
  env.DB_01.prepare("SELECT COUNT(*) AS n FROM certificates WHERE business_id = ?").bind(id).first<number>("n");
const isHeld = async (): Promise<boolean> =>
  (await env.DB_01.prepare("SELECT revision FROM issuers WHERE business_id = ?").bind(id).first("revision")) === null;

describe("a change of the account", () => {
  test("takes effect for the next submission, even in an isolate that has cached the account", async () => {
    await setStatus("suspended");
    expect(await submit()).toBe("402 business_suspended");
    await setStatus("active");
    expect(await submit()).toBe("201 ok");
  });

  test("is refused by the account's database unless all issuing shards of the account are held", async () => {
    const change = () => env.DB.prepare("UPDATE businesses SET status = 'suspended' WHERE id = ?").bind(id).run();
    await expect(change()).rejects.toThrow("the issuing shards of an account must be held while it changes");
    const until = Date.now() + 4_000; // shorter than the allowed difference between the clocks of two databases
    await expect(
      env.DB.batch([
        env.DB.prepare("UPDATE issuing_shards SET held_until = ? WHERE business_id = ?").bind(until, id),
        env.DB.prepare("UPDATE businesses SET status = 'suspended' WHERE id = ?").bind(id),
      ]),
    ).rejects.toThrow("must be held");
    expect([await getStatus(), await env.DB.prepare("SELECT held_until FROM issuing_shards").first("held_until")]).toEqual(["active", 0]);
  });

  test("fails while another change holds the account, because replacing that hold would let certificates through", async () => {
    const hold = await tryHoldAccount(shards, id, otherShard);
    await keepHolds();
    expect(await tryHoldAccount(shards, id, otherShard)).toBeNull();
    await expect(setStatus("suspended")).rejects.toThrow("outage");
    expect([hold?.shard, await getStatus()]).toEqual([otherShard, "active"]);
    await expireHolds();
    expect(await submit()).toBe("201 ok");
  });

  test("never lets a certificate be issued after its response, however many submissions run at the same time", async () => {
    for (let round = 0; round < 8; round += 1) {
      const running = Array.from({ length: 6 }, submit);
      await setStatus("suspended");
      const issued = await countCertificates();
      for (const result of await Promise.all(running)) expect(result).toMatch(/^(201 ok|402 business_suspended|503 storage_unavailable)$/);
      expect(await countCertificates()).toBe(issued);
      await setStatus("active");
    }
    expect(await submit()).toBe("201 ok");
  });
});

describe("when the database of the account does not respond to a change", () => {
  test("nothing is issued until it is certain whether the change was committed, and a late commit takes effect", async () => {
    const { chain } = world.acme;
    let commitLate = async (): Promise<void> => {};
    const change = runWhileHeld(shards, shards.forId(id), [chain], ({ before, after }) => {
      const suspend = shards.forId(id).update(businesses).set({ status: "suspended" }).where(eq(businesses.id, id));
      commitLate = async () => {
        await batch(shards.forId(id), [...before, suspend, ...after]);
      };
      return Promise.reject(new StorageFault("outage", "NO_ANSWER"));
    });
    await expect(change).rejects.toThrow("outage");
    await commitLate();
    await keepHolds();
    expect([await getStatus(), await submit()]).toEqual(["suspended", "503 storage_unavailable"]);
    await expireHolds();
    expect(await submit()).toBe("402 business_suspended");
    await setStatus("active");
    expect(await submit()).toBe("201 ok");
  });
});

describe("when the process that changes the account dies", () => {
  test("after it put a hold on the account: nothing is issued until the hold expires, and then submissions work as before", async () => {
    await tryHoldAccount(shards, id, otherShard);
    await keepHolds();
    expect(await submit()).toBe("503 storage_unavailable");
    await expireHolds();
    expect(await submit()).toBe("201 ok");
  });

  test("at any round trip: no certificate is issued after the change is committed", async () => {
    const seen = new Set<string>();
    for (let trips = 0; trips < 14; trips += 1)
      for (const written of ["before", "after"] as const) {
        killable.begin({ trips, written });
        await setStatus("suspended", killable.services).catch(() => null);
        await killable.follow().catch(() => null);
        const isDone = !killable.isDead();
        killable.begin(null);
        await keepHolds();
        const [status, held] = [await getStatus(), await isHeld()];
        seen.add(`${status} ${held ? "held" : "free"}`);
        const issued = await countCertificates();
        const first = await submit();
        if (held) expect([first === "201 ok", await countCertificates()], `${trips} ${written}`).toEqual([false, issued]);
        await expireHolds();
        expect(await submit(), `${trips} ${written}`).toBe(status === "suspended" ? "402 business_suspended" : "201 ok");
        await setStatus("active");
        if (isDone) return expect([...seen].sort()).toEqual(["active free", "active held", "suspended free", "suspended held"]);
      }
    throw new Error("the change did not end");
  });

  test("after it put a hold on the account: the cron job ends the expired hold, even if nothing is submitted", async () => {
    await tryHoldAccount(shards, id, otherShard);
    await expireHolds();
    await endExpiredHolds(platform);
    expect(await isHeld()).toBe(false);
    expect(await submit()).toBe("201 ok");
  });

  test("before the business has issued anything in the shard: the hold is deleted, and nothing else happens", async () => {
    const other = world.other.id as BusinessId;
    await tryHoldAccount(shards, other, otherShard);
    await expireHolds();
    await endExpiredHolds(platform);
    expect(await env.DB_01.prepare("SELECT COUNT(*) AS n FROM issuers WHERE business_id = ?").bind(other).first("n")).toBe(0);
  });
});
