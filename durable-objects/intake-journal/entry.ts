// The data that an intake journal stores for a submission, and the journal's response to it.
import type { CertId, ClientId } from "../../core/ids.ts";
import type { Instant } from "../../core/time.ts";
import type { CompiledStatement } from "../../storage/database.ts";

/**
 * The saved response to a submission with an idempotency key. The hashes of the key and the body show whether a later request repeats the
 * submission.
 */
export interface KeyedReceipt {
  readonly keyHash: string;
  readonly bodyHash: string;
  /** The response, sealed in the same way as idempotent responses in the database. */
  readonly receiptSealed: string;
}

export interface JournalEntry {
  readonly certId: CertId;
  readonly clientId: ClientId;
  /** The day of the submission (UTC), as the number of days since 1970-01-01. */
  readonly day: number;
  readonly fingerprint: string;
  readonly issuedAt: Instant;
  /** Null if the submission had no idempotency key. */
  readonly receipt: KeyedReceipt | null;
  /** The published certificate as JSON, with masked personal data. */
  readonly published: string;
  /** The SQL statements that store the certificate, without the checks that could refuse it. */
  readonly statements: readonly CompiledStatement[];
  /**
   * The statements that run instead if the database has another certificate with the same ID. They store only this certificate's text and
   * signature.
   */
  readonly twinStatements: readonly CompiledStatement[];
}

export type AppendAnswer =
  | { readonly kind: "journaled" }
  /** The journal has the response to an earlier submission with the same idempotency key. */
  | { readonly kind: "repeated"; readonly receipt: KeyedReceipt }
  /**
   * Nothing was stored, because the journal is full, its oldest entry is too old, the client has reached a limit, or the entry is too
   * large.
   */
  | { readonly kind: "refused" };
