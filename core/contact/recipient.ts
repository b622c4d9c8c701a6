// Is a business one of the recipients a certificate names? Names are compared as people read them: without case, spacing and
// Unicode form.
import { listConsentedEntities, listActiveEntities } from "../withdrawals/entity-withdrawal.ts";
import { trimWhiteSpace } from "../text.ts";

const foldRecipientName = (name: string): string =>
  trimWhiteSpace(name)
    .normalize("NFC")
    .toLowerCase()
    .replace(/\p{White_Space}+/gu, " ");

export interface NamedRecipients {
  readonly entities: readonly string[];
  readonly answered: { readonly accepted: readonly string[] } | null;
}

const includesAnyName = (names: readonly string[], own: readonly (string | null)[]): boolean => {
  const known = new Set(names.map(foldRecipientName));
  return own.some((name) => name !== null && known.has(foldRecipientName(name)));
};

/** Named at all, whatever was answered. */
export const isNamedRecipient = (recipients: NamedRecipients, own: readonly (string | null)[]): boolean =>
  includesAnyName(recipients.entities, own);

/** One of those the consent is for, and still is. */
export const isConsentedTo = (recipients: Parameters<typeof listActiveEntities>[0], own: readonly (string | null)[]): boolean =>
  includesAnyName(listActiveEntities(recipients), own);

/** The person consented to it, and has withdrawn since. */
export const isWithdrawnFrom = (recipients: Parameters<typeof listActiveEntities>[0], own: readonly (string | null)[]): boolean =>
  !isConsentedTo(recipients, own) && includesAnyName(listConsentedEntities(recipients), own);

/** One consent to one seller: a single recipient, or recipients each asked about separately. */
export const isOneToOne = ({ entities, answered }: NamedRecipients): boolean => answered !== null || entities.length === 1;
