// Is the service able to do its work: database, key-value store, keys. And the public keys it signs with.
import { z } from "@hono/zod-openapi";
import type { Context, Hono } from "hono";
import { checkHealth } from "../operations/health.ts";
import type { Api } from "./context.ts";
import { failure, success } from "./envelope.ts";
import { anyOrigin } from "./guards.ts";
import { createRoute, mount, openApiDocument } from "./openapi.ts";
import { envelope, failures } from "./wire.ts";

const check = z.object({ ok: z.boolean(), latency_ms: z.number() });

const healthRoute = createRoute({
  method: "get",
  path: "/v1/health",
  operationId: "health",
  tags: ["service"],
  summary: "Check the service",
  security: [],
  responses: {
    200: {
      description: "Everything works.",
      content: {
        "application/json": {
          schema: envelope(
            "HealthAnswer",
            z
              .object({
                status: z.literal("ok"),
                checks: z.object({ database: check, kv: check, crypto: check }),
                version: z.string(),
                time: z.string(),
              })
              .openapi("Health"),
          ),
        },
      },
    },
    ...failures({ 503: "unhealthy: names the failing checks" }),
  },
});

const keysRoute = createRoute({
  method: "get",
  path: "/.well-known/jwks.json",
  operationId: "issuerKeys",
  tags: ["service"],
  summary: "Public keys of the issuer",
  description: "JWK set of the Ed25519 keys that sign certificates, retired ones included. Not enveloped.",
  security: [],
  responses: {
    200: {
      description: "The keys.",
      content: { "application/json": { schema: z.object({ keys: z.array(z.record(z.string(), z.unknown())) }).openapi("Jwks") } },
    },
    ...failures({ 503: "misconfigured" }),
  },
});

const documentRoute = createRoute({
  method: "get",
  path: "/v1/openapi.json",
  operationId: "openApiDocument",
  tags: ["service"],
  summary: "This description",
  security: [],
  responses: {
    200: { description: "OpenAPI 3.1.", content: { "application/json": { schema: z.record(z.string(), z.unknown()) } } },
    ...failures({ 503: "misconfigured" }),
  },
});

const health = async (c: Context<Api>): Promise<Response> => {
  const { checks, failing, time } = await checkHealth(c.var.services);
  if (failing.length > 0) return failure(c, "unhealthy", `Failing: ${failing.join(", ")}.`);
  return success(c, 200, { status: "ok", checks, version: "1.0.0", time });
};

const publicCache = "public, max-age=300";

export const mountHealth = (app: Hono<Api>): void => {
  mount(app, healthRoute, health);
  app.get("/health", health); // where load balancers look; the same answer, undocumented on purpose

  app.use("/.well-known/jwks.json", anyOrigin);
  mount(app, keysRoute, (c) => {
    c.header("Cache-Control", publicCache);
    return c.json({ keys: c.var.services.signer.publicKeys });
  });

  app.use("/v1/openapi.json", anyOrigin);
  mount(app, documentRoute, (c) => {
    c.header("Cache-Control", publicCache);
    return c.json(openApiDocument(new URL(c.var.services.config.baseUrl).origin));
  });
};
