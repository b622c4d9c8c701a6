// The routes of a person with an account: who they are, what they keep, who holds something of theirs.
import { createMiddleware } from "hono/factory";
import type { z } from "@hono/zod-openapi";
import { shareIdOf } from "../../../core/ids.ts";
import { askedScope } from "../../../core/shares/fields.ts";
import { jsonBody, optionalJsonBody } from "../../http/body.ts";
import type { PersonCaller } from "../../http/context.ts";
import { refusal, success } from "../../http/envelope.ts";
import { appOrigin, limited } from "../../http/guards.ts";
import { idempotent } from "../../http/idempotency.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { behindAccount, sameOrigin } from "../../http/session-guards.ts";
import { envelope, enveloped, failures, idempotencyHeaders, rateHeaders, repeatHeaders } from "../../http/wire.ts";
import { changeContactFields, readFields } from "../../operations/consumers/fields.ts";
import { listOwnShares, readProfile } from "../../operations/consumers/profile.ts";
import { renewShare } from "../../operations/shares/renew.ts";
import { revokeByPerson } from "../../operations/shares/revoke.ts";
import { pageLanguage } from "../../pages/language.ts";
import { revokedExample, shareExample } from "../shares/examples.ts";
import {
  renewedSchema,
  renewSchema,
  revokedSchema,
  revokedToWire,
  severSchema,
  shareParam,
  sharesSchema,
  sharesToWire,
  shareToWire,
} from "../shares/schema.ts";
import { changedExample, fieldsExample, profileExample, renewedExample } from "./examples.ts";
import {
  changedSchema,
  changedToWire,
  changeFromWire,
  fieldChangeSchema,
  fieldsSchema,
  fieldsToWire,
  profileSchema,
  profileToWire,
} from "./schema.ts";

const session = [{ session: [] }];
const sessionRefusals = ["unauthorized", "forbidden", "rate_limited", "storage_unavailable"] as const;
const bodyRefusals = ["invalid_request", "csrf_failed", "payload_too_large", "unsupported_media_type"] as const;
const notYours = { not_found: "There is no such share of yours.", forbidden: "The session is not a person's." } as const;
const onlyPeople = { forbidden: "The session is not a person's." } as const;
const json = <S extends z.ZodType>(schema: S, example: object) => ({ "application/json": { schema, example } });

const limitChanges = createMiddleware<PersonCaller>(async (c, next) => {
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
  middleware: behindAccount(),
  responses: {
    200: {
      description: "The profile.",
      headers: rateHeaders,
      content: json(envelope("ProfileAnswer", profileSchema), enveloped(profileExample)),
    },
    ...failures([...sessionRefusals], onlyPeople),
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
  middleware: behindAccount(),
  responses: {
    200: {
      description: "The fields.",
      headers: rateHeaders,
      content: json(envelope("ContactFieldsAnswer", fieldsSchema), enveloped(fieldsExample)),
    },
    ...failures([...sessionRefusals], onlyPeople),
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
  middleware: behindAccount(limitChanges, jsonBody),
  request: { body: { required: true, content: json(fieldChangeSchema, { phone: "+1 202 555 0199", address_line2: null }) } },
  responses: {
    200: {
      description: "The fields as they are now.",
      headers: rateHeaders,
      content: json(envelope("ContactFieldsChangeAnswer", changedSchema), enveloped(changedExample)),
    },
    ...failures([...bodyRefusals, ...sessionRefusals], { ...onlyPeople, rate_limited: "More than 30 changes a minute, or 120 calls." }),
  },
});

const sharesRoute = createRoute({
  method: "get",
  path: "/v1/me/shares",
  operationId: "listOwnShares",
  tags: ["account"],
  summary: "List your shares",
  description: "Everybody with whom you share or shared: active ones first, then newest first, at most 500.",
  security: session,
  middleware: behindAccount(),
  responses: {
    200: {
      description: "The shares.",
      headers: rateHeaders,
      content: json(envelope("OwnSharesAnswer", sharesSchema), enveloped({ shares: [shareExample], count: 1, has_more: false })),
    },
    ...failures([...sessionRefusals], onlyPeople),
  },
});

const severRoute = createRoute({
  method: "post",
  path: "/v1/me/sever/{share_id}",
  operationId: "severShare",
  tags: ["account"],
  summary: "Stop a share",
  description: "The same as `POST /v1/shares/{share_id}/revoke` by a person who is signed in.",
  security: session,
  middleware: behindAccount(optionalJsonBody, idempotent),
  request: {
    params: shareParam,
    headers: idempotencyHeaders,
    body: { required: false, content: json(severSchema, { reason: "Found another provider" }) },
  },
  responses: {
    200: {
      description: "Stopped.",
      headers: repeatHeaders,
      content: json(envelope("SeverAnswer", revokedSchema), enveloped(revokedExample)),
    },
    ...failures([...bodyRefusals, ...sessionRefusals, "not_found", "share_inactive", "idempotency_conflict"], {
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
  middleware: behindAccount(jsonBody, idempotent),
  request: {
    params: shareParam,
    headers: idempotencyHeaders,
    body: { required: true, content: json(renewSchema, { consent: true, duration_days: 365 }) },
  },
  responses: {
    201: {
      description: "Renewed.",
      headers: repeatHeaders,
      content: json(envelope("RenewAnswer", renewedSchema), enveloped(renewedExample)),
    },
    ...failures(
      [
        ...bodyRefusals,
        ...sessionRefusals,
        "not_found",
        "share_inactive",
        "business_suspended",
        "business_inactive",
        "subscription_past_due",
        "origin_mismatch",
        "idempotency_conflict",
      ],
      { ...notYours, share_inactive: "It is not active any more." },
    ),
  },
});

export const account = newApi();

account.use("/v1/me", appOrigin({ methods: ["GET", "DELETE"], headers: ["Content-Type"] }), sameOrigin);
account.use("/v1/me/*", appOrigin({ methods: ["GET", "PUT", "POST", "DELETE"], headers: ["Content-Type", "Idempotency-Key"] }), sameOrigin);

account.openapi(profileRoute, async (c) => {
  const profile = await readProfile(c.var.services, c.var.person);
  return profile.ok ? success(c, 200, profileToWire(profile.value)) : refusal(c, profile);
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
  const revoked = await revokeByPerson(services, id, { person }, { reason: c.req.valid("json").reason ?? null, requestId });
  return revoked.ok ? success(c, 200, revokedToWire(revoked.value, services.clock())) : refusal(c, revoked);
});

account.openapi(renewRoute, async (c) => {
  const { services, person, requestId } = c.var;
  const { scope, duration_days: durationDays } = c.req.valid("json");
  const asked = scope == null ? null : askedScope(scope);
  if (asked !== null && !asked.ok) return refusal(c, asked);
  const language = pageLanguage(undefined, c.req.header("accept-language"));
  const renewed = await renewShare(services, person, shareIdOf(c.req.valid("param").share_id), {
    scope: asked === null ? null : asked.value.scope,
    durationDays: durationDays ?? null,
    language,
    requestId,
  });
  if (!renewed.ok) return refusal(c, renewed);
  const { share, superseded } = renewed.value;
  return success(c, 201, { share: shareToWire(share, services.clock()), superseded: { id: superseded, status: "superseded" as const } });
});
