// The wire of public clients and API keys.
import { z } from "@hono/zod-openapi";
import { keyIdOf } from "../../../core/ids.ts";
import { isoOf, isoOrNull } from "../../../core/time.ts";
import { environmentSchema, idParam, time } from "../../http/wire.ts";
import type { ApiKey, Client, CreatedKey } from "../../operations/portal/keys.ts";

const exampleKeyId = "key_00m4x8c1v6b3n9q2t7w0h5k3d8";
const createdAt = Date.UTC(2026, 2, 4, 5, 6, 7, 89);

export const keyParam = z.object({ key_id: idParam(keyIdOf, "Id of the key, prefix `key_`.", exampleKeyId) });

const nameSchema = z.string().openapi({ description: "For people, at most 80 characters.", example: "CRM" });

export const newKeySchema = z
  .object({
    name: nameSchema,
    environment: z
      .enum(["live", "test"])
      .default("live")
      .openapi({ description: "A test key opens sandbox records and nothing else.", example: "live" }),
  })
  .openapi("KeyRequest");

const wireEnvironment = z.enum(["live", "test"]);
const environmentOf = ({ environment }: Pick<ApiKey, "environment">) => (environment === "live" ? ("live" as const) : ("test" as const));

export const createdKeySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    environment: wireEnvironment,
    key: z.string().openapi({ description: "The key. Shown here once and stored nowhere." }),
    last4: z.string(),
    created_at: time,
  })
  .openapi("CreatedKey");

export const keySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    environment: wireEnvironment,
    prefix: z.string().openapi({ description: "How it begins." }),
    last4: z.string().openapi({ description: "How it ends." }),
    created_at: time,
    last_used_at: time.nullable().openapi({ description: "The day of its last request, UTC; null for never." }),
    revoked_at: time.nullable(),
  })
  .openapi("Key");

export const createdKeyToWire = (key: CreatedKey): z.input<typeof createdKeySchema> => ({
  id: key.id,
  name: key.name,
  environment: environmentOf(key),
  key: key.key,
  last4: key.last4,
  created_at: isoOf(key.createdAt),
});

export const keyToWire = (key: ApiKey): z.input<typeof keySchema> => ({
  id: key.id,
  name: key.name,
  environment: environmentOf(key),
  prefix: key.environment === "live" ? "sk_live_" : "sk_test_",
  last4: key.last4,
  created_at: isoOf(key.createdAt),
  last_used_at: isoOrNull(key.lastUsedAt),
  revoked_at: isoOrNull(key.revokedAt),
});

const common = { id: exampleKeyId, name: "CRM", environment: "live" as const, last4: "9AB0", createdAt };
export const createdKeyExample = createdKeyToWire({ ...common, key: "sk_live_…9AB0" });
export const keyExample = keyToWire({ ...common, lastUsedAt: Date.UTC(2026, 2, 5), revokedAt: null });

export const newClientSchema = z
  .object({
    name: nameSchema,
    environment: environmentSchema.default("live").openapi({ description: "A sandbox client makes certificates that prove nothing." }),
  })
  .openapi("ClientRequest");

export const clientSchema = z
  .object({
    client_id: z.string().openapi({ description: "Public: it stands in the source of your pages." }),
    name: z.string(),
    environment: environmentSchema,
    created_at: time,
  })
  .openapi("Client");

export const clientToWire = (client: Client): z.input<typeof clientSchema> => ({
  client_id: client.id,
  name: client.name,
  environment: client.environment,
  created_at: isoOf(client.createdAt),
});
export const clientExample = {
  client_id: "pc_live_00m3v9d2m4q8x1c7b5n0t6w2h9",
  name: "Website",
  environment: "live",
  created_at: isoOf(createdAt),
};
