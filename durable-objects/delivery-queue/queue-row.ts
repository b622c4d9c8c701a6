// The tables `queue` and `attempt_hour` of a delivery queue. `queue` has one row with the endpoint's settings and the state of its
// receiver. Each function is synchronous, so no other request can run partway through it.
import type { EndpointSettings } from "../../core/webhooks/endpoint.ts";
import { getEndpointHost } from "../../core/webhooks/host-pacing.ts";
import type { FailureStreak } from "../../core/webhooks/health.ts";
import { toStartOfHour, type HourlyAttempts } from "../../core/webhooks/hourly-attempts.ts";
import type { Instant } from "../../core/time.ts";
import { toEndpointSettings, type SettingsRow } from "../event-sequence/tables.ts";

/** Returns whether the queue is open. A queue that was never opened, or was deleted, has no tables. */
export const hasDeliveryTables = (sql: SqlStorage): boolean =>
  sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'queue'").toArray().length > 0;

type QueueRow = SettingsRow & {
  endpoint_id: string;
  business_id: string;
  received: number;
  failures: number;
  failing_since: number | null;
  alerted: number;
  last_delivery_at: number | null;
  last_status: number | null;
  /**
   * The last host of this endpoint that is known to have returned a 2xx status for the business. If the endpoint's URL now has a different
   * host, the new host is unproven.
   */
  proven_host: string | null;
  /** No delivery is sent before this time, because the unproven host has reached a limit or DestinationHost did not respond. */
  paused_until: number | null;
};

export const findQueueRow = (sql: SqlStorage): QueueRow | null => sql.exec<QueueRow>("SELECT * FROM queue").toArray()[0] ?? null;

export const findSettings = (sql: SqlStorage): EndpointSettings | null => {
  const row = findQueueRow(sql);
  return row === null ? null : toEndpointSettings(row, row.endpoint_id, row.business_id);
};

export const isHostProven = (sql: SqlStorage): boolean => {
  const row = findQueueRow(sql);
  return row !== null && row.proven_host === getEndpointHost(row.url);
};

export const saveProvenHost = (sql: SqlStorage, host: string): void => {
  sql.exec("UPDATE queue SET proven_host = ?, paused_until = NULL", host);
};

/** Pauses the queue without changing the due times of its deliveries. */
export const pauseQueue = (sql: SqlStorage, until: Instant): void => {
  sql.exec("UPDATE queue SET paused_until = ?", until);
};

/** Saves the settings if they are newer than the stored ones. A new queue receives only the events after number `head`. */
export const saveSettings = (sql: SqlStorage, settings: EndpointSettings, head: number): void => {
  sql.exec(
    `INSERT INTO queue (id, endpoint_id, business_id, revision, url, status, secret_sealed, earlier_sealed, earlier_until,
       received, failures, failing_since, alerted, last_delivery_at, last_status)
     VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, NULL, 0, NULL, NULL)
     ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, url = excluded.url, status = excluded.status,
       paused_until = CASE WHEN excluded.url = queue.url THEN queue.paused_until END,
       secret_sealed = excluded.secret_sealed, earlier_sealed = excluded.earlier_sealed, earlier_until = excluded.earlier_until
     WHERE excluded.revision > queue.revision`,
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

export const recordSuccess = (sql: SqlStorage, status: number | null, now: Instant): void => {
  incrementAttemptHour(sql, true, now);
  sql.exec("UPDATE queue SET failures = 0, failing_since = NULL, alerted = 0, last_delivery_at = ?, last_status = ?", now, status);
};

export const recordFailure = (sql: SqlStorage, status: number | null, now: Instant): void => {
  incrementAttemptHour(sql, false, now);
  sql.exec(
    "UPDATE queue SET failures = failures + 1, failing_since = COALESCE(failing_since, ?1), last_delivery_at = ?1, last_status = ?2",
    now,
    status,
  );
};

/** Returns the endpoint's failures since its last success. Returns null if there are none or if its owners have already been notified. */
export const findUnalertedFailure = (sql: SqlStorage): FailureStreak | null => {
  const queue = findQueueRow(sql);
  if (queue === null || queue.alerted === 1 || queue.failing_since === null) return null;
  return { failingSince: queue.failing_since, consecutiveFailures: queue.failures };
};

export const recordAlert = (sql: SqlStorage): void => {
  sql.exec("UPDATE queue SET alerted = 1");
};

/** Lists the number of attempts in each hour since `since`, oldest first. Omits hours without attempts. */
export const listAttemptHours = (sql: SqlStorage, since: Instant): readonly HourlyAttempts[] =>
  sql
    .exec<HourlyAttempts & Record<string, number>>(
      "SELECT start, delivered, failed FROM attempt_hour WHERE start >= ? ORDER BY start",
      since,
    )
    .toArray();
