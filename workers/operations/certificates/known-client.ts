// The account data that an isolate keeps in memory between submissions.
import type { Instant } from "../../../core/time.ts";
import type { AccountSnapshot } from "../../../storage/account-snapshots.ts";

export interface KnownClient extends AccountSnapshot {
  /** When this isolate last saved the account to KV; 0 if it has never done so. */
  readonly savedAt: Instant;
  /**
   * The number of submissions without an API key that the client has left on `day`, as of the last submission that the database counted.
   */
  readonly room: { readonly day: number; readonly left: number } | null;
}
