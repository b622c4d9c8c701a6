// A business's open deadlines: withdrawals (of whole certificates or for individual recipients) and revoked shares that the business has
// not acknowledged yet. Read from deadline indexes, soonest first. SPEC Withdrawal.
import { and, eq, gt, isNull, sql } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database, Found } from "./database.ts";
import { createLookup } from "./lookups.ts";
import { ceaseAcknowledgements, certificates, entityCeaseDeadlines, entityWithdrawals, purposes, shares, withdrawals } from "./schema.ts";

/**
 * Lists up to `max` open deadlines with their certificates or shares, soonest first, so that overdue deadlines come first. For
 * certificates, includes the masked person.
 */
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
