// The email address that a visitor entered on the sign-in page, sealed in a cookie until they enter the code.
import { emailCodeLimits } from "../../../core/access/email-code.ts";
import { isEmailAddress } from "../../../core/email-address.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { sealNote, openNote, type NoteScope } from "./sealed-notes.ts";

const signInNoteScope: NoteScope = { name: "sign-in", owner: "browser" };

/** The lifetime of a sign-in code. */
export const signInNoteSeconds = emailCodeLimits.login.lifeMs / 1_000;

/** Seals the entered address. */
export const sealSignInEmail = (services: ReadDependencies, email: string): Promise<string> =>
  sealNote(services, signInNoteScope, { email }, emailCodeLimits.login.lifeMs);

/** Opens the entered address. Returns null if the note is missing, expired or contains no email address. */
export const openSignInEmail = async (services: ReadDependencies, sealed: string | undefined): Promise<string | null> => {
  const email = (await openNote<{ readonly email: string }>(services, signInNoteScope, sealed))?.content.email;
  return email !== undefined && isEmailAddress(email) ? email : null;
};
