// The data that a journal keeps of a submission while its database does not respond, and the journal's responses.
import type { CertId, ClientId } from "../../core/ids.ts";
import type { Instant } from "../../core/time.ts";
import type { CompiledStatement } from "../../storage/database.ts";

/** The saved response to a submission with an idempotency key. */
export interface KeyedReceipt {
  readonly keyHash: string;
  readonly bodyHash: string;
  /** The response, sealed like an idempotent response in the database. */
  readonly receiptSealed: string;
}

export interface JournalEntry {
  readonly certId: CertId;
  readonly clientId: ClientId;
  /** The day of the submission, in whole days since 1970 (UTC). */
  readonly day: number;
  readonly fingerprint: string;
  readonly issuedAt: Instant;
  /** The saved response; null if the submission had no idempotency key. */
  readonly receipt: KeyedReceipt | null;
  /** The published certificate as JSON. It contains no personal data except the masked subject, as in the database. */
  readonly published: string;
  /** The sealed rows that were sent to the database, without the conditions that can refuse a submission. */
  readonly statements: readonly CompiledStatement[];
  /** The statements that keep this entry's text if another certificate has the same ID. */
  readonly twinStatements: readonly CompiledStatement[];
}

export type AppendAnswer =
  | { readonly kind: "journaled" }
  /** The journal contains an earlier submission with the same idempotency key. */
  | { readonly kind: "repeated"; readonly receipt: KeyedReceipt }
  /** Nothing was stored, because the journal is full, its oldest entry is too old, or the client's daily limit is reached. */
  | { readonly kind: "refused" };
