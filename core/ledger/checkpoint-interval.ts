// Numbers the 15-minute intervals in which checkpoints are taken.
import { minuteMs, type Instant } from "../time.ts";

export const checkpointIntervalMs = 15 * minuteMs;

/** Returns the number of whole intervals since the Unix epoch. */
export const getCheckpointInterval = (at: Instant): number => Math.floor(at / checkpointIntervalMs);
