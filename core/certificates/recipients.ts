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
/** The NFC form of a text has at least a quarter of its length, so a longer text cannot be another spelling of a name. */
const maxSpellingLength = 4 * maxEntityLength;

/**
 * Returns the form in which names are compared: trimmed and in NFC, so that two Unicode spellings of one name are one recipient. (Names are
 * stored as declared.) Text that is too long for a name is only trimmed, because normalizing it can take quadratic time.
 */
export const normalizeRecipientName = (name: string): string => {
  const trimmed = trimWhiteSpace(name);
  return trimmed.length > maxSpellingLength ? trimmed : trimmed.normalize("NFC");
};
