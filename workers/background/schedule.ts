// The jobs for each cron trigger. A job processes whatever is due. Therefore, a missed trigger only delays work, and a duplicate trigger
// finds nothing to do. If a job fails, the others still run.
import { firstShard, type ShardId } from "../../core/ids.ts";
import { secondMs, type Instant } from "../../core/time.ts";
import { runIsolated } from "../log.ts";
import { withBudget, type WorkBudget } from "../operations/work-budget.ts";
import type { Platform } from "../platform/platform.ts";
import { retryParkedAnchors } from "./parked-anchors.ts";
import { submitAnchors } from "./anchoring.ts";
import { attestDue } from "./attestations.ts";
import { checkpointAuditLogs } from "./audit-checkpoints.ts";
import { requestAuditDrains } from "./audit-drain-requests.ts";
import { countCertificates } from "./certificate-counting.ts";
import { deletePassed } from "./change-log-cleanup.ts";
import { sendConnectionExpiryNotices } from "./connection-expiry-notices.ts";
import { checkDomains } from "./domain-checks.ts";
import { sweepEvents } from "./event-sweep.ts";
import { deleteExpired } from "./expiry-sweep.ts";
import { checkpointLedgers } from "./ledger-checkpoint.ts";
import { relayMail } from "./mail-relay.ts";
import { endExpiredHolds } from "./expired-holds.ts";
import { sendOperatorAlerts } from "./operator-alerts.ts";
import { relayOutbox } from "./outbox-relay.ts";
import { eraseExpired } from "./retention-sweep.ts";
import { deleteExpiredTestRecords } from "./sandbox-sweep.ts";
import { measureShards } from "./shard-sizes.ts";
import { settleShares } from "./share-settling.ts";
import { sweepDueShares } from "./share-sweep.ts";
import { endSubscriptions } from "./subscription-ends.ts";
import { suspendUnpaid } from "./unpaid-sweep.ts";

/** `at` is the scheduled time. It determines the checkpoint interval even if the job runs late. */
type Job = (platform: Platform, at: Instant) => Promise<void>;
type Jobs = Readonly<Record<string, Job>>;

export const everyMinute = "* * * * *";
const everyQuarterHour = "*/15 * * * *";

/** Wraps a job for the whole deployment. Each trigger runs the job only once, in the invocation for the first shard. */
const onlyOnce =
  (job: Job): Job =>
  async (platform, at) => {
    if (platform.jobShard === null || platform.jobShard === firstShard) await job(platform, at);
  };

/**
 * These jobs run concurrently, so that a slow ledger, attestor, email provider or policy host does not delay the other jobs. The name of
 * each job is its file name.
 */
const minuteJobs: Jobs = {
  "audit-drain-requests": requestAuditDrains,
  "change-log-cleanup": deletePassed,
  "certificate-counting": countCertificates,
  "expiry-sweep": deleteExpired,
  "retention-sweep": eraseExpired,
  "sandbox-sweep": deleteExpiredTestRecords,
  "unpaid-sweep": suspendUnpaid,
  "subscription-ends": endSubscriptions,
  "outbox-relay": relayOutbox,
  anchoring: submitAnchors,
  "mail-relay": relayMail,
  "event-sweep": sweepEvents,
  "share-sweep": sweepDueShares,
  "share-settling": settleShares,
  attestations: onlyOnce(attestDue),
  "domain-checks": checkDomains,
  "connection-expiry-notices": sendConnectionExpiryNotices,
  "expired-holds": endExpiredHolds,
};

/** These jobs run in this order, so that attestations cover the checkpoints that were just made. */
const quarterJobs: Jobs = {
  "parked-anchors": retryParkedAnchors,
  "audit-checkpoints": checkpointAuditLogs,
  "ledger-checkpoint": onlyOnce(checkpointLedgers),
  attestations: onlyOnce(attestDue),
  "shard-sizes": measureShards,
  "operator-alerts": onlyOnce(sendOperatorAlerts),
};

export const jobNames: readonly string[] = [...new Set([...Object.keys(minuteJobs), ...Object.keys(quarterJobs)])];

// An invocation may make 1,000 queries. The jobs share 800 of them. The rest is for steps that are still running when the budget is used
// up. One job may use at most half of the 800, so that its backlog does not delay the others. All jobs end before the next minute.
const allJobsAllowance: WorkBudget = { maxMs: 40 * secondMs, maxQueries: 800 };
export const jobAllowance: WorkBudget = { ...allJobsAllowance, maxQueries: allJobsAllowance.maxQueries / 2 };

/** Runs a job. If the job throws, logs its name. The next trigger runs the job again. */
const runJob = (platform: Platform, at: Instant, [name, job]: readonly [string, Job]) =>
  runIsolated(platform, `job ${name}`, () => platform.trace(`job ${name}`, () => job(withBudget(platform, jobAllowance), at)));

/**
 * Runs the jobs for the cron expression `cron` at the scheduled time `at`, in all shards or only in `jobShard`. Does not reject if a job
 * fails.
 */
export const runScheduledJobs = async (services: Platform, cron: string, at: Instant, jobShard: ShardId | null = null): Promise<void> => {
  const platform = Object.assign(withBudget(services, allJobsAllowance), { jobShard });
  if (cron === everyQuarterHour) for (const job of Object.entries(quarterJobs)) await runJob(platform, at, job);
  if (cron === everyMinute) await Promise.all(Object.entries(minuteJobs).map((job) => runJob(platform, at, job)));
};
