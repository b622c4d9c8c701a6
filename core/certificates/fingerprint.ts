// The fingerprint: SHA-256 over the canonical JSON of exactly eight members, or ten if the form asked about each recipient (SPEC
// Certificate). All members are published, so anyone can recompute it. Text is used exactly as stored, never Unicode-normalized, so
// verifiers need no Unicode tables.
import { toCanonicalJson } from "../canonical-json.ts";
import { sha256Hex } from "../hash.ts";
import type { Recipients } from "./recipients.ts";

export const fingerprintVersion = "1" as const;

export interface Preimage {
  /** The ID and name at the time of issuance. A later name change does not change to whom the person gave consent. */
  readonly business: { readonly id: string; readonly name: string };
  readonly cert_id: string;
  readonly disclosure_hash: string;
  readonly entities: readonly string[];
  readonly entities_accepted?: readonly string[];
  readonly entities_rejected?: readonly string[];
  readonly origin_domain: string;
  readonly purpose: string;
  readonly subject_hash: string;
  /** ISO 8601 UTC with milliseconds; equal to `issued_at`. */
  readonly timestamp: string;
}

/** Returns the members that the fingerprint covers, with recipient names sorted. */
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

/** Returns 64 lowercase hex characters. The input is the text from `canonicalizePreimage`. */
export const computeFingerprint = (canonical: string): string => sha256Hex(canonical);
