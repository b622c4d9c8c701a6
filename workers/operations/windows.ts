// The quarters of an hour in which checkpoints are taken.
import { minuteMs, type Instant } from "../../core/time.ts";

export const checkpointWindowMs = 15 * minuteMs;

/** Count of quarters of an hour since 1970. */
export const checkpointWindow = (at: Instant): number => Math.floor(at / checkpointWindowMs);
