// Who asks to withdraw a certificate, by the address they name and the browser they use.
import { sha256Hex } from "../../../core/hash.ts";
import { comparableMailbox } from "../../../core/mailbox.ts";
import type { Asker } from "../../../storage/mailed-codes.ts";
import type { WithdrawableRecord } from "../../../storage/withdrawals.ts";
import type { Stores } from "../../services.ts";
import { provedAddress } from "./by-person.ts";

/**
 * For an address that is not on the certificate the asker is nobody's, and counted apart: so what is asked about other people's
 * certificates takes nothing from a person, and looks the same.
 */
export const askerAbout = async (
  { vault }: Stores,
  { certificate, emailIndex }: WithdrawableRecord,
  email: string,
  context: string | null,
): Promise<{ readonly addressIndex: string; readonly isOnCertificate: boolean; readonly asker: Asker }> => {
  const addressIndex = await vault.blindIndex("email", comparableMailbox(email) ?? "");
  const nobodys = await vault.sentHash(certificate.id, addressIndex);
  const isOnCertificate = emailIndex === addressIndex;
  const proved = provedAddress(certificate, isOnCertificate ? addressIndex : nobodys);
  return { addressIndex, isOnCertificate, asker: { ...proved, contextHash: sha256Hex(context ?? "") } };
};
