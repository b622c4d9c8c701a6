// The fingerprint of a share: SHA-256 over the canonical JSON of exactly these members. Its key set differs from those of
// certificates, statements and audit entries, so no text can be taken for one of another kind.
import { toCanonicalJson } from "../canonical-json.ts";
import { sha256Hex } from "../hash.ts";
import { toIso, type Instant } from "../time.ts";

export interface ShareFingerprintInput {
  /** Name as shown when it was granted. */
  readonly business: { readonly id: string; readonly name: string };
  readonly disclosureHash: string;
  readonly expiresAt: Instant;
  readonly originDomain: string;
  readonly purpose: string;
  readonly scope: readonly string[];
  readonly id: string;
  readonly subjectHash: string;
  /** The share it was renewed from; null for any other. */
  readonly supersedes: string | null;
  readonly createdAt: Instant;
}

/** The exact text whose SHA-256 is the fingerprint. The scope is sorted by UTF-16 code unit here. */
export const formatSharePreimage = (share: ShareFingerprintInput): string =>
  toCanonicalJson({
    business: { id: share.business.id, name: share.business.name },
    disclosure_hash: share.disclosureHash,
    expires_at: toIso(share.expiresAt),
    origin_domain: share.originDomain,
    purpose: share.purpose,
    scope: [...share.scope].sort(),
    share_id: share.id,
    subject_hash: share.subjectHash,
    ...(share.supersedes !== null && { supersedes: share.supersedes }),
    timestamp: toIso(share.createdAt),
  });

/** 64 lower-case hex characters, of `canonicalShare`. */
export const computeShareFingerprint = (canonical: string): string => sha256Hex(canonical);
