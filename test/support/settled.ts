// What the Worker still does after its answers, so that a test can wait for exactly that instead of for some seconds.
import { env } from "cloudflare:workers";
import type { Env } from "../../workers/env.ts";
import { relayOutbox } from "../../workers/background/outbox-relay.ts";
import worker from "../../workers/index.ts";
import { platformOf, type Services } from "../../workers/services.ts";

const underWay = new Set<Promise<unknown>>();

const follow = <T>(work: Promise<T>): Promise<T> => {
  const ended: Promise<unknown> = work.catch(() => {}).finally(() => underWay.delete(ended));
  underWay.add(ended);
  return work;
};

/** The same platform; what is to run after its answers is followed from now on. */
export const followed = (platform: Services): Services => {
  const { afterAnswer } = platform;
  return Object.assign(platform, { afterAnswer: (work: () => Promise<void>) => afterAnswer(() => follow(work())) });
};

followed(await platformOf(env as unknown as Env)); // the app of this isolate is built on this very object

const { fetch } = worker;
worker.fetch = (request, bindings, context) => follow(fetch(request, bindings, context));

// A notice only hurries what the minute cron does. Tests that ask for proofs submit to the ledger themselves (`submitAnchors`), and
// test/jobs/anchoring.test.ts delivers notices; all others would wait three seconds for a ledger whose clock they hold still.
(env.ANCHOR_KICKS as Queue<object>).send = async () => ({ metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } });

const maxMs = 60_000; // a busy machine takes its time; nothing waits this long that works

/** What waits in the outbox for the minute cron, where the machine was too busy to do it after the answer. */
export const relayed = async (): Promise<void> => relayOutbox(await platformOf(env as unknown as Env));

/**
 * Resolves once every request is answered, and what follows the answers is done. It waits for a timer of its own and for no promise of a
 * request: what goes on after one of those may go on as part of that request, and end with it without a word.
 */
export const settled = async (): Promise<void> => {
  const deadline = performance.now() + maxMs;
  while (underWay.size > 0) {
    if (performance.now() > deadline) throw new Error(`still under way after ${maxMs} ms: ${underWay.size} pieces of work`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
