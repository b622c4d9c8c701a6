// The routes of a person with an account: who they are, what they keep, who holds something of theirs.
import { askedScope } from "../../../core/shares/fields.ts";
import { isoOf } from "../../../core/time.ts";
import { jsonBody, optionalJsonBody } from "../../http/body.ts";
import { answer, refusal, success } from "../../http/envelope.ts";
import { limitByAccount } from "../../http/guards.ts";
import { idempotent, keeping } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindConsumer, forgetSession, provedWithin } from "../../http/session-guards.ts";
import { answerOf, bodyOf, json, optionalBodyOf } from "../../http/wire.ts";
import { listTokens } from "../../operations/agents/tokens.ts";
import { deleteAccount } from "../../operations/consumers/erase-account.ts";
import { exportAccount } from "../../operations/consumers/export.ts";
import { changeContactFields, readFields } from "../../operations/consumers/fields.ts";
import { listOwnShares, readProfile } from "../../operations/consumers/profile.ts";
import { renewShare, type Renewed } from "../../operations/shares/renew.ts";
import { revokeByPerson, type Revoked } from "../../operations/shares/revoke.ts";
import { revokedExample } from "../shares/examples.ts";
import * as shares from "../shares/schema.ts";
import * as wire from "./schema.ts";
import { exportSchema, exportToWire } from "./export.ts";

const createRoute = routesOf("account");

const notYours = { not_found: "There is no such share of yours." } as const;

const limitChanges = limitByAccount("FIELD_CHANGES", "More than 30 changes a minute, or 120 calls.");

const profileRoute = createRoute({
  method: "get",
  path: "/v1/me",
  operationId: "readProfile",
  summary: "Read your profile",
  description: "Who is signed in, and how much they share.",
  middleware: behindConsumer(),
  responses: { 200: answerOf("The profile.", "ProfileAnswer", wire.profileSchema, wire.profileExample) },
});

const fieldsRoute = createRoute({
  method: "get",
  path: "/v1/me/fields",
  operationId: "readContactFields",
  summary: "Read your contact fields",
  description: "The ten fields that you can share, with the time each was last set.",
  middleware: behindConsumer(),
  responses: { 200: answerOf("The fields.", "ContactFieldsAnswer", wire.fieldsSchema, wire.fieldsExample) },
});

const changeRoute = createRoute({
  method: "put",
  path: "/v1/me/fields",
  operationId: "changeContactFields",
  summary: "Change contact fields",
  description:
    "A partial change: what is not named stays, null clears. Every business with an active share whose scope holds a changed field is told, once a group, with the fields of that group in its scope. The same values again change nothing.",
  middleware: behindConsumer(limitChanges, jsonBody),
  request: { body: bodyOf(wire.fieldChangeSchema, { phone: "+1 202 555 0199", address_line2: null }) },
  responses: { 200: answerOf("The fields as they are now.", "ContactFieldsChangeAnswer", wire.changedSchema, wire.changedExample) },
});

const sharesRoute = createRoute({
  method: "get",
  path: "/v1/me/shares",
  operationId: "listOwnShares",
  summary: "List the shares you gave",
  description:
    "Everybody with whom you share or shared: active ones first, then newest first, at most 500. `last_delivered_at` is when something of a share last reached the business: it was redeemed, read, or told of a change.",
  middleware: behindConsumer(),
  responses: {
    200: answerOf("The shares.", "OwnSharesAnswer", shares.sharesSchema, { shares: [wire.ownShareExample], count: 1, has_more: false }),
  },
});

const severRoute = createRoute({
  method: "post",
  path: "/v1/me/sever/{share_id}",
  operationId: "severShare",
  summary: "Stop a share of yours",
  description: "The same as `POST /v1/shares/{share_id}/revoke` by a person who is signed in.",
  middleware: behindConsumer(optionalJsonBody, idempotent),
  request: { params: shares.shareParam, body: optionalBodyOf(shares.severSchema, { reason: "Found another provider" }) },
  responses: { 200: answerOf("The share as it is now, and the deadline.", "SeverAnswer", shares.revokedSchema, revokedExample) },
  when: { ...notYours, share_inactive: "It ended by itself, or was renewed." },
});

const renewRoute = createRoute({
  method: "post",
  path: "/v1/me/shares/{share_id}/renew",
  operationId: "renewShare",
  summary: "Renew a share",
  description:
    "You consent anew: a fresh share, with the fields as they are now, takes the place of an active one. The business is told by `share.renewed` and reads the values; no code is made.",
  middleware: behindConsumer(jsonBody, idempotent),
  request: { params: shares.shareParam, body: bodyOf(shares.renewSchema, { consent: true, duration_days: 365 }) },
  responses: {
    201: answerOf("The fresh share, and the one it took the place of.", "RenewAnswer", shares.renewedSchema, wire.renewedExample),
  },
  refuses: ["business_suspended", "business_inactive", "subscription_past_due"],
  when: { ...notYours, share_inactive: "It is not active any more." },
});

const deleteRoute = createRoute({
  method: "delete",
  path: "/v1/me",
  operationId: "deleteAccount",
  summary: "Delete your account",
  description:
    "Ends every share of yours, erases your fields, your address and everything that is kept about you, and signs you out everywhere. It needs a proof of the last five minutes that it is you: sign in again first. Fingerprints, times and statuses of what you shared stay, and name nobody. After a 503 the rest is done within minutes; you may also send it again.",
  middleware: behindConsumer(provedWithin(5), optionalJsonBody),
  request: { body: optionalBodyOf(wire.deletionSchema, { confirm: "DELETE" }) },
  responses: { 200: answerOf("Deleted. The session cookie is cleared.", "AccountDeletionAnswer", wire.deletedSchema, wire.deletedExample) },
  when: { storage_unavailable: "A database did not answer. What is left is erased by itself." },
});

const limitExports = limitByAccount("EXPORTS", "More than five in an hour, or 120 calls in a minute.");

const exportRoute = createRoute({
  method: "get",
  path: "/v1/me/export",
  operationId: "exportAccount",
  summary: "Export everything kept about you",
  description:
    "One JSON file, without an envelope: your profile and fields, every share with the values you gave, your audit chain, your removals, and a receipt of each consent. At most five an hour; each is entered in your chain.",
  middleware: behindConsumer(limitExports),
  responses: { 200: { description: "The file, as an attachment.", content: json(exportSchema, wire.exportExample) } },
});

export const account = newApi();

account.openapi(profileRoute, async (c) => answer(c, 200, await readProfile(c.var.services, c.var.person), wire.profileToWire));

account.openapi(deleteRoute, async (c) => {
  const deleted = await deleteAccount(c.var.services, c.var.person, c.var.language);
  if (deleted.ok) forgetSession(c);
  return answer(c, 200, deleted, ({ sharesRevoked }) => ({
    deleted: true as const,
    shares_revoked: sharesRevoked,
    fields_erased: true as const,
  }));
});

account.openapi(exportRoute, async (c) => {
  const { services, person, consumer } = c.var;
  const [exported, tokens] = await Promise.all([exportAccount(services, person), listTokens(services, consumer)]);
  if (!exported.ok) return refusal(c, exported);
  c.header("Content-Disposition", `attachment; filename="svc-export-${isoOf(exported.value.at).slice(0, 10)}.json"`);
  return c.json(exportToWire(exported.value, tokens, services), 200);
});

account.openapi(fieldsRoute, async (c) => answer(c, 200, await readFields(c.var.services, c.var.person), wire.fieldsToWire));

account.openapi(changeRoute, async (c) => {
  const change = wire.changeFromWire(c.req.valid("json"));
  if (!change.ok) return refusal(c, change);
  return answer(c, 200, await changeContactFields(c.var.services, c.var.person, change.value), wire.changedToWire);
});

account.openapi(sharesRoute, async (c) => {
  const { services, person } = c.var;
  return success(c, 200, shares.sharesToWire(await listOwnShares(services, person), services.clock()));
});

account.openapi(severRoute, async (c) => {
  const { services, person, requestId } = c.var;
  const { share_id: id } = c.req.valid("param");
  const toWire = (revoked: Revoked) => shares.revokedToWire(revoked, services.clock());
  const asked = { reason: c.req.valid("json").reason ?? null, requestId };
  return answer(c, 200, await revokeByPerson(services, id, { person }, asked, keeping(c, 200, toWire)), toWire);
});

account.openapi(renewRoute, async (c) => {
  const { services, person, requestId, language } = c.var;
  const { scope, duration_days: durationDays } = c.req.valid("json");
  const asked = scope == null ? null : askedScope(scope);
  if (asked !== null && !asked.ok) return refusal(c, asked);
  const { share_id: id } = c.req.valid("param");
  const request = { scope: asked === null ? null : asked.value.scope, durationDays: durationDays ?? null, language, requestId };
  const toWire = (renewed: Renewed) => shares.renewedToWire(renewed, services.clock());
  return answer(c, 201, await renewShare(services, person, id, request, keeping(c, 201, toWire)), toWire);
});
