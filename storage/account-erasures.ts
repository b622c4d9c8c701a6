// The end of a person's account. What is theirs lies sealed, each value under a key of its own beside it: setting it to NULL, or to
// nothing where a column cannot be NULL, is the erasure. Hashes, times, statuses and fingerprints stay and go on to verify.
import { eq, inArray, isNotNull, ne, sql } from "drizzle-orm";
import type { AuditChain } from "../core/facts.ts";
import type { ConsumerId } from "../core/ids.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import { batch, type Database } from "./database.ts";
import { excluded, insertIf } from "./inserts.ts";
import { claimDue } from "./outboxes/claim.ts";
import { requestEndOfAccount } from "./outboxes/subscription-ends.ts";
import { allOf, existsIn, query } from "./query.ts";
import {
  accountErasures,
  agentTokens,
  auditOutbox,
  consumerHomes,
  consumers,
  fieldFanouts,
  mailedCodeFailures,
  mailedCodes,
  mailOutbox,
  passkeys,
  removals,
  sessions,
  shareAcknowledgements,
  shareNotices,
  shares,
} from "./schema.ts";

const leaseMs = minuteMs; // more than all homes take

export type Erasure = Omit<typeof accountErasures.$inferSelect, "nextAt">;

/** From here on nothing can be granted or changed in the account, and the erasure is finished whatever dies. False for one that is over. */
export const beginErasure = async (db: Database, { consumerId, language }: Erasure, now: Instant): Promise<boolean> => {
  const isThere = existsIn(consumers, eq(consumers.id, consumerId), ne(consumers.emailSealed, ""));
  const [, begun] = await batch(db, [
    db
      .update(consumers)
      .set({ erasedAt: sql`coalesce(${consumers.erasedAt}, ${now})` })
      .where(eq(consumers.id, consumerId)),
    insertIf(db, accountErasures, { consumerId, language, nextAt: now + leaseMs }, isThere)
      .onConflictDoUpdate({ target: accountErasures.consumerId, set: { nextAt: excluded(accountErasures.nextAt) } })
      .returning({ consumerId: accountErasures.consumerId }),
    requestEndOfAccount(db, consumerId, now),
  ]);
  return begun.length > 0;
};

export const claimErasure = async (db: Database, now: Instant): Promise<Erasure | null> =>
  (await claimDue(db, accountErasures, { now, leaseMs, max: 1 }))[0] ?? null;

/** What a home holds of a person besides shares that are still active; those have to be ended first. */
export const forgetPerson = (db: Database, consumerId: ConsumerId, chain: AuditChain) => {
  const ended = allOf(eq(shares.consumerId, consumerId), ne(shares.state, "active"));
  const ids = query.select({ id: shares.id }).from(shares).where(ended);
  return [
    db.update(shareAcknowledgements).set({ detailsSealed: "" }).where(inArray(shareAcknowledgements.shareId, ids)),
    db.delete(shareNotices).where(inArray(shareNotices.shareId, ids)),
    db
      .update(shares)
      .set({
        consumerId: null,
        consumerChain: null,
        consumerShard: null,
        subjectSealed: null,
        reasonSealed: null,
        emailIndex: null,
        phoneIndex: null,
      })
      .where(ended),
    db
      .update(auditOutbox)
      .set({ payloadSealed: null })
      .where(
        allOf(eq(auditOutbox.chain, chain.tag), sql`${auditOutbox.entityType} <> 'certificate'`, isNotNull(auditOutbox.payloadSealed)),
      ),
    db.delete(mailOutbox).where(eq(mailOutbox.consumerId, consumerId)),
  ] as const;
};

/** The account itself, last. Fails as `isOutdatedFields` says where somebody else has come to this point before. */
export const eraseAccount = (db: Database, id: ConsumerId) => {
  const address = query.select({ index: consumers.emailIndex }).from(consumers).where(eq(consumers.id, id));
  const ofSignIn = (codes: typeof mailedCodes | typeof mailedCodeFailures) =>
    allOf(eq(codes.purpose, "login"), eq(codes.topic, "consumer"), inArray(codes.addressIndex, address));
  return [
    db.delete(mailedCodes).where(ofSignIn(mailedCodes)),
    db.delete(mailedCodeFailures).where(ofSignIn(mailedCodeFailures)),
    db
      .update(consumers)
      .set({
        emailSealed: "",
        emailIndex: sql`'erased ' || ${consumers.id}`,
        nameSealed: null,
        fieldsSealed: null,
        plan: "free",
        fieldsRevision: sql`case when ${consumers.emailSealed} <> '' then ${consumers.fieldsRevision} + 1 end`,
      })
      .where(eq(consumers.id, id)),
    db.delete(sessions).where(allOf(eq(sessions.userId, id), eq(sessions.realm, "consumer"))),
    db.delete(passkeys).where(eq(passkeys.consumerId, id)),
    db.delete(agentTokens).where(allOf(eq(agentTokens.principalId, id), eq(agentTokens.realm, "consumer"))),
    db.update(removals).set({ notesSealed: null, affidavitSealed: null, changedBy: "erased" }).where(eq(removals.consumerId, id)),
    db.delete(fieldFanouts).where(eq(fieldFanouts.consumerId, id)),
    db.delete(consumerHomes).where(eq(consumerHomes.consumerId, id)),
    db.delete(accountErasures).where(eq(accountErasures.consumerId, id)),
  ] as const;
};
