// Stops the clock for a test, for limits that count by the minute, hour or day.
import { onTestFinished, vi } from "vitest";

/**
 * Stops the clock until the test ends, so that no window passes and no day begins while its requests run, however long they take. The test
 * can move the clock with `vi.setSystemTime`.
 */
export const stopClock = (): number => {
  const now = Date.now();
  vi.useFakeTimers({ toFake: ["Date"], now });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  return now;
};
