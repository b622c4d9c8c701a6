// Lists the signed-in person's sessions for the account page.
import type { Session } from "../../../core/access/session.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import { listSessionsByPerson, type StoredSession } from "../../../storage/sessions.ts";
import type { ReadDependencies } from "../dependencies.ts";

export interface ListedSession extends StoredSession {
  /** True for the session that made the request. */
  readonly isCurrent: boolean;
}

/** Lists up to 100 of the person's active sessions, newest first. */
export const listSessions = (services: ReadDependencies, session: Session): Lookup<readonly ListedSession[]> =>
  listSessionsByPerson(services.shards.forId(session.userId), services.vault, session, services.clock()).map((sessions) =>
    sessions.map((listed) => ({ ...listed, isCurrent: listed.tokenHash === session.tokenHash })),
  );
