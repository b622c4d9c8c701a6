// One worked certificate for the description, issued and shown by the same rules as every other: its hashes can be
// recomputed and its signature checked, and it cannot say anything that a real answer would not.
import { toBase64Url } from "../../../core/bytes.ts";
import { issueCertificate } from "../../../core/certificates/issue.ts";
import type { OpenedCertificate, PublishedCertificate, PageView } from "../../../core/certificates/published-certificate.ts";
import { maskSubject } from "../../../core/certificates/subject.ts";
import { parseSubmission } from "../../../core/certificates/submission.ts";
import { buildEvidenceBundle } from "../../../core/certificates/evidence-bundle.ts";
import { toPublicView, buildVerifyUrl } from "../../../core/certificates/public-view.ts";
import { sha256, sha256Hex } from "../../../core/hash.ts";
import type { BusinessId, CertId, ClientId } from "../../../core/ids.ts";
import { formatAnchorStatement, hashStatement, type AnchorSubject } from "../../../core/ledger/statement.ts";
import { certificateDetailToWire, erasedSubjectToWire, certificateListToWire, consentReceiptToWire, submissionFromWire } from "./wire.ts";

const verifyBase = "https://verify.example.com";
const apiBase = "https://api.example.com/v1";
const exampleIssuedAt = Date.UTC(2026, 2, 4, 5, 6, 7, 89);
export const exampleViewContext = { verifyBase, apiBase, now: exampleIssuedAt + 86_400_000 };
const userAgent = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Safari/605.1";

export const exampleCertId = "cc_00m3v9d2m4q8x1c7b5n0t6w2h9" as CertId;
export const exampleClientId = "pc_live_00m3v9d2m4q8x1c7b5n0t6w2h9" as ClientId;

/** What the page script sends. */
export const consentRequestExample = {
  client_id: exampleClientId,
  fields: { email: "pat@example.com", first_name: "Pat", phone: "+1 202 555 0123" },
  disclosure_text: "By clicking Send I agree that the companies I ticked may call or e-mail me about solar quotes.",
  entities: ["Acme Solar LLC", "Bright Homes Inc"],
  entities_accepted: ["Acme Solar LLC"],
  entities_rejected: ["Bright Homes Inc"],
  purpose: "solar quote follow-up",
  page_url: "https://www.acme-solar.example/quote",
};

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
      chain: { tag: "example", auditLog: 0 },
      retentionYears: 5,
      emitsIssued: false,
    },
    clientId: exampleClientId,
    submission,
    read: read.value,
    originHeader: "https://www.acme-solar.example",
    circumstances: {
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

/** The anchor of an event that no ledger has taken yet. */
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

const policyText = "We use what you type into our forms to call or e-mail you about the quote you asked for.";

/** Public half of the key that signed the example; its private half was used once and thrown away. */
export const exampleSigningKey = {
  kty: "OKP",
  crv: "Ed25519",
  x: "Uciw2npY_2tNGeBb-OvuyD-RTnTJvCkj8XWzbNELUpw",
  kid: "YrioOwHkQWtm3MH1DUfQKo_-HF21JVFu8avLzYIpnZ0",
  alg: "EdDSA",
  use: "sig",
};

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
    value: "1lAvlSbK67dJqKOGWAwvrlVtYCJUaj9PnjKdeO0GSGFMQxPc1EBEmoo2buamtAfEf0x3QZlL9loKaJ779pA2Aw==",
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
  chain: { tag: "00112233445566778899aabbccddeeff", auditLog: 0 },
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
  answered: exampleCertificate.answered,
});

export const eraseSubjectExample = { confirm: "ERASE", reason: "person_asked" } as const;
export const erasedSubjectExample = erasedSubjectToWire({ certId: issuedCertificate.id, erasedAt: exampleIssuedAt + 30 * 86_400_000 });

export const verifiedCertificateExample = toPublicView(exampleCertificate, exampleViewContext);
export const certificateDetailExample = certificateDetailToWire({ ...certificateDetailParts, auditEntry: null }, exampleViewContext);
export const certificateListExample = certificateListToWire(
  { certificates: [{ ...exampleCertificate, withdrawal: null }], total: 1, page: 1, perPage: 25 },
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
