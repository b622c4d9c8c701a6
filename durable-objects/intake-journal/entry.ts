// What a journal keeps of a submission while its database is silent, and how it answers.
import type { CertId, ClientId } from "../../core/ids.ts";
import type { Instant } from "../../core/time.ts";
import type { CompiledStatement } from "../../storage/database.ts";

/** The saved answer to a submission with an idempotency key. */
export interface KeyedReceipt {
  readonly keyHash: string;
  readonly bodyHash: string;
  /** Sealed like the idempotent response in the database. */
  readonly receiptSealed: string;
}

export interface JournalEntry {
  readonly certId: CertId;
  readonly clientId: ClientId;
  /** Whole days since 1970 (UTC). */
  readonly day: number;
  readonly fingerprint: string;
  readonly issuedAt: Instant;
  /** Null without an idempotency key. */
  readonly receipt: KeyedReceipt | null;
  /** The published certificate as JSON. It contains no personal data except the masked subject, as in the database. */
  readonly published: string;
  /** The sealed rows that were sent to the database, without the conditions under which a submission can be refused. */
  readonly statements: readonly CompiledStatement[];
  /** Keeps this entry's text beside another certificate with the same ID. */
  readonly twinStatements: readonly CompiledStatement[];
}

export type AppendAnswer =
  | { readonly kind: "journaled" }
  /** An earlier submission with the same idempotency key was journaled. */
  | { readonly kind: "repeated"; readonly receipt: KeyedReceipt }
  /** The journal is full, its oldest entry is too old, or the client's daily limit is reached. */
  | { readonly kind: "refused" };
