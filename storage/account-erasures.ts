// The end of a person's account. What is theirs lies sealed, each value under a key of its own beside it: setting it to NULL, or to
// nothing where a column cannot be NULL, is the erasure. Hashes, times, statuses and fingerprints stay and go on to verify.
import { eq, inArray, isNotNull, ne, sql } from "drizzle-orm";
import type { AuditChain } from "../core/domain-events.ts";
import type { ConsumerId } from "../core/ids.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import { batch, type Database } from "./database.ts";
import { excluded, insertIf } from "./inserts.ts";
import { claimDueRows } from "./outboxes/claim.ts";
import { requestSubscriptionEndForAccount } from "./outboxes/subscription-ends.ts";
import { allOf, existsIn, query } from "./query.ts";
import {
  accountErasures,
  agentTokens,
  auditOutbox,
  consumerShards,
  consumers,
  fieldFanouts,
  emailCodeFailures,
  emailCodes,
  mailOutbox,
  passkeys,
  removals,
  sessions,
  shareAcknowledgements,
  shareNotices,
  shares,
} from "./schema.ts";

const leaseMs = minuteMs; // more than all homes take

export type AccountErasure = Omit<typeof accountErasures.$inferSelect, "nextAt">;

/** From here on nothing can be granted or changed in the account, and the erasure is finished whatever dies. False for one that is over. */
export const beginAccountErasure = async (db: Database, { consumerId, language }: AccountErasure, now: Instant): Promise<boolean> => {
  const isThere = existsIn(consumers, eq(consumers.id, consumerId), ne(consumers.emailSealed, ""));
  const [, begun] = await batch(db, [
    db
      .update(consumers)
      .set({ erasedAt: sql`coalesce(${consumers.erasedAt}, ${now})` })
      .where(eq(consumers.id, consumerId)),
    insertIf(db, accountErasures, { consumerId, language, nextAt: now + leaseMs }, isThere)
      .onConflictDoUpdate({ target: accountErasures.consumerId, set: { nextAt: excluded(accountErasures.nextAt) } })
      .returning({ consumerId: accountErasures.consumerId }),
    requestSubscriptionEndForAccount(db, consumerId, now),
  ]);
  return begun.length > 0;
};

export const claimAccountErasure = async (db: Database, now: Instant): Promise<AccountErasure | null> =>
  (await claimDueRows(db, accountErasures, { now, leaseMs, max: 1 }))[0] ?? null;

/** What a home holds of a person besides shares that are still active; those have to be ended first. */
export const erasePersonFromShard = (db: Database, consumerId: ConsumerId, chain: AuditChain) => {
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
        consumerAuditLog: null,
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
export const eraseConsumer = (db: Database, id: ConsumerId) => {
  const address = query.select({ index: consumers.emailIndex }).from(consumers).where(eq(consumers.id, id));
  const ofSignIn = (codes: typeof emailCodes | typeof emailCodeFailures) =>
    allOf(eq(codes.purpose, "login"), eq(codes.topic, "consumer"), inArray(codes.addressIndex, address));
  return [
    db.delete(emailCodes).where(ofSignIn(emailCodes)),
    db.delete(emailCodeFailures).where(ofSignIn(emailCodeFailures)),
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
    db.delete(consumerShards).where(eq(consumerShards.consumerId, id)),
    db.delete(accountErasures).where(eq(accountErasures.consumerId, id)),
  ] as const;
};
