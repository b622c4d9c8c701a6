// Erasing the person of a certificate: everything sealed about them goes, and with each value its only key; so do the indexes that
// find them, and whatever waits or is kept elsewhere because of them. Triggers let exactly this through, once.
import { count, eq, gt, inArray, isNotNull, isNull, lte, min, or, type SQL } from "drizzle-orm";
import type { ErasableCertificate } from "../core/certificates/erasure.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { businessChainFields } from "./accounts.ts";
import type { Database, Found } from "./database.ts";
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
  mailOutbox,
  withdrawals,
  withdrawalWork,
} from "./schema.ts";

const { id, businessId, fingerprint, subjectErasedAt, retentionUntil, viewRows } = certificates;

/** The certificate of this business; null for an unknown one and for somebody else's, alike. */
export const findErasableCertificate = async (
  db: Database,
  asked: { readonly certId: CertId; readonly businessId: BusinessId },
): Promise<{ readonly certificate: ErasableCertificate; readonly erasedAt: Instant | null } | null> => {
  const row = await db
    .select({ id, fingerprint, chain: businessChainFields, erasedAt: subjectErasedAt })
    .from(certificates)
    .innerJoin(businesses, eq(businesses.id, businessId))
    .where(allOf(eq(id, asked.certId), eq(businessId, asked.businessId)))
    .get();
  if (row === undefined) return null;
  const { erasedAt, ...certificate } = row;
  return { certificate, erasedAt };
};

/**
 * The rows of an erasure. The certificate comes first: what else is the person's may change only once they are erased. The trail
 * of views goes as a whole, its count stays. It fails when one of them was erased already.
 */
export const eraseSubjects = (db: Database, certIds: readonly CertId[], now: Instant) => {
  const ids = jsonList(certIds);
  return [
    db
      .update(certificates)
      .set({
        subjectMasked: {},
        subjectSealed: null,
        subjectErasedAt: now,
        emailIndex: null,
        phoneIndex: null,
        evidenceSealed: "",
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
  ] as const;
};

/** True when the batch failed because somebody else had erased one of them. */
export const isAlreadyErased = (error: unknown): boolean => isTriggerError(error, "the person of a certificate is erased once, as a whole");

/**
 * Whose time has passed. A withdrawal that the recipients still have days to follow keeps its person findable until then, so that
 * whoever is about to call can be told not to; so does one that is still being carried to the person's other certificates.
 */
const isErasureDue = (now: Instant) => {
  const { addressIndex } = withdrawalWork;
  const isOfPerson = or(eq(addressIndex, certificates.emailIndex), eq(addressIndex, certificates.phoneIndex)) as SQL;
  return allOf(
    isNull(subjectErasedAt),
    lte(retentionUntil, now),
    notExistsIn(withdrawals, eq(withdrawals.certId, id), gt(withdrawals.ceaseBy, now)),
    notExistsIn(entityWithdrawals, eq(entityWithdrawals.certId, id), gt(entityWithdrawals.ceaseBy, now)),
    notExistsIn(withdrawalWork, eq(withdrawalWork.businessId, businessId), isOfPerson),
  );
};

/** Those whose time passed longest ago, each with how many opens of its page go with it. */
export const listDueErasures = (db: Database, now: Instant, max: number) =>
  db
    .select({ id, fingerprint, chain: businessChainFields, viewRows })
    .from(certificates)
    .innerJoin(businesses, eq(businesses.id, businessId))
    .where(isErasureDue(now))
    .orderBy(retentionUntil)
    .limit(max)
    .all();

export type DueErasure = Found<typeof listDueErasures>[number];

/** How many are left, and since when the oldest is due. */
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
