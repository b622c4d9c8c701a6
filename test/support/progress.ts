// How far a storm has come, for whoever waits for its long form (`npm run stress`); the short form says nothing.
const printIntervalMs = 10_000;

/** Prints at most every ten seconds. By the clock that no test sets. */
export const createProgressPrinter = (what: string, total: number): ((done: number) => void) => {
  const began = performance.now();
  let said = began;
  return (done) => {
    const now = performance.now();
    if (now - said < printIntervalMs) return;
    said = now;
    console.log(`${what}: ${done} of ${total}, ${Math.round((now - began) / 1_000)} s`);
  };
};
