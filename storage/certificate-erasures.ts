// Erases the personal data of a certificate: sealed values and their keys, the person's blind indexes, the view trail, unsent emails and
// idempotent responses. Triggers ensure that an erasure is complete and happens only once. SPEC Certificate.
import { count, eq, inArray, isNotNull, isNull, lte, max, min, notInArray, sql, type SQL, type SQLWrapper } from "drizzle-orm";
import type { ErasableCertificate } from "../core/certificates/erasure.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { businessChainFields } from "./accounts.ts";
import { hasAddress } from "./certificate-addresses.ts";
import { batch, type Database } from "./database.ts";
import { isTriggerError } from "./faults.ts";
import { allOf, jsonList, notExistsIn, query } from "./query.ts";
import {
  accountWithdrawals,
  businesses,
  ceaseAcknowledgements,
  certificates,
  certificateViews,
  entityAcknowledgements,
  entityWithdrawals,
  idempotentResponses,
  emailCodeFailures,
  emailCodes,
  failedMail,
  mailOutbox,
  retentionBlocks,
  withdrawals,
  withdrawalWork,
} from "./schema.ts";

const { id, businessId, status, fingerprint, subjectErasedAt, retentionUntil, viewRows } = certificates;

/**
 * Builds a condition that is true if no withdrawal is being applied to the person's certificates. An erasure would hide the certificates
 * from the withdrawal.
 */
const hasNoUnfinishedWithdrawal = (): SQL => {
  const { addressIndex, businessId: ofBusiness } = accountWithdrawals;
  const isOfPerson = sql`exists (select 1 from json_each(${withdrawalWork.addressIndexes}) address where ${hasAddress(sql`address.value`)})`;
  return allOf(
    notExistsIn(withdrawalWork, eq(withdrawalWork.businessId, businessId), isOfPerson),
    notExistsIn(accountWithdrawals, sql`${ofBusiness} in (${businessId}, '')`, hasAddress(sql`${addressIndex}`)),
  );
};

export interface CertificateToErase {
  readonly certificate: ErasableCertificate;
  readonly erasedAt: Instant | null;
  /** True if the certificate is active and a withdrawal is being applied to the person's certificates. */
  readonly mayBeWithdrawn: boolean;
}

/** Finds a certificate to erase. Returns null if the certificate is unknown or belongs to another business. */
export const findErasableCertificate = async (
  db: Database,
  ref: { readonly certId: CertId; readonly businessId: BusinessId },
): Promise<CertificateToErase | null> => {
  const row = await db
    .select({
      id,
      fingerprint,
      chain: businessChainFields,
      erasedAt: subjectErasedAt,
      mayBeWithdrawn: sql`${status} = 'active' and not (${hasNoUnfinishedWithdrawal()})`.mapWith(Boolean),
    })
    .from(certificates)
    .innerJoin(businesses, eq(businesses.id, businessId))
    .where(allOf(eq(id, ref.certId), eq(businessId, ref.businessId)))
    .get();
  if (row === undefined) return null;
  const { erasedAt, mayBeWithdrawn, ...certificate } = row;
  return { certificate, erasedAt, mayBeWithdrawn };
};

/**
 * Returns the statements that erase the personal data of certificates. View counts are kept. The statement that marks the certificates as
 * erased must come first, because before that, triggers protect their rows in other tables. The batch fails if one of the certificates is
 * already erased (`isAlreadyErased`).
 */
export const eraseSubjects = (db: Database, certIds: readonly CertId[], now: Instant) => {
  const ids = jsonList(certIds);
  return [
    db
      .update(certificates)
      .set({
        subjectMasked: {},
        personSealed: null,
        subjectErasedAt: now,
        emailIndexes: null,
        phoneIndexes: null,
        viewRows: 0,
      })
      .where(inArray(id, ids)),
    db.delete(certificateViews).where(inArray(certificateViews.certId, ids)),
    db
      .update(withdrawals)
      .set({ noteSealed: null })
      .where(allOf(inArray(withdrawals.certId, ids), isNotNull(withdrawals.noteSealed))),
    db
      .update(entityWithdrawals)
      .set({ noteSealed: null })
      .where(allOf(inArray(entityWithdrawals.certId, ids), isNotNull(entityWithdrawals.noteSealed))),
    db.update(entityAcknowledgements).set({ detailsSealed: "" }).where(inArray(entityAcknowledgements.certId, ids)),
    db.update(ceaseAcknowledgements).set({ detailsSealed: "" }).where(inArray(ceaseAcknowledgements.certId, ids)),
    db.delete(emailCodes).where(inArray(emailCodes.certId, ids)),
    db.delete(emailCodeFailures).where(inArray(emailCodeFailures.certId, ids)),
    db.delete(idempotentResponses).where(inArray(idempotentResponses.certId, ids)),
    db.delete(mailOutbox).where(inArray(mailOutbox.certId, ids)),
    db.delete(failedMail).where(inArray(failedMail.certId, ids)),
  ] as const;
};

export const isAlreadyErased = (error: unknown): boolean =>
  isTriggerError(error, "the person of a certificate can be erased only once and only completely");

const latestDeadline = (table: typeof withdrawals | typeof entityWithdrawals): SQL =>
  sql`coalesce(${query
    .select({ latest: max(table.ceaseBy) })
    .from(table)
    .where(eq(table.certId, id))}, 0)`;

/**
 * Selects the time at which a certificate can be erased. This is the end of its retention period or the last cease deadline of its
 * withdrawals, whichever is later. Until a cease deadline, contact checks must find the person.
 */
const erasableAt = sql<Instant>`max(${retentionUntil}, ${latestDeadline(withdrawals)}, ${latestDeadline(entityWithdrawals)})`;

/** Builds a condition that is true if a certificate must be erased now. */
const isErasureDue = (now: Instant): SQL => allOf(isNull(subjectErasedAt), sql`${erasableAt} <= ${now}`, hasNoUnfinishedWithdrawal());

/** The maximum number of blocks that one query reads. A block has at most 2,000 certificates. */
const maxBlocks = 4;

const { firstOrd, lastOrd, nextDue } = retentionBlocks;
const isInBlock = sql`${certificates.ord} between ${firstOrd} and ${lastOrd}`;

const isBlockDue = (now: Instant, except: readonly number[]): SQL => allOf(lte(nextDue, now), notInArray(firstOrd, jsonList(except)));

const selectDueBlocks = (now: Instant, except: readonly number[]) =>
  query.select({ firstOrd, lastOrd }).from(retentionBlocks).where(isBlockDue(now, except)).orderBy(nextDue);

/** Builds a condition that is true if a certificate is in one of the blocks. */
const isInBlocks = (blocks: SQLWrapper): SQL =>
  inArray(certificates.ord, sql`(select c.ord from ${blocks} b cross join ${certificates} c on c.ord between b.first_ord and b.last_ord)`);

/**
 * Finds certificates that are due for erasure, sorted by the end of their retention period, each with its number of view rows. Reads only
 * the blocks that have been due for the longest time, and none of those in `except`. Also returns all blocks that were read, so that the
 * caller can pass them to `updateBlocks`.
 */
export const findDueErasures = async (db: Database, now: Instant, maxCertificates: number, except: readonly number[]) => {
  const [blocks, due] = await batch(db, [
    db.select({ firstOrd }).from(retentionBlocks).where(isBlockDue(now, except)).orderBy(nextDue).limit(maxBlocks),
    db
      .select({ id, fingerprint, chain: businessChainFields, viewRows })
      .from(certificates)
      .innerJoin(businesses, eq(businesses.id, businessId))
      .where(allOf(isInBlocks(selectDueBlocks(now, except).limit(maxBlocks)), isErasureDue(now)))
      .orderBy(retentionUntil)
      .limit(maxCertificates),
  ]);
  return { blocks: blocks.map((block) => block.firstOrd), certificates: due };
};

/** Returns the statements that delete blocks whose certificates are all erased, and set the next due time of the other blocks. */
export const updateBlocks = (db: Database, blocks: readonly number[]) => {
  const isGiven = inArray(firstOrd, jsonList(blocks));
  const next = query
    .select({ next: min(erasableAt) })
    .from(certificates)
    .where(allOf(isInBlock, isNull(subjectErasedAt)));
  return [
    db.delete(retentionBlocks).where(allOf(isGiven, notExistsIn(certificates, isInBlock, isNull(subjectErasedAt)))),
    db
      .update(retentionBlocks)
      .set({ nextDue: sql`${next}` })
      .where(isGiven),
  ] as const;
};

/** Counts the due erasures. `oldestDue` is the earliest end of a retention period among them, or null if there are none. */
export const countDueErasures = async (
  db: Database,
  now: Instant,
): Promise<{ readonly left: number; readonly oldestDue: Instant | null }> => {
  const row = await db
    .select({ left: count(), oldestDue: min(retentionUntil) })
    .from(certificates)
    .where(allOf(isInBlocks(selectDueBlocks(now, [])), isErasureDue(now)))
    .get();
  return row ?? { left: 0, oldestDue: null };
};
