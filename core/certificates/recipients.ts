// The recipients a certificate names, and what the visitor answered for each (SPEC, Certificate, per-recipient rules).
// "Asked and declined nobody" and "never asked" are different facts: both lists are present, or neither is.
import { trimWhiteSpace } from "../text.ts";

export interface Recipients {
  /** Unique, sorted by UTF-16 code unit: the order the fingerprint binds. */
  readonly entities: readonly string[];
  /** Present only when the form asked recipient by recipient. */
  readonly answered?: { readonly accepted: readonly string[]; readonly rejected: readonly string[] };
}

/** Names are compared in NFC, so that two spellings of one name are one recipient; they are stored as declared. */
export const normalizeRecipientName = (name: string): string => trimWhiteSpace(name).normalize("NFC");
