// A session as it begins, by whatever proof; where a person is signed in, and ending that from somewhere else. The same for consumers and for
// members of a business.
import { deviceOf } from "../../../core/access/device.ts";
import type { Session } from "../../../core/access/session.ts";
import type { Act } from "../../../core/facts.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { newId, newSecret, type Home } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import {
  deleteOtherSessions,
  deleteSessionOf,
  sealDevice,
  sessionsOf,
  type KnownSession,
  type NewSession,
} from "../../../storage/sessions.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import { deleteOwn } from "./own-account.ts";

/** A token that nobody had before, at every proof, and the row it is found by. */
export const newSession = async (
  { vault, random, clock }: Runtime & Stores,
  home: Home,
  userAgent: string | undefined,
): Promise<{ readonly token: string; readonly row: NewSession }> => {
  const token = newSecret("ses_", home, random);
  const id = newId("ssn_", home, random);
  const agentSealed = await sealDevice(vault, id, deviceOf(userAgent));
  return { token, row: { tokenHash: sha256Hex(token), id, agentSealed, now: clock() } };
};

export interface ListedSession extends KnownSession {
  /** The one that asks. */
  readonly isCurrent: boolean;
}

/** Newest first. */
export const listSessions = (services: Runtime & Stores, session: Session): Lookup<readonly ListedSession[]> =>
  sessionsOf(services.homes.of(session.userId), services.vault, session, services.clock()).map((known) =>
    known.map((one) => ({ ...one, isCurrent: one.tokenHash === session.tokenHash })),
  );

/** Ends one of the person's sessions, at once. */
export const endSession = async (
  services: Runtime & Stores & Schedules,
  session: Session,
  id: string,
): Promise<Result<{ readonly id: string; readonly wasCurrent: boolean }, "not_found">> => {
  const act: Act = { type: "session.ended", entityType: "session", entityId: id };
  const ended = await deleteOwn(services, session, act, (db, now) => deleteSessionOf(db, session, id, now));
  return ended === 0 ? refuse("not_found") : ok({ id, wasCurrent: id === session.sessionId });
};

/** Ends all of the person's sessions but the one that asks; one entry tells of them all. */
export const endOtherSessions = (services: Runtime & Stores & Schedules, session: Session): Promise<number> => {
  const entityType = session.realm === "consumer" ? "consumer" : "member";
  const act: Act = { type: "session.ended", entityType, entityId: session.userId, payload: { kept: session.sessionId } };
  return deleteOwn(services, session, act, (db, now) => deleteOtherSessions(db, session, now));
};
