// Between the wire of certificates and the types of the operations, both ways.
import type { z } from "@hono/zod-openapi";
import type { Json } from "../../../core/canonical-json.ts";
import type { CaptureReceipt } from "../../../core/certificates/capture-receipt.ts";
import type { Submission } from "../../../core/certificates/certificate.ts";
import type { ListedCertificate, OpenedWithdrawal, View } from "../../../core/certificates/published.ts";
import { subjectSalts } from "../../../core/certificates/subject.ts";
import {
  answeredView,
  entitiesWithdrawnView,
  policiesWithText,
  verifyUrlOf,
  verifyView,
  withdrawalView,
  type ViewContext,
} from "../../../core/certificates/views.ts";
import { isoOf, isoOrNull } from "../../../core/time.ts";
import type { ErasedSubject } from "../../operations/certificates/erase.ts";
import type { CertificateList, ListQuery } from "../../operations/certificates/list.ts";
import type { CertificateDetail } from "../../operations/certificates/read.ts";
import type {
  certificateDetailSchema,
  certificateListSchema,
  consentReceiptSchema,
  consentRequestSchema,
  erasedSchema,
  listQuerySchema,
} from "./schema.ts";

const extraNames = ["locale", "presentation", "esign", "widget", "referrer", "client_time"] as const;

export const submissionFromWire = (body: z.output<typeof consentRequestSchema>): Submission => ({
  fields: body.fields,
  disclosureText: body.disclosure_text,
  entities: body.entities,
  entitiesAccepted: body.entities_accepted ?? undefined,
  entitiesRejected: body.entities_rejected ?? undefined,
  purpose: body.purpose,
  pageUrl: body.page_url,
  extras: Object.fromEntries(extraNames.flatMap((name) => (body[name] == null ? [] : [[name, body[name] as Json]]))),
});

export const receiptToWire = (receipt: CaptureReceipt): z.input<typeof consentReceiptSchema> => ({
  cert_id: receipt.certId,
  fingerprint: receipt.fingerprint,
  issued_at: isoOf(receipt.issuedAt),
  verify_url: receipt.verifyUrl,
  status: "active",
  environment: receipt.environment,
  manage_url: receipt.manageUrl,
  ...answeredView(receipt.answered),
});

export const listQueryFromWire = (query: z.output<typeof listQuerySchema>): ListQuery => ({
  page: query.page,
  perPage: query.per_page,
  status: query.status ?? null,
  subjectEmail: query.subject_email ?? null,
  subjectPhone: query.subject_phone ?? null,
  q: query.q === undefined || query.q === "" ? null : query.q,
  originDomain: query.origin_domain ?? null,
  entity: query.entity ?? null,
  from: query.from === undefined ? null : Date.parse(query.from),
  to: query.to === undefined ? null : Date.parse(query.to),
});

const listedToWire = (listed: ListedCertificate, context: ViewContext): z.input<typeof certificateListSchema>["certs"][number] => ({
  cert_id: listed.id,
  status: listed.status,
  fingerprint: listed.fingerprint,
  issued_at: isoOf(listed.issuedAt),
  verify_url: verifyUrlOf(context.verifyBase, listed.id),
  purpose: listed.purpose,
  origin_domain: listed.originDomain,
  entities: listed.entities,
  ...answeredView(listed.answered),
  ...entitiesWithdrawnView(listed, context),
  subject: listed.subjectMasked,
  subject_erased_at: isoOrNull(listed.subjectErasedAt),
  view_count: listed.viewCount,
  withdrawal: listed.withdrawal === null ? null : withdrawalView(listed.id, listed.withdrawal, context),
  environment: listed.environment,
});

export const listToWire = (list: CertificateList, context: ViewContext): z.input<typeof certificateListSchema> => ({
  certs: list.certificates.map((listed) => listedToWire(listed, context)),
  total: list.total,
  page: list.page,
  per_page: list.perPage,
});

/** What the business itself told us about a withdrawal. */
const ownWordsToWire = (opened: OpenedWithdrawal | null) => ({
  recorded: opened?.recorded ? { method: opened.recorded.channel, note: opened.recorded.note } : null,
  acknowledgement: opened?.acknowledgement
    ? {
        note: opened.acknowledgement.note,
        acknowledged_by: opened.acknowledgement.acknowledgedBy,
        actions: opened.acknowledgement.actions,
      }
    : null,
});

export const viewToWire = ({ at, ip, userAgent, os, bot }: View) => ({ at: isoOf(at), ip, user_agent: userAgent, os, bot });

type WireDetail = z.input<typeof certificateDetailSchema>;

/** With the owner's key: personal data. */
export const detailToWire = ({ opened, views, policyTexts, entry }: CertificateDetail, context: ViewContext): WireDetail => {
  const { certificate, subject } = opened;
  const { entities_withdrawn: withdrawnFrom, ...verified } = { entities_withdrawn: undefined, ...verifyView(certificate, context) };
  return {
    ...verified,
    withdrawal: verified.withdrawal === null ? null : { ...verified.withdrawal, ...ownWordsToWire(opened.withdrawal) },
    ...(withdrawnFrom !== undefined && {
      entities_withdrawn: withdrawnFrom.map((one, at) => ({ ...one, ...ownWordsToWire(opened.entitiesWithdrawn[at] ?? null) })),
    }),
    subject: subject === null ? {} : Object.fromEntries(subject.fields),
    subject_salts: subject === null ? {} : subjectSalts(subject.fields, subject.rootSalt),
    evidence: opened.evidence as WireDetail["evidence"], // as it was hashed when the certificate was issued
    evidence_hash: opened.evidenceHash,
    policies: policiesWithText(certificate, policyTexts),
    view_trail: views.map(viewToWire),
    audit: entry === null ? null : { seq: Number(entry.seq), hash: entry.hash, prev_hash: entry.prevHash },
    retention_until: isoOf(opened.retentionUntil),
  };
};

export const erasedToWire = ({ certId, erasedAt }: ErasedSubject): z.input<typeof erasedSchema> => ({
  cert_id: certId,
  subject_erased_at: isoOf(erasedAt),
});
