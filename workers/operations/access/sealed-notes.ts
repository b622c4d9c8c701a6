// What a page must remember until the next one: sealed in a cookie or a form, for one owner and some minutes. Nothing is stored for it. An
// address that was typed is remembered so, because it belongs into no URL and nobody should have to type it twice.
import type { EncryptionContext } from "../../../storage/vault.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** What it is, and whose: the note of another person, or of another record, does not open. */
export interface NoteScope {
  readonly name: "flash" | "undo" | "stopped" | "sign-in" | "withdrawal" | "connection";
  readonly owner: string;
}

const toEncryptionContext = ({ name, owner }: NoteScope): EncryptionContext => ({ table: "cookie", record: name, field: "note", owner });

export const sealNote = (services: ReadDependencies, place: NoteScope, content: object, lifeMs: number): Promise<string> =>
  services.vault.seal(toEncryptionContext(place), JSON.stringify({ content, until: services.clock() + lifeMs }));

export interface OpenedNote<T> {
  readonly content: T;
  readonly until: number;
}

/** Null when there is none, when it is too old, and for whatever we did not seal. */
export const openNote = async <T>(
  services: ReadDependencies,
  place: NoteScope,
  sealed: string | undefined,
): Promise<OpenedNote<T> | null> => {
  if (sealed === undefined) return null;
  try {
    const note = JSON.parse(await services.vault.open(toEncryptionContext(place), sealed)) as OpenedNote<T>;
    return note.until > services.clock() ? note : null;
  } catch {
    return null; // a cookie is whatever the browser sends
  }
};
