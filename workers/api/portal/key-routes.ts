// Routes to manage a business's public clients and API keys.
import { z } from "@hono/zod-openapi";
import { parseApiKeyId, parseClientId } from "../../../core/ids.ts";
import { toIso } from "../../../core/time.ts";
import { jsonBody, noBody } from "../../http/body.ts";
import { respond, success } from "../../http/envelope.ts";
import { respondIdempotent, getIdempotencyKey, idempotencyKeyGuard } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { portalGuard, requireOwner } from "../../http/guards/portal.ts";
import {
  successResponse,
  requestBody,
  environmentSchema,
  idParamSchema,
  memberWithDefault,
  optionalMember,
  timeSchema,
  toWire,
} from "../../http/wire.ts";
import type { ApiKey } from "../../../storage/api-keys.ts";
import type { Client } from "../../../storage/clients.ts";
import { createApiKey, type CreatedApiKey } from "../../operations/portal/create-api-key.ts";
import { createClient } from "../../operations/portal/create-client.ts";
import { listApiKeys } from "../../operations/portal/list-api-keys.ts";
import { listClients } from "../../operations/portal/list-clients.ts";
import { revokeApiKey } from "../../operations/portal/revoke-api-key.ts";
import { maxReturnUrls, updateClient } from "../../operations/portal/update-client.ts";

const exampleKeyId = "key_00m4x8c1v6b3n9q2t7w0h5k3d8";
const exampleCreatedAt = Date.UTC(2026, 2, 4, 5, 6, 7, 89);

const keyIdParamSchema = z.object({ key_id: idParamSchema(parseApiKeyId, "ID of the key. Starts with `key_`.", exampleKeyId) });

const nameSchema = z.string().meta({ description: "Label, at most 80 characters.", example: "CRM" });

const keyRequestSchema = z
  .object({
    name: nameSchema,
    environment: memberWithDefault(z.enum(["live", "test"]), "live").meta({
      default: "live",
      description: "A test key can access only sandbox records.",
      example: "live",
    }),
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
    key: z.string().meta({ description: "The API key. Shown only once, so save it now." }),
    last4: z.string(),
    created_at: timeSchema,
  })
  .openapi("CreatedKey");

const keySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    environment: keyEnvironmentSchema,
    prefix: z.string().meta({ description: "Prefix of the key: `sk_live_` or `sk_test_`." }),
    last4: z.string().meta({ description: "Last four characters of the key." }),
    created_at: timeSchema,
    last_used_at: timeSchema
      .nullable()
      .meta({ description: "Start of the day (UTC) on which the key was last used; `null` if never used." }),
    revoked_at: timeSchema.nullable(),
  })
  .openapi("Key");

const createdKeyToWire = (key: CreatedApiKey): z.input<typeof createdKeySchema> =>
  toWire(createdKeySchema, { ...key, environment: keyEnvironmentToWire(key) });

const keyToWire = (key: ApiKey): z.input<typeof keySchema> =>
  toWire(keySchema, {
    ...key,
    environment: keyEnvironmentToWire(key),
    prefix: key.environment === "live" ? "sk_live_" : "sk_test_",
  });

const commonKeyExample = { id: exampleKeyId, name: "CRM", environment: "live" as const, last4: "9AB0", createdAt: exampleCreatedAt };
const createdKeyExample = createdKeyToWire({ ...commonKeyExample, key: "sk_live_…9AB0" });
const keyExample = keyToWire({ ...commonKeyExample, lastUsedAt: Date.UTC(2026, 2, 5), revokedAt: null });

const clientRequestSchema = z
  .object({
    name: nameSchema,
    environment: memberWithDefault(environmentSchema, "live").meta({
      default: "live",
      description: "A `sandbox` client is a test client: its certificates are for testing and have no evidentiary value.",
    }),
  })
  .openapi("ClientRequest");

const clientSchema = z
  .object({
    client_id: z.string().meta({ description: "Public client ID, used in the source of your pages." }),
    name: z.string(),
    environment: environmentSchema,
    created_at: timeSchema,
    return_urls: z.array(z.string()).meta({
      description:
        "URLs to which the consent sheet can redirect the person. A share request whose `return_url` exactly matches one of them needs no other evidence that it is yours.",
    }),
    require_origin: z.boolean().meta({
      description: "`true` if every request that redeems a share code must have an `Origin` header, even from a server.",
    }),
  })
  .openapi("Client");

const clientIdParamSchema = z.object({
  client_id: idParamSchema(parseClientId, "ID of the client. Starts with `pc_`.", "pc_live_00m3v9d2m4q8x1c7b5n0t6w2h9"),
});

const clientChangeSchema = z
  .object({
    return_urls: optionalMember(z.array(z.string().max(2_048)).max(maxReturnUrls)).meta({
      description: `All return URLs of the client, at most ${maxReturnUrls}, each on one of your verified domains.`,
    }),
    require_origin: optionalMember(z.boolean()).meta({
      description:
        "If `true`, codes cannot be redeemed without an `Origin` header (403 `origin_mismatch`). Use this if only your pages redeem codes, not your server. Applies to codes that are issued after the change.",
    }),
  })
  .refine(({ return_urls: urls, require_origin: requireOrigin }) => urls !== undefined || requireOrigin !== undefined, {
    path: ["return_urls"],
    error: "is required unless you send require_origin",
  })
  .openapi("ClientChange");

const clientToWire = (client: Client): z.input<typeof clientSchema> =>
  toWire(clientSchema, { ...client, clientId: client.id, returnUrls: [...client.returnUrls] });
const clientExample = {
  client_id: "pc_live_00m3v9d2m4q8x1c7b5n0t6w2h9",
  name: "Website",
  environment: "live",
  created_at: toIso(exampleCreatedAt),
  return_urls: ["https://acme-solar.example/quote"],
  require_origin: false,
};

const createRoute = createRouteFactory("portal");

const createKeyRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/keys",
  operationId: "createKey",
  summary: "Create an API key",
  description: "Owners only. Save the key from the response: we store only its hash. You can have up to 20 active keys.",
  middleware: portalGuard(requireOwner, jsonBody, idempotencyKeyGuard),
  request: { body: requestBody(keyRequestSchema, { name: "CRM", environment: "live" }) },
  responses: { 201: successResponse("The new API key.", "CreatedKeyResponse", createdKeySchema, createdKeyExample) },
  refuses: ["key_limit"],
});

const listKeysRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/keys",
  operationId: "listKeys",
  summary: "List your API keys",
  description: "Returns active keys, oldest first, then the last 100 revoked keys.",
  middleware: portalGuard(),
  responses: {
    200: successResponse("Your API keys, without the secret part.", "KeysResponse", () => z.object({ keys: z.array(keySchema) }), {
      keys: [keyExample],
    }),
  },
});

const revokeKeyRoute = createRoute({
  method: "delete",
  path: "/v1/business/portal/keys/{key_id}",
  operationId: "revokeKey",
  summary: "Revoke an API key",
  description: "Owners only. The key stops working immediately. Revoking a key again has no effect.",
  middleware: portalGuard(requireOwner, noBody),
  request: { params: keyIdParamSchema },
  responses: {
    200: successResponse("The key was revoked.", "RevokedKeyResponse", () => z.object({ revoked: z.literal(true) }), { revoked: true }),
  },
  when: { not_found: "The key does not exist or is not yours." },
});

const createClientRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/clients",
  operationId: "createClient",
  summary: "Create a public client",
  description: "Owners only. Use the client's ID in the script tag on your pages. You can have up to 50 clients.",
  middleware: portalGuard(requireOwner, jsonBody, idempotencyKeyGuard),
  request: { body: requestBody(clientRequestSchema, { name: "Website", environment: "live" }) },
  responses: { 201: successResponse("The new client.", "CreatedClientResponse", clientSchema, clientExample) },
  refuses: ["client_limit"],
});

const listClientsRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/clients",
  operationId: "listClients",
  summary: "List your public clients",
  description: "Returns your clients, oldest first.",
  middleware: portalGuard(),
  responses: {
    200: successResponse("Your clients.", "ClientsResponse", () => z.object({ clients: z.array(clientSchema) }), {
      clients: [clientExample],
    }),
  },
});

const updateClientRoute = createRoute({
  method: "patch",
  path: "/v1/business/portal/clients/{client_id}",
  operationId: "updateClient",
  summary: "Update a public client",
  description:
    "Owners only. Fields that you omit stay the same. `return_urls` replaces all URLs to which the consent sheet can redirect the person. A share request whose `return_url` exactly matches one of them needs no other evidence that it is yours.",
  middleware: portalGuard(requireOwner, jsonBody),
  request: { params: clientIdParamSchema, body: requestBody(clientChangeSchema, { return_urls: ["https://acme-solar.example/quote"] }) },
  responses: { 200: successResponse("The client.", "UpdatedClientResponse", clientSchema, clientExample) },
  when: { not_found: "The client does not exist or is not yours." },
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
  const revoked = await revokeApiKey(c.var.services, c.var.member, c.req.valid("param").key_id);
  return respond(c, 200, revoked, () => ({ revoked: true as const }));
});

keyRoutes.openapi(createClientRoute, async (c) => {
  const created = await createClient(c.var.services, c.var.member, { ...c.req.valid("json"), idempotencyKey: getIdempotencyKey(c) });
  return respondIdempotent(c, created, clientToWire);
});

keyRoutes.openapi(listClientsRoute, async (c) =>
  success(c, 200, { clients: (await listClients(c.var.services, c.var.member)).map(clientToWire) }),
);

keyRoutes.openapi(updateClientRoute, async (c) => {
  const { services, member } = c.var;
  const { return_urls: returnUrls, require_origin: requireOrigin } = c.req.valid("json");
  const updated = await updateClient(services, member, c.req.valid("param").client_id, { returnUrls, requireOrigin });
  return respond(c, 200, updated, clientToWire);
});
