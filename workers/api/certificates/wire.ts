// Maps certificates between the API and the operations.
import type { z } from "@hono/zod-openapi";
import type { Json } from "../../../core/canonical-json.ts";
import type { CaptureReceipt } from "../../../core/certificates/capture-receipt.ts";
import type { Submission } from "../../../core/certificates/certificate.ts";
import type { CertificateSummary, OpenedWithdrawal } from "../../../core/certificates/published-certificate.ts";
import { deriveSubjectSalts } from "../../../core/certificates/subject.ts";
import { buildVerifyUrl } from "../../../core/certificates/certificate-urls.ts";
import {
  toAnswersView,
  toWithdrawnEntitiesView,
  toPoliciesWithText,
  toPublicView,
  toWithdrawalView,
  type ViewContext,
} from "../../../core/certificates/public-json.ts";
import { toIso, toIsoOrNull } from "../../../core/time.ts";
import { toPeriodEnd, toWire } from "../../http/wire.ts";
import type { ErasedSubject } from "../../operations/certificates/erase-subject.ts";
import type { CertificateList, CertificateListQuery } from "../../operations/certificates/list-certificates.ts";
import type { CertificateDetail } from "../../operations/certificates/get-certificate.ts";
import type { CertificateSchemas } from "./response-schemas.ts";
import { certificateViewSchema, type consentRequestSchema, type erasedSubjectSchema, type certificateListQuerySchema } from "./schema.ts";

const extraKeys = ["locale", "presentation", "esign", "widget", "referrer", "client_time"] as const;

export const submissionFromWire = (body: z.output<typeof consentRequestSchema>): Submission => ({
  fields: body.fields,
  isTruncated: body.fields_truncated === true,
  disclosureText: body.disclosure_text,
  entities: body.entities,
  entitiesAccepted: body.entities_accepted ?? undefined,
  entitiesRejected: body.entities_rejected ?? undefined,
  purpose: body.purpose,
  pageUrl: body.page_url,
  extras: Object.fromEntries(extraKeys.flatMap((name) => (body[name] == null ? [] : [[name, body[name] as Json]]))),
});

export const consentReceiptToWire = (receipt: CaptureReceipt): z.input<CertificateSchemas["consentReceiptSchema"]> => ({
  cert_id: receipt.certId,
  fingerprint: receipt.fingerprint,
  issued_at: toIso(receipt.issuedAt),
  verify_url: receipt.verifyUrl,
  status: "active",
  environment: receipt.environment,
  manage_url: receipt.manageUrl,
  ...(receipt.fieldsUnrecognized.length > 0 && { fields_unrecognized: receipt.fieldsUnrecognized }),
  ...toAnswersView(receipt.answered),
});

export const certificateListQueryFromWire = (query: z.output<typeof certificateListQuerySchema>): CertificateListQuery => ({
  page: query.page,
  perPage: query.per_page,
  status: query.status ?? null,
  subjectEmail: query.subject_email ?? null,
  subjectPhone: query.subject_phone ?? null,
  q: query.q === undefined || query.q === "" ? null : query.q,
  originDomain: query.origin_domain ?? null,
  entity: query.entity ?? null,
  from: query.from === undefined ? null : Date.parse(query.from),
  to: query.to === undefined ? null : toPeriodEnd(query.to),
});

const listedCertificateToWire = (
  listed: CertificateSummary,
  context: ViewContext,
): z.input<CertificateSchemas["certificateListSchema"]>["certs"][number] => ({
  cert_id: listed.id,
  status: listed.status,
  fingerprint: listed.fingerprint,
  issued_at: toIso(listed.issuedAt),
  verify_url: buildVerifyUrl(context.verifyBase, listed.id),
  purpose: listed.purpose,
  origin_domain: listed.originDomain,
  entities: listed.entities,
  ...toAnswersView(listed.answered),
  ...toWithdrawnEntitiesView(listed, context),
  subject: listed.subjectMasked,
  subject_erased_at: toIsoOrNull(listed.subjectErasedAt),
  view_count: listed.viewCount,
  withdrawal: listed.withdrawal === null ? null : toWithdrawalView(listed.id, listed.withdrawal, context),
  environment: listed.environment,
});

export const certificateListToWire = (
  list: CertificateList,
  context: ViewContext,
): z.input<CertificateSchemas["certificateListSchema"]> => ({
  certs: list.certificates.map((listed) => listedCertificateToWire(listed, context)),
  total: list.total,
  page: list.page,
  per_page: list.perPage,
  ...(list.isTruncated && { truncated: true as const }),
});

const businessStatementToWire = (opened: OpenedWithdrawal | null) => ({
  recorded: opened?.recorded ? { method: opened.recorded.channel, note: opened.recorded.note } : null,
  acknowledgement: opened?.acknowledgement
    ? {
        note: opened.acknowledgement.note,
        acknowledged_by: opened.acknowledgement.acknowledgedBy,
        actions: opened.acknowledgement.actions,
      }
    : null,
});

type CertificateDetailWire = z.input<CertificateSchemas["certificateDetailSchema"]>;

export const certificateDetailToWire = (
  { opened, views, policyTexts, auditEntry }: CertificateDetail,
  context: ViewContext,
): CertificateDetailWire => {
  const { certificate, subject } = opened;
  const { entities_withdrawn: withdrawnFrom, ...verified } = { entities_withdrawn: undefined, ...toPublicView(certificate, context) };
  return {
    ...verified,
    withdrawal: verified.withdrawal === null ? null : { ...verified.withdrawal, ...businessStatementToWire(opened.withdrawal) },
    ...(withdrawnFrom !== undefined && {
      entities_withdrawn: withdrawnFrom.map((entity, at) => ({
        ...entity,
        ...businessStatementToWire(opened.entitiesWithdrawn[at] ?? null),
      })),
    }),
    subject: subject === null ? {} : Object.fromEntries(subject.fields),
    subject_salts: subject === null ? {} : deriveSubjectSalts(subject.fields, subject.rootSalt),
    evidence: opened.evidence as CertificateDetailWire["evidence"], // the evidence is returned exactly as it was hashed at issuance
    evidence_hash: opened.evidenceHash,
    policies: toPoliciesWithText(certificate, policyTexts),
    view_trail: views.map((view) => toWire(certificateViewSchema, view)),
    audit: auditEntry === null ? null : { seq: Number(auditEntry.seq), hash: auditEntry.hash, prev_hash: auditEntry.prevHash },
    retention_until: toIso(opened.retentionUntil),
  };
};

export const erasedSubjectToWire = ({ certId, erasedAt }: ErasedSubject): z.input<typeof erasedSubjectSchema> => ({
  cert_id: certId,
  subject_erased_at: toIso(erasedAt),
});
