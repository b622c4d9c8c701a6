// Schemas, examples and mappers for withdrawals: withdraw, record and acknowledge.
import { z } from "@hono/zod-openapi";
import { receiptFormats } from "../../../core/certificates/consent-receipt.ts";
import { buildEntityReceiptUrl, buildReceiptUrl } from "../../../core/certificates/certificate-urls.ts";
import {
  toWithdrawalReceiptView,
  toWithdrawnEntitiesView,
  toWithdrawalView,
  type ViewContext,
} from "../../../core/certificates/public-json.ts";
import type { WithdrawalWithProof } from "../../../core/certificates/published-certificate.ts";
import { isEmailAddress, trimTypedAddress } from "../../../core/email-address.ts";
import { firstShard, type CertId } from "../../../core/ids.ts";
import { once } from "../../../core/once.ts";
import { toIso } from "../../../core/time.ts";
import { formatWithdrawalReceipt } from "../../../core/withdrawals/receipt.ts";
import {
  decideWithdrawal,
  recordedChannels,
  sourceFromPerson,
  type WithdrawableCertificate,
} from "../../../core/withdrawals/withdrawal.ts";
import { emailCodeSchema, instantSchema, nullableSchema, describedTime } from "../../http/wire.ts";
import type { EntityAcknowledgement } from "../../operations/withdrawals/acknowledge-entity-withdrawals.ts";
import type { WithdrawalAcknowledgement } from "../../operations/withdrawals/acknowledge-withdrawal.ts";
import type { RecordedWithdrawal } from "../../operations/withdrawals/record-withdrawal.ts";
import type { WithdrawalResult } from "../../operations/withdrawals/withdrawal-request.ts";
import { getCertificateSchemas } from "../certificates/response-schemas.ts";
import { certIdSchema } from "../certificates/schema.ts";
import { exampleViewContext, getCertificateExamples, pendingAnchor } from "../certificates/worked-example.ts";

/** Accepts exactly one email address, so that the input cannot add recipients or headers to an email. */
const emailSchema = z
  .string()
  .max(320)
  .transform(trimTypedAddress)
  .refine(isEmailAddress, "must be a valid email address")
  .meta({ description: "Email address. Not case-sensitive.", example: "pat@example.com" });

const nullableScopeSchema = z.enum(["certificate", "business"]).nullish();
const scopeSchema = nullableScopeSchema
  .transform((chosen) => chosen ?? "certificate")
  .meta({
    description:
      "`certificate` (default): this certificate. `business`: all active certificates of the same business with the same email address. One code or emailed link is enough for all of them.",
  });

const entitiesSchema = z
  .array(z.string().max(200, "must be at most 200 characters"))
  .max(1_000, "must contain at most 1,000 names")
  .nullish()
  .transform((chosen) => chosen ?? null)
  .meta({
    description:
      "Recipients for whom to withdraw consent, spelled as on the certificate. Default: all. The person must have consented to them. The certificate stays active for the others, and becomes `revoked` when consent for the last one is withdrawn. Not allowed with `scope: business`.",
    example: ["Bright Homes Inc"],
  });

/** Returns false if the request names recipients and also has the scope `business`. */
const hasCompatibleScope = (request: { readonly scope: string | null; readonly entities: readonly string[] | null }): boolean =>
  request.entities === null || request.scope !== "business";
const incompatibleScopeIssue = { path: ["entities"], error: "must not be sent together with scope business" };

export const optOutRequestSchema = z.object({ email: emailSchema }).openapi("OptOutRequest");
export const optOutConfirmSchema = z
  .object({
    email: emailSchema,
    code: emailCodeSchema,
    scope: scopeSchema,
    entities: entitiesSchema,
  })
  .refine(hasCompatibleScope, incompatibleScopeIssue)
  .openapi("OptOutConfirm");
export const optOutManageSchema = z
  .object({
    token: z
      .string()
      .regex(/^[A-Za-z0-9_-]{43}$/, "must be the 43 characters after #m= in the link")
      .meta({ description: "The characters after `#m=` in `manage_url`, or in the link from a withdrawal email." }),
    scope: scopeSchema,
    entities: entitiesSchema,
  })
  .refine(hasCompatibleScope, incompatibleScopeIssue)
  .openapi("OptOutManage");

/** Returns the schemas that only describe responses. They are created when the OpenAPI document is built. */
export const getWithdrawalSchemas = once(() => {
  const { withdrawalSchema, withdrawnEntitySchema } = getCertificateSchemas();

  const acceptedSchema = z.object({ accepted: z.literal(true) }).openapi("Accepted", {
    description: "This response does not depend on whether the email address is on the certificate.",
  });

  const withdrawnSchema = z
    .object({
      revoked: z.boolean().meta({ description: "`false` if the certificate stays active for other recipients." }),
      cease_by: describedTime("Deadline by which contact must stop: the end of the tenth business day (UTC)"),
      withdrawn_at: describedTime("When consent was withdrawn"),
      receipt_url: z.string().meta({ format: "uri", description: "URL of the signed receipt." }),
      entities_withdrawn: z
        .array(withdrawnEntitySchema)
        .optional()
        .meta({ description: "Recipients for whom this request withdrew consent. Present only if `revoked` is `false`." }),
    })
    .openapi("Withdrawn");

  const recordedWithdrawalSchema = z
    .object({
      withdrawal: nullableSchema(withdrawalSchema).meta({
        description: "`null` if the certificate stays active for other recipients.",
      }),
      cease_by: describedTime("Deadline by which contact must stop: the end of the tenth business day (UTC)"),
      entities_withdrawn: z
        .array(withdrawnEntitySchema)
        .optional()
        .meta({ description: "Recipients for whom this request withdrew consent. Present only if `withdrawal` is `null`." }),
    })
    .openapi("RecordedWithdrawal");

  const acknowledgmentSchema = z
    .object({
      cert_id: certIdSchema,
      status: z.enum(["active", "revoked"]).meta({
        description:
          "Status of the certificate. It can be `active` only if you acknowledged withdrawals for individual recipients (`entities`).",
      }),
      acknowledged_at: describedTime(
        "When you first acknowledged the withdrawal. With several `entities`, when you acknowledged the last one",
      ),
      cease_by: describedTime("Deadline by which contact must stop. With several `entities`, the earliest deadline"),
      on_time: z.boolean().meta({
        description:
          "Whether you acknowledged the withdrawal by the deadline. With several `entities`, whether you did so for every recipient.",
      }),
      withdrawal: nullableSchema(withdrawalSchema).meta({
        description: "Withdrawal of the whole certificate; `null` while the certificate is active.",
      }),
      entities_withdrawn: z
        .array(withdrawnEntitySchema)
        .optional()
        .meta({ description: "Recipients whose withdrawals you acknowledged. Present if you sent `entities`." }),
      already_acknowledged: z
        .literal(true)
        .optional()
        .meta({ description: "`true` if you had already acknowledged the withdrawal, otherwise absent." }),
    })
    .openapi("CeaseAcknowledged");

  return { acceptedSchema, withdrawnSchema, recordedWithdrawalSchema, acknowledgmentSchema };
});

type WithdrawalSchemas = ReturnType<typeof getWithdrawalSchemas>;

export const withdrawnToWire = (
  apiBase: string,
  { certId, withdrawnAt, ceaseBy, fromEntities }: WithdrawalResult,
): z.input<WithdrawalSchemas["withdrawnSchema"]> => {
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
    .regex(/^[1-9]\d{0,5}$/, "must be a positive integer")
    .transform(Number)
    .optional()
    .meta({
      type: "integer",
      minimum: 1,
      description:
        "Which withdrawal for individual recipients to return: 1 for the first. `receipt_url` in `entities_withdrawn` contains this number.",
    }),
  format: z.enum(receiptFormats).optional().meta({
    description: "`iso27560`: ISO/IEC TS 27560:2023, as JSON-LD. `kantara`: Kantara Consent Receipt 1.1.0.",
  }),
});

export const recordWithdrawalSchema = z
  .object({
    method: z.enum(recordedChannels).meta({ description: "How the person asked you to withdraw consent." }),
    received_at: instantSchema.meta({
      format: "date-time",
      description: "When you received the withdrawal, ISO 8601. Must not be in the future. `cease_by` counts from this time.",
      example: "2026-03-20T08:30:00.250Z",
    }),
    note: z.string().max(1_000).nullish().meta({ description: "Note for your records. Stored encrypted." }),
    scope: nullableScopeSchema
      .transform((chosen) => chosen ?? null)
      .meta({
        description:
          "`certificate`: only this certificate. `business`: all your active certificates with an email address or phone number that is also on this certificate. If this certificate has neither, only this certificate is withdrawn. The default is `revocation_scope_default` in your profile, which is `business` unless you change it.",
      }),
    entities: entitiesSchema,
  })
  .refine(hasCompatibleScope, incompatibleScopeIssue)
  .openapi("RecordWithdrawal");

/**
 * Maps a recorded withdrawal. `overdue` is computed as of the withdrawal and not as of now, so that a repeated request gets the same
 * response.
 */
export const recordedWithdrawalToWire = (
  id: CertId,
  { withdrawal, withdrawnAt, ceaseBy, fromEntities }: RecordedWithdrawal,
  context: ViewContext,
): z.input<WithdrawalSchemas["recordedWithdrawalSchema"]> => {
  const contextAtWithdrawal = { ...context, now: withdrawnAt };
  return {
    withdrawal: withdrawal === null ? null : toWithdrawalView(id, withdrawal, contextAtWithdrawal),
    cease_by: toIso(ceaseBy),
    ...toWithdrawnEntitiesView({ id, entitiesWithdrawn: fromEntities, withdrawal: null }, contextAtWithdrawal),
  };
};

export const acknowledgmentRequestSchema = z
  .object({
    note: z.string().max(500).nullish().meta({ description: "Note for your records. Stored encrypted." }),
    acknowledged_by: z
      .string()
      .max(120)
      .nullish()
      .meta({ description: "Person or team at your business that confirms that contact has stopped. Stored encrypted." }),
    actions: z.array(z.string().max(200)).max(10).nullish().meta({ description: "Actions that you took, for example `removed from CRM`." }),
    entities: entitiesSchema.meta({
      description:
        "Recipients that stopped contacting the person. The person must have withdrawn consent for each of them individually (see `entities_withdrawn`). Default: all recipients of a `revoked` certificate.",
    }),
  })
  .openapi("CeaseAcknowledgement");

export const acknowledgmentToWire = (
  { certId: id, withdrawal, isRepeated }: WithdrawalAcknowledgement,
  context: ViewContext,
): z.input<WithdrawalSchemas["acknowledgmentSchema"]> => ({
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
): z.input<WithdrawalSchemas["acknowledgmentSchema"]> => ({
  cert_id: id,
  status: withdrawal === null ? "active" : "revoked",
  acknowledged_at: toIso(Math.max(...ceased.map(({ acknowledgedAt }) => acknowledgedAt))),
  cease_by: toIso(Math.min(...ceased.map(({ ceaseBy }) => ceaseBy))),
  on_time: ceased.every(({ acknowledgedAt, ceaseBy }) => acknowledgedAt <= ceaseBy),
  withdrawal: withdrawal === null ? null : toWithdrawalView(id, withdrawal, context),
  ...toWithdrawnEntitiesView({ id, entitiesWithdrawn: ceased, withdrawal }, context),
  ...(isRepeated && { already_acknowledged: true as const }),
});

/**
 * Returns the withdrawal examples for the OpenAPI document. They show the worked example after its withdrawal. Readers can recompute the
 * receipt and check its signature.
 */
export const getWithdrawalExamples = once(() => {
  const withdrawnAt = Date.UTC(2026, 2, 20, 9, 30, 0, 250);
  const certificate: WithdrawableCertificate = { ...getCertificateExamples().certificate, chain: { tag: "example", auditLog: firstShard } };
  const { withdrawal } = decideWithdrawal({
    certificate,
    change: sourceFromPerson("email_code"),
    scope: "certificate",
    now: withdrawnAt,
  });

  // The private key was used once and discarded. The public key is C65Jfwbkld27POYQXtJPEqWMugnGPRQkW5azqjhCfxo.
  const proven: WithdrawalWithProof = {
    withdrawnAt,
    ceaseBy: withdrawal.ceaseBy,
    method: withdrawal.method,
    scope: withdrawal.scope,
    receivedAt: null,
    acknowledgedAt: null,
    receipt: formatWithdrawalReceipt(certificate, withdrawal),
    signature: {
      kid: "z08QUMq9wymAdj6d9WCfiEOzQCEW_ZnJwfbe35B0lBY",
      alg: "Ed25519",
      value: "10NYg//DRCgR1XJA2msoQ1mGpLEtc7j89/afW7ynI+cr+4pADTyFZDQd56IaT9Y57A/5mh3tqzMQwittbacxCw==",
    },
    anchor: pendingAnchor("certificate.revoked", certificate, withdrawnAt),
  };

  const receipt = toWithdrawalReceiptView(proven);
  const view = toWithdrawalView(certificate.id, proven, exampleViewContext);
  const withdrawn = {
    revoked: true,
    cease_by: view.cease_by,
    withdrawn_at: view.withdrawn_at,
    receipt_url: view.receipt_url,
  };
  const recordedWithdrawal = {
    withdrawal: { ...view, method: "business_recorded", received_at: toIso(withdrawnAt - 3_600_000) },
    cease_by: view.cease_by,
  };
  const acknowledgedAt = toIso(withdrawnAt + 86_400_000);
  const acknowledgment = {
    cert_id: certificate.id,
    status: "revoked",
    acknowledged_at: acknowledgedAt,
    cease_by: view.cease_by,
    on_time: true,
    withdrawal: { ...view, cease_acknowledged_at: acknowledgedAt },
  };

  return { receipt, withdrawn, recordedWithdrawal, acknowledgment };
});
