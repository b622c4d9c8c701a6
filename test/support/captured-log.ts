// Buffers the Worker's log lines and prints them only if a test fails. Passing each line to vitest would take a tenth of the tests' time.
const maxLinesShown = 200; // shows only the newest lines, because a stress test logs thousands
const originalConsole = Symbol.for("svc.test.console"); // keeps the real console, because each test file in a runtime replaces the console

type LogFunction = (...values: readonly unknown[]) => void;
interface Console {
  log: LogFunction;
  error: LogFunction;
}

/** Returns true for a log line of the service. Other output, such as the progress of a stress test, is printed immediately. */
const isServiceLogLine = (value: unknown): boolean => typeof value === "string" && value.startsWith('{"level":');

/** Buffers log lines until `show` prints them or `forget` drops them. A test that spies on the console still sees every line. */
export const captureLog = (): { readonly forget: () => void; readonly show: () => void } => {
  const lines: [keyof Console, readonly unknown[]][] = [];
  const shared = globalThis as { [originalConsole]?: Console };
  shared[originalConsole] ??= { log: console.log, error: console.error };
  const original = shared[originalConsole];
  const createBuffer =
    (method: keyof Console): LogFunction =>
    (...values) => {
      if (!isServiceLogLine(values[0])) return original[method](...values);
      lines.push([method, values]);
      if (lines.length > maxLinesShown) lines.shift();
    };
  console.log = createBuffer("log");
  console.error = createBuffer("error");
  return {
    forget: () => lines.splice(0),
    show: () => {
      for (const [method, values] of lines.splice(0)) original[method](...values);
    },
  };
};
