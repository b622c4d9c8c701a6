// What each cron tick does. Every job is driven by what is due, not by the tick: a missed tick is late work, a doubled
// tick is no work. Each job fails alone.
import { secondMs, type Instant } from "../../core/time.ts";
import { failingAlone } from "../log.ts";
import { within, type Allowance } from "../operations/allowance.ts";
import type { Platform } from "../services.ts";
import { submitAnchors, unpark } from "./anchoring.ts";
import { attestDue } from "./attesting.ts";
import { notifyAudit } from "./audit-notify.ts";
import { checkpointAudit, checkpointLedger } from "./checkpoints.ts";
import { tellConnectionEnds } from "./connection-ends.ts";
import { checkDomains } from "./domain-checks.ts";
import { sweepEvents } from "./event-sweep.ts";
import { dropExpired } from "./expiry-sweep.ts";
import { measureHomes } from "./home-sizes.ts";
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
const everyQuarter = "*/15 * * * *";

/** Side by side: no slow ledger, attestor, mail provider or policy host keeps the others waiting. */
const minuteJobs: Jobs = {
  "audit-notify": notifyAudit,
  "expiry-sweep": dropExpired,
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
  "connection-ends": tellConnectionEnds,
};

/** One after the other: what is attested at the end are the checkpoints made before. */
const quarterJobs: Jobs = {
  unpark,
  "audit-checkpoint": checkpointAudit,
  "ledger-checkpoint": checkpointLedger,
  attesting: attestDue,
  "home-sizes": measureHomes,
};

// An invocation has a thousand queries. What the jobs have under way when their allowance is used up needs some, so they share eight hundred; no
// job has more than half of them, so that a backlog of one kind keeps none of another waiting. All of it is over before the next minute.
const allJobs: Allowance = { ms: 40 * secondMs, queries: 800 };
export const oneJob: Allowance = { ...allJobs, queries: allJobs.queries / 2 };

/** A job that throws is named in the log and due again with its next tick. */
const run = (platform: Platform, at: Instant, [name, job]: readonly [string, Job]) =>
  failingAlone(platform, `job ${name}`, () => job(within(platform, oneJob), at));

export const scheduled = async (services: Platform, cron: string, at: Instant): Promise<void> => {
  const platform = within(services, allJobs);
  if (cron === everyQuarter) for (const job of Object.entries(quarterJobs)) await run(platform, at, job);
  if (cron === everyMinute) await Promise.all(Object.entries(minuteJobs).map((job) => run(platform, at, job)));
};
