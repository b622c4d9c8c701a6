import { emailCodeLimits } from "../../../core/access/email-code.ts";
import { isEmailAddress } from "../../../core/email-address.ts";
import type { CertId } from "../../../core/ids.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { sealNote, openNote, type NoteScope } from "./sealed-notes.ts";

const toWithdrawalNoteScope = (certId: CertId): NoteScope => ({ name: "withdrawal", owner: certId });

/** Likewise. */
export const withdrawalNoteSeconds = emailCodeLimits.withdrawal.lifeMs / 1_000;

export interface WithdrawalNote {
  /** As it was typed; null where a link from a mail needed none. */
  readonly email: string | null;
  /** Of the link that was mailed, once the code or the link was right: it proves the address, so the person can be told what else names it. */
  readonly token: string | null;
}

export const sealWithdrawalNote = (services: ReadDependencies, certId: CertId, asked: WithdrawalNote): Promise<string> =>
  sealNote(services, toWithdrawalNoteScope(certId), asked, emailCodeLimits.withdrawal.lifeMs);

/** What was typed and proved for this certificate. */
export const openWithdrawalNote = async (services: ReadDependencies, certId: CertId, sealed: string): Promise<WithdrawalNote> => {
  const { email = null, token = null } = (await openNote<WithdrawalNote>(services, toWithdrawalNoteScope(certId), sealed))?.content ?? {};
  return { email: isEmailAddress(email ?? "") ? email : null, token };
};
