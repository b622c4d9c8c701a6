// The routes of a consumer's passkeys. Signing in with one is in ../access/routes.ts.
import { z } from "@hono/zod-openapi";
import type { RefusalCode } from "../../../core/refusals.ts";
import { addingNeedsProofMinutes } from "../../../core/access/passkey.ts";
import { jsonBody, optionalJsonBody } from "../../http/body.ts";
import { failure, refusal, success } from "../../http/envelope.ts";
import { appOrigin, relyingParty } from "../../http/guards.ts";
import { idempotent, keeping } from "../../http/idempotency.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { behindConsumer, provedWithin, sameOrigin } from "../../http/session-guards.ts";
import {
  answerOf,
  bodyOf,
  bodyRefusals,
  failures,
  idempotencyHeaders,
  rateHeaders,
  repeatHeaders,
  sessionRefusals,
} from "../../http/wire.ts";
import { addPasskey, askForPasskey, listPasskeys, removePasskey } from "../../operations/access/passkeys.ts";
import { pageLanguage } from "../../pages/shared/language.ts";
import { creationExample, madeExample, passkeyExample } from "./examples.ts";
import { addSchema, creationSchema, passkeyParam, passkeySchema, passkeyToWire } from "./schema.ts";

const writeRefusals = [...sessionRefusals, "csrf_failed", ...bodyRefusals] as const;
const reasons: Partial<Record<RefusalCode, string>> = {
  unauthorized: "No session, or it has ended.",
  forbidden: "A member of a business is signed in, not a consumer.",
  rate_limited: "More than 120 a minute by one person.",
  invalid_request: "There is a body, and it is not JSON. None is needed.",
};
const freshReasons: typeof reasons = {
  ...reasons,
  forbidden:
    "A member of a business is signed in, not a consumer; or the person's last proof, by code or passkey, is older than ten minutes.",
};
const fresh = provedWithin(addingNeedsProofMinutes);

const common = { tags: ["sign-in"], security: [{ session: [] }] };

const listedRoute = createRoute({
  ...common,
  method: "get",
  path: "/v1/me/passkeys",
  operationId: "listPasskeys",
  summary: "List your passkeys",
  description: "Oldest first.",
  middleware: behindConsumer(),
  responses: {
    200: {
      description: "The passkeys.",
      headers: rateHeaders,
      content: answerOf("PasskeysAnswer", z.object({ passkeys: z.array(passkeySchema) }), { passkeys: [passkeyExample] }),
    },
    ...failures(sessionRefusals, reasons),
  },
});

const askedRoute = createRoute({
  ...common,
  method: "post",
  path: "/v1/me/passkeys/options",
  operationId: "askForPasskey",
  summary: "Ask for what a new passkey is made with",
  description:
    "The options for `navigator.credentials.create()`. Their challenge is good for five minutes, once, and only in the session that asked. Needs a proof of the last ten minutes: sign in again where it is older. No idempotency key: a kept challenge may be spent already.",
  middleware: behindConsumer(fresh, optionalJsonBody),
  responses: {
    200: {
      description: "The options.",
      headers: rateHeaders,
      content: answerOf("PasskeyCreationAnswer", creationSchema, { options: creationExample }),
    },
    ...failures([...writeRefusals, "passkey_limit"], freshReasons),
  },
});

const addedRoute = createRoute({
  ...common,
  method: "post",
  path: "/v1/me/passkeys",
  operationId: "addPasskey",
  summary: "Add a passkey",
  description:
    "What the authenticator answered to the options. You get a mail that a passkey was added. At most ten. Needs a proof of the last ten minutes, as the options do; the challenge is spent whether or not the answer is accepted.",
  middleware: behindConsumer(fresh, jsonBody, idempotent),
  request: {
    headers: idempotencyHeaders,
    body: bodyOf(addSchema, { credential: madeExample, name: "My phone" }),
  },
  responses: {
    201: {
      description: "The passkey is added.",
      headers: repeatHeaders,
      content: answerOf("PasskeyAnswer", passkeySchema, { ...passkeyExample, last_used: null }),
    },
    ...failures([...writeRefusals, "passkey_refused", "passkey_limit", "idempotency_conflict"], {
      ...freshReasons,
      invalid_request: "The message names the input and the rule.",
      passkey_refused:
        "Made elsewhere, for another challenge, by nobody who was verified, attested by a maker, or there already: one answer for all of them.",
    }),
  },
});

const removedRoute = createRoute({
  ...common,
  method: "delete",
  path: "/v1/me/passkeys/{passkey_id}",
  operationId: "removePasskey",
  summary: "Remove a passkey",
  description: "Nobody signs in with it from now on. Sessions that it began go on until they are ended.",
  middleware: behindConsumer(optionalJsonBody),
  request: { params: passkeyParam },
  responses: {
    200: {
      description: "The passkey is removed.",
      headers: rateHeaders,
      content: answerOf("RemovedPasskeyAnswer", z.object({ deleted: z.literal(true), id: z.string() }), {
        deleted: true,
        id: passkeyExample.id,
      }),
    },
    ...failures([...writeRefusals, "not_found"], { ...reasons, not_found: "There is no such passkey, or it is not yours." }),
  },
});

export const passkeys = newApi();

for (const path of ["/v1/me/passkeys", "/v1/me/passkeys/:passkey_id"])
  passkeys.use(path, appOrigin({ methods: ["GET", "POST", "DELETE"], headers: ["Content-Type", "Idempotency-Key"] }), sameOrigin);

passkeys.openapi(listedRoute, async (c) => {
  const own = await listPasskeys(c.var.services, c.var.consumer);
  return success(c, 200, { passkeys: own.map(passkeyToWire) });
});

passkeys.openapi(askedRoute, async (c) => {
  const asked = await askForPasskey(c.var.services, c.var.consumer, relyingParty(c));
  return asked.ok ? success(c, 200, { options: { ...asked.value } }) : refusal(c, asked);
});

passkeys.openapi(addedRoute, async (c) => {
  const { credential, name } = c.req.valid("json");
  const request = {
    made: credential,
    name: name ?? null,
    userAgent: c.req.header("user-agent"),
    language: pageLanguage(undefined, c.req.header("accept-language")),
  };
  const added = await addPasskey(c.var.services, c.var.consumer, relyingParty(c), request, keeping(c, 201, passkeyToWire));
  return added.ok ? success(c, 201, passkeyToWire(added.value)) : refusal(c, added);
});

passkeys.openapi(removedRoute, async (c) => {
  const { passkey_id: id } = c.req.valid("param");
  if (id === null) return failure(c, "not_found");
  const removed = await removePasskey(c.var.services, c.var.consumer, id);
  return removed.ok ? success(c, 200, { deleted: true as const, id: removed.value }) : refusal(c, removed);
});
