// A sign-in that a browser has started. A cookie stores it, sealed, until the person enters the code or uses the emailed link.
import { emailCodeLimits } from "../../../core/access/email-code.ts";
import { isEmailAddress } from "../../../core/email-address.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { sealNote, openNote, type NoteScope } from "./sealed-notes.ts";

const signInNoteScope: NoteScope = { name: "sign-in", owner: "browser" };

export const signInNoteSeconds = emailCodeLimits.login.lifeMs / 1_000;

export interface PendingSignIn {
  readonly email: string;
  /**
   * Random text that identifies the browser. Attempts are counted per browser, and an emailed link works only in the browser that requested
   * it.
   */
  readonly browser: string;
  /**
   * The page to open after signing in. Null if the sign-in was started on the consent sheet or the page that connects an agent, because
   * that page is still open.
   */
  readonly next: string | null;
}

export const sealPendingSignIn = (services: ReadDependencies, pending: PendingSignIn): Promise<string> =>
  sealNote(services, signInNoteScope, pending, emailCodeLimits.login.lifeMs);

/** Decrypts the pending sign-in from its cookie. Returns null if it is missing, expired or contains no email address. */
export const openPendingSignIn = async (services: ReadDependencies, sealed: string | undefined): Promise<PendingSignIn | null> => {
  const pending = (await openNote<PendingSignIn>(services, signInNoteScope, sealed))?.content ?? null;
  return pending !== null && isEmailAddress(pending.email) ? pending : null;
};
