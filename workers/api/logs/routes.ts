// The public side of the transparency logs this deployment runs: the embedded ledger and the audit log. Their interface is
// the C2SP one, so any reader of such logs can follow them; requests go to the objects as they are.
import type { OpenAPIHono } from "@hono/zod-openapi";
import { pathOfLog } from "../../../core/ledger/checkpoint.ts";
import type { Config } from "../../env.ts";
import type { Api } from "../../http/context.ts";
import { fromEdge } from "../../http/edge-cache.ts";
import { failure } from "../../http/envelope.ts";
import { publicRead } from "../../http/guards.ts";

/** An object's answer may not be changed; its copy may, and the headers of every answer are still to come. */
const copied = (response: Response): Response => new Response(response.body, response);

const readMethods = ["GET", "HEAD"];

export const mountLogs = (app: OpenAPIHono<Api>, config: Config): void => {
  if (config.ledger.url === "") {
    for (const path of new Set([config.ledger, ...config.ledger.earlier].map(({ origin }) => pathOfLog(origin)))) {
      app.on(readMethods, `${path}/*`, publicRead, fromEdge);
      app.on([...readMethods, "POST"], `${path}/*`, async (c) => copied(await c.var.services.ledgerLog(c.req.raw)));
    }
  }
  app.on(readMethods, "/audit/:shard/*", publicRead, fromEdge, async (c) => {
    const shard = Number(c.req.param("shard"));
    if (!config.auditKeys.has(shard)) return failure(c, "not_found");
    return copied(await c.var.services.auditLog(shard).fetch(c.req.raw));
  });
};
