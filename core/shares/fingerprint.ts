// A share's fingerprint: the SHA-256 of the canonical JSON of the properties listed here. Certificates, statements and audit entries have
// different properties, so none of them can be mistaken for a share.
import { toCanonicalJson } from "../canonical-json.ts";
import { sha256Hex } from "../hash.ts";
import { toIso, type Instant } from "../time.ts";

export interface ShareFingerprintInput {
  /** The business, with its name as shown when the share was granted. */
  readonly business: { readonly id: string; readonly name: string };
  readonly disclosureHash: string;
  readonly expiresAt: Instant;
  readonly originDomain: string;
  readonly purpose: string;
  readonly scope: readonly string[];
  readonly id: string;
  readonly subjectHash: string;
  /** The ID of the share that this one renews; null if there is none. */
  readonly supersedes: string | null;
  readonly createdAt: Instant;
}

/** Returns the exact text whose SHA-256 is the fingerprint. Sorts the scope by UTF-16 code unit. */
export const canonicalizeSharePreimage = (share: ShareFingerprintInput): string =>
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

/** Returns the fingerprint, 64 lowercase hex characters. `canonical` is the result of `canonicalizeSharePreimage`. */
export const computeShareFingerprint = (canonical: string): string => sha256Hex(canonical);
