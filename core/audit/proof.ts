// The proof delivered with a principal's audit entries. It shows that the log contains the newest entry, and that no entry was left out up
// to the last record of heads (heads.ts).

/** The proof that no entry of a chain was left out. Its property names are part of the published format. */
export interface HeadsProof {
  /** The record of heads, exactly as it was hashed into the log. */
  readonly record: string;
  readonly record_tlog_proof: string;
  /** The chain's leaf in the tree of heads, as of the record. */
  readonly leaf: string;
  /** The audit path from the leaf to the heads root: the sibling hashes, lowest first, in base64. */
  readonly path: readonly string[];
  readonly size: string;
}

export interface AuditProof {
  readonly origin: string;
  /** The signed checkpoint, which is also part of `head_tlog_proof`. */
  readonly checkpoint: string;
  /** The proof that the log contains the newest entry. */
  readonly head_tlog_proof: string;
  /** The proof that no entry was left out; null if the chain is newer than the last record of heads. */
  readonly heads: HeadsProof | null;
}
