// Schemas, examples and mappers for the share protocol (SPEC Share).
import { z } from "@hono/zod-openapi";
import { parseClientId, parseShareId } from "../../../core/ids.ts";
import { once } from "../../../core/once.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { toAnchorView } from "../../../core/certificates/public-json.ts";
import { parseRequestedScope, contactKeys, fieldGroupNames, groupsFromKeys, type ContactKey } from "../../../core/shares/fields.ts";
import { defaultDurationDays, maxDurationDays } from "../../../core/shares/grant.ts";
import { fieldLabels } from "../../../core/shares/labels.ts";
import { personaNames } from "../../../core/shares/persona.ts";
import { isCodeVerifier } from "../../../core/shares/pkce.ts";
import { requestEvidenceKinds } from "../../../core/shares/request-evidence.ts";
import { shareStatuses, type Share } from "../../../core/shares/share.ts";
import { codeLifetimeMs, requestLifetimeMs } from "../../../core/shares/request.ts";
import { toIso, toIsoOrNull, type Instant, secondMs } from "../../../core/time.ts";
import { isOverdue } from "../../../core/withdrawals/cease-acknowledgment.ts";
import type { Language } from "../../../core/language.ts";
import {
  challengeMethodSchema,
  challengeSchema,
  clientIdSchema,
  disclosureSchema,
  originSchema,
  purposeSchema,
  type shareRequestSchema,
  stateSchema,
} from "../../http/share-request.ts";
import { environmentSchema, idParamSchema, limitSchema, nullableSchema, describedTime, toWire } from "../../http/wire.ts";
import type { CeasedShare } from "../../operations/shares/acknowledge-share.ts";
import type { AuthorizedRequest } from "../../operations/shares/authorize-share-request.ts";
import type { SignedShareRequest } from "../../operations/shares/sign-share-request.ts";
import type { Services } from "../../platform/platform.ts";
import type { ShareDecision } from "../../operations/shares/decide-share.ts";
import type { GrantResult } from "../../operations/shares/earlier-decision.ts";
import type { SharePage } from "../../../storage/shares.ts";
import type { ShareDetail } from "../../operations/shares/get-business-share.ts";
import type { CurrentValues } from "../../operations/shares/get-current-values.ts";
import type { Redemption } from "../../operations/shares/redeem-share-code.ts";
import type { RenewedShare } from "../../operations/shares/renew-share.ts";
import type { RevocationResult } from "../../operations/shares/commit-revocation.ts";
import { anchorSchema } from "../certificates/schema.ts";

export const shareNotFoundRefusal = { not_found: "The share does not exist or is not yours." } as const;

export const fieldKeySchema = z.enum(contactKeys);
export const fieldGroupSchema = z.enum(fieldGroupNames);
const durationDaysSchema = z
  .number()
  .int()
  .min(1)
  .max(maxDurationDays)
  .meta({ description: `Duration in days, each of 24 hours. Default: ${defaultDurationDays}.`, example: 365 });
const scopeNameSchema = z.string().min(1).max(40);

export const shareExample = {
  id: "shr_00k3v9d2m4q8x1c7b5n0t6w2h9",
  status: "active",
  fingerprint: "3f0f5b8a6f6f3a2c9d1e4b7a8c5d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d",
  business: { id: "biz_00f7m2k9x4c1v8b5n3q6t0w2h7", name: "Acme Solar LLC" },
  client_id: "pc_live_00f7m2k9x4c1v8b5n3q6t0w2h7",
  environment: "live",
  origin: "https://acme-solar.example",
  request_evidence: "referer",
  purpose: "Send you a solar estimate",
  scope: ["email", "phone"],
  scope_groups: ["email", "phone"],
  disclosure_hash: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  created_at: "2026-11-20T10:05:00.000Z",
  expires_at: "2027-11-20T10:05:00.000Z",
  duration_days: 365,
  revoked_at: null,
  expired_at: null,
  supersedes: null,
  superseded_by: null,
  cease: null,
};

export const authorizedRequestExample = {
  client: {
    client_id: shareExample.client_id,
    business_id: shareExample.business.id,
    business_name: shareExample.business.name,
    logo_url: null,
    environment: "live",
  },
  origin: shareExample.origin,
  scope: shareExample.scope,
  scope_groups: shareExample.scope_groups,
  needed: ["email"],
  labels: { email: "Email", phone: "Phone" },
  purpose: shareExample.purpose,
  duration_days: 365,
  disclosure_text: null,
  disclosure_hash: shareExample.disclosure_hash,
  state: "xyz",
  authorize_token: "az_00WzE3NjM2MzI4MDAwMDAsMywxLGZhbHNlXQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
  expires_in: 600,
};

export const shareConsentExample = {
  client_id: shareExample.client_id,
  origin: shareExample.origin,
  scope: shareExample.scope,
  purpose: shareExample.purpose,
  code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  code_challenge_method: "S256",
  state: "xyz",
  consent: true,
};

export const shareRequestExample = {
  client_id: shareExample.client_id,
  origin: shareExample.origin,
  scope: "email phone?",
  purpose: shareExample.purpose,
  code_challenge: shareConsentExample.code_challenge,
  code_challenge_method: "S256",
  state: "xyz",
  return_url: `${shareExample.origin}/quote`,
};

const exampleSignature = "rs_1763632800000.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
export const signedRequestExample = {
  authorize_url: `https://app.example.com/authorize?${new URLSearchParams({ ...shareRequestExample, request_signature: exampleSignature })}`,
  request_signature: exampleSignature,
  expires_at: "2026-11-20T11:00:00.000Z",
};

const exampleCode = "ac_00dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const sandboxClientId = "pc_test_00f7m2k9x4c1v8b5n3q6t0w2h7";
export const sandboxShareConsentExample = { ...shareConsentExample, client_id: sandboxClientId, persona: "default" };

export const shareGrantExample = {
  code: exampleCode,
  expires_in: 60,
  expires_at: "2026-11-20T10:06:00.000Z",
  state: "xyz",
  share: shareExample,
};

export const sandboxShareGrantExample = {
  ...shareGrantExample,
  share: { ...shareExample, client_id: sandboxClientId, environment: "sandbox", request_evidence: "api" },
};

/** This verifier is the example in RFC 7636, appendix B. */
export const redeemRequestExample = {
  code: exampleCode,
  code_verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
  client_id: shareExample.client_id,
};

const exampleFields = { email: "pat@example.com", phone: "+1 202 555 0123" };
export const redeemedShareExample = {
  share_id: shareExample.id,
  fingerprint: shareExample.fingerprint,
  status: "active",
  scope: shareExample.scope,
  fields: exampleFields,
  purpose: shareExample.purpose,
  granted_at: shareExample.created_at,
  expires_at: shareExample.expires_at,
  business_id: shareExample.business.id,
};

export const currentValuesExample = {
  share_id: shareExample.id,
  status: "active",
  scope: shareExample.scope,
  fields: exampleFields,
  field_updated_at: { email: "2026-11-20T10:04:00.000Z", phone: "2026-11-20T10:04:00.000Z" },
  as_of: "2026-11-21T08:00:00.000Z",
};

const ceaseNoticeExample = {
  status: "open",
  opened_at: "2026-11-22T09:00:00.000Z",
  cease_by: "2026-12-04T23:59:59.999Z",
  acknowledged_at: null as string | null,
  overdue: false,
};
const revokedShare = { ...shareExample, status: "revoked", revoked_at: ceaseNoticeExample.opened_at, cease: ceaseNoticeExample };
export const revokedShareExample = { share: revokedShare, cease_by: ceaseNoticeExample.cease_by };

const exampleAcknowledgedAt = "2026-11-23T15:30:00.000Z";
export const acknowledgedShareExample = {
  share: {
    ...revokedShare,
    status: "ceased",
    cease: { ...ceaseNoticeExample, status: "acknowledged", acknowledged_at: exampleAcknowledgedAt },
  },
  acknowledged_at: exampleAcknowledgedAt,
  cease_by: ceaseNoticeExample.cease_by,
  on_time: true,
};

export const shareDetailExample = {
  ...shareExample,
  disclosure_text: null,
  anchor: null,
  reason: null,
  history: [{ at: shareExample.created_at, type: "share.created", audit_seq: 17 }],
};

export const shareIdParamSchema = z.object({
  share_id: idParamSchema(parseShareId, "ID of the share. Starts with `shr_`.", shareExample.id),
});
/** Parses a malformed ID as null, for a route that must authenticate the caller before it responds with 404. */
export const lenientShareIdParamSchema = z.object({
  share_id: z
    .string()
    .transform(parseShareId)
    .meta({ type: "string", description: "ID of the share. Starts with `shr_`.", example: shareExample.id }),
});

export const authorizedRequestToWire = (
  request: AuthorizedRequest,
  token: string,
  language: Language,
): z.input<ShareSchemas["authorizedRequestSchema"]> => ({
  client: {
    client_id: request.client.clientId,
    business_id: request.client.business.id,
    business_name: request.client.business.name,
    logo_url: request.client.logoUrl,
    environment: request.client.environment,
  },
  origin: request.origin,
  scope: [...request.requestedScope.scope],
  scope_groups: [...groupsFromKeys(request.requestedScope.scope)],
  needed: [...request.requestedScope.needed],
  labels: Object.fromEntries(request.requestedScope.scope.map((name) => [name, fieldLabels[language][name]])),
  purpose: request.purpose,
  duration_days: request.durationDays,
  disclosure_text: request.disclosureText === "" ? null : request.disclosureText,
  disclosure_hash: request.disclosureHash,
  state: request.state,
  authorize_token: token,
  expires_in: requestLifetimeMs / secondMs,
});

export const signedRequestToWire = (
  { config }: Pick<Services, "config">,
  body: z.output<typeof shareRequestSchema>,
  { signature, expiresAt }: SignedShareRequest,
): z.input<ShareSchemas["signedRequestSchema"]> => {
  const entries = Object.entries(body).flatMap(([name, value]) => (value == null ? [] : [[name, String(value)]]));
  const query = new URLSearchParams([...entries, ["request_signature", signature]]);
  return { authorize_url: `${config.appUrl}/authorize?${query}`, request_signature: signature, expires_at: toIso(expiresAt) };
};

const decisionFields = {
  client_id: clientIdSchema,
  origin: originSchema,
  scope: z
    .array(scopeNameSchema)
    .min(1)
    .max(20)
    .meta({ description: "Fields and groups that the person agreed to share.", example: ["email", "phone"] }),
  purpose: purposeSchema,
  duration_days: durationDaysSchema.nullish(),
  disclosure_text: disclosureSchema.nullish(),
  code_challenge: challengeSchema,
  code_challenge_method: challengeMethodSchema,
  state: stateSchema.nullish(),
  consent: z.literal(true).meta({ description: "Must be `true`, to confirm that the person gave consent." }),
  missing_ok: z.array(scopeNameSchema).max(20).nullish().meta({
    description:
      "Fields in scope that may be empty. If any other field in scope is empty, the request is refused. `address_line2` may always be empty if `address_line1` is in scope and has a value.",
  }),
  authorize_token: z.string().max(300).nullish().meta({
    description: "Token from `GET /v1/authorize`. It ties the decision to that request, so repeating the call returns the same share.",
  }),
};

export const shareConsentSchema = z.object(decisionFields).openapi("ShareConsent");
export const sandboxShareConsentSchema = z
  .object({
    ...decisionFields,
    client_id: clientIdSchema.meta({ description: "ID of a test client. Starts with `pc_test_`.", example: sandboxClientId }),
    persona: z.enum(personaNames).nullish().meta({ description: "Test person. `minimal` has only an email address and a first name." }),
  })
  .openapi("SandboxShareConsent");

/** Expands groups to keys. Refuses unknown names. */
const parseMissingOk = (names: readonly string[]): Result<readonly ContactKey[], "invalid_request"> => {
  if (names.length === 0) return ok([]);
  const requested = parseRequestedScope(names);
  return requested.ok ? ok(requested.value.scope) : refuse("invalid_request", "missing_ok: must contain only contact fields or groups.");
};

export const decisionFromWire = (
  body: z.output<typeof shareConsentSchema>,
  { language, requestId }: Pick<ShareDecision, "language" | "requestId">,
): Result<ShareDecision, "invalid_request"> => {
  const chosen = parseRequestedScope(body.scope);
  if (!chosen.ok) return chosen;
  const allowedMissing = parseMissingOk(body.missing_ok ?? []);
  if (!allowedMissing.ok) return allowedMissing;
  return ok({
    clientId: parseClientId(body.client_id),
    origin: body.origin,
    scope: chosen.value.scope,
    purpose: body.purpose,
    disclosureText: body.disclosure_text ?? null,
    durationDays: body.duration_days ?? defaultDurationDays,
    challenge: body.code_challenge,
    state: body.state ?? null,
    allowedMissing: allowedMissing.value,
    token: body.authorize_token ?? null,
    language,
    requestId,
  });
};

const ceaseNoticeSchema = z
  .object({
    status: z.enum(["open", "acknowledged"]),
    opened_at: describedTime("When the person revoked the share"),
    cease_by: describedTime("Deadline by which contact must stop: the end of the tenth business day (UTC)"),
    acknowledged_at: describedTime("When the business confirmed that contact stopped").nullable(),
    overdue: z.boolean(),
  })
  .openapi("CeaseNotice");

export const shareSchema = z
  .object({
    id: z.string(),
    status: z.enum(shareStatuses),
    fingerprint: z.string().meta({ description: "Hex SHA-256 of the share's terms, as canonical JSON." }),
    business: z.object({ id: z.string(), name: z.string().meta({ description: "Business name as shown to the person." }) }),
    client_id: z.string(),
    environment: environmentSchema,
    origin: z.string(),
    request_evidence: z.enum(requestEvidenceKinds).meta({
      description:
        "Evidence that the request came from the business. `request_signature`: its server called `POST /v1/share/requests`. `return_url`: a return URL registered for the client. `referer`: the browser came from `origin`. `message`: the page at `origin` replied to the consent sheet. `api`: the person's own session called the API. A renewed share has the same value as before.",
    }),
    purpose: z.string(),
    scope: z.array(fieldKeySchema),
    scope_groups: z.array(fieldGroupSchema),
    disclosure_hash: z.string(),
    created_at: describedTime("When the person gave consent"),
    expires_at: describedTime("When the share expires"),
    duration_days: z.number().int(),
    revoked_at: describedTime("When the person revoked the share").nullable(),
    expired_at: describedTime("When the share expired").nullable(),
    supersedes: z.string().nullable().meta({ description: "ID of the earlier share that this share renewed." }),
    superseded_by: z.string().nullable().meta({ description: "ID of the later share that renewed this share." }),
    cease: nullableSchema(ceaseNoticeSchema).meta({
      description:
        "Deadline by which the business must stop contacting the person, and the business's acknowledgment. `null` unless the person revoked the share.",
    }),
    last_delivered_at: describedTime(
      "When the business last received data: it redeemed the code, read the values or got an update. `null` if never. Included only in responses to the person",
    )
      .nullable()
      .optional(),
  })
  .openapi("Share");

export const shareToWire = (share: Share, now: Instant): z.input<typeof shareSchema> =>
  toWire(shareSchema, {
    ...share,
    business: { id: share.business.id, name: share.business.name },
    scopeGroups: groupsFromKeys(share.scope),
    expiredAt: share.status === "expired" ? share.expiresAt : null,
    cease:
      share.revokedAt === null || share.ceaseBy === null
        ? null
        : toWire(ceaseNoticeSchema, {
            status: share.acknowledgedAt === null ? "open" : "acknowledged",
            openedAt: share.revokedAt,
            ceaseBy: share.ceaseBy,
            acknowledgedAt: share.acknowledgedAt,
            overdue: isOverdue(share.ceaseBy, share.acknowledgedAt, now + share.clockOffsetMs),
          }),
  });

export const shareGrantToWire = (granted: GrantResult, state: string | null, now: Instant): z.input<ShareSchemas["shareGrantSchema"]> => ({
  code: granted.code,
  expires_in: granted.isRepeated ? Math.max(0, Math.round((granted.codeExpiresAt - now) / 1_000)) : codeLifetimeMs / secondMs,
  expires_at: toIso(granted.codeExpiresAt),
  state,
  share: shareToWire(granted.share, now),
});

export const redeemRequestSchema = z
  .object({
    code: z
      .string()
      .min(1)
      .max(200)
      .meta({ description: "Authorization code: `code` in the response to the consent, or `svc_code` from the consent sheet." }),
    code_verifier: z
      .string()
      .refine(isCodeVerifier, "must be 43 to 128 letters (A-Z, a-z), digits or - . _ ~")
      .meta({ description: "PKCE verifier. Its SHA-256 must be the `code_challenge` of the request." }),
    client_id: clientIdSchema,
  })
  .openapi("RedeemRequest");

const sharedFieldsSchema = z
  .record(z.string(), z.string().nullable())
  .meta({ description: "Values of all fields in scope; `null` for an empty field." });

export const redeemedShareSchema = z
  .object({
    share_id: z.string(),
    fingerprint: z.string(),
    status: z.literal("active"),
    scope: z.array(fieldKeySchema),
    fields: sharedFieldsSchema,
    purpose: z.string(),
    granted_at: describedTime("When the person gave consent"),
    expires_at: describedTime("When the share expires"),
    business_id: z.string(),
  })
  .openapi("RedeemedShare");

export const redeemedShareToWire = (redeemed: Redemption): z.input<typeof redeemedShareSchema> =>
  toWire(redeemedShareSchema, { ...redeemed, status: "active", fields: redeemed.fields as Record<string, string | null> });

const reasonSchema = z.string().max(200).nullish().meta({ description: "Your reason. The business can read it." });
export const revokeOwnShareRequestSchema = z.object({ reason: reasonSchema }).openapi("SeverRequest");
export const revokeShareRequestSchema = z
  .object({
    reason: reasonSchema,
    revoke_token: z
      .string()
      .max(200)
      .nullish()
      .meta({ description: "Token from the link that we emailed to the person. Send it instead of a session cookie." }),
  })
  .openapi("RevokeRequest");

export const revokedShareSchema = z
  .object({
    share: shareSchema,
    cease_by: describedTime("Deadline by which contact must stop: the end of the tenth business day (UTC)"),
    already_revoked: z.literal(true).optional().meta({ description: "`true` if the share was already revoked, otherwise absent." }),
  })
  .openapi("RevokedShare");

export const shareAcknowledgmentRequestSchema = z
  .object({
    note: z.string().max(500).nullish().meta({ description: "Note to the person, included in the email about your acknowledgment." }),
    acknowledged_by: z
      .string()
      .max(120)
      .nullish()
      .meta({ description: "Person or team at your business that confirms that contact has stopped." }),
    actions: z
      .array(z.string().max(200))
      .max(10)
      .nullish()
      .meta({ description: "What you did to stop contact.", example: ["removed from the call list"] }),
  })
  .openapi("ShareCeaseRequest");

export const acknowledgedShareToWire = (
  { share, isRepeated }: CeasedShare,
  now: Instant,
): z.input<ShareSchemas["acknowledgedShareSchema"]> => {
  const { acknowledgedAt, ceaseBy } = share as Share & { readonly acknowledgedAt: Instant; readonly ceaseBy: Instant };
  return {
    share: shareToWire(share, now),
    acknowledged_at: toIso(acknowledgedAt),
    cease_by: toIso(ceaseBy),
    on_time: acknowledgedAt <= ceaseBy,
    ...(isRepeated && { already_acknowledged: true as const }),
  };
};

export const renewShareRequestSchema = z
  .object({
    consent: z.literal(true).meta({ description: "Must be `true`, to confirm that you give consent." }),
    duration_days: durationDaysSchema.nullish(),
    scope: z
      .array(scopeNameSchema)
      .min(1)
      .max(20)
      .nullish()
      .meta({ description: "Fields and groups of the new share. Default: those of the current share." }),
  })
  .openapi("RenewRequest");

export const renewedShareToWire = ({ share, superseded }: RenewedShare, now: Instant): z.input<ShareSchemas["renewedShareSchema"]> => ({
  share: shareToWire(share, now),
  superseded: { id: superseded, status: "superseded" },
});

export const shareListQuerySchema = z.object({
  status: z.enum(shareStatuses).optional().meta({ description: "Returns only shares with this status." }),
  limit: limitSchema(200, 200),
  starting_after: z.string().max(64).optional().meta({ description: "ID of the last share on the previous page." }),
});

export const shareListSchema = z
  .object({ shares: z.array(shareSchema), count: z.number().int(), has_more: z.boolean() })
  .openapi("ShareList");

/** Returns the schemas that only describe responses. They are created when the OpenAPI document is built. */
export const getShareSchemas = once(() => {
  const authorizedRequestSchema = z
    .object({
      client: z.object({
        client_id: z.string(),
        business_id: z.string(),
        business_name: z.string(),
        logo_url: z.string().nullable().meta({ description: "URL of the business's logo. The consent sheet does not show it." }),
        environment: environmentSchema,
      }),
      origin: z.string(),
      scope: z.array(fieldKeySchema),
      scope_groups: z.array(fieldGroupSchema),
      needed: z.array(fieldKeySchema).meta({ description: "Required fields: the person cannot leave them out." }),
      labels: z.record(z.string(), z.string()).meta({ description: "Display name of each field in scope." }),
      purpose: z.string(),
      duration_days: z.number().int(),
      disclosure_text: z.string().nullable(),
      disclosure_hash: z.string().meta({ description: "Hex SHA-256 of the disclosure, or of the empty string if there is none." }),
      state: z.string().nullable(),
      authorize_token: z.string().meta({
        description: "Token for this request. Send it with the decision, so that repeating the call does not create a second share.",
      }),
      expires_in: z.number().int().meta({ description: "Seconds until `authorize_token` expires." }),
    })
    .openapi("AuthorizedRequest");

  const signedRequestSchema = z
    .object({
      authorize_url: z.string().meta({ description: "URL of the consent sheet for this request. Redirect the person to it." }),
      request_signature: z.string().meta({ description: "Signature of the request. `authorize_url` already contains it." }),
      expires_at: describedTime("When the signature expires. The person must open `authorize_url` before this time"),
    })
    .openapi("SignedRequest");

  const shareGrantSchema = z
    .object({
      code: z.string().meta({ description: "Single-use code. Redeem it within 60 seconds." }),
      expires_in: z.number().int(),
      expires_at: describedTime("When the code expires"),
      state: z.string().nullable(),
      share: shareSchema,
    })
    .openapi("ShareGrant");

  const acknowledgedShareSchema = z
    .object({
      share: shareSchema,
      acknowledged_at: describedTime("When you confirmed that you stopped contacting the person"),
      cease_by: describedTime("Deadline by which contact must stop"),
      on_time: z.boolean(),
      already_acknowledged: z.literal(true).optional(),
    })
    .openapi("CeasedShare");

  const renewedShareSchema = z
    .object({ share: shareSchema, superseded: z.object({ id: z.string(), status: z.literal("superseded") }) })
    .openapi("RenewedShare");

  const shareDetailSchema = shareSchema
    .extend({
      disclosure_text: z.string().nullable(),
      anchor: nullableSchema(anchorSchema),
      reason: z.string().nullable().meta({ description: "The person's reason for revoking the share." }),
      history: z.array(
        z.object({
          at: describedTime("When it happened"),
          type: z.string(),
          audit_seq: z
            .int()
            .nullable()
            .meta({ description: "`seq` of the entry in your audit chain; `null` until the audit log contains the entry." }),
        }),
      ),
    })
    .openapi("ShareDetail");

  const currentValuesSchema = z
    .object({
      share_id: z.string(),
      status: z.literal("active"),
      scope: z.array(fieldKeySchema),
      fields: sharedFieldsSchema,
      field_updated_at: z.record(z.string(), z.string().nullable()),
      as_of: describedTime("When the values were read"),
    })
    .openapi("CurrentValues");

  return {
    authorizedRequestSchema,
    signedRequestSchema,
    shareGrantSchema,
    acknowledgedShareSchema,
    renewedShareSchema,
    shareDetailSchema,
    currentValuesSchema,
  };
});

type ShareSchemas = ReturnType<typeof getShareSchemas>;

export const shareDetailToWire = (detail: ShareDetail, now: Instant): z.input<ShareSchemas["shareDetailSchema"]> => ({
  ...shareToWire(detail.share, now),
  disclosure_text: detail.disclosureText === "" ? null : detail.disclosureText,
  anchor: toAnchorView(detail.anchor) as z.input<typeof anchorSchema> | null,
  reason: detail.reason,
  history: detail.history.map(({ at, type, auditSeq }) => ({
    at: toIso(at),
    type,
    audit_seq: auditSeq === null ? null : Number(auditSeq),
  })),
});

export const currentValuesToWire = ({ shareId, scope, fields, asOf }: CurrentValues): z.input<ShareSchemas["currentValuesSchema"]> => ({
  share_id: shareId,
  status: "active",
  scope: [...scope],
  fields: Object.fromEntries(scope.map((name) => [name, fields[name]?.value ?? null])),
  field_updated_at: Object.fromEntries(scope.map((name) => [name, toIsoOrNull(fields[name]?.updatedAt ?? null)])),
  as_of: toIso(asOf),
});

export const revokedShareToWire = ({ share, ceaseBy, isRepeated }: RevocationResult, now: Instant): z.input<typeof revokedShareSchema> => ({
  share: shareToWire(share, now),
  cease_by: toIso(ceaseBy),
  ...(isRepeated && { already_revoked: true as const }),
});

export const shareListToWire = ({ shares, hasMore }: SharePage, now: Instant): z.input<typeof shareListSchema> => ({
  shares: shares.map((share) => shareToWire(share, now)),
  count: shares.length,
  has_more: hasMore,
});
