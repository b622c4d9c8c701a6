// The input for an evidence pack as plain data. The pack, the evidence bundle and the pages are built from it.
import type { AuditEntry } from "../audit/chain.ts";
import type { HeadsProof } from "../audit/proof.ts";
import type { JsonObject } from "../canonical-json.ts";
import type { DomainEventType } from "../domain-events.ts";
import type { Receipt } from "../ledger/receipt.ts";
import type { Instant } from "../time.ts";
import type { PackedAttestation } from "./attested-statement.ts";
import type { IssuerSignature, OpenedCertificate, PublishedCertificate, PageView } from "./published-certificate.ts";

/** A ledger statement with its receipt and attestation. */
export interface PackedStatement {
  readonly statement: string;
  /** The verified receipt; null until the ledger confirms the statement. */
  readonly receipt: Receipt | null;
  readonly attested: PackedAttestation | null;
}

export interface PackedAnchor extends PackedStatement {
  readonly event: "issued" | "revoked";
}

/** The proof of a withdrawal of consent for individual recipients. */
export interface PackedEntityWithdrawal {
  /** The number of the withdrawal: 1, 2, 3 … within each certificate. */
  readonly number: number;
  /** The exact text that was signed. */
  readonly receipt: string;
  readonly signature: IssuerSignature;
  readonly anchor: PackedStatement | null;
}

/**
 * The maximum number of withdrawals for which a pack contains the receipt and its proof. Each proof takes about 15 KiB. Audit entries prove
 * later withdrawals.
 */
export const maxPackedEntityWithdrawals = 100;

/**
 * The audit entries about this certificate in its business's chain, oldest first, with the data to verify them. Entries that the audit log
 * does not contain yet are omitted.
 */
export interface PackedAudit {
  readonly chainIndex: number;
  /** The newest entry in the chain, which may be about another record. */
  readonly head: { readonly seq: string; readonly hash: string };
  readonly entries: readonly AuditEntry[];
  /** The payloads by sequence number. Erased payloads are omitted. */
  readonly payloads: ReadonlyMap<string, { readonly salt: string; readonly payload: JsonObject }>;
  /** The c2sp.org/tlog-proof@v1 of each entry, by sequence number. */
  readonly proofs: ReadonlyMap<string, string>;
  /** The proof that no entry was left out; null if the chain is newer than the last record of heads (core/audit/heads.ts). */
  readonly heads: HeadsProof | null;
}

/** The issuer's active key. `keyName` is `<host of the service>/issuer`. */
export interface PackIssuer {
  readonly keyName: string;
  /** The public key, in base64url. */
  readonly x: string;
  /** Returns the Ed25519 signature over the text's UTF-8 bytes, in base64. */
  readonly sign: (text: string) => Promise<string>;
}

export interface EvidenceParts {
  readonly createdAt: Instant;
  readonly opened: OpenedCertificate;
  /** The response of GET /v1/certs/{id}/verify at the time when the pack is built. */
  readonly publicView: JsonObject;
  readonly views: readonly PageView[];
  /** The text of each linked policy by content hash; null if it could not be read. */
  readonly policyTexts: ReadonlyMap<string, string | null>;
  readonly identity: { readonly legalName: string | null; readonly mailingAddress: string | null; readonly contact: string | null };
  /** The withdrawal receipt; absent or null while the certificate is active. */
  readonly withdrawalReceipt?: JsonObject | null;
  readonly anchors: readonly PackedAnchor[];
  /** Withdrawals of consent for individual recipients, oldest first. */
  readonly entityWithdrawals: readonly PackedEntityWithdrawal[];
  /** The audit entries; null if the audit log has no entry about the certificate yet. */
  readonly audit: PackedAudit | null;
  /** The document at /.well-known/svc-trust.json. */
  readonly trust: JsonObject;
  readonly issuer: PackIssuer;
  /** The keys of the fields that the pack discloses with value and salt; null means all fields. */
  readonly disclosedKeys: ReadonlySet<string> | null;
  /** True if the pack omits the subject's values, the evidence, and the IP addresses and user agents of views. */
  readonly isRedacted: boolean;
}

/**
 * Returns the types of audit entries that belong to the evidence. Excludes reads and exports, because each one would change the evidence.
 * Also excludes events that anyone can cause, because they could fill a pack. Includes a type only if the loaded certificate shows such an
 * event, so that a pack never contains an event that its certificate does not show.
 */
export const listEvidenceEventTypes = ({
  status,
  withdrawal,
  entitiesWithdrawn,
  policiesCaptured,
  subjectErasedAt,
}: PublishedCertificate): readonly DomainEventType[] => [
  "certificate.issued",
  ...(entitiesWithdrawn.length > 0 ? (["certificate.entities_withdrawn"] as const) : []),
  ...(status === "revoked" ? (["certificate.revoked"] as const) : []),
  ...(entitiesWithdrawn.some(({ acknowledgement }) => acknowledgement !== null) ? (["business.entities_ceased"] as const) : []),
  ...((withdrawal?.acknowledgedAt ?? null) === null ? [] : (["business.ceased"] as const)),
  ...(policiesCaptured ? (["policy.linked"] as const) : []),
  ...(subjectErasedAt === null ? [] : (["certificate.subject_erased"] as const)),
];

/** Returns the fields that are shown unmasked, in stored order. */
export const listDisclosedFields = ({ opened, isRedacted, disclosedKeys }: EvidenceParts): readonly (readonly [string, string])[] =>
  isRedacted || opened.subject === null ? [] : [...opened.subject.fields].filter(([key]) => disclosedKeys?.has(key) ?? true);
