// What a page must remember until the next one: sealed in a cookie, for one owner and some minutes. Nothing is stored for it.
import type { Json } from "../../../core/canonical-json.ts";
import type { EncryptionContext } from "../../../storage/vault.ts";
import type { Runtime, Stores } from "../../services.ts";

/** What it is, and whose: the note of another person, or of another share, does not open. */
export interface NotePlace {
  readonly name: "flash" | "undo" | "stopped";
  readonly owner: string;
}

const contextOf = ({ name, owner }: NotePlace): EncryptionContext => ({ table: "cookie", record: name, field: "note", owner });

export const sealNote = (
  services: Runtime & Stores,
  place: NotePlace,
  content: { readonly [key: string]: Json },
  lifeMs: number,
): Promise<string> => services.vault.seal(contextOf(place), JSON.stringify({ content, until: services.clock() + lifeMs }));

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
