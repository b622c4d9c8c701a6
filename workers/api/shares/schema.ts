// The wire of the share protocol: shapes of requests and answers, and between them and the operations.
import { z } from "@hono/zod-openapi";
import { parseClientId, parseShareId } from "../../../core/ids.ts";
import { ok, type Result } from "../../../core/result.ts";
import { toAnchorView } from "../../../core/certificates/public-view.ts";
import { parseRequestedScope, contactKeys, fieldGroupNames, groupsFromKeys, type ContactKey } from "../../../core/shares/fields.ts";
import { defaultDurationDays, maxDurationDays } from "../../../core/shares/grant.ts";
import { fieldLabels } from "../../../core/shares/labels.ts";
import { personaNames } from "../../../core/shares/persona.ts";
import { isCodeVerifier } from "../../../core/shares/pkce.ts";
import { shareStatuses, type Share } from "../../../core/shares/share.ts";
import { codeLifetimeMs, requestLifetimeMs } from "../../../core/shares/request.ts";
import { toIso, toIsoOrNull, type Instant, secondMs } from "../../../core/time.ts";
import { isOverdue } from "../../../core/withdrawals/cease-acknowledgment.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import {
  challengeMethodSchema,
  challengeSchema,
  clientIdSchema,
  disclosureSchema,
  originSchema,
  purposeSchema,
  stateSchema,
} from "../../http/share-request.ts";
import { environmentSchema, idParamSchema, limitSchema, nullableSchema, describedTime } from "../../http/wire.ts";
import type { CeasedShare } from "../../operations/shares/acknowledge-share.ts";
import type { AuthorizedRequest } from "../../operations/shares/authorize-share-request.ts";
import type { ShareDecision } from "../../operations/shares/decide-share.ts";
import type { GrantResult } from "../../operations/shares/grant-share.ts";
import type { SharePage } from "../../../storage/shares.ts";
import type { ShareDetail } from "../../operations/shares/get-business-share.ts";
import type { CurrentValues } from "../../operations/shares/get-current-values.ts";
import type { Redemption } from "../../operations/shares/redeem-share-code.ts";
import type { RenewedShare } from "../../operations/shares/renew-share.ts";
import type { RevocationResult } from "../../operations/shares/commit-revocation.ts";
import { anchorSchema } from "../certificates/schema.ts";

export const fieldKeySchema = z.enum(contactKeys);
export const fieldGroupSchema = z.enum(fieldGroupNames);
const durationDaysSchema = z
  .number()
  .int()
  .min(1)
  .max(maxDurationDays)
  .openapi({ description: `Days of 24 hours; ${defaultDurationDays} unless given.`, example: 365 });
const scopeNameSchema = z.string().min(1).max(40);

const exampleShareId = "shr_00k3v9d2m4q8x1c7b5n0t6w2h9";
export const shareIdParamSchema = z.object({ share_id: idParamSchema(parseShareId, "Of the share.", exampleShareId) });
/** Where whoever asks is judged before their share is looked for: null for what is no id. */
export const lenientShareIdParamSchema = z.object({
  share_id: z.string().transform(parseShareId).openapi({ type: "string", description: "Of the share.", example: exampleShareId }),
});

export const authorizedRequestSchema = z
  .object({
    client: z.object({
      client_id: z.string(),
      business_id: z.string(),
      business_name: z.string(),
      logo_url: z.string().nullable().openapi({ description: "As the business gave it. Our own pages show no pictures from elsewhere." }),
      environment: environmentSchema,
    }),
    origin: z.string(),
    scope: z.array(fieldKeySchema),
    scope_groups: z.array(fieldGroupSchema),
    needed: z.array(fieldKeySchema).openapi({ description: "Those of the scope that are not optional to the person." }),
    labels: z.record(z.string(), z.string()).openapi({ description: "What each field is called." }),
    purpose: z.string(),
    duration_days: z.number().int(),
    disclosure_text: z.string().nullable(),
    disclosure_hash: z.string().openapi({ description: "Hex SHA-256 of the disclosure; of the empty text where there is none." }),
    state: z.string().nullable(),
    authorize_token: z.string().openapi({ description: "Send it with the decision: binds it to this request." }),
    expires_in: z.number().int().openapi({ description: "Seconds for which the token is of use." }),
  })
  .openapi("AuthorizedRequest");

export const authorizedRequestToWire = (
  request: AuthorizedRequest,
  token: string,
  language: MailLanguage,
): z.input<typeof authorizedRequestSchema> => ({
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

const decisionFields = {
  client_id: clientIdSchema,
  origin: originSchema,
  scope: z
    .array(scopeNameSchema)
    .min(1)
    .max(20)
    .openapi({ description: "What the person agreed to share.", example: ["email", "phone"] }),
  purpose: purposeSchema,
  duration_days: durationDaysSchema.nullish(),
  disclosure_text: disclosureSchema.nullish(),
  code_challenge: challengeSchema,
  code_challenge_method: challengeMethodSchema,
  state: stateSchema.nullish(),
  consent: z.literal(true).openapi({ description: "Must be true: the person pressed the button." }),
  missing_ok: z.array(scopeNameSchema).max(20).nullish().openapi({ description: "Fields that may be shared although there is no value." }),
  authorize_token: z.string().max(300).nullish().openapi({ description: "Of GET /v1/authorize. With it the request is decided once." }),
};

export const shareConsentSchema = z.object(decisionFields).openapi("ShareConsent");
export const sandboxShareConsentSchema = z
  .object({
    ...decisionFields,
    persona: z.enum(personaNames).nullish().openapi({ description: "The test person; `minimal` has an address and a first name only." }),
  })
  .openapi("SandboxShareConsent");

/** The names in `missing_ok`, groups included. */
const contactKeysFromScope = (words: readonly string[] | null | undefined): readonly ContactKey[] => {
  const asked = parseRequestedScope(words ?? []);
  return asked.ok ? asked.value.scope : [];
};

export const decisionFromWire = (
  body: z.output<typeof shareConsentSchema>,
  { language, requestId }: Pick<ShareDecision, "language" | "requestId">,
): Result<ShareDecision, "invalid_request"> => {
  const chosen = parseRequestedScope(body.scope);
  if (!chosen.ok) return chosen;
  return ok({
    clientId: parseClientId(body.client_id),
    origin: body.origin,
    scope: chosen.value.scope,
    purpose: body.purpose,
    disclosureText: body.disclosure_text ?? null,
    durationDays: body.duration_days ?? defaultDurationDays,
    challenge: body.code_challenge,
    state: body.state ?? null,
    allowedMissing: contactKeysFromScope(body.missing_ok),
    token: body.authorize_token ?? null,
    language,
    requestId,
  });
};

const ceaseNoticeSchema = z
  .object({
    status: z.enum(["open", "acknowledged"]),
    opened_at: describedTime("When the person stopped sharing"),
    cease_by: describedTime("When contact must have ended"),
    acknowledged_at: describedTime("When the business confirmed").nullable(),
    overdue: z.boolean(),
  })
  .openapi("CeaseNotice");

export const shareSchema = z
  .object({
    id: z.string(),
    status: z.enum(shareStatuses),
    fingerprint: z.string().openapi({ description: "SHA-256 of what was agreed to, hex." }),
    business: z.object({ id: z.string(), name: z.string().openapi({ description: "As it was shown to the person." }) }),
    client_id: z.string(),
    environment: environmentSchema,
    origin: z.string(),
    purpose: z.string(),
    scope: z.array(fieldKeySchema),
    scope_groups: z.array(fieldGroupSchema),
    disclosure_hash: z.string(),
    created_at: describedTime("When the person agreed"),
    expires_at: describedTime("When it ends by itself"),
    duration_days: z.number().int(),
    revoked_at: describedTime("When the person stopped it").nullable(),
    expired_at: describedTime("When it ended by itself").nullable(),
    supersedes: z.string().nullable().openapi({ description: "The share it was renewed from." }),
    superseded_by: z.string().nullable().openapi({ description: "The share that took its place." }),
    cease: nullableSchema(ceaseNoticeSchema).openapi({ description: "The duty to end contact, once the person has stopped it." }),
    last_delivered_at: describedTime(
      "For its person alone: when the business last redeemed or read the values, or was told of a change; null where it never did",
    )
      .nullable()
      .optional(),
  })
  .openapi("Share");

export const shareToWire = (share: Share, now: Instant): z.input<typeof shareSchema> => ({
  id: share.id,
  status: share.status,
  fingerprint: share.fingerprint,
  business: { id: share.business.id, name: share.business.name },
  client_id: share.clientId,
  environment: share.environment,
  origin: share.origin,
  purpose: share.purpose,
  scope: [...share.scope],
  scope_groups: [...groupsFromKeys(share.scope)],
  disclosure_hash: share.disclosureHash,
  created_at: toIso(share.createdAt),
  expires_at: toIso(share.expiresAt),
  duration_days: share.durationDays,
  revoked_at: toIsoOrNull(share.revokedAt),
  expired_at: share.status === "expired" ? toIso(share.expiresAt) : null,
  supersedes: share.supersedes,
  superseded_by: share.supersededBy,
  cease:
    share.revokedAt === null || share.ceaseBy === null
      ? null
      : {
          status: share.acknowledgedAt === null ? "open" : "acknowledged",
          opened_at: toIso(share.revokedAt),
          cease_by: toIso(share.ceaseBy),
          acknowledged_at: toIsoOrNull(share.acknowledgedAt),
          overdue: isOverdue(share.ceaseBy, share.acknowledgedAt, now + share.clockOffsetMs),
        },
  ...(share.lastDeliveredAt !== undefined && { last_delivered_at: toIsoOrNull(share.lastDeliveredAt) }),
});

export const shareGrantSchema = z
  .object({
    code: z.string().openapi({ description: "Redeem it once, within 60 seconds." }),
    expires_in: z.number().int(),
    expires_at: describedTime("When the code is of no use any more"),
    state: z.string().nullable(),
    share: shareSchema,
  })
  .openapi("ShareGrant");

export const shareGrantToWire = (granted: GrantResult, asked: string | null, now: Instant): z.input<typeof shareGrantSchema> => ({
  code: granted.code,
  expires_in: granted.isRepeated ? Math.max(0, Math.round((granted.codeExpiresAt - now) / 1_000)) : codeLifetimeMs / secondMs,
  expires_at: toIso(granted.codeExpiresAt),
  state: asked,
  share: shareToWire(granted.share, now),
});

export const redeemRequestSchema = z
  .object({
    code: z.string().min(1).max(200).openapi({ description: "As the grant answered it." }),
    code_verifier: z
      .string()
      .refine(isCodeVerifier, "must be 43 to 128 characters of A-Z a-z 0-9 - . _ ~")
      .openapi({ description: "Whose SHA-256 was the challenge of the request." }),
    client_id: clientIdSchema,
  })
  .openapi("RedeemRequest");

const sharedFieldsSchema = z
  .record(z.string(), z.string().nullable())
  .openapi({ description: "Every field of the scope; null where there is no value." });

export const redeemedShareSchema = z
  .object({
    share_id: z.string(),
    fingerprint: z.string(),
    status: z.literal("active"),
    scope: z.array(fieldKeySchema),
    fields: sharedFieldsSchema,
    purpose: z.string(),
    granted_at: describedTime("When the person agreed"),
    expires_at: describedTime("When the share ends by itself"),
    business_id: z.string(),
  })
  .openapi("RedeemedShare");

export const redeemedShareToWire = (redeemed: Redemption): z.input<typeof redeemedShareSchema> => ({
  share_id: redeemed.shareId,
  fingerprint: redeemed.fingerprint,
  status: "active",
  scope: [...redeemed.scope],
  fields: redeemed.fields as Record<string, string | null>,
  purpose: redeemed.purpose,
  granted_at: toIso(redeemed.grantedAt),
  expires_at: toIso(redeemed.expiresAt),
  business_id: redeemed.businessId,
});

const reasonSchema = z.string().max(200).nullish().openapi({ description: "Why, in your words. The business can read it." });
export const revokeOwnShareRequestSchema = z.object({ reason: reasonSchema }).openapi("SeverRequest");
export const revokeShareRequestSchema = z
  .object({
    reason: reasonSchema,
    revoke_token: z.string().max(200).nullish().openapi({ description: "Of the link in the mail, instead of a session." }),
  })
  .openapi("RevokeRequest");

export const revokedShareSchema = z
  .object({
    share: shareSchema,
    cease_by: describedTime("When contact must have ended"),
    already_revoked: z.literal(true).optional().openapi({ description: "It had been stopped before." }),
  })
  .openapi("RevokedShare");

export const shareAcknowledgmentRequestSchema = z
  .object({
    note: z.string().max(500).nullish().openapi({ description: "For the person, who is mailed it." }),
    acknowledged_by: z.string().max(120).nullish().openapi({ description: "Who confirms." }),
    actions: z
      .array(z.string().max(200))
      .max(10)
      .nullish()
      .openapi({ description: "What was done.", example: ["removed from the call list"] }),
  })
  .openapi("ShareCeaseRequest");

export const acknowledgedShareSchema = z
  .object({
    share: shareSchema,
    acknowledged_at: describedTime("When it was confirmed"),
    cease_by: describedTime("When contact had to end"),
    on_time: z.boolean(),
    already_acknowledged: z.literal(true).optional(),
  })
  .openapi("CeasedShare");

export const acknowledgedShareToWire = ({ share, isRepeated }: CeasedShare, now: Instant): z.input<typeof acknowledgedShareSchema> => {
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
    consent: z.literal(true).openapi({ description: "Must be true: you pressed the button." }),
    duration_days: durationDaysSchema.nullish(),
    scope: z.array(scopeNameSchema).min(1).max(20).nullish().openapi({ description: "Less or more than before; the same unless given." }),
  })
  .openapi("RenewRequest");

export const renewedShareSchema = z
  .object({ share: shareSchema, superseded: z.object({ id: z.string(), status: z.literal("superseded") }) })
  .openapi("RenewedShare");

export const renewedShareToWire = ({ share, superseded }: RenewedShare, now: Instant): z.input<typeof renewedShareSchema> => ({
  share: shareToWire(share, now),
  superseded: { id: superseded, status: "superseded" },
});

export const shareListQuerySchema = z.object({
  status: z.enum(shareStatuses).optional().openapi({ description: "Only shares that are so now." }),
  limit: limitSchema(200, 200),
  starting_after: z.string().max(64).optional().openapi({ description: "The last share of the page before." }),
});

export const shareListSchema = z
  .object({ shares: z.array(shareSchema), count: z.number().int(), has_more: z.boolean() })
  .openapi("ShareList");

export const shareDetailSchema = shareSchema
  .extend({
    disclosure_text: z.string().nullable(),
    anchor: nullableSchema(anchorSchema),
    reason: z.string().nullable().openapi({ description: "Why the person stopped, in their words." }),
    history: z.array(
      z.object({
        at: describedTime("When"),
        type: z.string(),
        audit_seq: z.string().nullable().openapi({ description: "Its place in your audit chain; null until the log has taken it." }),
      }),
    ),
  })
  .openapi("ShareDetail");

export const shareDetailToWire = (detail: ShareDetail, now: Instant): z.input<typeof shareDetailSchema> => ({
  ...shareToWire(detail.share, now),
  disclosure_text: detail.disclosureText === "" ? null : detail.disclosureText,
  anchor: toAnchorView(detail.anchor) as z.input<typeof anchorSchema> | null,
  reason: detail.reason,
  history: detail.history.map(({ at, type, auditSeq }) => ({ at: toIso(at), type, audit_seq: auditSeq })),
});

export const currentValuesSchema = z
  .object({
    share_id: z.string(),
    status: z.literal("active"),
    scope: z.array(fieldKeySchema),
    fields: sharedFieldsSchema,
    field_updated_at: z.record(z.string(), z.string().nullable()),
    as_of: describedTime("The values as they were then"),
  })
  .openapi("CurrentValues");

export const currentValuesToWire = ({ shareId, scope, fields, asOf }: CurrentValues): z.input<typeof currentValuesSchema> => ({
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
