// Maps certificates between the API and the operations, and builds the worked example for the OpenAPI document.
import { firstShard } from "../../../core/ids.ts";
import { toBase64Url } from "../../../core/bytes.ts";
import { issueCertificate } from "../../../core/certificates/issue.ts";
import { parseSubmission } from "../../../core/certificates/submission.ts";
import { buildEvidenceBundle } from "../../../core/certificates/evidence-bundle.ts";
import { sha256, sha256Hex } from "../../../core/hash.ts";
import type { BusinessId } from "../../../core/ids.ts";
import { formatAnchorStatement, hashStatement, type AnchorSubject } from "../../../core/ledger/statement.ts";
import type { z } from "@hono/zod-openapi";
import type { Json } from "../../../core/canonical-json.ts";
import type { CaptureReceipt } from "../../../core/certificates/capture-receipt.ts";
import type { Submission } from "../../../core/certificates/certificate.ts";
import type {
  CertificateSummary,
  OpenedCertificate,
  OpenedWithdrawal,
  PageView,
  PublishedCertificate,
} from "../../../core/certificates/published-certificate.ts";
import { deriveSubjectSalts, maskSubject } from "../../../core/certificates/subject.ts";
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
import {
  certificateViewSchema,
  consentRequestExample,
  exampleCertId,
  exampleClientId,
  exampleSigningKey,
  type certificateDetailSchema,
  type certificateListSchema,
  type consentReceiptSchema,
  type consentRequestSchema,
  type erasedSubjectSchema,
  type certificateListQuerySchema,
} from "./schema.ts";

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

export const consentReceiptToWire = (receipt: CaptureReceipt): z.input<typeof consentReceiptSchema> => ({
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
): z.input<typeof certificateListSchema>["certs"][number] => ({
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

export const certificateListToWire = (list: CertificateList, context: ViewContext): z.input<typeof certificateListSchema> => ({
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

type CertificateDetailWire = z.input<typeof certificateDetailSchema>;

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

// The example is issued and mapped by the production code, so readers can recompute its hashes and check its signature.
const verifyBase = "https://verify.example.com";
const apiBase = "https://api.example.com/v1";
const exampleIssuedAt = Date.UTC(2026, 2, 4, 5, 6, 7, 89);
export const exampleViewContext = { verifyBase, apiBase, now: exampleIssuedAt + 86_400_000 };
const userAgent = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Safari/605.1";

const issueExampleCertificate = () => {
  const submission = submissionFromWire(consentRequestExample);
  const read = parseSubmission(submission);
  if (!read.ok) throw new Error(`the example is refused: ${read.code}`);
  const issued = issueCertificate({
    business: {
      id: "biz_00h7k2p9r4t6v8x0z1b3d5f7g9" as BusinessId,
      name: "Acme Solar LLC",
      status: "active",
      plan: "enterprise",
      environment: "live",
      domains: [{ id: "dom_00h7k2p9r4t6v8x0z1b3d5f7g9", domain: "acme-solar.example", method: "dns" }],
      chain: { tag: "example", auditLog: firstShard },
      retentionYears: 5,
      emitsIssued: false,
    },
    clientId: exampleClientId,
    submission,
    parsed: read.value,
    unrecognized: [],
    originHeader: "https://www.acme-solar.example",
    captureContext: {
      ip: "203.0.113.7",
      userAgent,
      gpc: false,
      capturedVia: "browser",
      geo: { country: "US", region: "California", city: "Sacramento" },
    },
    rules: { allowsLocalHttp: false, allowsSandboxLocalhost: false },
    now: exampleIssuedAt,
    certId: exampleCertId,
    rootSalt: sha256("root salt of the example"),
  });
  if (!issued.ok) throw new Error(`the example is refused: ${issued.code}`);
  return issued.value.certificate;
};

const issuedCertificate = issueExampleCertificate();

export const pendingAnchor = (
  event: AnchorSubject["event"],
  { id: entityId, fingerprint, originDomain }: Pick<PublishedCertificate, "id" | "fingerprint" | "originDomain">,
  at: number,
) => {
  const statement = formatAnchorStatement({ event, entityId, fingerprint, originDomain, at });
  return {
    event,
    ledgerId: "tlog:ledger.example.com/ledger/2026h2",
    entryHash: hashStatement(statement),
    statement,
    status: "pending" as const,
    receipt: null,
    anchoredAt: null,
  };
};

const policyText = "We use what you type into our forms to call or email you about the quote you requested.";

const exampleAnchor = pendingAnchor("certificate.issued", issuedCertificate, exampleIssuedAt);
export const exampleCertificate: PublishedCertificate = {
  ...issuedCertificate,
  businessId: issuedCertificate.business.id,
  businessName: issuedCertificate.business.name,
  status: "active",
  entities: issuedCertificate.recipients.entities,
  answered: issuedCertificate.recipients.answered ?? null,
  subjectMasked: maskSubject(issuedCertificate.fields),
  subjectErasedAt: null,
  gpc: false,
  capturedVia: "browser",
  signature: {
    kid: exampleSigningKey.kid,
    alg: "Ed25519",
    value: "JAsQ33p+aHDXWNCkomU/KWB2wkbHCM8bZ5lnMAL14jqxC9+Jgqbxa27PTeHTW6pVqYLrxZmpuuYNRhIdUWmRBA==",
  },
  viewCount: 1,
  policiesCaptured: true,
  policies: [
    {
      id: "pol_00b5d7f9h1k3m5p7r9t1v3x5z7",
      kind: "privacy",
      sourceUrl: "https://www.acme-solar.example/privacy",
      contentHash: sha256Hex(policyText),
      capturedAt: exampleIssuedAt + 1_911,
    },
  ],
  anchor: exampleAnchor,
  withdrawal: null,
  entitiesWithdrawn: [],
};

const openedExample: OpenedCertificate = {
  certificate: exampleCertificate,
  subject: { fields: issuedCertificate.fields, rootSalt: issuedCertificate.rootSalt },
  evidence: issuedCertificate.evidence,
  evidenceHash: issuedCertificate.evidenceHash,
  retentionUntil: issuedCertificate.retentionUntil,
  chain: { tag: "00112233445566778899aabbccddeeff", auditLog: firstShard },
  issuedEntry: null,
  withdrawal: null,
  entitiesWithdrawn: [],
};
const viewsExample: PageView[] = [{ at: exampleIssuedAt + 3_600_000, ip: "198.51.100.23", userAgent, os: "iOS", bot: false }];
const certificateDetailParts = { opened: openedExample, views: viewsExample, policyTexts: new Map([[sha256Hex(policyText), policyText]]) };

export const consentReceiptExample = consentReceiptToWire({
  ...issuedCertificate,
  certId: issuedCertificate.id,
  verifyUrl: buildVerifyUrl(verifyBase, issuedCertificate.id),
  manageUrl: `${buildVerifyUrl(verifyBase, issuedCertificate.id)}#m=${toBase64Url(sha256("manage token of the example"))}`,
  fieldsUnrecognized: [],
  answered: exampleCertificate.answered,
});

export const erasedSubjectExample = erasedSubjectToWire({ certId: issuedCertificate.id, erasedAt: exampleIssuedAt + 30 * 86_400_000 });

export const verifiedCertificateExample = toPublicView(exampleCertificate, exampleViewContext);
export const certificateDetailExample = certificateDetailToWire({ ...certificateDetailParts, auditEntry: null }, exampleViewContext);
export const certificateListExample = certificateListToWire(
  { certificates: [{ ...exampleCertificate, withdrawal: null }], total: 1, isTruncated: false, page: 1, perPage: 25 },
  exampleViewContext,
);
export const evidenceBundleExample = buildEvidenceBundle({
  ...certificateDetailParts,
  disclosedKeys: new Set(["email"]),
  isRedacted: false,
  createdAt: exampleIssuedAt + 86_400_000,
  publicView: verifiedCertificateExample,
  anchors: [{ event: "issued", statement: exampleAnchor.statement, receipt: null, attested: null }],
  entityWithdrawals: [],
  audit: null,
  trust: { issuer_keys: { keys: [exampleSigningKey] } },
  issuer: { keyName: "svc.example/issuer", x: exampleSigningKey.x, sign: async () => "" },
  identity: {
    legalName: "Acme Solar LLC",
    mailingAddress: "1 Example Street, Testville, CA 94000, US",
    contact: "privacy@acme-solar.example",
  },
});
