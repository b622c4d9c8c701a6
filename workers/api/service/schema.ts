// What the service says of itself: its health, its keys, what to trust.
import { z } from "@hono/zod-openapi";
import { serviceVersion } from "../../http/openapi.ts";
import { timeSchema } from "../../http/wire.ts";
import { toIso } from "../../../core/time.ts";
import type { Health } from "../../operations/service/check-health.ts";
import { exampleSigningKey } from "../certificates/schema.ts";

const healthCheckSchema = z.object({
  ok: z.boolean(),
  latency_ms: z.number().openapi({ description: "How long the answer took, in milliseconds.", example: 2 }),
});

export const healthSchema = z
  .object({
    status: z.literal("ok"),
    checks: z.object({ database: healthCheckSchema, kv: healthCheckSchema, crypto: healthCheckSchema }),
    version: z.string().openapi({ description: "Version of the service.", example: serviceVersion }),
    time: timeSchema.openapi({ description: "The service's clock.", example: "2026-03-04T05:06:07.089Z" }),
  })
  .openapi("Health");

export const healthToWire = ({ checks, at }: Health): z.input<typeof healthSchema> => {
  const checkToWire = ({ ok, latencyMs }: Health["checks"]["kv"]) => ({ ok, latency_ms: latencyMs });
  return {
    status: "ok",
    checks: { database: checkToWire(checks.database), kv: checkToWire(checks.kv), crypto: checkToWire(checks.crypto) },
    version: serviceVersion,
    time: toIso(at),
  };
};

const validityFields = { valid_from: timeSchema, valid_to: timeSchema.nullable() };

export const jwkSchema = z
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

export const trustDocumentSchema = z
  .object({
    version: z.literal(1),
    verifier: z
      .object({ url: z.string(), sha256: z.string() })
      .openapi({ description: "The program that checks evidence packs, one file for Node 20 and later, and its SHA-256 in hex." }),
    logs: z.array(
      z.object({
        origin: z.string().openapi({ description: "Name of the log." }),
        vkey: z.string().openapi({ description: "Public key in the signed-note form." }),
        ...validityFields,
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
          ...validityFields,
        }),
      )
      .openapi({ description: "Time-stamp authorities, by the SHA-256 of their public key (SPKI, hex)." }),
    issuer_keys: z
      .object({
        keys: z.array(
          jwkSchema.extend({
            ...validityFields,
          }),
        ),
      })
      .openapi({
        description: "The keys at /.well-known/jwks.json, each with the time in which it signs: what it signed outside of it is void.",
      }),
    anchor_keys: z.array(z.string()).openapi({ description: "The issuer's keys in ledgers that want every entry signed: SPKI, base64." }),
  })
  .openapi("Trust");
