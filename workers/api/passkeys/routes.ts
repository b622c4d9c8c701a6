// The routes of a consumer's passkeys. Signing in with one is in ../access/routes.ts.
import { z } from "@hono/zod-openapi";
import { addPasskeyProofMinutes } from "../../../core/access/passkey.ts";
import { jsonBody, noBody } from "../../http/body.ts";
import { respond, success } from "../../http/envelope.ts";
import { getRelyingParty } from "../../http/guards/app-origin.ts";
import { idempotencyGuard, saveIdempotentResponse } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { consumerGuard } from "../../http/guards/consumer.ts";
import { requireRecentProof } from "../../http/guards/recent-proof.ts";
import { successResponse, requestBody, deletedSchema, deletedToWire } from "../../http/wire.ts";
import { listPasskeys } from "../../operations/access/list-passkeys.ts";
import { registerPasskey } from "../../operations/access/register-passkey.ts";
import { removePasskey } from "../../operations/access/remove-passkey.ts";
import { requestPasskeyRegistration } from "../../operations/access/request-passkey-registration.ts";
import {
  creationOptionsExample,
  attestationCredentialExample,
  passkeyExample,
  newPasskeySchema,
  creationOptionsSchema,
  passkeyIdParamSchema,
  passkeySchema,
  passkeyToWire,
} from "./schema.ts";

const createRoute = createRouteFactory("sign-in");

const requireFreshSignIn = requireRecentProof(addPasskeyProofMinutes);

const listPasskeysRoute = createRoute({
  method: "get",
  path: "/v1/me/passkeys",
  operationId: "listPasskeys",
  summary: "List your passkeys",
  description: "Oldest first.",
  middleware: consumerGuard(),
  responses: {
    200: successResponse("The passkeys.", "PasskeysAnswer", z.object({ passkeys: z.array(passkeySchema) }), { passkeys: [passkeyExample] }),
  },
});

const createPasskeyOptionsRoute = createRoute({
  method: "post",
  path: "/v1/me/passkeys/options",
  operationId: "askForPasskey",
  summary: "Ask for what a new passkey is made with",
  description:
    "The options for `navigator.credentials.create()`. Their challenge is good for five minutes, once, and only in the session that asked. Needs a proof of the last ten minutes: sign in again where it is older. No idempotency key: a kept challenge may be spent already.",
  middleware: consumerGuard(requireFreshSignIn, noBody),
  responses: { 200: successResponse("The options.", "PasskeyCreationAnswer", creationOptionsSchema, { options: creationOptionsExample }) },
  refuses: ["passkey_limit"],
});

const addPasskeyRoute = createRoute({
  method: "post",
  path: "/v1/me/passkeys",
  operationId: "addPasskey",
  summary: "Add a passkey",
  description:
    "What the authenticator answered to the options. You get a mail that a passkey was added. At most ten. Needs a proof of the last ten minutes, as the options do; the challenge is spent whether or not the answer is accepted.",
  middleware: consumerGuard(requireFreshSignIn, jsonBody, idempotencyGuard),
  request: { body: requestBody(newPasskeySchema, { credential: attestationCredentialExample, name: "My phone" }) },
  responses: { 201: successResponse("The passkey is added.", "PasskeyAnswer", passkeySchema, { ...passkeyExample, last_used: null }) },
  refuses: ["passkey_limit"],
  when: {
    passkey_refused:
      "Made elsewhere, for another challenge, by nobody who was verified, attested by a maker, or there already: one answer for all of them.",
  },
});

const removePasskeyRoute = createRoute({
  method: "delete",
  path: "/v1/me/passkeys/{passkey_id}",
  operationId: "removePasskey",
  summary: "Remove a passkey",
  description: "Nobody signs in with it from now on. Sessions that it began go on until they are ended.",
  middleware: consumerGuard(noBody),
  request: { params: passkeyIdParamSchema },
  responses: { 200: successResponse("The passkey is removed.", "RemovedPasskeyAnswer", deletedSchema, deletedToWire(passkeyExample.id)) },
  when: { not_found: "There is no such passkey, or it is not yours." },
});

export const passkeyRoutes = createApi();

passkeyRoutes.openapi(listPasskeysRoute, async (c) => {
  const own = await listPasskeys(c.var.services, c.var.consumer);
  return success(c, 200, { passkeys: own.map(passkeyToWire) });
});

passkeyRoutes.openapi(createPasskeyOptionsRoute, async (c) => {
  const asked = await requestPasskeyRegistration(c.var.services, c.var.consumer, getRelyingParty(c));
  return respond(c, 200, asked, (options) => ({ options: { ...options } }));
});

passkeyRoutes.openapi(addPasskeyRoute, async (c) => {
  const { credential, name } = c.req.valid("json");
  const request = {
    made: credential,
    name: name ?? null,
    userAgent: c.req.header("user-agent"),
    language: c.var.language,
  };
  const added = await registerPasskey(
    c.var.services,
    c.var.consumer,
    getRelyingParty(c),
    request,
    saveIdempotentResponse(c, 201, passkeyToWire),
  );
  return respond(c, 201, added, passkeyToWire);
});

passkeyRoutes.openapi(removePasskeyRoute, async (c) => {
  return respond(c, 200, await removePasskey(c.var.services, c.var.consumer, c.req.valid("param").passkey_id), deletedToWire);
});
