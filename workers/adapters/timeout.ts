/** Runs with a signal that is aborted after `ms`, and at the end; the timer does not outlive it, or an object would be kept awake by it. */
export const withTimeout = async <T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    controller.abort(); // whatever is still open is of no use to anyone
  }
};
