// The routes of a consumer's passkeys. Signing in with one is in ../access/routes.ts.
import { z } from "@hono/zod-openapi";
import { addingNeedsProofMinutes } from "../../../core/access/passkey.ts";
import { jsonBody, noBody } from "../../http/body.ts";
import { answer, success } from "../../http/envelope.ts";
import { relyingParty } from "../../http/guards.ts";
import { idempotent, keeping } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindConsumer, provedWithin } from "../../http/session-guards.ts";
import { answerOf, bodyOf, deletedSchema, deletedToWire } from "../../http/wire.ts";
import { addPasskey, askForPasskey, listPasskeys, removePasskey } from "../../operations/access/passkeys.ts";
import {
  creationExample,
  madeExample,
  passkeyExample,
  addSchema,
  creationSchema,
  passkeyParam,
  passkeySchema,
  passkeyToWire,
} from "./schema.ts";

const createRoute = routesOf("sign-in");

const fresh = provedWithin(addingNeedsProofMinutes);

const listedRoute = createRoute({
  method: "get",
  path: "/v1/me/passkeys",
  operationId: "listPasskeys",
  summary: "List your passkeys",
  description: "Oldest first.",
  middleware: behindConsumer(),
  responses: {
    200: answerOf("The passkeys.", "PasskeysAnswer", z.object({ passkeys: z.array(passkeySchema) }), { passkeys: [passkeyExample] }),
  },
});

const askedRoute = createRoute({
  method: "post",
  path: "/v1/me/passkeys/options",
  operationId: "askForPasskey",
  summary: "Ask for what a new passkey is made with",
  description:
    "The options for `navigator.credentials.create()`. Their challenge is good for five minutes, once, and only in the session that asked. Needs a proof of the last ten minutes: sign in again where it is older. No idempotency key: a kept challenge may be spent already.",
  middleware: behindConsumer(fresh, noBody),
  responses: { 200: answerOf("The options.", "PasskeyCreationAnswer", creationSchema, { options: creationExample }) },
  refuses: ["passkey_limit"],
});

const addedRoute = createRoute({
  method: "post",
  path: "/v1/me/passkeys",
  operationId: "addPasskey",
  summary: "Add a passkey",
  description:
    "What the authenticator answered to the options. You get a mail that a passkey was added. At most ten. Needs a proof of the last ten minutes, as the options do; the challenge is spent whether or not the answer is accepted.",
  middleware: behindConsumer(fresh, jsonBody, idempotent),
  request: { body: bodyOf(addSchema, { credential: madeExample, name: "My phone" }) },
  responses: { 201: answerOf("The passkey is added.", "PasskeyAnswer", passkeySchema, { ...passkeyExample, last_used: null }) },
  refuses: ["passkey_limit"],
  when: {
    passkey_refused:
      "Made elsewhere, for another challenge, by nobody who was verified, attested by a maker, or there already: one answer for all of them.",
  },
});

const removedRoute = createRoute({
  method: "delete",
  path: "/v1/me/passkeys/{passkey_id}",
  operationId: "removePasskey",
  summary: "Remove a passkey",
  description: "Nobody signs in with it from now on. Sessions that it began go on until they are ended.",
  middleware: behindConsumer(noBody),
  request: { params: passkeyParam },
  responses: { 200: answerOf("The passkey is removed.", "RemovedPasskeyAnswer", deletedSchema, deletedToWire(passkeyExample.id)) },
  when: { not_found: "There is no such passkey, or it is not yours." },
});

export const passkeys = newApi();

passkeys.openapi(listedRoute, async (c) => {
  const own = await listPasskeys(c.var.services, c.var.consumer);
  return success(c, 200, { passkeys: own.map(passkeyToWire) });
});

passkeys.openapi(askedRoute, async (c) => {
  const asked = await askForPasskey(c.var.services, c.var.consumer, relyingParty(c));
  return answer(c, 200, asked, (options) => ({ options: { ...options } }));
});

passkeys.openapi(addedRoute, async (c) => {
  const { credential, name } = c.req.valid("json");
  const request = {
    made: credential,
    name: name ?? null,
    userAgent: c.req.header("user-agent"),
    language: c.var.language,
  };
  const added = await addPasskey(c.var.services, c.var.consumer, relyingParty(c), request, keeping(c, 201, passkeyToWire));
  return answer(c, 201, added, passkeyToWire);
});

passkeys.openapi(removedRoute, async (c) => {
  return answer(c, 200, await removePasskey(c.var.services, c.var.consumer, c.req.valid("param").passkey_id), deletedToWire);
});
