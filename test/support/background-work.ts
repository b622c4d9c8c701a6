// Tracks the work that the Worker does after its responses, so that tests can wait for it instead of for a fixed time.
import { env } from "cloudflare:workers";
import { relayOutbox } from "../../workers/background/outbox-relay.ts";
import { createSchedules } from "../../workers/background/follow-up-work.ts";
import { runRequestedJobs, type JobRequest } from "../../workers/background/shard-jobs.ts";
import worker from "../../workers/index.ts";
import { createPlatform, getPlatform } from "../../workers/platform/create-platform.ts";
import type { Services } from "../../workers/platform/platform.ts";

const pendingWork = new Set<Promise<unknown>>();

const trackWork = <T>(work: Promise<T>): Promise<T> => {
  const ended: Promise<unknown> = work.catch(() => {}).finally(() => pendingWork.delete(ended));
  pendingWork.add(ended);
  return work;
};

/** Makes `waitUntilSettled` also wait for this platform's background work. Modifies the platform and returns it. */
export const trackBackgroundWork = (platform: Services): Services => {
  const { waitUntil } = platform;
  return Object.assign(platform, { waitUntil: (work: () => Promise<void>) => waitUntil(() => trackWork(work())) });
};

const platform = await getPlatform(env);

/** Clears everything that the app of this isolate holds in memory, such as caches and rate limits, as if the isolate were new. */
export const startNewIsolate = async (): Promise<void> => {
  trackBackgroundWork(Object.assign(platform, await createPlatform(env))); // in place, because the app keeps using the object
  Object.assign(platform, createSchedules(platform)); // makes the schedules call this object, whose methods tests can replace
};

const { fetch } = worker;
worker.fetch = (request, bindings, context) => trackWork(fetch(request, bindings, context));

// Drops messages to the anchor queue, which only make the cron job's work start sooner. Handling a message would make the test wait for the
// ledger. Tests that need proofs call `submitAnchors`, and test/jobs/anchoring.test.ts delivers messages itself.
env.ANCHOR_QUEUE.send = async () => ({ metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } });

// Runs the jobs of each shard in this isolate, in the order of the messages. The runtime would start them in another isolate, at any time.
env.JOB_QUEUE.sendBatch = async (messages) => {
  for (const { body } of messages) await runRequestedJobs(platform, body as JobRequest);
  return { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } };
};

const maxWaitMs = 60_000; // far more than working code needs on a busy machine

/** Runs the outbox relay, as the cron job does every minute, for work that a busy machine did not finish after the response. */
export const runOutboxRelay = async (): Promise<void> => relayOutbox(platform);

/**
 * Resolves when every request has a response and its background work is done. Polls with its own timer instead of awaiting the requests'
 * promises: code that awaits such a promise can run as part of the request, and the runtime can stop it when the request ends.
 */
export const waitUntilSettled = async (): Promise<void> => {
  const deadline = performance.now() + maxWaitMs;
  while (pendingWork.size > 0) {
    if (performance.now() > deadline) throw new Error(`${pendingWork.size} background tasks still running after ${maxWaitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
