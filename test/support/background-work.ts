// What the Worker still does after its answers, so that a test can wait for exactly that instead of for some seconds.
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

/** The same platform; what is to run after its answers is followed from now on. */
export const trackBackgroundWork = (platform: Services): Services => {
  const { waitUntil } = platform;
  return Object.assign(platform, { waitUntil: (work: () => Promise<void>) => waitUntil(() => trackWork(work())) });
};

trackBackgroundWork(await getPlatform(env as unknown as Env)); // the app of this isolate is built on this very object

const { fetch } = worker;
worker.fetch = (request, bindings, context) => trackWork(fetch(request, bindings, context));

// A notice only hurries what the minute cron does. Tests that ask for proofs submit to the ledger themselves (`submitAnchors`), and
// test/jobs/anchoring.test.ts delivers notices; all others would wait three seconds for a ledger whose clock they hold still.
(env.ANCHOR_QUEUE as Queue<object>).send = async () => ({ metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } });

const maxWaitMs = 60_000; // a busy machine takes its time; nothing waits this long that works

/** What waits in the outbox for the minute cron, where the machine was too busy to do it after the answer. */
export const runOutboxRelay = async (): Promise<void> => relayOutbox(await getPlatform(env as unknown as Env));

/**
 * Resolves once every request is answered, and what follows the answers is done. It waits for a timer of its own and for no promise of a
 * request: what goes on after one of those may go on as part of that request, and end with it without a word.
 */
export const waitUntilSettled = async (): Promise<void> => {
  const deadline = performance.now() + maxWaitMs;
  while (pendingWork.size > 0) {
    if (performance.now() > deadline) throw new Error(`still under way after ${maxWaitMs} ms: ${pendingWork.size} pieces of work`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
