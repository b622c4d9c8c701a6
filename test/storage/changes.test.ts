// Compares the change log with a model: random sequences in which readers die, lag, repeat or refuse changes, and in which the database is
// set back. Afterward, each reader must have processed every change that the database contains.
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { getAuditReader, readAuditEntries, saveAuditPosition } from "../../storage/audit-entries.ts";
import { deleteExceptions, deletePassedChanges, listDueExceptions } from "../../storage/changes.ts";
import { openDatabase } from "../../storage/database.ts";
import { appendAuditedChanges } from "../support/changes.ts";

const histories = 15;
const steps = 60;
const db = openDatabase(env.DB);
const logs = [0, 1, 2];
const tables = ["changes", "audit_entries", "change_readers", "change_exceptions", "audit_batches"];

/** A small generator, so that a failure can be repeated with its seed. */
const createRandom = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};

type Row = Record<string, string | number | null>;

const readTables = async (names: readonly string[]): Promise<ReadonlyMap<string, readonly Row[]>> =>
  new Map(
    await Promise.all(names.map(async (name) => [name, (await env.DB.prepare(`SELECT * FROM ${name}`).all<Row>()).results] as const)),
  );

const writeTables = async (contents: ReadonlyMap<string, readonly Row[]>): Promise<void> => {
  for (const [name, rows] of contents)
    await env.DB.batch([
      env.DB.prepare(`DELETE FROM ${name}`),
      ...rows.map((row) =>
        env.DB.prepare(`INSERT INTO ${name} (${Object.keys(row).join(", ")}) VALUES (${Object.keys(row).fill("?")})`).bind(
          ...Object.values(row),
        ),
      ),
    ]);
};

/** A reader that keeps what it has processed outside of the database, as an audit log does. */
class ModelReader {
  readonly auditLog: number;
  /** Every change once, in the order in which it was processed. */
  readonly processed: string[] = [];
  constructor(auditLog: number) {
    this.auditLog = auditLog;
  }
  process(ids: readonly string[]): void {
    for (const id of ids) if (!this.processed.includes(id)) this.processed.push(id);
  }
  /** Reads one page. A reader that dies processes it and does not store its position. */
  async read(max: number, dies: boolean, refuses: (id: string) => boolean): Promise<boolean> {
    const { entries, position, hasMore } = await readAuditEntries(db, this.auditLog, max);
    const refused = entries.filter(({ id }) => refuses(id));
    this.process(entries.filter((entry) => !refused.includes(entry)).map(({ id }) => id));
    if (dies || position === null) return false;
    await saveAuditPosition(
      db,
      this.auditLog,
      position,
      refused.map(({ ord }) => ord),
      0,
    );
    return hasMore;
  }
  async retryRefused(): Promise<void> {
    const reader = getAuditReader(this.auditLog);
    const ords = await listDueExceptions(db, reader, Number.MAX_SAFE_INTEGER, 1_000);
    const { results } = await env.DB.prepare(
      "SELECT id FROM audit_entries WHERE audit_log = ? AND ord IN (SELECT value FROM json_each(?)) ORDER BY ord",
    )
      .bind(this.auditLog, JSON.stringify(ords))
      .all<{ id: string }>();
    this.process(results.map(({ id }) => id));
    await deleteExceptions(db, reader, ords).run();
  }
}

test.each(Array.from({ length: histories }, (_, seed) => ({ seed })))(
  "every reader processes every change (history $seed)",
  async ({ seed }) => {
    const random = createRandom(seed);
    await writeTables(new Map(tables.map((name) => [name, []])));
    const readers = logs.map((auditLog) => new ModelReader(auditLog));
    const pick = (): ModelReader => readers[random(readers.length)] as ModelReader;
    let committed = 0;
    let numbers = new Map<number, string>(); // which change had a number, since the database was last set back
    let backup = await readTables(tables);
    const refusedIds = new Set<string>();
    const refuses = (id: string): boolean => refusedIds.has(id);

    for (let step = 0; step < steps; step += 1) {
      const action = random(12);
      if (action < 5) {
        const ids = Array.from({ length: 1 + random(4) }, () => {
          committed += 1;
          const id = `${seed}-${committed}`;
          if (random(15) === 0) refusedIds.add(id);
          return id;
        });
        await appendAuditedChanges(env.DB, ids, random(logs.length), "c".repeat(32));
        for (const row of (await readTables(["changes"])).get("changes") ?? []) {
          expect(numbers.get(row.ord as number) ?? row.id).toBe(row.id); // no number is used twice
          numbers.set(row.ord as number, row.id as string);
        }
      } else if (action < 9) await pick().read(1 + random(5), random(3) === 0, refuses);
      else if (action < 10) await deletePassedChanges(db, logs.map(getAuditReader), 1 + random(10)).run();
      else if (action < 11) backup = await readTables(tables);
      else {
        // Either everything is set back, or everything except what the readers have stored.
        const restored = random(2) === 0 ? tables : tables.filter((name) => !name.startsWith("change_"));
        await writeTables(new Map([...backup].filter(([name]) => restored.includes(name))));
        numbers = new Map();
      }
    }

    for (const reader of readers) {
      while (await reader.read(10, false, () => false));
      await reader.retryRefused();
    }
    const { results } = await env.DB.prepare("SELECT ord, id, audit_log FROM audit_entries ORDER BY ord").all<Row>();
    for (const { auditLog, processed } of readers) {
      const expected = results.filter((row) => row.audit_log === auditLog).map(({ id }) => id as string);
      expect(expected.filter((id) => !processed.includes(id))).toEqual([]);
      const inOrder = expected.filter((id) => !refuses(id));
      expect(processed.filter((id) => inOrder.includes(id))).toEqual(inOrder);
    }
    // Nothing is kept that every reader has passed, except the newest change.
    await deletePassedChanges(db, logs.map(getAuditReader), 1_000).run();
    const left = (await readTables(["changes"])).get("changes") ?? [];
    expect(left.map(({ ord }) => ord)).toEqual(committed === 0 ? [] : [left[0]?.ord]);
  },
);
