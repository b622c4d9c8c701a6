// Stops the clock for a test of limits that count by the minute, hour or day.
import { onTestFinished, vi } from "vitest";

/**
 * Stops the clock at `now` until the test ends. While the test's requests run, no time window ends and no day begins, however long they
 * take. The test can move the clock with `vi.setSystemTime`. Returns the time.
 */
export const stopClock = (now = Date.now()): number => {
  vi.useFakeTimers({ toFake: ["Date"], now });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  return now;
};
