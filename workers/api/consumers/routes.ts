// Routes for a consumer account: profile, contact fields, shares, export and deletion.
import { parseRequestedScope } from "../../../core/shares/fields.ts";
import { toIso } from "../../../core/time.ts";
import { jsonBody, optionalJsonBody } from "../../http/body.ts";
import { respond, refusal, success } from "../../http/envelope.ts";
import { limitByAccount } from "../../http/guards/rate-limits.ts";
import { idempotencyGuard, respondAndSave } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { consumerGuard } from "../../http/guards/consumer.ts";
import { requireRecentProof } from "../../http/guards/recent-proof.ts";
import { clearSession } from "../../http/guards/session-cookie.ts";
import { successResponse, requestBody, optionalRequestBody } from "../../http/wire.ts";
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
import { accountExportToWire, getAccountExportSchema } from "./export-schema.ts";

const createRoute = createRouteFactory("account");

const limitFieldChanges = limitByAccount("FIELD_CHANGES", "More than 60 changes per hour, or 120 requests per minute.");

const getProfileRoute = createRoute({
  method: "get",
  path: "/v1/me",
  operationId: "readProfile",
  summary: "Read your profile",
  description: "Returns your profile and how many active shares you have.",
  middleware: consumerGuard(),
  responses: { 200: successResponse("The profile.", "ProfileResponse", wire.profileSchema, wire.profileExample) },
});

const getContactFieldsRoute = createRoute({
  method: "get",
  path: "/v1/me/fields",
  operationId: "readContactFields",
  summary: "Read your contact fields",
  description: "Returns the 10 contact fields you can share, and when each was last set.",
  middleware: consumerGuard(),
  responses: { 200: successResponse("The fields.", "ContactFieldsResponse", wire.contactFieldsSchema, wire.contactFieldsExample) },
});

const updateContactFieldsRoute = createRoute({
  method: "put",
  path: "/v1/me/fields",
  operationId: "changeContactFields",
  summary: "Update contact fields",
  description:
    "Updates the fields you send. `null` clears a field; fields that you omit stay the same. Each business with an active share that includes a changed field gets one event per changed field group. The event contains only the fields of the group that are in the share's scope. Sending the same values again has no effect.",
  middleware: consumerGuard(limitFieldChanges, jsonBody),
  request: { body: requestBody(wire.fieldUpdateSchema, { phone: "+1 202 555 0199", address_line2: null }) },
  responses: {
    200: successResponse("The updated fields.", "ContactFieldsChangeResponse", wire.fieldUpdateResultSchema, wire.fieldUpdateResultExample),
  },
});

const listOwnSharesRoute = createRoute({
  method: "get",
  path: "/v1/me/shares",
  operationId: "listOwnShares",
  summary: "List your shares",
  description: "Returns at most 500 of your shares: active shares first, then the others. Each group is sorted newest first.",
  middleware: consumerGuard(),
  responses: {
    200: successResponse("The shares.", "OwnSharesResponse", shares.shareListSchema, {
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
  summary: "Revoke one of your shares",
  description: "Same as `POST /v1/shares/{share_id}/revoke`, for a signed-in person.",
  middleware: consumerGuard(optionalJsonBody, idempotencyGuard),
  request: {
    params: shares.shareIdParamSchema,
    body: optionalRequestBody(shares.revokeOwnShareRequestSchema, { reason: "Found another provider" }),
  },
  responses: {
    200: successResponse(
      "The revoked share, and the deadline by which contact must stop.",
      "SeverResponse",
      shares.revokedShareSchema,
      shares.revokedShareExample,
    ),
  },
  when: { ...shares.shareNotFoundRefusal, share_inactive: "The share expired or was renewed." },
});

const renewShareRoute = createRoute({
  method: "post",
  path: "/v1/me/shares/{share_id}/renew",
  operationId: "renewShare",
  summary: "Renew a share",
  description:
    "Replaces an active share with a new share of your current values. The business gets a `share.renewed` event and can read the values with its API key. No code is needed.",
  middleware: consumerGuard(jsonBody, idempotencyGuard),
  request: { params: shares.shareIdParamSchema, body: requestBody(shares.renewShareRequestSchema, { consent: true, duration_days: 365 }) },
  responses: {
    201: successResponse(
      "The new share and the share it replaces.",
      "RenewResponse",
      () => shares.getShareSchemas().renewedShareSchema,
      wire.renewalExample,
    ),
  },
  refuses: ["business_suspended", "business_inactive", "subscription_past_due"],
  when: { ...shares.shareNotFoundRefusal, share_inactive: "The share is not active." },
});

const deleteAccountRoute = createRoute({
  method: "delete",
  path: "/v1/me",
  operationId: "deleteAccount",
  summary: "Delete your account",
  description:
    "Revokes all your shares, erases your fields, your email address and everything else stored about you, and signs you out everywhere. You must have signed in within the last 5 minutes. Fingerprints, times and statuses of your shares are kept, without personal data. After a 503, deletion completes within minutes; you can also retry.",
  middleware: consumerGuard(requireRecentProof(5), optionalJsonBody),
  request: { body: optionalRequestBody(wire.accountDeletionRequestSchema, { confirm: "DELETE" }) },
  responses: {
    200: successResponse(
      "The account is deleted and the session cookie is cleared.",
      "AccountDeletionResponse",
      wire.accountDeletionSchema,
      wire.accountDeletionExample,
    ),
  },
  when: { storage_unavailable: "A database did not respond. Deletion continues in the background." },
});

const limitExports = limitByAccount("EXPORTS", "More than 5 exports per hour, or 120 requests per minute.");

const exportAccountRoute = createRoute({
  method: "get",
  path: "/v1/me/export",
  operationId: "exportAccount",
  summary: "Export your data",
  description:
    "Returns one JSON file without an envelope: your profile and fields, all shares with the values you shared, your audit chain, your removals, your agent tokens and a receipt for each consent. Limit: 5 exports per hour. Each export is recorded in your audit chain.",
  middleware: consumerGuard(limitExports),
  responses: {
    200: {
      description: "The export file, as an attachment.",
      content: {
        "application/json": {
          get schema() {
            return getAccountExportSchema();
          },
          example: wire.accountExportExample,
        },
      },
    },
  },
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
  const request = { reason: c.req.valid("json").reason ?? null, requestId };
  return respondAndSave(c, 200, toWire, (save) => revokeShareByPerson(services, id, { person }, request, save));
});

consumerRoutes.openapi(renewShareRoute, async (c) => {
  const { services, person, requestId, language } = c.var;
  const { scope, duration_days: durationDays } = c.req.valid("json");
  const requested = scope == null ? null : parseRequestedScope(scope);
  if (requested !== null && !requested.ok) return refusal(c, requested);
  const { share_id: id } = c.req.valid("param");
  const request = { scope: requested === null ? null : requested.value.scope, durationDays: durationDays ?? null, language, requestId };
  const toWire = (renewed: RenewedShare) => shares.renewedShareToWire(renewed, services.clock());
  return respondAndSave(c, 201, toWire, (save) => renewShare(services, person, id, request, save));
});
