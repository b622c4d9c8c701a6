// The accounts that an isolate remembers between submissions.
import type { Instant } from "../../../core/time.ts";
import type { AccountSnapshot } from "../../../storage/account-snapshots.ts";

/** What an isolate remembers of a client. */
export interface KnownClient extends AccountSnapshot {
  /** When this isolate last saved the account to KV; 0 if never. */
  readonly savedAt: Instant;
  /** How many submissions without an API key were left on a day when the database last counted one. */
  readonly room: { readonly day: number; readonly left: number } | null;
}
