// Tests how many bytes an entry takes in the Durable Objects of a shard's logs, because the logs must stay far below the 10 GB that one
// object can store. A ledger takes much less if its old entries are in R2.
import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { encodeUtf8 } from "../../core/bytes.ts";
import { sha256Hex } from "../../core/hash.ts";
import { computeEntryKey, formatAnchorStatement } from "../../core/ledger/statement.ts";
import { appendRows } from "../../durable-objects/audit-log/tables.ts";
import { appendLeaves, findNewestCheckpoint, saveCheckpoint } from "../../durable-objects/transparency-log/tables.ts";
import { buildAuditRow, getAuditLogStub, toAuditLog, toChainTag } from "../support/audit.ts";
import { addEntries, createLedgerObject, waitForCheckpoint } from "../support/ledger.ts";
import { createTiledLedger } from "../support/tiled-ledger.ts";

const entries = 6_400;
const perBatch = 64;
/**
 * The number of certificates that fill 70% of a shard (7 GB at 1.4 kB each). From then on, new certificates go to another shard with room.
 */
const certificatesAtSwitch = 5_000_000;
const maxBytes = 2_000_000_000;

/** Appends batches with `append` and returns the average number of bytes per entry. */
const measure = (sql: SqlStorage, append: (from: number, count: number) => void): number => {
  append(0, perBatch);
  const before = sql.databaseSize;
  for (let from = perBatch; from < entries + perBatch; from += perBatch) append(from, perBatch);
  return (sql.databaseSize - before) / entries;
};

const toId = (number: number): string => sha256Hex(`record ${number}`).slice(0, 24);
const buildStatement = (number: number): Uint8Array<ArrayBuffer> =>
  encodeUtf8(
    formatAnchorStatement({
      event: "certificate.issued",
      entityId: `cc_00${toId(number)}`,
      fingerprint: sha256Hex(`fingerprint ${number}`),
      originDomain: "www.example.com",
      at: 1_772_600_767_089 + number,
    }),
  );
const listRange = (from: number, count: number): number[] => Array.from({ length: count }, (_, offset) => from + offset);

test("the audit log and the ledger of a shard that is 70% full each stay below 2 GB", async () => {
  const audit = await runInDurableObject(getAuditLogStub(toAuditLog(30)), (_, { storage }) =>
    measure(storage.sql, (from, count) => {
      const rows = listRange(from, count).map((number) =>
        buildAuditRow(crypto.randomUUID(), toChainTag(number % 50), {
          changeOrd: number,
          type: "certificate.issued",
          entityType: "certificate",
          entityId: `cc_00${toId(number)}`,
          payloadHash: sha256Hex(`payload ${number}`),
        }),
      );
      storage.transactionSync(() => appendRows(storage.sql, rows));
    }),
  );
  const ledger = await runInDurableObject(createLedgerObject(), (_, { storage }) =>
    measure(storage.sql, (from, count) => {
      const leaves = listRange(from, count).map((number) => {
        const entry = buildStatement(number);
        return { dedupeKey: computeEntryKey(entry), entry };
      });
      storage.transactionSync(() => appendLeaves(storage.sql, leaves));
    }),
  );
  console.log(`audit log ${audit.toFixed(0)} B, ledger ${ledger.toFixed(0)} B an entry`);
  for (const bytes of [audit, ledger]) expect(bytes * certificatesAtSwitch).toBeLessThan(maxBytes);
});

test("2 GB can hold 45 million entries of a ledger whose old entries are in R2", async () => {
  const ledger = createTiledLedger({ DEV_KEPT_TILES: "2" });
  const getBytes = () => ledger.withObject((_, { sql }) => sql.databaseSize);
  const perRound = 5_120;
  const grow = async (from: number): Promise<void> => {
    for (let at = from; at < from + perRound; at += perBatch) await addEntries(ledger.call, listRange(at, perBatch).map(buildStatement));
    await waitForCheckpoint(ledger.call, from + perRound);
    await ledger.runAlarm();
  };
  await grow(0);
  const before = await getBytes();
  for (let round = 1; round <= 4; round += 1) await grow(round * perRound);
  const bytes = ((await getBytes()) - before) / (4 * perRound);

  const checkpoints = 2_000;
  const checkpointBytes = await ledger.withObject((_, { sql }) => {
    const newest = findNewestCheckpoint(sql);
    if (newest === null) throw new Error("nothing was signed");
    const start = sql.databaseSize;
    for (const size of listRange(newest.size + 1, checkpoints)) saveCheckpoint(sql, { ...newest, size });
    return (sql.databaseSize - start) / checkpoints;
  });
  console.log(`ledger with tiles in R2 ${bytes.toFixed(1)} B an entry, and ${checkpointBytes.toFixed(0)} B a checkpoint`);
  expect((bytes + checkpointBytes / perBatch) * 45_000_000).toBeLessThan(maxBytes);
});
