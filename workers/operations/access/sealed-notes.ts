// A note is short-lived state that one page passes to the next. It is encrypted for one owner and stored only in a cookie or form field,
// not on the server. It can contain email addresses, so it must not appear in URLs.
import type { EncryptionContext } from "../../../storage/vault.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** The note's kind, and what it belongs to, such as an account or a certificate. A note can be opened only with the same scope. */
export interface NoteScope {
  readonly name: "flash" | "undo" | "stopped" | "sign-in" | "withdrawal" | "connection";
  readonly owner: string;
}

const toEncryptionContext = ({ name, owner }: NoteScope): EncryptionContext => ({ table: "cookie", record: name, field: "note", owner });

/** Seals content, which can be opened for `lifeMs` milliseconds. */
export const sealNote = (services: ReadDependencies, scope: NoteScope, content: object, lifeMs: number): Promise<string> =>
  services.vault.seal(toEncryptionContext(scope), JSON.stringify({ content, until: services.clock() + lifeMs }));

export interface OpenedNote<T> {
  readonly content: T;
  readonly until: number;
}

/** Decrypts a note. Returns null if the note is missing, has expired or was not sealed for this scope. */
export const openNote = async <T>(
  services: ReadDependencies,
  scope: NoteScope,
  sealed: string | undefined,
): Promise<OpenedNote<T> | null> => {
  if (sealed === undefined) return null;
  try {
    const note = JSON.parse(await services.vault.open(toEncryptionContext(scope), sealed)) as OpenedNote<T>;
    return note.until > services.clock() ? note : null;
  } catch {
    return null; // cookies and form fields can contain anything, so a note that cannot be opened counts as missing
  }
};
