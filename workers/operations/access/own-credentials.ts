// Changes that a person makes to their own ways of signing in: each is told in the chain of whoever is signed in, and only where it
// really changed something.
import { getAuditChain, type Session } from "../../../core/access/session.ts";
import { createAuditedEvent, type AuditedAction, type DomainEvent } from "../../../core/domain-events.ts";
import type { Instant } from "../../../core/time.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { hasPreviousChange } from "../../../storage/query.ts";
import type { WriteDependencies } from "../dependencies.ts";

export const createCredentialDomainEvent = (session: Session, act: AuditedAction, at: Instant): DomainEvent => {
  const actor = { kind: session.realm === "consumer" ? "consumer" : "member", id: session.userId } as const;
  return createAuditedEvent({ chain: getAuditChain(session), actor }, act, at);
};

/** Deletes, and tells of it where something was there to delete: how many rows. */
export const deleteOwnCredential = async (
  services: WriteDependencies,
  session: Session,
  act: AuditedAction,
  deletion: (db: Database, now: Instant) => Statement & { readonly _: { readonly result: D1Result } },
): Promise<number> => {
  const db = services.shards.forId(session.userId);
  const now = services.clock();
  const [{ meta }] = await commit(db, services, [deletion(db, now)], [createCredentialDomainEvent(session, act, now)], hasPreviousChange());
  return meta.changes;
};
