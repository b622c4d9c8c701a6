// Loads the data for the account page: profile, sessions and passkeys. Agents can read the profile but must not see passkeys, so this is a
// separate operation.
import type { Passkey } from "../../../core/access/passkey.ts";
import { personFromSession, type ConsumerSession } from "../../../core/access/session.ts";
import { ok, type Result } from "../../../core/result.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { listPasskeys } from "../access/list-passkeys.ts";
import { listSessions, type ListedSession } from "../access/list-sessions.ts";
import { loadProfileWith, type Profile } from "./get-profile.ts";

export interface SecurityOverview {
  readonly profile: Profile;
  readonly sessions: readonly ListedSession[];
  readonly passkeys: readonly Passkey[];
}

/** Returns the profile, sessions and passkeys. Returns `unauthorized` if the account no longer exists. */
export const getSecurityOverview = async (
  services: ReadDependencies,
  session: ConsumerSession,
): Promise<Result<SecurityOverview, "unauthorized">> => {
  const read = await loadProfileWith(services, personFromSession(session), (ownDb) =>
    combineLookups(ownDb, [listSessions(services, session), listPasskeys(services, session)]),
  );
  if (!read.ok) return read;
  const [profile, [sessions, passkeys]] = read.value;
  return ok({ profile, sessions, passkeys });
};
