// Public clients and API keys of a business (CONTRACT 10).
import { z } from "@hono/zod-openapi";
import { jsonBody, noBody } from "../../http/body.ts";
import { answer, success } from "../../http/envelope.ts";
import { answerKept, sentKey, takesKey } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindPortal, ownerOnly } from "../../http/session-guards.ts";
import { answerOf, bodyOf } from "../../http/wire.ts";
import { createClient, createKey, endKey, listClients, listKeys } from "../../operations/portal/keys.ts";
import {
  clientExample,
  clientSchema,
  clientToWire,
  createdKeyExample,
  createdKeySchema,
  createdKeyToWire,
  keyExample,
  keyParam,
  keySchema,
  keyToWire,
  newClientSchema,
  newKeySchema,
} from "./key-schema.ts";

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
