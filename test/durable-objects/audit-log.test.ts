// Tests the audit log. It stores many chains, and proves that an entry is in the log and that no entries of a chain are missing.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { describe, expect, test, vi } from "vitest";
import { verifyAuditProof } from "../support/audit-verification.ts";
import { fromBase64, fromHex, encodeUtf8 } from "../../core/bytes.ts";
import { parseCheckpoint, verifyCheckpoint } from "../../core/ledger/checkpoint.ts";
import { isConsistent } from "../../core/ledger/merkle.ts";
import { parseEntryBundle } from "../../core/ledger/tiles.ts";
import { verifyTlogProof } from "../../core/ledger/tlog-proof.ts";
import { formatAddCheckpointRequest } from "../../core/ledger/witness.ts";
import type { ChainHeadProof } from "../../durable-objects/audit-log/proofs.ts";
import {
  findNewestRecord,
  recordHeadsForNewChain,
  saveIntervalCheckpoint,
  maxEntriesScanned,
  type AuditRow,
  type ChainPage,
} from "../../durable-objects/audit-log/tables.ts";
import { noteCrypto } from "../../storage/note-keys.ts";
import {
  buildAuditRow,
  getAuditLogStub,
  toAuditLog,
  getAuditTrust,
  toChainTag,
  verifyChain,
  fetchChainWithProof,
  type AuditStub,
} from "../support/audit.ts";
import { createLedger } from "../support/ledger.ts";
import vectors from "../vectors/ledger.json" with { type: "json" };

const runSql = <T>(stub: AuditStub, work: (sql: SqlStorage) => T): Promise<T> =>
  runInDurableObject(stub, (_, state) => work(state.storage.sql));
const getSize = async (stub: AuditStub): Promise<number> => Number((await stub.getState()).size);
const formatMinutes = (minutes: number): string => new Date(1_772_600_000_000 + minutes * 60_000).toISOString();

describe("audit chains", () => {
  test("have the hashes of the test vectors", async () => {
    const stub = getAuditLogStub(toAuditLog(1));
    const { audit } = vectors;
    await stub.append(Array.from({ length: audit.index }, (_, at) => buildAuditRow(`filler ${at}`, toChainTag(at + 1))));
    const rows = audit.entries.map(({ canonical }, at): AuditRow => {
      const entry = JSON.parse(canonical);
      return {
        ...buildAuditRow(`vector ${at}`, audit.chain),
        type: entry.type,
        entityType: entry.entity_type,
        entityId: entry.entity_id,
        at: Date.parse(entry.at),
        payloadHash: entry.payload_hash,
      };
    });
    expect(await stub.append(rows)).toEqual({ appended: 3, known: 0, malformed: [] });
    const page = (await stub.getChainPage(audit.chain, { limit: 10 })) as ChainPage;
    expect(page.chainIndex).toBe(audit.index);
    expect(page.entries.map(({ hash }) => hash)).toEqual(audit.entries.map(({ hash }) => hash).toReversed());
    expect(page.entries.at(-1)?.prev_hash).toBe(audit.genesis);
    expect(page.head).toEqual({ seq: "3", hash: audit.entries[2]?.hash });
  });

  test("have no gap and no fork after a thousand concurrent appends for seven principals (C1, C2)", {
    timeout: 60_000,
  }, async () => {
    const stub = getAuditLogStub(toAuditLog(2));
    const rows = Array.from({ length: 1_000 }, (_, at) => buildAuditRow(`row ${at}`, toChainTag(at % 7)));
    const outcomes = await Promise.all(rows.map((row) => stub.append([row])));
    expect(outcomes.every((outcome) => outcome?.appended === 1)).toBe(true);
    expect(await getSize(stub)).toBe(1_000);
    const before = await stub.checkpoint(1, formatMinutes(15));
    const seen = new Set<string>();
    for (let index = 0; index < 7; index += 1) {
      const { page, proven } = await fetchChainWithProof(stub, toChainTag(index));
      expect(page.entries).toHaveLength(index < 6 ? 143 : 142);
      expect(await verifyChain(toAuditLog(2), page, proven)).toBe(`ok, complete up to ${page.head.seq}`);
      for (const { log_index } of page.entries) seen.add(log_index);
    }
    expect(seen.size).toBe(1_000);

    // Appends the same thousand rows again, concurrently: all in one batch, 200 of them in one batch, and 300 of them in batches that
    // contain one row twice.
    const repeated = await Promise.all([
      stub.append(rows),
      stub.append(rows.slice(200, 400)),
      ...rows.slice(0, 300).map((row) => stub.append([row, row])),
    ]);
    expect(repeated.reduce((sum, outcome) => sum + (outcome?.appended ?? 0), 0)).toBe(0);
    expect(await getSize(stub)).toBe(1_001); // counts the entries and the interval's record of heads
    const mixed = rows.slice(0, 50).flatMap((row, at) => [row, buildAuditRow(`new ${at}`, toChainTag(at % 7)), row]);
    expect(await stub.append(mixed)).toEqual({ appended: 50, known: 100, malformed: [] });

    const after = await stub.checkpoint(2, formatMinutes(30));
    if (before === null || after === null) throw new Error("frozen");
    const [older, newer] = [before, after].map(({ size, root }) => ({ size: BigInt(size), root: fromHex(root) as Uint8Array }));
    const proof = (await stub.buildConsistencyProof(before.size, after.size)).map((hash) => fromBase64(hash) as Uint8Array);
    if (older === undefined || newer === undefined) throw new Error("no heads");
    expect(isConsistent(older, newer, proof)).toBe(true);
    for (let index = 0; index < 7; index += 1) {
      const { page, proven } = await fetchChainWithProof(stub, toChainTag(index));
      expect(await verifyChain(toAuditLog(2), page, proven)).toBe(`ok, complete up to ${page.head.seq}`);
    }
  });

  test("have one entry each for an event that concerns two principals", async () => {
    const stub = getAuditLogStub(toAuditLog(3));
    const [a, b] = [toChainTag(0xa), toChainTag(0xb)];
    expect(await stub.append([buildAuditRow("both", a), buildAuditRow("both", b), buildAuditRow("both", a)])).toEqual({
      appended: 2,
      known: 1,
      malformed: [],
    });
    expect(await stub.append([buildAuditRow("both", b), buildAuditRow("both", a)])).toEqual({ appended: 0, known: 2, malformed: [] });
    expect(((await stub.getChainPage(a, { limit: 5 })) as ChainPage).head.seq).toBe("1");
    expect(((await stub.getChainPage(b, { limit: 5 })) as ChainPage).head.seq).toBe("1");
    expect(await stub.getChainPage(toChainTag(0xc), { limit: 5 })).toBeNull();
    expect(await stub.proveChainHead(toChainTag(0xc))).toBeNull();
  });

  test("skip malformed rows and report their IDs", async () => {
    const stub = getAuditLogStub(toAuditLog(3));
    const good = buildAuditRow("good", toChainTag(0xd));
    const outcome = await stub.append([
      buildAuditRow("upper-case tag", "ABCDEF00112233445566778899AABBCC"),
      buildAuditRow("short hash", toChainTag(0xd), { payloadHash: "ab" }),
      buildAuditRow("no time", toChainTag(0xd), { at: Number.NaN }),
      buildAuditRow("no type", toChainTag(0xd), { type: "" }),
      good,
    ]);
    expect(outcome).toEqual({ appended: 1, known: 0, malformed: ["upper-case tag", "short hash", "no time", "no type"] });
  });

  test("are returned in pages, newest first", async () => {
    const stub = getAuditLogStub(toAuditLog(3));
    const chain = toChainTag(0xe);
    await stub.append(Array.from({ length: 7 }, (_, at) => buildAuditRow(`page ${at}`, chain)));
    const seqs: string[] = [];
    let before: number | null = null;
    do {
      const page = (await stub.getChainPage(chain, { limit: 3, beforeSeq: before })) as ChainPage;
      seqs.push(...page.entries.map(({ seq }) => seq));
      before = page.nextBeforeSeq === null ? null : Number(page.nextBeforeSeq);
    } while (before !== null);
    expect(seqs).toEqual(["7", "6", "5", "4", "3", "2", "1"]);
  });

  test("are returned in pages for selected entities, with unchanged sequence numbers", async () => {
    const stub = getAuditLogStub(toAuditLog(3));
    const chain = toChainTag(0x1e);
    const about = ["shr_0", "shr_2"];
    await stub.append(Array.from({ length: 9 }, (_, at) => buildAuditRow(`of some ${at}`, chain, { entityId: `shr_${at % 3}` })));
    const first = (await stub.getChainPage(chain, { limit: 4, about })) as ChainPage;
    const second = (await stub.getChainPage(chain, { limit: 4, beforeSeq: Number(first.nextBeforeSeq), about })) as ChainPage;
    expect([first, second].map(({ entries }) => entries.map(({ seq }) => seq))).toEqual([
      ["9", "7", "6", "4"],
      ["3", "1"],
    ]);
    expect([first.head.seq, second.nextBeforeSeq]).toEqual(["9", null]);
    expect(((await stub.getChainPage(chain, { limit: 4, about: [] })) as ChainPage).entries).toEqual([]);
  });

  test("are returned for selected types, also together with selected entities", async () => {
    const stub = getAuditLogStub(toAuditLog(3));
    const chain = toChainTag(0x3e);
    const types = ["share.created", "share.revoked"];
    const rows = Array.from({ length: 6 }, (_, at) =>
      buildAuditRow(`of types ${at}`, chain, { type: types[at % 2] as string, entityId: `shr_${at % 3}` }),
    );
    await stub.append(rows);
    const listSeqs = async (about: readonly string[] | null): Promise<readonly string[]> => {
      const page = (await stub.getChainPage(chain, { limit: 4, about, types: ["share.revoked"] })) as ChainPage;
      return page.entries.map(({ seq }) => seq);
    };
    expect(await listSeqs(null)).toEqual(["6", "4", "2"]);
    expect(await listSeqs(["shr_0"])).toEqual(["4"]);
    expect(await listSeqs([])).toEqual([]);
  });

  test("are scanned up to the limit per page for selected entities, even if none matches", async () => {
    const stub = getAuditLogStub(toAuditLog(3));
    const chain = toChainTag(0x2e);
    const others = Array.from({ length: maxEntriesScanned }, (_, at) => buildAuditRow(`of others ${at}`, chain, { entityId: "shr_other" }));
    await stub.append([buildAuditRow("of mine", chain, { entityId: "shr_mine" }), ...others]);
    const first = (await stub.getChainPage(chain, { limit: 4, about: ["shr_mine"] })) as ChainPage;
    const second = (await stub.getChainPage(chain, { limit: 4, beforeSeq: Number(first.nextBeforeSeq), about: ["shr_mine"] })) as ChainPage;
    expect([first, second].map(({ entries, nextBeforeSeq }) => [entries.map(({ seq }) => seq), nextBeforeSeq])).toEqual([
      [[], "2"],
      [["1"], null],
    ]);
  });

  test("survive a restart of the object", async () => {
    const stub = getAuditLogStub(toAuditLog(3));
    const chain = toChainTag(0xf);
    await stub.append([buildAuditRow("before", chain)]);
    await evictDurableObject(stub);
    await stub.append([buildAuditRow("before", chain), buildAuditRow("after", chain)]);
    const { page, proven } = await fetchChainWithProof(stub, chain);
    expect(page.head.seq).toBe("2");
    expect(await verifyChain(toAuditLog(3), page, proven)).toMatch(/^ok/);
  });
});

describe("the proof shown to a principal", () => {
  const shard = toAuditLog(4);
  const stub = getAuditLogStub(shard);
  const alice = toChainTag(0xa11ce);
  const bob = toChainTag(0xb0b);

  test("proves the entries and that none is missing up to the newest record", { timeout: 30_000 }, async () => {
    await stub.append([buildAuditRow("a1", alice), buildAuditRow("b1", bob), buildAuditRow("a2", alice)]);
    const early = await fetchChainWithProof(stub, alice);
    expect(early.proven.proof.heads).toBeNull();
    expect(await verifyChain(shard, early.page, early.proven)).toBe("ok");

    await stub.checkpoint(1, formatMinutes(15));
    const recorded = await fetchChainWithProof(stub, alice);
    expect(await verifyChain(shard, recorded.page, recorded.proven)).toBe("ok, complete up to 2");

    // After more entries arrive, the earlier record still proves the heads that it contains. New chains are not in this record.
    await stub.append([
      buildAuditRow("a3", alice),
      buildAuditRow("c1", toChainTag(0xc)),
      buildAuditRow("a4", alice),
      buildAuditRow("d1", toChainTag(0xd)),
    ]);
    for (const [chain, verdict] of [
      [alice, "ok, complete up to 2"],
      [bob, "ok, complete up to 1"],
      [toChainTag(0xc), "ok"],
    ] as const) {
      const { page, proven } = await fetchChainWithProof(stub, chain);
      expect(await verifyChain(shard, page, proven)).toBe(verdict);
    }
    await stub.checkpoint(2, formatMinutes(30));
    for (const chain of [alice, bob, toChainTag(0xc), toChainTag(0xd)]) {
      const { page, proven } = await fetchChainWithProof(stub, chain);
      expect(await verifyChain(shard, page, proven)).toBe(`ok, complete up to ${page.head.seq}`);
    }
  });

  test("covers the newest record of heads, even if a checkpoint without that record already covers the chain", async () => {
    const log = getAuditLogStub(toAuditLog(13));
    const [chain, other] = [toChainTag(0x71), toChainTag(0x72)];
    await log.append([buildAuditRow("w1", chain)]);
    await log.checkpoint(1, formatMinutes(15));
    await log.append([buildAuditRow("w2", other)]);
    // Reading the trail of the other chain adds a record of heads, and usually waits a second until the next checkpoint is signed.
    const [, proven] = await Promise.all([log.getTrail(other, ["w2"]), log.proveChainHead(chain)]);
    expect(proven?.proof.heads).not.toBeNull();
  });

  test("covers a record of heads that was added while the checkpoint was being signed", async () => {
    const log = getAuditLogStub(toAuditLog(13));
    const [chain, other] = [toChainTag(0x73), toChainTag(0x74)];
    await runInDurableObject(log, async (instance, { storage }) => {
      instance.append([buildAuditRow("v1", chain), buildAuditRow("v2", other)]);
      const sync = storage.sync.bind(storage);
      vi.spyOn(storage, "sync").mockImplementationOnce(() => {
        recordHeadsForNewChain(storage.sql, other, Date.now());
        return sync();
      });
      const proven = await instance.proveChainHead(chain);
      expect(findNewestRecord(storage.sql)?.log_index).toBeGreaterThan(0);
      expect(proven?.proof.heads).not.toBeNull();
      vi.restoreAllMocks();
    });
  });

  test("fails when the newest entries are withheld (C6)", async () => {
    const { page, proven } = await fetchChainWithProof(stub, alice);
    const cut = { ...page, entries: page.entries.slice(1), head: { seq: "3", hash: page.entries[1]?.hash ?? "" } };
    const [proof] = (await stub.proveEntries(alice, [3])) as { seq: number; tlog_proof: string }[];
    const withOlderHead = { ...proven, proof: { ...proven.proof, head_tlog_proof: proof?.tlog_proof ?? "" } };
    expect(await verifyChain(shard, cut, withOlderHead)).toBe("entries_missing");
    expect(await verifyChain(shard, cut, proven)).toBe("head:root_mismatch");
  });

  test("fails for the chain of another principal (C5)", async () => {
    const alices = await fetchChainWithProof(stub, alice);
    const bobs = await fetchChainWithProof(stub, bob);
    expect(await verifyChain(shard, alices.page, bobs.proven)).toBe("head:root_mismatch");
    const heads = bobs.proven.proof.heads;
    expect(await verifyChain(shard, alices.page, { ...alices.proven, proof: { ...alices.proven.proof, heads } })).toBe("leaf_malformed");
    expect(await verifyChain(shard, { ...bobs.page, chain: alice }, bobs.proven)).toBe("wrong_chain at 1");
    expect(await verifyChain(shard, { ...alices.page, chainIndex: 1 }, alices.proven)).toBe("prev_mismatch at 1");
  });

  test("fails when any part of it comes from another proof", async () => {
    const { page, proven } = await fetchChainWithProof(stub, alice);
    const { proof } = proven;
    if (proof.heads === null) throw new Error("no heads proof");
    const { heads } = proof;
    const changes: [ChainHeadProof["proof"], string][] = [
      [{ ...proof, origin: "svc.test/audit/t5" }, "origin_mismatch"],
      [{ ...proof, checkpoint: proof.checkpoint.replace("\n", "x\n") }, "checkpoint:bad_signature"],
      [{ ...proof, heads: { ...heads, size: "3" } }, "record_malformed"],
      [{ ...proof, heads: { ...heads, record: heads.record.replace("2026", "2025") } }, "record:root_mismatch"],
      [{ ...proof, heads: { ...heads, record: `${heads.record} ` } }, "record_malformed"],
      [{ ...proof, heads: { ...heads, path: heads.path.slice(1) } }, "heads_mismatch"],
      [{ ...proof, heads: { ...heads, path: heads.path.toReversed() } }, "heads_mismatch"],
      [{ ...proof, heads: { ...heads, leaf: heads.leaf.replace('"seq":"4"', '"seq":"3"') } }, "heads_mismatch"],
      [{ ...proof, heads: { ...heads, leaf: heads.leaf.replace('"seq":"4"', '"seq":4') } }, "leaf_malformed"],
    ];
    for (const [changed, fault] of changes) expect(await verifyChain(shard, page, { ...proven, proof: changed })).toBe(fault);
    const before = await stub.proveChainHead(alice, 4);
    expect(before).not.toBeNull();
    const older = { ...proof, checkpoint: before?.proof.checkpoint ?? "" };
    expect(await verifyChain(shard, page, { ...proven, proof: older })).toBe("checkpoint_mismatch");
  });

  test("fails for a consistent history that differs from the recorded one", async () => {
    const { page, proven } = await fetchChainWithProof(stub, alice);
    const place = { chain: alice, chainIndex: BigInt(page.chainIndex) };
    const head = { seq: BigInt(page.head.seq), hash: page.head.hash };
    for (const rewritten of [() => "cd".repeat(32), () => undefined]) {
      const verdict = await verifyAuditProof(noteCrypto, await getAuditTrust(shard), place, head, rewritten, proven.proof);
      expect(verdict).toEqual({ ok: false, fault: "leaf_mismatch" });
    }
  });

  test("has one proof for each entry", async () => {
    const { page } = await fetchChainWithProof(stub, alice);
    const proofs = (await stub.proveEntries(alice, [1, 3, 4, 99])) as { seq: number; tlog_proof: string }[];
    expect(proofs.map(({ seq }) => seq)).toEqual([1, 3, 4]);
    for (const { seq, tlog_proof } of proofs) {
      const hash = page.entries.find((entry) => entry.seq === String(seq))?.hash ?? "";
      const verdict = await verifyTlogProof(noteCrypto, tlog_proof, fromHex(hash) as Uint8Array, await getAuditTrust(shard));
      expect(verdict.ok).toBe(true);
    }
    expect(await stub.proveEntries(alice, [99])).toEqual([]);
  });

  // Each row changes stored data in one way. The proof is then built from the changed tables.
  test.each([
    ["another type", "UPDATE entry SET type = 'share.revoked' WHERE chain = 0 AND seq = 2", "hash_mismatch at 2"],
    ["another time", "UPDATE entry SET at = at + 1 WHERE chain = 0 AND seq = 3", "hash_mismatch at 3"],
    ["another entity", "UPDATE entry SET entity_id = 'shr_other' WHERE chain = 0 AND seq = 1", "hash_mismatch at 1"],
    ["another payload hash", "UPDATE entry SET payload_hash = zeroblob(32) WHERE chain = 0 AND seq = 4", "hash_mismatch at 4"],
    ["another previous hash", "UPDATE entry SET prev_hash = zeroblob(32) WHERE chain = 0 AND seq = 3", "prev_mismatch at 3"],
    ["another hash", "UPDATE leaf SET entry = zeroblob(32) WHERE idx = 0", "hash_mismatch at 1"],
    ["an entry moved in the log", "UPDATE entry SET log_index = 0 WHERE chain = 0 AND seq = 2", "hash_mismatch at 2"],
    ["one entry missing", "DELETE FROM entry WHERE chain = 0 AND seq = 2", "seq_gap at 2"],
    ["the newest entry missing", "DELETE FROM entry WHERE chain = 0 AND seq = 4", "entries_missing"],
    [
      "an entry moved in its chain",
      "UPDATE entry SET seq = 5 WHERE chain = 0 AND seq = 4; UPDATE entry SET seq = 4 WHERE chain = 0 AND seq = 3",
      "seq_gap at 3",
    ],
    ["another recorded head", "UPDATE chain SET head = zeroblob(32) WHERE idx = 0", "heads_mismatch"],
    ["another recorded count", "UPDATE chain SET seq = 3 WHERE idx = 0", "heads_mismatch"],
    ["another node of the heads", "UPDATE head_node SET hash = zeroblob(32) WHERE height = 0 AND idx = 1", "heads_mismatch"],
    ["another heads record", "UPDATE heads_record SET record = replace(record, '2026', '2025')", "record:root_mismatch"],
  ])("fails when storage has %s (T6)", async (_, change, fault) => {
    const tables = ["entry", "leaf", "chain", "head_node", "heads_record"];
    const saved = await runSql(stub, (storage) => {
      const rows = tables.map((table) => [...storage.exec(`SELECT * FROM ${table}`).raw()]);
      storage.exec(change);
      return rows;
    });
    try {
      const { page, proven } = await fetchChainWithProof(stub, alice);
      expect(await verifyChain(shard, page, proven)).toBe(fault);
    } finally {
      await runSql(stub, (storage) => {
        for (const [at, table] of tables.entries()) {
          storage.exec(`DELETE FROM ${table}`);
          for (const row of saved[at] ?? []) storage.exec(`INSERT INTO ${table} VALUES (${row.map(() => "?").join(", ")})`, ...row);
        }
      });
    }
    const { page, proven } = await fetchChainWithProof(stub, alice);
    expect(await verifyChain(shard, page, proven)).toBe("ok, complete up to 4");
  });
});

describe("a chain of 24 entries", () => {
  const shard = toAuditLog(11);
  const stub = getAuditLogStub(shard);
  const chain = toChainTag(0xca11);
  const count = 24;
  type Row = { log_index: number; type: string; entity_type: string; entity_id: string };
  const texts = ["type", "entity_type", "entity_id"] as const;
  const blobs = ["prev_hash", "payload_hash"];

  let state = 11;
  const drawBelow = (below: number): number => {
    state = (state * 48_271) % 0x7fffffff; // MINSTD, a generator that makes the same changes every time
    return state % below;
  };
  const withOneByteChanged = (bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => {
    const at = drawBelow(bytes.length);
    const changed = bytes.slice();
    changed[at] = (changed[at] as number) ^ (1 + drawBelow(127)); // keeps ASCII text valid ASCII
    return changed;
  };

  /** Makes one change to the stored chain and returns the number of the first entry that differs. */
  const tamper = (storage: SqlStorage): { seq: number; what: string } => {
    const seq = 1 + drawBelow(count);
    const at = "WHERE chain = 0 AND seq = ?";
    const kinds = ["delete", "swap", "at", "hash", ...blobs, ...texts];
    const what = kinds[drawBelow(kinds.length)] as string;
    const row = storage.exec<Row>(`SELECT log_index, ${texts.join(", ")} FROM entry ${at}`, seq).one();
    if (what === "delete") storage.exec(`DELETE FROM entry ${at}`, seq);
    else if (what === "swap") {
      const other = 1 + ((seq + drawBelow(count - 1)) % count);
      for (const [from, end] of [
        [seq, 99],
        [other, seq],
        [99, other],
      ] as const)
        storage.exec(`UPDATE entry SET seq = ? ${at}`, end, from);
      return { seq: Math.min(seq, other), what };
    } else if (what === "at") storage.exec(`UPDATE entry SET at = at + ? ${at}`, 1 + drawBelow(1_000), seq);
    else if (what === "hash" || blobs.includes(what)) {
      const [column, from, place] = what === "hash" ? ["entry", "leaf WHERE idx = ?", row.log_index] : [what, `entry ${at}`, seq];
      const { bytes } = storage.exec<{ bytes: ArrayBuffer }>(`SELECT ${column} AS bytes FROM ${from}`, place).one();
      storage.exec(`UPDATE ${from.replace(" WHERE", ` SET ${column} = ? WHERE`)}`, withOneByteChanged(new Uint8Array(bytes)), place);
    } else {
      const text = new TextDecoder().decode(withOneByteChanged(encodeUtf8(row[what as (typeof texts)[number]])));
      storage.exec(`UPDATE entry SET ${what} = ? ${at}`, text, seq);
    }
    return { seq, what };
  };

  test("reports the first entry changed, deleted or moved in a thousand random changes (T6)", { timeout: 120_000 }, async () => {
    await stub.append(Array.from({ length: count }, (_, at) => buildAuditRow(`e${at}`, chain)));
    await stub.checkpoint(1, formatMinutes(15));
    const missed: string[] = [];
    const counted = new Map<string, number>();
    // The work runs inside the object, so that a change does not need a round trip.
    await runInDurableObject(stub, async (object, { storage }) => {
      const tables = ["entry", "leaf"];
      const saved = tables.map((table) => [...storage.sql.exec(`SELECT * FROM ${table}`).raw()]);
      for (let change = 0; change < 1_000; change += 1) {
        const { seq, what } = tamper(storage.sql);
        counted.set(what, (counted.get(what) ?? 0) + 1);
        const { page, proven } = await fetchChainWithProof(object as unknown as AuditStub, chain);
        const verdict = await verifyChain(shard, page, proven);
        const isNewestGone = what === "delete" && seq === count; // if the newest entry is missing, only the record of heads shows it
        if (isNewestGone ? verdict !== "entries_missing" : !verdict.endsWith(` at ${seq}`)) missed.push(`${what} ${seq}: ${verdict}`);
        for (const [at, table] of tables.entries()) {
          storage.sql.exec(`DELETE FROM ${table}`);
          for (const row of saved[at] ?? []) storage.sql.exec(`INSERT INTO ${table} VALUES (${row.map(() => "?").join(", ")})`, ...row);
        }
      }
    });
    expect(missed).toEqual([]);
    expect([...counted.values()].every((times) => times > 50)).toBe(true);
    const { page, proven } = await fetchChainWithProof(stub, chain);
    expect(await verifyChain(shard, page, proven)).toBe(`ok, complete up to ${count}`);
  });
});

describe("closing an interval", () => {
  const shard = toAuditLog(5);
  const stub = getAuditLogStub(shard);

  test("records the heads once, signs them, and returns the same checkpoint when repeated", async () => {
    await stub.append([buildAuditRow("p1", toChainTag(1)), buildAuditRow("p2", toChainTag(2))]);
    const first = await stub.checkpoint(10, formatMinutes(15));
    expect(first).toMatchObject({ origin: "svc.test/audit/t5", interval: 10, at: formatMinutes(15), size: "3", headsSize: "2" });
    const verdict = await verifyCheckpoint(noteCrypto, first?.note ?? "", await getAuditTrust(shard));
    expect(verdict).toMatchObject({ ok: true, checkpoint: { size: 3n, root: fromHex(first?.root ?? "") } });
    await stub.append([buildAuditRow("p3", toChainTag(1))]);
    expect(await stub.checkpoint(10, formatMinutes(16))).toEqual(first);
    expect(await Promise.all([stub.checkpoint(10, formatMinutes(17)), stub.checkpoint(10, formatMinutes(18))])).toEqual([first, first]);
    expect(await getSize(stub)).toBe(4);
  });

  test("adds nothing for an idle interval, and covers the entries of a skipped one", async () => {
    const busy = await stub.checkpoint(11, formatMinutes(30));
    expect(busy?.size).toBe("5");
    const idle = await stub.checkpoint(13, formatMinutes(60));
    expect(idle).toEqual({ ...busy, interval: 13, at: formatMinutes(60) });
    expect(await getSize(stub)).toBe(5);
    await stub.append([buildAuditRow("p4", toChainTag(3))]);
    expect(await stub.checkpoint(16, formatMinutes(105))).toMatchObject({ size: "7", headsSize: "3" });
  });

  test("adds one record for two concurrent calls", async () => {
    await stub.append([buildAuditRow("p5", toChainTag(3))]);
    const [one, two] = await Promise.all([stub.checkpoint(17, formatMinutes(120)), stub.checkpoint(17, formatMinutes(121))]);
    expect(one).toEqual(two);
    expect(await getSize(stub)).toBe(9);
  });

  test("keeps the first checkpoint signed for the interval", async () => {
    const settled = await stub.checkpoint(17, formatMinutes(120));
    await runSql(stub, (storage) => saveIntervalCheckpoint(storage, 17, 3));
    expect(await stub.checkpoint(17, formatMinutes(122))).toEqual(settled);
  });

  test("commits to the empty trees in a log without entries", async () => {
    const empty = await getAuditLogStub(toAuditLog(6)).checkpoint(1, formatMinutes(0));
    expect(empty).toMatchObject({ size: "0", headsSize: "0", root: empty?.headsRoot });
  });

  test("gets a cosignature from the ledger as long as the log only grows", async () => {
    const call = createLedger();
    const requestCosignature = async (
      oldSize: string,
      checkpoint: { note: string; size: string },
    ): Promise<{ status: number; text: string }> => {
      const proof =
        oldSize === "0" ? [] : (await stub.buildConsistencyProof(oldSize, checkpoint.size)).map((hash) => fromBase64(hash) as Uint8Array);
      return call("add-checkpoint", {
        method: "POST",
        body: formatAddCheckpointRequest({ oldSize: BigInt(oldSize), proof, checkpoint: checkpoint.note }),
      });
    };
    const first = await stub.checkpoint(10, formatMinutes(15));
    const last = await stub.checkpoint(17, formatMinutes(120));
    if (first === null || last === null) throw new Error("frozen");
    expect((await requestCosignature("0", first)).status).toBe(200);
    expect((await requestCosignature(first.size, last)).status).toBe(200);
    expect(await requestCosignature("0", first)).toMatchObject({ status: 409, text: `${last.size}\n` });
  });
});

describe("the trail of selected entries", () => {
  const shard = toAuditLog(10);
  const stub = getAuditLogStub(shard);
  const [first, second] = [toChainTag(0x51), toChainTag(0x52)];
  const countRecords = (): Promise<number> =>
    runSql(stub, (storage) => storage.exec<{ n: number }>("SELECT COUNT(*) AS n FROM heads_record").one().n);

  test("records the heads once for a chain that was never recorded, and returns the same trail again", async () => {
    await stub.append([buildAuditRow("t1", first), buildAuditRow("t2", first)]);
    const [trail, same] = await Promise.all([stub.getTrail(first, ["t1"]), stub.getTrail(first, ["t1"])]);
    expect(trail?.heads?.leaf).toContain('"seq":"2"');
    expect(same).toEqual(trail);
    await stub.append([buildAuditRow("t3", first)]);
    expect((await stub.getTrail(first, ["t1"]))?.heads).toEqual(trail?.heads);
    expect(await countRecords()).toBe(1);
    expect(await getSize(stub)).toBe(4); // counts three entries and the record of heads

    // The record does not contain a chain that was added later, so that chain needs a second record. A request for an entry that does not
    // exist creates no record.
    await stub.append([buildAuditRow("u1", second)]);
    expect(await stub.getTrail(toChainTag(0x53), ["u1"])).toBeNull();
    expect(await stub.getTrail(second, ["t1"])).toBeNull();
    expect(await countRecords()).toBe(1);
    expect((await stub.getTrail(second, ["u1"]))?.heads?.leaf).toContain('"seq":"1"');
    expect(await countRecords()).toBe(2);
  });

  test("leaves intervals unchanged: each closes once over everything recorded so far", async () => {
    const before = await getSize(stub);
    const closed = await stub.checkpoint(20, formatMinutes(15));
    expect(closed).toMatchObject({ at: formatMinutes(15), size: String(before), headsSize: "2" }); // nothing was added after the record
    for (const chain of [first, second]) {
      const { page, proven } = await fetchChainWithProof(stub, chain);
      expect(await verifyChain(shard, page, proven)).toBe(`ok, complete up to ${page.head.seq}`);
    }
    await stub.append([buildAuditRow("t4", first)]);
    await stub.getTrail(first, ["t4"]);
    expect(await countRecords()).toBe(2);
    expect(await stub.checkpoint(21, formatMinutes(30))).toMatchObject({ size: String(before + 2) });
  });

  test("records no heads while the log is frozen", async () => {
    await stub.append([buildAuditRow("v1", toChainTag(0x54))]);
    await stub.proveEntries(toChainTag(0x54), [1]); // the checkpoint is signed before the log freezes
    await stub.checkHighwater("99", "00".repeat(32));
    const trail = await stub.getTrail(toChainTag(0x54), ["v1"]);
    expect(trail?.proofs).toHaveLength(1);
    expect(trail?.heads).toBeNull();
    expect(await countRecords()).toBe(3);
  });
});

describe("the public endpoints of an audit log", () => {
  test("serve checkpoint, tiles, entries and proofs without authentication", async () => {
    const stub = getAuditLogStub(toAuditLog(7));
    await stub.append(Array.from({ length: 300 }, (_, at) => buildAuditRow(`public ${at}`, toChainTag(at % 5))));
    const read = async (path: string, init?: RequestInit): Promise<Response> =>
      (await stub.fetch(`http://svc/audit/t7/${path}`, init as never)) as unknown as Response;
    const note = await (await read("checkpoint")).text();
    expect(parseCheckpoint(note)).toMatchObject({ origin: "svc.test/audit/t7", size: 300n });
    const tile = await read("tile/0/001.p/44");
    expect((await tile.arrayBuffer()).byteLength).toBe(44 * 32);
    expect(tile.headers.get("access-control-allow-origin")).toBe("*");
    const bundle = await read("tile/entries/000");
    expect(bundle.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    const entries = parseEntryBundle(new Uint8Array(await bundle.arrayBuffer()));
    expect(entries?.every((entry) => entry.length === 32)).toBe(true);
    const proof = await (await read("proof?index=299")).text();
    const last = ((await stub.getChainPage(toChainTag(4), { limit: 1 })) as ChainPage).head.hash;
    expect((await verifyTlogProof(noteCrypto, proof, fromHex(last) as Uint8Array, await getAuditTrust(toAuditLog(7)))).ok).toBe(true);
    expect((await read("add", { method: "POST", body: "x" })).status).toBe(405);
    expect((await read("tile/0/002")).status).toBe(404);
    expect(((await stub.fetch("http://svc/audit/8/checkpoint")) as unknown as Response).status).toBe(404);
  });
});

describe("an audit log that was reset to an earlier state", () => {
  test("appends, closes and proves nothing", async () => {
    const stub = getAuditLogStub(toAuditLog(8));
    await stub.append([buildAuditRow("s1", toChainTag(1))]);
    expect(await stub.checkHighwater("2", "00".repeat(32))).toBe(false);
    expect(await stub.append([buildAuditRow("s2", toChainTag(1))])).toBeNull();
    expect(await stub.checkpoint(1, formatMinutes(0))).toBeNull();
    expect(await stub.proveChainHead(toChainTag(1))).toBeNull();
    expect(await stub.drainNow()).toBeNull();
    expect(((await stub.getChainPage(toChainTag(1), { limit: 5 })) as ChainPage).head.seq).toBe("1");
    expect((await stub.getState()).frozen).toBe("the log had 2 entries and has 1");
  });
});
