// What a person entered on the withdrawal page of a certificate, sealed in a form until the next step.
import { emailCodeLimits } from "../../../core/access/email-code.ts";
import { isEmailAddress } from "../../../core/email-address.ts";
import type { CertId } from "../../../core/ids.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { sealNote, openNote, type NoteScope } from "./sealed-notes.ts";

const toWithdrawalNoteScope = (certId: CertId): NoteScope => ({ name: "withdrawal", owner: certId });

/** The lifetime of a withdrawal code. */
export const withdrawalNoteSeconds = emailCodeLimits.withdrawal.lifeMs / 1_000;

export interface WithdrawalNote {
  /** The address as typed; null if the person came by a mailed link. */
  readonly email: string | null;
  /**
   * Token of the mailed link, once the code or link was verified. It proves the address, so the page may list other certificates that name
   * it.
   */
  readonly token: string | null;
}

/** Seals the note for one certificate. */
export const sealWithdrawalNote = (services: ReadDependencies, certId: CertId, note: WithdrawalNote): Promise<string> =>
  sealNote(services, toWithdrawalNoteScope(certId), note, emailCodeLimits.withdrawal.lifeMs);

/** Opens the note of a certificate. Both members are null if it is missing, expired or of another certificate. */
export const openWithdrawalNote = async (services: ReadDependencies, certId: CertId, sealed: string): Promise<WithdrawalNote> => {
  const { email = null, token = null } = (await openNote<WithdrawalNote>(services, toWithdrawalNoteScope(certId), sealed))?.content ?? {};
  return { email: isEmailAddress(email ?? "") ? email : null, token };
};
