// Routes that let a consumer manage passkeys. Passkey sign-in is in ../sign-in/routes.ts.
import { z } from "@hono/zod-openapi";
import { addPasskeyProofMinutes } from "../../../core/access/passkey.ts";
import { jsonBody, noBody } from "../../http/body.ts";
import { respond, success } from "../../http/envelope.ts";
import { getRelyingParty } from "../../http/guards/app-origin.ts";
import { idempotencyGuard, respondAndSave } from "../../http/idempotency.ts";
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
  description: "Returns your passkeys, oldest first.",
  middleware: consumerGuard(),
  responses: {
    200: successResponse("Your passkeys.", "PasskeysResponse", z.object({ passkeys: z.array(passkeySchema) }), {
      passkeys: [passkeyExample],
    }),
  },
});

const createPasskeyOptionsRoute = createRoute({
  method: "post",
  path: "/v1/me/passkeys/options",
  operationId: "askForPasskey",
  summary: "Get options to create a passkey",
  description:
    "Returns the options for `navigator.credentials.create()`. The challenge can be used once, within 5 minutes, in this session only. You must have signed in within the last 10 minutes. Idempotency keys are ignored, because a stored challenge might already have been used.",
  middleware: consumerGuard(requireFreshSignIn, noBody),
  responses: {
    200: successResponse("Options for the browser.", "PasskeyCreationResponse", creationOptionsSchema, { options: creationOptionsExample }),
  },
  refuses: ["passkey_limit"],
});

const addPasskeyRoute = createRoute({
  method: "post",
  path: "/v1/me/passkeys",
  operationId: "addPasskey",
  summary: "Add a passkey",
  description:
    "Stores the credential that the authenticator created. You get an email confirming that a passkey was added. You can have up to 10 passkeys. You must have signed in within the last 10 minutes. The challenge is used up even if the credential is refused.",
  middleware: consumerGuard(requireFreshSignIn, jsonBody, idempotencyGuard),
  request: { body: requestBody(newPasskeySchema, { credential: attestationCredentialExample, name: "My phone" }) },
  responses: { 201: successResponse("The passkey was added.", "PasskeyResponse", passkeySchema, { ...passkeyExample, last_used: null }) },
  refuses: ["passkey_limit"],
  when: {
    passkey_refused:
      "The credential was created for another site or challenge, was created without user verification, includes an attestation, or is already registered. The response does not say which.",
  },
});

const removePasskeyRoute = createRoute({
  method: "delete",
  path: "/v1/me/passkeys/{passkey_id}",
  operationId: "removePasskey",
  summary: "Remove a passkey",
  description:
    "You can no longer sign in with the passkey. Sessions that you started with it stay active until they expire or you end them. You must have signed in within the last 10 minutes.",
  middleware: consumerGuard(requireFreshSignIn, noBody),
  request: { params: passkeyIdParamSchema },
  responses: {
    200: successResponse("The passkey was removed.", "RemovedPasskeyResponse", deletedSchema, deletedToWire(passkeyExample.id)),
  },
  when: { not_found: "The passkey does not exist or is not yours." },
});

export const passkeyRoutes = createApi();

passkeyRoutes.openapi(listPasskeysRoute, async (c) => {
  const passkeys = await listPasskeys(c.var.services, c.var.consumer);
  return success(c, 200, { passkeys: passkeys.map(passkeyToWire) });
});

passkeyRoutes.openapi(createPasskeyOptionsRoute, async (c) => {
  const requested = await requestPasskeyRegistration(c.var.services, c.var.consumer, getRelyingParty(c));
  return respond(c, 200, requested, (options) => ({ options: { ...options } }));
});

passkeyRoutes.openapi(addPasskeyRoute, async (c) => {
  const { credential, name } = c.req.valid("json");
  const request = {
    registration: credential,
    name: name ?? null,
    userAgent: c.req.header("user-agent"),
    language: c.var.language,
  };
  const { services, consumer } = c.var;
  return respondAndSave(c, 201, passkeyToWire, (save) => registerPasskey(services, consumer, getRelyingParty(c), request, save));
});

passkeyRoutes.openapi(removePasskeyRoute, async (c) => {
  return respond(c, 200, await removePasskey(c.var.services, c.var.consumer, c.req.valid("param").passkey_id), deletedToWire);
});
