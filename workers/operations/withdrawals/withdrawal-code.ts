// What withdrawal codes and links are bound to, and who requests them.
import { normalizeEmailAddress } from "../../../core/email-address.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { WithdrawableCertificate } from "../../../core/withdrawals/withdrawal.ts";
import { deleteCodeFailures, type VerifiableAddress, type CodeRequester } from "../../../storage/email-codes.ts";
import type { WithdrawableRecord } from "../../../storage/withdrawals.ts";
import type { Stores } from "../dependencies.ts";
import type { CodeBinding } from "../access/email-codes.ts";
import type { LocatedRecord } from "./locate-record.ts";

/** Binds a code's hash and a link's token to the code's row. */
export const bindWithdrawalCode: CodeBinding = (id) => `withdrawal ${id}`;

/** A code or link is valid for all certificates from one business and environment that name the address. */
export const toVerifiedAddress = (
  { id: certId, businessId, environment }: WithdrawableCertificate,
  addressIndex: string,
): VerifiableAddress => ({
  purpose: "withdrawal",
  topic: `${businessId} ${environment}`,
  addressIndex,
  certId,
});

/**
 * Identifies the requester by email address and browser, for counting codes and attempts. An address that is not on the certificate is
 * counted under a separate hash: such requests cannot use up the person's limits, and look the same from outside.
 */
export const identifyCodeRequester = async (
  { vault }: Stores,
  { certificate, emailIndex }: WithdrawableRecord,
  email: string,
  context: string | null,
): Promise<{ readonly addressIndex: string; readonly isOnCertificate: boolean; readonly requester: CodeRequester }> => {
  const addressIndex = await vault.blindIndex("email", normalizeEmailAddress(email) ?? "");
  const unrelatedIndex = await vault.sentHash(certificate.id, addressIndex);
  const isOnCertificate = emailIndex === addressIndex;
  const address = toVerifiedAddress(certificate, isOnCertificate ? addressIndex : unrelatedIndex);
  return { addressIndex, isOnCertificate, requester: { ...address, contextHash: sha256Hex(context ?? "") } };
};

/** The rows that reset the count of wrong codes after a correct one. */
export const prepareFailureReset = ({ db, record: { certificate, emailIndex } }: LocatedRecord) =>
  emailIndex === null ? [] : [deleteCodeFailures(db, toVerifiedAddress(certificate, emailIndex))];
