// Logs errors of Durable Objects.
import { findStorageFault } from "../storage/faults.ts";

/** Logs the kind of the error only, because its message can contain values. `at` is a constant name for the place of the error. */
export const logError = (at: string, error: unknown): void => {
  const kind = findStorageFault(error)?.message ?? (error instanceof Error ? error.name : "unknown");
  console.error(JSON.stringify({ level: "error", at, error: kind }));
};
