// Identifies the withdrawal link that a token belongs to.
import type { AddressIndex } from "../../../core/access/address-index.ts";
import { isEqualConstantTime, sha256Hex } from "../../../core/hash.ts";
import { linkLifetimeMs } from "../../../core/withdrawals/authorization.ts";
import { openRootSalt } from "../../../storage/certificates.ts";
import type { Database } from "../../../storage/database.ts";
import { listCodeIdsSentSince } from "../../../storage/email-codes.ts";
import type { WithdrawableRecord } from "../../../storage/withdrawals.ts";
import { deriveManageToken } from "../certificates/manage-token.ts";
import type { IntakeDependencies } from "../intake/dependencies.ts";
import { findInShards } from "./find-in-shards.ts";
import type { LocatedRecord } from "./locate-record.ts";
import { toVerifiedAddress, bindWithdrawalCode } from "./withdrawal-code.ts";

export interface MailedLink {
  readonly tokenHash: string;
  /** The blind index of the address that received the link. */
  readonly addressIndex: AddressIndex;
}

export interface LinkSearch {
  /**
   * The hashes of the tokens in `manage_url`, the link in the response to `POST /v1/consent`: one for the certificate, plus one for each
   * duplicate of it.
   */
  readonly manageHashes: readonly string[];
  /** The emailed link with this token; null if there is none or it has expired. */
  readonly mailed: MailedLink | null;
}

const listManageTokenHashes = async (
  services: IntakeDependencies,
  { certificate: { id: certId, businessId }, personSealed, twinTokenHashes }: WithdrawableRecord,
): Promise<readonly string[]> => {
  if (personSealed === null) return twinTokenHashes;
  const rootSalt = await openRootSalt(services.vault, certId, businessId, personSealed);
  return [sha256Hex(await deriveManageToken(services, { certId, rootSalt })), ...twinTokenHashes];
};

/**
 * Finds the link that the token belongs to. If it is the token of `manage_url`, does not search the emailed links, so that `manage_url`
 * works while another shard is unavailable.
 */
export const findLink = async (services: IntakeDependencies, located: LocatedRecord, token: string): Promise<LinkSearch> => {
  const { certificate, emailIndexes } = located.record;
  const given = sha256Hex(token);
  const manageHashes = await listManageTokenHashes(services, located.record);
  if (manageHashes.some((hash) => isEqualConstantTime(hash, given))) return { manageHashes, mailed: null };
  const since = services.clock() - linkLifetimeMs;
  const listLinks = async (db: Database, addressIndex: AddressIndex): Promise<readonly MailedLink[]> => {
    const ids = await listCodeIdsSentSince(db, toVerifiedAddress(certificate, addressIndex), since);
    const tokens = await Promise.all(ids.map((id) => services.vault.listLinkTokens(bindWithdrawalCode(id))));
    return tokens.flat().map((linkToken) => ({ tokenHash: sha256Hex(linkToken), addressIndex }));
  };
  const mailed = await findInShards(services, located, async (db) => {
    const links: MailedLink[] = [];
    for (const addressIndex of emailIndexes) links.push(...(await listLinks(db, addressIndex)));
    return links.find(({ tokenHash }) => isEqualConstantTime(tokenHash, given)) ?? null;
  });
  return { manageHashes, mailed };
};
