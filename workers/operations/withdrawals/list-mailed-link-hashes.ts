// Finds the links that were emailed with withdrawal codes and have not expired.
import { sha256Hex } from "../../../core/hash.ts";
import type { Instant } from "../../../core/time.ts";
import { linkLifetimeMs } from "../../../core/withdrawals/authorization.ts";
import { listCodeIdsSentSince } from "../../../storage/email-codes.ts";
import type { Stores } from "../dependencies.ts";
import type { LocatedRecord } from "./locate-record.ts";
import { toVerifiedAddress, bindWithdrawalCode } from "./withdrawal-code.ts";

/** Returns SHA-256 hashes of the tokens of all unexpired links that were emailed to the certificate's address. */
export const listMailedLinkHashes = async (services: Stores, { db, record }: LocatedRecord, now: Instant): Promise<readonly string[]> => {
  const { certificate, emailIndex } = record;
  if (emailIndex === null) return [];
  const ids = await listCodeIdsSentSince(db, toVerifiedAddress(certificate, emailIndex), now - linkLifetimeMs);
  return Promise.all(ids.map(async (id) => sha256Hex(await services.vault.linkToken(bindWithdrawalCode(id)))));
};
