// Prints the progress of a long stress test (`npm run stress`).
const printIntervalMs = 10_000;

/**
 * Prints at most once every ten seconds, so that a short run prints nothing. Uses performance.now, which the tests' fake timers do not
 * replace.
 */
export const createProgressPrinter = (label: string, total: number): ((done: number) => void) => {
  const startedAt = performance.now();
  let printedAt = startedAt;
  return (completed) => {
    const now = performance.now();
    if (now - printedAt < printIntervalMs) return;
    printedAt = now;
    console.log(`${label}: ${completed} of ${total}, ${Math.round((now - startedAt) / 1_000)} s`);
  };
};
