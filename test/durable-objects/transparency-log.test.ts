// Tests the transparency log in an object's storage: what it stores, what it signs, and when it freezes.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { toHex, encodeUtf8 } from "../../core/bytes.ts";
import { sha256 } from "../../core/hash.ts";
import { parseCheckpoint, verifyCheckpoint } from "../../core/ledger/checkpoint.ts";
import { isConsistent } from "../../core/ledger/merkle.ts";
import { parseNote, parseVkey, type VerifierKey } from "../../core/ledger/note.ts";
import { formatTilePath } from "../../core/ledger/tiles.ts";
import { verifyTlogProof } from "../../core/ledger/tlog-proof.ts";
import {
  buildTlogProof,
  appendLeaves,
  buildConsistencyProof,
  findFreezeReason,
  freezeUnlessConsistent,
  saveCheckpoint,
  getLogSize,
  findNewestCheckpoint,
  computeRoot,
  type SignedCheckpoint,
} from "../../durable-objects/transparency-log/tables.ts";
import { ensureSignedCheckpoint, openLogKeys, type LogKeys } from "../../durable-objects/transparency-log/signing.ts";
import { noteCrypto } from "../../storage/note-keys.ts";
import { computeNaiveLeaf, computeNaiveRoot, buildNaiveTiles } from "../support/naive-log.ts";
import { createRandomKey, createSecret, deriveVkey } from "../support/note-keys.ts";

const objects = env.LEDGER_LOG;
const origin = "engine.example/log";
const secret = await createSecret(origin, 60);
const keys = await openLogKeys({ secrets: secret, logSeed: undefined }, origin);
const verifier = parseVkey(await deriveVkey(secret)) as VerifierKey;
const trust = { origin, keys: [verifier] };

const inFreshLog = <T>(work: (storage: DurableObjectStorage) => T | Promise<T>): Promise<T> =>
  runInDurableObject(objects.getByName(crypto.randomUUID()), (_, state) => work(state.storage));

const createEntries = (from: number, end: number): Uint8Array[] =>
  Array.from({ length: end - from }, (_, at) => encodeUtf8(`entry ${from + at}`));

const append = (storage: DurableObjectStorage, entries: readonly Uint8Array[]): number[] =>
  storage.transactionSync(() =>
    appendLeaves(
      storage.sql,
      entries.map((entry) => ({ dedupeKey: sha256(entry), entry })),
    ),
  );

const sign = (storage: DurableObjectStorage, now: number, covers = 0, logKeys: LogKeys = keys): Promise<SignedCheckpoint | null> =>
  ensureSignedCheckpoint(storage, logKeys, () => now, covers);

/** Copies every table, so that a test can later go back to this state, as if the object's storage had been restored. */
const readSnapshot = (sql: SqlStorage) =>
  ["leaf", "leaf_key", "tile", "checkpoint", "meta"].map((table) => ({ table, rows: [...sql.exec(`SELECT * FROM ${table}`).raw()] }));

const restore = (sql: SqlStorage, tables: ReturnType<typeof readSnapshot>): void => {
  for (const { table, rows } of tables) {
    sql.exec(`DELETE FROM ${table}`);
    for (const row of rows) sql.exec(`INSERT INTO ${table} VALUES (${row.map(() => "?").join(", ")})`, ...row);
  }
};

describe("appending entries", () => {
  test("writes the tiles that the specification defines, regardless of the batches", async () => {
    await inFreshLog((storage) => {
      const batches = [1, 2, 250, 3, 1, 255, 500, 1, 1_000];
      const entries = createEntries(0, 2_013);
      let at = 0;
      for (const count of batches) {
        expect(append(storage, entries.slice(at, at + count))).toEqual(Array.from({ length: count }, (_, one) => at + one));
        at += count;
        const leaves = entries.slice(0, at).map(computeNaiveLeaf);
        const stored = storage.sql.exec<{ level: number; n: number; data: ArrayBuffer }>("SELECT level, n, data FROM tile").toArray();
        const published = new Map(
          stored.map(({ level, n, data }) => [
            formatTilePath({ level, n: BigInt(n), width: data.byteLength / 32 }),
            toHex(new Uint8Array(data)),
          ]),
        );
        expect(published).toEqual(new Map([...buildNaiveTiles(leaves)].map(([path, data]) => [path, toHex(data)])));
        expect(toHex(computeRoot(storage.sql, at))).toBe(toHex(computeNaiveRoot(leaves)));
      }
    });
  });

  test("gives the same bytes the same index, in a later batch and twice in one (L5)", async () => {
    await inFreshLog((storage) => {
      const [a, b, c] = createEntries(0, 3) as [Uint8Array, Uint8Array, Uint8Array];
      expect(append(storage, [a, b])).toEqual([0, 1]);
      expect(append(storage, [b, c, c, a])).toEqual([1, 2, 2, 0]);
      expect(append(storage, [a, b, c])).toEqual([0, 1, 2]);
      expect(getLogSize(storage.sql)).toBe(3);
      expect(toHex(computeRoot(storage.sql, 3))).toBe(toHex(computeNaiveRoot([a, b, c].map(computeNaiveLeaf))));
    });
  });

  test("writes nothing when it fails halfway", async () => {
    await inFreshLog((storage) => {
      append(storage, createEntries(0, 300));
      const before = JSON.stringify(readSnapshot(storage.sql));
      storage.sql.exec("CREATE TRIGGER broken BEFORE UPDATE ON tile WHEN NEW.level = 0 BEGIN SELECT RAISE(ABORT, 'no'); END");
      expect(() => append(storage, createEntries(300, 310))).toThrow("no");
      expect(JSON.stringify(readSnapshot(storage.sql))).toBe(before);
      storage.sql.exec("DROP TRIGGER broken");
      expect(append(storage, createEntries(300, 310))[0]).toBe(300);
    });
  });

  test("throws when storage lost the edge tile", async () => {
    await inFreshLog((storage) => {
      append(storage, createEntries(0, 10));
      storage.sql.exec("DELETE FROM leaf WHERE idx = 9");
      expect(() => append(storage, createEntries(20, 21))).toThrow(/edge/);
    });
  });
});

describe("signing a checkpoint", () => {
  test("covers the committed tree with one signature for many callers, and proofs lead to it", async () => {
    await inFreshLog(async (storage) => {
      const entries = createEntries(0, 600);
      append(storage, entries);
      const checkpoints = await Promise.all(Array.from({ length: 20 }, () => sign(storage, 10_000)));
      const [first] = checkpoints;
      if (!first) throw new Error("nothing was signed");
      expect(new Set(checkpoints.map((checkpoint) => checkpoint?.note))).toEqual(new Set([first.note]));
      expect(await verifyCheckpoint(noteCrypto, first.note, trust)).toMatchObject({ ok: true, checkpoint: { origin, size: 600n } });
      for (const index of [0, 255, 256, 511, 599]) {
        const proof = buildTlogProof(storage.sql, index, first);
        expect(await verifyTlogProof(noteCrypto, proof, entries[index] as Uint8Array, trust)).toMatchObject({
          ok: true,
          index: BigInt(index),
        });
      }
    });
  });

  test("happens at most once a second, and every checkpoint is saved", async () => {
    await inFreshLog(async (storage) => {
      append(storage, createEntries(0, 1));
      const first = await sign(storage, 10_000);
      append(storage, createEntries(1, 2));
      expect((await sign(storage, 10_999))?.note).toBe(first?.note);
      expect((await sign(storage, 11_000))?.size).toBe(2);
      append(storage, createEntries(2, 3));
      expect((await sign(storage, 5_000))?.size).toBe(3); // the clock was set back before this call
      const kept = storage.sql.exec<{ size: number }>("SELECT size FROM checkpoint ORDER BY size").toArray();
      expect(kept).toEqual([{ size: 1 }, { size: 2 }, { size: 3 }]);
    });
  });

  test("waits out the second for a caller that needs a larger tree", async () => {
    await inFreshLog(async (storage) => {
      append(storage, createEntries(0, 1));
      await sign(storage, 10_000);
      append(storage, createEntries(1, 2));
      const started = performance.now();
      expect((await sign(storage, 10_900, 2))?.size).toBe(2);
      expect(performance.now() - started).toBeGreaterThanOrEqual(95);
      expect((await sign(storage, 10_900, 1))?.size).toBe(2);
      await expect(sign(storage, 20_000, 3)).rejects.toThrow(RangeError);
    });
  });

  test("covers the empty tree of an empty log", async () => {
    await inFreshLog(async (storage) => {
      expect(parseCheckpoint((await sign(storage, 1))?.note ?? "")).toMatchObject({ size: 0n, root: sha256("") });
    });
  });

  test("adds lines of the old and the new key while one replaces the other", async () => {
    await inFreshLog(async (storage) => {
      append(storage, createEntries(0, 1));
      const before = await sign(storage, 10_000);
      const newSecret = await createSecret(origin, 61);
      const both = await openLogKeys({ secrets: `${secret} ${newSecret}`, logSeed: undefined }, origin);
      const during = await sign(storage, 10_001, 0, both);
      expect(parseNote(during?.note ?? "")?.signatures).toHaveLength(2);
      expect(during?.note.startsWith(before?.note ?? "none")).toBe(true);
      const newVerifier = parseVkey(await deriveVkey(newSecret)) as VerifierKey;
      for (const key of [verifier, newVerifier]) {
        expect((await verifyCheckpoint(noteCrypto, during?.note ?? "", { origin, keys: [key] })).ok).toBe(true);
      }
    });
  });

  test("requires a key with its name and kind", async () => {
    const open = (secrets: string) => openLogKeys({ secrets, logSeed: "" }, origin);
    await expect(open("")).rejects.toThrow("no key with this name and kind");
    await expect(open(await createSecret("other.example/log", 60))).rejects.toThrow("no key with this name and kind");
    await expect(open(await createSecret(origin, 60, 4))).rejects.toThrow("no key with this name and kind");
    await expect(open(`${secret} garbage`)).rejects.toThrow("not a note-format secret");
  });

  test("derives a key for each log seed and name, unless the name has a secret", async () => {
    const seeds = [createRandomKey(70), createRandomKey(71)].join(" ");
    const open = async (name: string, secrets = "") =>
      (await openLogKeys({ secrets, logSeed: seeds }, name)).signers.map(({ key }) => key.keyId);
    const derived = await open(origin);
    expect(derived).toHaveLength(2);
    expect(await open(origin)).toEqual(derived);
    expect((await open("other.example/log")).some((keyId) => derived.includes(keyId))).toBe(false);
    expect(await open(origin, secret)).toEqual([verifier.keyId]);
    expect(await open(origin, await createSecret("other.example/log", 60))).toEqual(derived);
  });

  test("returns the larger tree that was signed in the meantime when a smaller one finishes late", async () => {
    await inFreshLog(async (storage) => {
      append(storage, createEntries(0, 5));
      const older = { size: 3, root: computeRoot(storage.sql, 3), note: "late", signedAt: 1 };
      const newest = await sign(storage, 10_000);
      expect(saveCheckpoint(storage.sql, older)?.note).toBe(newest?.note);
      expect(findNewestCheckpoint(storage.sql)?.size).toBe(5);
    });
  });
});

describe("any two checkpoints", () => {
  test("of a log grown in uneven batches are consistent (L1)", { timeout: 60_000 }, async () => {
    await inFreshLog(async (storage) => {
      const sizes = [1, 2, 3, 4, 5, 8, 13, 21, 64, 100, 254, 255, 256, 257, 300, 511, 512, 513, 768, 1_000, 1_024, 1_025, 1_300];
      const signed: SignedCheckpoint[] = [];
      for (const size of sizes) {
        append(storage, createEntries(getLogSize(storage.sql), size));
        const checkpoint = await sign(storage, size * 1_000);
        if (checkpoint !== null) signed.push(checkpoint);
      }
      expect(signed.map(({ size }) => size)).toEqual(sizes);
      for (const older of signed) {
        for (const newer of signed.filter(({ size }) => size >= older.size)) {
          const proof = buildConsistencyProof(storage.sql, older.size, newer.size);
          const [from, newerHead] = [older, newer].map(({ size, root }) => ({ size: BigInt(size), root }));
          if (from === undefined || newerHead === undefined || !isConsistent(from, newerHead, proof))
            throw new Error(`${older.size} to ${newer.size}`);
        }
      }
    });
  });
});

describe("a log that was reset to an earlier state", () => {
  test("signs and accepts nothing after it learns its high-water mark (L3)", async () => {
    await inFreshLog(async (storage) => {
      append(storage, createEntries(0, 10));
      await sign(storage, 10_000);
      const earlier = readSnapshot(storage.sql);
      append(storage, createEntries(10, 20));
      const highwater = await sign(storage, 20_000);
      if (highwater === null) throw new Error("nothing was signed");
      expect(freezeUnlessConsistent(storage.sql, highwater)).toBe(true);

      restore(storage.sql, earlier);
      expect(freezeUnlessConsistent(storage.sql, highwater)).toBe(false);
      expect(findFreezeReason(storage.sql)).toBe("the log had 20 entries and has 10");
      expect(await sign(storage, 30_000)).toBeNull();
      expect(() => append(storage, createEntries(30, 31))).toThrow("the log is frozen");
      expect(saveCheckpoint(storage.sql, highwater)).toBeNull();
    });
  });

  test("is detected by its old root after it has grown past its old size", async () => {
    await inFreshLog(async (storage) => {
      append(storage, createEntries(0, 10));
      const earlier = readSnapshot(storage.sql);
      append(storage, createEntries(10, 20));
      const highwater = await sign(storage, 20_000);
      if (highwater === null) throw new Error("nothing was signed");
      restore(storage.sql, earlier);
      append(storage, createEntries(100, 130));
      expect(freezeUnlessConsistent(storage.sql, highwater)).toBe(false);
      expect(findFreezeReason(storage.sql)).toMatch(/^at size 20 the root was [0-9a-f]{64}$/);
      expect(await sign(storage, 30_000)).toBeNull();
    });
  });

  test("freezes by itself when it is behind its own checkpoints (L3)", async () => {
    await inFreshLog(async (storage) => {
      append(storage, createEntries(0, 10));
      const leavesAndTiles = readSnapshot(storage.sql).filter(({ table }) => table === "leaf" || table === "tile");
      append(storage, createEntries(10, 20));
      await sign(storage, 10_000);
      restore(storage.sql, leavesAndTiles);
      expect(await sign(storage, 20_000)).toBeNull();
      expect(findFreezeReason(storage.sql)).toBe("the log had 20 entries and has 10");
    });
  });

  test("freezes before it signs again when a hash of a tile changed or a tile is missing", async () => {
    const spoils = ["UPDATE tile SET data = zeroblob(320) WHERE level = 0", "DELETE FROM tile"];
    for (const spoil of spoils) {
      await inFreshLog(async (storage) => {
        append(storage, createEntries(0, 10));
        await sign(storage, 10_000);
        const tiles = readSnapshot(storage.sql).filter(({ table }) => table === "tile");
        append(storage, createEntries(10, 11));
        storage.sql.exec(spoil);
        expect(await sign(storage, 20_000)).toBeNull();
        expect(findFreezeReason(storage.sql)).toMatch(/^at size 10 the root was/);
        restore(storage.sql, tiles);
        expect(await sign(storage, 30_000)).toBeNull(); // the log stays frozen until a person has inspected it
      });
    }
  });

  test("never signs a second root at a signed size", async () => {
    await inFreshLog(async (storage) => {
      append(storage, createEntries(0, 10));
      await sign(storage, 10_000);
      const other = { size: 10, root: sha256("another history"), note: "another", signedAt: 20_000 };
      expect(saveCheckpoint(storage.sql, other)).toBeNull();
      expect(findFreezeReason(storage.sql)).toBe("two roots at size 10");
    });
  });

  test("keeps the reason of the first freeze", async () => {
    await inFreshLog((storage) => {
      append(storage, createEntries(0, 2));
      expect(freezeUnlessConsistent(storage.sql, { size: 3, root: sha256("x") })).toBe(false);
      expect(freezeUnlessConsistent(storage.sql, { size: 1, root: sha256("y") })).toBe(false);
      expect(findFreezeReason(storage.sql)).toBe("the log had 3 entries and has 2");
    });
  });
});
