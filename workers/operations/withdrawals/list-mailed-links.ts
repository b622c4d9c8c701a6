// Finds unexpired links that were emailed with withdrawal codes.
import type { AddressIndex } from "../../../core/access/address-index.ts";
import { isEqualConstantTime, sha256Hex } from "../../../core/hash.ts";
import type { Instant } from "../../../core/time.ts";
import { linkLifetimeMs } from "../../../core/withdrawals/authorization.ts";
import { listCodeIdsSentSince } from "../../../storage/email-codes.ts";
import type { Stores } from "../dependencies.ts";
import type { LocatedRecord } from "./locate-record.ts";
import { toVerifiedAddress, bindWithdrawalCode } from "./withdrawal-code.ts";

export interface MailedLink {
  readonly tokenHash: string;
  /** The blind index of the address that received the link. */
  readonly addressIndex: AddressIndex;
}

/** Returns all unexpired links that were emailed to the certificate's addresses, with the SHA-256 of their tokens. */
export const listMailedLinks = async (services: Stores, { db, record }: LocatedRecord, now: Instant): Promise<readonly MailedLink[]> => {
  const { certificate, emailIndexes } = record;
  const links = await Promise.all(
    emailIndexes.map(async (addressIndex) => {
      const ids = await listCodeIdsSentSince(db, toVerifiedAddress(certificate, addressIndex), now - linkLifetimeMs);
      const tokens = await Promise.all(ids.map((id) => services.vault.listLinkTokens(bindWithdrawalCode(id))));
      return tokens.flat().map((token) => ({ tokenHash: sha256Hex(token), addressIndex }));
    }),
  );
  return links.flat();
};

/** Returns the link with this token, or undefined if no such link was emailed. */
export const findMailedLink = (links: readonly MailedLink[], token: string): MailedLink | undefined => {
  const given = sha256Hex(token);
  return links.find(({ tokenHash }) => isEqualConstantTime(tokenHash, given));
};
