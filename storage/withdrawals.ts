// Withdrawals of whole certificates. The primary key of a withdrawal is the ID of its certificate. Therefore, if several batches withdraw
// the same certificate, only one is committed. The other batches are rolled back, including their audit entries, anchors, events and
// emails. SPEC Withdrawal.
import { asc, desc, eq, gt, inArray, lte, max, ne, sql, type SQL } from "drizzle-orm";
import { listStoredForms, type AddressIndex } from "../core/access/address-index.ts";
import type { Environment } from "../core/access/entitlement.ts";
import type { OpenedWithdrawal } from "../core/certificates/published-certificate.ts";
import type { CeaseDetails } from "../core/withdrawals/cease-acknowledgment.ts";
import type { RecordedRequest, RecordedChannel, WithdrawableCertificate, Withdrawal } from "../core/withdrawals/withdrawal.ts";
import { shardOfId, type BusinessId, type CertId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { businessChainFields, verifiedDomainsField } from "./accounts.ts";
import { isActiveAddress } from "./certificate-addresses.ts";
import { batch, type Database, type Found, type Statement } from "./database.ts";
import {
  acceptedEntitiesField,
  entitiesField,
  originDomainField,
  sortWithdrawnEntities,
  toWithdrawalRow,
  withdrawnEntitiesField,
  type CertificateRef,
  type SignedReceipt,
} from "./entity-withdrawals.ts";
import { isTriggerError, isConstraintViolation } from "./faults.ts";
import {
  businesses,
  ceaseAcknowledgements,
  certificateAddresses,
  certificateForms,
  certificates,
  certificateTwins,
  entityWithdrawals,
  issuingShards,
  withdrawals,
} from "./schema.ts";
import { jsonRow, jsonRows } from "./json-rows.ts";
import { allOf, existsIn, query } from "./query.ts";
import { unlessErased } from "./unless-erased.ts";
import { columnContext, type IndexReader, type Vault } from "./vault.ts";

const noteContext = columnContext("withdrawals", "note");
const detailsContext = columnContext("cease_acknowledgements", "details");

const { withdrawnAt, ceaseBy, method, scope, receivedAt, receipt, signature, signatureKid } = withdrawals;
const acknowledgedAtField = sql<Instant | null>`${ceaseAcknowledgements.acknowledgedAt}`;
const withdrawalFields = { withdrawnAt, ceaseBy, method, scope, receivedAt, acknowledgedAt: acknowledgedAtField };
const selectByCertificate = (row: SQL) =>
  query
    .select({ row })
    .from(withdrawals)
    .leftJoin(ceaseAcknowledgements, eq(ceaseAcknowledgements.certId, withdrawals.certId))
    .where(eq(withdrawals.certId, certificates.id));

/**
 * Fields for queries on `certificates`: the withdrawal, without its proof (`withdrawalField`) and with it (`withdrawalProofField`). Both
 * are null while the certificate is active.
 */
export const withdrawalField = jsonRow(withdrawalFields, selectByCertificate);
export const withdrawalProofField = jsonRow({ ...withdrawalFields, receipt, signature, signatureKid }, selectByCertificate);

/** Decrypts the note and the acknowledgment of a withdrawal. Each is null if it does not exist or was erased. */
export const openWithdrawal = async (
  vault: Vault,
  { certId, businessId }: CertificateRef,
  sealed: { readonly channel: RecordedChannel | null; readonly noteSealed: string | null; readonly detailsSealed: string | null },
): Promise<OpenedWithdrawal> => {
  const { channel, noteSealed, detailsSealed } = sealed;
  const isErased = detailsSealed === "";
  const [note, details] = await Promise.all([
    noteSealed === null ? null : vault.open(noteContext(certId, businessId), noteSealed),
    detailsSealed === null || isErased ? null : vault.open(detailsContext(certId, businessId), detailsSealed),
  ]);
  return {
    recorded: channel === null ? null : { channel, note },
    acknowledgement: details === null ? null : (JSON.parse(details) as CeaseDetails),
  };
};

export const withdrawableFields = {
  id: certificates.id,
  businessId: certificates.businessId,
  businessName: certificateForms.businessName,
  environment: certificates.environment,
  status: certificates.status,
  originDomain: originDomainField,
  issuedAt: certificates.issuedAt,
  fingerprint: certificates.fingerprint,
  latestEntityWithdrawalAt: sql<Instant | null>`(${query
    .select({ at: max(entityWithdrawals.withdrawnAt) })
    .from(entityWithdrawals)
    .where(eq(entityWithdrawals.certId, certificates.id))})`,
};

const twinTokensField = jsonRows({ manageTokenHash: certificateTwins.manageTokenHash }, (rows) =>
  query.select({ rows }).from(certificateTwins).where(eq(certificateTwins.certId, certificates.id)),
);

/**
 * Finds a certificate with the data for a withdrawal, including the indexes and hashes that determine who may withdraw consent. Returns
 * null if the certificate is unknown.
 */
export const findWithdrawable = async (db: Database, vault: IndexReader, certId: CertId) => {
  const row = await db
    .select({
      certificate: withdrawableFields,
      chain: businessChainFields,
      emailIndexes: certificates.emailIndexes,
      phoneIndexes: certificates.phoneIndexes,
      personSealed: certificates.personSealed,
      twins: twinTokensField,
      domains: verifiedDomainsField,
      withdrawal: withdrawalField,
      entities: entitiesField,
      accepted: acceptedEntitiesField,
      entitiesWithdrawn: withdrawnEntitiesField,
      // True if the business receives opt-in events.
      emitsIssuanceEvents: businesses.emitCertificateIssued,
      // The default scope of a withdrawal that the business records.
      recordedScope: businesses.revocationScopeDefault,
      contact: businesses.contactEmail,
      mailingAddress: businesses.mailingAddress,
      hasIssuingShards: existsIn(issuingShards, eq(issuingShards.businessId, businesses.id)).mapWith(Boolean),
    })
    .from(certificates)
    .innerJoin(certificateForms, eq(certificateForms.id, certificates.formId))
    .innerJoin(businesses, eq(businesses.id, certificates.businessId))
    .where(eq(certificates.id, certId))
    .get();
  if (row === undefined) return null;
  const { certificate, chain, accepted, entitiesWithdrawn, emailIndexes, phoneIndexes, twins, hasIssuingShards, ...rest } = row;
  return {
    ...rest,
    /** True if other shards can have certificates or shares of the business. */
    hasOtherShards: hasIssuingShards || shardOfId(certId) !== shardOfId(certificate.businessId),
    /** The blind indexes of all email addresses and phone numbers on the certificate. Empty if the person's data is erased. */
    addressIndexes: [...(emailIndexes ?? []), ...(phoneIndexes ?? [])].map(vault.readIndex),
    /**
     * The hashes of the withdrawal tokens of duplicates (`certificate_twins`). The token of the certificate is derived, so it is not
     * stored.
     */
    twinTokenHashes: twins.map((twin) => twin.manageTokenHash),
    /** The blind indexes of all email addresses on the certificate. A person can withdraw consent with a code sent to any of them. */
    emailIndexes: (emailIndexes ?? []).map(vault.readIndex),
    certificate: { ...certificate, chain },
    answered: accepted && { accepted },
    entitiesWithdrawn: sortWithdrawnEntities(entitiesWithdrawn),
  };
};

export type WithdrawableRecord = Found<typeof findWithdrawable>;

interface AddressScope {
  readonly businessId: BusinessId;
  readonly environment: Environment;
  /** The blind indexes of email addresses and phone numbers. The scope includes certificates that contain any of them. */
  readonly addressIndexes: readonly AddressIndex[];
}

/**
 * The scope of a withdrawal for a whole business: the certificates that contain one of the addresses and were issued no later than
 * `issuedUntil`.
 */
export interface AddressWithdrawalScope extends AddressScope {
  /** The time of the withdrawal. Certificates issued later are new consent. */
  readonly issuedUntil: Instant;
}

const named = certificateAddresses;

/** Counts are capped at this number, because anyone can create any number of certificates about a person. */
export const maxCounted = 1_000;

const maxCompoundTerms = 5; // D1's limit on the number of terms in a compound SELECT

/** Builds the union of any number of selects. Nests them if there are more than `maxCompoundTerms`. */
const unionOf = (selects: readonly SQL[]): SQL => {
  if (selects.length <= maxCompoundTerms) return sql.join([...selects], sql` union `);
  const groups = Array.from({ length: Math.ceil(selects.length / maxCompoundTerms) }, (_, at) =>
    selects.slice(at * maxCompoundTerms, (at + 1) * maxCompoundTerms),
  );
  return unionOf(groups.map((group) => sql`select * from (${unionOf(group)})`));
};

/** Selects the `ord` of active certificates in the scope. For each address, selects the first `max` in the given order. */
const selectActive = ({ addressIndexes, ...scope }: AddressScope, condition: SQL, order: readonly SQL[], max: number): SQL =>
  sql`(${unionOf(
    addressIndexes.flatMap(listStoredForms).map((index) => {
      const first = query
        .select({ ord: named.certOrd })
        .from(named)
        .where(allOf(isActiveAddress(index, scope), condition))
        .orderBy(...order)
        .limit(max);
      return sql`select * from ${first}`;
    }),
  )})`;

const oldestFirst = [asc(named.issuedAt), asc(named.certOrd)];
const newestFirst = [desc(named.issuedAt), desc(named.certOrd)];

/**
 * Counts the active certificates in the scope except `certId`, up to 1,000, and lists up to `max` of the newest ones. If `issuedAfter` is
 * not null, includes only certificates issued after that time.
 */
export const findOtherCertificates = async (
  db: Database,
  scope: AddressScope,
  other: { readonly certId: CertId; readonly issuedAfter: Instant | null },
  max: number,
): Promise<{ readonly count: number; readonly newest: readonly { readonly id: CertId; readonly issuedAt: Instant }[] }> => {
  if (scope.addressIndexes.length === 0) return { count: 0, newest: [] };
  const { id, issuedAt, ord } = certificates;
  const self = query.select({ ord }).from(certificates).where(eq(id, other.certId));
  const isLater = other.issuedAfter === null ? sql`true` : gt(named.issuedAt, other.issuedAfter);
  const isOther = allOf(ne(named.certOrd, sql`coalesce(${self}, 0)`), isLater);
  const { counted, newest } = await batch(db, {
    counted: db
      .select({ n: sql<number>`min(count(*), ${maxCounted})` })
      .from(sql`${selectActive(scope, isOther, newestFirst, maxCounted)}`),
    newest: db
      .select({ id, issuedAt })
      .from(certificates)
      .where(inArray(ord, selectActive(scope, isOther, newestFirst, max)))
      .orderBy(desc(issuedAt), desc(ord))
      .limit(max),
  });
  return { count: counted[0]?.n ?? 0, newest };
};

/** Lists active certificates in the scope, oldest first. */
export const listActiveWithAddress = async (
  db: Database,
  scope: AddressWithdrawalScope,
  max: number,
): Promise<readonly WithdrawableCertificate[]> =>
  scope.addressIndexes.length === 0
    ? []
    : db
        .select({ ...withdrawableFields, chain: businessChainFields })
        .from(certificates)
        .innerJoin(certificateForms, eq(certificateForms.id, certificates.formId))
        .innerJoin(businesses, eq(businesses.id, certificates.businessId))
        .where(inArray(certificates.ord, selectActive(scope, lte(named.issuedAt, scope.issuedUntil), oldestFirst, max)))
        .orderBy(certificates.issuedAt, certificates.ord)
        .limit(max)
        .all();

/**
 * Returns the SQL statements that record a withdrawal. Triggers update the certificate and the counters. The batch fails if another
 * withdrawal was recorded after the certificate was read (`isOutdatedWithdrawal`).
 */
export const insertWithdrawal = async (
  db: Database,
  vault: Vault,
  certificate: WithdrawableCertificate,
  withdrawal: Withdrawal,
  receipt: SignedReceipt,
): Promise<readonly Statement[]> => {
  const { id, businessId, environment } = certificate;
  const row = await toWithdrawalRow(vault, id, noteContext(id, businessId), withdrawal.recorded, receipt);
  return [db.insert(withdrawals).values({ ...withdrawal, businessId, environment, ...row })];
};

/**
 * Returns the channel, time and note of a withdrawal that the business recorded. The caller records the same values for the person's other
 * certificates. Returns null if there is no withdrawal, or if the person withdrew consent themselves.
 */
export const findRecordedWithdrawal = async (db: Database, vault: Vault, certificate: CertificateRef): Promise<RecordedRequest | null> => {
  const { channel, noteSealed } = withdrawals;
  const row = await db
    .select({ channel, receivedAt, noteSealed })
    .from(withdrawals)
    .where(eq(withdrawals.certId, certificate.certId))
    .get();
  if (row === undefined || row.channel === null || row.receivedAt === null) return null;
  const note = row.noteSealed === null ? null : await vault.open(noteContext(certificate.certId, certificate.businessId), row.noteSealed);
  return { channel: row.channel, receivedAt: row.receivedAt, note };
};

/**
 * Returns true if the batch failed because the certificate is already withdrawn, or because consent for recipients was withdrawn at a later
 * time than that of the new withdrawal.
 */
export const isOutdatedWithdrawal = (error: unknown): boolean =>
  isConstraintViolation(error, "UNIQUE", withdrawals.certId) ||
  isTriggerError(error, "a certificate can be revoked only once, by a withdrawal") ||
  isTriggerError(error, "a withdrawal cannot be dated before an earlier one");

/**
 * Returns the SQL statements that record an acknowledgment. The batch fails if there already is one (`isAlreadyAcknowledged`). If the
 * certificate's personal data is erased, the details are not stored.
 */
export const insertAcknowledgement = async (
  db: Database,
  vault: Vault,
  certificate: CertificateRef,
  details: CeaseDetails,
  now: Instant,
): Promise<readonly Statement[]> => {
  const sealed = await vault.seal(detailsContext(certificate.certId, certificate.businessId), JSON.stringify(details));
  const detailsSealed = unlessErased(certificate.certId, sealed, "");
  return [db.insert(ceaseAcknowledgements).values({ certId: certificate.certId, acknowledgedAt: now, detailsSealed })];
};

export const isAlreadyAcknowledged = (error: unknown): boolean => isConstraintViolation(error, "UNIQUE", ceaseAcknowledgements.certId);
