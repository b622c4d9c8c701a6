// Changes that a person makes to their own ways of signing in: each is told in the chain of whoever is signed in, and only where it
// really changed something.
import { chainOf, type Session } from "../../../core/access/session.ts";
import { factOf, type Act, type Fact } from "../../../core/facts.ts";
import type { Instant } from "../../../core/time.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { changedBefore } from "../../../storage/query.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";

export const ownFact = (session: Session, act: Act, at: Instant): Fact => {
  const actor = { kind: session.realm === "consumer" ? "consumer" : "member", id: session.userId } as const;
  return factOf({ chain: chainOf(session), actor }, act, at);
};

/** Deletes, and tells of it where something was there to delete: how many rows. */
export const deleteOwn = async (
  services: Runtime & Stores & Schedules,
  session: Session,
  act: Act,
  deletion: (db: Database, now: Instant) => Statement & { readonly _: { readonly result: D1Result } },
): Promise<number> => {
  const db = services.homes.of(session.userId);
  const now = services.clock();
  const [{ meta }] = await commit(db, services, [deletion(db, now)], [ownFact(session, act, now)], changedBefore());
  return meta.changes;
};
