// Decides whether a business is one of a certificate's recipients. Two names are equal if they differ only in case, in the amount of
// whitespace or in Unicode form.
import { listConsentedEntities, listActiveEntities, type NamedRecipients } from "../withdrawals/entity-withdrawal.ts";
import { trimWhiteSpace } from "../text.ts";

const foldRecipientName = (name: string): string =>
  trimWhiteSpace(name)
    .normalize("NFC")
    .toLowerCase()
    .replace(/\p{White_Space}+/gu, " ");

const includesAnyName = (names: readonly string[], ownNames: readonly (string | null)[]): boolean => {
  const known = new Set(names.map(foldRecipientName));
  return ownNames.some((name) => name !== null && known.has(foldRecipientName(name)));
};

/** Returns whether the certificate lists the business as a recipient, regardless of the person's choice. */
export const isNamedRecipient = (recipients: NamedRecipients, ownNames: readonly (string | null)[]): boolean =>
  includesAnyName(recipients.entities, ownNames);

/** Returns whether the consent covers the business and the person has not withdrawn it for this business. */
export const isConsentedTo = (recipients: Parameters<typeof listActiveEntities>[0], ownNames: readonly (string | null)[]): boolean =>
  includesAnyName(listActiveEntities(recipients), ownNames);

/** Returns whether the person consented to the business and later withdrew that consent. */
export const isWithdrawnFrom = (recipients: Parameters<typeof listActiveEntities>[0], ownNames: readonly (string | null)[]): boolean =>
  !isConsentedTo(recipients, ownNames) && includesAnyName(listConsentedEntities(recipients), ownNames);

/**
 * Returns whether the consent is one-to-one, that is, given to one seller at a time: the certificate has only one recipient, or the person
 * was asked about each recipient separately.
 */
export const isOneToOne = ({ entities, answered }: NamedRecipients): boolean => answered !== null || entities.length === 1;
