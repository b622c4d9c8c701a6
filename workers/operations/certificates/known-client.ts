// The account data that an isolate remembers between submissions.
import type { Instant } from "../../../core/time.ts";
import type { AccountSnapshot } from "../../../storage/account-snapshots.ts";

export interface KnownClient extends AccountSnapshot {
  /** When this isolate last saved the account to KV; 0 if it has never done so. */
  readonly savedAt: Instant;
  /**
   * The number of submissions without an API key that the client may still send on a given day, as of the last submission that the database
   * counted.
   */
  readonly room: { readonly day: number; readonly left: number } | null;
}
