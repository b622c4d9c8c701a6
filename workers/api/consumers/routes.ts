// The routes of a person with an account: who they are, what they keep, who holds something of theirs.
import { parseRequestedScope } from "../../../core/shares/fields.ts";
import { toIso } from "../../../core/time.ts";
import { jsonBody, optionalJsonBody } from "../../http/body.ts";
import { respond, refusal, success } from "../../http/envelope.ts";
import { limitByAccount } from "../../http/guards/rate-limits.ts";
import { idempotencyGuard, saveIdempotentResponse } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { consumerGuard } from "../../http/guards/consumer.ts";
import { requireRecentProof } from "../../http/guards/recent-proof.ts";
import { clearSession } from "../../http/guards/session-cookie.ts";
import { successResponse, requestBody, jsonContent, optionalRequestBody } from "../../http/wire.ts";
import { listAgentTokens } from "../../operations/agents/list-agent-tokens.ts";
import { deleteAccount } from "../../operations/consumers/delete-account.ts";
import { exportAccount } from "../../operations/consumers/export-account.ts";
import { getContactFields } from "../../operations/consumers/get-contact-fields.ts";
import { updateContactFields } from "../../operations/consumers/update-contact-fields.ts";
import { getProfile } from "../../operations/consumers/get-profile.ts";
import { listOwnShares } from "../../operations/consumers/list-own-shares.ts";
import { renewShare, type RenewedShare } from "../../operations/shares/renew-share.ts";
import type { RevocationResult } from "../../operations/shares/commit-revocation.ts";
import { revokeShareByPerson } from "../../operations/shares/revoke-share-by-person.ts";
import * as shares from "../shares/schema.ts";
import * as wire from "./schema.ts";
import { accountExportSchema, accountExportToWire } from "./export-schema.ts";

const createRoute = createRouteFactory("account");

const shareNotFoundRefusal = { not_found: "There is no such share of yours." } as const;

const limitFieldChanges = limitByAccount("FIELD_CHANGES", "More than 30 changes a minute, or 120 calls.");

const getProfileRoute = createRoute({
  method: "get",
  path: "/v1/me",
  operationId: "readProfile",
  summary: "Read your profile",
  description: "Who is signed in, and how much they share.",
  middleware: consumerGuard(),
  responses: { 200: successResponse("The profile.", "ProfileAnswer", wire.profileSchema, wire.profileExample) },
});

const getContactFieldsRoute = createRoute({
  method: "get",
  path: "/v1/me/fields",
  operationId: "readContactFields",
  summary: "Read your contact fields",
  description: "The ten fields that you can share, with the time each was last set.",
  middleware: consumerGuard(),
  responses: { 200: successResponse("The fields.", "ContactFieldsAnswer", wire.contactFieldsSchema, wire.contactFieldsExample) },
});

const updateContactFieldsRoute = createRoute({
  method: "put",
  path: "/v1/me/fields",
  operationId: "changeContactFields",
  summary: "Change contact fields",
  description:
    "A partial change: what is not named stays, null clears. Every business with an active share whose scope holds a changed field is told, once a group, with the fields of that group in its scope. The same values again change nothing.",
  middleware: consumerGuard(limitFieldChanges, jsonBody),
  request: { body: requestBody(wire.fieldUpdateSchema, { phone: "+1 202 555 0199", address_line2: null }) },
  responses: {
    200: successResponse(
      "The fields as they are now.",
      "ContactFieldsChangeAnswer",
      wire.fieldUpdateResultSchema,
      wire.fieldUpdateResultExample,
    ),
  },
});

const listOwnSharesRoute = createRoute({
  method: "get",
  path: "/v1/me/shares",
  operationId: "listOwnShares",
  summary: "List the shares you gave",
  description:
    "Everybody with whom you share or shared: active ones first, then newest first, at most 500. `last_delivered_at` is when something of a share last reached the business: it was redeemed, read, or told of a change.",
  middleware: consumerGuard(),
  responses: {
    200: successResponse("The shares.", "OwnSharesAnswer", shares.shareListSchema, {
      shares: [wire.ownShareExample],
      count: 1,
      has_more: false,
    }),
  },
});

const revokeOwnShareRoute = createRoute({
  method: "post",
  path: "/v1/me/sever/{share_id}",
  operationId: "severShare",
  summary: "Stop a share of yours",
  description: "The same as `POST /v1/shares/{share_id}/revoke` by a person who is signed in.",
  middleware: consumerGuard(optionalJsonBody, idempotencyGuard),
  request: {
    params: shares.shareIdParamSchema,
    body: optionalRequestBody(shares.revokeOwnShareRequestSchema, { reason: "Found another provider" }),
  },
  responses: {
    200: successResponse("The share as it is now, and the deadline.", "SeverAnswer", shares.revokedShareSchema, shares.revokedShareExample),
  },
  when: { ...shareNotFoundRefusal, share_inactive: "It ended by itself, or was renewed." },
});

const renewShareRoute = createRoute({
  method: "post",
  path: "/v1/me/shares/{share_id}/renew",
  operationId: "renewShare",
  summary: "Renew a share",
  description:
    "You consent anew: a fresh share, with the fields as they are now, takes the place of an active one. The business is told by `share.renewed` and reads the values; no code is made.",
  middleware: consumerGuard(jsonBody, idempotencyGuard),
  request: { params: shares.shareIdParamSchema, body: requestBody(shares.renewShareRequestSchema, { consent: true, duration_days: 365 }) },
  responses: {
    201: successResponse(
      "The fresh share, and the one it took the place of.",
      "RenewAnswer",
      shares.renewedShareSchema,
      wire.renewalExample,
    ),
  },
  refuses: ["business_suspended", "business_inactive", "subscription_past_due"],
  when: { ...shareNotFoundRefusal, share_inactive: "It is not active any more." },
});

const deleteAccountRoute = createRoute({
  method: "delete",
  path: "/v1/me",
  operationId: "deleteAccount",
  summary: "Delete your account",
  description:
    "Ends every share of yours, erases your fields, your address and everything that is kept about you, and signs you out everywhere. It needs a proof of the last five minutes that it is you: sign in again first. Fingerprints, times and statuses of what you shared stay, and name nobody. After a 503 the rest is done within minutes; you may also send it again.",
  middleware: consumerGuard(requireRecentProof(5), optionalJsonBody),
  request: { body: optionalRequestBody(wire.accountDeletionRequestSchema, { confirm: "DELETE" }) },
  responses: {
    200: successResponse(
      "Deleted. The session cookie is cleared.",
      "AccountDeletionAnswer",
      wire.accountDeletionSchema,
      wire.accountDeletionExample,
    ),
  },
  when: { storage_unavailable: "A database did not answer. What is left is erased by itself." },
});

const limitExports = limitByAccount("EXPORTS", "More than five in an hour, or 120 calls in a minute.");

const exportAccountRoute = createRoute({
  method: "get",
  path: "/v1/me/export",
  operationId: "exportAccount",
  summary: "Export everything kept about you",
  description:
    "One JSON file, without an envelope: your profile and fields, every share with the values you gave, your audit chain, your removals, and a receipt of each consent. At most five an hour; each is entered in your chain.",
  middleware: consumerGuard(limitExports),
  responses: { 200: { description: "The file, as an attachment.", content: jsonContent(accountExportSchema, wire.accountExportExample) } },
});

export const consumerRoutes = createApi();

consumerRoutes.openapi(getProfileRoute, async (c) => respond(c, 200, await getProfile(c.var.services, c.var.person), wire.profileToWire));

consumerRoutes.openapi(deleteAccountRoute, async (c) => {
  const deleted = await deleteAccount(c.var.services, c.var.person, c.var.language);
  if (deleted.ok) clearSession(c);
  return respond(c, 200, deleted, ({ sharesRevoked }) => ({
    deleted: true as const,
    shares_revoked: sharesRevoked,
    fields_erased: true as const,
  }));
});

consumerRoutes.openapi(exportAccountRoute, async (c) => {
  const { services, person, consumer } = c.var;
  const [exported, tokens] = await Promise.all([exportAccount(services, person), listAgentTokens(services, consumer)]);
  if (!exported.ok) return refusal(c, exported);
  c.header("Content-Disposition", `attachment; filename="svc-export-${toIso(exported.value.at).slice(0, 10)}.json"`);
  return c.json(accountExportToWire(exported.value, tokens, services), 200);
});

consumerRoutes.openapi(getContactFieldsRoute, async (c) =>
  respond(c, 200, await getContactFields(c.var.services, c.var.person), wire.contactFieldsToWire),
);

consumerRoutes.openapi(updateContactFieldsRoute, async (c) => {
  const change = wire.fieldUpdateFromWire(c.req.valid("json"));
  if (!change.ok) return refusal(c, change);
  return respond(c, 200, await updateContactFields(c.var.services, c.var.person, change.value), wire.fieldUpdateResultToWire);
});

consumerRoutes.openapi(listOwnSharesRoute, async (c) => {
  const { services, person } = c.var;
  return success(c, 200, shares.shareListToWire(await listOwnShares(services, person), services.clock()));
});

consumerRoutes.openapi(revokeOwnShareRoute, async (c) => {
  const { services, person, requestId } = c.var;
  const { share_id: id } = c.req.valid("param");
  const toWire = (revoked: RevocationResult) => shares.revokedShareToWire(revoked, services.clock());
  const asked = { reason: c.req.valid("json").reason ?? null, requestId };
  return respond(c, 200, await revokeShareByPerson(services, id, { person }, asked, saveIdempotentResponse(c, 200, toWire)), toWire);
});

consumerRoutes.openapi(renewShareRoute, async (c) => {
  const { services, person, requestId, language } = c.var;
  const { scope, duration_days: durationDays } = c.req.valid("json");
  const asked = scope == null ? null : parseRequestedScope(scope);
  if (asked !== null && !asked.ok) return refusal(c, asked);
  const { share_id: id } = c.req.valid("param");
  const request = { scope: asked === null ? null : asked.value.scope, durationDays: durationDays ?? null, language, requestId };
  const toWire = (renewed: RenewedShare) => shares.renewedShareToWire(renewed, services.clock());
  return respond(c, 201, await renewShare(services, person, id, request, saveIdempotentResponse(c, 201, toWire)), toWire);
});
