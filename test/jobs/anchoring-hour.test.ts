// Tests an hour at full load while the ledger is unavailable. Statements keep arriving, and the ledger is tried less and less often. When
// the ledger is available again, every statement is anchored exactly once, oldest first. ANCHORS_A_SECOND is the load (npm run stress sets
// 50, which makes 180,000 statements).
import { openShards } from "../../storage/shards.ts";
import { env } from "cloudflare:workers";
import { beforeAll, expect, test } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { listLeaves } from "../../core/ledger/receipt-batch.ts";
import { formatAnchorStatement } from "../../core/ledger/statement.ts";
import { hourMs, minuteMs, secondMs, type Instant } from "../../core/time.ts";
import { runScheduledJobs } from "../../workers/background/schedule.ts";
import { submitAnchors } from "../../workers/background/anchoring.ts";
import { basePlatform, openNamedLedger, createPlatformWith } from "../support/anchoring.ts";
import { deleteStatements } from "../support/statements.ts";
import { createProgressPrinter } from "../support/progress.ts";

const aMinute = Math.round(Number(env.ANCHORS_A_SECOND) * 60);
const { ledger } = basePlatform.config;
/** Uses one shard with one audit log and no attestors, so that four checkpoint intervals produce four statements. */
const only = { shards: openShards({ DB: env.DB }), attestors: [] };

const countRows = async (sql: string): Promise<number> => (await env.DB.prepare(sql).first<number>("n")) ?? 0;
const waitingSql = `SELECT (SELECT COUNT(*) FROM anchors WHERE status <> 'anchored')
  + (SELECT COUNT(*) FROM changes h WHERE h.statement IS NOT NULL AND NOT EXISTS (SELECT 1 FROM anchors a WHERE a.ord = h.ord)
     AND NOT EXISTS (SELECT 1 FROM receipts r WHERE r.ord >= h.ord AND r.first_ord <= h.ord)) AS n`;

const rowsAStatement = 500; // about 200 KB of JSON; D1 allows 2 MB for one value

/** Inserts the changes of `count` certificates. */
const addStatements = async (from: number, count: number, at: Instant): Promise<void> => {
  for (let inserted = 0; inserted < count; inserted += rowsAStatement) {
    const rows = Array.from({ length: Math.min(rowsAStatement, count - inserted) }, (_, one) => {
      const entityId = `cc_00${String(from + inserted + one).padStart(24, "0")}`;
      const fingerprint = sha256Hex(entityId);
      const statement = formatAnchorStatement({ event: "certificate.issued", entityId, fingerprint, originDomain: "www.example.com", at });
      return [`hour-${from + inserted + one}`, entityId, statement];
    });
    await env.DB.prepare(
      `INSERT INTO changes (id, type, entity_type, entity_id, at, ledger_id, statement)
       SELECT value ->> 0, 'certificate.issued', 'certificate', value ->> 1, ?2, ?3, value ->> 2 FROM json_each(?1)`,
    )
      .bind(JSON.stringify(rows), at, ledger.id)
      .run();
  }
};

interface Anchored {
  readonly ord: number;
  readonly place: number;
}

/** Lists every statement that the ledger has, with its leaf index, in commit order. */
const listAnchoredPlaces = async (): Promise<Anchored[]> => {
  const { results } = await env.DB.prepare("SELECT leaves FROM receipts").all<{ leaves: string }>();
  return results
    .flatMap((row) => listLeaves(row))
    .map(({ ord, index }) => ({ ord, place: Number(index) }))
    .sort((a, b) => a.ord - b.ord);
};

beforeAll(async () => {
  await deleteStatements();
});

test("after an hour without the ledger each statement is anchored once, in order, as soon as the ledger is back (O2)", {
  timeout: hourMs,
}, async () => {
  const total = 60 * aMinute;
  const name = crypto.randomUUID();
  const start = Math.ceil(Date.now() / (15 * minuteMs)) * 15 * minuteMs;
  let now = start;
  const requestTimes: Instant[] = [];
  const down = {
    ...createPlatformWith(
      async () => {
        requestTimes.push(now);
        return new Response("down", { status: 500 });
      },
      () => now,
    ),
    ...only,
  };
  const waiting = createProgressPrinter("O2, statements that wait", total);
  for (let minute = 0; minute < 60; minute += 1) {
    await addStatements(minute * aMinute, aMinute, now);
    if (minute % 15 === 0) await runScheduledJobs(down, "*/15 * * * *", now);
    for (let notice = 0; notice < 6; notice += 1) {
      await submitAnchors(down); // acts like a queue message every ten seconds
      now += 10 * secondMs;
    }
    waiting((minute + 1) * aMinute);
  }
  expect(await countRows(waitingSql)).toBe(total + 4); // one checkpoint for each of the four 15-minute intervals
  expect(await countRows("SELECT COUNT(*) AS n FROM receipts")).toBe(0);
  // After five failures, the job sends only one statement at a time to test the ledger, at intervals that grow to 15 minutes.
  const probes = [...new Set(requestTimes)];
  const late = probes.filter((at) => at >= start + 15 * minuteMs);
  expect(late.length).toBeLessThanOrEqual(4);
  for (const [at, probe] of late.slice(1).entries()) expect(probe - (late[at] as Instant)).toBeGreaterThanOrEqual(0.75 * 900 * secondMs);

  // From here on, the ledger is available, the clock runs normally, and the cron job runs every minute.
  const real = openNamedLedger(name);
  const drainBegan = performance.now();
  let minuteBegan = drainBegan;
  const healed = { ...createPlatformWith(real, () => Math.floor(now + performance.now() - minuteBegan)), ...only };
  const drained = createProgressPrinter("O2, statements anchored", total);
  let working = 0;
  for (let left = total + 4, minute = 0; left > 0; minute += 1) {
    expect(minute).toBeLessThan(120);
    minuteBegan = performance.now();
    await submitAnchors(healed);
    const took = performance.now() - minuteBegan;
    const before = left;
    left = await countRows(waitingSql);
    if (left < before) working += took; // counts only minutes in which statements were anchored
    drained(total + 4 - left);
    now += minuteMs;
  }

  const rows = await listAnchoredPlaces();
  expect(rows).toHaveLength(total + 4);
  expect(new Set(rows.map(({ place }) => place)).size).toBe(total + 4);
  // The first statement was the one that tested the ledger. All others follow in commit order, and there are no other entries.
  const others = rows.filter(({ place }) => place > 0).map(({ place }) => place);
  expect(others.filter((place, at) => place !== at + 1)).toEqual([]);
  const note = await (await real(new Request(`https://${ledger.origin}/checkpoint`))).text();
  expect(note.split("\n")[1]).toBe(String(total + 4));
  expect(await countRows("SELECT COUNT(*) AS n FROM anchors WHERE kind = 'checkpoint' AND status = 'anchored'")).toBe(4);
  const rate = Math.round((total + 4) / (working / 1_000));
  console.log(
    `O2: ${total + 4} statements after an hour, asked ${probes.length} times in it (${late.length} after the first quarter), anchored at ${rate}/s`,
  );
});
