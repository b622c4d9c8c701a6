// A certificate as it is published, with only the data that anyone may see. Data that only the owner may see is in a separate type
// (`OpenedCertificate`), so that a public view cannot expose it by mistake.
import type { Environment } from "../access/entitlement.ts";
import type { JsonObject } from "../canonical-json.ts";
import type { AuditChain } from "../domain-events.ts";
import type { BusinessId, CertId } from "../ids.ts";
import type { Receipt } from "../ledger/receipt.ts";
import type { Instant } from "../time.ts";
import type { AttestedStatement } from "./attested-statement.ts";
import type { Certificate, CertificateStatus } from "./certificate.ts";
import { canonicalizePreimage, buildPreimage, type Preimage } from "./fingerprint.ts";
import type { SubjectFields } from "./subject.ts";
import type { SubmissionNotes } from "./submission-notes.ts";
import { toIso } from "../time.ts";
import type { CeaseDetails } from "../withdrawals/cease-acknowledgment.ts";
import type { WithdrawnEntity } from "../withdrawals/entity-withdrawal.ts";
import type { RecordedRequest, Withdrawal } from "../withdrawals/withdrawal.ts";

export interface PublishedPolicy {
  readonly id: string;
  readonly kind: "privacy" | "terms";
  readonly sourceUrl: string;
  readonly contentHash: string;
  readonly capturedAt: Instant;
}

export interface PublishedAnchor {
  readonly event: string;
  readonly ledgerId: string;
  readonly entryHash: string;
  readonly statement: string;
  readonly status: "pending" | "anchored";
  /** The verified receipt; null while the statement is pending. */
  readonly receipt: Receipt | null;
  readonly anchoredAt: Instant | null;
  /** Attestations by third parties; absent or null if there are none yet. */
  readonly attested?: AttestedStatement | null;
}

export interface PublishedWithdrawal extends Omit<Withdrawal, "certId" | "recorded"> {
  /** When the business received the request, if the business recorded the withdrawal; otherwise null. */
  readonly receivedAt: Instant | null;
  readonly acknowledgedAt: Instant | null;
}

/** The proof of a withdrawal: the signed receipt and its ledger statement. */
export interface WithdrawalProof {
  readonly receipt: string;
  readonly signature: IssuerSignature;
  readonly anchor: PublishedAnchor | null;
}

export interface WithdrawalWithProof extends PublishedWithdrawal, WithdrawalProof {}

/** The part of a withdrawal that only the owner sees. */
export interface OpenedWithdrawal {
  readonly recorded: Pick<RecordedRequest, "channel" | "note"> | null;
  readonly acknowledgement: CeaseDetails | null;
}

export interface IssuerSignature {
  readonly kid: string;
  readonly alg: "Ed25519";
  /** The signature over the UTF-8 bytes of the signed text: 64 bytes in standard base64. */
  readonly value: string;
}

/**
 * A second text that was signed for the same submission and certificate ID. It exists if the first request was saved in the database but
 * its response was lost, and the repeated request was saved in the intake journal. The certificate is the first text. Receipts for the
 * second text stay valid.
 */
export interface SignedDuplicate {
  readonly fingerprint: string;
  readonly issuedAt: Instant;
  readonly canonical: string;
  readonly signature: IssuerSignature;
}

export interface PublishedCertificate {
  readonly id: CertId;
  readonly businessId: BusinessId;
  readonly businessName: string;
  readonly environment: Environment;
  readonly status: CertificateStatus;
  readonly purpose: string;
  readonly disclosureText: string;
  readonly disclosureHash: string;
  readonly entities: readonly string[];
  readonly answered: { readonly accepted: readonly string[]; readonly rejected: readonly string[] } | null;
  readonly originDomain: string;
  readonly issuedAt: Instant;
  readonly fingerprint: string;
  readonly subjectHash: string;
  readonly subjectMasked: Readonly<Record<string, string>>;
  readonly subjectErasedAt: Instant | null;
  /** Notes on submitted values that are invalid, changed or omitted; null if there are none. */
  readonly notes: SubmissionNotes | null;
  readonly gpc: boolean;
  readonly capturedVia: "browser" | "server";
  readonly signature: IssuerSignature;
  readonly viewCount: number;
  /** True once a capture of the origin's policies is linked, even if the capture found none. */
  readonly policiesCaptured: boolean;
  readonly policies: readonly PublishedPolicy[];
  readonly anchor: PublishedAnchor | null;
  /** The withdrawal; null if and only if the certificate is active. */
  readonly withdrawal: WithdrawalWithProof | null;
  /** The recipients for whom the person has withdrawn consent individually, in the order of the withdrawals. */
  readonly entitiesWithdrawn: readonly WithdrawnEntity[];
  /** Additional signed texts for the same submission. They are very rare, and they are loaded only for verification. */
  readonly duplicates?: readonly SignedDuplicate[];
}

/** Returns the published form of a certificate that is not in the database yet. It is active and has no views, policies or proofs. */
export const toUnplacedCertificate = (
  certificate: Certificate,
  signature: IssuerSignature,
  subjectMasked: Readonly<Record<string, string>>,
): PublishedCertificate => ({
  id: certificate.id,
  businessId: certificate.business.id,
  businessName: certificate.business.name,
  environment: certificate.environment,
  status: "active",
  purpose: certificate.purpose,
  disclosureText: certificate.disclosureText,
  disclosureHash: certificate.disclosureHash,
  entities: certificate.recipients.entities,
  answered: certificate.recipients.answered ?? null,
  originDomain: certificate.originDomain,
  issuedAt: certificate.issuedAt,
  fingerprint: certificate.fingerprint,
  subjectHash: certificate.subjectHash,
  subjectMasked,
  subjectErasedAt: null,
  notes: Object.keys(certificate.notes).length > 0 ? certificate.notes : null,
  gpc: certificate.captureContext.gpc,
  capturedVia: certificate.captureContext.capturedVia,
  signature,
  viewCount: 0,
  policiesCaptured: false,
  policies: [],
  anchor: null,
  withdrawal: null,
  entitiesWithdrawn: [],
});

/** Returns whether the person was asked about each recipient and accepted none. The certificate then records a refusal. */
export const isConsentRefused = ({ answered }: Pick<PublishedCertificate, "answered">): boolean => answered?.accepted.length === 0;

/** Returns false only for a sandbox certificate on localhost, where domain control cannot be verified. */
export const hasVerifiedDomain = ({ environment, originDomain }: Pick<PublishedCertificate, "environment" | "originDomain">): boolean =>
  environment === "live" || originDomain !== "localhost";

/** The properties that are shown in lists. */
export type CertificateSummary = Pick<
  PublishedCertificate,
  | "id"
  | "status"
  | "fingerprint"
  | "issuedAt"
  | "purpose"
  | "originDomain"
  | "entities"
  | "answered"
  | "subjectMasked"
  | "subjectErasedAt"
  | "viewCount"
  | "environment"
  | "entitiesWithdrawn"
> & { readonly withdrawal: PublishedWithdrawal | null };

/** The owner's view, with subject and evidence decrypted. */
export interface OpenedCertificate {
  readonly certificate: PublishedCertificate;
  /** The subject; null once it is erased. */
  readonly subject: { readonly fields: SubjectFields; readonly rootSalt: Uint8Array } | null;
  /** The evidence; null once the subject is erased. */
  readonly evidence: JsonObject | null;
  readonly evidenceHash: string;
  readonly retentionUntil: Instant;
  readonly chain: AuditChain;
  /** The ID of the issuance's audit entry; null until the audit log contains the entry. */
  readonly issuedEntry: string | null;
  readonly withdrawal: OpenedWithdrawal | null;
  /** One entry for each of `certificate.entitiesWithdrawn`, in the same order. */
  readonly entitiesWithdrawn: readonly OpenedWithdrawal[];
}

export interface PageView {
  readonly at: Instant;
  readonly ip: string;
  readonly userAgent: string;
  readonly os: string | null;
  readonly bot: boolean;
}

export type PoliciesStatus = "pending" | "captured" | "unavailable";

/**
 * Returns `pending` until a policy capture is linked. After that, returns `captured` if the capture found policies, or else `unavailable`.
 */
export const getPoliciesStatus = (certificate: PublishedCertificate): PoliciesStatus => {
  if (!certificate.policiesCaptured) return "pending";
  return certificate.policies.length > 0 ? "captured" : "unavailable";
};

/** Returns a stored certificate's preimage. Only published parts are needed to recompute it. */
export const preimageFromPublished = (certificate: PublishedCertificate): Preimage =>
  buildPreimage({
    business: { id: certificate.businessId, name: certificate.businessName },
    certId: certificate.id,
    disclosureHash: certificate.disclosureHash,
    recipients: { entities: certificate.entities, ...(certificate.answered && { answered: certificate.answered }) },
    originDomain: certificate.originDomain,
    purpose: certificate.purpose,
    subjectHash: certificate.subjectHash,
    timestamp: toIso(certificate.issuedAt),
  });

/** Returns the text whose SHA-256 is a stored certificate's fingerprint. */
export const canonicalPreimageFromPublished = (certificate: PublishedCertificate): string =>
  canonicalizePreimage(preimageFromPublished(certificate));
