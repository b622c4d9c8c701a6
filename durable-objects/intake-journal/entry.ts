// The data that an intake journal stores for a submission, and the journal's responses.
import type { CertId, ClientId } from "../../core/ids.ts";
import type { Instant } from "../../core/time.ts";
import type { CompiledStatement } from "../../storage/database.ts";

/** The saved response to a submission with an idempotency key. The two hashes show whether a later request repeats the submission. */
export interface KeyedReceipt {
  readonly keyHash: string;
  readonly bodyHash: string;
  /** The response, sealed in the same way as the responses that the database saves for idempotency keys. */
  readonly receiptSealed: string;
}

export interface JournalEntry {
  readonly certId: CertId;
  readonly clientId: ClientId;
  /** The day of the submission (UTC), in whole days since 1970. */
  readonly day: number;
  readonly fingerprint: string;
  readonly issuedAt: Instant;
  /** The response and its hashes; null if the submission had no idempotency key. */
  readonly receipt: KeyedReceipt | null;
  /** The published certificate as JSON. Personal data in it is masked. */
  readonly published: string;
  /** The statements that store the certificate, without the checks that could refuse it. */
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
   * Nothing was stored: the journal is full, its oldest entry is too old, the client's daily limit is reached, or the entry is too large.
   */
  | { readonly kind: "refused" };
