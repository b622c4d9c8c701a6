// The accounts that an isolate remembers between submissions.
import type { Instant } from "../../../core/time.ts";
import type { AccountSnapshot } from "../../../storage/account-snapshots.ts";

/** What an isolate remembers about a client. */
export interface KnownClient extends AccountSnapshot {
  /** When this isolate last saved the account to KV; 0 if never. */
  readonly savedAt: Instant;
  /** How many more submissions without an API key the client could send on a given day, as of the last one that the database counted. */
  readonly room: { readonly day: number; readonly left: number } | null;
}
