// A certificate's recipients and the person's choice for each (SPEC Certificate). Either both answer lists are present or neither is,
// because "asked and declined none" and "never asked" are different statements.
import { trimWhiteSpace } from "../text.ts";

export interface Recipients {
  /** The recipients without duplicates, sorted by UTF-16 code unit, as in the fingerprint. */
  readonly entities: readonly string[];
  /** The person's answers. The property is present only if the form asked about each recipient. */
  readonly answered?: { readonly accepted: readonly string[]; readonly rejected: readonly string[] };
}

export const maxEntityLength = 200;
/** A text has at most four times the length of its NFC form, so a longer text cannot be another spelling of a recipient's name. */
const maxSpellingLength = 4 * maxEntityLength;

/**
 * Returns the form of a name that is used for comparison: trimmed and in NFC, so that two Unicode spellings of one name are one recipient.
 * Names are stored as declared. A text that is too long for a name is only trimmed, because the time for normalizing a text can grow with
 * the square of its length.
 */
export const normalizeRecipientName = (name: string): string => {
  const trimmed = trimWhiteSpace(name);
  return trimmed.length > maxSpellingLength ? trimmed : trimmed.normalize("NFC");
};
