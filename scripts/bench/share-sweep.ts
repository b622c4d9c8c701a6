// Measures how the service processes many shares that are due in the same minute, half for a warning and half for expiry. Runs the cron job
// repeatedly until no work is left, then checks that each share was reported exactly once.
import { setTimeout as pause } from "node:timers/promises";
import { getCpuMs, getResidentMiB } from "./runtime-process.ts";
import { insertApiKeys, bearerHeader, startBenchService, type Bench, type Service } from "./measured-service.ts";
import { copyShares, grantOne, createPerson } from "./shares.ts";
import { sha256Hex } from "../../core/hash.ts";
import { dayMs, minuteMs } from "../../core/time.ts";
import { consumerEmailContext } from "../../storage/people-contexts.ts";
import { openVaultFromVars } from "../demo-world.ts";
import type { D1Like } from "../local-databases.ts";

const peopleCount = 1_000;
const maxMs = 30 * minuteMs;
const pollEveryMs = 100;

/** Inserts accounts whose email addresses the service can decrypt. */
const seedPeople = async (db: D1Like, vars: Bench["vars"]): Promise<void> => {
  const vault = await openVaultFromVars(vars);
  const rows = await Promise.all(
    Array.from({ length: peopleCount }, async (_, n) => {
      const id = `con_00${sha256Hex(`bench person ${n}`).slice(0, 24)}`;
      return [id, await vault.seal(consumerEmailContext(id), `person${n}@example.com`), `bench ${n}`, sha256Hex(id).slice(0, 32)];
    }),
  );
  const rowsOf = (select: string) => db.prepare(`${select} FROM json_each(?)`).bind(JSON.stringify(rows));
  await db.prepare("CREATE TABLE bench_people (n INTEGER PRIMARY KEY, id TEXT, chain TEXT)").run();
  await db.batch([
    rowsOf(
      "INSERT INTO consumers (id, email_sealed, email_index, audit_chain, created_at) SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, 0",
    ),
    rowsOf("INSERT INTO bench_people SELECT key, value ->> 0, value ->> 3"),
  ]);
};

/**
 * Creates a trigger that records each warning email when it is written, because the service removes emails from the outbox after sending
 * them.
 */
const countMails = async (db: D1Like): Promise<void> => {
  await db.prepare("CREATE TABLE bench_mails (consumer_id TEXT)").run();
  await db
    .prepare(
      `CREATE TRIGGER bench_mails_counted AFTER INSERT ON mail_outbox WHEN NEW.template = 'share_expiring'
       BEGIN INSERT INTO bench_mails VALUES (NEW.consumer_id); END`,
    )
    .run();
};

const queryNumber = async (db: D1Like, sql: string, ...values: readonly unknown[]): Promise<number> =>
  Object.values(
    (await db
      .prepare(sql)
      .bind(...values)
      .first<Record<string, number>>()) ?? {},
  )[0] ?? 0;

interface SweepTimes {
  readonly began: number;
  /** Milliseconds until a poll first found no share that was due. */
  swept: number | null;
  mailsWritten: number | null;
  /** The longest response time of a poll, in milliseconds. During that time, the service did not respond to other requests either. */
  silent: number;
}

const elapsedMs = ({ began: startedAt }: SweepTimes): number => performance.now() - startedAt;

/** Polls the progress. The query uses an index, so polling is cheap. */
const pollProgress = async (db: D1Like, at: number, times: SweepTimes): Promise<void> => {
  const polledAt = elapsedMs(times);
  const row = await db
    .prepare(
      `SELECT EXISTS (SELECT 1 FROM shares WHERE environment = 'live' AND next_due_at <= ?) AS due, EXISTS (SELECT 1 FROM share_notices) AS notices`,
    )
    .bind(at)
    .first<{ due: number; notices: number }>();
  times.silent = Math.max(times.silent, elapsedMs(times) - polledAt);
  if (row === null || row.due === 1) return;
  times.swept ??= elapsedMs(times);
  if (row.notices === 0) times.mailsWritten ??= elapsedMs(times);
};

/** Runs the cron job back to back until the last email is written or `maxMs` has passed. Returns the number of runs. */
const runUntilDone = async (bench: { db: D1Like; at: number; tick: () => Promise<void> }, times: SweepTimes): Promise<number> => {
  let ticks = 0;
  let isOver = false;
  const polling = async (): Promise<void> => {
    while (!isOver) {
      await pollProgress(bench.db, bench.at, times);
      await pause(pollEveryMs);
    }
  };
  const ticking = async (): Promise<void> => {
    for (; times.mailsWritten === null && elapsedMs(times) < maxMs; ticks += 1) await bench.tick();
    isOver = true;
  };
  await Promise.all([polling(), ticking()]);
  return ticks;
};

interface NotifiedShare {
  readonly type: string;
  readonly share_id: string;
}

/** Reads the whole feed with many keys, so that each key stays far below its limit. */
const readFeed = async (url: string, keys: readonly string[]): Promise<readonly NotifiedShare[]> => {
  const reported: NotifiedShare[] = [];
  for (let cursor = 0, page = 0; ; page += 1) {
    const response = await fetch(`${url}/v1/events?limit=500&cursor=${cursor}`, { headers: bearerHeader(keys, page) });
    const { data } = (await response.json()) as { data: { events: NotifiedShare[]; next_cursor: number } };
    if (data.events.length === 0) return reported;
    reported.push(...data.events);
    cursor = data.next_cursor;
  }
};

const describeReconciliation = (name: string, expected: number, reported: number, different: number): string =>
  `${name.padEnd(16)} ${reported} of ${expected}, ${expected - different} skipped, ${reported - different} duplicated`;

const reconcile = async (service: Service, keys: readonly string[], due: Readonly<Record<"share.expiring" | "share.expired", number>>) => {
  const { db, url } = service;
  const unplaced = `SELECT EXISTS (SELECT 1 FROM changes WHERE sequence IS NOT NULL
    AND ord > COALESCE((SELECT ord FROM change_readers WHERE reader = 'events'), 0))`;
  while ((await queryNumber(db, unplaced)) === 1) await pause(pollEveryMs);
  const reported = await readFeed(url, keys);
  for (const [type, expected] of Object.entries(due)) {
    const entries = await db
      .prepare("SELECT COUNT(*) AS n, COUNT(DISTINCT entity_id || chain) AS different FROM audit_entries WHERE type = ?")
      .bind(type)
      .first<{ n: number; different: number }>();
    const events = reported.filter((event) => event.type === type).map(({ share_id }) => share_id);
    console.log(describeReconciliation(type, expected, events.length, new Set(events).size));
    console.log(describeReconciliation("  entries", expected * 2, entries?.n ?? 0, entries?.different ?? 0));
  }
  // Compares the number of emails per person with the warnings that were due.
  const off = await db
    .prepare(
      `SELECT COALESCE(SUM(MAX(d.n - COALESCE(m.n, 0), 0)), 0) AS skipped, COALESCE(SUM(MAX(COALESCE(m.n, 0) - d.n, 0)), 0) AS duplicated
       FROM (SELECT consumer_id, COUNT(*) AS n FROM shares WHERE state = 'active' AND next_due_at = expires_at - ? GROUP BY consumer_id) d
       LEFT JOIN (SELECT consumer_id, COUNT(*) AS n FROM bench_mails GROUP BY consumer_id) m ON m.consumer_id = d.consumer_id`,
    )
    .bind(dayMs)
    .first<{ skipped: number; duplicated: number }>();
  const mails = await queryNumber(db, "SELECT COUNT(*) FROM bench_mails");
  console.log(`${"emails".padEnd(16)} ${mails} of ${due["share.expiring"]}, ${off?.skipped} skipped, ${off?.duplicated} duplicated`);
};

const formatSeconds = (ms: number | null): string => (ms === null ? "never" : `${(ms / 1_000).toFixed(1)} s`);

export const measureShareSweep = async (bench: Bench & { readonly due: number }): Promise<void> => {
  const service = await startBenchService(bench, "share-sweep");
  const { db, pid, runtime } = service;
  const first = await grantOne(service, await createPerson(service, 0), bench.world.acme);
  await seedPeople(db, bench.vars);
  const at = Date.now();
  const oneOf = (column: string): string => `(SELECT ${column} FROM bench_people p WHERE p.n = n.i / 2 % ${peopleCount})`;
  await copyShares(db, first, bench.due, {
    created_at: String(at - 30 * dayMs),
    expires_at: `CASE n.i % 2 WHEN 0 THEN ${at + 7 * dayMs} ELSE ${at} END`,
    next_due_at: String(at),
    consumer_id: oneOf("id"),
    consumer_chain: oneOf("chain"),
  });
  await countMails(db);
  const keys = await insertApiKeys(db, bench.world.acme, 200);
  const ends = Math.floor(bench.due / 2);
  const warnings = bench.due - ends;

  const cpu = getCpuMs(pid);
  const times: SweepTimes = { began: performance.now(), swept: null, mailsWritten: null, silent: 0 };
  const ticks = await runUntilDone({ db, at, tick: () => runtime.scheduled("* * * * *") }, times);
  console.log(`share-sweep      ${warnings} warnings and ${ends} expirations due in one minute`);
  console.log(
    `swept after      ${formatSeconds(times.swept)}, the last email written ${formatSeconds(times.mailsWritten)}; ${ticks} runs of the minute's cron`,
  );
  console.log(
    `runtime          ${((getCpuMs(pid) - cpu) / 1_000).toFixed(1)} s of CPU, unresponsive for at most ${formatSeconds(times.silent)}, ${getResidentMiB(pid).toFixed(0)} MiB`,
  );
  await reconcile(service, keys, { "share.expiring": warnings, "share.expired": ends });
  await runtime.dispose();
};
