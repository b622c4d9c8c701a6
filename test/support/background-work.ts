// Tracks the work that the Worker does after its responses, so that a test can wait for exactly that instead of a fixed time.
import { env } from "cloudflare:workers";
import type { Env } from "../../workers/env.ts";
import { relayOutbox } from "../../workers/background/outbox-relay.ts";
import worker from "../../workers/index.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { Services } from "../../workers/platform/platform.ts";

const pendingWork = new Set<Promise<unknown>>();

const trackWork = <T>(work: Promise<T>): Promise<T> => {
  const ended: Promise<unknown> = work.catch(() => {}).finally(() => pendingWork.delete(ended));
  pendingWork.add(ended);
  return work;
};

/** Tracks the background work of a platform from now on. Changes and returns the same object. */
export const trackBackgroundWork = (platform: Services): Services => {
  const { waitUntil } = platform;
  return Object.assign(platform, { waitUntil: (work: () => Promise<void>) => waitUntil(() => trackWork(work())) });
};

trackBackgroundWork(await getPlatform(env as unknown as Env)); // the app of this isolate uses this object

const { fetch } = worker;
worker.fetch = (request, bindings, context) => trackWork(fetch(request, bindings, context));

// A message to the anchor queue only makes the minute cron's work happen sooner. Tests that need proofs call `submitAnchors`, and
// test/jobs/anchoring.test.ts delivers messages itself; all others would wait three seconds for a ledger whose clock they have stopped.
(env.ANCHOR_QUEUE as Queue<object>).send = async () => ({ metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } });

const maxWaitMs = 60_000; // far above what working code needs on a busy machine

/** Runs the outbox relay of the minute cron, for work that a busy machine did not finish after the response. */
export const runOutboxRelay = async (): Promise<void> => relayOutbox(await getPlatform(env as unknown as Env));

/**
 * Resolves when every request is answered and its background work is done. It polls with its own timer instead of awaiting promises of a
 * request: the runtime may run their continuations as part of that request and silently end them with it.
 */
export const waitUntilSettled = async (): Promise<void> => {
  const deadline = performance.now() + maxWaitMs;
  while (pendingWork.size > 0) {
    if (performance.now() > deadline) throw new Error(`${pendingWork.size} background tasks still running after ${maxWaitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
