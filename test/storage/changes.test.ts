// Compares the change log with a model in random sequences: readers die, lag, repeat or refuse changes, and the database is reset to an
// earlier state, sometimes while a reader works. Afterward, each reader must have processed every change that the database contains.
import type { ShardId } from "../../core/ids.ts";
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAuditReader, hasUnrecordedEntry, slowestAuditOffset, type PendingAuditEntry } from "../../storage/audit-entries.ts";
import { runReader, type ChangeReader } from "../../storage/change-reader.ts";
import { deletePassedChanges, type ChangePosition } from "../../storage/changes.ts";
import { dayMs } from "../../core/time.ts";
import { openDatabase } from "../../storage/database.ts";
import { createEventReader, isUnplacedEvent, listEventsToPlace } from "../../storage/public-events.ts";
import { appendAuditedChanges, appendChangesOfRecords } from "../support/changes.ts";

const histories = 15;
const steps = 60;
const db = openDatabase(env.DB);
const logs = ["00", "01", "02"] as ShardId[];
const sequenceNames = ["biz_a", "biz_a~sandbox", "biz_b"];
const tables = ["changes", "audit_entries", "kept_records", "change_readers", "change_exceptions", "audit_batches"];

// These records contain all data of their audit entries, as live certificates do. The entries themselves are stored only in their changes.
beforeAll(() => env.DB.exec("CREATE TABLE kept_records (ord INTEGER PRIMARY KEY, id TEXT NOT NULL, audit_log TEXT NOT NULL)"));
afterAll(() => env.DB.exec("DROP TABLE kept_records"));

/** A small random generator, so that a failure can be repeated with its seed. */
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

/** How one run of a reader behaves. */
interface Run {
  readonly maxPerPage: number;
  /** True if the process dies after the work and before it stores the position. */
  readonly dies: boolean;
  /** Called after the work and before the position is stored. */
  readonly beforePosition: () => Promise<void>;
  readonly fails: (subject: string) => boolean;
}

/** A target outside the database. Like an audit log or an event sequence, it ignores a change that it has already processed. */
class Target {
  readonly processed: string[] = [];
  process(ids: readonly string[]): void {
    for (const id of ids) if (!this.processed.includes(id)) this.processed.push(id);
  }
}

let now = 0;

const runOnce = async <Work extends { readonly ord: number; readonly id: string }>(
  reader: ChangeReader<Work>,
  { maxPerPage, dies, beforePosition }: Run,
): Promise<void> => {
  const process = async (work: readonly Work[]): Promise<ReadonlySet<string> | null> => {
    const failed = await reader.process(work);
    if (dies) throw new Error("the process died");
    await beforePosition();
    return failed;
  };
  now += dayMs; // makes everything that was set aside due again
  const run = runReader(db, { ...reader, maxPerPage, process }, { clock: () => now, canContinue: () => true });
  await run.catch((error: Error) => expect(error.message).toBe("the process died"));
};

const createModelAuditLog = (auditLog: ShardId) => {
  const target = new Target();
  const run = (how: Run): Promise<void> => {
    const process = async (entries: readonly PendingAuditEntry[]) => {
      target.process(entries.filter(({ id }) => !how.fails(id)).map(({ id }) => id));
      return new Set(entries.filter(({ id }) => how.fails(id)).map(({ ord }) => String(ord)));
    };
    return runOnce(createAuditReader(auditLog, { maxPerPage: how.maxPerPage, process, clock: () => 0 }), how);
  };
  return { target, run };
};

/**
 * Creates models of event sequences, which read their changes themselves. Each sequence remembers the position of its last change until it
 * is restarted.
 */
const createModelSequences = () => {
  const sequences = new Map(sequenceNames.map((name) => [name, { target: new Target(), last: null as ChangePosition | null }]));
  const drain = async (name: string): Promise<void> => {
    const sequence = sequences.get(name)!;
    for (;;) {
      const events = await listEventsToPlace(db, name, sequence.last, 3);
      if (events.length === 0) return;
      sequence.target.process(events.map(({ id }) => id));
      sequence.last = events.at(-1)!;
    }
  };
  const run = (how: Run): Promise<void> =>
    runOnce(
      createEventReader(async (names) => {
        for (const name of names) if (!how.fails(name)) await drain(name);
        return new Set(names.filter(how.fails));
      }),
      how,
    );
  const restart = (name: string): void => {
    sequences.get(name)!.last = null;
  };
  return { sequences, run, drain, restart };
};

test.each(Array.from({ length: histories }, (_, seed) => ({ seed })))(
  "every reader processes every change (history $seed)",
  async ({ seed }) => {
    const random = createRandom(seed);
    await writeTables(new Map(tables.map((name) => [name, []])));
    const auditLogs = logs.map(createModelAuditLog);
    const events = createModelSequences();
    const sequenceOf = new Map<string, string | null>();
    let committed = 0;
    let numbers = new Map<number, string>(); // the IDs of the changes by number, since the database was last reset
    let backup = await readTables(tables);
    const refusedIds = new Set<string>();
    const isRefused = (id: string): boolean => refusedIds.has(id);
    const pickSequence = (): string => sequenceNames[random(sequenceNames.length)] as string;
    const resetDatabase = async (): Promise<void> => {
      await writeTables(backup);
      numbers = new Map();
    };
    const runRandomReader = (beforePosition: () => Promise<void>): Promise<void> => {
      const how = { maxPerPage: 1 + random(5), dies: random(3) === 0, beforePosition };
      const [reader, down] = [random(5), random(2) === 0 ? pickSequence() : null];
      return reader < logs.length
        ? (auditLogs[reader] as (typeof auditLogs)[number]).run({ ...how, fails: isRefused })
        : events.run({ ...how, fails: (name) => name === down });
    };

    for (let step = 0; step < steps; step += 1) {
      const action = random(12);
      if (action < 5) {
        const ids = Array.from({ length: 1 + random(4) }, () => {
          committed += 1;
          const id = `${seed}-${committed}`;
          if (random(15) === 0) refusedIds.add(id);
          return id;
        });
        const sequence = random(3) === 0 ? null : pickSequence();
        for (const id of ids) sequenceOf.set(id, sequence);
        const append = random(3) === 0 ? appendChangesOfRecords : appendAuditedChanges;
        await append(env.DB, ids, logs[random(logs.length)] as ShardId, "c".repeat(32), sequence);
        for (const row of (await readTables(["changes"])).get("changes") ?? []) {
          expect(numbers.get(row.ord as number) ?? row.id).toBe(row.id); // no number is used twice
          numbers.set(row.ord as number, row.id as string);
        }
      } else if (action < 8) await runRandomReader(async () => {});
      else if (action < 9) await events.drain(pickSequence());
      else if (action < 10) {
        events.restart(pickSequence());
        await deletePassedChanges(db, [slowestAuditOffset(logs)], [isUnplacedEvent, hasUnrecordedEntry], 1 + random(10)).run();
      } else if (action < 11) backup = await readTables(tables);
      else if (random(2) === 0) await resetDatabase();
      else await runRandomReader(resetDatabase);
    }

    // From here on, nothing fails. The second run processes what the first one set aside.
    const working = { maxPerPage: 10, dies: false, fails: () => false, beforePosition: async () => {} };
    for (const { run } of [...auditLogs, events]) for (let runs = 0; runs < 2; runs += 1) await run(working);
    const { results } = await env.DB.prepare(
      "SELECT ord, id, audit_log FROM audit_entries UNION ALL SELECT ord, id, audit_log FROM kept_records ORDER BY ord",
    ).all<Row>();
    const expectProcessed = ({ processed }: Target, expected: readonly string[], isDelayed: (id: string) => boolean): void => {
      expect(expected.filter((id) => !processed.includes(id))).toEqual([]);
      const inOrder = expected.filter((id) => !isDelayed(id));
      expect(processed.filter((id) => inOrder.includes(id))).toEqual(inOrder);
    };
    const listIds = (rows: readonly Row[]): string[] => rows.map(({ id }) => id as string);
    for (const [auditLog, { target }] of auditLogs.entries())
      expectProcessed(target, listIds(results.filter((row) => row.audit_log === logs[auditLog])), isRefused);
    for (const [name, { target }] of events.sequences)
      expectProcessed(
        target,
        listIds(results).filter((id) => sequenceOf.get(id) === name),
        () => false,
      );
    // The cleanup deletes every change that all readers have processed, except the newest one.
    await deletePassedChanges(db, [slowestAuditOffset(logs)], [isUnplacedEvent, hasUnrecordedEntry], 1_000).run();
    const left = (await readTables(["changes"])).get("changes") ?? [];
    expect(left.map(({ ord }) => ord)).toEqual(committed === 0 ? [] : [left[0]?.ord]);
  },
);
