// Lists a person's passkeys for their account page.
import type { Passkey } from "../../../core/access/passkey.ts";
import type { Session } from "../../../core/access/session.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import { listPasskeysByUser } from "../../../storage/passkeys.ts";
import type { Stores } from "../dependencies.ts";

/** Lists the passkeys of the consumer or member, oldest first. */
export const listPasskeys = (services: Stores, session: Session): Lookup<readonly Passkey[]> =>
  listPasskeysByUser(services.shards.forId(session.userId), services.vault, session.userId);
