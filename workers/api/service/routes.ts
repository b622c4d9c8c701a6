// Is the service able to do its work: database, key-value store, keys. And what it publishes of itself.
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
  description: "Asks each store a small question. For monitors; also at /health.",
  middleware: limitPublicReads,
  responses: {
    200: { description: "Everything works.", content: { "application/json": { schema: envelopeSchema("HealthAnswer", healthSchema) } } },
  },
  when: { unhealthy: "The message names the checks that failed." },
});

const getIssuerKeysRoute = createRoute({
  method: "get",
  path: "/.well-known/jwks.json",
  operationId: "issuerKeys",
  summary: "Public keys of the issuer",
  description: "JWK set of the Ed25519 keys that sign certificates, retired ones included. Not enveloped; cached for five minutes.",
  middleware: limitPublicReads,
  responses: {
    200: {
      description: "The keys, the one in use first.",
      content: { "application/json": { schema: z.object({ keys: z.array(jwkSchema) }).openapi("Jwks") } },
    },
  },
});

const getTrustDocumentRoute = createRoute({
  method: "get",
  path: "/.well-known/svc-trust.json",
  operationId: "trust",
  summary: "What a verifier has to trust",
  description:
    "Keys of the ledger, of the audit log and of the issuer. Keep a copy of your own: a verifier that fetches this anew trusts whoever answers. Not enveloped; cached for five minutes.",
  middleware: limitPublicReads,
  responses: {
    200: {
      description: "What to trust, as of now.",
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
  summary: "This description",
  description: "OpenAPI 3.1, for generators of clients and for tools. Not enveloped; cached for five minutes.",
  middleware: limitPublicReads,
  responses: { 200: { description: "The document.", content: jsonContent(z.record(z.string(), z.unknown()), { openapi: "3.1.0" }) } },
});

const handleHealth = async (c: RequestContext) => {
  const health = await checkHealth(c.var.services);
  const { failing } = health;
  if (failing.length > 0) return failure(c, "unhealthy", `Failing: ${failing.join(", ")}.`);
  return success(c, 200, healthToWire(health));
};

const publicCacheHeaders = { "Cache-Control": "public, max-age=300" };

/** `describe` gives the OpenAPI document of the whole app. */
export const createServiceRoutes = (describe: () => object) => {
  const service = createApi();
  service.openapi(getHealthRoute, handleHealth);
  service.get("/health", limitPublicReads, handleHealth); // where load balancers look; the same answer, undocumented on purpose
  service.openapi(getIssuerKeysRoute, (c) =>
    c.json({ keys: c.var.services.signer.publicKeys.map((key) => ({ ...key })) }, 200, publicCacheHeaders),
  );
  service.openapi(getTrustDocumentRoute, (c) => c.json(buildTrustDocument(getTrustedKeys(c.var.services)), 200, publicCacheHeaders));
  service.openapi(getOpenApiDocumentRoute, (c) => c.json(describe() as Record<string, unknown>, 200, publicCacheHeaders));
  return service;
};
