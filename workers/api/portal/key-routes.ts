// Public clients and API keys of a business (CONTRACT 10).
import { z } from "@hono/zod-openapi";
import { parseApiKeyId } from "../../../core/ids.ts";
import { toIso, toIsoOrNull } from "../../../core/time.ts";
import { jsonBody, noBody } from "../../http/body.ts";
import { respond, success } from "../../http/envelope.ts";
import { respondIdempotent, getIdempotencyKey, idempotencyKeyGuard } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { portalGuard, requireOwner } from "../../http/guards/portal.ts";
import { successResponse, requestBody, environmentSchema, idParamSchema, timeSchema } from "../../http/wire.ts";
import type { ApiKey } from "../../../storage/api-keys.ts";
import type { Client } from "../../../storage/clients.ts";
import { createApiKey, type CreatedApiKey } from "../../operations/portal/create-api-key.ts";
import { createClient } from "../../operations/portal/create-client.ts";
import { listApiKeys } from "../../operations/portal/list-api-keys.ts";
import { listClients } from "../../operations/portal/list-clients.ts";
import { revokeApiKey } from "../../operations/portal/revoke-api-key.ts";

const exampleKeyId = "key_00m4x8c1v6b3n9q2t7w0h5k3d8";
const exampleCreatedAt = Date.UTC(2026, 2, 4, 5, 6, 7, 89);

const keyIdParamSchema = z.object({ key_id: idParamSchema(parseApiKeyId, "Id of the key, prefix `key_`.", exampleKeyId) });

const nameSchema = z.string().openapi({ description: "For people, at most 80 characters.", example: "CRM" });

const keyRequestSchema = z
  .object({
    name: nameSchema,
    environment: z
      .enum(["live", "test"])
      .default("live")
      .openapi({ description: "A test key opens sandbox records and nothing else.", example: "live" }),
  })
  .openapi("KeyRequest");

const keyEnvironmentSchema = z.enum(["live", "test"]);
const keyEnvironmentToWire = ({ environment }: Pick<ApiKey, "environment">) =>
  environment === "live" ? ("live" as const) : ("test" as const);

const createdKeySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    environment: keyEnvironmentSchema,
    key: z.string().openapi({ description: "The key. Shown here once and stored nowhere." }),
    last4: z.string(),
    created_at: timeSchema,
  })
  .openapi("CreatedKey");

const keySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    environment: keyEnvironmentSchema,
    prefix: z.string().openapi({ description: "How it begins." }),
    last4: z.string().openapi({ description: "How it ends." }),
    created_at: timeSchema,
    last_used_at: timeSchema.nullable().openapi({ description: "The day of its last request, UTC; null for never." }),
    revoked_at: timeSchema.nullable(),
  })
  .openapi("Key");

const createdKeyToWire = (key: CreatedApiKey): z.input<typeof createdKeySchema> => ({
  id: key.id,
  name: key.name,
  environment: keyEnvironmentToWire(key),
  key: key.key,
  last4: key.last4,
  created_at: toIso(key.createdAt),
});

const keyToWire = (key: ApiKey): z.input<typeof keySchema> => ({
  id: key.id,
  name: key.name,
  environment: keyEnvironmentToWire(key),
  prefix: key.environment === "live" ? "sk_live_" : "sk_test_",
  last4: key.last4,
  created_at: toIso(key.createdAt),
  last_used_at: toIsoOrNull(key.lastUsedAt),
  revoked_at: toIsoOrNull(key.revokedAt),
});

const commonKeyExample = { id: exampleKeyId, name: "CRM", environment: "live" as const, last4: "9AB0", createdAt: exampleCreatedAt };
const createdKeyExample = createdKeyToWire({ ...commonKeyExample, key: "sk_live_…9AB0" });
const keyExample = keyToWire({ ...commonKeyExample, lastUsedAt: Date.UTC(2026, 2, 5), revokedAt: null });

const clientRequestSchema = z
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
    created_at: timeSchema,
  })
  .openapi("Client");

const clientToWire = (client: Client): z.input<typeof clientSchema> => ({
  client_id: client.id,
  name: client.name,
  environment: client.environment,
  created_at: toIso(client.createdAt),
});
const clientExample = {
  client_id: "pc_live_00m3v9d2m4q8x1c7b5n0t6w2h9",
  name: "Website",
  environment: "live",
  created_at: toIso(exampleCreatedAt),
};

const createRoute = createRouteFactory("portal");

const createKeyRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/keys",
  operationId: "createKey",
  summary: "Make an API key",
  description: "Owners only. The key is shown in this answer and stored as a hash: keep it. At most 20 that are not revoked.",
  middleware: portalGuard(requireOwner, jsonBody, idempotencyKeyGuard),
  request: { body: requestBody(keyRequestSchema, { name: "CRM", environment: "live" }) },
  responses: { 201: successResponse("The key, in full.", "CreatedKeyAnswer", createdKeySchema, createdKeyExample) },
  refuses: ["key_limit"],
});

const listKeysRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/keys",
  operationId: "listKeys",
  summary: "List your API keys",
  description: "Keys that work, oldest first; then the last hundred that were revoked.",
  middleware: portalGuard(),
  responses: {
    200: successResponse("The keys, without what they are.", "KeysAnswer", z.object({ keys: z.array(keySchema) }), { keys: [keyExample] }),
  },
});

const revokeKeyRoute = createRoute({
  method: "delete",
  path: "/v1/business/portal/keys/{key_id}",
  operationId: "revokeKey",
  summary: "Revoke an API key",
  description: "Owners only. It opens nothing from the next request on. A second time changes nothing.",
  middleware: portalGuard(requireOwner, noBody),
  request: { params: keyIdParamSchema },
  responses: { 200: successResponse("It is revoked.", "RevokedKeyAnswer", z.object({ revoked: z.literal(true) }), { revoked: true }) },
  when: { not_found: "There is no such key, or it is not yours." },
});

const createClientRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/clients",
  operationId: "createClient",
  summary: "Make a public client",
  description: "Owners only. Its id goes into the tag on your pages. At most 50.",
  middleware: portalGuard(requireOwner, jsonBody, idempotencyKeyGuard),
  request: { body: requestBody(clientRequestSchema, { name: "Website", environment: "live" }) },
  responses: { 201: successResponse("The client.", "CreatedClientAnswer", clientSchema, clientExample) },
  refuses: ["client_limit"],
});

const listClientsRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/clients",
  operationId: "listClients",
  summary: "List your public clients",
  description: "Oldest first.",
  middleware: portalGuard(),
  responses: {
    200: successResponse("The clients.", "ClientsAnswer", z.object({ clients: z.array(clientSchema) }), { clients: [clientExample] }),
  },
});

export const keyRoutes = createApi();

keyRoutes.openapi(createKeyRoute, async (c) => {
  const { name, environment } = c.req.valid("json");
  const request = {
    name,
    environment: environment === "live" ? ("live" as const) : ("sandbox" as const),
    idempotencyKey: getIdempotencyKey(c),
  };
  return respondIdempotent(c, await createApiKey(c.var.services, c.var.member, request), createdKeyToWire);
});

keyRoutes.openapi(listKeysRoute, async (c) => success(c, 200, { keys: (await listApiKeys(c.var.services, c.var.member)).map(keyToWire) }));

keyRoutes.openapi(revokeKeyRoute, async (c) => {
  const ended = await revokeApiKey(c.var.services, c.var.member, c.req.valid("param").key_id);
  return respond(c, 200, ended, () => ({ revoked: true as const }));
});

keyRoutes.openapi(createClientRoute, async (c) => {
  const created = await createClient(c.var.services, c.var.member, { ...c.req.valid("json"), idempotencyKey: getIdempotencyKey(c) });
  return respondIdempotent(c, created, clientToWire);
});

keyRoutes.openapi(listClientsRoute, async (c) =>
  success(c, 200, { clients: (await listClients(c.var.services, c.var.member)).map(clientToWire) }),
);
