// What a business's own records say about an address or a number, and whether a guess at a certificate's is right. Both look
// up blind indexes; nothing is opened.
import { and, desc, eq, inArray, lt, not, or, sql, type SQL } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { CertificateStatus } from "../core/certificates/certificate.ts";
import type { ContactBasis } from "../core/contact/verdict.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import type { WithdrawnEntity } from "../core/withdrawals/entities.ts";
import { entitiesField } from "./entity-lists.ts";
import { batch, type Database } from "./database.ts";
import { inOrder, withdrawnEntitiesField } from "./entity-withdrawals.ts";
import { certificates, entityWithdrawals, matchMisses, purposes, withdrawals, withdrawnEntities } from "./schema.ts";
import { allOf, query } from "./query.ts";

/** Whose contact is asked about: where both are given, a record with either counts. */
export interface SubjectIndexes {
  readonly email: string | null;
  readonly phone: string | null;
}

const maxBasis = 20; // records of one person with one business; more prove nothing more

type IndexName = "emailIndex" | "phoneIndex";
const has = (list: SQL<readonly string[]> | typeof certificates.entitiesRejected, entity: string): SQL =>
  sql`exists (select 1 from json_each(${list}) where value = ${entity})`;

const agreedToNobody = sql`${certificates.entitiesAccepted} is '[]'`;

/** The person declined the recipient that is asked about, or each they were asked about. */
const isRejected = (entity: string | null): SQL =>
  entity === null ? agreedToNobody : sql`(${agreedToNobody} or ${has(certificates.entitiesRejected, entity)})`;

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

/** For each subject, the records about it: what grants contact first, then the newest. One round trip. */
export const contactBasis = async (
  db: Database,
  asked: {
    readonly businessId: BusinessId;
    readonly environment: Environment;
    readonly subjects: readonly SubjectIndexes[];
    /** Exactly as on the certificate. */
    readonly entity: string | null;
    readonly purpose: string | null;
  },
): Promise<readonly (readonly ContactBasis[])[]> => {
  const { businessId, environment, subjects, entity, purpose } = asked;
  const { status, issuedAt, ord } = certificates;
  const rejected = isRejected(entity);
  const entityCeaseBy = ceaseByOf(entity);
  const recordsBy = (index: IndexName, values: readonly (string | null)[]) => {
    const foremost = query
      .select({ ord })
      .from(certificates)
      .innerJoin(purposes, eq(purposes.id, certificates.purposeId))
      .where(
        and(
          sql`${certificates[index]} = j.value`,
          eq(certificates.businessId, businessId),
          eq(certificates.environment, environment),
          entity === null ? undefined : has(entitiesField, entity),
          purpose === null ? undefined : eq(purposes.purpose, purpose),
        ),
      )
      .orderBy(desc(allOf(eq(status, "active"), sql`not (${rejected})`, sql`${entityCeaseBy} is null`)), desc(issuedAt))
      .limit(maxBasis);
    return db
      .select({
        subject: sql<number>`j.key`.as("subject"),
        certId: certificates.id,
        status,
        ceaseBy: withdrawals.ceaseBy,
        issuedAt,
        isRejected: sql<number>`${rejected}`.mapWith(Boolean).as("is_rejected"),
        entityCeaseBy: sql<number | null>`${entityCeaseBy}`.as("entity_cease_by"),
      })
      .from(sql`json_each(${JSON.stringify(values)}) j`)
      .innerJoin(certificates, inArray(ord, foremost))
      .leftJoin(withdrawals, eq(withdrawals.certId, certificates.id));
  };
  const records = await batch(db, [
    recordsBy(
      "emailIndex",
      subjects.map(({ email }) => email),
    ),
    recordsBy(
      "phoneIndex",
      subjects.map(({ phone }) => phone),
    ),
  ]);
  type Found = (typeof records)[number][number];
  const bySubject = subjects.map(() => new Map<CertId, Found>());
  for (const row of records.flat()) bySubject[row.subject]?.set(row.certId, row);
  const grants = (row: Found): number => (row.status === "active" && !row.isRejected && row.entityCeaseBy === null ? 1 : 0);
  return bySubject.map((rows) =>
    [...rows.values()]
      .sort((a, b) => grants(b) - grants(a) || b.issuedAt - a.issuedAt)
      .map(({ certId, status, ceaseBy, isRejected, entityCeaseBy }) => ({
        certId,
        status,
        ceaseBy: entityCeaseBy ?? ceaseBy,
        isRejected,
        isWithdrawn: entityCeaseBy !== null,
      })),
  );
};

export interface MatchableCertificate {
  readonly businessId: BusinessId;
  readonly environment: Environment;
  readonly status: CertificateStatus;
  readonly entities: readonly string[];
  readonly answered: { readonly accepted: readonly string[] } | null;
  readonly entitiesWithdrawn: readonly WithdrawnEntity[];
  /** Nobody can be compared with a person who was erased. */
  readonly isErased: boolean;
}

/** The certificate and the names and proved domains of the business that asks, in one query. */
export const matchable = async (db: Database, certId: CertId): Promise<MatchableCertificate | null> => {
  const { businessId, environment, status, entitiesAccepted: accepted, subjectErasedAt: erasedAt } = certificates;
  const row = await db
    .select({ businessId, environment, status, entities: entitiesField, accepted, erasedAt, entitiesWithdrawn: withdrawnEntitiesField })
    .from(certificates)
    .where(eq(certificates.id, certId))
    .get();
  if (row === undefined) return null;
  return {
    ...row,
    answered: row.accepted === null ? null : { accepted: row.accepted },
    entitiesWithdrawn: inOrder(row.entitiesWithdrawn),
    isErased: row.erasedAt !== null,
  };
};

const maxMissesADay = 20;

export interface Matched {
  /** Null where it was not asked about. */
  readonly email: boolean | null;
  readonly phone: boolean | null;
}

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

/** Days that no limit counts any more. */
export const deleteOldMisses = (db: Database, today: number) => {
  const rowid = sql`rowid`;
  return db
    .delete(matchMisses)
    .where(inArray(rowid, query.select({ rowid }).from(matchMisses).where(lt(matchMisses.day, today)).limit(1_000)));
};
