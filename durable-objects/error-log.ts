// Logs errors of Durable Objects.
import { findStorageFault } from "../storage/faults.ts";

/**
 * Logs only the kind of error, because the message can contain personal data. `at` is a constant that identifies the place where the error
 * was caught.
 */
export const logError = (at: string, error: unknown): void => {
  const kind = findStorageFault(error)?.message ?? (error instanceof Error ? error.name : "unknown");
  console.error(JSON.stringify({ level: "error", at, error: kind }));
};
