// What a business's own records say about an address or a number, and whether a guess at a certificate's is right. Both look
// up blind indexes; nothing is opened.
import { and, desc, eq, gt, inArray, lt, not, or, sql, type SQL } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import { reasonOf, type ContactBasis } from "../core/contact/verdict.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import { statusAt } from "../core/shares/share.ts";
import type { Instant } from "../core/time.ts";
import { entitiesField, inOrder, withdrawnEntitiesField } from "./entity-withdrawals.ts";
import { batch, type Database } from "./database.ts";
import { timeOfOwner } from "./sandbox-clocks.ts";
import { certificates, entityWithdrawals, matchMisses, purposes, shares, withdrawals, withdrawnEntities } from "./schema.ts";
import { allOf, listHolds, query } from "./query.ts";

/** Whose contact is asked about: where both are given, a record with either counts. */
export type SubjectIndexes = Readonly<Record<"email" | "phone", string | null>>;

const maxBasis = 20; // records of one person with one business; more prove nothing more

type IndexName = "emailIndex" | "phoneIndex";
const agreedToNobody = sql`${certificates.entitiesAccepted} is '[]'`;

/** The person declined the recipient that is asked about, or each they were asked about. */
const isRejected = (entity: string | null): SQL =>
  entity === null ? agreedToNobody : sql`(${agreedToNobody} or ${listHolds(certificates.entitiesRejected, entity)})`;

/** It names the recipient; where each was asked about, the person was asked about this one. */
const isAbout = (entity: string): SQL => {
  const { entitiesAccepted, entitiesRejected } = certificates;
  const isAnswered = sql`(${listHolds(entitiesAccepted, entity)} or ${listHolds(entitiesRejected, entity)})`;
  return sql`(${listHolds(entitiesField, entity)} and (${entitiesAccepted} is null or ${agreedToNobody} or ${isAnswered}))`;
};

/** When the contact of that recipient must have ceased, where the person withdrew from it; null otherwise. */
const ceaseByOf = (entity: string | null): SQL<number | null> => {
  if (entity === null) return sql<number | null>`null`;
  const { certId, number } = withdrawnEntities;
  const act = query
    .select({ ceaseBy: entityWithdrawals.ceaseBy })
    .from(withdrawnEntities)
    .innerJoin(entityWithdrawals, allOf(eq(entityWithdrawals.certId, certId), eq(entityWithdrawals.number, number)))
    .where(allOf(eq(certId, certificates.id), eq(withdrawnEntities.entity, entity)));
  return sql<number | null>`${act}`;
};

interface AskedRecords {
  readonly businessId: BusinessId;
  readonly environment: Environment;
  readonly subjects: readonly SubjectIndexes[];
  /** Exactly as on the record. */
  readonly entity: string | null;
  readonly purpose: string | null;
}

const eachSubject = (values: readonly (string | null)[]): SQL => sql`json_each(${JSON.stringify(values)}) j`;
const subject = sql<number>`j.key`.as("subject");

const certificatesBy = (db: Database, asked: AskedRecords, index: IndexName, values: readonly (string | null)[]) => {
  const { businessId, environment, entity, purpose } = asked;
  const { id, status, issuedAt, ord } = certificates;
  const rejected = isRejected(entity);
  const entityCeaseBy = ceaseByOf(entity);
  const foremost = query
    .select({ ord })
    .from(certificates)
    .innerJoin(purposes, eq(purposes.id, certificates.purposeId))
    .where(
      and(
        sql`${certificates[index]} = j.value`,
        eq(certificates.businessId, businessId),
        eq(certificates.environment, environment),
        entity === null ? undefined : isAbout(entity),
        purpose === null ? undefined : eq(purposes.purpose, purpose),
      ),
    )
    .orderBy(desc(allOf(eq(status, "active"), sql`not (${rejected})`, sql`${entityCeaseBy} is null`)), desc(issuedAt))
    .limit(maxBasis);
  return db
    .select({
      subject,
      id,
      status,
      ceaseBy: withdrawals.ceaseBy,
      at: issuedAt,
      isRejected: sql<number>`${rejected}`.mapWith(Boolean).as("is_rejected"),
      entityCeaseBy: sql<number | null>`${entityCeaseBy}`.as("entity_cease_by"),
    })
    .from(eachSubject(values))
    .innerJoin(certificates, inArray(ord, foremost))
    .leftJoin(withdrawals, eq(withdrawals.certId, id));
};

/**
 * A share is a consent towards the business alone, so a question about a recipient is answered by shares only where the recipient is
 * the business under the name it was shown with.
 */
const sharesBy = (db: Database, asked: AskedRecords, index: IndexName, values: readonly (string | null)[], now: Instant) => {
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
    .orderBy(desc(allOf(eq(state, "active"), gt(expiresAt, timeOfOwner(asked, now)))), desc(createdAt))
    .limit(maxBasis);
  return db
    .select({ subject, id, state, expiresAt, ceaseBy, at: createdAt, asOf: timeOfOwner(asked, now).as("as_of") })
    .from(eachSubject(values))
    .innerJoin(shares, inArray(ord, foremost));
};

/** For each subject, the records about it: what grants contact first, then the newest. One round trip. */
export const contactBasis = async (db: Database, asked: AskedRecords, now: Instant): Promise<readonly (readonly ContactBasis[])[]> => {
  const emails = asked.subjects.map(({ email }) => email);
  const phones = asked.subjects.map(({ phone }) => phone);
  const [certsByEmail, certsByPhone, sharesByEmail, sharesByPhone] = await batch(db, [
    certificatesBy(db, asked, "emailIndex", emails),
    certificatesBy(db, asked, "phoneIndex", phones),
    sharesBy(db, asked, "emailIndex", emails, now),
    sharesBy(db, asked, "phoneIndex", phones, now),
  ]);
  const found = asked.subjects.map(() => new Map<string, { readonly at: Instant; readonly basis: ContactBasis }>());
  for (const { subject: of, at, id, status, ceaseBy, entityCeaseBy, isRejected: rejected } of [...certsByEmail, ...certsByPhone]) {
    const isWithdrawn = entityCeaseBy !== null;
    const basis: ContactBasis = { type: "cert", id, status, ceaseBy: entityCeaseBy ?? ceaseBy, isRejected: rejected, isWithdrawn };
    found[of]?.set(id, { at, basis });
  }
  for (const { subject: of, at, id, state, expiresAt, ceaseBy, asOf } of [...sharesByEmail, ...sharesByPhone]) {
    found[of]?.set(id, { at, basis: { type: "share", id, status: statusAt(state, expiresAt, asOf), ceaseBy } });
  }
  const grants = ({ basis }: { readonly basis: ContactBasis }): number => (reasonOf(basis) === "active_consent" ? 1 : 0);
  return found.map((records) => [...records.values()].sort((a, b) => grants(b) - grants(a) || b.at - a.at).map(({ basis }) => basis));
};

/** What a guess is judged by. Nobody can be compared with a person who was erased. */
export const matchable = async (db: Database, certId: CertId) => {
  const { businessId, environment, status, entitiesAccepted: accepted, subjectErasedAt } = certificates;
  const isErased = sql`${subjectErasedAt} is not null`.mapWith(Boolean);
  const row = await db
    .select({ businessId, environment, status, entities: entitiesField, accepted, isErased, entitiesWithdrawn: withdrawnEntitiesField })
    .from(certificates)
    .where(eq(certificates.id, certId))
    .get();
  if (row === undefined) return null;
  return { ...row, answered: row.accepted && { accepted: row.accepted }, entitiesWithdrawn: inOrder(row.entitiesWithdrawn) };
};

const maxMissesADay = 20;

/** Null where it was not asked about. */
export type Matched = Readonly<Record<"email" | "phone", boolean | null>>;

/**
 * Compares and counts a miss in one statement, so that no number of guesses at once gets past the limit. Null when the
 * day's misses are used up.
 */
export const compareSubject = async (db: Database, certId: CertId, guess: SubjectIndexes, day: number): Promise<Matched | null> => {
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
      .where(allOf(eq(matchMisses.certId, certId), eq(matchMisses.day, day), lt(misses, maxMissesADay)))
      .returning({
        email: sql<number | null>`${email}`.mapWith(Boolean).as("email"),
        phone: sql<number | null>`${phone}`.mapWith(Boolean).as("phone"),
      }),
  ]);
  return compared ?? null;
};
