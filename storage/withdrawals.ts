// Withdrawals: what is read of them wherever a certificate is read, and the rows that make one. The primary key of a
// withdrawal is the certificate: of a thousand batches that withdraw the same one, the first commits and every other is
// undone whole, with its audit entry, its statement, its event and its mail.
import { count, countDistinct, desc, eq, gt, lte, ne, sql, type SQL } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { OpenedWithdrawal } from "../core/certificates/published-certificate.ts";
import type { CeaseDetails } from "../core/withdrawals/cease-acknowledgment.ts";
import type {
  RecordedRequest,
  RecordedChannel,
  WithdrawableCertificate,
  Withdrawal,
  WithdrawalAddress,
} from "../core/withdrawals/withdrawal.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { businessChainFields, verifiedDomainsField } from "./accounts.ts";
import { batch, type Database, type Found, type Statement } from "./database.ts";
import {
  entitiesField,
  sortWithdrawnEntities,
  toWithdrawalRow,
  withdrawnEntitiesField,
  type CertificateRef,
  type SignedReceipt,
} from "./entity-withdrawals.ts";
import { isTriggerError, isConstraintViolation } from "./faults.ts";
import { businesses, ceaseAcknowledgements, certificates, entityWithdrawals, withdrawals } from "./schema.ts";
import { jsonRow } from "./json-rows.ts";
import { allOf, query } from "./query.ts";
import { columnContext, type Vault } from "./vault.ts";

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

/** For a query over certificates: as anyone may see it, and with what proves it; null while it is active. */
export const withdrawalField = jsonRow(withdrawalFields, selectByCertificate);
export const withdrawalProofField = jsonRow({ ...withdrawalFields, receipt, signature, signatureKid }, selectByCertificate);

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
  businessName: certificates.businessName,
  environment: certificates.environment,
  status: certificates.status,
  originDomain: certificates.originDomain,
  issuedAt: certificates.issuedAt,
  fingerprint: certificates.fingerprint,
};

/** A certificate as a withdrawal needs it, with what proves who may, and where the business can be reached if it says so. */
export const findWithdrawable = async (db: Database, certId: CertId) => {
  const row = await db
    .select({
      certificate: withdrawableFields,
      chain: businessChainFields,
      emailIndex: certificates.emailIndex,
      phoneIndex: certificates.phoneIndex,
      subjectSealed: certificates.subjectSealed,
      manageTokenHash: certificates.manageTokenHash,
      domains: verifiedDomainsField,
      withdrawal: withdrawalField,
      entities: entitiesField,
      accepted: certificates.entitiesAccepted,
      entitiesWithdrawn: withdrawnEntitiesField,
      // the business asked to be told of what is not told by itself
      isToldAll: businesses.emitCertificateIssued,
      // how far a withdrawal reaches that the business records without saying
      recordedScope: businesses.revocationScopeDefault,
      contact: businesses.contactEmail,
      mailingAddress: businesses.mailingAddress,
    })
    .from(certificates)
    .innerJoin(businesses, eq(businesses.id, certificates.businessId))
    .where(eq(certificates.id, certId))
    .get();
  if (row === undefined) return null;
  const { certificate, chain, accepted, entitiesWithdrawn, ...rest } = row;
  return {
    ...rest,
    certificate: { ...certificate, chain },
    answered: accepted && { accepted },
    entitiesWithdrawn: sortWithdrawnEntities(entitiesWithdrawn),
  };
};

export type WithdrawableRecord = Found<typeof findWithdrawable>;

interface AddressScope {
  readonly businessId: BusinessId;
  readonly environment: Environment;
  readonly address: WithdrawalAddress;
}

/** What a withdrawal from everything covers: certificates of one business that carry one address and stood at that moment. */
export interface AddressWithdrawalScope extends AddressScope {
  /** A certificate issued later is a new consent. */
  readonly issuedUntil: Instant;
}

const addressColumns = { email: certificates.emailIndex, phone: certificates.phoneIndex };
const isInAddressScope = ({ businessId, environment, address }: AddressScope) =>
  allOf(
    eq(addressColumns[address.kind], address.index),
    eq(certificates.businessId, businessId),
    eq(certificates.environment, environment),
  );
const isActiveInScope = (same: AddressScope) => allOf(isInAddressScope(same), eq(certificates.status, "active"));

/** Others that are active: those issued after that moment, where one is given. How many, and the newest of them. */
export const findOtherCertificates = async (
  db: Database,
  same: AddressScope,
  but: { readonly certId: CertId; readonly issuedAfter: Instant | null },
  max: number,
): Promise<{ readonly count: number; readonly newest: readonly { readonly id: CertId; readonly issuedAt: Instant }[] }> => {
  const { id, issuedAt, ord } = certificates;
  const isLater = but.issuedAfter === null ? sql`true` : gt(issuedAt, but.issuedAfter);
  const isOther = allOf(isActiveInScope(same), ne(id, but.certId), isLater);
  const [[counted], newest] = await batch(db, [
    db.select({ n: count() }).from(certificates).where(isOther),
    db.select({ id, issuedAt }).from(certificates).where(isOther).orderBy(desc(issuedAt), desc(ord)).limit(max),
  ]);
  return { count: counted?.n ?? 0, newest };
};

/** Those that are still active, oldest first. */
export const listActiveWithAddress = (
  db: Database,
  same: AddressWithdrawalScope,
  max: number,
): Promise<readonly WithdrawableCertificate[]> =>
  db
    .select({ ...withdrawableFields, chain: businessChainFields })
    .from(certificates)
    .innerJoin(businesses, eq(businesses.id, certificates.businessId))
    .where(allOf(isActiveInScope(same), lte(certificates.issuedAt, same.issuedUntil)))
    .orderBy(certificates.issuedAt, certificates.ord)
    .limit(max)
    .all();

/**
 * For the mail that confirms a withdrawal which proves nothing about the address: fewer than `max` such acts since then, on
 * certificates that name it. Certificates withdrawn at one moment are one act.
 */
export const hasFewUnverifiedWithdrawals = (same: AddressScope, since: Instant, max: number): SQL => {
  const whole = query
    .select({ n: countDistinct(withdrawnAt) })
    .from(certificates)
    .innerJoin(withdrawals, eq(withdrawals.certId, certificates.id))
    .where(allOf(isInAddressScope(same), ne(method, "email_code"), gt(withdrawnAt, since)));
  const single = query
    .select({ n: count() })
    .from(certificates)
    .innerJoin(entityWithdrawals, eq(entityWithdrawals.certId, certificates.id))
    .where(allOf(isInAddressScope(same), ne(entityWithdrawals.method, "email_code"), gt(entityWithdrawals.withdrawnAt, since)));
  return sql`${whole} + ${single} < ${max}`;
};

/** The row of a withdrawal; the certificate and its counters follow by trigger. It fails when there is one already. */
export const insertWithdrawal = async (
  db: Database,
  vault: Vault,
  certificate: WithdrawableCertificate,
  withdrawal: Withdrawal,
  receipt: SignedReceipt,
): Promise<readonly Statement[]> => {
  const { id, businessId, environment } = certificate;
  const row = await toWithdrawalRow(vault, noteContext(id, businessId), withdrawal.recorded, receipt);
  return [db.insert(withdrawals).values({ ...withdrawal, businessId, environment, ...row })];
};

/** What the business recorded of a withdrawal, to be carried to the person's other certificates; null of one by the person. */
export const findRecordedWithdrawal = async (db: Database, vault: Vault, of: CertificateRef): Promise<RecordedRequest | null> => {
  const { channel, noteSealed } = withdrawals;
  const row = await db.select({ channel, receivedAt, noteSealed }).from(withdrawals).where(eq(withdrawals.certId, of.certId)).get();
  if (row === undefined || row.channel === null || row.receivedAt === null) return null;
  const note = row.noteSealed === null ? null : await vault.open(noteContext(of.certId, of.businessId), row.noteSealed);
  return { channel: row.channel, receivedAt: row.receivedAt, note };
};

/** True when the batch failed because the certificate had been withdrawn already. */
export const isAlreadyWithdrawn = (error: unknown): boolean =>
  isConstraintViolation(error, "UNIQUE", withdrawals.certId) || isTriggerError(error, "a certificate is revoked once, by a withdrawal");

/** It fails when the business has acknowledged already. */
export const insertAcknowledgement = async (
  db: Database,
  vault: Vault,
  of: CertificateRef,
  details: CeaseDetails,
  now: Instant,
): Promise<readonly Statement[]> => {
  const detailsSealed = await vault.seal(detailsContext(of.certId, of.businessId), JSON.stringify(details));
  return [db.insert(ceaseAcknowledgements).values({ certId: of.certId, acknowledgedAt: now, detailsSealed })];
};

export const isAlreadyAcknowledged = (error: unknown): boolean => isConstraintViolation(error, "UNIQUE", ceaseAcknowledgements.certId);
