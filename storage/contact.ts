// A contact check determines whether a business has consent to contact an email address or phone number. A match determines whether a
// certificate contains an email address or phone number. Both compare blind indexes and decrypt nothing.
import { and, desc, eq, exists, gt, inArray, lt, not, or, sql, type SQL } from "drizzle-orm";
import { listStoredForms, type AddressIndex, type StoredIndex } from "../core/access/address-index.ts";
import type { Environment } from "../core/access/entitlement.ts";
import { getContactReason, type ContactBasis } from "../core/contact/verdict.ts";
import { sha256Hex } from "../core/hash.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import { getShareStatus } from "../core/shares/share.ts";
import type { Instant } from "../core/time.ts";
import {
  acceptedEntitiesField,
  entitiesField,
  isListed,
  isListedInCertificate,
  sortWithdrawnEntities,
  withdrawnEntitiesField,
} from "./entity-withdrawals.ts";
import { hasAddress, selectNewestOrds } from "./certificate-addresses.ts";
import { batch, type Database } from "./database.ts";
import { ownerTime } from "./sandbox-clocks.ts";
import {
  certificateAddresses,
  certificates,
  entityLists,
  entityWithdrawals,
  matchMisses,
  purposes,
  shares,
  withdrawals,
  withdrawnEntities,
} from "./schema.ts";
import { allOf, existsIn, query } from "./query.ts";

/** The blind indexes of one person. A contact check considers a record if either index matches. */
export type SubjectIndexes = Readonly<Record<"email" | "phone", AddressIndex | null>>;

const maxBasisRecords = 20; // the maximum per address and kind of record; records that permit contact come first
/** To limit the cost, a check evaluates at most this many certificates and this many shares of an address, newest first. */
const maxJudgedRecords = 1_000;

type IndexName = "emailIndex" | "phoneIndex";

/** Selects the ID of the empty recipient list, which a certificate has as its accepted list if the person accepted no recipient. */
const emptyList = query
  .select({ id: entityLists.id })
  .from(entityLists)
  .where(eq(entityLists.hash, sha256Hex("[]")));
const hasNoAcceptedEntities = sql`coalesce(${certificates.acceptedListId} = ${emptyList}, 0)`;

/** Builds a condition that is true if the person rejected this recipient or accepted no recipient at all. */
const isRejectedEntity = (entity: string | null): SQL =>
  entity === null ? hasNoAcceptedEntities : sql`(${hasNoAcceptedEntities} or ${isListed(sql`${certificates.rejectedListId}`, entity)})`;

/**
 * Builds a condition that is true if a check for this recipient must consider the certificate. The certificate must list the recipient. If
 * the form asked about each recipient separately, the person must also have accepted or rejected this recipient, or accepted none at all.
 */
const isAboutEntity = (entity: string): SQL => {
  const { acceptedListId, rejectedListId } = certificates;
  const isAnswered = sql`(${isListed(sql`${acceptedListId}`, entity)} or ${isListed(sql`${rejectedListId}`, entity)})`;
  return sql`(${isListedInCertificate(entity)} and (${acceptedListId} is null or ${hasNoAcceptedEntities} or ${isAnswered}))`;
};

/**
 * Selects the deadline by which this recipient must stop contacting the person, or null if the person has not withdrawn consent for this
 * recipient.
 */
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
  /** The recipient, spelled as on the record. If null, the check is not limited to one recipient. */
  readonly entity: string | null;
  readonly purpose: string | null;
}

/** Lists all stored forms of the indexes. The queries treat each form as a separate address. */
const listDistinctForms = (indexes: readonly (AddressIndex | null)[]): readonly StoredIndex[] =>
  [...new Set(indexes)].flatMap((index) => (index === null ? [] : listStoredForms(index)));

const addressRows = (addresses: readonly StoredIndex[]): SQL => sql`json_each(${JSON.stringify(addresses)}) j`;
const addressField = sql<string>`j.value`.as("address");

/** Selects the addresses. For each, `is_truncated` says whether it has more records than the check evaluates. */
const addressRowsWithTruncation = (addresses: readonly StoredIndex[], hasMore: SQL): SQL =>
  // Because of `limit -1`, SQLite evaluates `hasMore` once for each address instead of once for each joined record.
  sql`(select j.value, ${hasMore} as is_truncated from ${addressRows(addresses)} limit -1) j`;
const isTruncatedField = sql`j.is_truncated`.mapWith(Boolean).as("is_truncated");

/** Selects the `ord` of the newest certificates with the address in the current row of `addressRows` (`j`). */
const certificatesOfAddress = (contact: ContactQuery, max: number, offset = 0): SQL => {
  const { addressIndex, businessId, environment } = certificateAddresses;
  return selectNewestOrds(
    [allOf(sql`${addressIndex} = j.value`, eq(businessId, contact.businessId), eq(environment, contact.environment))],
    max,
    offset,
  );
};

/** Selects the shares with the address in the current row of `addressRows` (`j`), newest first. */
const sharesOfAddress = ({ businessId, environment }: ContactQuery, index: IndexName) =>
  query
    .select({ ord: shares.ord })
    .from(shares)
    .where(allOf(sql`${shares[index]} = j.value`, eq(shares.businessId, businessId), eq(shares.environment, environment)))
    .orderBy(desc(shares.createdAt));

const selectCertificatesBy = (db: Database, contact: ContactQuery) => {
  const addresses = listDistinctForms(contact.subjects.flatMap(({ email, phone }) => [email, phone]));
  const { businessId, environment, entity, purpose } = contact;
  const { id, status, issuedAt, ord, purposeId } = certificates;
  const rejected = isRejectedEntity(entity);
  const entityCeaseBy = entityCeaseByField(entity);
  const newest = certificatesOfAddress(contact, maxJudgedRecords);
  const samePurpose = query
    .select({ id: purposes.id })
    .from(purposes)
    .where(allOf(eq(purposes.businessId, businessId), eq(purposes.environment, environment), eq(purposes.purpose, purpose ?? "")));
  const foremost = query
    .select({ ord })
    .from(sql`${newest} newest`)
    .innerJoin(certificates, eq(ord, sql`newest.cert_ord`))
    .where(and(entity === null ? undefined : isAboutEntity(entity), purpose === null ? undefined : eq(purposeId, sql`${samePurpose}`)))
    .orderBy(desc(allOf(eq(status, "active"), sql`not (${rejected})`, sql`${entityCeaseBy} is null`)), desc(issuedAt))
    .limit(maxBasisRecords);
  return db
    .select({
      address: addressField,
      isTruncated: isTruncatedField,
      id,
      status,
      ceaseBy: withdrawals.ceaseBy,
      at: issuedAt,
      isRejected: sql<number>`${rejected}`.mapWith(Boolean).as("is_rejected"),
      entityCeaseBy: sql<number | null>`${entityCeaseBy}`.as("entity_cease_by"),
    })
    .from(addressRowsWithTruncation(addresses, sql`exists ${certificatesOfAddress(contact, 1, maxJudgedRecords)}`))
    .leftJoin(certificates, inArray(ord, foremost))
    .leftJoin(withdrawals, eq(withdrawals.certId, id));
};

/**
 * A person can enter someone else's email address or phone number in their contact fields. Therefore, a share permits contact only with an
 * email address that the person verified by signing in, and never with a phone number. Revoked shares always count, because they never
 * permit contact.
 */
const isCountedShare = (index: IndexName) => {
  const isEnded = inArray(shares.state, ["revoked", "ceased"]);
  return index === "emailIndex" ? or(eq(shares.emailProven, true), isEnded) : isEnded;
};

/**
 * A share permits contact only by the business itself. If a query specifies a recipient, it must therefore be the business's name at the
 * time of the grant.
 */
const selectSharesBy = (db: Database, contact: ContactQuery, index: IndexName, addresses: readonly StoredIndex[], now: Instant) => {
  const { entity, purpose } = contact;
  const { id, state, expiresAt, ceaseBy, createdAt, ord } = shares;
  const newest = sharesOfAddress(contact, index).limit(maxJudgedRecords).as("newest");
  const foremost = query
    .select({ ord })
    .from(newest)
    .innerJoin(shares, eq(ord, newest.ord))
    .where(
      and(
        isCountedShare(index),
        entity === null ? undefined : eq(shares.businessName, entity),
        purpose === null ? undefined : eq(shares.purpose, purpose),
      ),
    )
    .orderBy(desc(allOf(eq(state, "active"), gt(expiresAt, ownerTime(contact, now)))), desc(createdAt))
    .limit(maxBasisRecords);
  return db
    .select({
      address: addressField,
      isTruncated: isTruncatedField,
      id,
      state,
      expiresAt,
      ceaseBy,
      at: createdAt,
      asOf: ownerTime(contact, now).as("as_of"),
    })
    .from(addressRowsWithTruncation(addresses, exists(sharesOfAddress(contact, index).limit(1).offset(maxJudgedRecords))))
    .leftJoin(shares, inArray(ord, foremost));
};

/** The records about one person. */
export interface SubjectBasis {
  readonly basis: readonly ContactBasis[];
  /** True if the person has older records that were not evaluated. */
  readonly isTruncated: boolean;
}

interface FoundRecord {
  readonly at: Instant;
  readonly basis: ContactBasis;
}

/** The records about one person in one shard, by ID. */
interface SubjectRecords {
  readonly records: ReadonlyMap<string, FoundRecord>;
  readonly isTruncated: boolean;
}

const permitsContact = ({ basis }: FoundRecord): number => (getContactReason(basis) === "active_consent" ? 1 : 0);

/** Merges the records from all shards of a business. Records that permit contact come first, then the others, each newest first. */
export const mergeContactRecords = (shards: readonly (readonly SubjectRecords[])[]): readonly SubjectBasis[] =>
  (shards[0] ?? []).map((_, at) => {
    const parts = shards.map((subjects) => subjects[at] as SubjectRecords);
    const records = new Map(parts.flatMap((part) => [...part.records]));
    const sorted = [...records.values()].sort((a, b) => permitsContact(b) - permitsContact(a) || b.at - a.at);
    return { basis: sorted.map(({ basis }) => basis), isTruncated: parts.some(({ isTruncated }) => isTruncated) };
  });

/** A row for an address. An address without matching records has a single row, in which `record` is null. */
interface AddressRow {
  readonly address: string;
  readonly isTruncated: boolean;
  readonly record: FoundRecord | null;
}

const toCertificateRow = (row: Awaited<ReturnType<typeof selectCertificatesBy>>[number]): AddressRow => {
  const { address, isTruncated, at, id, status, ceaseBy, entityCeaseBy, isRejected } = row;
  if (id === null || status === null || at === null) return { address, isTruncated, record: null };
  const basis: ContactBasis = {
    type: "cert",
    id,
    status,
    ceaseBy: entityCeaseBy ?? ceaseBy,
    isRejected,
    isWithdrawn: entityCeaseBy !== null,
  };
  return { address, isTruncated, record: { at, basis } };
};

const toShareRow = (row: Awaited<ReturnType<typeof selectSharesBy>>[number]): AddressRow => {
  const { address, isTruncated, at, id, state, expiresAt, ceaseBy, asOf } = row;
  if (id === null || state === null || expiresAt === null || at === null) return { address, isTruncated, record: null };
  return { address, isTruncated, record: { at, basis: { type: "share", id, status: getShareStatus(state, expiresAt, asOf), ceaseBy } } };
};

const groupBySubject = ({ subjects }: ContactQuery, rows: readonly AddressRow[]): readonly SubjectRecords[] => {
  const byAddress = Map.groupBy(rows, ({ address }) => address);
  return subjects.map(({ email, phone }) => {
    const ownRows = listDistinctForms([email, phone]).flatMap((address) => byAddress.get(address) ?? []);
    return {
      records: new Map(ownRows.flatMap(({ record }) => (record === null ? [] : [[record.basis.id, record]]))),
      isTruncated: ownRows.some(({ isTruncated }) => isTruncated),
    };
  });
};

/**
 * For each person, finds the certificates and shares in the shard of the business's account, in one round trip. Evaluates up to 1,000
 * certificates and 1,000 shares of each address, newest first.
 */
export const findContactRecords = async (db: Database, contact: ContactQuery, now: Instant): Promise<readonly SubjectRecords[]> => {
  const emails = listDistinctForms(contact.subjects.map(({ email }) => email));
  const phones = listDistinctForms(contact.subjects.map(({ phone }) => phone));
  const [certs, sharesByEmail, sharesByPhone] = await batch(db, [
    selectCertificatesBy(db, contact),
    selectSharesBy(db, contact, "emailIndex", emails, now),
    selectSharesBy(db, contact, "phoneIndex", phones, now),
  ]);
  return groupBySubject(contact, [...certs.map(toCertificateRow), ...[...sharesByEmail, ...sharesByPhone].map(toShareRow)]);
};

/** Like `findContactRecords`, for the other shards of a business, where it has no shares. */
export const findCertificateRecords = async (db: Database, contact: ContactQuery): Promise<readonly SubjectRecords[]> =>
  groupBySubject(contact, (await selectCertificatesBy(db, contact)).map(toCertificateRow));

/** Finds the data for a match. Returns null if the certificate is unknown. If the person's data is erased, nothing matches. */
export const findMatchableCertificate = async (db: Database, certId: CertId) => {
  const { businessId, environment, status, subjectErasedAt } = certificates;
  const isErased = sql`${subjectErasedAt} is not null`.mapWith(Boolean);
  const row = await db
    .select({
      businessId,
      environment,
      status,
      entities: entitiesField,
      accepted: acceptedEntitiesField,
      isErased,
      entitiesWithdrawn: withdrawnEntitiesField,
    })
    .from(certificates)
    .where(eq(certificates.id, certId))
    .get();
  if (row === undefined) return null;
  return { ...row, answered: row.accepted && { accepted: row.accepted }, entitiesWithdrawn: sortWithdrawnEntities(row.entitiesWithdrawn) };
};

const maxDailyMisses = 20;

/** True if the value is on the certificate, or null if the caller did not send the value. */
export type SubjectComparison = Readonly<Record<"email" | "phone", boolean | null>>;

/**
 * Compares values with the certificate. The same statement counts a mismatch, so concurrent requests cannot exceed the caller's daily limit
 * of 20 mismatches for a certificate. Returns null if the limit is reached. `day` is the number of days since 1970-01-01 (UTC).
 */
export const compareSubject = async (
  db: Database,
  certId: CertId,
  callerId: BusinessId,
  guess: SubjectIndexes,
  day: number,
): Promise<SubjectComparison | null> => {
  const { misses } = matchMisses;
  const isHit = (value: AddressIndex | null) =>
    value === null ? null : existsIn(certificates, eq(certificates.id, certId), hasAddress(value));
  const email = isHit(guess.email);
  const phone = isHit(guess.phone);
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
