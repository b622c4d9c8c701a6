// The deliveries of a queue. Each function is synchronous, so no other request can run partway through it. A delivery has one of these
// statuses:
// - `pending`: the next attempt is due at `due`.
// - `sending`: an attempt is in progress. If it has not ended by `due`, it is considered lost. The value of `due` also identifies the
//   attempt.
// - `success` or `abandoned`: the delivery has ended.
import type { StoredEvent } from "../../core/events/event.ts";
import { createDeliveryId, isDelivered } from "../../core/webhooks/endpoint.ts";
import type {
  AttemptResult,
  Delivery,
  DeliveryError,
  DeliveryFilter,
  EndpointActivity,
  EndpointHealth,
} from "../../core/webhooks/endpoint.ts";
import { getEndpointHost } from "../../core/webhooks/host-pacing.ts";
import { getChartStart } from "../../core/webhooks/hourly-attempts.ts";
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
} from "../../core/webhooks/retry-schedule.ts";
import type { Instant } from "../../core/time.ts";
import { findNextAttemptPruneAt, insertAttempt, pruneAttempts } from "./attempts.ts";
import { findQueueRow, listAttemptHours, recordFailure, recordSuccess } from "./queue-row.ts";

const rowsPerPrune = 1_000; // deleting 1,000 rows takes a few milliseconds

export const hasClaimableDelivery = (sql: SqlStorage, now: Instant): boolean =>
  (findQueueRow(sql)?.paused_until ?? 0) <= now &&
  sql.exec("SELECT 1 FROM delivery WHERE status = 'pending' AND due <= ? LIMIT 1", now).toArray().length > 0;

/**
 * Inserts a delivery for each event that the queue has not received yet. `upTo` is the last sequence number that was read for this
 * endpoint, even if that event has a type that the endpoint has not selected. Returns the number up to which the queue has received all
 * events for this endpoint.
 */
export const insertEvents = (
  sql: SqlStorage,
  events: readonly StoredEvent[],
  upTo: number,
  newDeliveryId: () => string,
  now: Instant,
): number => {
  const queue = findQueueRow(sql);
  if (queue === null) throw new Error("delivery queue is not open");
  for (const event of events) {
    if (event.seq <= queue.received) continue; // received earlier, and its delivery may already have been deleted
    sql.exec(
      `INSERT INTO delivery (seq, id, event_id, type, share_id, cert_id, data_sealed, happened_at, created_at,
         status, attempt, due, interruptions, unready) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', 0, ?, 0, 0)`,
      event.seq,
      createDeliveryId(queue.endpoint_id, newDeliveryId()),
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
  const received = Math.max(queue.received, upTo);
  if (received > queue.received) sql.exec("UPDATE queue SET received = ?", received);
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
  /** The number of the last attempt that has ended, or 0 if none has. Forgiven interruptions and resends do not increase it. */
  attempt: number;
  due: number | null;
  interruptions: number;
  unready: number;
  response_status: number | null;
  error: DeliveryError | null;
  duration_ms: number | null;
  delivered_at: number | null;
  ended_at: number | null;
  /** 1 if `recoverFailed` has requeued the delivery and no attempt has ended since then, otherwise 0. */
  resend: number;
  failed_at: number | null;
};

/** Returns the number of the next attempt. A delivery that `recoverFailed` has requeued is sent with the number of its last attempt. */
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

/** Converts a row for the API, where a delivery is `pending` until its first attempt ends, and then `retrying` until the delivery ends. */
export const toDelivery = (row: DeliveryRow, webhookId: string): Delivery => ({
  id: row.id,
  webhookId,
  eventId: row.event_id,
  eventType: row.type,
  status: row.status === "success" || row.status === "abandoned" ? row.status : row.attempt === 0 ? "pending" : "retrying",
  attempt: row.attempt,
  isResending: row.resend === 1,
  responseStatus: row.response_status,
  error: row.error,
  durationMs: row.duration_ms,
  nextAttemptAt: row.status === "pending" ? row.due : null,
  deliveredAt: row.delivered_at,
  createdAt: row.created_at,
});

/**
 * If the first delivery requeued by `recoverFailed` is more than `maxRecoveryLatenessMs` late, makes it due now. Postpones the other
 * requeued deliveries by the same amount of time, so that the intervals between them stay the same.
 */
const shiftLateResends = (sql: SqlStorage, now: Instant): void => {
  const { first } = sql
    .exec<{ first: number | null }>("SELECT MIN(due) AS first FROM delivery WHERE resend = 1 AND status = 'pending'")
    .one();
  if (first !== null && now - first > maxRecoveryLatenessMs)
    sql.exec("UPDATE delivery SET due = due + ? WHERE resend = 1 AND status = 'pending'", now - first);
};

/** Claims the delivery that has been due for the longest time, so that no other attempt starts for it. Returns null if none is due. */
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

const recordOutcome = (sql: SqlStorage, row: DeliveryRow, outcome: AttemptResult, now: Instant): void => {
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
  insertAttempt(sql, { seq: row.seq, number: attempt, isResend: row.resend === 1, result: outcome }, now);
  if (delivered) recordSuccess(sql, responseStatus, now);
  else recordFailure(sql, responseStatus, now);
};

const findInFlightRow = (sql: SqlStorage, row: DeliveryRow): DeliveryRow | null =>
  sql.exec<DeliveryRow>("SELECT * FROM delivery WHERE seq = ? AND status = 'sending' AND due = ?", row.seq, row.due).toArray()[0] ?? null;

/**
 * Records the outcome of an attempt. Ignores the outcome if a replay has ended the delivery, or if the delivery was requeued because the
 * attempt's lease had expired.
 */
export const settleAttempt = (sql: SqlStorage, claimed: DeliveryRow, outcome: AttemptResult, now: Instant): void => {
  const row = findInFlightRow(sql, claimed);
  if (row !== null) recordOutcome(sql, row, outcome, now);
};

/**
 * Schedules a retry of a delivery that could not be sent because of a problem in our service. After `maxDeferrals` retries, counts the
 * problem as a failed attempt.
 */
export const deferDelivery = (sql: SqlStorage, claimed: DeliveryRow, error: Exclude<DeliveryError, "http">, now: Instant): void => {
  const row = findInFlightRow(sql, claimed);
  if (row === null) return;
  if (row.unready >= maxDeferrals) {
    recordOutcome(sql, row, { kind: "unanswered", error, durationMs: 0, exchangeSealed: null }, now);
    return;
  }
  sql.exec("UPDATE delivery SET status = 'pending', unready = unready + 1, due = ? WHERE seq = ?", now + deferralDelayMs, row.seq);
};

/**
 * Ends a delivery without sending it, because its share has ended and its data must no longer be read. A canceled delivery cannot be
 * recovered, so it no longer counts as failed.
 */
export const cancelDelivery = (sql: SqlStorage, claimed: DeliveryRow, now: Instant): void => {
  sql.exec(
    "UPDATE delivery SET status = 'abandoned', due = NULL, resend = 0, error = NULL, failed_at = NULL, ended_at = ? WHERE seq = ? AND status = 'sending' AND due = ?",
    now,
    claimed.seq,
    claimed.due,
  );
};

/**
 * Requeues deliveries whose attempt was interrupted, so that they are due immediately. An attempt is interrupted if its process died or its
 * lease expired. The receiver did not cause this, so the next attempt has the same number. After `maxForgivenInterruptions`, an
 * interruption counts as a failed attempt. If `all` is true, also requeues deliveries whose lease has not expired. Set `all` when the
 * process starts, because no attempt can be in progress at that time.
 */
export const requeueInterrupted = (sql: SqlStorage, now: Instant, all: boolean): void => {
  const rows = sql
    .exec<DeliveryRow>("SELECT * FROM delivery WHERE due IS NOT NULL AND status = 'sending' AND (? = 1 OR due <= ?)", all ? 1 : 0, now)
    .toArray();
  for (const row of rows) {
    if (row.interruptions >= maxForgivenInterruptions)
      recordOutcome(sql, row, { kind: "unanswered", error: "connection", durationMs: 0, exchangeSealed: null }, now);
    else sql.exec("UPDATE delivery SET status = 'pending', due = ?, interruptions = interruptions + 1 WHERE seq = ?", now, row.seq);
  }
};

/**
 * Returns the time at which the next delivery is due or the lease of an attempt expires. If the queue is paused, the result is not before
 * the end of the pause. Returns null if no deliveries are waiting or in progress, or if the endpoint is disabled.
 */
export const findNextDueAt = (sql: SqlStorage): Instant | null => {
  const queue = findQueueRow(sql);
  if (queue?.status !== "enabled") return null;
  const { at } = sql.exec<{ at: number | null }>("SELECT MIN(due) AS at FROM delivery WHERE due IS NOT NULL").one();
  return at === null ? null : Math.max(at, queue.paused_until ?? 0);
};

// These filters repeat the conditions of the partial indexes. Otherwise, SQLite would not use the indexes.
const filterConditions: Readonly<Record<DeliveryFilter, string>> = {
  abandoned: "status = 'abandoned'",
  retrying: "due IS NOT NULL AND attempt > 0",
};

/** Lists deliveries, newest first, starting after the one with the ID in `before`. Returns null if that delivery does not exist. */
export const listDeliveries = (
  sql: SqlStorage,
  limit: number,
  before: string | null,
  status: DeliveryFilter | null,
): readonly DeliveryRow[] | null => {
  const start = before === null ? Number.MAX_SAFE_INTEGER : findDeliveryRow(sql, before)?.seq;
  if (start === undefined) return null;
  const condition = status === null ? "TRUE" : filterConditions[status];
  return sql.exec<DeliveryRow>(`SELECT * FROM delivery WHERE seq < ? AND ${condition} ORDER BY seq DESC LIMIT ?`, start, limit).toArray();
};

export const listDeliveriesBetween = (sql: SqlStorage, after: number, upTo: number): readonly DeliveryRow[] =>
  sql.exec<DeliveryRow>("SELECT * FROM delivery WHERE seq > ? AND seq <= ?", after, upTo).toArray();

export const findDeliveryRow = (sql: SqlStorage, id: string): DeliveryRow | null =>
  sql.exec<DeliveryRow>("SELECT * FROM delivery WHERE id = ?", id).toArray()[0] ?? null;

/**
 * Saves the result of a replay. A success ends the delivery: no further attempt is sent, and the result of an attempt in progress is
 * ignored. A failure is recorded as an attempt, but does not change the delivery. In both cases, the attempt number stays the same.
 */
export const saveReplay = (sql: SqlStorage, id: string, outcome: AttemptResult, now: Instant): void => {
  const row = findDeliveryRow(sql, id);
  if (row === null) return;
  insertAttempt(sql, { seq: row.seq, number: Math.max(1, row.attempt), isResend: true, result: outcome }, now);
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

// Matches deliveries that failed at or after a given time and are abandoned or waiting for a retry. Canceled deliveries have no error, so
// they do not match.
const failedCondition =
  "error IS NOT NULL AND COALESCE(failed_at, ended_at, created_at) >= ? AND (status = 'abandoned' OR (status = 'pending' AND resend = 0))";

export const countFailed = (sql: SqlStorage, since: Instant): number =>
  sql.exec<{ failed: number }>(`SELECT COUNT(*) AS failed FROM delivery WHERE ${failedCondition}`, since).one().failed;

/**
 * Requeues up to `maxRecoveredDeliveries` failed deliveries in the order of their events. They become due at fixed intervals, after the
 * deliveries that earlier calls requeued. Resending a delivery does not use up an attempt. Returns the number of requeued deliveries.
 */
export const recoverFailed = (sql: SqlStorage, since: Instant, now: Instant): number => {
  const { last } = sql.exec<{ last: number | null }>("SELECT MAX(due) AS last FROM delivery WHERE due IS NOT NULL AND resend = 1").one();
  const first = Math.max(now, (last ?? 0) + recoverySpacingMs);
  return sql
    .exec(
      `UPDATE delivery SET status = 'pending', resend = 1, interruptions = 0, unready = 0, ended_at = NULL,
       due = ? + ${recoverySpacingMs} * (chosen.position - 1)
     FROM (SELECT seq AS of_seq, ROW_NUMBER() OVER (ORDER BY seq) AS position FROM delivery WHERE ${failedCondition} ORDER BY seq LIMIT ${maxRecoveredDeliveries}) AS chosen
     WHERE delivery.seq = chosen.of_seq RETURNING delivery.seq`,
      first,
      since,
    )
    .toArray().length;
};

export const getHealth = (sql: SqlStorage): EndpointHealth => {
  const queue = findQueueRow(sql);
  const { backlog, oldest, resending } = sql
    .exec<{ backlog: number; oldest: number | null; resending: number }>(
      "SELECT COUNT(*) AS backlog, MIN(happened_at) AS oldest, COALESCE(SUM(resend), 0) AS resending FROM delivery WHERE due IS NOT NULL",
    )
    .one();
  return {
    consecutiveFailures: queue?.failures ?? 0,
    failingSince: queue?.failing_since ?? null,
    lastDeliveryAt: queue?.last_delivery_at ?? null,
    lastResponseStatus: queue?.last_status ?? null,
    backlog,
    oldestPendingAt: oldest,
    resending,
    isHostLimited: backlog > 0 && queue !== null && queue.paused_until !== null && queue.proven_host !== getEndpointHost(queue.url),
  };
};

export const getActivity = (sql: SqlStorage): EndpointActivity => ({ health: getHealth(sql), hours: listAttemptHours(sql, 0) });

const retentionByStatus = Object.entries(deliveryRetentionMs);

/**
 * Deletes hourly counts that are too old for the chart, and attempts and ended deliveries whose retention period is over. One call deletes
 * at most 1,000 deliveries of each status.
 */
export const pruneDeliveries = (sql: SqlStorage, now: Instant): void => {
  sql.exec("DELETE FROM attempt_hour WHERE start < ?", getChartStart(now));
  pruneAttempts(sql, now);
  for (const [status, retentionMs] of retentionByStatus)
    sql.exec(
      `DELETE FROM delivery WHERE seq IN (SELECT seq FROM delivery WHERE status = ? AND ended_at <= ? ORDER BY ended_at LIMIT ${rowsPerPrune})`,
      status,
      now - retentionMs,
    );
};

/** Returns the time at which the next attempt or ended delivery must be deleted, or null if there are none. */
export const findNextPruneAt = (sql: SqlStorage): Instant | null => {
  const attemptAt = findNextAttemptPruneAt(sql);
  const times = retentionByStatus.flatMap(([status, retentionMs]) => {
    const { at } = sql
      .exec<{ at: number | null }>("SELECT MIN(ended_at) AS at FROM delivery WHERE status = ? AND ended_at IS NOT NULL", status)
      .one();
    return at === null ? [] : [at + retentionMs];
  });
  if (attemptAt !== null) times.push(attemptAt);
  return times.length === 0 ? null : Math.min(...times);
};
