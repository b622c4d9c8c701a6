// The Worker's entry point: requests, cron triggers and queue messages. Cloudflare finds the Durable Object classes among the exports of
// this file.
import { backgroundTimeoutMs } from "../storage/database.ts";
import { secondMs } from "../core/time.ts";
import { buildApp, misconfiguredApp } from "./app.ts";
import { ConfigError, type Env } from "./env.ts";
import { parseJobRequest, runRequestedJobs, startScheduledJobs } from "./background/shard-jobs.ts";
import { submitAnchors } from "./background/anchoring.ts";
import { withBudget, type WorkBudget } from "./operations/work-budget.ts";
import { consoleLog } from "./log.ts";
import { getPlatform } from "./platform/create-platform.ts";
import type { Services } from "./platform/platform.ts";

export { AuditLog } from "../durable-objects/audit-log/object.ts";
export { DestinationHost } from "../durable-objects/destination-host/object.ts";
export { EventSequence } from "../durable-objects/event-sequence/object.ts";
export { DeliveryQueue } from "./platform/delivery-queue-binding.ts";
export { IntakeJournal } from "../durable-objects/intake-journal/object.ts";
export { LedgerLog } from "../durable-objects/ledger-log/object.ts";
export { RateLimiter } from "../durable-objects/rate-limiter/object.ts";

let cachedApp: { readonly services: Services; readonly app: ReturnType<typeof buildApp> } | undefined;

const getApp = (services: Services): ReturnType<typeof buildApp> => {
  if (cachedApp?.services !== services) cachedApp = { services, app: buildApp(services) };
  return cachedApp.app;
};

const anchoringAllowance: WorkBudget = { maxMs: 20 * secondMs, maxQueries: 800 }; // an invocation may make at most 1,000 queries

/**
 * Returns the services for cron and queue handlers. Their database timeout is longer than for requests, because their batches are large and
 * no caller is waiting.
 */
const loadBackgroundServices = async (env: Env): Promise<Services> => {
  const platform = await getPlatform(env);
  return { ...platform, shards: platform.shards.withTimeout(backgroundTimeoutMs) };
};

export default {
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    try {
      return await getApp(await getPlatform(env)).fetch(request, env, ctx);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      consoleLog.error({ at: "start", error: error.message }); // the message contains no secrets
      return misconfiguredApp.fetch(request, env, ctx);
    }
  },
  async scheduled(controller: ScheduledController, env: Env): Promise<void> {
    const platform = await loadBackgroundServices(env);
    const at = controller.scheduledTime + platform.config.clockOffsetMs;
    await startScheduledJobs(platform, controller.cron, at, (messages) => env.JOB_QUEUE.sendBatch(messages));
  },
  async queue(batch: MessageBatch, env: Env): Promise<void> {
    batch.ackAll(); // acknowledge every message, because pending work is in the database and the cron repeats a failed run
    const services = await loadBackgroundServices(env);
    const requests = batch.messages.flatMap(({ body }) => parseJobRequest(body) ?? []);
    for (const request of requests) await runRequestedJobs(services, request);
    if (requests.length > 0) return;
    // The body of a message that requests anchoring is empty, so `requests` is empty.
    await services.trace("queue anchoring", () => submitAnchors(withBudget(services, anchoringAllowance)));
  },
} satisfies ExportedHandler<Env>;
