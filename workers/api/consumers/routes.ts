// The routes of a person with an account: who they are, what they keep, who holds something of theirs.
import { createMiddleware } from "hono/factory";
import { shareIdOf } from "../../../core/ids.ts";
import { askedScope } from "../../../core/shares/fields.ts";
import { isoOf } from "../../../core/time.ts";
import { jsonBody, optionalJsonBody } from "../../http/body.ts";
import type { ConsumerCaller } from "../../http/context.ts";
import { refusal, success } from "../../http/envelope.ts";
import { appOrigin, limited } from "../../http/guards.ts";
import { idempotent, keeping } from "../../http/idempotency.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { behindConsumer, forgetSession, provedWithin, sameOrigin } from "../../http/session-guards.ts";
import {
  answerOf,
  bodyOf,
  changeRefusals,
  failures,
  idempotencyHeaders,
  json,
  onlyPeople,
  rateHeaders,
  repeatHeaders,
  sessionRefusals,
} from "../../http/wire.ts";
import { listTokens } from "../../operations/agents/tokens.ts";
import { deleteAccount } from "../../operations/consumers/erase-account.ts";
import { exportAccount } from "../../operations/consumers/export.ts";
import { changeContactFields, readFields } from "../../operations/consumers/fields.ts";
import { listOwnShares, readProfile } from "../../operations/consumers/profile.ts";
import { renewShare, type Renewed } from "../../operations/shares/renew.ts";
import { revokeByPerson, type Revoked } from "../../operations/shares/revoke.ts";
import { pageLanguage } from "../../pages/shared/language.ts";
import { revokedExample } from "../shares/examples.ts";
import {
  renewedSchema,
  renewedToWire,
  renewSchema,
  revokedSchema,
  revokedToWire,
  severSchema,
  shareParam,
  sharesSchema,
  sharesToWire,
} from "../shares/schema.ts";
import {
  changedExample,
  deletedExample,
  exportExample,
  fieldsExample,
  ownShareExample,
  profileExample,
  renewedExample,
} from "./examples.ts";
import { exportSchema, exportToWire } from "./export.ts";
import {
  changedSchema,
  changedToWire,
  changeFromWire,
  deletedSchema,
  deletionSchema,
  fieldChangeSchema,
  fieldsSchema,
  fieldsToWire,
  profileSchema,
  profileToWire,
} from "./schema.ts";

const session = [{ session: [] }];
const notYours = { not_found: "There is no such share of yours.", forbidden: "The session is not a person's." } as const;

const limitChanges = createMiddleware<ConsumerCaller>(async (c, next) => {
  const refused = limited(c, "FIELD_CHANGES", await c.var.services.takeExactly("FIELD_CHANGES", c.var.person.id));
  if (refused !== null) return refused;
  await next();
});

const profileRoute = createRoute({
  method: "get",
  path: "/v1/me",
  operationId: "readProfile",
  tags: ["account"],
  summary: "Read your profile",
  description: "Who is signed in, and how much they share.",
  security: session,
  middleware: behindConsumer(),
  responses: {
    200: {
      description: "The profile.",
      headers: rateHeaders,
      content: answerOf("ProfileAnswer", profileSchema, profileExample),
    },
    ...failures(sessionRefusals, onlyPeople),
  },
});

const fieldsRoute = createRoute({
  method: "get",
  path: "/v1/me/fields",
  operationId: "readContactFields",
  tags: ["account"],
  summary: "Read your contact fields",
  description: "The ten fields that you can share, with the time each was last set.",
  security: session,
  middleware: behindConsumer(),
  responses: {
    200: {
      description: "The fields.",
      headers: rateHeaders,
      content: answerOf("ContactFieldsAnswer", fieldsSchema, fieldsExample),
    },
    ...failures(sessionRefusals, onlyPeople),
  },
});

const changeRoute = createRoute({
  method: "put",
  path: "/v1/me/fields",
  operationId: "changeContactFields",
  tags: ["account"],
  summary: "Change contact fields",
  description:
    "A partial change: what is not named stays, null clears. Every business with an active share whose scope holds a changed field is told, once a group, with the fields of that group in its scope. The same values again change nothing.",
  security: session,
  middleware: behindConsumer(limitChanges, jsonBody),
  request: { body: bodyOf(fieldChangeSchema, { phone: "+1 202 555 0199", address_line2: null }) },
  responses: {
    200: {
      description: "The fields as they are now.",
      headers: rateHeaders,
      content: answerOf("ContactFieldsChangeAnswer", changedSchema, changedExample),
    },
    ...failures([...changeRefusals], { ...onlyPeople, rate_limited: "More than 30 changes a minute, or 120 calls." }),
  },
});

const sharesRoute = createRoute({
  method: "get",
  path: "/v1/me/shares",
  operationId: "listOwnShares",
  tags: ["account"],
  summary: "List the shares you gave",
  description:
    "Everybody with whom you share or shared: active ones first, then newest first, at most 500. `last_delivered_at` is when something of a share last reached the business: it was redeemed, read, or told of a change.",
  security: session,
  middleware: behindConsumer(),
  responses: {
    200: {
      description: "The shares.",
      headers: rateHeaders,
      content: answerOf("OwnSharesAnswer", sharesSchema, { shares: [ownShareExample], count: 1, has_more: false }),
    },
    ...failures(sessionRefusals, onlyPeople),
  },
});

const severRoute = createRoute({
  method: "post",
  path: "/v1/me/sever/{share_id}",
  operationId: "severShare",
  tags: ["account"],
  summary: "Stop a share of yours",
  description: "The same as `POST /v1/shares/{share_id}/revoke` by a person who is signed in.",
  security: session,
  middleware: behindConsumer(optionalJsonBody, idempotent),
  request: {
    params: shareParam,
    headers: idempotencyHeaders,
    body: { required: false, content: json(severSchema, { reason: "Found another provider" }) },
  },
  responses: {
    200: {
      description: "The share as it is now, and the deadline.",
      headers: repeatHeaders,
      content: answerOf("SeverAnswer", revokedSchema, revokedExample),
    },
    ...failures([...changeRefusals, "not_found", "share_inactive", "idempotency_conflict"], {
      ...notYours,
      share_inactive: "It ended by itself, or was renewed.",
    }),
  },
});

const renewRoute = createRoute({
  method: "post",
  path: "/v1/me/shares/{share_id}/renew",
  operationId: "renewShare",
  tags: ["account"],
  summary: "Renew a share",
  description:
    "You consent anew: a fresh share, with the fields as they are now, takes the place of an active one. The business is told by `share.renewed` and reads the values; no code is made.",
  security: session,
  middleware: behindConsumer(jsonBody, idempotent),
  request: {
    params: shareParam,
    headers: idempotencyHeaders,
    body: bodyOf(renewSchema, { consent: true, duration_days: 365 }),
  },
  responses: {
    201: {
      description: "The fresh share, and the one it took the place of.",
      headers: repeatHeaders,
      content: answerOf("RenewAnswer", renewedSchema, renewedExample),
    },
    ...failures(
      [
        ...changeRefusals,
        "not_found",
        "share_inactive",
        "business_suspended",
        "business_inactive",
        "subscription_past_due",
        "idempotency_conflict",
      ],
      { ...notYours, share_inactive: "It is not active any more." },
    ),
  },
});

const deleteRoute = createRoute({
  method: "delete",
  path: "/v1/me",
  operationId: "deleteAccount",
  tags: ["account"],
  summary: "Delete your account",
  description:
    "Ends every share of yours, erases your fields, your address and everything that is kept about you, and signs you out everywhere. It needs a proof of the last five minutes that it is you: sign in again first. Fingerprints, times and statuses of what you shared stay, and name nobody. After a 503 the rest is done within minutes; you may also send it again.",
  security: session,
  middleware: behindConsumer(provedWithin(5), optionalJsonBody),
  request: { body: { required: false, content: json(deletionSchema, { confirm: "DELETE" }) } },
  responses: {
    200: {
      description: "Deleted. The session cookie is cleared.",
      headers: rateHeaders,
      content: answerOf("AccountDeletionAnswer", deletedSchema, deletedExample),
    },
    ...failures([...changeRefusals], {
      forbidden: "The session is not a person's, or its last proof is older than five minutes.",
      storage_unavailable: "A database did not answer. What is left is erased by itself.",
    }),
  },
});

const limitExports = createMiddleware<ConsumerCaller>(async (c, next) => {
  const refused = limited(c, "EXPORTS", await c.var.services.takeExactly("EXPORTS", c.var.person.id));
  if (refused !== null) return refused;
  await next();
});

const exportRoute = createRoute({
  method: "get",
  path: "/v1/me/export",
  operationId: "exportAccount",
  tags: ["account"],
  summary: "Export everything kept about you",
  description:
    "One JSON file, without an envelope: your profile and fields, every share with the values you gave, your audit chain, your removals, and a receipt of each consent. At most five an hour; each is entered in your chain.",
  security: session,
  middleware: behindConsumer(limitExports),
  responses: {
    200: {
      description: "The file, as an attachment.",
      headers: rateHeaders,
      content: json(exportSchema, exportExample),
    },
    ...failures(sessionRefusals, { ...onlyPeople, rate_limited: "More than five in an hour, or 120 calls in a minute." }),
  },
});

export const account = newApi();

account.use("/v1/me", appOrigin({ methods: ["GET", "DELETE"], headers: ["Content-Type"] }), sameOrigin);
account.use("/v1/me/*", appOrigin({ methods: ["GET", "PUT", "POST", "DELETE"], headers: ["Content-Type", "Idempotency-Key"] }), sameOrigin);

account.openapi(profileRoute, async (c) => {
  const profile = await readProfile(c.var.services, c.var.person);
  return profile.ok ? success(c, 200, profileToWire(profile.value)) : refusal(c, profile);
});

account.openapi(deleteRoute, async (c) => {
  const { services, person } = c.var;
  const deleted = await deleteAccount(services, person, pageLanguage(undefined, c.req.header("accept-language")));
  if (!deleted.ok) return refusal(c, deleted);
  forgetSession(c);
  return success(c, 200, { deleted: true as const, shares_revoked: deleted.value.sharesRevoked, fields_erased: true as const });
});

account.openapi(exportRoute, async (c) => {
  const { services, person, consumer } = c.var;
  const [exported, tokens] = await Promise.all([exportAccount(services, person), listTokens(services, consumer)]);
  if (!exported.ok) return refusal(c, exported);
  c.header("Content-Disposition", `attachment; filename="svc-export-${isoOf(exported.value.at).slice(0, 10)}.json"`);
  return c.json(exportToWire(exported.value, tokens, services), 200);
});

account.openapi(fieldsRoute, async (c) => {
  const fields = await readFields(c.var.services, c.var.person);
  return fields.ok ? success(c, 200, fieldsToWire(fields.value)) : refusal(c, fields);
});

account.openapi(changeRoute, async (c) => {
  const change = changeFromWire(c.req.valid("json"));
  if (!change.ok) return refusal(c, change);
  const changed = await changeContactFields(c.var.services, c.var.person, change.value);
  return changed.ok ? success(c, 200, changedToWire(changed.value)) : refusal(c, changed);
});

account.openapi(sharesRoute, async (c) => {
  const { services, person } = c.var;
  return success(c, 200, sharesToWire(await listOwnShares(services, person), services.clock()));
});

account.openapi(severRoute, async (c) => {
  const { services, person, requestId } = c.var;
  const id = shareIdOf(c.req.valid("param").share_id);
  const toWire = (revoked: Revoked) => revokedToWire(revoked, services.clock());
  const asked = { reason: c.req.valid("json").reason ?? null, requestId };
  const revoked = await revokeByPerson(services, id, { person }, asked, keeping(c, 200, toWire));
  return revoked.ok ? success(c, 200, toWire(revoked.value)) : refusal(c, revoked);
});

account.openapi(renewRoute, async (c) => {
  const { services, person, requestId } = c.var;
  const { scope, duration_days: durationDays } = c.req.valid("json");
  const asked = scope == null ? null : askedScope(scope);
  if (asked !== null && !asked.ok) return refusal(c, asked);
  const language = pageLanguage(undefined, c.req.header("accept-language"));
  const id = shareIdOf(c.req.valid("param").share_id);
  const request = { scope: asked === null ? null : asked.value.scope, durationDays: durationDays ?? null, language, requestId };
  const toWire = (renewed: Renewed) => renewedToWire(renewed, services.clock());
  const renewed = await renewShare(services, person, id, request, keeping(c, 201, toWire));
  return renewed.ok ? success(c, 201, toWire(renewed.value)) : refusal(c, renewed);
});
