// Checks that the local service is stopped, for commands that read or write its files.
import type { LocalSettings } from "./settings.ts";

const answerTimeoutMs = 2_000; // a running service would respond within milliseconds

export const assertServiceIsStopped = async ({ origin }: Pick<LocalSettings, "origin">): Promise<void> => {
  const isRunning = await fetch(origin, { signal: AbortSignal.timeout(answerTimeoutMs) }).then(
    () => true,
    () => false,
  );
  if (isRunning) throw new Error(`The service is running at ${origin}. Stop npm start first, so that its data does not change.`);
};
