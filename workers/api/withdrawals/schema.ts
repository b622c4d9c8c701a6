// The wire of withdrawing, recording and acknowledging: what may be sent, and what is answered.
import { z } from "@hono/zod-openapi";
import { codePattern, codeRule } from "../../../core/access/mailed-code.ts";
import { receiptFormats } from "../../../core/certificates/consent-receipt.ts";
import {
  entitiesWithdrawnView,
  entityReceiptUrlOf,
  receiptUrlOf,
  withdrawalView,
  type ViewContext,
} from "../../../core/certificates/views.ts";
import type { CertId } from "../../../core/ids.ts";
import { isMailbox } from "../../../core/mailbox.ts";
import { isoOf } from "../../../core/time.ts";
import { recordedChannels } from "../../../core/withdrawals/withdrawal.ts";
import { instant, orNull, timeOf } from "../../http/wire.ts";
import type { Ceased, EntitiesCeased } from "../../operations/withdrawals/acknowledge.ts";
import type { RecordedWithdrawal } from "../../operations/withdrawals/record.ts";
import type { Withdrawn } from "../../operations/withdrawals/withdraw.ts";
import { certId, withdrawalSchema, withdrawnEntitySchema } from "../certificates/schema.ts";

/** One address and nothing that could become a second recipient or a header; ends are trimmed. */
const email = z
  .string()
  .max(320)
  .transform((text) => text.trim())
  .refine(isMailbox, "must be one e-mail address")
  .openapi({ description: "One e-mail address. Case does not matter.", example: "pat@example.com" });

const scopes = z.enum(["certificate", "business"]).nullish();
const scope = scopes
  .transform((chosen) => chosen ?? "certificate")
  .openapi({
    description:
      "`certificate` (default): this certificate. `business`: every active certificate of the same business with the same address, now and without another code.",
  });

const entities = z
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
const isOneWish = (wish: { readonly scope: string | null; readonly entities: readonly string[] | null }): boolean =>
  wish.entities === null || wish.scope !== "business";
const oneWish = { path: ["entities"], error: "must not be sent together with scope business" };

export const optOutRequestSchema = z.object({ email }).openapi("OptOutRequest");
export const acceptedSchema = z.object({ accepted: z.literal(true) }).openapi("Accepted", {
  description: "The same whether or not the address is on the certificate.",
});
export const optOutConfirmSchema = z
  .object({
    email,
    code: z.string().regex(codePattern, codeRule).openapi({ description: "The six digits from the mail.", example: "042917" }),
    scope,
    entities,
  })
  .refine(isOneWish, oneWish)
  .openapi("OptOutConfirm");
export const optOutManageSchema = z
  .object({
    token: z
      .string()
      .regex(/^[A-Za-z0-9_-]{43}$/, "must be the 43 characters that follow #m= in the link")
      .openapi({ description: "What follows `#m=` in `manage_url`, or in the link of a mail with a code." }),
    scope,
    entities,
  })
  .refine(isOneWish, oneWish)
  .openapi("OptOutManage");
export const withdrawnSchema = z
  .object({
    revoked: z.boolean().openapi({ description: "`false`: the certificate stays active for the recipients that were not named." }),
    cease_by: timeOf("Until when all contact must have ceased"),
    withdrawn_at: timeOf("When it was withdrawn"),
    receipt_url: z.string().openapi({ format: "uri", description: "The signed receipt, to keep." }),
    entities_withdrawn: z
      .array(withdrawnEntitySchema)
      .optional()
      .openapi({ description: "Present exactly when `revoked` is `false`: the recipients withdrawn from now." }),
  })
  .openapi("Withdrawn");

export const withdrawnToWire = (
  apiBase: string,
  { certId, withdrawnAt, ceaseBy, fromEntities }: Withdrawn,
): z.input<typeof withdrawnSchema> => {
  const [first] = fromEntities;
  return {
    revoked: first === undefined,
    cease_by: isoOf(ceaseBy),
    withdrawn_at: isoOf(withdrawnAt),
    receipt_url: first === undefined ? receiptUrlOf(apiBase, certId) : entityReceiptUrlOf(apiBase, certId, first.number),
    ...entitiesWithdrawnView({ id: certId, entitiesWithdrawn: fromEntities, withdrawal: null }, { apiBase, now: withdrawnAt }),
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
    received_at: instant.openapi({
      format: "date-time",
      description: "When you were told, ISO 8601, not in the future. `cease_by` counts from here.",
      example: "2026-03-20T08:30:00.250Z",
    }),
    note: z.string().max(1_000).nullish().openapi({ description: "For your own records; kept encrypted." }),
    scope: scopes
      .transform((chosen) => chosen ?? null)
      .openapi({
        description:
          "`certificate`: this certificate. `business`: every active certificate of yours that names the same e-mail address, or the same telephone number where this one holds no e-mail address, as of now; without either, this one. Default: `revocation_scope_default` of your business, which is `business` unless you set it.",
      }),
    entities,
  })
  .refine(isOneWish, oneWish)
  .openapi("RecordWithdrawal");
export const recordedSchema = z
  .object({
    withdrawal: orNull(withdrawalSchema).openapi({ description: "`null` while the certificate stays active for other recipients." }),
    cease_by: timeOf("Until when all contact must have ceased"),
    entities_withdrawn: z
      .array(withdrawnEntitySchema)
      .optional()
      .openapi({ description: "Present exactly when `withdrawal` is `null`: the recipients withdrawn from now." }),
  })
  .openapi("RecordedWithdrawal");

/** With what was overdue at that moment, so that a repeat under the same key is answered the same. */
export const recordedToWire = (
  id: CertId,
  { withdrawal, withdrawnAt, ceaseBy, fromEntities }: RecordedWithdrawal,
  context: ViewContext,
): z.input<typeof recordedSchema> => {
  const then = { ...context, now: withdrawnAt };
  return {
    withdrawal: withdrawal === null ? null : withdrawalView(id, withdrawal, then),
    cease_by: isoOf(ceaseBy),
    ...entitiesWithdrawnView({ id, entitiesWithdrawn: fromEntities, withdrawal: null }, then),
  };
};

export const ceaseSchema = z
  .object({
    note: z.string().max(500).nullish().openapi({ description: "For your own records; kept encrypted." }),
    acknowledged_by: z.string().max(120).nullish().openapi({ description: "Who ceased contact; kept encrypted." }),
    actions: z.array(z.string().max(200)).max(10).nullish().openapi({ description: "What was done, for example `removed from CRM`." }),
    entities: entities.openapi({
      description:
        "Only these recipients, which the person withdrew from alone (`entities_withdrawn`), have ceased contact. Without it: contact under the whole certificate, which must be revoked.",
    }),
  })
  .openapi("CeaseAcknowledgement");
export const ceasedSchema = z
  .object({
    cert_id: certId,
    status: z.enum(["active", "revoked"]).openapi({ description: "Of the certificate: `active` only with `entities`." }),
    acknowledged_at: timeOf("When you first acknowledged; of several recipients the last of them"),
    cease_by: timeOf("Until when all contact had to cease; of several recipients the first of them"),
    on_time: z.boolean().openapi({ description: "Acknowledged by `cease_by`, each of them." }),
    withdrawal: orNull(withdrawalSchema).openapi({ description: "Of the certificate as a whole; `null` while it is active." }),
    entities_withdrawn: z
      .array(withdrawnEntitySchema)
      .optional()
      .openapi({ description: "Present when you sent `entities`: those, each acknowledged." }),
    already_acknowledged: z.literal(true).optional().openapi({ description: "Present when this was acknowledged before." }),
  })
  .openapi("CeaseAcknowledged");

export const ceasedToWire = ({ certId: id, withdrawal, isRepeated }: Ceased, context: ViewContext): z.input<typeof ceasedSchema> => ({
  cert_id: id,
  status: "revoked",
  acknowledged_at: isoOf(withdrawal.acknowledgedAt),
  cease_by: isoOf(withdrawal.ceaseBy),
  on_time: withdrawal.acknowledgedAt <= withdrawal.ceaseBy,
  withdrawal: withdrawalView(id, withdrawal, context),
  ...(isRepeated && { already_acknowledged: true as const }),
});

export const entitiesCeasedToWire = (
  { certId: id, withdrawal, ceased, isRepeated }: EntitiesCeased,
  context: ViewContext,
): z.input<typeof ceasedSchema> => ({
  cert_id: id,
  status: withdrawal === null ? "active" : "revoked",
  acknowledged_at: isoOf(Math.max(...ceased.map(({ acknowledgedAt }) => acknowledgedAt))),
  cease_by: isoOf(Math.min(...ceased.map(({ ceaseBy }) => ceaseBy))),
  on_time: ceased.every(({ acknowledgedAt, ceaseBy }) => acknowledgedAt <= ceaseBy),
  withdrawal: withdrawal === null ? null : withdrawalView(id, withdrawal, context),
  ...entitiesWithdrawnView({ id, entitiesWithdrawn: ceased, withdrawal }, context),
  ...(isRepeated && { already_acknowledged: true as const }),
});
