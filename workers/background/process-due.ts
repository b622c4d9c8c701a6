// Processes due rows. A row that fails in every run must not block the others.
import { runIsolated } from "../log.ts";
import type { Platform } from "../platform/platform.ts";

/** The maximum number of due rows that one run reads. No run can process this many within its budget. */
export const maxDueRows = 500;

/**
 * Processes due rows within the work budget. Logs a failure under `at`. The next run tries the row again. The caller must select the rows
 * in random order. In a fixed order, failing rows at the start could use up the budget, or the limit on rows, of every run.
 */
export const processDue = async <Row>(
  platform: Platform,
  at: string,
  rows: readonly Row[],
  work: (row: Row) => Promise<unknown>,
): Promise<void> => {
  for (const row of rows) {
    if (!(await platform.hasBudget())) return;
    await runIsolated(platform, at, () => work(row));
  }
};
