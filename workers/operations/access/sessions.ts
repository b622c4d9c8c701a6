// Where a person is signed in, and ending that from somewhere else. The same for consumers and for members of a business.
import type { Actor } from "../../../core/actor.ts";
import { chainOf, type Session } from "../../../core/access/session.ts";
import type { Fact } from "../../../core/facts.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database } from "../../../storage/database.ts";
import { changedBefore } from "../../../storage/query.ts";
import { deleteOtherSessions, deleteSessionOf, sessionsOf, type KnownSession } from "../../../storage/sessions.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";

export interface ListedSession extends KnownSession {
  /** The one that asks. */
  readonly isCurrent: boolean;
}

const databaseOf = (services: Stores, { userId }: Session): Database => services.homes.of(userId) as Database;

/** Newest first. */
export const listSessions = async (services: Runtime & Stores, session: Session): Promise<readonly ListedSession[]> => {
  const known = await sessionsOf(databaseOf(services, session), services.vault, session, services.clock());
  return known.map((one) => ({ ...one, isCurrent: one.tokenHash === session.tokenHash }));
};

const actorOf = ({ realm, userId }: Session): Actor => ({ kind: realm === "consumer" ? "consumer" : "member", id: userId });

const endedFact = (session: Session, ended: Pick<Fact, "entityType" | "entityId" | "payload">, now: Instant): Fact => ({
  type: "session.ended",
  ...ended,
  at: now,
  chains: [chainOf(session)],
  actor: actorOf(session),
});

/** Deletes, and tells of it where something was deleted: how many there were. */
const end = async (
  services: Runtime & Stores & Schedules,
  session: Session,
  deletion: (db: Database, now: Instant) => ReturnType<typeof deleteSessionOf>,
  told: Pick<Fact, "entityType" | "entityId" | "payload">,
): Promise<number> => {
  const db = databaseOf(services, session);
  const now = services.clock();
  const store = { db, vault: services.vault, ledgerId: services.config.ledger.id };
  const [deleted] = await commit(store, [deletion(db, now)], [endedFact(session, told, now)], changedBefore());
  if (deleted.meta.changes > 0) services.scheduleFollowUp();
  return deleted.meta.changes;
};

/** Ends one of the person's sessions, at once. */
export const endSession = async (
  services: Runtime & Stores & Schedules,
  session: Session,
  id: string,
): Promise<Result<{ readonly id: string; readonly wasCurrent: boolean }, "not_found">> => {
  const told = { entityType: "session", entityId: id, payload: {} } as const;
  const ended = await end(services, session, (db, now) => deleteSessionOf(db, session, id, now), told);
  return ended === 0 ? refuse("not_found") : ok({ id, wasCurrent: id === session.sessionId });
};

/** Ends all of the person's sessions but the one that asks; one entry tells of them all. */
export const endOtherSessions = (services: Runtime & Stores & Schedules, session: Session): Promise<number> =>
  end(services, session, (db, now) => deleteOtherSessions(db, session, now), {
    entityType: session.realm === "consumer" ? "consumer" : "member",
    entityId: session.userId,
    payload: { kept: session.sessionId },
  });
