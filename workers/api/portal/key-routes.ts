// Public clients and API keys of a business (CONTRACT 10).
import { z } from "@hono/zod-openapi";
import { jsonBody, optionalJsonBody } from "../../http/body.ts";
import { failure, refusal, success } from "../../http/envelope.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { noBody, portal, readFailures, writeFailures } from "../../http/portal-wire.ts";
import { behindPortal, ownerOnly } from "../../http/session-guards.ts";
import { answerOf, bodyOf, idempotencyHeaders, rateHeaders, repeatHeaders } from "../../http/wire.ts";
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

const createRouteOfKey = createRoute({
  ...portal,
  method: "post",
  path: "/v1/business/portal/keys",
  operationId: "createKey",
  summary: "Make an API key",
  description: "Owners only. The key is shown in this answer and stored as a hash: keep it. At most 20 that are not revoked.",
  middleware: behindPortal(ownerOnly, jsonBody),
  request: { headers: idempotencyHeaders, body: bodyOf(newKeySchema, { name: "CRM", environment: "live" }) },
  responses: {
    201: {
      description: "The key, in full.",
      headers: repeatHeaders,
      content: answerOf("CreatedKeyAnswer", createdKeySchema, createdKeyExample),
    },
    ...writeFailures(["owner_required", "key_limit", "idempotency_conflict"]),
  },
});

const keysRoute = createRoute({
  ...portal,
  method: "get",
  path: "/v1/business/portal/keys",
  operationId: "listKeys",
  summary: "List your API keys",
  description: "Keys that work, oldest first; then the last hundred that were revoked.",
  middleware: behindPortal(),
  responses: {
    200: {
      description: "The keys, without what they are.",
      headers: rateHeaders,
      content: answerOf("KeysAnswer", z.object({ keys: z.array(keySchema) }), { keys: [keyExample] }),
    },
    ...readFailures(),
  },
});

const revokeRoute = createRoute({
  ...portal,
  method: "delete",
  path: "/v1/business/portal/keys/{key_id}",
  operationId: "revokeKey",
  summary: "Revoke an API key",
  description: "Owners only. It opens nothing from the next request on. A second time changes nothing.",
  middleware: behindPortal(ownerOnly, optionalJsonBody),
  request: { params: keyParam },
  responses: {
    200: {
      description: "It is revoked.",
      headers: rateHeaders,
      content: answerOf("RevokedKeyAnswer", z.object({ revoked: z.literal(true) }), { revoked: true }),
    },
    ...writeFailures(["owner_required", "not_found"], { invalid_request: noBody }),
  },
});

const createRouteOfClient = createRoute({
  ...portal,
  method: "post",
  path: "/v1/business/portal/clients",
  operationId: "createClient",
  summary: "Make a public client",
  description: "Owners only. Its id goes into the tag on your pages. At most 50.",
  middleware: behindPortal(ownerOnly, jsonBody),
  request: { headers: idempotencyHeaders, body: bodyOf(newClientSchema, { name: "Website", environment: "live" }) },
  responses: {
    201: { description: "The client.", headers: repeatHeaders, content: answerOf("CreatedClientAnswer", clientSchema, clientExample) },
    ...writeFailures(["owner_required", "client_limit", "idempotency_conflict"]),
  },
});

const clientsRoute = createRoute({
  ...portal,
  method: "get",
  path: "/v1/business/portal/clients",
  operationId: "listClients",
  summary: "List your public clients",
  description: "Oldest first.",
  middleware: behindPortal(),
  responses: {
    200: {
      description: "The clients.",
      headers: rateHeaders,
      content: answerOf("ClientsAnswer", z.object({ clients: z.array(clientSchema) }), { clients: [clientExample] }),
    },
    ...readFailures(),
  },
});

export const keys = newApi();

keys.openapi(createRouteOfKey, async (c) => {
  const { name, environment } = c.req.valid("json");
  const idempotencyKey = c.req.valid("header")["Idempotency-Key"] ?? null;
  const request = { name, environment: environment === "live" ? ("live" as const) : ("sandbox" as const), idempotencyKey };
  const created = await createKey(c.var.services, c.var.member, request);
  if (!created.ok) return refusal(c, created);
  if (created.value.replayed) c.header("Idempotency-Replayed", "true");
  return success(c, 201, createdKeyToWire(created.value.value));
});

keys.openapi(keysRoute, async (c) => success(c, 200, { keys: (await listKeys(c.var.services, c.var.member)).map(keyToWire) }));

keys.openapi(revokeRoute, async (c) => {
  const { key_id: id } = c.req.valid("param");
  if (id === null) return failure(c, "not_found");
  const ended = await endKey(c.var.services, c.var.member, id);
  return ended.ok ? success(c, 200, { revoked: true as const }) : refusal(c, ended);
});

keys.openapi(createRouteOfClient, async (c) => {
  const idempotencyKey = c.req.valid("header")["Idempotency-Key"] ?? null;
  const created = await createClient(c.var.services, c.var.member, { ...c.req.valid("json"), idempotencyKey });
  if (!created.ok) return refusal(c, created);
  if (created.value.replayed) c.header("Idempotency-Replayed", "true");
  return success(c, 201, clientToWire(created.value.value));
});

keys.openapi(clientsRoute, async (c) => success(c, 200, { clients: (await listClients(c.var.services, c.var.member)).map(clientToWire) }));
