// Contact checks: what a business's records say about an email address or phone number, and whether a guess matches a certificate. Both use
// blind indexes and decrypt nothing.
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

/** The blind indexes of the person to look up. If both are given, a record that matches either one counts. */
export type SubjectIndexes = Readonly<Record<"email" | "phone", string | null>>;

const maxBasisRecords = 20; // records of one person with one business; more would not change the verdict

type IndexName = "emailIndex" | "phoneIndex";
const hasNoAcceptedEntities = sql`${certificates.entitiesAccepted} is '[]'`;

/** Condition: the person rejected the recipient, or did not accept any recipient. */
const isRejectedEntity = (entity: string | null): SQL =>
  entity === null ? hasNoAcceptedEntities : sql`(${hasNoAcceptedEntities} or ${listContains(certificates.entitiesRejected, entity)})`;

/** The certificate names the recipient and, if the form asked about each recipient separately, asked about this one. */
const isAboutEntity = (entity: string): SQL => {
  const { entitiesAccepted, entitiesRejected } = certificates;
  const isAnswered = sql`(${listContains(entitiesAccepted, entity)} or ${listContains(entitiesRejected, entity)})`;
  return sql`(${listContains(entitiesField, entity)} and (${entitiesAccepted} is null or ${hasNoAcceptedEntities} or ${isAnswered}))`;
};

/** The deadline for this recipient to cease contact; null if the person did not withdraw from it. */
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
  /** Exactly as on the record; null for any recipient. */
  readonly entity: string | null;
  readonly purpose: string | null;
}

const subjectRows = (values: readonly (string | null)[]): SQL => sql`json_each(${JSON.stringify(values)}) j`;
const subjectField = sql<number>`j.key`.as("subject");

const selectCertificatesBy = (db: Database, contact: ContactQuery, index: IndexName, values: readonly (string | null)[]) => {
  const { businessId, environment, entity, purpose } = contact;
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
 * A share is consent for the business only. If a recipient is given, shares count only if that recipient is the business, under the name
 * that was shown.
 */
const selectSharesBy = (db: Database, contact: ContactQuery, index: IndexName, values: readonly (string | null)[], now: Instant) => {
  const { businessId, environment, entity, purpose } = contact;
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
    .orderBy(desc(allOf(eq(state, "active"), gt(expiresAt, ownerTime(contact, now)))), desc(createdAt))
    .limit(maxBasisRecords);
  return db
    .select({ subject: subjectField, id, state, expiresAt, ceaseBy, at: createdAt, asOf: ownerTime(contact, now).as("as_of") })
    .from(subjectRows(values))
    .innerJoin(shares, inArray(ord, foremost));
};

/** Lists the records about each subject. Records that permit contact come first, then newest first. One round trip. */
export const listContactBasis = async (
  db: Database,
  contact: ContactQuery,
  now: Instant,
): Promise<readonly (readonly ContactBasis[])[]> => {
  const emails = contact.subjects.map(({ email }) => email);
  const phones = contact.subjects.map(({ phone }) => phone);
  const [certsByEmail, certsByPhone, sharesByEmail, sharesByPhone] = await batch(db, [
    selectCertificatesBy(db, contact, "emailIndex", emails),
    selectCertificatesBy(db, contact, "phoneIndex", phones),
    selectSharesBy(db, contact, "emailIndex", emails, now),
    selectSharesBy(db, contact, "phoneIndex", phones, now),
  ]);
  const found = contact.subjects.map(() => new Map<string, { readonly at: Instant; readonly basis: ContactBasis }>());
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

/** Finds the data needed to check a guess; null if the certificate is unknown. Once the person's data is erased, nothing matches. */
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

/** Null if that value was not given. */
export type SubjectComparison = Readonly<Record<"email" | "phone", boolean | null>>;

/**
 * Compares a guess with the certificate and counts a miss in one statement, so that concurrent guesses cannot exceed the caller's limit of
 * 20 misses a day. Returns null when the limit is reached. `day` is in whole days since 1970 (UTC).
 */
export const compareSubject = async (
  db: Database,
  certId: CertId,
  callerId: BusinessId,
  guess: SubjectIndexes,
  day: number,
): Promise<SubjectComparison | null> => {
  const { misses } = matchMisses;
  const stored = (index: IndexName) => query.select({ stored: certificates[index] }).from(certificates).where(eq(certificates.id, certId));
  const isHit = (index: IndexName, value: string | null) => (value === null ? null : sql<number>`${stored(index)} is ${value}`);
  const email = isHit("emailIndex", guess.email);
  const phone = isHit("phoneIndex", guess.phone);
  const isMiss = or(...[email, phone].map((hit) => (hit === null ? undefined : not(hit)))) ?? sql`false`;
  const { compared } = await batch(db, {
    counter: db.insert(matchMisses).values({ certId, callerId, day }).onConflictDoNothing(),
    compared: db
      .update(matchMisses)
      .set({ misses: sql`${misses} + (${isMiss})` })
      .where(
        allOf(eq(matchMisses.certId, certId), eq(matchMisses.callerId, callerId), eq(matchMisses.day, day), lt(misses, maxDailyMisses)),
      )
      .returning({
        email: sql<number | null>`${email}`.mapWith(Boolean).as("email"),
        phone: sql<number | null>`${phone}`.mapWith(Boolean).as("phone"),
      }),
  });
  return compared[0] ?? null;
};
