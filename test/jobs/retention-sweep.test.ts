// Tests that personal data is erased when its retention period ends, regardless of how much is due, and that the job logs its progress.
import { firstShard } from "../../core/ids.ts";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { dayMs, hourMs } from "../../core/time.ts";
import { countNewCertificates } from "../../storage/certificate-counters.ts";
import { openDatabase } from "../../storage/database.ts";
import { openShards } from "../../storage/shards.ts";
import { eraseExpired } from "../../workers/background/retention-sweep.ts";
import { jobAllowance } from "../../workers/background/schedule.ts";
import type { ProgressLine } from "../../workers/log.ts";
import { withBudget } from "../../workers/operations/work-budget.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { issueToNewPerson, buildJsonPost, withdrawCertificate } from "../support/withdrawal.ts";
import { call, getWithKey, issueCertificate, world } from "../support/world.ts";

const base = await getPlatform(env);
const now = Date.now();
let progress: ProgressLine[] = [];
let faults: string[] = [];
beforeEach(() => {
  progress = [];
  faults = [];
});

const createPlatformAt = (clock: () => number): Platform => ({
  ...base,
  clock,
  log: { ...base.log, progress: (line) => void progress.push(line), error: ({ at }) => void faults.push(at) },
});

let template = "";

/**
 * Adds all certificates to the counters, as the cron job does within an hour of their issuance. The sweep finds only counted certificates.
 */
const countCertificates = async (): Promise<void> => {
  while (await countNewCertificates(openDatabase(env.DB), Date.now() + 2 * hourMs));
};

/** Copies the template certificate `count` times. The copies' retention periods end one millisecond apart, before `until`. */
const seedDue = async (prefix: string, count: number, until: number): Promise<void> => {
  await env.DB.prepare(
    `INSERT INTO certificates (id, business_id, environment, status, form_id, purpose_id, group_id, issued_at, fingerprint, subject_hash,
       subject_masked, person_sealed, email_indexes, evidence_hash, signature, retention_until, change_ord)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
     SELECT ?1 || i, business_id, environment, status, form_id, purpose_id, group_id, issued_at, fingerprint, subject_hash,
       subject_masked, person_sealed, json_array(?1 || i), evidence_hash, signature, ?3 - i, change_ord
     FROM certificates, n WHERE id = ?4`,
  )
    .bind(prefix, count, until, template)
    .run();
  await countCertificates();
};

const seedViews = (certId: string, count: number): Promise<unknown> =>
  env.DB.batch([
    env.DB.prepare(
      `INSERT INTO certificate_views (cert_id, at, viewer_sealed, bot)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2) SELECT ?1, i, 's', 0 FROM n`,
    ).bind(certId, count),
    env.DB.prepare("UPDATE certificates SET view_rows = ?2, view_count = ?2 WHERE id = ?1").bind(certId, count),
  ]);

const queryNumber = async (sql: string, ...values: unknown[]): Promise<number> =>
  (
    await env.DB.prepare(sql)
      .bind(...values)
      .first<{ n: number }>()
  )?.n ?? -1;
const countKept = (prefix: string): Promise<number> =>
  queryNumber("SELECT COUNT(*) AS n FROM certificates WHERE id GLOB ? AND person_sealed IS NOT NULL", `${prefix}*`);
const readErasedAt = async (certId: string): Promise<string | null> =>
  (await getWithKey(`/v1/certs/${certId}/verify`)).body.data.subject_erased_at;

const endRetention = async (certId: string): Promise<void> => {
  await countCertificates();
  await env.DB.prepare("UPDATE certificates SET retention_until = ?2 WHERE id = ?1").bind(certId, now).run();
};

describe("a certificate whose retention has ended", () => {
  test("is erased by the service as an owner would erase it", async () => {
    const { certId } = await issueToNewPerson();
    await endRetention(certId);
    await eraseExpired(createPlatformAt(() => now));
    expect(await readErasedAt(certId)).toBe(new Date(now).toISOString());
    await base.auditLogStub(firstShard).drainNow();
    const bundle = (await getWithKey(`/v1/certs/${certId}/evidence-pack`, world.acme.keys.live)).body.data;
    const entry = bundle.audit.entries.find(({ type }: { type: string }) => type === "certificate.subject_erased");
    expect(entry.payload).toEqual({ actor: "service", fingerprint: bundle.fingerprint, reason: "retention_ended" });
  });

  test("keeps its personal data until the recipients' deadline after a withdrawal has passed", async () => {
    const issued = await issueToNewPerson();
    await withdrawCertificate(issued);
    const ceaseBy = Date.parse((await getWithKey(`/v1/certs/${issued.certId}/verify`)).body.data.cease_by);
    const ending = createPlatformAt(() => ceaseBy - 1);
    await endRetention(issued.certId);
    await eraseExpired(ending);
    expect(await readErasedAt(issued.certId)).toBeNull();
    expect(progress).toEqual([]);
    await eraseExpired(createPlatformAt(() => ceaseBy));
    expect(await readErasedAt(issued.certId)).toBe(new Date(ceaseBy).toISOString());
  });

  test("keeps its personal data until the deadline of a single recipient has passed", async () => {
    const issued = await issueToNewPerson();
    await call(`/v1/certs/${issued.certId}/opt-out/manage`, buildJsonPost({ token: issued.manageToken, entities: ["Bright Homes Inc"] }));
    const { entities_withdrawn: acts, status } = (await getWithKey(`/v1/certs/${issued.certId}/verify`)).body.data;
    expect([status, acts.length]).toEqual(["active", 1]);
    const ceaseBy = Date.parse(acts[0].cease_by);
    await endRetention(issued.certId);
    await eraseExpired(createPlatformAt(() => ceaseBy - 1));
    expect(await readErasedAt(issued.certId)).toBeNull();
    await eraseExpired(createPlatformAt(() => ceaseBy));
    expect(await readErasedAt(issued.certId)).toBe(new Date(ceaseBy).toISOString());
  });

  test("keeps its personal data while a withdrawal of everything is still being processed", async () => {
    const [first, second] = [await issueToNewPerson(), await issueToNewPerson()];
    await withdrawCertificate(first);
    const index = await env.DB.prepare("SELECT email_indexes ->> 0 AS email FROM certificates WHERE id = ?")
      .bind(second.certId)
      .first<string>("email");
    await endRetention(second.certId);
    await env.DB.prepare(
      "INSERT INTO withdrawal_work (cert_id, business_id, environment, address_indexes, withdrawn_at, method, next_at) VALUES (?, ?, 'live', ?, ?, 'email_code', 9e15)",
    )
      .bind(first.certId, world.acme.id, JSON.stringify(["an address of someone else", index]), now)
      .run();
    await eraseExpired(createPlatformAt(() => now));
    expect(await readErasedAt(second.certId)).toBeNull();
    await env.DB.prepare("DELETE FROM withdrawal_work WHERE cert_id = ?").bind(first.certId).run();
    await eraseExpired(createPlatformAt(() => now));
    expect(await readErasedAt(second.certId)).not.toBeNull();
  });

  test.each([
    ["the business", world.acme.id],
    ["every business", ""],
  ])("keeps its personal data while a withdrawal from %s by the person's account is still being processed", async (_, businessId) => {
    const { certId } = await issueToNewPerson();
    await endRetention(certId);
    await env.DB.prepare(
      `INSERT INTO account_withdrawals (address_index, business_id, withdrawn_at, next_at)
       SELECT email_indexes ->> 0, ?, ?, 9e15 FROM certificates WHERE id = ?`,
    )
      .bind(businessId, now, certId)
      .run();
    await eraseExpired(createPlatformAt(() => now));
    expect(await readErasedAt(certId)).toBeNull();
    await env.DB.exec("DELETE FROM account_withdrawals");
    await eraseExpired(createPlatformAt(() => now));
    expect(await readErasedAt(certId)).not.toBeNull();
  });

  test("is erased at the time stated on it, not a millisecond earlier", async () => {
    const { certId } = await issueToNewPerson();
    const until = Date.parse((await getWithKey(`/v1/certs/${certId}`, world.acme.keys.live)).body.data.retention_until);
    await countCertificates();
    await eraseExpired(createPlatformAt(() => until - 1));
    expect(await readErasedAt(certId)).toBeNull();
    await eraseExpired(createPlatformAt(() => until));
    expect(await readErasedAt(certId)).toBe(new Date(until).toISOString());
  });
});

describe("the retention sweep", () => {
  beforeAll(async () => {
    template = (await issueCertificate()).cert_id;
    await waitUntilSettled(); // finishes the follow-up work of issuing first
  });

  test("R7: erases 20,000 due people in two minutes, and no others", async () => {
    await seedDue("due", 20_000, now);
    await seedDue("later", 5, now + dayMs);
    await eraseExpired(
      withBudget(
        createPlatformAt(() => now),
        jobAllowance,
      ),
    );
    const left = await countKept("due");
    await eraseExpired(
      withBudget(
        createPlatformAt(() => now),
        jobAllowance,
      ),
    );
    expect([await countKept("due"), await countKept("later")]).toEqual([0, 5]);
    const entries = "SELECT COUNT(*) AS n FROM audit_entries WHERE entity_id GLOB 'due*' AND type = 'certificate.subject_erased'";
    expect(await queryNumber(entries)).toBe(20_000);
    const remains = `SELECT COUNT(*) AS n FROM certificates WHERE id GLOB 'due*' AND
      (email_indexes IS NOT NULL OR person_sealed IS NOT NULL OR subject_masked <> '{}' OR subject_erased_at <> ?)`;
    expect(await queryNumber(remains, now)).toBe(0);
    expect(progress).toEqual([
      { at: "retention", shard: "00", done: 20_000 - left, left, oldest_due: new Date(now - left).toISOString() },
      { at: "retention", shard: "00", done: left, left: 0, oldest_due: null },
    ]);
    expect(faults).toEqual([]);
  }, 120_000);

  test("stops at its time limit, logs what is left and since when, and continues the next minute", async () => {
    await seedDue("slow", 2_200, now);
    let at = now;
    const advanceClock = (): number => {
      at += 6_000;
      return at;
    };
    // Uses one shard, because the current minute determines which of several shards the job starts with.
    const slow = { ...createPlatformAt(advanceClock), shards: openShards({ DB: env.DB }) };
    await eraseExpired(withBudget(slow, { maxMs: 20_000, maxQueries: 400 }));
    const kept = await countKept("slow");
    expect(kept).toBeGreaterThan(0);
    expect(kept).toBeLessThan(2_200);
    expect(progress).toEqual([
      { at: "retention", shard: "00", done: 2_200 - kept, left: kept, oldest_due: new Date(now - kept).toISOString() },
    ]);
    await eraseExpired(createPlatformAt(() => now));
    expect(await countKept("slow")).toBe(0);
  });

  test("takes smaller batches for certificates with many views", async () => {
    await seedDue("viewed", 4, now);
    for (const nth of [1, 2, 3, 4]) await seedViews(`viewed${nth}`, 9_000);
    await eraseExpired(createPlatformAt(() => now));
    expect(await countKept("viewed")).toBe(0);
    expect(await queryNumber("SELECT COUNT(*) AS n FROM certificate_views WHERE cert_id GLOB 'viewed*'")).toBe(0);
    expect(await queryNumber("SELECT SUM(view_count) AS n FROM certificates WHERE id GLOB 'viewed*'")).toBe(36_000);
    expect(progress.map(({ done }) => done)).toEqual([4]);
  });

  test("reads only the blocks with due certificates", async () => {
    const explain = async (sql: string): Promise<string> => {
      const { results } = await env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`).all<{ detail: string }>();
      return results.map(({ detail }) => detail).join();
    };
    expect(await explain("SELECT first_ord FROM retention_blocks WHERE next_due <= 1 ORDER BY next_due LIMIT 4")).toContain(
      "retention_blocks_due",
    );
    await seedDue("block", 3, now + dayMs);
    await eraseExpired(createPlatformAt(() => now));
    expect(await countKept("block")).toBe(3);
    const next = "SELECT min(next_due) AS n FROM retention_blocks WHERE last_ord >= (SELECT max(ord) FROM certificates)";
    expect(await queryNumber(next)).toBe(now + dayMs - 3);
    await eraseExpired(createPlatformAt(() => now + dayMs));
    expect(await countKept("block")).toBe(0);
  });

  test("logs nothing when none is due", async () => {
    await eraseExpired(createPlatformAt(() => now));
    expect(progress).toEqual([]);
  });

  test("erases each person once when it runs twice at the same time", async () => {
    await seedDue("raced", 1_200, now);
    await Promise.all([eraseExpired(createPlatformAt(() => now)), eraseExpired(createPlatformAt(() => now))]);
    await eraseExpired(createPlatformAt(() => now));
    expect(await countKept("raced")).toBe(0);
    const entries = "SELECT COUNT(*) AS n FROM audit_entries WHERE entity_id GLOB 'raced*' AND type = 'certificate.subject_erased'";
    expect(await queryNumber(entries)).toBe(1_200);
    expect(faults).toEqual([]);
  });

  test("continues in the other shards when one fails", async () => {
    const broken = { ...base.shards, all: () => [["zz" as never, {} as never] as const, ...base.shards.all()] };
    await seedDue("other", 3, now);
    await eraseExpired({ ...createPlatformAt(() => now), shards: broken });
    expect(faults).toEqual(["retention"]);
    expect(await countKept("other")).toBe(0);
  });
});
