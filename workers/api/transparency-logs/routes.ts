// The public routes of this deployment's transparency logs: the embedded ledgers and the shards' audit logs. Their interface is specified
// by C2SP. Cloudflare's cache serves tiles and entries that were requested before, and R2 serves full tiles. The logs' Durable Objects
// respond to all other requests.
import type { OpenAPIHono } from "@hono/zod-openapi";
import { getLogPath } from "../../../core/ledger/checkpoint.ts";
import type { ShardId } from "../../../core/ids.ts";
import { getAuditOrigin } from "../../../core/ledger/log-names.ts";
import { listLedgerOrigins } from "../../../core/ledger/ledger-origins.ts";
import type { Config } from "../../env.ts";
import type { AppEnv } from "../../http/context.ts";
import { edgeCached } from "../../http/edge-cache.ts";
import { failure } from "../../http/envelope.ts";
import { limitPublicReads } from "../../http/guards/rate-limits.ts";

/** Copies a response to make its headers mutable for middleware. Responses from Durable Objects have immutable headers. */
const copyResponse = (response: Response): Response => new Response(response.body, response);

const readMethods = ["GET", "HEAD"];

export const registerTransparencyLogRoutes = (app: OpenAPIHono<AppEnv>, config: Config, shards: readonly ShardId[]): void => {
  const originByPath = new Map(
    listLedgerOrigins(config.ledger, shards)
      .toReversed()
      .map((origin) => [getLogPath(origin), origin]),
  );
  for (const [path, origin] of originByPath) {
    app.on(readMethods, `${path}/*`, limitPublicReads, edgeCached);
    app.on([...readMethods, "POST"], `${path}/*`, async (c) => {
      const { serveStoredTile, fetchLedger } = c.var.services;
      return (await serveStoredTile(origin, c.req.raw)) ?? copyResponse(await fetchLedger(c.req.raw));
    });
  }
  app.on(readMethods, "/audit/:shard/*", limitPublicReads, edgeCached, async (c) => {
    const auditLog = shards.find((shard) => shard === c.req.param("shard"));
    if (auditLog === undefined) return failure(c, "not_found");
    const { serveStoredTile, auditLogStub } = c.var.services;
    const stored = await serveStoredTile(getAuditOrigin(config.baseUrl, auditLog), c.req.raw);
    return stored ?? copyResponse(await auditLogStub(auditLog).fetch(c.req.raw));
  });
};
