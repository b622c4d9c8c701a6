// The page of a person's account: what it is, where else they are signed in, and with what they can. Apart from the profile, which
// assistants read: what adds and removes passkeys is not for them.
import type { Passkey } from "../../../core/access/passkey.ts";
import { personOf, type ConsumerSession } from "../../../core/access/session.ts";
import { ok, type Result } from "../../../core/result.ts";
import { together } from "../../../storage/lookups.ts";
import type { Runtime, Stores } from "../../services.ts";
import { listPasskeys } from "../access/passkeys.ts";
import { listSessions, type ListedSession } from "../access/sessions.ts";
import { profileWith, type Profile } from "./profile.ts";

export interface Security {
  readonly profile: Profile;
  readonly sessions: readonly ListedSession[];
  readonly passkeys: readonly Passkey[];
}

/** Refuses `unauthorized` for a person who is gone. */
export const readSecurity = async (services: Runtime & Stores, session: ConsumerSession): Promise<Result<Security, "unauthorized">> => {
  const read = await profileWith(services, personOf(session), (own) =>
    together(own, [listSessions(services, session), listPasskeys(services, session)]),
  );
  if (!read.ok) return read;
  const [profile, [sessions, passkeys]] = read.value;
  return ok({ profile, sessions, passkeys });
};
