// The wire of the share protocol: shapes of requests and answers, and between them and the operations.
import { z } from "@hono/zod-openapi";
import { clientIdOf, shareIdOf } from "../../../core/ids.ts";
import { ok, type Result } from "../../../core/result.ts";
import { anchorView } from "../../../core/certificates/views.ts";
import { askedScope, contactKeys, groupNames, groupsOf, type ContactKey } from "../../../core/shares/fields.ts";
import { defaultDurationDays, maxDurationDays } from "../../../core/shares/grant.ts";
import { fieldLabels } from "../../../core/shares/labels.ts";
import { personaNames } from "../../../core/shares/persona.ts";
import { isVerifier } from "../../../core/shares/pkce.ts";
import { shareStatuses, type Share } from "../../../core/shares/share.ts";
import { codeLifeMs, requestLifeMs } from "../../../core/shares/request.ts";
import { isoOf, isoOrNull, type Instant, secondMs } from "../../../core/time.ts";
import { isOverdue } from "../../../core/withdrawals/acknowledge.ts";
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
import { environmentSchema, idParam, limitParam, orNull, timeOf } from "../../http/wire.ts";
import type { CeasedShare } from "../../operations/shares/acknowledge.ts";
import type { AuthorizedRequest } from "../../operations/shares/authorize.ts";
import type { Decision } from "../../operations/shares/authorize.ts";
import type { Granted } from "../../operations/shares/grant.ts";
import type { CurrentValues, ShareDetail, SharePage } from "../../operations/shares/read.ts";
import type { Redeemed } from "../../operations/shares/redeem.ts";
import type { Renewed } from "../../operations/shares/renew.ts";
import type { Revoked } from "../../operations/shares/revoke.ts";
import { anchorSchema } from "../certificates/schema.ts";

export const fieldKey = z.enum(contactKeys);
export const fieldGroup = z.enum(groupNames);
const durationDays = z
  .number()
  .int()
  .min(1)
  .max(maxDurationDays)
  .openapi({ description: `Days of 24 hours; ${defaultDurationDays} unless given.`, example: 365 });
const scopeWord = z.string().min(1).max(40);

const exampleShareId = "shr_00k3v9d2m4q8x1c7b5n0t6w2h9";
export const shareParam = z.object({ share_id: idParam(shareIdOf, "Of the share.", exampleShareId) });
/** Where whoever asks is judged before their share is looked for: null for what is no id. */
export const unreadShareParam = z.object({
  share_id: z.string().transform(shareIdOf).openapi({ type: "string", description: "Of the share.", example: exampleShareId }),
});

export const authorizedSchema = z
  .object({
    client: z.object({
      client_id: z.string(),
      business_id: z.string(),
      business_name: z.string(),
      logo_url: z.string().nullable().openapi({ description: "As the business gave it. Our own pages show no pictures from elsewhere." }),
      environment: environmentSchema,
    }),
    origin: z.string(),
    scope: z.array(fieldKey),
    scope_groups: z.array(fieldGroup),
    needed: z.array(fieldKey).openapi({ description: "Those of the scope that are not optional to the person." }),
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

export const authorizedToWire = (request: AuthorizedRequest, token: string, language: MailLanguage): z.input<typeof authorizedSchema> => ({
  client: {
    client_id: request.client.clientId,
    business_id: request.client.business.id,
    business_name: request.client.business.name,
    logo_url: request.client.logoUrl,
    environment: request.client.environment,
  },
  origin: request.origin,
  scope: [...request.asked.scope],
  scope_groups: [...groupsOf(request.asked.scope)],
  needed: [...request.asked.needed],
  labels: Object.fromEntries(request.asked.scope.map((name) => [name, fieldLabels[language][name]])),
  purpose: request.purpose,
  duration_days: request.durationDays,
  disclosure_text: request.disclosureText === "" ? null : request.disclosureText,
  disclosure_hash: request.disclosureHash,
  state: request.state,
  authorize_token: token,
  expires_in: requestLifeMs / secondMs,
});

const decisionShape = {
  client_id: clientIdSchema,
  origin: originSchema,
  scope: z
    .array(scopeWord)
    .min(1)
    .max(20)
    .openapi({ description: "What the person agreed to share.", example: ["email", "phone"] }),
  purpose: purposeSchema,
  duration_days: durationDays.nullish(),
  disclosure_text: disclosureSchema.nullish(),
  code_challenge: challengeSchema,
  code_challenge_method: challengeMethodSchema,
  state: stateSchema.nullish(),
  consent: z.literal(true).openapi({ description: "Must be true: the person pressed the button." }),
  missing_ok: z.array(scopeWord).max(20).nullish().openapi({ description: "Fields that may be shared although there is no value." }),
  authorize_token: z.string().max(300).nullish().openapi({ description: "Of GET /v1/authorize. With it the request is decided once." }),
};

export const consentSchema = z.object(decisionShape).openapi("ShareConsent");
export const sandboxConsentSchema = z
  .object({
    ...decisionShape,
    persona: z.enum(personaNames).nullish().openapi({ description: "The test person; `minimal` has an address and a first name only." }),
  })
  .openapi("SandboxShareConsent");

/** The names in `missing_ok`, groups included. */
const keysOf = (words: readonly string[] | null | undefined): readonly ContactKey[] => {
  const asked = askedScope(words ?? []);
  return asked.ok ? asked.value.scope : [];
};

export const decisionFromWire = (
  body: z.output<typeof consentSchema>,
  { language, requestId }: Pick<Decision, "language" | "requestId">,
): Result<Decision, "invalid_request"> => {
  const chosen = askedScope(body.scope);
  if (!chosen.ok) return chosen;
  return ok({
    clientId: clientIdOf(body.client_id),
    origin: body.origin,
    scope: chosen.value.scope,
    purpose: body.purpose,
    disclosureText: body.disclosure_text ?? null,
    durationDays: body.duration_days ?? defaultDurationDays,
    challenge: body.code_challenge,
    state: body.state ?? null,
    missingOk: keysOf(body.missing_ok),
    token: body.authorize_token ?? null,
    language,
    requestId,
  });
};

const ceaseSchema = z
  .object({
    status: z.enum(["open", "acknowledged"]),
    opened_at: timeOf("When the person stopped sharing"),
    cease_by: timeOf("When contact must have ended"),
    acknowledged_at: timeOf("When the business confirmed").nullable(),
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
    scope: z.array(fieldKey),
    scope_groups: z.array(fieldGroup),
    disclosure_hash: z.string(),
    created_at: timeOf("When the person agreed"),
    expires_at: timeOf("When it ends by itself"),
    duration_days: z.number().int(),
    revoked_at: timeOf("When the person stopped it").nullable(),
    expired_at: timeOf("When it ended by itself").nullable(),
    supersedes: z.string().nullable().openapi({ description: "The share it was renewed from." }),
    superseded_by: z.string().nullable().openapi({ description: "The share that took its place." }),
    cease: orNull(ceaseSchema).openapi({ description: "The duty to end contact, once the person has stopped it." }),
    last_delivered_at: timeOf(
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
  scope_groups: [...groupsOf(share.scope)],
  disclosure_hash: share.disclosureHash,
  created_at: isoOf(share.createdAt),
  expires_at: isoOf(share.expiresAt),
  duration_days: share.durationDays,
  revoked_at: isoOrNull(share.revokedAt),
  expired_at: share.status === "expired" ? isoOf(share.expiresAt) : null,
  supersedes: share.supersedes,
  superseded_by: share.supersededBy,
  cease:
    share.revokedAt === null || share.ceaseBy === null
      ? null
      : {
          status: share.acknowledgedAt === null ? "open" : "acknowledged",
          opened_at: isoOf(share.revokedAt),
          cease_by: isoOf(share.ceaseBy),
          acknowledged_at: isoOrNull(share.acknowledgedAt),
          overdue: isOverdue(share.ceaseBy, share.acknowledgedAt, now + share.clockOffsetMs),
        },
  ...(share.lastDeliveredAt !== undefined && { last_delivered_at: isoOrNull(share.lastDeliveredAt) }),
});

export const grantedSchema = z
  .object({
    code: z.string().openapi({ description: "Redeem it once, within 60 seconds." }),
    expires_in: z.number().int(),
    expires_at: timeOf("When the code is of no use any more"),
    state: z.string().nullable(),
    share: shareSchema,
  })
  .openapi("ShareGrant");

export const grantedToWire = (granted: Granted, asked: string | null, now: Instant): z.input<typeof grantedSchema> => ({
  code: granted.code,
  expires_in: granted.isRepeated ? Math.max(0, Math.round((granted.codeExpiresAt - now) / 1_000)) : codeLifeMs / secondMs,
  expires_at: isoOf(granted.codeExpiresAt),
  state: asked,
  share: shareToWire(granted.share, now),
});

export const redeemSchema = z
  .object({
    code: z.string().min(1).max(200).openapi({ description: "As the grant answered it." }),
    code_verifier: z
      .string()
      .refine(isVerifier, "must be 43 to 128 characters of A-Z a-z 0-9 - . _ ~")
      .openapi({ description: "Whose SHA-256 was the challenge of the request." }),
    client_id: clientIdSchema,
  })
  .openapi("RedeemRequest");

const fieldsSchema = z
  .record(z.string(), z.string().nullable())
  .openapi({ description: "Every field of the scope; null where there is no value." });

export const redeemedSchema = z
  .object({
    share_id: z.string(),
    fingerprint: z.string(),
    status: z.literal("active"),
    scope: z.array(fieldKey),
    fields: fieldsSchema,
    purpose: z.string(),
    granted_at: timeOf("When the person agreed"),
    expires_at: timeOf("When the share ends by itself"),
    business_id: z.string(),
  })
  .openapi("RedeemedShare");

export const redeemedToWire = (redeemed: Redeemed): z.input<typeof redeemedSchema> => ({
  share_id: redeemed.shareId,
  fingerprint: redeemed.fingerprint,
  status: "active",
  scope: [...redeemed.scope],
  fields: redeemed.fields as Record<string, string | null>,
  purpose: redeemed.purpose,
  granted_at: isoOf(redeemed.grantedAt),
  expires_at: isoOf(redeemed.expiresAt),
  business_id: redeemed.businessId,
});

const reason = z.string().max(200).nullish().openapi({ description: "Why, in your words. The business can read it." });
export const severSchema = z.object({ reason }).openapi("SeverRequest");
export const revokeSchema = z
  .object({
    reason,
    revoke_token: z.string().max(200).nullish().openapi({ description: "Of the link in the mail, instead of a session." }),
  })
  .openapi("RevokeRequest");

export const revokedSchema = z
  .object({
    share: shareSchema,
    cease_by: timeOf("When contact must have ended"),
    already_revoked: z.literal(true).optional().openapi({ description: "It had been stopped before." }),
  })
  .openapi("RevokedShare");

export const ceaseRequestSchema = z
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

export const ceasedSchema = z
  .object({
    share: shareSchema,
    acknowledged_at: timeOf("When it was confirmed"),
    cease_by: timeOf("When contact had to end"),
    on_time: z.boolean(),
    already_acknowledged: z.literal(true).optional(),
  })
  .openapi("CeasedShare");

export const ceasedToWire = ({ share, isRepeated }: CeasedShare, now: Instant): z.input<typeof ceasedSchema> => {
  const { acknowledgedAt, ceaseBy } = share as Share & { readonly acknowledgedAt: Instant; readonly ceaseBy: Instant };
  return {
    share: shareToWire(share, now),
    acknowledged_at: isoOf(acknowledgedAt),
    cease_by: isoOf(ceaseBy),
    on_time: acknowledgedAt <= ceaseBy,
    ...(isRepeated && { already_acknowledged: true as const }),
  };
};

export const renewSchema = z
  .object({
    consent: z.literal(true).openapi({ description: "Must be true: you pressed the button." }),
    duration_days: durationDays.nullish(),
    scope: z.array(scopeWord).min(1).max(20).nullish().openapi({ description: "Less or more than before; the same unless given." }),
  })
  .openapi("RenewRequest");

export const renewedSchema = z
  .object({ share: shareSchema, superseded: z.object({ id: z.string(), status: z.literal("superseded") }) })
  .openapi("RenewedShare");

export const renewedToWire = ({ share, superseded }: Renewed, now: Instant): z.input<typeof renewedSchema> => ({
  share: shareToWire(share, now),
  superseded: { id: superseded, status: "superseded" },
});

export const listSharesQuery = z.object({
  status: z.enum(shareStatuses).optional().openapi({ description: "Only shares that are so now." }),
  limit: limitParam(200, 200),
  starting_after: z.string().max(64).optional().openapi({ description: "The last share of the page before." }),
});

export const sharesSchema = z.object({ shares: z.array(shareSchema), count: z.number().int(), has_more: z.boolean() }).openapi("ShareList");

export const shareDetailSchema = shareSchema
  .extend({
    disclosure_text: z.string().nullable(),
    anchor: orNull(anchorSchema),
    reason: z.string().nullable().openapi({ description: "Why the person stopped, in their words." }),
    history: z.array(
      z.object({
        at: timeOf("When"),
        type: z.string(),
        audit_seq: z.string().nullable().openapi({ description: "Its place in your audit chain; null until the log has taken it." }),
      }),
    ),
  })
  .openapi("ShareDetail");

export const shareDetailToWire = (detail: ShareDetail, now: Instant): z.input<typeof shareDetailSchema> => ({
  ...shareToWire(detail.share, now),
  disclosure_text: detail.disclosureText === "" ? null : detail.disclosureText,
  anchor: anchorView(detail.anchor) as z.input<typeof anchorSchema> | null,
  reason: detail.reason,
  history: detail.history.map(({ at, type, auditSeq }) => ({ at: isoOf(at), type, audit_seq: auditSeq })),
});

export const currentSchema = z
  .object({
    share_id: z.string(),
    status: z.literal("active"),
    scope: z.array(fieldKey),
    fields: fieldsSchema,
    field_updated_at: z.record(z.string(), z.string().nullable()),
    as_of: timeOf("The values as they were then"),
  })
  .openapi("CurrentValues");

export const currentToWire = ({ shareId, scope, fields, asOf }: CurrentValues): z.input<typeof currentSchema> => ({
  share_id: shareId,
  status: "active",
  scope: [...scope],
  fields: Object.fromEntries(scope.map((name) => [name, fields[name]?.value ?? null])),
  field_updated_at: Object.fromEntries(scope.map((name) => [name, isoOrNull(fields[name]?.updatedAt ?? null)])),
  as_of: isoOf(asOf),
});

export const revokedToWire = ({ share, ceaseBy, isRepeated }: Revoked, now: Instant): z.input<typeof revokedSchema> => ({
  share: shareToWire(share, now),
  cease_by: isoOf(ceaseBy),
  ...(isRepeated && { already_revoked: true as const }),
});

export const sharesToWire = ({ shares, hasMore }: SharePage, now: Instant): z.input<typeof sharesSchema> => ({
  shares: shares.map((share) => shareToWire(share, now)),
  count: shares.length,
  has_more: hasMore,
});
