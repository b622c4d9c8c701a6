// The page of a person's account: what it is, where else they are signed in, and with what they can. Apart from the profile, which
// assistants read: what adds and removes passkeys is not for them.
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

/** Refuses `unauthorized` for a person who is gone. */
export const getSecurityOverview = async (
  services: ReadDependencies,
  session: ConsumerSession,
): Promise<Result<SecurityOverview, "unauthorized">> => {
  const read = await loadProfileWith(services, personFromSession(session), (own) =>
    combineLookups(own, [listSessions(services, session), listPasskeys(services, session)]),
  );
  if (!read.ok) return read;
  const [profile, [sessions, passkeys]] = read.value;
  return ok({ profile, sessions, passkeys });
};
