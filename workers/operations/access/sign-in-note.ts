import { emailCodeLimits } from "../../../core/access/email-code.ts";
import { isEmailAddress } from "../../../core/email-address.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { sealNote, openNote, type NoteScope } from "./sealed-notes.ts";

const signInNoteScope: NoteScope = { name: "sign-in", owner: "browser" };

/** As long as the code it goes with. */
export const signInNoteSeconds = emailCodeLimits.login.lifeMs / 1_000;

export const sealSignInEmail = (services: ReadDependencies, email: string): Promise<string> =>
  sealNote(services, signInNoteScope, { email }, emailCodeLimits.login.lifeMs);

export const openSignInEmail = async (services: ReadDependencies, sealed: string | undefined): Promise<string | null> => {
  const email = (await openNote<{ readonly email: string }>(services, signInNoteScope, sealed))?.content.email;
  return email !== undefined && isEmailAddress(email) ? email : null;
};
