// A consumer's passkeys, for the account page.
import type { Passkey } from "../../../core/access/passkey.ts";
import type { ConsumerSession } from "../../../core/access/session.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import { listPasskeysByConsumer } from "../../../storage/passkeys.ts";
import type { Stores } from "../dependencies.ts";

/** Lists the consumer's passkeys, oldest first. */
export const listPasskeys = (services: Stores, session: ConsumerSession): Lookup<readonly Passkey[]> =>
  listPasskeysByConsumer(services.shards.forId(session.userId), services.vault, session.userId);
