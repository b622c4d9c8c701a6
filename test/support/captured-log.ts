// The lines that the Worker logs while tests run. Handing each to vitest as it comes took a tenth of the tests' time, and only those of a test
// that fails are ever read.
const maxLinesShown = 200; // the newest; a storm logs thousands
const originalConsole = Symbol.for("svc.test.console"); // files that share a runtime replace these once

type LogFunction = (...words: readonly unknown[]) => void;
interface Console {
  log: LogFunction;
  error: LogFunction;
}

/** One of the service's; how far a storm has come is said at once. */
const isServiceLogLine = (word: unknown): boolean => typeof word === "string" && word.startsWith('{"level":');

/** Keeps what is said until `show` hands it over or `forget` throws it away. A test that spies on the console sees it as ever. */
export const captureLog = (): { readonly forget: () => void; readonly show: () => void } => {
  const kept: [keyof Console, readonly unknown[]][] = [];
  const shared = globalThis as { [originalConsole]?: Console };
  shared[originalConsole] ??= { log: console.log, error: console.error };
  const say = shared[originalConsole];
  const keep =
    (how: keyof Console): LogFunction =>
    (...words) => {
      if (!isServiceLogLine(words[0])) return say[how](...words);
      kept.push([how, words]);
      if (kept.length > maxLinesShown) kept.shift();
    };
  console.log = keep("log");
  console.error = keep("error");
  return {
    forget: () => kept.splice(0),
    show: () => {
      for (const [how, words] of kept.splice(0)) say[how](...words);
    },
  };
};
