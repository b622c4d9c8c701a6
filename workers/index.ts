// The entry: requests and cron ticks. Objects are exported here because the platform looks for them here.
import type { Hono } from "hono";
import type { Api } from "./http/context.ts";
import { firstHome, newId } from "../core/ids.ts";
import { refusals } from "../core/refusals.ts";
import { statuses } from "./http/statuses.ts";
import { buildApp, securityHeaders } from "./app.ts";
import { ConfigFault, type Env } from "./env.ts";
import { scheduled } from "./jobs/scheduled.ts";
import { submitAnchors } from "./operations/ledger.ts";
import { consoleLog } from "./log.ts";
import { platformOf, type Platform } from "./services.ts";

export { AuditLog } from "../durable-objects/audit-log.ts";
export { BusinessLog } from "../durable-objects/business-log.ts";
export { EndpointLane } from "./endpoint-lane.ts";
export { LedgerLog } from "../durable-objects/ledger-log.ts";
export { RateLimiter } from "../durable-objects/rate-limiter.ts";

const apps = new WeakMap<Platform, Hono<Api>>();

const appOf = (platform: Platform): Hono<Api> => {
  const known = apps.get(platform);
  if (known !== undefined) return known;
  const built = buildApp(platform);
  apps.set(platform, built);
  return built;
};

/** A deployment that is not fit to run says so on every route and does nothing else. */
const misconfigured = (): Response => {
  const requestId = newId("req_", firstHome, (count) => crypto.getRandomValues(new Uint8Array(count)));
  return Response.json(
    { ok: false, error: { code: "misconfigured", message: refusals.misconfigured }, request_id: requestId },
    { status: statuses.misconfigured, headers: { ...securityHeaders, "X-Request-Id": requestId, "Access-Control-Allow-Origin": "*" } },
  );
};

export default {
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    try {
      return await appOf(await platformOf(env)).fetch(request, env, ctx);
    } catch (error) {
      if (!(error instanceof ConfigFault)) throw error;
      consoleLog.fault({ at: "start", error: error.message }); // names settings, never their values
      return misconfigured();
    }
  },
  async scheduled(controller: ScheduledController, env: Env): Promise<void> {
    const platform = await platformOf(env);
    await scheduled(platform, controller.cron, controller.scheduledTime + platform.config.clockOffsetMs);
  },
  async queue(batch: MessageBatch, env: Env): Promise<void> {
    batch.ackAll(); // kicks hold nothing: what is due stands in the database, and a failed run is the cron's to repeat
    await submitAnchors(await platformOf(env));
  },
} satisfies ExportedHandler<Env>;
