// The certificate that the OpenAPI document uses in its examples. The production code issues and maps it, so readers can recompute its
// hashes and check its signature.
import { toBase64Url } from "../../../core/bytes.ts";
import { buildVerifyUrl } from "../../../core/certificates/certificate-urls.ts";
import { buildEvidenceBundle } from "../../../core/certificates/evidence-bundle.ts";
import { issueCertificate } from "../../../core/certificates/issue.ts";
import { toPublicView } from "../../../core/certificates/public-json.ts";
import type { OpenedCertificate, PageView, PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import { maskSubject } from "../../../core/certificates/subject.ts";
import { parseSubmission } from "../../../core/certificates/submission.ts";
import { sha256, sha256Hex } from "../../../core/hash.ts";
import { firstShard, type BusinessId } from "../../../core/ids.ts";
import { formatAnchorStatement, hashStatement, type AnchorSubject } from "../../../core/ledger/statement.ts";
import { once } from "../../../core/once.ts";
import { consentRequestExample, exampleCertId, exampleClientId, exampleSigningKey } from "./schema.ts";
import { certificateDetailToWire, certificateListToWire, consentReceiptToWire, erasedSubjectToWire, submissionFromWire } from "./wire.ts";

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

/** Returns the examples. They are created on first use, because that takes several milliseconds, and few isolates build the document. */
export const getCertificateExamples = once(() => {
  const issuedCertificate = issueExampleCertificate();
  const exampleAnchor = pendingAnchor("certificate.issued", issuedCertificate, exampleIssuedAt);
  const certificate: PublishedCertificate = {
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
    certificate,
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
  const certificateDetailParts = {
    opened: openedExample,
    views: viewsExample,
    policyTexts: new Map([[sha256Hex(policyText), policyText]]),
  };

  const consentReceipt = consentReceiptToWire({
    ...issuedCertificate,
    certId: issuedCertificate.id,
    verifyUrl: buildVerifyUrl(verifyBase, issuedCertificate.id),
    manageUrl: `${buildVerifyUrl(verifyBase, issuedCertificate.id)}#m=${toBase64Url(sha256("manage token of the example"))}`,
    fieldsUnrecognized: [],
    answered: certificate.answered,
  });

  const erasedSubject = erasedSubjectToWire({ certId: issuedCertificate.id, erasedAt: exampleIssuedAt + 30 * 86_400_000 });

  const verifiedCertificate = toPublicView(certificate, exampleViewContext);
  const certificateDetail = certificateDetailToWire({ ...certificateDetailParts, auditEntry: null }, exampleViewContext);
  const certificateList = certificateListToWire(
    { certificates: [{ ...certificate, withdrawal: null }], total: 1, isTruncated: false, page: 1, perPage: 25 },
    exampleViewContext,
  );
  const completeBundle = buildEvidenceBundle({
    ...certificateDetailParts,
    disclosedKeys: new Set(["email"]),
    isRedacted: false,
    createdAt: exampleIssuedAt + 86_400_000,
    publicView: verifiedCertificate,
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
  // All steps together are one line of 2,000 characters in JSON, so the example shows only the first step.
  const evidenceBundle = { ...completeBundle, how_to_verify: String(completeBundle.how_to_verify).replace(/\n.*/s, "\n…") };

  return { certificate, consentReceipt, erasedSubject, verifiedCertificate, certificateDetail, certificateList, evidenceBundle };
});
