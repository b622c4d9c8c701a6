// The fingerprint: the SHA-256 of the canonical JSON of exactly eight properties, or ten if the form asked about each recipient (SPEC
// Certificate). All properties are published, so anyone can recompute the fingerprint. Text is never Unicode-normalized, so verifiers need
// no Unicode tables.
import { toCanonicalJson } from "../canonical-json.ts";
import { sha256Hex } from "../hash.ts";
import type { Recipients } from "./recipients.ts";

export const fingerprintVersion = "1" as const;

export interface Preimage {
  /** The business's ID, and its name at the time of issuance. */
  readonly business: { readonly id: string; readonly name: string };
  readonly cert_id: string;
  readonly disclosure_hash: string;
  readonly entities: readonly string[];
  readonly entities_accepted?: readonly string[];
  readonly entities_rejected?: readonly string[];
  readonly origin_domain: string;
  readonly purpose: string;
  readonly subject_hash: string;
  /** The same time as `issued_at`: ISO 8601 in UTC with milliseconds. */
  readonly timestamp: string;
}

/** Returns the properties that the fingerprint covers, with recipient names sorted. */
export const buildPreimage = (input: {
  readonly business: { readonly id: string; readonly name: string };
  readonly certId: string;
  readonly disclosureHash: string;
  readonly recipients: Recipients;
  readonly originDomain: string;
  readonly purpose: string;
  readonly subjectHash: string;
  readonly timestamp: string;
}): Preimage => ({
  business: { id: input.business.id, name: input.business.name },
  cert_id: input.certId,
  disclosure_hash: input.disclosureHash,
  entities: [...input.recipients.entities].sort(),
  ...(input.recipients.answered && {
    entities_accepted: [...input.recipients.answered.accepted].sort(),
    entities_rejected: [...input.recipients.answered.rejected].sort(),
  }),
  origin_domain: input.originDomain,
  purpose: input.purpose,
  subject_hash: input.subjectHash,
  timestamp: input.timestamp,
});

/** Returns the exact text whose SHA-256 is the fingerprint. */
export const canonicalizePreimage = (preimage: Preimage): string => toCanonicalJson({ ...preimage, business: { ...preimage.business } });

/** Returns the fingerprint, 64 lowercase hex characters, of the text from `canonicalizePreimage`. */
export const computeFingerprint = (canonical: string): string => sha256Hex(canonical);
