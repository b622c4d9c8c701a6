// Is a business one of the recipients a certificate names? Names are compared as people read them: without case, spacing and
// Unicode form.
import { consentedEntities, standingEntities } from "../withdrawals/entities.ts";
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

/** One of those the consent is for, and still is. */
export const isConsentedTo = (recipients: Parameters<typeof standingEntities>[0], own: readonly (string | null)[]): boolean =>
  holds(standingEntities(recipients), own);

/** The person consented to it, and has withdrawn since. */
export const isWithdrawnFrom = (recipients: Parameters<typeof standingEntities>[0], own: readonly (string | null)[]): boolean =>
  !isConsentedTo(recipients, own) && holds(consentedEntities(recipients), own);

/** One consent to one seller: a single recipient, or recipients each asked about separately. */
export const isOneToOne = ({ entities, answered }: NamedRecipients): boolean => answered !== null || entities.length === 1;
