// Deletes test certificates and test shares after 30 days, with the texts and policy snapshots that no other record uses. Audit entries are
// kept, because their chains could not be verified without them. SPEC Limits.
import { eq, inArray, isNull, lte, or, sql } from "drizzle-orm";
import { dayMs, type Instant } from "../core/time.ts";
import type { Database, Found } from "./database.ts";
import { allOf, existsIn, jsonList, notExistsIn } from "./query.ts";
import {
  acknowledgedEntities,
  anchors,
  ceaseAcknowledgements,
  certificateForms,
  certificateGroups,
  certificates,
  certificateTallies,
  certificateTwins,
  certificateViews,
  disclosures,
  emailCodeFailures,
  emailCodes,
  entityAcknowledgements,
  entityCeaseDeadlines,
  entityLists,
  entityWithdrawals,
  failedMail,
  idempotentResponses,
  mailOutbox,
  matchMisses,
  policyCaptures,
  policySnapshots,
  purposes,
  shareAcknowledgements,
  shareCodes,
  shareNotices,
  shares,
  shareValues,
  withdrawals,
  withdrawalWork,
  withdrawnEntities,
} from "./schema.ts";

/** Long enough to test an integration. The limit on sandbox records has the same period. */
const testRecordLifetimeMs = 30 * dayMs;

// These conditions contain no bound values. Otherwise, SQLite would not use the partial indexes with the same conditions.
const isTestCertificate = sql`${certificates.environment} = 'sandbox'`;
const isTestShare = sql`${shares.environment} = 'sandbox'`;

/**
 * Lists expired test certificates, oldest first. Omits certificates that are waiting for policies, or whose withdrawal is still being
 * applied to other certificates.
 */
export const listExpiredTestCertificates = (db: Database, now: Instant, max: number) => {
  const { ord, id, viewRows, formId, purposeId, acceptedListId, rejectedListId, groupId, policyCaptureId } = certificates;
  return db
    .select({
      ord,
      id,
      viewRows,
      formId,
      disclosureHash: certificateForms.disclosureHash,
      purposeId,
      acceptedListId,
      rejectedListId,
      groupId,
      listId: certificateGroups.entityListId,
      captureId: policyCaptures.ord,
      privacyId: policyCaptures.privacyId,
      termsId: policyCaptures.termsId,
    })
    .from(certificates)
    .innerJoin(certificateForms, eq(certificateForms.id, formId))
    .leftJoin(certificateGroups, eq(certificateGroups.id, groupId))
    .leftJoin(policyCaptures, eq(policyCaptures.ord, policyCaptureId))
    .where(
      allOf(
        isTestCertificate,
        lte(certificates.issuedAt, now - testRecordLifetimeMs),
        isNull(certificates.policyPageId),
        notExistsIn(withdrawalWork, eq(withdrawalWork.certId, id)),
      ),
    )
    .orderBy(certificates.issuedAt)
    .limit(max)
    .all();
};

export type ExpiredTestCertificate = Found<typeof listExpiredTestCertificates>[number];

/** Deletes the given sandbox texts unless a record still uses them. */
const deleteUnusedDisclosures = (db: Database, hashes: readonly string[]) =>
  db
    .delete(disclosures)
    .where(
      allOf(
        inArray(disclosures.hash, jsonList(hashes)),
        eq(disclosures.environment, "sandbox"),
        notExistsIn(certificateForms, eq(certificateForms.disclosureHash, disclosures.hash)),
        notExistsIn(shares, isTestShare, eq(shares.disclosureHash, disclosures.hash)),
      ),
    );

/**
 * Deletes captures that no other certificate uses, and then snapshots that no other capture uses. A job deletes the snapshots' texts from
 * KV later.
 */
const deleteUnusedPolicies = (db: Database, expired: readonly ExpiredTestCertificate[]) => {
  const captures = expired.flatMap(({ captureId }) => captureId ?? []);
  const snapshots = expired.flatMap(({ privacyId, termsId }) => [privacyId, termsId].flatMap((id) => id ?? []));
  return [
    db
      .delete(policyCaptures)
      .where(
        allOf(
          inArray(policyCaptures.ord, jsonList(captures)),
          eq(policyCaptures.environment, "sandbox"),
          notExistsIn(certificates, isTestCertificate, eq(certificates.policyCaptureId, policyCaptures.ord)),
        ),
      ),
    db
      .delete(policySnapshots)
      .where(
        allOf(
          inArray(policySnapshots.id, jsonList(snapshots)),
          notExistsIn(policyCaptures, eq(policyCaptures.privacyId, policySnapshots.id)),
          notExistsIn(policyCaptures, eq(policyCaptures.termsId, policySnapshots.id)),
        ),
      ),
  ];
};

/** Deletes anchored statements. Pending statements are kept, because they must still be sent to the ledger. */
const deleteAnchored = (db: Database, ids: readonly string[]) =>
  db.delete(anchors).where(allOf(inArray(anchors.entityId, jsonList(ids)), eq(anchors.status, "anchored")));

/**
 * Returns the SQL statements that delete test certificates and their rows in other tables, except audit entries and pending anchors. They
 * then delete the forms, groups, purposes, recipients, disclosures and policies that no other certificate uses.
 */
export const deleteTestCertificates = (db: Database, expired: readonly ExpiredTestCertificate[]) => {
  const all = expired.map(({ id }) => id);
  const ids = jsonList(all);
  const groups = jsonList(expired.flatMap(({ groupId }) => groupId ?? []));
  const lists = jsonList(
    expired.flatMap(({ listId, acceptedListId, rejectedListId }) => [listId, acceptedListId, rejectedListId].flatMap((id) => id ?? [])),
  );
  const isEmptyTally = allOf(eq(certificateTallies.active, 0), eq(certificateTallies.revoked, 0));
  const isEmptyGroup = notExistsIn(certificates, eq(certificates.groupId, certificateGroups.id));
  const isUnusedForm = notExistsIn(certificates, isTestCertificate, eq(certificates.formId, certificateForms.id));
  const isUnusedPurpose = notExistsIn(certificateGroups, eq(certificateGroups.purposeId, purposes.id));
  const children = [
    certificateTwins,
    certificateViews,
    matchMisses,
    entityCeaseDeadlines,
    acknowledgedEntities,
    entityAcknowledgements,
    withdrawnEntities,
    entityWithdrawals,
    ceaseAcknowledgements,
    withdrawals,
    emailCodes,
    emailCodeFailures,
    idempotentResponses,
    mailOutbox,
    failedMail,
  ];
  return [
    ...children.map((table) => db.delete(table).where(inArray(table.certId, ids))),
    deleteAnchored(db, all),
    db.delete(certificates).where(inArray(certificates.id, ids)),
    db.delete(certificateForms).where(allOf(inArray(certificateForms.id, jsonList(expired.map(({ formId }) => formId))), isUnusedForm)),
    db.delete(certificateTallies).where(allOf(inArray(certificateTallies.groupId, groups), isEmptyTally)),
    db.delete(certificateGroups).where(allOf(inArray(certificateGroups.id, groups), isEmptyGroup)),
    db.delete(purposes).where(allOf(inArray(purposes.id, jsonList(expired.map(({ purposeId }) => purposeId))), isUnusedPurpose)),
    db
      .delete(entityLists)
      .where(
        allOf(
          inArray(entityLists.id, lists),
          eq(entityLists.environment, "sandbox"),
          notExistsIn(certificateGroups, eq(certificateGroups.entityListId, entityLists.id)),
          sql`not ${or(
            existsIn(certificates, isTestCertificate, eq(certificates.acceptedListId, entityLists.id)),
            existsIn(certificates, isTestCertificate, eq(certificates.rejectedListId, entityLists.id)),
          )}`,
        ),
      ),
    deleteUnusedDisclosures(
      db,
      expired.map(({ disclosureHash }) => disclosureHash),
    ),
    ...deleteUnusedPolicies(db, expired),
  ];
};

/** Lists expired test shares, oldest first. Uses the real time instead of the sandbox clock. */
export const listExpiredTestShares = (db: Database, now: Instant, max: number) =>
  db
    .select({ id: shares.id, disclosureHash: shares.disclosureHash })
    .from(shares)
    .where(allOf(isTestShare, lte(shares.storedAt, now - testRecordLifetimeMs)))
    .orderBy(shares.storedAt)
    .limit(max)
    .all();

export type ExpiredTestShare = Found<typeof listExpiredTestShares>[number];

/**
 * Returns the statements that delete test shares, including active ones, with their values and unused disclosures. Businesses get no events
 * about the deletion.
 */
export const deleteTestShares = (db: Database, expired: readonly ExpiredTestShare[]) => {
  const all = expired.map(({ id }) => id);
  const ids = jsonList(all);
  return [
    ...[shareValues, shareCodes, shareAcknowledgements, shareNotices].map((table) => db.delete(table).where(inArray(table.shareId, ids))),
    deleteAnchored(db, all),
    db.delete(shares).where(inArray(shares.id, ids)),
    deleteUnusedDisclosures(
      db,
      expired.map(({ disclosureHash }) => disclosureHash),
    ),
  ];
};
