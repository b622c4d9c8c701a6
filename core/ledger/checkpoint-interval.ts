// The quarters of an hour in which checkpoints are taken.
import { minuteMs, type Instant } from "../time.ts";

export const checkpointIntervalMs = 15 * minuteMs;

/** Count of quarters of an hour since 1970. */
export const getCheckpointInterval = (at: Instant): number => Math.floor(at / checkpointIntervalMs);
