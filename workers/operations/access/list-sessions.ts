import type { Session } from "../../../core/access/session.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import { listSessionsByPerson, type StoredSession } from "../../../storage/sessions.ts";
import type { ReadDependencies } from "../dependencies.ts";

export interface ListedSession extends StoredSession {
  /** The one that asks. */
  readonly isCurrent: boolean;
}

/** Newest first. */
export const listSessions = (services: ReadDependencies, session: Session): Lookup<readonly ListedSession[]> =>
  listSessionsByPerson(services.shards.forId(session.userId), services.vault, session, services.clock()).map((known) =>
    known.map((one) => ({ ...one, isCurrent: one.tokenHash === session.tokenHash })),
  );
