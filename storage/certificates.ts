// Reads issued certificates for verification, for the public page and for the business. issuances.ts stores them.
import { desc, eq, gt, inArray, isNull, or, sql } from "drizzle-orm";
import type { SelectedFields } from "drizzle-orm/sqlite-core";
import type { AddressIndex } from "../core/access/address-index.ts";
import type { Environment } from "../core/access/entitlement.ts";
import type { Certificate } from "../core/certificates/certificate.ts";
import { deriveIssuanceChangeId } from "../core/certificates/issuance-entry.ts";
import type { IssuerSignature, OpenedCertificate, PublishedCertificate } from "../core/certificates/published-certificate.ts";
import { listEmailAddresses } from "../core/certificates/recognized-fields.ts";
import { fromBase64Url, toBase64Url } from "../core/bytes.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { businessChainFields } from "./accounts.ts";
import { batch, type Database, type Found, type Statement } from "./database.ts";
import {
  acceptedEntitiesField,
  entitiesField,
  rejectedEntitiesField,
  sortWithdrawnEntities,
  listOpenedEntityWithdrawals,
  originDomainField,
  withdrawnEntitiesField,
} from "./entity-withdrawals.ts";
import { isIssuanceRecorded, isRecorded, issuanceRecordedAtField } from "./audit-entries.ts";
import { firstAnchorField, isIssuanceReceipt, isStoredIssuance, issuanceAnchorFields, toIssuanceAnchor } from "./published-anchors.ts";
import {
  anchors,
  auditEntries,
  businesses,
  ceaseAcknowledgements,
  certificateForms,
  certificates,
  certificateTwins,
  disclosures,
  policyCaptures,
  policySnapshots,
  purposes,
  receipts,
  withdrawals,
} from "./schema.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { prepareOnce } from "./prepared.ts";
import { jsonRows } from "./json-rows.ts";
import { allOf, jsonList, query } from "./query.ts";
import { columnContext, type Vault } from "./vault.ts";
import { openWithdrawal, withdrawalProofField } from "./withdrawals.ts";

/** The encryption context of a certificate's subject and evidence, which are sealed together. */
export const personContext = columnContext("certificates", "person", { isCompressed: true });

const { id, kind, sourceUrl, contentHash, capturedAt } = policySnapshots;
const policiesField = jsonRows({ id, kind, sourceUrl, contentHash, capturedAt }, (rows) =>
  query
    .select({ rows })
    .from(policyCaptures)
    .innerJoin(policySnapshots, or(eq(id, policyCaptures.privacyId), eq(id, policyCaptures.termsId)))
    .where(eq(policyCaptures.ord, certificates.policyCaptureId)),
);

/** Matches the audit entry for the issuance of the certificate in the outer query. */
const isIssuanceEntry = allOf(eq(auditEntries.entityId, certificates.id), eq(auditEntries.type, "certificate.issued"));

const publishedFields = {
  id: certificates.id,
  businessId: certificates.businessId,
  businessName: certificateForms.businessName,
  environment: certificates.environment,
  status: certificates.status,
  purpose: purposes.purpose,
  disclosureText: disclosures.text,
  disclosureHash: certificateForms.disclosureHash,
  entities: entitiesField,
  accepted: acceptedEntitiesField,
  rejected: rejectedEntitiesField,
  originDomain: originDomainField,
  issuedAt: certificates.issuedAt,
  fingerprint: certificates.fingerprint,
  subjectHash: certificates.subjectHash,
  subjectMasked: certificates.subjectMasked,
  subjectErasedAt: certificates.subjectErasedAt,
  notes: certificates.submissionNotes,
  gpc: certificates.gpc,
  capturedVia: certificateForms.capturedVia,
  signature: certificates.signature,
  signatureKid: certificateForms.signatureKid,
  viewCount: certificates.viewCount,
  policyCaptureId: certificates.policyCaptureId,
  policies: policiesField,
  ...issuanceAnchorFields,
  withdrawal: withdrawalProofField,
  entitiesWithdrawn: withdrawnEntitiesField,
  revocation: firstAnchorField(allOf(eq(anchors.entityId, certificates.id), eq(anchors.event, "certificate.revoked")).inlineParams()),
};

/**
 * Almost every certificate has a receipt, so receipts are joined. Withdrawals are rare, so `publishedFields` selects them with a subquery.
 */
const selectPublished = <More extends SelectedFields>(db: Database, more: More) =>
  db
    .select({ ...publishedFields, ...more })
    .from(certificates)
    .innerJoin(purposes, eq(purposes.id, certificates.purposeId))
    .innerJoin(certificateForms, eq(certificateForms.id, certificates.formId))
    .innerJoin(disclosures, eq(disclosures.hash, certificateForms.disclosureHash))
    .leftJoin(anchors, isStoredIssuance)
    .leftJoin(receipts, isIssuanceReceipt);

type PublishedRow = Awaited<ReturnType<ReturnType<typeof selectPublished<Record<never, never>>>["all"]>>[number];

const toSignature = (kid: string, value: string): IssuerSignature => ({ kid, alg: "Ed25519", value });

const toPublishedCertificate = (row: PublishedRow): PublishedCertificate => {
  const { accepted, rejected, signature, signatureKid, policyCaptureId, policies, withdrawal, revocation, entitiesWithdrawn, ...found } =
    row;
  const { changeOrd, storedStatement, receipts: batchOfReceipts, waitsFor, ...rest } = found;
  return {
    ...rest,
    anchor: toIssuanceAnchor(rest, { changeOrd, storedStatement, receipts: batchOfReceipts, waitsFor }),
    answered: accepted === null || rejected === null ? null : { accepted, rejected },
    signature: toSignature(signatureKid, signature),
    policiesCaptured: policyCaptureId !== null,
    policies: policies.toSorted((a, b) => (a.kind < b.kind ? -1 : 1)),
    entitiesWithdrawn: sortWithdrawnEntities(entitiesWithdrawn),
    withdrawal: withdrawal && { ...withdrawal, signature: toSignature(withdrawal.signatureKid, withdrawal.signature), anchor: revocation },
  };
};

const { fingerprint, issuedAt, canonical, signature, signatureKid } = certificateTwins;
const twinsField = jsonRows({ fingerprint, issuedAt, canonical, signature, signatureKid }, (rows) =>
  query.select({ rows }).from(certificateTwins).where(eq(certificateTwins.certId, certificates.id)),
);

const selectPublishedById = prepareOnce<{ certId: CertId }>()((db, { certId }) =>
  selectPublished(db, { twins: twinsField }).where(eq(certificates.id, certId)).prepare(),
);

/** Finds a certificate for public verification. Returns null if the certificate is unknown. SPEC Public verification. */
export const findPublishedCertificate = async (db: Database, certId: CertId): Promise<PublishedCertificate | null> => {
  const row = await selectPublishedById(db, { certId }).get();
  if (row === undefined) return null;
  const { twins, ...certificate } = row;
  const duplicates = twins.map(({ signature: value, signatureKid: kid, ...twin }) => ({ ...twin, signature: toSignature(kid, value) }));
  return { ...toPublishedCertificate(certificate), ...(duplicates.length > 0 && { duplicates }) };
};

/** Like `findPublishedCertificate`, but returns a `Lookup` and omits `duplicates`. */
export const lookUpPublishedCertificate = (db: Database, certId: CertId): Lookup<PublishedCertificate | null> =>
  createLookup(db, [selectPublished(db, {}).where(eq(certificates.id, certId))], ([[row]]) =>
    row === undefined ? null : toPublishedCertificate(row),
  );

/**
 * Returns the end of a certificate's retention period, and the time at which the audit log recorded its issuance (null if it has not). The
 * result is null if the certificate is unknown.
 */
export const lookUpCustody = (
  db: Database,
  certId: CertId,
): Lookup<{ readonly retentionUntil: Instant; readonly loggedAt: Instant | null } | null> => {
  const fields = { retentionUntil: certificates.retentionUntil, loggedAt: issuanceRecordedAtField };
  return createLookup(db, [db.select(fields).from(certificates).where(eq(certificates.id, certId))], ([[row]]) => row ?? null);
};

const selectForPage = prepareOnce<{ certId: CertId }>()((db, { certId }) => {
  return selectPublished(db, { loggedAt: issuanceRecordedAtField }).where(eq(certificates.id, certId)).prepare();
});

/**
 * Runs `viewStatements`, which record the view, and then reads the certificate for its public page, in one round trip. Also returns the
 * time at which the audit log recorded the issuance. Returns null if the certificate is unknown.
 */
export const findCertificateForPage = async (
  db: Database,
  certId: CertId,
  viewStatements: readonly Statement[] = [],
): Promise<{ readonly certificate: PublishedCertificate; readonly loggedAt: Instant | null } | null> => {
  const page = selectForPage(db, { certId });
  const [row] = (await batch(db, [...viewStatements, page])).at(-1) as (typeof page)["_"]["result"];
  if (row === undefined) return null;
  const { loggedAt, ...certificate } = row;
  return { certificate: toPublishedCertificate(certificate), loggedAt };
};

interface OwnedCertificateRef {
  readonly certId: CertId;
  readonly businessId: BusinessId;
  readonly environment: Environment;
}

const selectOwnedById = prepareOnce<OwnedCertificateRef>()((db, { certId, businessId, environment }) => {
  const { retentionUntil, evidenceHash, personSealed } = certificates;
  const entered = query.select({ id: auditEntries.id }).from(auditEntries).where(allOf(isIssuanceEntry, isRecorded));
  return selectPublished(db, {
    own: { retentionUntil, evidenceHash, personSealed },
    chain: businessChainFields,
    issuedEntry: sql<string | null>`${entered}`,
    audit: { salt: certificates.auditSalt, isRecorded: isIssuanceRecorded.mapWith(Boolean) },
    sealed: { channel: withdrawals.channel, noteSealed: withdrawals.noteSealed, detailsSealed: ceaseAcknowledgements.detailsSealed },
  })
    .innerJoin(businesses, eq(businesses.id, certificates.businessId))
    .leftJoin(withdrawals, eq(withdrawals.certId, certificates.id))
    .leftJoin(ceaseAcknowledgements, eq(ceaseAcknowledgements.certId, certificates.id))
    .where(allOf(eq(certificates.id, certId), eq(certificates.businessId, businessId), eq(certificates.environment, environment)))
    .prepare();
});

/**
 * Returns a certificate for its business, with the decrypted data of the person and the evidence. Returns null if the certificate is
 * unknown, or belongs to another business or environment. SPEC Certificate API.
 */
export const findOpenedCertificate = async (db: Database, vault: Vault, ref: OwnedCertificateRef): Promise<OpenedCertificate | null> => {
  const row = await selectOwnedById(db, ref).get();
  if (row === undefined) return null;
  const { own, chain, issuedEntry, audit, sealed, ...rest } = row;
  const certificate = toPublishedCertificate(rest);
  const [person, withdrawal, entitiesWithdrawn] = await Promise.all([
    own.personSealed === null ? null : openPerson(vault, row.id, row.businessId, own.personSealed),
    certificate.withdrawal === null ? null : openWithdrawal(vault, ref, sealed),
    certificate.entitiesWithdrawn.length === 0 ? [] : listOpenedEntityWithdrawals(db, vault, ref),
  ]);
  return {
    certificate,
    subject: person?.subject ?? null,
    evidence: person?.evidence ?? null,
    evidenceHash: own.evidenceHash,
    retentionUntil: own.retentionUntil,
    chain,
    issuedEntry: audit.salt === null || !audit.isRecorded ? issuedEntry : deriveIssuanceChangeId(audit.salt),
    withdrawal,
    entitiesWithdrawn,
  };
};

/**
 * Returns the newest of these certificates with its decrypted data, for comparison with a repeated submission. Ignores certificates that
 * were not issued after `since`, and certificates whose personal data is erased. Returns null if no certificate remains.
 */
export const findIssuance = async (db: Database, vault: Vault, ids: readonly CertId[], since: Instant) => {
  const row = await db
    .select({
      certId: certificates.id,
      businessId: certificates.businessId,
      clientId: certificateForms.clientId,
      environment: certificates.environment,
      purpose: purposes.purpose,
      disclosureText: disclosures.text,
      entities: entitiesField,
      accepted: acceptedEntitiesField,
      rejected: rejectedEntitiesField,
      issuedAt: certificates.issuedAt,
      fingerprint: certificates.fingerprint,
      notes: certificates.submissionNotes,
      personSealed: certificates.personSealed,
    })
    .from(certificates)
    .innerJoin(purposes, eq(purposes.id, certificates.purposeId))
    .innerJoin(certificateForms, eq(certificateForms.id, certificates.formId))
    .innerJoin(disclosures, eq(disclosures.hash, certificateForms.disclosureHash))
    .where(allOf(inArray(certificates.id, jsonList(ids)), gt(certificates.issuedAt, since), isNull(certificates.subjectErasedAt)))
    .orderBy(desc(certificates.issuedAt))
    .limit(1)
    .get();
  if (row?.personSealed == null) return null;
  const { accepted, rejected, personSealed, notes, businessId, ...certificate } = row;
  const { subject, evidence } = await openPerson(vault, row.certId, businessId, personSealed);
  return {
    ...certificate,
    answered: accepted === null || rejected === null ? null : { accepted, rejected },
    fieldsUnrecognized: notes?.fields_unrecognized ?? [],
    ...subject,
    pageUrl: String(evidence.page_url),
  };
};

export type StoredIssuance = Found<typeof findIssuance>;

/** Returns the evidence, or null if the person's data is erased. Throws if the certificate is unknown. */
export const getCertificateEvidence = async (
  db: Database,
  vault: Vault,
  { id, businessId }: Pick<PublishedCertificate, "id" | "businessId">,
): Promise<OpenedCertificate["evidence"]> => {
  const { personSealed } = certificates;
  const row = await db.select({ personSealed }).from(certificates).where(eq(certificates.id, id)).get();
  if (row === undefined) throw new Error("certificates: no certificate with this id");
  return row.personSealed === null ? null : (await openPerson(vault, id, businessId, row.personSealed)).evidence;
};

interface Person {
  readonly subject: NonNullable<OpenedCertificate["subject"]>;
  readonly evidence: NonNullable<OpenedCertificate["evidence"]>;
}

/** The sealed data about a person. It is a list, because property names would take space in every row. */
type PersonText = readonly [evidence: Person["evidence"], rootSalt: string, fields: readonly (readonly [string, string])[]];

export const formatPerson = ({ evidenceText, rootSalt, fields }: Pick<Certificate, "evidenceText" | "rootSalt" | "fields">): string =>
  `[${evidenceText},${JSON.stringify(toBase64Url(rootSalt))},${JSON.stringify([...fields])}]`;

const openPerson = async (vault: Vault, certId: string, businessId: string, personSealed: string): Promise<Person> => {
  const text = await vault.open(personContext(certId, businessId), personSealed);
  const [evidence, salt, fields] = JSON.parse(text) as PersonText;
  const rootSalt = fromBase64Url(salt);
  if (rootSalt === null) throw new Error("certificates: a sealed subject has no root salt");
  return { subject: { fields: new Map(fields), rootSalt }, evidence };
};

/** Returns the root salt of the commitments to a person's fields. */
export const openRootSalt = async (vault: Vault, certId: string, businessId: string, personSealed: string): Promise<Uint8Array> =>
  (await openPerson(vault, certId, businessId, personSealed)).subject.rootSalt;

/**
 * Returns the email address with this blind index, as the person typed it. Returns null if the certificate does not contain it or the data
 * is erased.
 */
export const openPersonEmail = async (
  vault: Vault,
  certId: string,
  businessId: string,
  personSealed: string | null,
  addressIndex: AddressIndex,
): Promise<string | null> => {
  if (personSealed === null) return null;
  const { fields } = (await openPerson(vault, certId, businessId, personSealed)).subject;
  const addresses = await Promise.all(
    listEmailAddresses(fields).map(async ([typed, normalized]) => [typed, await vault.blindIndex("email", normalized)] as const),
  );
  return addresses.find(([, index]) => index === addressIndex)?.[0] ?? null;
};

/**
 * Returns the domains on which these certificates were issued, by certificate ID. Omits certificates of other businesses. The business is
 * checked after the query, because with a condition on the business, SQLite would read all of its certificates.
 */
export const listOriginDomains = (db: Database, businessId: BusinessId, ids: readonly string[]): Lookup<ReadonlyMap<string, string>> =>
  createLookup(
    db,
    [
      db
        .select({ id: certificates.id, businessId: certificates.businessId, originDomain: originDomainField })
        .from(certificates)
        .where(inArray(certificates.id, jsonList(ids))),
    ],
    ([rows]) => new Map(rows.flatMap((row) => (row.businessId === businessId ? [[row.id, row.originDomain] as const] : []))),
  );
