// The lines that the Worker logs while tests run. Handing each to vitest as it comes took a tenth of the tests' time, and only those of a test
// that fails are ever read.
const shown = 200; // the newest; a storm logs thousands
const original = Symbol.for("svc.test.console"); // files that share a runtime replace these once

type Say = (...words: readonly unknown[]) => void;
interface Console {
  log: Say;
  error: Say;
}

/** One of the service's; how far a storm has come is said at once. */
const isLine = (word: unknown): boolean => typeof word === "string" && word.startsWith('{"level":');

/** Keeps what is said until `show` hands it over or `forget` throws it away. A test that spies on the console sees it as ever. */
export const keepLog = (): { readonly forget: () => void; readonly show: () => void } => {
  const kept: [keyof Console, readonly unknown[]][] = [];
  const shared = globalThis as { [original]?: Console };
  shared[original] ??= { log: console.log, error: console.error };
  const say = shared[original];
  const keep =
    (how: keyof Console): Say =>
    (...words) => {
      if (!isLine(words[0])) return say[how](...words);
      kept.push([how, words]);
      if (kept.length > shown) kept.shift();
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
