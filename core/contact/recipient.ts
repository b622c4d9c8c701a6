// Is a business one of the recipients a certificate names? Names are compared as people read them: without case, spacing and
// Unicode form.
import { trimmed } from "../text.ts";

const folded = (name: string): string =>
  trimmed(name)
    .normalize("NFC")
    .toLowerCase()
    .replace(/\p{White_Space}+/gu, " ");

export interface NamedRecipients {
  readonly entities: readonly string[];
  readonly answered: { readonly accepted: readonly string[] } | null;
}

const holds = (names: readonly string[], own: readonly (string | null)[]): boolean => {
  const known = new Set(names.map(folded));
  return own.some((name) => name !== null && known.has(folded(name)));
};

/** Named at all, whatever was answered. */
export const isNamed = (recipients: NamedRecipients, own: readonly (string | null)[]): boolean => holds(recipients.entities, own);

/** Those the consent is for: the accepted ones where each was asked about, else all that are named. */
const consented = ({ entities, answered }: NamedRecipients): readonly string[] => answered?.accepted ?? entities;

export const isConsentedTo = (recipients: NamedRecipients, own: readonly (string | null)[]): boolean => holds(consented(recipients), own);

/** One consent to one seller: a single recipient, or recipients each asked about separately. */
export const isOneToOne = ({ entities, answered }: NamedRecipients): boolean => answered !== null || entities.length === 1;
