// The fingerprint: SHA-256 over the canonical JSON of exactly these eight members, or ten when the form asked recipient
// by recipient (SPEC, What the service does 7). Everything in it is published, so anyone can recompute it; text goes in
// exactly as stored, never Unicode-normalised, so no verifier needs Unicode tables.
import { toCanonicalJson } from "../canonical-json.ts";
import { sha256Hex } from "../hash.ts";
import type { Recipients } from "./recipients.ts";

export const fingerprintVersion = "1" as const;

export interface Preimage {
  /** Id and the name as shown when the certificate was issued: a later change of name does not change whom the person trusted. */
  readonly business: { readonly id: string; readonly name: string };
  readonly cert_id: string;
  readonly disclosure_hash: string;
  readonly entities: readonly string[];
  readonly entities_accepted?: readonly string[];
  readonly entities_rejected?: readonly string[];
  readonly origin_domain: string;
  readonly purpose: string;
  readonly subject_hash: string;
  /** ISO 8601 UTC with milliseconds; equal to issued_at. */
  readonly timestamp: string;
}

export const buildPreimage = (bound: {
  readonly business: { readonly id: string; readonly name: string };
  readonly certId: string;
  readonly disclosureHash: string;
  readonly recipients: Recipients;
  readonly originDomain: string;
  readonly purpose: string;
  readonly subjectHash: string;
  readonly timestamp: string;
}): Preimage => ({
  business: { id: bound.business.id, name: bound.business.name },
  cert_id: bound.certId,
  disclosure_hash: bound.disclosureHash,
  entities: [...bound.recipients.entities].sort(),
  ...(bound.recipients.answered && {
    entities_accepted: [...bound.recipients.answered.accepted].sort(),
    entities_rejected: [...bound.recipients.answered.rejected].sort(),
  }),
  origin_domain: bound.originDomain,
  purpose: bound.purpose,
  subject_hash: bound.subjectHash,
  timestamp: bound.timestamp,
});

/** The exact text whose SHA-256 is the fingerprint. */
export const canonicalizePreimage = (preimage: Preimage): string => toCanonicalJson({ ...preimage, business: { ...preimage.business } });

/** 64 lower-case hex characters, of `canonicalPreimage`. */
export const computeFingerprint = (canonical: string): string => sha256Hex(canonical);
