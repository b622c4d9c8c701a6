// The recorded attempts of a delivery queue. Successes and failures are numbered separately, in the order in which they ended. Old attempts
// of each kind are deleted by this number, so the table needs no index on the time.
import { isDelivered, type AttemptResult, type RecordedAttempt } from "../../core/webhooks/endpoint.ts";
import { attemptRetentionMs, maxRecordedAttempts, maxShownAttempts } from "../../core/webhooks/exchange.ts";
import type { Instant } from "../../core/time.ts";

/** Attempts over the limit are deleted 100 at a time. Deleting one old attempt for each new one would double the number of writes. */
const attemptsPerPrune = 100;

const kinds = [
  [0, maxRecordedAttempts.delivered],
  [1, maxRecordedAttempts.failed],
] as const;

type AttemptRow = {
  number: number;
  resend: number;
  at: number;
  response_status: number | null;
  error: RecordedAttempt["error"];
  duration_ms: number;
  exchange_sealed: string | null;
};

export interface AttemptToRecord {
  readonly seq: number;
  readonly number: number;
  readonly isResend: boolean;
  readonly result: AttemptResult;
}

/** Records an attempt. After every 100th success or failure, deletes the oldest attempts of that kind beyond the limit. */
export const insertAttempt = (sql: SqlStorage, { seq, number, isResend, result }: AttemptToRecord, now: Instant): void => {
  const [kind, limit] = kinds[isDelivered(result) ? 0 : 1];
  const { n } = sql
    .exec<{ n: number }>(
      `INSERT INTO attempt (failed, n, seq, number, resend, at, response_status, error, duration_ms, exchange_sealed)
       VALUES (?1, (SELECT COALESCE(MAX(n), 0) + 1 FROM attempt WHERE failed = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) RETURNING n`,
      kind,
      seq,
      number,
      isResend ? 1 : 0,
      now,
      result.kind === "answered" ? result.status : null,
      result.kind === "unanswered" ? result.error : kind === 1 ? "http" : null,
      result.durationMs,
      result.exchangeSealed,
    )
    .one();
  if (n % attemptsPerPrune === 0) sql.exec("DELETE FROM attempt WHERE failed = ? AND n <= ?", kind, n - limit);
};

/** Lists up to `maxShownAttempts` attempts of a delivery, newest first. */
export const listAttempts = (sql: SqlStorage, seq: number): readonly RecordedAttempt[] =>
  sql
    .exec<AttemptRow>(`SELECT * FROM attempt WHERE seq = ? ORDER BY at DESC, number DESC LIMIT ${maxShownAttempts}`, seq)
    .toArray()
    .map((row) => ({
      number: row.number,
      isResend: row.resend === 1,
      at: row.at,
      responseStatus: row.response_status,
      error: row.error,
      durationMs: row.duration_ms,
      exchangeSealed: row.exchange_sealed,
    }));

/** Deletes the attempts whose retention period has ended. */
export const pruneAttempts = (sql: SqlStorage, now: Instant): void => {
  for (const [kind] of kinds)
    sql.exec(
      `DELETE FROM attempt WHERE failed = ?1 AND n < COALESCE(
         (SELECT n FROM attempt WHERE failed = ?1 AND at > ?2 ORDER BY n LIMIT 1), ${Number.MAX_SAFE_INTEGER})`,
      kind,
      now - attemptRetentionMs,
    );
};

/** Returns the time at which the retention period of the oldest attempt ends, or null if no attempts are recorded. */
export const findNextAttemptPruneAt = (sql: SqlStorage): Instant | null => {
  const times = kinds.flatMap(([kind]) =>
    sql
      .exec<{ at: number }>("SELECT at FROM attempt WHERE failed = ? ORDER BY n LIMIT 1", kind)
      .toArray()
      .map(({ at }) => at + attemptRetentionMs),
  );
  return times.length === 0 ? null : Math.min(...times);
};
