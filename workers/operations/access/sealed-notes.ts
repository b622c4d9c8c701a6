// What a page must remember until the next one: sealed in a cookie or a form, for one owner and some minutes. Nothing is stored for it. An
// address that was typed is remembered so, because it belongs into no URL and nobody should have to type it twice.
import { mailedCodeLimits } from "../../../core/access/mailed-code.ts";
import type { CertId } from "../../../core/ids.ts";
import { isMailbox } from "../../../core/mailbox.ts";
import type { EncryptionContext } from "../../../storage/vault.ts";
import type { Runtime, Stores } from "../../services.ts";

/** What it is, and whose: the note of another person, or of another record, does not open. */
export interface NotePlace {
  readonly name: "flash" | "undo" | "stopped" | "sign-in" | "withdrawal" | "connection";
  readonly owner: string;
}

const contextOf = ({ name, owner }: NotePlace): EncryptionContext => ({ table: "cookie", record: name, field: "note", owner });

export const sealNote = (services: Runtime & Stores, place: NotePlace, content: object, lifeMs: number): Promise<string> =>
  services.vault.seal(contextOf(place), JSON.stringify({ content, until: services.clock() + lifeMs }));

export interface OpenedNote<T> {
  readonly content: T;
  readonly until: number;
}

/** Null when there is none, when it is too old, and for whatever we did not seal. */
export const openNote = async <T>(
  services: Runtime & Stores,
  place: NotePlace,
  sealed: string | undefined,
): Promise<OpenedNote<T> | null> => {
  if (sealed === undefined) return null;
  try {
    const note = JSON.parse(await services.vault.open(contextOf(place), sealed)) as OpenedNote<T>;
    return note.until > services.clock() ? note : null;
  } catch {
    return null; // a cookie is whatever the browser sends
  }
};

const signIn: NotePlace = { name: "sign-in", owner: "browser" };

/** As long as the code it goes with. */
export const askedSignInSeconds = mailedCodeLimits.login.lifeMs / 1_000;

export const sealAskedSignIn = (services: Runtime & Stores, email: string): Promise<string> =>
  sealNote(services, signIn, { email }, mailedCodeLimits.login.lifeMs);

export const openAskedSignIn = async (services: Runtime & Stores, sealed: string | undefined): Promise<string | null> => {
  const email = (await openNote<{ readonly email: string }>(services, signIn, sealed))?.content.email;
  return email !== undefined && isMailbox(email) ? email : null;
};

const withdrawalOf = (certId: CertId): NotePlace => ({ name: "withdrawal", owner: certId });

/** Likewise. */
export const askedSeconds = mailedCodeLimits.withdrawal.lifeMs / 1_000;

export interface Asked {
  /** As it was typed; null where a link from a mail needed none. */
  readonly email: string | null;
  /** Of the link that was mailed, once the code or the link was right: it proves the address, so the person can be told what else names it. */
  readonly token: string | null;
}

export const sealAsked = (services: Runtime & Stores, certId: CertId, asked: Asked): Promise<string> =>
  sealNote(services, withdrawalOf(certId), asked, mailedCodeLimits.withdrawal.lifeMs);

/** What was typed and proved for this certificate. */
export const openAsked = async (services: Runtime & Stores, certId: CertId, sealed: string): Promise<Asked> => {
  const { email = null, token = null } = (await openNote<Asked>(services, withdrawalOf(certId), sealed))?.content ?? {};
  return { email: isMailbox(email ?? "") ? email : null, token };
};
