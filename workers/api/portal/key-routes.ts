// Public clients and API keys of a business (CONTRACT 10).
import { z } from "@hono/zod-openapi";
import { keyIdOf } from "../../../core/ids.ts";
import { isoOf, isoOrNull } from "../../../core/time.ts";
import { jsonBody, noBody } from "../../http/body.ts";
import { answer, success } from "../../http/envelope.ts";
import { answerKept, sentKey, takesKey } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindPortal, ownerOnly } from "../../http/session-guards.ts";
import { answerOf, bodyOf, environmentSchema, idParam, time } from "../../http/wire.ts";
import {
  createClient,
  createKey,
  endKey,
  listClients,
  listKeys,
  type ApiKey,
  type Client,
  type CreatedKey,
} from "../../operations/portal/keys.ts";

const exampleKeyId = "key_00m4x8c1v6b3n9q2t7w0h5k3d8";
const createdAt = Date.UTC(2026, 2, 4, 5, 6, 7, 89);

const keyParam = z.object({ key_id: idParam(keyIdOf, "Id of the key, prefix `key_`.", exampleKeyId) });

const nameSchema = z.string().openapi({ description: "For people, at most 80 characters.", example: "CRM" });

const newKeySchema = z
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

const createdKeySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    environment: wireEnvironment,
    key: z.string().openapi({ description: "The key. Shown here once and stored nowhere." }),
    last4: z.string(),
    created_at: time,
  })
  .openapi("CreatedKey");

const keySchema = z
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

const createdKeyToWire = (key: CreatedKey): z.input<typeof createdKeySchema> => ({
  id: key.id,
  name: key.name,
  environment: environmentOf(key),
  key: key.key,
  last4: key.last4,
  created_at: isoOf(key.createdAt),
});

const keyToWire = (key: ApiKey): z.input<typeof keySchema> => ({
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
const createdKeyExample = createdKeyToWire({ ...common, key: "sk_live_…9AB0" });
const keyExample = keyToWire({ ...common, lastUsedAt: Date.UTC(2026, 2, 5), revokedAt: null });

const newClientSchema = z
  .object({
    name: nameSchema,
    environment: environmentSchema.default("live").openapi({ description: "A sandbox client makes certificates that prove nothing." }),
  })
  .openapi("ClientRequest");

const clientSchema = z
  .object({
    client_id: z.string().openapi({ description: "Public: it stands in the source of your pages." }),
    name: z.string(),
    environment: environmentSchema,
    created_at: time,
  })
  .openapi("Client");

const clientToWire = (client: Client): z.input<typeof clientSchema> => ({
  client_id: client.id,
  name: client.name,
  environment: client.environment,
  created_at: isoOf(client.createdAt),
});
const clientExample = {
  client_id: "pc_live_00m3v9d2m4q8x1c7b5n0t6w2h9",
  name: "Website",
  environment: "live",
  created_at: isoOf(createdAt),
};

const createRoute = routesOf("portal");

const createKeyRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/keys",
  operationId: "createKey",
  summary: "Make an API key",
  description: "Owners only. The key is shown in this answer and stored as a hash: keep it. At most 20 that are not revoked.",
  middleware: behindPortal(ownerOnly, jsonBody, takesKey),
  request: { body: bodyOf(newKeySchema, { name: "CRM", environment: "live" }) },
  responses: { 201: answerOf("The key, in full.", "CreatedKeyAnswer", createdKeySchema, createdKeyExample) },
  refuses: ["key_limit"],
});

const keysRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/keys",
  operationId: "listKeys",
  summary: "List your API keys",
  description: "Keys that work, oldest first; then the last hundred that were revoked.",
  middleware: behindPortal(),
  responses: {
    200: answerOf("The keys, without what they are.", "KeysAnswer", z.object({ keys: z.array(keySchema) }), { keys: [keyExample] }),
  },
});

const revokeRoute = createRoute({
  method: "delete",
  path: "/v1/business/portal/keys/{key_id}",
  operationId: "revokeKey",
  summary: "Revoke an API key",
  description: "Owners only. It opens nothing from the next request on. A second time changes nothing.",
  middleware: behindPortal(ownerOnly, noBody),
  request: { params: keyParam },
  responses: { 200: answerOf("It is revoked.", "RevokedKeyAnswer", z.object({ revoked: z.literal(true) }), { revoked: true }) },
  when: { not_found: "There is no such key, or it is not yours." },
});

const createClientRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/clients",
  operationId: "createClient",
  summary: "Make a public client",
  description: "Owners only. Its id goes into the tag on your pages. At most 50.",
  middleware: behindPortal(ownerOnly, jsonBody, takesKey),
  request: { body: bodyOf(newClientSchema, { name: "Website", environment: "live" }) },
  responses: { 201: answerOf("The client.", "CreatedClientAnswer", clientSchema, clientExample) },
  refuses: ["client_limit"],
});

const clientsRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/clients",
  operationId: "listClients",
  summary: "List your public clients",
  description: "Oldest first.",
  middleware: behindPortal(),
  responses: { 200: answerOf("The clients.", "ClientsAnswer", z.object({ clients: z.array(clientSchema) }), { clients: [clientExample] }) },
});

export const keys = newApi();

keys.openapi(createKeyRoute, async (c) => {
  const { name, environment } = c.req.valid("json");
  const request = { name, environment: environment === "live" ? ("live" as const) : ("sandbox" as const), idempotencyKey: sentKey(c) };
  return answerKept(c, await createKey(c.var.services, c.var.member, request), createdKeyToWire);
});

keys.openapi(keysRoute, async (c) => success(c, 200, { keys: (await listKeys(c.var.services, c.var.member)).map(keyToWire) }));

keys.openapi(revokeRoute, async (c) => {
  const ended = await endKey(c.var.services, c.var.member, c.req.valid("param").key_id);
  return answer(c, 200, ended, () => ({ revoked: true as const }));
});

keys.openapi(createClientRoute, async (c) => {
  const created = await createClient(c.var.services, c.var.member, { ...c.req.valid("json"), idempotencyKey: sentKey(c) });
  return answerKept(c, created, clientToWire);
});

keys.openapi(clientsRoute, async (c) => success(c, 200, { clients: (await listClients(c.var.services, c.var.member)).map(clientToWire) }));
