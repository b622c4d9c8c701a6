// Measures erasing the personal data of many certificates that expire on one day: runs the cron job repeatedly until all are erased.
import { getCpuMs, getResidentMiB } from "./runtime-process.ts";
import { insertCertificates } from "./seed.ts";
import { issueCertificate, startBenchService, type Bench } from "./measured-service.ts";
import { minuteMs } from "../../core/time.ts";

const maxRunMs = 90 * minuteMs;

export const measureRetention = async (bench: Bench & { readonly due: number }): Promise<void> => {
  const { db, pid, runtime, url } = await startBenchService(bench, "retention");
  const { acme } = bench.world;
  await issueCertificate(url, acme, 1_000_001); // create the recipient list that the seeded certificates refer to
  await insertCertificates(db, acme, bench.due, Date.now() - 6 * 365 * 24 * 60 * minuteMs);
  await db.prepare("INSERT OR REPLACE INTO retention_blocks SELECT min(ord), max(ord), 0 FROM certificates GROUP BY ord / 2000").run();
  const countRemaining = async (): Promise<number> =>
    (
      await db
        .prepare("SELECT COUNT(*) AS n FROM certificates WHERE subject_erased_at IS NULL AND retention_until = 0")
        .first<{ n: number }>()
    )?.n ?? 0;
  const cpu = getCpuMs(pid);
  const startedAt = performance.now();
  let minutes = 0;
  let longest = 0;
  for (let left = bench.due; left > 0 && performance.now() - startedAt < maxRunMs; left = await countRemaining()) {
    process.stderr.write(`\r  minute ${minutes}, ${left} left `);
    const at = performance.now();
    await runtime.scheduled("* * * * *");
    longest = Math.max(longest, performance.now() - at);
    minutes += 1;
  }
  process.stderr.write("\r");
  const entries = await db
    .prepare("SELECT COUNT(*) AS n, COUNT(DISTINCT entity_id) AS different FROM audit_entries WHERE type = 'certificate.subject_erased'")
    .first<{ n: number; different: number }>();
  console.log(`retention        ${bench.due} expired certificates, ${await countRemaining()} not erased at the end`);
  console.log(
    `erased in        ${minutes} runs of the minute's cron, ${((performance.now() - startedAt) / 1_000).toFixed(0)} s one after the other, the longest ${(longest / 1_000).toFixed(1)} s`,
  );
  console.log(`entries          ${entries?.n} of ${entries?.different} certificates`);
  console.log(`runtime          ${((getCpuMs(pid) - cpu) / 1_000).toFixed(0)} s of CPU, ${getResidentMiB(pid).toFixed(0)} MiB`);
  await runtime.dispose();
};
