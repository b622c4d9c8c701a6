// The OpenAPI 3.1 description, built from the same route objects that are routed. `mount` is the only way a documented
// route gets onto an app, so description and routing cannot drift apart without the test in test/house noticing.
import { createRoute, OpenAPIHono, type RouteConfig } from "@hono/zod-openapi";
import type { Handler, Hono, MiddlewareHandler } from "hono";
import type { Api } from "./context.ts";

export { createRoute };

const described = new OpenAPIHono();

described.openAPIRegistry.registerComponent("securitySchemes", "apiKey", {
  type: "http",
  scheme: "bearer",
  description:
    "`Authorization: Bearer sk_live_…`, created in the portal, shown once, limited to the business's own records and 120 requests a minute.",
});

/** `/certs/{cert_id}` as Hono spells it. */
const honoPath = (path: string): string => path.replaceAll(/\{([a-z_]+)\}/g, ":$1");

/** Routes and describes in one step. `path` is written with its full public prefix. */
export const mount = (app: Hono<Api>, route: RouteConfig, ...handlers: readonly [...MiddlewareHandler<Api>[], Handler<Api>]): void => {
  described.openAPIRegistry.registerPath(route);
  app.on(route.method.toUpperCase(), honoPath(route.path), ...(handlers as [MiddlewareHandler<Api>]));
};

export const openApiDocument = (apiOrigin: string): object =>
  described.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "svc API",
      version: "1.0.0",
      description:
        "Certified consent: a form submission becomes a certificate that anyone can check. Every answer is an envelope `{ok, data | error, request_id}`; quote `request_id` to support. The surface is versioned by its path; within /v1 it only grows.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" } as { name: string },
    },
    servers: [{ url: apiOrigin }],
    tags: [
      { name: "certificates", description: "Issue, verify, list and read certificates of consent." },
      { name: "service", description: "Health and keys of the service itself." },
    ],
  });
