import { normalizeEmailAddress } from "../../../core/email-address.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { WithdrawableCertificate } from "../../../core/withdrawals/withdrawal.ts";
import { deleteCodeFailures, type VerifiableAddress, type CodeRequester } from "../../../storage/email-codes.ts";
import type { WithdrawableRecord } from "../../../storage/withdrawals.ts";
import type { Stores } from "../dependencies.ts";
import type { CodeBinding } from "../access/email-codes.ts";
import type { LocatedRecord } from "./locate-record.ts";

/** Codes and links are bound to their row by it. */
export const bindWithdrawalCode: CodeBinding = (id) => `withdrawal ${id}`;

/** What a mailed code or link opens: every certificate of one business and environment that names the address. */
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
 * Who asks, by the address they name and the browser they use. For an address that is not on the certificate the asker is nobody's, and
 * counted apart: so what is asked about other people's certificates takes nothing from a person, and looks the same.
 */
export const identifyCodeRequester = async (
  { vault }: Stores,
  { certificate, emailIndex }: WithdrawableRecord,
  email: string,
  context: string | null,
): Promise<{ readonly addressIndex: string; readonly isOnCertificate: boolean; readonly asker: CodeRequester }> => {
  const addressIndex = await vault.blindIndex("email", normalizeEmailAddress(email) ?? "");
  const nobodys = await vault.sentHash(certificate.id, addressIndex);
  const isOnCertificate = emailIndex === addressIndex;
  const proved = toVerifiedAddress(certificate, isOnCertificate ? addressIndex : nobodys);
  return { addressIndex, isOnCertificate, asker: { ...proved, contextHash: sha256Hex(context ?? "") } };
};

/** The row of a right answer: failures in a row start anew. */
export const prepareFailureReset = ({ db, record: { certificate, emailIndex } }: LocatedRecord) =>
  emailIndex === null ? [] : [deleteCodeFailures(db, toVerifiedAddress(certificate, emailIndex))];
