// The entry: requests and cron ticks. Objects are exported here because the platform looks for them here.
import type { Hono } from "hono";
import type { Api } from "./api/context.ts";
import { buildApp } from "./app.ts";
import { ConfigFault, type Env } from "./env.ts";
import { scheduled } from "./jobs/scheduled.ts";
import { consoleLog } from "./log.ts";
import { platformOf, type Platform } from "./services.ts";

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
const misconfigured = (): Response =>
  Response.json(
    { ok: false, error: { code: "misconfigured", message: "The service is not configured to run here." }, request_id: null },
    { status: 503, headers: { "Cache-Control": "no-store", "Access-Control-Allow-Origin": "*" } },
  );

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
  async scheduled(controller: ScheduledController, env: Env, ctx: ExecutionContext): Promise<void> {
    await scheduled(await platformOf(env), controller.cron, (work) => ctx.waitUntil(work));
  },
} satisfies ExportedHandler<Env>;
