// The switchboard: for every kind of fact, where it goes besides its own rows. A change of what is audited, anchored or
// told to a business is a change of this table and of nothing else.
import type { Json } from "./canonical-json.ts";
import type { AnchorSubject } from "./ledger/statement.ts";
import type { Instant } from "./time.ts";

export const factRoutes = {
  "certificate.issued": { anchored: true },
  "certificate.subject_read": { anchored: false },
  "evidence_pack.exported": { anchored: false },
  "policy.linked": { anchored: false },
} as const satisfies Record<string, { readonly anchored: boolean }>;

export type FactType = keyof typeof factRoutes;

export interface Fact {
  readonly type: FactType;
  readonly entityType: "certificate";
  readonly entityId: string;
  readonly at: Instant;
  /** Which principal's audit chain tells it. */
  readonly chain: AuditChain;
  /** What the audit entry commits to: hashes, words and ids; sealed at rest. */
  readonly payload: { readonly [key: string]: Json };
  /** What the ledger statement needs, for facts that are anchored. */
  readonly anchor?: Pick<AnchorSubject, "fingerprint" | "originDomain">;
}

/** A principal's audit chain: a random tag, not derived from anything personal, and the log that holds it. */
export interface AuditChain {
  readonly tag: string;
  readonly shard: number;
}
