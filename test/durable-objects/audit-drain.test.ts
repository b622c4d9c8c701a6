// Tests how audit logs copy entries from the shards' change logs to audit chains: every entry arrives exactly once, regardless of failures.
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { AuditLog, type AuditEnv } from "../../durable-objects/audit-log/object.ts";
import type { ShardId } from "../../core/ids.ts";
import type { ChainPage } from "../../durable-objects/audit-log/tables.ts";
import { getAuditReader } from "../../storage/audit-entries.ts";
import { appendAuditedChanges, countUnreadEntries } from "../support/changes.ts";
import { getAuditLogStub, toAuditLog, toChainTag, verifyChain, fetchChainWithProof, type AuditStub } from "../support/audit.ts";

let written = 0;
/** Appends changes with new IDs to a shard's change log. Returns the IDs. */
const commitRows = async (db: D1Database, shard: number, chain: string, count: number): Promise<string[]> => {
  const ids = Array.from({ length: count }, () => {
    written += 1;
    return `outbox-${written}`;
  });
  await appendAuditedChanges(db, ids, toAuditLog(shard), chain);
  return ids;
};

const commitMany = (db: D1Database, shard: number, chain: string, count: number): Promise<unknown> =>
  appendAuditedChanges(
    db,
    Array.from({ length: count }, (_, i) => `many-${shard}-${chain}-${i}`),
    toAuditLog(shard),
    chain,
  );

const getLength = async (stub: AuditStub, chain: string): Promise<number> => {
  const page = (await stub.getChainPage(chain, { limit: 1 })) as ChainPage | null;
  return page === null ? 0 : Number(page.head.seq);
};

const waitUntil = async (holds: () => Promise<boolean>): Promise<void> => {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (await holds()) return;
    await scheduler.wait(50);
  }
  throw new Error("it never came to hold");
};

const getAlarm = (stub: AuditStub): Promise<number | null> => runInDurableObject(stub, (_, state) => state.storage.getAlarm());

/** Wraps a database so that the first `failures` statements that match `text` fail. */
const createFailingDatabase = (db: D1Database, text: string, failures: number): { db: D1Database; failed: () => number } => {
  let failed = 0;
  const wrapTarget = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (_, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (name === "prepare" && String(args[0]).includes(text) && failed < failures) {
            failed += 1;
            throw new Error("D1_ERROR: no connection");
          }
          const result = Reflect.apply(value, target, args) as object;
          return name === "withSession" ? wrapTarget(result) : result;
        };
      },
    });
  return { db: wrapTarget(db), failed: () => failed };
};

describe("reading the change logs", () => {
  test("drains every shard soon after a request and stores how far it has read", async () => {
    const stub = getAuditLogStub(toAuditLog(21));
    const [here, otherChain] = [toChainTag(0x11), toChainTag(0x12)];
    await commitRows(env.DB, 21, here, 3);
    await commitRows(env.DB_01, 21, otherChain, 2);
    await commitRows(env.DB, 22, here, 1); // this row belongs to another audit log
    await Promise.all([stub.requestDrain(), stub.requestDrain(), stub.requestDrain()]);
    await waitUntil(
      async () => (await countUnreadEntries(env.DB, toAuditLog(21))) + (await countUnreadEntries(env.DB_01, toAuditLog(21))) === 0,
    );
    expect(await getLength(stub, here)).toBe(3);
    expect(await getLength(stub, otherChain)).toBe(2);
    expect(await countUnreadEntries(env.DB, toAuditLog(22))).toBe(1);
    const { page, proven } = await fetchChainWithProof(stub, otherChain);
    expect(page.entries.map(({ shard }) => shard)).toEqual(["01", "01"]);
    expect(await verifyChain(toAuditLog(21), page, proven)).toBe("ok");
    await waitUntil(async () => (await getAlarm(stub)) === null); // no work left, so no alarm
  });

  test("keeps the order of the rows and reads more than one page", { timeout: 60_000 }, async () => {
    const stub = getAuditLogStub(toAuditLog(22));
    const chain = toChainTag(0x21);
    const ids = [...(await commitRows(env.DB, 22, chain, 600)), ...(await commitRows(env.DB, 22, chain, 650))];
    expect(await stub.drainNow()).toMatchObject({ hasMore: false });
    const page = (await stub.getChainPage(chain, { limit: 2_000 })) as ChainPage;
    expect(page.entries.map(({ change_id }) => change_id)).toEqual(ids.toReversed());
    expect(await countUnreadEntries(env.DB, toAuditLog(22))).toBe(0);
    expect(await stub.drainNow()).toEqual({ appended: 0, hasMore: false });
  });

  test("continues immediately when more rows wait than one run can take", { timeout: 60_000 }, async () => {
    const stub = getAuditLogStub(toAuditLog(29));
    await commitMany(env.DB, 29, toChainTag(0x91), 10_001);
    await runInDurableObject(stub, async (log, state) => {
      await log.alarm();
      const next = await state.storage.getAlarm();
      expect(next === null ? 0 : next - Date.now()).toBeLessThan(1_000); // after a failure, the delay would be 15 seconds
    });
    await waitUntil(async () => (await countUnreadEntries(env.DB, toAuditLog(29))) === 0);
    expect(await getLength(stub, toChainTag(0x91))).toBe(10_001);
  });

  test("appends no row twice after a crash between appending and storing the position (C3)", async () => {
    const stub = getAuditLogStub(toAuditLog(23));
    const chain = toChainTag(0x31);
    await commitRows(env.DB, 23, chain, 5);
    const { db } = createFailingDatabase(env.DB, 'insert into "change_readers"', 1);
    await runInDurableObject(stub, async (_, state) => {
      const dying = new AuditLog(state, { ...env, DB: db } as unknown as AuditEnv);
      await expect(dying.drainNow()).rejects.toMatchObject({ cause: { kind: "outage" } });
    });
    expect(await getLength(stub, chain)).toBe(5);
    expect(await countUnreadEntries(env.DB, toAuditLog(23))).toBe(5);
    await evictDurableObject(stub);
    expect(await stub.drainNow()).toEqual({ appended: 0, hasMore: false });
    expect(await countUnreadEntries(env.DB, toAuditLog(23))).toBe(0);
    expect(await getLength(stub, chain)).toBe(5);
  });

  test("appends no row twice when eight drains run at once (C2)", async () => {
    const stub = getAuditLogStub(toAuditLog(23));
    const chain = toChainTag(0x32);
    await commitRows(env.DB, 23, chain, 40);
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => stub.drainNow()));
    expect(outcomes.reduce((sum, outcome) => sum + (outcome?.appended ?? 0), 0)).toBe(40);
    expect(await getLength(stub, chain)).toBe(40);
  });

  test("tries an eleventh time after ten failures in a row (C4)", async () => {
    const stub = getAuditLogStub(toAuditLog(24));
    const chain = toChainTag(0x41);
    await commitRows(env.DB, 24, chain, 2);
    const { db, failed } = createFailingDatabase(env.DB, 'from "changes"', 10);
    await runInDurableObject(stub, async (_, state) => {
      const unlucky = new AuditLog(state, { ...env, DB: db } as unknown as AuditEnv);
      for (let run = 1; run <= 10; run += 1) {
        await state.storage.deleteAlarm();
        await unlucky.alarm(); // the alarm must not reject, because the platform drops an alarm that fails six times
        expect(failed()).toBe(run);
        expect((await state.storage.getAlarm()) ?? 0).toBeGreaterThan(Date.now() + 10_000);
      }
      await unlucky.alarm();
      expect(await state.storage.getAlarm()).toBeNull();
    });
    expect(await getLength(stub, chain)).toBe(2);
    expect(await countUnreadEntries(env.DB, toAuditLog(24))).toBe(0);
  });

  test("drains the other shards while one fails, and tries that one again", async () => {
    const stub = getAuditLogStub(toAuditLog(24));
    const [broken, sound] = [toChainTag(0x42), toChainTag(0x43)];
    await commitRows(env.DB, 24, broken, 1);
    await commitRows(env.DB_01, 24, sound, 2);
    const { db } = createFailingDatabase(env.DB, 'from "changes"', 3);
    await runInDurableObject(stub, async (_, state) => {
      const log = new AuditLog(state, { ...env, DB: db } as unknown as AuditEnv);
      await log.alarm();
      expect((await state.storage.getAlarm()) ?? 0).toBeGreaterThan(Date.now() + 10_000); // the alarm retries the failing shard
      await commitRows(env.DB_01, 24, sound, 1);
      await expect(log.drainNow()).rejects.toThrow();
      await commitRows(env.DB_01, 24, sound, 1);
      expect(await log.drainNow("01" as ShardId)).toEqual({ appended: 1, hasMore: false }); // draining one shard ignores failures in other shards
      await expect(log.drainNow("00" as ShardId)).rejects.toThrow();
    });
    expect(await countUnreadEntries(env.DB_01, toAuditLog(24))).toBe(0);
    expect(await getLength(stub, sound)).toBe(4);
    expect(await countUnreadEntries(env.DB, toAuditLog(24))).toBe(1);
    expect(await stub.drainNow()).toMatchObject({ appended: 1 });
  });

  test("drains with an alarm that was set before a restart (C3)", async () => {
    const stub = getAuditLogStub(toAuditLog(25));
    const chain = toChainTag(0x51);
    await commitRows(env.DB, 25, chain, 1);
    await runInDurableObject(stub, (_, state) => state.storage.setAlarm(Date.now() + 60_000));
    await evictDurableObject(stub);
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    expect(await getLength(stub, chain)).toBe(1);
  });

  test("sets only malformed entries aside", async () => {
    const stub = getAuditLogStub(toAuditLog(26));
    const chain = toChainTag(0x61);
    await commitRows(env.DB, 26, "not a tag", 1);
    await commitRows(env.DB, 26, chain, 3);
    expect(await stub.drainNow()).toEqual({ appended: 3, hasMore: false });
    expect(await countUnreadEntries(env.DB, toAuditLog(26))).toBe(1);
    expect(await stub.drainNow()).toEqual({ appended: 0, hasMore: false });
  });

  test("appends an entry that was set aside once it is well-formed", async () => {
    const stub = getAuditLogStub(toAuditLog(19));
    const chain = toChainTag(0xa1);
    await commitRows(env.DB, 19, "not a tag either", 1);
    expect(await stub.drainNow()).toEqual({ appended: 0, hasMore: false });
    await env.DB.batch([
      env.DB.prepare("UPDATE audit_entries SET chain = ? WHERE chain = 'not a tag either'").bind(chain),
      env.DB.prepare("UPDATE change_exceptions SET next_at = 0 WHERE reader = ?").bind(getAuditReader(toAuditLog(19))),
    ]);
    expect(await stub.drainNow()).toEqual({ appended: 1, hasMore: false });
    expect(await getLength(stub, chain)).toBe(1);
    expect(await countUnreadEntries(env.DB, toAuditLog(19))).toBe(0);
  });

  test("appends later changes after the database is restored to an earlier state, and nothing twice", async () => {
    const stub = getAuditLogStub(toAuditLog(18));
    const chain = toChainTag(0xb1);
    await commitRows(env.DB, 18, chain, 1);
    await stub.drainNow();
    const position = env.DB.prepare("SELECT ord FROM change_readers WHERE reader = ?").bind(getAuditReader(toAuditLog(18)));
    const restored = await position.first<number>("ord");
    await commitRows(env.DB, 18, chain, 2);
    await stub.drainNow();
    // Restores the database to an earlier state: the last two changes are lost, and new changes reuse their numbers.
    const { results } = await env.DB.prepare("SELECT ord FROM audit_entries WHERE audit_log = ? ORDER BY ord")
      .bind(toAuditLog(18))
      .all<{ ord: number }>();
    const kept = results[0]?.ord as number;
    await env.DB.batch([
      env.DB.prepare("DELETE FROM audit_entries WHERE ord > ?").bind(kept),
      env.DB.prepare("DELETE FROM changes WHERE ord > ?").bind(kept),
      env.DB.prepare("UPDATE change_readers SET ord = ? WHERE reader = ?").bind(restored, getAuditReader(toAuditLog(18))),
    ]);
    await commitRows(env.DB, 18, chain, 2);
    expect(await stub.drainNow()).toEqual({ appended: 2, hasMore: false });
    expect(await getLength(stub, chain)).toBe(5);
    expect(await countUnreadEntries(env.DB, toAuditLog(18))).toBe(0);
  });

  test("drains rows behind a full page of malformed ones without reading that page forever", { timeout: 60_000 }, async () => {
    const stub = getAuditLogStub(toAuditLog(28));
    await commitMany(env.DB, 28, "no tag either", 600);
    await commitRows(env.DB, 28, toChainTag(0x81), 2);
    expect(await stub.drainNow()).toEqual({ appended: 2, hasMore: false });
    await commitMany(env.DB, 28, "nor this one", 9_500);
    expect(await stub.drainNow()).toEqual({ appended: 0, hasMore: false });
  });

  test("drains nothing while the log is frozen, and keeps checking", async () => {
    const stub = getAuditLogStub(toAuditLog(27));
    await commitRows(env.DB, 27, toChainTag(0x71), 1);
    await stub.checkHighwater("1", "00".repeat(32));
    await runInDurableObject(stub, async (log, state) => {
      await log.alarm();
      expect((await state.storage.getAlarm()) ?? 0).toBeGreaterThan(Date.now() + 30_000);
    });
    expect(await countUnreadEntries(env.DB, toAuditLog(27))).toBe(1);
  });

  test("keeps an alarm that is due sooner than the requested drain", async () => {
    const stub = getAuditLogStub(toAuditLog(20));
    await runInDurableObject(stub, async (log, state) => {
      const due = Date.now() + 10;
      await state.storage.setAlarm(due);
      await log.requestDrain();
      expect([due, null]).toContain(await state.storage.getAlarm());
      await state.storage.setAlarm(Date.now() + 15_000);
      await log.requestDrain();
      expect((await state.storage.getAlarm()) ?? 0).toBeLessThan(Date.now() + 1_000);
    });
  });
});
