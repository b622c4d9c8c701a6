// The public side of the transparency logs this deployment runs: the embedded ledger and the audit log. Their interface is
// the C2SP one, so any reader of such logs can follow them; requests go to the objects as they are.
import type { OpenAPIHono } from "@hono/zod-openapi";
import { getLogPath } from "../../../core/ledger/checkpoint.ts";
import type { Config } from "../../env.ts";
import type { AppEnv } from "../../http/context.ts";
import { edgeCached } from "../../http/edge-cache.ts";
import { failure } from "../../http/envelope.ts";
import { limitPublicReads } from "../../http/guards/rate-limits.ts";

/** An object's answer may not be changed; its copy may, and the headers of every answer are still to come. */
const copyResponse = (response: Response): Response => new Response(response.body, response);

const readMethods = ["GET", "HEAD"];

export const registerTransparencyLogRoutes = (app: OpenAPIHono<AppEnv>, config: Config): void => {
  if (config.ledger.url === "") {
    for (const path of new Set([config.ledger, ...config.ledger.retiredKeys].map(({ origin }) => getLogPath(origin)))) {
      app.on(readMethods, `${path}/*`, limitPublicReads, edgeCached);
      app.on([...readMethods, "POST"], `${path}/*`, async (c) => copyResponse(await c.var.services.fetchLedger(c.req.raw)));
    }
  }
  app.on(readMethods, "/audit/:shard/*", limitPublicReads, edgeCached, async (c) => {
    const shard = Number(c.req.param("shard"));
    if (!config.auditKeys.has(shard)) return failure(c, "not_found");
    return copyResponse(await c.var.services.auditLogStub(shard).fetch(c.req.raw));
  });
};
