// Routes for the health check, the public keys and the OpenAPI document.
import { z } from "@hono/zod-openapi";
import { buildTrustDocument } from "../../../core/ledger/trust-document.ts";
import type { RequestContext } from "../../http/context.ts";
import { failure, success } from "../../http/envelope.ts";
import { limitPublicReads } from "../../http/guards/rate-limits.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { envelopeSchema, jsonContent } from "../../http/wire.ts";
import { checkHealth } from "../../operations/service/check-health.ts";
import { getTrustedKeys } from "../../operations/service/get-trusted-keys.ts";
import { exampleSigningKey } from "../certificates/schema.ts";
import { healthSchema, healthToWire, jwkSchema, trustDocumentSchema } from "./schema.ts";

const createRoute = createRouteFactory("service");

const getHealthRoute = createRoute({
  method: "get",
  path: "/v1/health",
  operationId: "health",
  summary: "Check the service",
  description: "Checks the database, the key-value store and the signing key. Use it for monitoring. Also available at /health.",
  middleware: limitPublicReads,
  responses: {
    200: { description: "All checks passed.", content: { "application/json": { schema: envelopeSchema("HealthResponse", healthSchema) } } },
  },
  when: { unhealthy: "At least one check failed. The message lists the failed checks." },
});

const getIssuerKeysRoute = createRoute({
  method: "get",
  path: "/.well-known/jwks.json",
  operationId: "issuerKeys",
  summary: "List the issuer's public keys",
  description:
    "Returns the JWK set of the Ed25519 keys that sign certificates, including retired keys. The response is not wrapped in an envelope. Cached for 5 minutes.",
  middleware: limitPublicReads,
  responses: {
    200: {
      description: "Public keys, with the current key first.",
      content: { "application/json": { schema: z.object({ keys: z.array(jwkSchema) }).openapi("Jwks") } },
    },
  },
});

const getTrustDocumentRoute = createRoute({
  method: "get",
  path: "/.well-known/svc-trust.json",
  operationId: "trust",
  summary: "Get the trust document",
  description:
    "Returns the public keys of the ledger, the audit log and the issuer. Keep your own copy: if a verifier downloads the keys each time, it has to trust this server. The response is not wrapped in an envelope. Cached for 5 minutes.",
  middleware: limitPublicReads,
  responses: {
    200: {
      description: "The current trust document.",
      content: jsonContent(trustDocumentSchema, {
        version: 1,
        logs: [
          {
            origin: "svc.example/audit/0",
            vkey: "svc.example/audit/0+b174e7f3+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs",
            valid_from: "1970-01-01T00:00:00.000Z",
            valid_to: null,
            role: "audit",
          },
        ],
        verifier: { url: "https://api.example.com/svc-verify.mjs", sha256: "0".repeat(64) },
        witnesses: [],
        policy: { witness_min: 0 },
        tsa: [],
        issuer_keys: { keys: [{ ...exampleSigningKey, valid_from: "2026-01-01T00:00:00.000Z", valid_to: null }] },
        anchor_keys: [],
      }),
    },
  },
});

const getOpenApiDocumentRoute = createRoute({
  method: "get",
  path: "/v1/openapi.json",
  operationId: "openApiDocument",
  summary: "Get the OpenAPI document",
  description:
    "Returns this document (OpenAPI 3.1), for client generators and other tools. The response is not wrapped in an envelope. Cached for 5 minutes.",
  middleware: limitPublicReads,
  responses: {
    200: { description: "The OpenAPI document.", content: jsonContent(z.record(z.string(), z.unknown()), { openapi: "3.1.0" }) },
  },
});

const handleHealth = async (c: RequestContext) => {
  const health = await checkHealth(c.var.services);
  const { failing } = health;
  if (failing.length > 0) return failure(c, "unhealthy", `These checks failed: ${failing.join(", ")}.`);
  return success(c, 200, healthToWire(health));
};

const publicCacheHeaders = { "Cache-Control": "public, max-age=300" };

/** `describe` returns the OpenAPI document of the whole app. */
export const createServiceRoutes = (describe: () => object) => {
  const service = createApi();
  service.openapi(getHealthRoute, handleHealth);
  service.get("/health", limitPublicReads, handleHealth); // load balancers use this path, which is intentionally undocumented
  service.openapi(getIssuerKeysRoute, (c) =>
    c.json({ keys: c.var.services.signer.publicKeys.map((key) => ({ ...key })) }, 200, publicCacheHeaders),
  );
  service.openapi(getTrustDocumentRoute, (c) => c.json(buildTrustDocument(getTrustedKeys(c.var.services)), 200, publicCacheHeaders));
  service.openapi(getOpenApiDocumentRoute, (c) => c.json(describe() as Record<string, unknown>, 200, publicCacheHeaders));
  return service;
};
