import type { Session } from "../../../core/access/session.ts";
import type { AuditedAction } from "../../../core/domain-events.ts";
import { deleteOtherSessions } from "../../../storage/sessions.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { deleteOwnCredential } from "./own-credentials.ts";

/** Ends all of the person's sessions but the one that asks; one entry tells of them all. */
export const revokeOtherSessions = (services: WriteDependencies, session: Session): Promise<number> => {
  const entityType = session.realm === "consumer" ? "consumer" : "member";
  const act: AuditedAction = { type: "session.ended", entityType, entityId: session.userId, payload: { kept: session.sessionId } };
  return deleteOwnCredential(services, session, act, (db, now) => deleteOtherSessions(db, session, now));
};
