// What a business has to have done by when: certificates that people withdrew from and shares they stopped, as long as nobody has said
// that contact has ended: of a whole certificate, or of recipients of it. By the indexes of deadlines, the earliest first.
import { and, eq, gt, isNull, sql } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database, Found } from "./database.ts";
import { createLookup } from "./lookups.ts";
import { ceaseAcknowledgements, certificates, entityCeaseDeadlines, entityWithdrawals, purposes, shares, withdrawals } from "./schema.ts";

/** Overdue first, because they were due first. Each with the certificate or share, and the person, masked, of a certificate. */
export const listOpenDeadlines = (
  db: Database,
  { businessId, environment }: { readonly businessId: BusinessId; readonly environment: Environment },
  max: number,
) => {
  const ofWhole = db
    .select({
      id: withdrawals.certId,
      ceaseBy: withdrawals.ceaseBy,
      withdrawnAt: withdrawals.withdrawnAt,
      purpose: purposes.purpose,
      person: certificates.subjectMasked,
    })
    .from(withdrawals)
    .innerJoin(certificates, eq(certificates.id, withdrawals.certId))
    .innerJoin(purposes, eq(purposes.id, certificates.purposeId))
    .leftJoin(ceaseAcknowledgements, eq(ceaseAcknowledgements.certId, withdrawals.certId))
    .where(and(eq(withdrawals.businessId, businessId), eq(withdrawals.environment, environment), isNull(ceaseAcknowledgements.certId)))
    .orderBy(withdrawals.ceaseBy)
    .limit(max + 1);
  const ofShares = db
    .select({
      id: shares.id,
      ceaseBy: sql<Instant>`${shares.ceaseBy}`,
      withdrawnAt: sql<Instant>`${shares.revokedAt}`,
      purpose: shares.purpose,
    })
    .from(shares)
    .where(and(eq(shares.businessId, businessId), eq(shares.environment, environment), eq(shares.state, "revoked"), gt(shares.ceaseBy, 0)))
    .orderBy(shares.ceaseBy)
    .limit(max + 1);
  const ofRecipients = db
    .select({
      id: entityCeaseDeadlines.certId,
      ceaseBy: entityCeaseDeadlines.ceaseBy,
      withdrawnAt: entityWithdrawals.withdrawnAt,
      purpose: purposes.purpose,
      person: certificates.subjectMasked,
    })
    .from(entityCeaseDeadlines)
    .innerJoin(
      entityWithdrawals,
      and(eq(entityWithdrawals.certId, entityCeaseDeadlines.certId), eq(entityWithdrawals.number, entityCeaseDeadlines.number)),
    )
    .innerJoin(certificates, eq(certificates.id, entityCeaseDeadlines.certId))
    .innerJoin(purposes, eq(purposes.id, certificates.purposeId))
    .where(and(eq(entityCeaseDeadlines.businessId, businessId), eq(entityCeaseDeadlines.environment, environment)))
    .orderBy(entityCeaseDeadlines.ceaseBy)
    .limit(max + 1);
  return createLookup(db, [ofWhole, ofShares, ofRecipients], ([whole, stopped, single]) => {
    const deadlines = [
      ...whole.map((row) => ({ ...row, kind: "certificate" as const })),
      ...single.map((row) => ({ ...row, kind: "recipients" as const })),
      ...stopped.map((row) => ({ ...row, kind: "share" as const, person: null })),
    ].sort((a, b) => a.ceaseBy - b.ceaseBy || (a.id < b.id ? -1 : 1));
    return { deadlines: deadlines.slice(0, max), hasMore: deadlines.length > max };
  });
};

export type DeadlinePage = Found<typeof listOpenDeadlines>;
export type Deadline = DeadlinePage["deadlines"][number];
