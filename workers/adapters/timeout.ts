// Runs work with a time limit and an AbortSignal. Does not use AbortSignal.timeout, because its timer continues after the work ends, and a
// pending timer keeps a Durable Object awake.

/** Runs `work` with a signal that is aborted after `ms` milliseconds or when `work` ends. */
export const withTimeout = async <T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    controller.abort(); // aborts requests that are still open
  }
};
