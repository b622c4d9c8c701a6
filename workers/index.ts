// The entry: requests and cron ticks. Objects are exported here because the platform looks for them here.
import { backgroundMs } from "../storage/database.ts";
import { homesOf } from "../storage/homes.ts";
import { secondMs } from "../core/time.ts";
import { buildApp, unfitApp } from "./app.ts";
import { ConfigFault, type Env } from "./env.ts";
import { scheduled } from "./background/schedule.ts";
import { submitAnchors } from "./background/anchoring.ts";
import { within, type Allowance } from "./operations/allowance.ts";
import { consoleLog } from "./log.ts";
import { platformOf, type Services } from "./services.ts";

export { AuditLog } from "../durable-objects/audit-log/object.ts";
export { BusinessLog } from "../durable-objects/business-log/object.ts";
export { EndpointLane } from "./endpoint-lane-binding.ts";
export { LedgerLog } from "../durable-objects/ledger-log/object.ts";
export { RateLimiter } from "../durable-objects/rate-limiter/object.ts";

let latest: { readonly services: Services; readonly app: ReturnType<typeof buildApp> } | undefined;

/** Built once an isolate, with its platform. */
const appOf = (services: Services): ReturnType<typeof buildApp> => {
  if (latest?.services !== services) latest = { services, app: buildApp(services) };
  return latest.app;
};

const anchoringAllowance: Allowance = { ms: 20 * secondMs, queries: 800 }; // of the thousand of an invocation

/** What the cron and the queue work with: their batches are large, and nobody waits for an answer. */
const backgroundOf = async (env: Env): Promise<Services> => ({ ...(await platformOf(env)), homes: homesOf(env, backgroundMs) });

export default {
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    try {
      return await appOf(await platformOf(env)).fetch(request, env, ctx);
    } catch (error) {
      if (!(error instanceof ConfigFault)) throw error;
      consoleLog.fault({ at: "start", error: error.message }); // names settings, never their values
      return unfitApp.fetch(request, env, ctx);
    }
  },
  async scheduled(controller: ScheduledController, env: Env): Promise<void> {
    const platform = await backgroundOf(env);
    await scheduled(platform, controller.cron, controller.scheduledTime + platform.config.clockOffsetMs);
  },
  async queue(batch: MessageBatch, env: Env): Promise<void> {
    batch.ackAll(); // messages hold nothing: what is due stands in the database, and a failed run is the cron's to repeat
    await submitAnchors(within(await backgroundOf(env), anchoringAllowance));
  },
} satisfies ExportedHandler<Env>;
