// What an evidence pack is made of, as plain data: the parts that the operation loads and the page and the pack are built from.
import type { AuditEntry } from "../audit/chain.ts";
import type { HeadsProof } from "../audit/proof.ts";
import type { JsonObject } from "../canonical-json.ts";
import type { DomainEventType } from "../domain-events.ts";
import type { Receipt } from "../ledger/receipt.ts";
import type { Instant } from "../time.ts";
import type { IssuerSignature, OpenedCertificate, PublishedCertificate, PageView } from "./published-certificate.ts";

/** A checkpoint of the ledger that others vouched for, and the statement's place in its tree. */
export interface PackedAttestation {
  /** The stored note: text, empty line, the log's own signature. A time stamp is over exactly these bytes. */
  readonly note: string;
  /** Base64, from the leaf's sibling up to the child of the root. */
  readonly inclusionProof: readonly string[];
  /** Signature lines of witnesses, each with its line break. */
  readonly cosignatures: readonly string[];
  /** The time-stamp reply, DER. */
  readonly tsr: Uint8Array | null;
}

/** A statement for the ledger, and what the ledger and others say of it. */
export interface PackedStatement {
  readonly statement: string;
  /** Null while the ledger has not confirmed. */
  readonly receipt: Receipt | null;
  readonly attested: PackedAttestation | null;
}

export interface PackedAnchor extends PackedStatement {
  readonly event: "issued" | "revoked";
}

/** The proof of a withdrawal from single recipients. */
export interface PackedEntityWithdrawal {
  /** 1, 2, 3 … on its certificate. */
  readonly number: number;
  /** The text that was signed, exactly. */
  readonly receipt: string;
  readonly signature: IssuerSignature;
  readonly anchor: PackedStatement | null;
}

/** A pack holds the proofs of the first acts, about 15 KiB each; later ones are proved by their audit entries. */
export const maxPackedEntityWithdrawals = 100;

/** This certificate's entries of its business's chain, oldest first: those that the audit log already holds. */
export interface PackedAudit {
  readonly chainIndex: number;
  /** The chain's newest entry, whatever it is about. */
  readonly head: { readonly seq: string; readonly hash: string };
  readonly entries: readonly AuditEntry[];
  /** By seq; without those that were erased. */
  readonly payloads: ReadonlyMap<string, { readonly salt: string; readonly payload: JsonObject }>;
  /** c2sp.org/tlog-proof@v1 of each entry, by seq. */
  readonly proofs: ReadonlyMap<string, string>;
  /** Null while the chain is younger than the newest record of heads. */
  readonly heads: HeadsProof | null;
}

/** The issuer's active key: storage/signer.ts has all of it but the name, which is `<host of the service>/issuer`. */
export interface PackIssuer {
  readonly keyName: string;
  /** Public key, base64url. */
  readonly x: string;
  /** Base64 of the Ed25519 signature over the text's UTF-8 bytes. */
  readonly sign: (text: string) => Promise<string>;
}

export interface EvidenceParts {
  readonly createdAt: Instant;
  readonly opened: OpenedCertificate;
  /** What GET /v1/certs/{id}/verify answers at this moment. */
  readonly publicView: JsonObject;
  readonly views: readonly PageView[];
  /** Text of each linked policy by its content hash; null where it could not be read. */
  readonly policyTexts: ReadonlyMap<string, string | null>;
  readonly identity: { readonly legalName: string | null; readonly mailingAddress: string | null; readonly contact: string | null };
  /** That the certificate was withdrawn, as handed to the person; absent or null while it was not. */
  readonly withdrawalReceipt?: JsonObject | null;
  readonly anchors: readonly PackedAnchor[];
  /** Withdrawals from single recipients, oldest first. */
  readonly entityWithdrawals: readonly PackedEntityWithdrawal[];
  /** Null while the audit log holds nothing of the certificate. */
  readonly audit: PackedAudit | null;
  /** The document at /.well-known/svc-trust.json. */
  readonly trust: JsonObject;
  readonly issuer: PackIssuer;
  /** Field keys whose value and salt are disclosed; null discloses every field. */
  readonly disclosedKeys: ReadonlySet<string> | null;
  /** Leaves out the subject's values and everything in the evidence that points to a person. */
  readonly isRedacted: boolean;
}

/**
 * The audit entries that belong to the evidence. Not who looked at it: that is the business's own record, and every look would
 * make the evidence another one. Not what a stranger can bring about, who could fill a pack with it. And nothing that happened
 * after the certificate was read, so that all of the evidence is of that moment.
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

/** Fields that the pack shows in the clear, in the order in which they were stored. */
export const listDisclosedFields = ({ opened, isRedacted, disclosedKeys }: EvidenceParts): readonly (readonly [string, string])[] =>
  isRedacted || opened.subject === null ? [] : [...opened.subject.fields].filter(([key]) => disclosedKeys?.has(key) ?? true);
