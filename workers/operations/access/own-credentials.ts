// Deletes a person's sign-in credentials, and creates the audit events for credential changes.
import { getAuditChain, type Session } from "../../../core/access/session.ts";
import { createAuditedEvent, type AuditedAction, type DomainEvent } from "../../../core/domain-events.ts";
import type { Instant } from "../../../core/time.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { hasPreviousChange } from "../../../storage/query.ts";
import type { WriteDependencies } from "../dependencies.ts";

/** Creates the audit event for a credential change. The actor is the session's user. */
export const createCredentialDomainEvent = (session: Session, action: AuditedAction, at: Instant): DomainEvent => {
  const actor = { kind: session.realm === "consumer" ? "consumer" : "member", id: session.userId } as const;
  return createAuditedEvent({ chain: getAuditChain(session), actor }, action, at);
};

/** Deletes credentials. If any existed, records this in the audit chain of the consumer or business. Returns the number of deleted rows. */
export const deleteOwnCredential = async (
  services: WriteDependencies,
  session: Session,
  action: AuditedAction,
  createDeletion: (db: Database, now: Instant) => Statement & { readonly _: { readonly result: D1Result } },
): Promise<number> => {
  const db = services.shards.forId(session.userId);
  const now = services.clock();
  const [{ meta }] = await commit(
    db,
    services,
    [createDeletion(db, now)],
    [createCredentialDomainEvent(session, action, now)],
    hasPreviousChange(),
  );
  return meta.changes;
};
