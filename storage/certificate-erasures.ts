// Erases the personal data of a certificate: sealed values with their only keys, the blind indexes of the person, the view trail, and
// waiting emails and saved responses. Triggers allow exactly this change, and only once. SPEC Certificate.
import { count, eq, gt, inArray, isNotNull, isNull, lte, min, sql } from "drizzle-orm";
import type { ErasableCertificate } from "../core/certificates/erasure.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { businessChainFields } from "./accounts.ts";
import { hasAddress } from "./certificate-addresses.ts";
import type { Database } from "./database.ts";
import { isTriggerError } from "./faults.ts";
import { allOf, jsonList, notExistsIn } from "./query.ts";
import {
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
  withdrawals,
  withdrawalWork,
} from "./schema.ts";

const { id, businessId, fingerprint, subjectErasedAt, retentionUntil, viewRows } = certificates;

/** Returns null if the certificate is unknown or belongs to another business. */
export const findErasableCertificate = async (
  db: Database,
  ref: { readonly certId: CertId; readonly businessId: BusinessId },
): Promise<{ readonly certificate: ErasableCertificate; readonly erasedAt: Instant | null } | null> => {
  const row = await db
    .select({ id, fingerprint, chain: businessChainFields, erasedAt: subjectErasedAt })
    .from(certificates)
    .innerJoin(businesses, eq(businesses.id, businessId))
    .where(allOf(eq(id, ref.certId), eq(businessId, ref.businessId)))
    .get();
  if (row === undefined) return null;
  const { erasedAt, ...certificate } = row;
  return { certificate, erasedAt };
};

/**
 * Returns the statements that erase certificates. The view counts stay. The update of the certificates comes first, because triggers
 * protect the other personal data until then. The batch fails if one of the certificates has already been erased. `isAlreadyErased`
 * recognizes the error.
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
        manageTokenHash: "",
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

/**
 * Builds a condition that is true if the retention period has ended and no withdrawal delays the erasure. A withdrawal delays it until its
 * deadline, so that contact checks still find the person, and until it has been applied to the person's other certificates.
 */
const isErasureDue = (now: Instant) => {
  const isOfPerson = sql`exists (select 1 from json_each(${withdrawalWork.addressIndexes}) address where ${hasAddress(sql`address.value`)})`;
  return allOf(
    isNull(subjectErasedAt),
    lte(retentionUntil, now),
    notExistsIn(withdrawals, eq(withdrawals.certId, id), gt(withdrawals.ceaseBy, now)),
    notExistsIn(entityWithdrawals, eq(entityWithdrawals.certId, id), gt(entityWithdrawals.ceaseBy, now)),
    notExistsIn(withdrawalWork, eq(withdrawalWork.businessId, businessId), isOfPerson),
  );
};

/** Lists the certificates that are due for erasure, most overdue first. */
export const listDueErasures = (db: Database, now: Instant, max: number) =>
  db
    .select({ id, fingerprint, chain: businessChainFields, viewRows })
    .from(certificates)
    .innerJoin(businesses, eq(businesses.id, businessId))
    .where(isErasureDue(now))
    .orderBy(retentionUntil)
    .limit(max)
    .all();

/** Counts the due erasures and returns when the oldest became due. */
export const countDueErasures = async (
  db: Database,
  now: Instant,
): Promise<{ readonly left: number; readonly oldestDue: Instant | null }> => {
  const row = await db
    .select({ left: count(), oldestDue: min(retentionUntil) })
    .from(certificates)
    .where(isErasureDue(now))
    .get();
  return row ?? { left: 0, oldestDue: null };
};
