// Determines what withdrawal codes and links are bound to, and for which address and browser they are counted.
import { getPlainIndex, type AddressIndex } from "../../../core/access/address-index.ts";
import { normalizeEmailAddress } from "../../../core/email-address.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { WithdrawableCertificate } from "../../../core/withdrawals/withdrawal.ts";
import type { Database } from "../../../storage/database.ts";
import { deleteCodeFailures, findCertIdOfOpenCode, type VerifiableAddress, type CodeRequester } from "../../../storage/email-codes.ts";
import type { WithdrawableRecord } from "../../../storage/withdrawals.ts";
import type { ReadDependencies, Stores } from "../dependencies.ts";
import type { CodeBinding } from "../access/email-codes.ts";
import type { LocatedRecord } from "./locate-record.ts";

/** Builds the text that a code's hash and its link's token cover. The text contains the code's ID, so neither is valid for another code. */
export const bindWithdrawalCode: CodeBinding = (id) => `withdrawal ${id}`;

/**
 * Returns the address that a code or link verifies. The verification is valid for all certificates with this address from the same business
 * and environment.
 */
export const toVerifiedAddress = (
  { id: certId, businessId, environment }: WithdrawableCertificate,
  addressIndex: AddressIndex,
): VerifiableAddress => ({
  purpose: "withdrawal",
  topic: `${businessId} ${environment}`,
  addressIndex,
  certId,
});

/**
 * Returns the email address and browser that codes and attempts are counted for. Counts an address that is not on the certificate under a
 * separate hash, so that such requests cannot use up the person's limits. The requester cannot tell the two cases apart.
 */
export const identifyCodeRequester = async (
  { vault }: Stores,
  { certificate, emailIndexes }: WithdrawableRecord,
  email: string,
  context: string | null,
): Promise<{ readonly addressIndex: AddressIndex; readonly isOnCertificate: boolean; readonly requester: CodeRequester }> => {
  const addressIndex = await vault.blindIndex("email", normalizeEmailAddress(email) ?? "");
  const unrelatedIndex = vault.readIndex(await vault.sentHash(certificate.id, getPlainIndex(addressIndex)));
  const isOnCertificate = emailIndexes.includes(addressIndex);
  const address = toVerifiedAddress(certificate, isOnCertificate ? addressIndex : unrelatedIndex);
  return { addressIndex, isOnCertificate, requester: { ...address, contextHash: sha256Hex(context ?? "") } };
};

/**
 * Returns the address and browser for which an attempt is counted in a shard other than the certificate's. If the shard has no open code
 * for the address, uses the same placeholder for all such addresses of the business and environment. Each attempt still writes a row of
 * failures, but attempts with many different addresses do not add rows to every shard.
 */
export const identifyInOtherShard = async (
  { vault, clock }: ReadDependencies,
  db: Database,
  requester: CodeRequester,
): Promise<CodeRequester> => {
  const [certId, noAddress] = await Promise.all([findCertIdOfOpenCode(db, requester, clock()), vault.blindIndex("email", "")]);
  return { ...requester, certId, ...(certId === null && { addressIndex: noAddress }) };
};

/** Returns the statements that reset the count of wrong codes after a correct code. */
export const prepareFailureReset = ({ db, record: { certificate } }: LocatedRecord, addressIndex: AddressIndex) => [
  deleteCodeFailures(db, toVerifiedAddress(certificate, addressIndex)),
];
