// The tables of an endpoint's lane and every step of a delivery, each one synchronous: free functions over SqlStorage, so
// that nothing interleaves between reading a row and changing it. A delivery is `pending` (its next attempt is due at
// `due`), `sending` (its attempt is given up for lost at `due`, which also tells this attempt from another of the same row),
// `success` or `abandoned`; `attempt` counts the attempts that have ended.
import type { StoredEvent } from "../../core/events/event.ts";
import { createDeliveryId, isDelivered } from "../../core/webhooks/endpoint.ts";
import type { Delivery, DeliveryError, EndpointHealth, EndpointSettings, AttemptOutcome } from "../../core/webhooks/endpoint.ts";
import type { FailureStreak } from "../../core/webhooks/health.ts";
import { toStartOfHour, getChartStart, type HourlyAttempts } from "../../core/webhooks/hourly-attempts.ts";
import {
  deliveryRetentionMs,
  attemptLeaseMs,
  maxForgivenInterruptions,
  maxDeferrals,
  maxRecoveredDeliveries,
  maxRecoveryLatenessMs,
  recoverySpacingMs,
  computeNextAttemptAt,
  deferralDelayMs,
} from "../../core/webhooks/schedule.ts";
import type { Instant } from "../../core/time.ts";
import { toEndpointSettings, type SettingsRow } from "../event-sequence/tables.ts";

const rowsPerPrune = 1_000; // rows; some milliseconds

/** False for a lane that was never told what it is for, or was wiped. */
export const hasDeliveryTables = (sql: SqlStorage): boolean =>
  sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'lane'").toArray().length > 0;

type QueueRow = SettingsRow & {
  endpoint_id: string;
  business_id: string;
  received: number;
  failures: number;
  failing_since: number | null;
  alerted: number;
  last_delivery_at: number | null;
  last_status: number | null;
};

const findQueueRow = (sql: SqlStorage): QueueRow | null => sql.exec<QueueRow>("SELECT * FROM lane").toArray()[0] ?? null;

/** Null for a lane without an endpoint. */
export const findSettings = (sql: SqlStorage): EndpointSettings | null => {
  const row = findQueueRow(sql);
  return row === null ? null : toEndpointSettings(row, row.endpoint_id, row.business_id);
};

/** Takes newer settings and leaves older ones. `head` is where an endpoint that is new begins to listen. */
export const saveSettings = (sql: SqlStorage, settings: EndpointSettings, head: number): void => {
  sql.exec(
    `INSERT INTO lane (id, endpoint_id, business_id, revision, url, status, secret_sealed, earlier_sealed, earlier_until,
       received, failures, failing_since, alerted, last_delivery_at, last_status)
     VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, NULL, 0, NULL, NULL)
     ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, url = excluded.url, status = excluded.status,
       secret_sealed = excluded.secret_sealed, earlier_sealed = excluded.earlier_sealed, earlier_until = excluded.earlier_until
     WHERE excluded.revision > lane.revision`,
    settings.endpointId,
    settings.businessId,
    settings.revision,
    settings.url,
    settings.status,
    settings.secretSealed,
    settings.earlierSecretSealed,
    settings.earlierSecretUntil,
    head,
  );
};

/** Takes events that it does not have yet; `upTo` is how far the sequence was read for it, wanted events or not. */
export const insertEvents = (
  sql: SqlStorage,
  events: readonly StoredEvent[],
  upTo: number,
  newDeliveryId: () => string,
  now: Instant,
): number => {
  const lane = findQueueRow(sql);
  if (lane === null) throw new Error("lane: it has no endpoint");
  for (const event of events) {
    if (event.seq <= lane.received) continue; // known, also when it has long been delivered and dropped
    sql.exec(
      `INSERT INTO delivery (seq, id, event_id, type, share_id, cert_id, data_sealed, happened_at, created_at,
         status, attempt, due, interruptions, unready) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', 0, ?, 0, 0)`,
      event.seq,
      createDeliveryId(lane.endpoint_id, newDeliveryId()),
      event.id,
      event.type,
      event.shareId,
      event.certId,
      event.dataSealed,
      event.createdAt,
      now,
      now,
    );
  }
  const received = Math.max(lane.received, upTo);
  if (received > lane.received) sql.exec("UPDATE lane SET received = ?", received);
  return received;
};

export type DeliveryRow = {
  seq: number;
  id: string;
  event_id: string;
  type: string;
  share_id: string | null;
  cert_id: string | null;
  data_sealed: string | null;
  happened_at: number;
  created_at: number;
  status: "pending" | "sending" | "success" | "abandoned";
  attempt: number;
  due: number | null;
  interruptions: number;
  unready: number;
  response_status: number | null;
  error: DeliveryError | null;
  duration_ms: number | null;
  delivered_at: number | null;
  ended_at: number | null;
  /** 1 while it is sent again because somebody asked for what failed. */
  resend: number;
  failed_at: number | null;
};

/** The number its next sending carries: one that is sent again carries the number of its last attempt. */
export const nextAttemptNumber = ({ attempt, resend }: DeliveryRow): number => attempt + (resend === 1 ? 0 : 1);

export const toStoredEvent = (row: DeliveryRow): StoredEvent => ({
  seq: row.seq,
  id: row.event_id,
  type: row.type,
  createdAt: row.happened_at,
  shareId: row.share_id,
  certId: row.cert_id,
  dataSealed: row.data_sealed,
});

/** As management sees it: one under way is waiting for its first attempt or being retried. */
export const toDelivery = (row: DeliveryRow, webhookId: string): Delivery => ({
  id: row.id,
  webhookId,
  eventId: row.event_id,
  eventType: row.type,
  status: row.status === "success" || row.status === "abandoned" ? row.status : row.attempt === 0 ? "pending" : "retrying",
  attempt: row.attempt,
  responseStatus: row.response_status,
  error: row.error,
  durationMs: row.duration_ms,
  nextAttemptAt: row.status === "pending" ? row.due : null,
  deliveredAt: row.delivered_at,
  createdAt: row.created_at,
});

/** What is sent again keeps its spacing: when the first of it is late, for whatever reason, the rest comes as much later. */
const shiftLateResends = (sql: SqlStorage, now: Instant): void => {
  const { first } = sql
    .exec<{ first: number | null }>("SELECT MIN(due) AS first FROM delivery WHERE resend = 1 AND status = 'pending'")
    .one();
  if (first !== null && now - first > maxRecoveryLatenessMs)
    sql.exec("UPDATE delivery SET due = due + ? WHERE resend = 1 AND status = 'pending'", now - first);
};

/** Takes the delivery that has been due longest: from here on its attempt is under way, and that is on disk before it leaves. */
export const claimDelivery = (sql: SqlStorage, now: Instant): DeliveryRow | null => {
  shiftLateResends(sql, now);
  const [row] = sql
    .exec<DeliveryRow>(
      `UPDATE delivery SET status = 'sending', due = ?1 + ${attemptLeaseMs}
       WHERE seq = (SELECT seq FROM delivery WHERE status = 'pending' AND due <= ?1 ORDER BY due, seq LIMIT 1) RETURNING *`,
      now,
    )
    .toArray();
  return row ?? null;
};

/** Enters how an attempt ended, in the row and in what is known of the endpoint's health. */
const recordOutcome = (sql: SqlStorage, row: DeliveryRow, outcome: AttemptOutcome, now: Instant): void => {
  const delivered = isDelivered(outcome);
  const attempt = nextAttemptNumber(row);
  const next = delivered ? null : computeNextAttemptAt(attempt, now);
  const responseStatus = outcome.kind === "answered" ? outcome.status : null;
  const error = delivered ? null : outcome.kind === "answered" ? "http" : outcome.error;
  sql.exec(
    `UPDATE delivery SET status = ?, attempt = ?, due = ?, unready = 0, resend = 0, response_status = ?, error = ?,
       duration_ms = ?, delivered_at = ?, ended_at = ?, failed_at = ? WHERE seq = ?`,
    delivered ? "success" : next === null ? "abandoned" : "pending",
    attempt,
    next,
    responseStatus,
    error,
    outcome.durationMs,
    delivered ? now : null,
    next === null ? now : null,
    delivered ? row.failed_at : now,
    row.seq,
  );
  if (delivered) recordSuccess(sql, responseStatus, now);
  else recordFailure(sql, responseStatus, now);
};

const incrementAttemptHour = (sql: SqlStorage, isSuccess: boolean, now: Instant): void => {
  const [delivered, failed] = isSuccess ? [1, 0] : [0, 1];
  sql.exec(
    `INSERT INTO attempt_hour (start, delivered, failed) VALUES (?, ?, ?)
     ON CONFLICT (start) DO UPDATE SET delivered = delivered + excluded.delivered, failed = failed + excluded.failed`,
    toStartOfHour(now),
    delivered,
    failed,
  );
};

const recordSuccess = (sql: SqlStorage, status: number | null, now: Instant): void => {
  incrementAttemptHour(sql, true, now);
  sql.exec("UPDATE lane SET failures = 0, failing_since = NULL, alerted = 0, last_delivery_at = ?, last_status = ?", now, status);
};

const recordFailure = (sql: SqlStorage, status: number | null, now: Instant): void => {
  incrementAttemptHour(sql, false, now);
  sql.exec(
    "UPDATE lane SET failures = failures + 1, failing_since = COALESCE(failing_since, ?1), last_delivery_at = ?1, last_status = ?2",
    now,
    status,
  );
};

const findInFlightRow = (sql: SqlStorage, row: DeliveryRow): DeliveryRow | null =>
  sql.exec<DeliveryRow>("SELECT * FROM delivery WHERE seq = ? AND status = 'sending' AND due = ?", row.seq, row.due).toArray()[0] ?? null;

/** Only while the attempt is still the one that was claimed: meanwhile it may have been replayed, or its lease have passed. */
export const settleAttempt = (sql: SqlStorage, claimed: DeliveryRow, outcome: AttemptOutcome, now: Instant): void => {
  const row = findInFlightRow(sql, claimed);
  if (row !== null) recordOutcome(sql, row, outcome, now);
};

/** Nothing was sent, and not for a reason of the receiver's: soon again, and only in the end an attempt that failed. */
export const deferDelivery = (sql: SqlStorage, claimed: DeliveryRow, error: Exclude<DeliveryError, "http">, now: Instant): void => {
  const row = findInFlightRow(sql, claimed);
  if (row === null) return;
  if (row.unready >= maxDeferrals) {
    recordOutcome(sql, row, { kind: "unanswered", error, durationMs: 0 }, now);
    return;
  }
  sql.exec("UPDATE delivery SET status = 'pending', unready = unready + 1, due = ? WHERE seq = ?", now + deferralDelayMs, row.seq);
};

/** The payload may no longer be read by anyone: nothing is sent, and it comes no more. */
export const cancelDelivery = (sql: SqlStorage, claimed: DeliveryRow, now: Instant): void => {
  sql.exec(
    "UPDATE delivery SET status = 'abandoned', due = NULL, resend = 0, ended_at = ? WHERE seq = ? AND status = 'sending' AND due = ?",
    now,
    claimed.seq,
    claimed.due,
  );
};

/**
 * Attempts that died with their process, or outlived their lease: sent again at once under the same number, since the
 * receiver did nothing wrong. `all` when the process has just begun, so that whatever was under way no longer is.
 */
export const requeueInterrupted = (sql: SqlStorage, now: Instant, all: boolean): void => {
  const rows = sql
    .exec<DeliveryRow>("SELECT * FROM delivery WHERE due IS NOT NULL AND status = 'sending' AND (? = 1 OR due <= ?)", all ? 1 : 0, now)
    .toArray();
  for (const row of rows) {
    if (row.interruptions >= maxForgivenInterruptions)
      recordOutcome(sql, row, { kind: "unanswered", error: "connection", durationMs: 0 }, now);
    else sql.exec("UPDATE delivery SET status = 'pending', due = ?, interruptions = interruptions + 1 WHERE seq = ?", now, row.seq);
  }
};

/** When there is something to do next; null when nothing waits. A disabled endpoint keeps what waits for it and sends nothing. */
export const findNextDueAt = (sql: SqlStorage): Instant | null => {
  if (findQueueRow(sql)?.status !== "enabled") return null;
  return sql.exec<{ at: number | null }>("SELECT MIN(due) AS at FROM delivery WHERE due IS NOT NULL").one().at;
};

/** Newest first, from before the delivery `before` on. Null when there is no such delivery. */
export const listDeliveries = (sql: SqlStorage, limit: number, before: string | null): readonly DeliveryRow[] | null => {
  const start = before === null ? Number.MAX_SAFE_INTEGER : findDeliveryRow(sql, before)?.seq;
  if (start === undefined) return null;
  return sql.exec<DeliveryRow>("SELECT * FROM delivery WHERE seq < ? ORDER BY seq DESC LIMIT ?", start, limit).toArray();
};

/** Of the events behind `after`, up to `upTo`. */
export const listDeliveriesBetween = (sql: SqlStorage, after: number, upTo: number): readonly DeliveryRow[] =>
  sql.exec<DeliveryRow>("SELECT * FROM delivery WHERE seq > ? AND seq <= ?", after, upTo).toArray();

export const findDeliveryRow = (sql: SqlStorage, id: string): DeliveryRow | null =>
  sql.exec<DeliveryRow>("SELECT * FROM delivery WHERE id = ?", id).toArray()[0] ?? null;

/**
 * A replay that was delivered ends the delivery, whatever it was waiting for: what is pending is dropped, and an attempt under
 * way no longer counts. A replay that failed changes nothing. The number of attempts stays either way.
 */
export const saveReplay = (sql: SqlStorage, id: string, outcome: AttemptOutcome, now: Instant): void => {
  if (!isDelivered(outcome) || outcome.kind !== "answered") return;
  sql.exec(
    `UPDATE delivery SET status = 'success', due = NULL, resend = 0, error = NULL, response_status = ?, duration_ms = ?,
       delivered_at = ?, ended_at = ? WHERE id = ?`,
    outcome.status,
    outcome.durationMs,
    now,
    now,
    id,
  );
  recordSuccess(sql, outcome.status, now);
};

// Given up, or tried and waiting for the next attempt. What was withheld because its share is over never failed.
const failedCondition =
  "error IS NOT NULL AND COALESCE(failed_at, ended_at, created_at) >= ? AND (status = 'abandoned' OR (status = 'pending' AND resend = 0))";

/** How many failed since then. */
export const countFailed = (sql: SqlStorage, since: Instant): number =>
  sql.exec<{ failed: number }>(`SELECT COUNT(*) AS failed FROM delivery WHERE ${failedCondition}`, since).one().failed;

/**
 * What failed since then goes out again, in the order of its events and some at a time, behind what is on that way already. It counts as
 * no attempt: what fails again is where it was. Answers how many, at most `maxRecovered`.
 */
export const recoverFailed = (sql: SqlStorage, since: Instant, now: Instant): number => {
  const { last } = sql.exec<{ last: number | null }>("SELECT MAX(due) AS last FROM delivery WHERE due IS NOT NULL AND resend = 1").one();
  const first = Math.max(now, (last ?? 0) + recoverySpacingMs);
  return sql
    .exec(
      `UPDATE delivery SET status = 'pending', resend = 1, interruptions = 0, unready = 0, ended_at = NULL,
       due = ? + ${recoverySpacingMs} * (chosen.place - 1)
     FROM (SELECT seq AS of_seq, ROW_NUMBER() OVER (ORDER BY seq) AS place FROM delivery WHERE ${failedCondition} ORDER BY seq LIMIT ${maxRecoveredDeliveries}) AS chosen
     WHERE delivery.seq = chosen.of_seq RETURNING delivery.seq`,
      first,
      since,
    )
    .toArray().length;
};

export const getHealth = (sql: SqlStorage): EndpointHealth => {
  const lane = findQueueRow(sql);
  const { backlog, oldest, resending } = sql
    .exec<{ backlog: number; oldest: number | null; resending: number }>(
      "SELECT COUNT(*) AS backlog, MIN(happened_at) AS oldest, COALESCE(SUM(resend), 0) AS resending FROM delivery WHERE due IS NOT NULL",
    )
    .one();
  return {
    consecutiveFailures: lane?.failures ?? 0,
    failingSince: lane?.failing_since ?? null,
    lastDeliveryAt: lane?.last_delivery_at ?? null,
    lastResponseStatus: lane?.last_status ?? null,
    backlog,
    oldestPendingAt: oldest,
    resending,
  };
};

/** How attempts ended in the hours from then on, the earliest first. Hours in which none did are left out. */
export const listAttemptHours = (sql: SqlStorage, since: Instant): readonly HourlyAttempts[] =>
  sql
    .exec<HourlyAttempts & Record<string, number>>(
      "SELECT start, delivered, failed FROM attempt_hour WHERE start >= ? ORDER BY start",
      since,
    )
    .toArray();

/** How long and how often it has been failing; null when it is not, and once its owners have heard of it. */
export const unalertedFailure = (sql: SqlStorage): FailureStreak | null => {
  const lane = findQueueRow(sql);
  if (lane === null || lane.alerted === 1 || lane.failing_since === null) return null;
  return { failingSince: lane.failing_since, consecutiveFailures: lane.failures };
};

export const recordAlert = (sql: SqlStorage): void => {
  sql.exec("UPDATE lane SET alerted = 1");
};

const retentionByStatus = Object.entries(deliveryRetentionMs);

/** Hours that no chart shows any more, and ended deliveries that have been kept long enough, some at a time. */
export const pruneDeliveries = (sql: SqlStorage, now: Instant): void => {
  sql.exec("DELETE FROM attempt_hour WHERE start < ?", getChartStart(now));
  for (const [status, kept] of retentionByStatus)
    sql.exec(
      `DELETE FROM delivery WHERE seq IN (SELECT seq FROM delivery WHERE status = ? AND ended_at <= ? ORDER BY ended_at LIMIT ${rowsPerPrune})`,
      status,
      now - kept,
    );
};

/** When the first of the ended deliveries has been kept long enough; null when there is none. */
export const findNextPruneAt = (sql: SqlStorage): Instant | null => {
  const times = retentionByStatus.flatMap(([status, kept]) => {
    const { at } = sql
      .exec<{ at: number | null }>("SELECT MIN(ended_at) AS at FROM delivery WHERE status = ? AND ended_at IS NOT NULL", status)
      .one();
    return at === null ? [] : [at + kept];
  });
  return times.length === 0 ? null : Math.min(...times);
};
