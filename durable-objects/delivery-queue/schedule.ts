// Computes when a delivery queue needs its next alarm.
import { hourMs } from "../../core/time.ts";
import type { DeliveryPorts } from "./ports.ts";
import * as tables from "./tables.ts";

const minPruneSpacingMs = hourMs; // groups deletions, so that deliveries that ended at different times are deleted together

/**
 * Returns the number of milliseconds until the next alarm is needed, either to send a delivery or to delete ended ones. Returns null if
 * there is nothing to send or delete.
 */
export const computeAlarmDelayMs = (sql: SqlStorage, { clock, maxAlarmDelayMs }: DeliveryPorts): number | null => {
  const [dueAt, pruneAt, now] = [tables.findNextDueAt(sql), tables.findNextPruneAt(sql), clock()];
  // At least one millisecond, because an alarm set for the current instant is already in the past when the platform reads it.
  const delays = [
    ...(dueAt === null ? [] : [Math.min(maxAlarmDelayMs, Math.max(1, dueAt - now))]),
    ...(pruneAt === null ? [] : [pruneAt <= now ? 1 : Math.max(minPruneSpacingMs, pruneAt - now)]),
  ];
  return delays.length === 0 ? null : Math.min(...delays);
};
