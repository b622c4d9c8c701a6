// What each cron tick does. Every job is driven by what is due, not by the tick: a missed tick is late work, a doubled
// tick is no work. Each job fails alone.
import { secondMs, type Instant } from "../../core/time.ts";
import { runIsolated } from "../log.ts";
import { withBudget, type WorkBudget } from "../operations/work-budget.ts";
import type { Platform } from "../services.ts";
import { submitAnchors, retryParkedAnchors } from "./anchoring.ts";
import { attestDue } from "./attestation.ts";
import { requestAuditDrains } from "./audit-drain-requests.ts";
import { checkpointAuditLogs, checkpointLedger } from "./checkpoints.ts";
import { sendConnectionExpiryNotices } from "./connection-expiry-notices.ts";
import { checkDomains } from "./domain-checks.ts";
import { sweepEvents } from "./event-sweep.ts";
import { deleteExpired } from "./expiry-sweep.ts";
import { measureShards } from "./shard-sizes.ts";
import { relayMail } from "./mail-relay.ts";
import { relayOutbox } from "./outbox-relay.ts";
import { eraseExpired } from "./retention-sweep.ts";
import { settleShares, sweepDueShares } from "./share-sweep.ts";
import { endSubscriptions } from "./subscription-ends.ts";
import { suspendUnpaid } from "./unpaid-sweep.ts";

/** `at` is the tick's own time: a checkpoint interval belongs to the tick, however late it runs. */
type Job = (platform: Platform, at: Instant) => Promise<void>;
type Jobs = Readonly<Record<string, Job>>;

export const everyMinute = "* * * * *";
const everyQuarterHour = "*/15 * * * *";

/** Side by side: no slow ledger, attestor, mail provider or policy host keeps the others waiting. */
const minuteJobs: Jobs = {
  "audit-notify": requestAuditDrains,
  "expiry-sweep": deleteExpired,
  "retention-sweep": eraseExpired,
  "unpaid-sweep": suspendUnpaid,
  "subscription-ends": endSubscriptions,
  "outbox-relay": relayOutbox,
  anchoring: submitAnchors,
  "mail-relay": relayMail,
  "event-sweep": sweepEvents,
  "share-sweep": sweepDueShares,
  "share-settling": settleShares,
  attesting: attestDue,
  "domain-checks": checkDomains,
  "connection-ends": sendConnectionExpiryNotices,
};

/** One after the other: what is attested at the end are the checkpoints made before. */
const quarterJobs: Jobs = {
  unpark: retryParkedAnchors,
  "audit-checkpoint": checkpointAuditLogs,
  "ledger-checkpoint": checkpointLedger,
  attesting: attestDue,
  "home-sizes": measureShards,
};

// An invocation has a thousand queries. What the jobs have under way when their allowance is used up needs some, so they share eight hundred; no
// job has more than half of them, so that a backlog of one kind keeps none of another waiting. All of it is over before the next minute.
const allJobsAllowance: WorkBudget = { maxMs: 40 * secondMs, maxQueries: 800 };
export const jobAllowance: WorkBudget = { ...allJobsAllowance, maxQueries: allJobsAllowance.maxQueries / 2 };

/** A job that throws is named in the log and due again with its next tick. */
const runJob = (platform: Platform, at: Instant, [name, job]: readonly [string, Job]) =>
  runIsolated(platform, `job ${name}`, () => job(withBudget(platform, jobAllowance), at));

export const runScheduledJobs = async (services: Platform, cron: string, at: Instant): Promise<void> => {
  const platform = withBudget(services, allJobsAllowance);
  if (cron === everyQuarterHour) for (const job of Object.entries(quarterJobs)) await runJob(platform, at, job);
  if (cron === everyMinute) await Promise.all(Object.entries(minuteJobs).map((job) => runJob(platform, at, job)));
};
