// Is the service able to do its work: database, key-value store, keys. And the public keys it signs with.
import { z } from "@hono/zod-openapi";
import type { Context, Hono } from "hono";
import { checkHealth } from "../../operations/health.ts";
import { trustDocument } from "../../operations/trust.ts";
import type { Api } from "../../http/context.ts";
import { failure, success } from "../../http/envelope.ts";
import { anyOrigin } from "../../http/guards.ts";
import { exampleSigningKey } from "../certificates/examples.ts";
import { createRoute, mount, openApiDocument, serviceVersion } from "../../http/openapi.ts";
import { envelope, failures } from "../../http/wire.ts";
import { respond, setHeaders } from "./headers.ts";

const check = z.object({
  ok: z.boolean(),
  latency_ms: z.number().openapi({ description: "How long the answer took, in milliseconds.", example: 2 }),
});

const healthRoute = createRoute({
  method: "get",
  path: "/v1/health",
  operationId: "health",
  tags: ["service"],
  summary: "Check the service",
  description: "Asks each store a small question. For monitors; also at /health.",
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
                version: z.string().openapi({ description: "Version of the service.", example: serviceVersion }),
                time: z.string().openapi({ format: "date-time", description: "The service's clock.", example: "2026-03-04T05:06:07.089Z" }),
              })
              .openapi("Health"),
          ),
        },
      },
    },
    ...failures(["unhealthy"], { unhealthy: "The message names the checks that failed." }),
  },
});

const jwk = z
  .object({
    kty: z.literal("OKP"),
    crv: z.literal("Ed25519"),
    x: z.string().openapi({ description: "The public key, base64url.", example: exampleSigningKey.x }),
    kid: z
      .string()
      .openapi({ description: "RFC 7638 thumbprint; the `kid` of the signatures this key made.", example: exampleSigningKey.kid }),
    alg: z.literal("EdDSA"),
    use: z.literal("sig"),
  })
  .openapi("Jwk");

const keysRoute = createRoute({
  method: "get",
  path: "/.well-known/jwks.json",
  operationId: "issuerKeys",
  tags: ["service"],
  summary: "Public keys of the issuer",
  description: "JWK set of the Ed25519 keys that sign certificates, retired ones included. Not enveloped; cached for five minutes.",
  security: [],
  responses: {
    200: {
      description: "The keys, the one in use first.",
      content: { "application/json": { schema: z.object({ keys: z.array(jwk) }).openapi("Jwks") } },
    },
    ...failures([]),
  },
});

const trustRoute = createRoute({
  method: "get",
  path: "/.well-known/svc-trust.json",
  operationId: "trust",
  tags: ["service"],
  summary: "What a verifier has to trust",
  description:
    "Keys of the ledger, of the audit log and of the issuer. Keep a copy of your own: a verifier that fetches this anew trusts whoever answers. Not enveloped; cached for five minutes.",
  security: [],
  responses: {
    200: {
      description: "What to trust, as of now.",
      content: {
        "application/json": {
          schema: z
            .object({
              version: z.literal(1),
              logs: z.array(
                z.object({
                  origin: z.string().openapi({ description: "Name of the log." }),
                  vkey: z.string().openapi({ description: "Public key in the signed-note form." }),
                  valid_from: z.string().openapi({ format: "date-time" }),
                  valid_to: z.string().nullable().openapi({ format: "date-time" }),
                  role: z.enum(["primary", "mirror", "audit"]).openapi({
                    description: "`primary`: statements are anchored in it. `mirror`: checkpoints are. `audit`: it holds the audit chains.",
                  }),
                }),
              ),
              witnesses: z.array(z.string()).openapi({ description: "Public keys whose cosignatures may stand under checkpoints." }),
              policy: z
                .object({ witness_min: z.int() })
                .openapi({ description: "How many witnesses a verifier asks for, unless it is told otherwise." }),
              tsa: z
                .array(
                  z.object({
                    name: z.string(),
                    spki_sha256: z.string(),
                    pem: z.string(),
                    valid_from: z.string().openapi({ format: "date-time" }),
                    valid_to: z.string().nullable().openapi({ format: "date-time" }),
                  }),
                )
                .openapi({ description: "Time-stamp authorities, by the SHA-256 of their public key (SPKI, hex)." }),
              issuer_keys: z.object({ keys: z.array(jwk) }),
              anchor_keys: z
                .array(z.string())
                .openapi({ description: "The issuer's keys in ledgers that want every entry signed: SPKI, base64." }),
            })
            .openapi("Trust"),
          example: {
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
            witnesses: [],
            policy: { witness_min: 0 },
            tsa: [],
            issuer_keys: { keys: [exampleSigningKey] },
            anchor_keys: [],
          },
        },
      },
    },
    ...failures([]),
  },
});

const documentRoute = createRoute({
  method: "get",
  path: "/v1/openapi.json",
  operationId: "openApiDocument",
  tags: ["service"],
  summary: "This description",
  description: "OpenAPI 3.1, for generators of clients and for tools. Not enveloped; cached for five minutes.",
  security: [],
  responses: {
    200: {
      description: "The document.",
      content: { "application/json": { schema: z.record(z.string(), z.unknown()), example: { openapi: "3.1.0" } } },
    },
    ...failures([]),
  },
});

const health = async (c: Context<Api>): Promise<Response> => {
  const { checks, failing, time } = await checkHealth(c.var.services);
  if (failing.length > 0) return failure(c, "unhealthy", `Failing: ${failing.join(", ")}.`);
  return success(c, 200, { status: "ok", checks, version: serviceVersion, time });
};

const publicCache = "public, max-age=300";

export const mountHealth = (app: Hono<Api>): void => {
  mount(app, healthRoute, health);
  app.get("/health", health); // where load balancers look; the same answer, undocumented on purpose

  app.use("/.well-known/jwks.json", anyOrigin);
  mount(app, keysRoute, (c) => {
    setHeaders(c, { "Cache-Control": publicCache });
    return respond(c, 200, JSON.stringify({ keys: c.var.services.signer.publicKeys }), "application/json");
  });

  app.use("/.well-known/svc-trust.json", anyOrigin);
  mount(app, trustRoute, (c) => {
    setHeaders(c, { "Cache-Control": publicCache });
    return respond(c, 200, JSON.stringify(trustDocument(c.var.services)), "application/json");
  });

  app.use("/v1/openapi.json", anyOrigin);
  mount(app, documentRoute, (c) => {
    setHeaders(c, { "Cache-Control": publicCache });
    return respond(c, 200, JSON.stringify(openApiDocument(new URL(c.var.services.config.baseUrl).origin)), "application/json");
  });
};
