// What a business's own records say about an address or a number, and whether a guess at a certificate's is right. Both look
// up blind indexes; nothing is opened.
import { and, desc, eq, gt, inArray, lt, not, or, sql, type SQL } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import { getContactReason, type ContactBasis } from "../core/contact/verdict.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import { getShareStatus } from "../core/shares/share.ts";
import type { Instant } from "../core/time.ts";
import { entitiesField, sortWithdrawnEntities, withdrawnEntitiesField } from "./entity-withdrawals.ts";
import { batch, type Database } from "./database.ts";
import { ownerTime } from "./sandbox-clocks.ts";
import { certificates, entityWithdrawals, matchMisses, purposes, shares, withdrawals, withdrawnEntities } from "./schema.ts";
import { allOf, listContains, query } from "./query.ts";

/** Whose contact is asked about: where both are given, a record with either counts. */
export type SubjectIndexes = Readonly<Record<"email" | "phone", string | null>>;

const maxBasisRecords = 20; // records of one person with one business; more prove nothing more

type IndexName = "emailIndex" | "phoneIndex";
const hasNoAcceptedEntities = sql`${certificates.entitiesAccepted} is '[]'`;

/** The person declined the recipient that is asked about, or each they were asked about. */
const isRejectedEntity = (entity: string | null): SQL =>
  entity === null ? hasNoAcceptedEntities : sql`(${hasNoAcceptedEntities} or ${listContains(certificates.entitiesRejected, entity)})`;

/** It names the recipient; where each was asked about, the person was asked about this one. */
const isAboutEntity = (entity: string): SQL => {
  const { entitiesAccepted, entitiesRejected } = certificates;
  const isAnswered = sql`(${listContains(entitiesAccepted, entity)} or ${listContains(entitiesRejected, entity)})`;
  return sql`(${listContains(entitiesField, entity)} and (${entitiesAccepted} is null or ${hasNoAcceptedEntities} or ${isAnswered}))`;
};

/** When the contact of that recipient must have ceased, where the person withdrew from it; null otherwise. */
const entityCeaseByField = (entity: string | null): SQL<number | null> => {
  if (entity === null) return sql<number | null>`null`;
  const { certId, number } = withdrawnEntities;
  const act = query
    .select({ ceaseBy: entityWithdrawals.ceaseBy })
    .from(withdrawnEntities)
    .innerJoin(entityWithdrawals, allOf(eq(entityWithdrawals.certId, certId), eq(entityWithdrawals.number, number)))
    .where(allOf(eq(certId, certificates.id), eq(withdrawnEntities.entity, entity)));
  return sql<number | null>`${act}`;
};

interface ContactQuery {
  readonly businessId: BusinessId;
  readonly environment: Environment;
  readonly subjects: readonly SubjectIndexes[];
  /** Exactly as on the record. */
  readonly entity: string | null;
  readonly purpose: string | null;
}

const subjectRows = (values: readonly (string | null)[]): SQL => sql`json_each(${JSON.stringify(values)}) j`;
const subjectField = sql<number>`j.key`.as("subject");

const selectCertificatesBy = (db: Database, asked: ContactQuery, index: IndexName, values: readonly (string | null)[]) => {
  const { businessId, environment, entity, purpose } = asked;
  const { id, status, issuedAt, ord } = certificates;
  const rejected = isRejectedEntity(entity);
  const entityCeaseBy = entityCeaseByField(entity);
  const foremost = query
    .select({ ord })
    .from(certificates)
    .innerJoin(purposes, eq(purposes.id, certificates.purposeId))
    .where(
      and(
        sql`${certificates[index]} = j.value`,
        eq(certificates.businessId, businessId),
        eq(certificates.environment, environment),
        entity === null ? undefined : isAboutEntity(entity),
        purpose === null ? undefined : eq(purposes.purpose, purpose),
      ),
    )
    .orderBy(desc(allOf(eq(status, "active"), sql`not (${rejected})`, sql`${entityCeaseBy} is null`)), desc(issuedAt))
    .limit(maxBasisRecords);
  return db
    .select({
      subject: subjectField,
      id,
      status,
      ceaseBy: withdrawals.ceaseBy,
      at: issuedAt,
      isRejected: sql<number>`${rejected}`.mapWith(Boolean).as("is_rejected"),
      entityCeaseBy: sql<number | null>`${entityCeaseBy}`.as("entity_cease_by"),
    })
    .from(subjectRows(values))
    .innerJoin(certificates, inArray(ord, foremost))
    .leftJoin(withdrawals, eq(withdrawals.certId, id));
};

/**
 * A share is a consent towards the business alone, so a question about a recipient is answered by shares only where the recipient is
 * the business under the name it was shown with.
 */
const selectSharesBy = (db: Database, asked: ContactQuery, index: IndexName, values: readonly (string | null)[], now: Instant) => {
  const { businessId, environment, entity, purpose } = asked;
  const { id, state, expiresAt, ceaseBy, createdAt, ord } = shares;
  const foremost = query
    .select({ ord })
    .from(shares)
    .where(
      and(
        sql`${shares[index]} = j.value`,
        eq(shares.businessId, businessId),
        eq(shares.environment, environment),
        entity === null ? undefined : eq(shares.businessName, entity),
        purpose === null ? undefined : eq(shares.purpose, purpose),
      ),
    )
    .orderBy(desc(allOf(eq(state, "active"), gt(expiresAt, ownerTime(asked, now)))), desc(createdAt))
    .limit(maxBasisRecords);
  return db
    .select({ subject: subjectField, id, state, expiresAt, ceaseBy, at: createdAt, asOf: ownerTime(asked, now).as("as_of") })
    .from(subjectRows(values))
    .innerJoin(shares, inArray(ord, foremost));
};

/** For each subject, the records about it: what grants contact first, then the newest. One round trip. */
export const listContactBasis = async (db: Database, asked: ContactQuery, now: Instant): Promise<readonly (readonly ContactBasis[])[]> => {
  const emails = asked.subjects.map(({ email }) => email);
  const phones = asked.subjects.map(({ phone }) => phone);
  const [certsByEmail, certsByPhone, sharesByEmail, sharesByPhone] = await batch(db, [
    selectCertificatesBy(db, asked, "emailIndex", emails),
    selectCertificatesBy(db, asked, "phoneIndex", phones),
    selectSharesBy(db, asked, "emailIndex", emails, now),
    selectSharesBy(db, asked, "phoneIndex", phones, now),
  ]);
  const found = asked.subjects.map(() => new Map<string, { readonly at: Instant; readonly basis: ContactBasis }>());
  for (const { subject: of, at, id, status, ceaseBy, entityCeaseBy, isRejected: rejected } of [...certsByEmail, ...certsByPhone]) {
    const isWithdrawn = entityCeaseBy !== null;
    const basis: ContactBasis = { type: "cert", id, status, ceaseBy: entityCeaseBy ?? ceaseBy, isRejected: rejected, isWithdrawn };
    found[of]?.set(id, { at, basis });
  }
  for (const { subject: of, at, id, state, expiresAt, ceaseBy, asOf } of [...sharesByEmail, ...sharesByPhone]) {
    found[of]?.set(id, { at, basis: { type: "share", id, status: getShareStatus(state, expiresAt, asOf), ceaseBy } });
  }
  const grants = ({ basis }: { readonly basis: ContactBasis }): number => (getContactReason(basis) === "active_consent" ? 1 : 0);
  return found.map((records) => [...records.values()].sort((a, b) => grants(b) - grants(a) || b.at - a.at).map(({ basis }) => basis));
};

/** What a guess is judged by. Nobody can be compared with a person who was erased. */
export const findMatchableCertificate = async (db: Database, certId: CertId) => {
  const { businessId, environment, status, entitiesAccepted: accepted, subjectErasedAt } = certificates;
  const isErased = sql`${subjectErasedAt} is not null`.mapWith(Boolean);
  const row = await db
    .select({ businessId, environment, status, entities: entitiesField, accepted, isErased, entitiesWithdrawn: withdrawnEntitiesField })
    .from(certificates)
    .where(eq(certificates.id, certId))
    .get();
  if (row === undefined) return null;
  return { ...row, answered: row.accepted && { accepted: row.accepted }, entitiesWithdrawn: sortWithdrawnEntities(row.entitiesWithdrawn) };
};

const maxDailyMisses = 20;

/** Null where it was not asked about. */
export type SubjectComparison = Readonly<Record<"email" | "phone", boolean | null>>;

/**
 * Compares and counts a miss in one statement, so that no number of guesses at once gets past the limit. Null when the
 * day's misses are used up.
 */
export const compareSubject = async (
  db: Database,
  certId: CertId,
  guess: SubjectIndexes,
  day: number,
): Promise<SubjectComparison | null> => {
  const { misses } = matchMisses;
  const kept = (index: IndexName) => query.select({ kept: certificates[index] }).from(certificates).where(eq(certificates.id, certId));
  const isHit = (index: IndexName, value: string | null) => (value === null ? null : sql<number>`${kept(index)} is ${value}`);
  const email = isHit("emailIndex", guess.email);
  const phone = isHit("phoneIndex", guess.phone);
  const isMiss = or(...[email, phone].map((hit) => (hit === null ? undefined : not(hit)))) ?? sql`false`;
  const [, [compared]] = await batch(db, [
    db.insert(matchMisses).values({ certId, day }).onConflictDoNothing(),
    db
      .update(matchMisses)
      .set({ misses: sql`${misses} + (${isMiss})` })
      .where(allOf(eq(matchMisses.certId, certId), eq(matchMisses.day, day), lt(misses, maxDailyMisses)))
      .returning({
        email: sql<number | null>`${email}`.mapWith(Boolean).as("email"),
        phone: sql<number | null>`${phone}`.mapWith(Boolean).as("phone"),
      }),
  ]);
  return compared ?? null;
};
