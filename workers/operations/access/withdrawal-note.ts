// The data that the later steps of a certificate's withdrawal page need. It is stored in a sealed cookie.
import { emailCodeLimits } from "../../../core/access/email-code.ts";
import { isEmailAddress } from "../../../core/email-address.ts";
import type { CertId } from "../../../core/ids.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { sealNote, openNote, type NoteScope } from "./sealed-notes.ts";

const toWithdrawalNoteScope = (certId: CertId): NoteScope => ({ name: "withdrawal", owner: certId });

export const withdrawalNoteSeconds = emailCodeLimits.withdrawal.lifeMs / 1_000;

export interface WithdrawalNote {
  /** The email address as typed; null if the person followed an emailed link. */
  readonly email: string | null;
  /**
   * The emailed link's token, once the code or link is verified. The token proves control of the email address, so the page may list other
   * certificates that contain the address.
   */
  readonly token: string | null;
}

export const sealWithdrawalNote = (services: ReadDependencies, certId: CertId, note: WithdrawalNote): Promise<string> =>
  sealNote(services, toWithdrawalNoteScope(certId), note, emailCodeLimits.withdrawal.lifeMs);

/** Opens a certificate's note. Both properties are null if the note is missing, expired or for another certificate. */
export const openWithdrawalNote = async (services: ReadDependencies, certId: CertId, sealed: string): Promise<WithdrawalNote> => {
  const { email = null, token = null } = (await openNote<WithdrawalNote>(services, toWithdrawalNoteScope(certId), sealed))?.content ?? {};
  return { email: isEmailAddress(email ?? "") ? email : null, token };
};
