// The wire of withdrawing, recording and acknowledging: what may be sent, and what is answered.
import { z } from "@hono/zod-openapi";
import { emailCodePattern, emailCodeRule } from "../../../core/access/email-code.ts";
import { receiptFormats } from "../../../core/certificates/consent-receipt.ts";
import {
  toWithdrawalReceiptView,
  toWithdrawnEntitiesView,
  buildEntityReceiptUrl,
  buildReceiptUrl,
  toWithdrawalView,
  type ViewContext,
} from "../../../core/certificates/public-view.ts";
import type { WithdrawalWithProof } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import { isEmailAddress } from "../../../core/email-address.ts";
import { toIso } from "../../../core/time.ts";
import { formatWithdrawalReceipt } from "../../../core/withdrawals/receipt.ts";
import {
  decideWithdrawal,
  recordedChannels,
  sourceFromPerson,
  type WithdrawableCertificate,
} from "../../../core/withdrawals/withdrawal.ts";
import { instantSchema, nullableSchema, describedTime } from "../../http/wire.ts";
import type { EntityAcknowledgement } from "../../operations/withdrawals/acknowledge-entity-withdrawals.ts";
import type { WithdrawalAcknowledgement } from "../../operations/withdrawals/acknowledge-withdrawal.ts";
import type { RecordedWithdrawal } from "../../operations/withdrawals/record-withdrawal.ts";
import type { WithdrawalResult } from "../../operations/withdrawals/withdraw-certificate.ts";
import { certIdSchema, withdrawalSchema, withdrawnEntitySchema } from "../certificates/schema.ts";
import { exampleCertificate, exampleViewContext, pendingAnchor } from "../certificates/wire.ts";

/** One address and nothing that could become a second recipient or a header; ends are trimmed. */
const emailSchema = z
  .string()
  .max(320)
  .transform((text) => text.trim())
  .refine(isEmailAddress, "must be one e-mail address")
  .openapi({ description: "One e-mail address. Case does not matter.", example: "pat@example.com" });

const nullableScopeSchema = z.enum(["certificate", "business"]).nullish();
const scopeSchema = nullableScopeSchema
  .transform((chosen) => chosen ?? "certificate")
  .openapi({
    description:
      "`certificate` (default): this certificate. `business`: every active certificate of the same business with the same address, now and without another code.",
  });

const entitiesSchema = z
  .array(z.string().max(200, "a name must be at most 200 characters"))
  .max(1_000, "must name at most 1,000 recipients")
  .nullish()
  .transform((chosen) => chosen ?? null)
  .openapi({
    description:
      "Only these recipients, by their names on the certificate, where the person consented to them. The certificate stays active for the others; with the last one it is revoked. Not with `scope: business`.",
    example: ["Bright Homes Inc"],
  });

/** Naming recipients and withdrawing from everything are two different wishes: nobody is taken to have had both. */
const hasCompatibleScope = (wish: { readonly scope: string | null; readonly entities: readonly string[] | null }): boolean =>
  wish.entities === null || wish.scope !== "business";
const incompatibleScopeIssue = { path: ["entities"], error: "must not be sent together with scope business" };

export const optOutRequestSchema = z.object({ email: emailSchema }).openapi("OptOutRequest");
export const acceptedSchema = z.object({ accepted: z.literal(true) }).openapi("Accepted", {
  description: "The same whether or not the address is on the certificate.",
});
export const optOutConfirmSchema = z
  .object({
    email: emailSchema,
    code: z.string().regex(emailCodePattern, emailCodeRule).openapi({ description: "The six digits from the mail.", example: "042917" }),
    scope: scopeSchema,
    entities: entitiesSchema,
  })
  .refine(hasCompatibleScope, incompatibleScopeIssue)
  .openapi("OptOutConfirm");
export const optOutManageSchema = z
  .object({
    token: z
      .string()
      .regex(/^[A-Za-z0-9_-]{43}$/, "must be the 43 characters that follow #m= in the link")
      .openapi({ description: "What follows `#m=` in `manage_url`, or in the link of a mail with a code." }),
    scope: scopeSchema,
    entities: entitiesSchema,
  })
  .refine(hasCompatibleScope, incompatibleScopeIssue)
  .openapi("OptOutManage");
export const withdrawnSchema = z
  .object({
    revoked: z.boolean().openapi({ description: "`false`: the certificate stays active for the recipients that were not named." }),
    cease_by: describedTime("Until when all contact must have ceased"),
    withdrawn_at: describedTime("When it was withdrawn"),
    receipt_url: z.string().openapi({ format: "uri", description: "The signed receipt, to keep." }),
    entities_withdrawn: z
      .array(withdrawnEntitySchema)
      .optional()
      .openapi({ description: "Present exactly when `revoked` is `false`: the recipients withdrawn from now." }),
  })
  .openapi("Withdrawn");

export const withdrawnToWire = (
  apiBase: string,
  { certId, withdrawnAt, ceaseBy, fromEntities }: WithdrawalResult,
): z.input<typeof withdrawnSchema> => {
  const [first] = fromEntities;
  return {
    revoked: first === undefined,
    cease_by: toIso(ceaseBy),
    withdrawn_at: toIso(withdrawnAt),
    receipt_url: first === undefined ? buildReceiptUrl(apiBase, certId) : buildEntityReceiptUrl(apiBase, certId, first.number),
    ...toWithdrawnEntitiesView({ id: certId, entitiesWithdrawn: fromEntities, withdrawal: null }, { apiBase, now: withdrawnAt }),
  };
};

export const receiptQuerySchema = z.object({
  withdrawal: z
    .string()
    .regex(/^[1-9]\d{0,5}$/, "must be a whole number from 1")
    .transform(Number)
    .optional()
    .openapi({
      type: "integer",
      minimum: 1,
      description: "The receipt of a withdrawal from single recipients, as `receipt_url` in `entities_withdrawn` names it.",
    }),
  format: z.enum(receiptFormats).optional().openapi({
    description: "`iso27560`: in the structure of ISO/IEC TS 27560:2023, as JSON-LD. `kantara`: Kantara Consent Receipt 1.1.0.",
  }),
});

export const recordWithdrawalSchema = z
  .object({
    method: z.enum(recordedChannels).openapi({ description: "How the person told you." }),
    received_at: instantSchema.openapi({
      format: "date-time",
      description: "When you were told, ISO 8601, not in the future. `cease_by` counts from here.",
      example: "2026-03-20T08:30:00.250Z",
    }),
    note: z.string().max(1_000).nullish().openapi({ description: "For your own records; kept encrypted." }),
    scope: nullableScopeSchema
      .transform((chosen) => chosen ?? null)
      .openapi({
        description:
          "`certificate`: this certificate. `business`: every active certificate of yours that names the same e-mail address, or the same telephone number where this one holds no e-mail address, as of now; without either, this one. Default: `revocation_scope_default` of your business, which is `business` unless you set it.",
      }),
    entities: entitiesSchema,
  })
  .refine(hasCompatibleScope, incompatibleScopeIssue)
  .openapi("RecordWithdrawal");
export const recordedWithdrawalSchema = z
  .object({
    withdrawal: nullableSchema(withdrawalSchema).openapi({
      description: "`null` while the certificate stays active for other recipients.",
    }),
    cease_by: describedTime("Until when all contact must have ceased"),
    entities_withdrawn: z
      .array(withdrawnEntitySchema)
      .optional()
      .openapi({ description: "Present exactly when `withdrawal` is `null`: the recipients withdrawn from now." }),
  })
  .openapi("RecordedWithdrawal");

/** With what was overdue at that moment, so that a repeat under the same key is answered the same. */
export const recordedWithdrawalToWire = (
  id: CertId,
  { withdrawal, withdrawnAt, ceaseBy, fromEntities }: RecordedWithdrawal,
  context: ViewContext,
): z.input<typeof recordedWithdrawalSchema> => {
  const then = { ...context, now: withdrawnAt };
  return {
    withdrawal: withdrawal === null ? null : toWithdrawalView(id, withdrawal, then),
    cease_by: toIso(ceaseBy),
    ...toWithdrawnEntitiesView({ id, entitiesWithdrawn: fromEntities, withdrawal: null }, then),
  };
};

export const acknowledgmentRequestSchema = z
  .object({
    note: z.string().max(500).nullish().openapi({ description: "For your own records; kept encrypted." }),
    acknowledged_by: z.string().max(120).nullish().openapi({ description: "Who ceased contact; kept encrypted." }),
    actions: z.array(z.string().max(200)).max(10).nullish().openapi({ description: "What was done, for example `removed from CRM`." }),
    entities: entitiesSchema.openapi({
      description:
        "Only these recipients, which the person withdrew from alone (`entities_withdrawn`), have ceased contact. Without it: contact under the whole certificate, which must be revoked.",
    }),
  })
  .openapi("CeaseAcknowledgement");
export const acknowledgmentSchema = z
  .object({
    cert_id: certIdSchema,
    status: z.enum(["active", "revoked"]).openapi({ description: "Of the certificate: `active` only with `entities`." }),
    acknowledged_at: describedTime("When you first acknowledged; of several recipients the last of them"),
    cease_by: describedTime("Until when all contact had to cease; of several recipients the first of them"),
    on_time: z.boolean().openapi({ description: "Acknowledged by `cease_by`, each of them." }),
    withdrawal: nullableSchema(withdrawalSchema).openapi({ description: "Of the certificate as a whole; `null` while it is active." }),
    entities_withdrawn: z
      .array(withdrawnEntitySchema)
      .optional()
      .openapi({ description: "Present when you sent `entities`: those, each acknowledged." }),
    already_acknowledged: z.literal(true).optional().openapi({ description: "Present when this was acknowledged before." }),
  })
  .openapi("CeaseAcknowledged");

export const acknowledgmentToWire = (
  { certId: id, withdrawal, isRepeated }: WithdrawalAcknowledgement,
  context: ViewContext,
): z.input<typeof acknowledgmentSchema> => ({
  cert_id: id,
  status: "revoked",
  acknowledged_at: toIso(withdrawal.acknowledgedAt),
  cease_by: toIso(withdrawal.ceaseBy),
  on_time: withdrawal.acknowledgedAt <= withdrawal.ceaseBy,
  withdrawal: toWithdrawalView(id, withdrawal, context),
  ...(isRepeated && { already_acknowledged: true as const }),
});

export const entityAcknowledgmentToWire = (
  { certId: id, withdrawal, ceased, isRepeated }: EntityAcknowledgement,
  context: ViewContext,
): z.input<typeof acknowledgmentSchema> => ({
  cert_id: id,
  status: withdrawal === null ? "active" : "revoked",
  acknowledged_at: toIso(Math.max(...ceased.map(({ acknowledgedAt }) => acknowledgedAt))),
  cease_by: toIso(Math.min(...ceased.map(({ ceaseBy }) => ceaseBy))),
  on_time: ceased.every(({ acknowledgedAt, ceaseBy }) => acknowledgedAt <= ceaseBy),
  withdrawal: withdrawal === null ? null : toWithdrawalView(id, withdrawal, context),
  ...toWithdrawnEntitiesView({ id, entitiesWithdrawn: ceased, withdrawal }, context),
  ...(isRepeated && { already_acknowledged: true as const }),
});

// The worked certificate of the OpenAPI document, withdrawn: its receipt can be recomputed and its signature checked.
const exampleWithdrawnAt = Date.UTC(2026, 2, 20, 9, 30, 0, 250);
const exampleWithdrawableCertificate: WithdrawableCertificate = { ...exampleCertificate, chain: { tag: "example", auditLog: 0 } };
const { withdrawal } = decideWithdrawal({
  certificate: exampleWithdrawableCertificate,
  change: sourceFromPerson("email_code"),
  scope: "certificate",
  now: exampleWithdrawnAt,
});

/** Signed by a key that was used once and thrown away; its public half is yke4J3KkMv_JCYJyBIa4etk16upzo5QC5vQR3c0u6sA. */
const provenWithdrawalExample: WithdrawalWithProof = {
  withdrawnAt: exampleWithdrawnAt,
  ceaseBy: withdrawal.ceaseBy,
  method: withdrawal.method,
  scope: withdrawal.scope,
  receivedAt: null,
  acknowledgedAt: null,
  receipt: formatWithdrawalReceipt(exampleWithdrawableCertificate, withdrawal),
  signature: {
    kid: "G7z7ENaxv-r4D8rwwslulfGhHKMzPJBy5nhQKH-sP_Q",
    alg: "Ed25519",
    value: "iQrEMGzwbQuUjD2ZID7DS107Ck/Y621nYiRAvI+pz+8sOwoWv5lSdAdtvHVjpyXnz5VncvnxEbG1LFTbilW1DA==",
  },
  anchor: pendingAnchor("certificate.revoked", exampleWithdrawableCertificate, exampleWithdrawnAt),
};

export const withdrawalReceiptExample = toWithdrawalReceiptView(provenWithdrawalExample);
const withdrawalViewExample = toWithdrawalView(exampleWithdrawableCertificate.id, provenWithdrawalExample, exampleViewContext);
export const withdrawnExample = {
  revoked: true,
  cease_by: withdrawalViewExample.cease_by,
  withdrawn_at: withdrawalViewExample.withdrawn_at,
  receipt_url: withdrawalViewExample.receipt_url,
};
export const recordedWithdrawalExample = {
  withdrawal: { ...withdrawalViewExample, method: "business_recorded", received_at: toIso(exampleWithdrawnAt - 3_600_000) },
  cease_by: withdrawalViewExample.cease_by,
};
const exampleAcknowledgedAt = toIso(exampleWithdrawnAt + 86_400_000);
export const acknowledgmentExample = {
  cert_id: exampleWithdrawableCertificate.id,
  status: "revoked",
  acknowledged_at: exampleAcknowledgedAt,
  cease_by: withdrawalViewExample.cease_by,
  on_time: true,
  withdrawal: { ...withdrawalViewExample, cease_acknowledged_at: exampleAcknowledgedAt },
};
