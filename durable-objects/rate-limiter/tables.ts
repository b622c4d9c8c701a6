// The calls that a rate limiter counts.
import type { Instant } from "../../core/time.ts";

/** Deletes calls up to `start` and after `end`. */
export const deleteCallsOutside = (sql: SqlStorage, start: Instant, end: Instant): void => {
  sql.exec("DELETE FROM calls WHERE at <= ? OR at > ?", start, end);
};

export const countCalls = (sql: SqlStorage): number => sql.exec<{ calls: number }>("SELECT COUNT(*) AS calls FROM calls").one().calls;

/** Returns the time of the call at this position, counted from 0 for the oldest call. */
export const findCallTime = (sql: SqlStorage, position: number): Instant | null =>
  sql.exec<{ at: number }>("SELECT at FROM calls ORDER BY at LIMIT 1 OFFSET ?", position).toArray()[0]?.at ?? null;

export const findLastCallTime = (sql: SqlStorage): Instant | null =>
  sql.exec<{ at: number | null }>("SELECT MAX(at) AS at FROM calls").one().at;

export const insertCall = (sql: SqlStorage, at: Instant): void => {
  sql.exec("INSERT INTO calls (at) VALUES (?)", at);
};
