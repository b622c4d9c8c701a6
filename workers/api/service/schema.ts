// Schemas for the health check, the public keys and the trust document.
import { z } from "@hono/zod-openapi";
import { serviceVersion } from "../../http/openapi.ts";
import { timeSchema } from "../../http/wire.ts";
import { toIso } from "../../../core/time.ts";
import type { Health } from "../../operations/service/check-health.ts";
import { exampleSigningKey } from "../certificates/schema.ts";

const healthCheckSchema = z.object({
  ok: z.boolean(),
  latency_ms: z.number().meta({ description: "Response time in milliseconds.", example: 2 }),
});

export const healthSchema = z
  .object({
    status: z.literal("ok"),
    checks: z.object({ database: healthCheckSchema, kv: healthCheckSchema, crypto: healthCheckSchema }),
    version: z.string().meta({ description: "Version of the service.", example: serviceVersion }),
    time: timeSchema.meta({ description: "Current time of the service.", example: "2026-03-04T05:06:07.089Z" }),
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
    x: z.string().meta({ description: "Public key, base64url.", example: exampleSigningKey.x }),
    kid: z
      .string()
      .meta({ description: "ID of the key: its RFC 7638 thumbprint. A signature's `kid` refers to it.", example: exampleSigningKey.kid }),
    alg: z.literal("EdDSA"),
    use: z.literal("sig"),
  })
  .openapi("Jwk");

export const trustDocumentSchema = z
  .object({
    version: z.literal(1),
    verifier: z
      .object({ url: z.string(), sha256: z.string() })
      .meta({ description: "Command-line verifier for evidence packs, with the file's SHA-256 in hex. It requires Node 20 or later." }),
    logs: z.array(
      z.object({
        origin: z.string().meta({ description: "Name of the log." }),
        vkey: z.string().meta({ description: "Public key in signed-note format." }),
        ...validityFields,
        role: z.enum(["primary", "mirror", "audit"]).meta({
          description: "`primary`: anchors statements. `mirror`: anchors checkpoints. `audit`: contains the audit chains.",
        }),
      }),
    ),
    witnesses: z.array(z.string()).meta({ description: "Public keys of the witnesses that may cosign checkpoints." }),
    policy: z
      .object({ witness_min: z.int() })
      .meta({ description: "`witness_min`: number of witness cosignatures that a verifier requires by default." }),
    tsa: z
      .array(
        z.object({
          name: z.string(),
          spki_sha256: z.string(),
          pem: z.string(),
          ...validityFields,
        }),
      )
      .meta({ description: "Timestamp authorities, identified by the SHA-256 of their public key (SPKI, hex)." }),
    issuer_keys: z
      .object({
        keys: z.array(
          jwkSchema.extend({
            ...validityFields,
          }),
        ),
      })
      .meta({
        description:
          "Issuer keys (/.well-known/jwks.json), with their validity periods. A signature made outside its key's period is not valid.",
      }),
    anchor_keys: z
      .array(z.string())
      .meta({ description: "Issuer keys that sign ledger entries, for ledgers that require it: SPKI, base64." }),
  })
  .openapi("Trust");
