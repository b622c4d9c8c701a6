// Computes when a delivery queue needs its next alarm.
import { hourMs } from "../../core/time.ts";
import type { DeliveryPorts } from "./ports.ts";
import * as deliveries from "./deliveries.ts";

const minPruneSpacingMs = hourMs; // one alarm deletes the rows of a whole hour

/** Returns null if no alarm is needed. */
export const computeAlarmDelayMs = (sql: SqlStorage, { clock, maxAlarmDelayMs }: DeliveryPorts): number | null => {
  const [dueAt, pruneAt, now] = [deliveries.findNextDueAt(sql), deliveries.findNextPruneAt(sql), clock()];
  // The delay is at least one millisecond, because an alarm for the current millisecond would already be in the past.
  const delays = [
    ...(dueAt === null ? [] : [Math.min(maxAlarmDelayMs, Math.max(1, dueAt - now))]),
    ...(pruneAt === null ? [] : [pruneAt <= now ? 1 : Math.max(minPruneSpacingMs, pruneAt - now)]),
  ];
  return delays.length === 0 ? null : Math.min(...delays);
};
