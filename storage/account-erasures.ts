// Erases a person's account. A sealed value and its data key are stored in the same column. Setting the column to NULL, or to an empty
// string if NULL is not allowed, destroys both. Hashes, times, statuses and fingerprints are kept, so proofs remain valid. Before the
// erasure, the caller revokes the person's shares, which destroys the shares' copies of the values (share-changes.ts).
import { eq, inArray, isNotNull, ne, sql } from "drizzle-orm";
import type { AddressIndex, StoredIndex } from "../core/access/address-index.ts";
import type { AuditChain } from "../core/domain-events.ts";
import type { ConsumerId } from "../core/ids.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import { hasIndex } from "./address-indexes.ts";
import { batch, type Database } from "./database.ts";
import { excluded, insertIf } from "./inserts.ts";
import { claimDueRows } from "./outboxes/claim.ts";
import { requestSubscriptionEndForAccount } from "./outboxes/subscription-ends.ts";
import { allOf, existsIn, query } from "./query.ts";
import {
  accountErasures,
  agentTokens,
  auditEntries,
  consumerShards,
  consumers,
  fieldFanouts,
  emailCodeFailures,
  emailCodes,
  failedMail,
  idempotentResponses,
  mailOutbox,
  passkeys,
  removals,
  sessions,
  shareAcknowledgements,
  shareNotices,
  shares,
} from "./schema.ts";

const leaseMs = minuteMs; // longer than one attempt; an account with many shares can take several

export type AccountErasure = Omit<typeof accountErasures.$inferSelect, "nextAt">;

/**
 * Marks an account as being erased, and schedules the cancellation of its subscription. After this, the person cannot grant or change
 * anything. If the process dies, a job that runs every minute finishes the erasure. Returns false if the account has already been erased.
 */
export const beginAccountErasure = async (db: Database, { consumerId, language }: AccountErasure, now: Instant): Promise<boolean> => {
  const isPresent = existsIn(consumers, eq(consumers.id, consumerId), ne(consumers.emailSealed, ""));
  const { erasure } = await batch(db, {
    mark: db
      .update(consumers)
      .set({ erasedAt: sql`coalesce(${consumers.erasedAt}, ${now})` })
      .where(eq(consumers.id, consumerId)),
    erasure: insertIf(db, accountErasures, { consumerId, language, nextAt: now + leaseMs }, isPresent)
      .onConflictDoUpdate({ target: accountErasures.consumerId, set: { nextAt: excluded(accountErasures.nextAt) } })
      .returning({ consumerId: accountErasures.consumerId }),
    subscriptionEnd: requestSubscriptionEndForAccount(db, consumerId, now),
  });
  return erasure.length > 0;
};

/**
 * Claims the unfinished erasure that has been due for the longest time. The claim lasts for one minute. Returns null if no erasure is due.
 */
export const claimAccountErasure = async (db: Database, now: Instant): Promise<AccountErasure | null> =>
  (await claimDueRows(db, accountErasures, { now, leaseMs, max: 1 }))[0] ?? null;

/** Returns the statements that erase a person's data in one shard. Active shares are not erased, so first revoke all shares. */
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
        subjectSealed: null,
        reasonSealed: null,
        emailIndex: null,
        phoneIndex: null,
      })
      .where(ended),
    db
      .update(auditEntries)
      .set({ payloadSealed: null })
      .where(
        allOf(eq(auditEntries.chain, chain.tag), sql`${auditEntries.entityType} <> 'certificate'`, isNotNull(auditEntries.payloadSealed)),
      ),
    db.delete(mailOutbox).where(eq(mailOutbox.consumerId, consumerId)),
    db.delete(failedMail).where(eq(failedMail.consumerId, consumerId)),
    db.delete(idempotentResponses).where(eq(idempotentResponses.consumerId, consumerId)),
  ] as const;
};

/**
 * Returns the statements for the last step of an erasure. They erase the person's record, and delete their sessions, passkeys, tokens,
 * unsent emails, sign-in codes, and failed emails that contain such a code. The batch fails if the account is already erased
 * (`isOutdatedFields`). `address` is the index of the person's email address.
 */
export const eraseConsumer = (db: Database, id: ConsumerId, address: AddressIndex) => {
  const isSignInCode = (codes: typeof emailCodes | typeof emailCodeFailures) =>
    allOf(eq(codes.purpose, "login"), eq(codes.topic, "consumer"), hasIndex(codes.addressIndex, address));
  const codeIds = query.select({ id: emailCodes.id }).from(emailCodes).where(isSignInCode(emailCodes));
  return [
    db.delete(mailOutbox).where(eq(mailOutbox.consumerId, id)),
    db.delete(failedMail).where(inArray(failedMail.entityId, codeIds)),
    db.delete(emailCodes).where(isSignInCode(emailCodes)),
    db.delete(emailCodeFailures).where(isSignInCode(emailCodeFailures)),
    db
      .update(consumers)
      .set({
        emailSealed: "",
        emailIndex: sql<StoredIndex>`'erased ' || ${consumers.id}`,
        nameSealed: null,
        fieldsSealed: null,
        plan: "free",
        fieldsRevision: sql`case when ${consumers.emailSealed} <> '' then ${consumers.fieldsRevision} + 1 end`,
      })
      .where(eq(consumers.id, id)),
    db.delete(sessions).where(allOf(eq(sessions.userId, id), eq(sessions.realm, "consumer"))),
    db.delete(passkeys).where(eq(passkeys.userId, id)),
    db.delete(agentTokens).where(allOf(eq(agentTokens.principalId, id), eq(agentTokens.realm, "consumer"))),
    db.update(removals).set({ notesSealed: null, affidavitSealed: null, changedBy: "erased" }).where(eq(removals.consumerId, id)),
    db.delete(fieldFanouts).where(eq(fieldFanouts.consumerId, id)),
    db.delete(consumerShards).where(eq(consumerShards.consumerId, id)),
    db.delete(accountErasures).where(eq(accountErasures.consumerId, id)),
  ] as const;
};
