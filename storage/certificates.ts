// Stores issued certificates and reads them for verification, the public page and the detail view. Each read is one query.
import { desc, eq, gt, inArray, isNull, or, sql, type Placeholder, type SQL } from "drizzle-orm";
import type { SelectedFields } from "drizzle-orm/sqlite-core";
import type { Environment } from "../core/access/entitlement.ts";
import type { StorageLimit, StorageLimits } from "../core/access/storage-limits.ts";
import type { IssuedCertificate } from "../core/certificates/issue.ts";
import { deriveIssuanceChangeId } from "../core/certificates/issuance-entry.ts";
import type { IssuerSignature, OpenedCertificate, PublishedCertificate } from "../core/certificates/published-certificate.ts";
import { listEmailAddresses } from "../core/certificates/recognized-fields.ts";
import { maskSubject } from "../core/certificates/subject.ts";
import { toBase64Url, fromBase64Url } from "../core/bytes.ts";
import { toCanonicalJson } from "../core/canonical-json.ts";
import { sha256Hex } from "../core/hash.ts";
import { shardOfId, type BusinessId, type CertId } from "../core/ids.ts";
import { dayMs, type Instant } from "../core/time.ts";
import { businessChainFields } from "./accounts.ts";
import { batch, type Database, type Found, type Statement } from "./database.ts";
import { insertCertificateAddresses, type AddressIndexes } from "./certificate-addresses.ts";
import { hasGroupsLeft, recordSubmissionUsage, type ClientUsageDay } from "./client-usage.ts";
import { countStoredRecord } from "./record-usage.ts";
import {
  acceptedEntitiesField,
  entitiesField,
  rejectedEntitiesField,
  sortWithdrawnEntities,
  listOpenedEntityWithdrawals,
  withdrawnEntitiesField,
} from "./entity-withdrawals.ts";
import { isConstraintViolation } from "./faults.ts";
import { isIssuanceRecorded, isRecorded, issuanceRecordedAtField } from "./audit-entries.ts";
import { firstAnchorField, isIssuanceReceipt, isStoredIssuance, issuanceAnchorFields, toIssuanceAnchor } from "./anchors.ts";
import { nextChangeOrd } from "./changes.ts";
import { excluded } from "./inserts.ts";
import { selectIssuer } from "./issuing-shards.ts";
import { requestPolicyCapture, selectRequestedPage } from "./policy-pages.ts";
import { isSharedCapture } from "./policies.ts";
import {
  anchors,
  auditEntries,
  businesses,
  ceaseAcknowledgements,
  certificateGroups,
  certificates,
  certificateTwins,
  certificateTotals,
  disclosures,
  entityLists,
  policyCaptures,
  policySnapshots,
  purposes,
  receipts,
  withdrawals,
} from "./schema.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { prepareOnce, rowPlaceholders, type Placeholders } from "./prepared.ts";
import { jsonRows } from "./json-rows.ts";
import { allOf, jsonList, notExistsIn, query } from "./query.ts";
import { columnContext, sealedToHex, type Vault } from "./vault.ts";
import { openWithdrawal, withdrawalProofField } from "./withdrawals.ts";

const personContext = columnContext("certificates", "person", { isCompressed: true });

/** Returns true if the issuance failed because a certificate with this ID exists. */
export const isCertIdTaken = (error: unknown): boolean => isConstraintViolation(error, "UNIQUE", certificates.id);

/** Returns true if the issuance failed because the account has changed since the revision that the decision was based on. */
export const isOutdatedRevision = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", certificates.businessId);

/** Returns the normalized form for case-insensitive search, because SQLite's lower() handles only ASCII. */
export const foldPurpose = (purpose: string): string => purpose.normalize("NFC").toLowerCase();

interface PurposeKey {
  readonly businessId: BusinessId;
  readonly environment: Environment;
  readonly purpose: string;
}

const insertPurpose = (db: Database, { businessId, environment, purpose }: PurposeKey) =>
  db
    .insert(purposes)
    .values({ businessId, environment, purpose, purposeFolded: foldPurpose(purpose) })
    .onConflictDoNothing();

/** Stores a disclosure text under its hash unless it is already stored. The first live record marks it as live, so that it is kept. */
export const insertDisclosure = (db: Database, disclosure: typeof disclosures.$inferSelect) =>
  db
    .insert(disclosures)
    .values(disclosure)
    .onConflictDoUpdate({
      target: disclosures.hash,
      set: { environment: "live" },
      setWhere: allOf(eq(disclosures.environment, "sandbox"), eq(excluded(disclosures.environment), "live")),
    });

const isMatchingPurpose = ({ businessId, environment, purpose }: PurposeKey | Placeholders<PurposeKey>) =>
  allOf(eq(purposes.businessId, businessId), eq(purposes.environment, environment), eq(purposes.purpose, purpose));

interface GroupKey extends PurposeKey {
  readonly entitiesHash: string;
}

const toListRow = (entities: readonly string[]) => ({ hash: sha256Hex(toCanonicalJson([...entities])), entities });

/** Stores a list of recipients under its hash unless it is already stored. */
const insertEntityList = (db: Database, list: Omit<typeof entityLists.$inferSelect, "id">) =>
  db
    .insert(entityLists)
    .values(list)
    .onConflictDoUpdate({
      target: entityLists.hash,
      set: { environment: "live" },
      setWhere: allOf(eq(entityLists.environment, "sandbox"), eq(excluded(entityLists.environment), "live")),
    });

const isMatchingGroup = ({ originDomain, entitiesHash, ...purpose }: GroupKey & { readonly originDomain: string }) =>
  allOf(
    eq(certificateGroups.purposeId, sql`(${query.select({ id: purposes.id }).from(purposes).where(isMatchingPurpose(purpose))})`),
    eq(
      certificateGroups.entityListId,
      sql`(${query.select({ id: entityLists.id }).from(entityLists).where(eq(entityLists.hash, entitiesHash))})`,
    ),
    eq(certificateGroups.originDomain, originDomain),
  );

/** Every search reads all of a business's counted groups, so their number is limited. */
const maxCountedGroups = 500;

/**
 * Stores the combination of purpose, recipients and origin unless it is already stored. A new combination gets no counters if the business
 * has 500 groups with counters, or if the client has reached its daily limit of new groups. `usage` must have been recorded earlier in the
 * batch. It is null for a submission with an API key, which has no daily limit because only the business can send it.
 */
const insertCertificateGroup = (
  db: Database,
  { originDomain, ...key }: GroupKey & { readonly originDomain: string },
  usage: (ClientUsageDay & { readonly maxGroups: number }) | null,
) => {
  const { countedGroups } = certificateTotals;
  const groups = query
    .select({ countedGroups })
    .from(certificateTotals)
    .where(allOf(eq(certificateTotals.businessId, key.businessId), eq(certificateTotals.environment, key.environment)));
  const isBelowTotal = sql`coalesce((${groups}), 0) < ${maxCountedGroups}`;
  const isBelowDay = usage === null ? sql`true` : hasGroupsLeft(usage, usage.maxGroups);
  return db
    .insert(certificateGroups, "purposeId", "entityListId", "originDomain", "businessId", "environment", "counted")
    .select(
      query
        .select({
          purposeId: purposes.id,
          entityListId: entityLists.id,
          originDomain: sql`${originDomain}`.as("origin_domain"),
          businessId: purposes.businessId,
          environment: purposes.environment,
          counted: sql`(${isBelowTotal} and ${isBelowDay})`.as("counted"),
        })
        .from(purposes)
        .innerJoin(entityLists, eq(entityLists.hash, key.entitiesHash))
        .where(isMatchingPurpose(key)),
    )
    .onConflictDoNothing();
};

interface IssuanceBasis extends GroupKey {
  readonly revision: number;
  /** Hashes of the lists of accepted and rejected recipients; null if the form did not ask about each one. */
  readonly acceptedHash: string | null;
  readonly rejectedHash: string | null;
  readonly policiesNotBefore: Instant;
  readonly policyOrigin: string;
  readonly policyPage: string;
}
/** The columns of the row, except those that the insert looks up and those with a default. */
type CertificateRow = Omit<
  typeof certificates.$inferSelect,
  | "ord"
  | "purposeId"
  | "groupId"
  | "counted"
  | "acceptedListId"
  | "rejectedListId"
  | "policyCaptureId"
  | "policyPageId"
  | "status"
  | "subjectErasedAt"
  | "viewCount"
  | "viewRows"
  | "changeOrd"
>;

/** What an insert depends on: the account, the shard's copy of the account in another shard, or nothing. */
type InsertCheck = "account" | "copy" | "none";

const prepareCertificateInsert = (check: InsertCheck) =>
  prepareOnce<CertificateRow & IssuanceBasis>()((db, values) => {
    const { businessId, originDomain } = values;
    const unchanged = query
      .select({ id: businesses.id })
      .from(businesses)
      .where(allOf(eq(businesses.id, businessId), eq(businesses.revision, values.revision)));
    const issuer: Readonly<Record<InsertCheck, SQL | typeof businessId>> = {
      account: sql`${unchanged}`,
      copy: selectIssuer(sql`${businessId}`, sql`${values.revision}`),
      none: businessId,
    };
    const purpose = query.select({ id: purposes.id }).from(purposes).where(isMatchingPurpose(values));
    const listWith = (hash: Placeholder) =>
      sql`${query
        .select({ id: entityLists.id })
        .from(entityLists)
        .where(eq(entityLists.hash, sql`${hash}`))}`;
    const ofGroup = (field: typeof certificateGroups.id | typeof certificateGroups.counted) =>
      query
        .select({ field })
        .from(certificateGroups)
        .where(
          allOf(
            eq(certificateGroups.purposeId, sql`${purpose}`),
            eq(certificateGroups.entityListId, listWith(values.entitiesHash)),
            eq(certificateGroups.originDomain, originDomain),
          ),
        );
    const shared = query
      .select({ id: policyCaptures.id })
      .from(policyCaptures)
      .where(isSharedCapture(values.policyOrigin, values.policyPage, values.policiesNotBefore))
      .orderBy(desc(policyCaptures.capturedAt))
      .limit(1);
    const { ord, status, subjectErasedAt, viewCount, viewRows, changeOrd, ...given } = rowPlaceholders(certificates);
    return db
      .insert(certificates)
      .values({
        ...given,
        businessId: issuer[check],
        subjectHash: sql`unhex(${values.subjectHash})`,
        personSealed: sql`unhex(${values.personSealed})`,
        evidenceHash: sql`unhex(${values.evidenceHash})`,
        manageTokenHash: sql`unhex(${values.manageTokenHash})`,
        purposeId: sql`${purpose}`,
        groupId: sql`${ofGroup(certificateGroups.id)}`,
        counted: sql`${ofGroup(certificateGroups.counted)}`,
        acceptedListId: listWith(values.acceptedHash),
        rejectedListId: listWith(values.rejectedHash),
        policyCaptureId: sql`${shared}`,
        changeOrd: nextChangeOrd,
        policyPageId: selectRequestedPage(values),
      })
      .prepare();
  });
/** Returns the limit without its maximums, so that usage is counted but never refused. */
const unlimited = ({ days }: StorageLimit): StorageLimit => ({ days, records: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER });

const insertCheckedCertificate = prepareCertificateInsert("account");
const insertIntoOtherShard = prepareCertificateInsert("copy");
const insertCertificateUnconditionally = prepareCertificateInsert("none");

/**
 * The statements of an issuance, by name. `usage` returns whether the client is near its daily limit. `policyRequest` returns a row when a
 * capture of the certificate's page was requested, because there is no recent capture to share and none has been requested for that page
 * yet. Purpose, disclosure, recipients and group are written only if they are new.
 *
 * The insert looks up the certificate's `business_id` under the revision that the decision was based on. If the account, a domain or a
 * client has changed since, the result is NULL, the NOT NULL constraint fails, and the whole batch is rolled back (`isOutdatedRevision`). A
 * certificate is therefore never committed after a change that forbids it, however long the account was cached. SPEC Certificate. In another
 * shard than that of the account, the lookup reads the revision that can issue there (issuing-shards.ts).
 *
 * `buildUnconditional` returns the same sealed rows without the conditions on the account and the daily limits. They store a certificate
 * whose submission was accepted with 201 while the database did not respond.
 */
export const insertIssuance = async (
  db: Database,
  vault: Vault,
  issued: IssuedCertificate,
  stored: {
    readonly revision: number;
    readonly signature: IssuerSignature;
    readonly manageTokenHash: string;
    readonly addresses: AddressIndexes;
    /** A policy capture of the origin can be shared if it is newer than this time. */
    readonly policiesNotBefore: Instant;
    /** Scheme, host and port of the page that contains the form. */
    readonly policyOrigin: string;
    /** URL of the page that contains the form, without query and fragment, because it is stored as plain text. */
    readonly policyPage: string;
    readonly storageLimits: StorageLimits;
    /** Whether the submission was sent with an API key, so that the business's limit applies instead of the client's. */
    readonly hasApiKey: boolean;
  },
) => {
  const { certificate } = issued;
  const { id, business, disclosureHash, environment } = certificate;
  const { entities, answered } = certificate.recipients;
  const subject = toCanonicalJson({ root_salt: toBase64Url(certificate.rootSalt), fields: [...certificate.fields] });
  // Subject and evidence are erased together, so one key seals both.
  const personSealed = sealedToHex(
    await vault.seal(personContext(id, business.id), `{"evidence":${certificate.evidenceText},"subject":${subject}}`),
  );
  const { storageLimits, hasApiKey } = stored;
  const entitiesText = toCanonicalJson([...entities]);
  const entitiesHash = sha256Hex(entitiesText);
  const answers = answered && { accepted: toListRow(answered.accepted), rejected: toListRow(answered.rejected) };
  const answeredText = toCanonicalJson(answered === undefined ? null : { ...answered });
  const purposeKey = { businessId: business.id, environment: certificate.environment, purpose: certificate.purpose };
  const usage = {
    clientId: certificate.clientId,
    day: Math.floor(certificate.issuedAt / dayMs),
    ownBytes: personSealed.length / 2 + answeredText.length,
    disclosureHash,
    disclosureBytes: certificate.disclosureText.length,
    entitiesHash,
    entitiesBytes: entitiesText.length,
    maxSubmissions: hasApiKey ? null : storageLimits.client.records,
    maxBytes: hasApiKey ? null : storageLimits.client.bytes,
    isNewGroup: notExistsIn(certificateGroups, isMatchingGroup({ ...purposeKey, entitiesHash, originDomain: certificate.originDomain })),
  };
  const ownerKind = environment === "sandbox" ? "sandbox" : "business";
  const storedRecord = {
    owner: { kind: ownerKind, id: business.id },
    now: certificate.issuedAt,
    ownBytes: usage.ownBytes,
    disclosure: { hash: disclosureHash, bytes: usage.disclosureBytes },
    entities: { hash: entitiesHash, bytes: usage.entitiesBytes },
  } as const;
  const row = {
    ...certificate,
    ...stored,
    emailIndexes: stored.addresses.emails,
    phoneIndexes: stored.addresses.phones,
    submissionNotes: Object.keys(certificate.notes).length > 0 ? certificate.notes : null,
    businessId: business.id,
    businessName: business.name,
    entitiesHash,
    acceptedHash: answers?.accepted.hash ?? null,
    rejectedHash: answers?.rejected.hash ?? null,
    subjectMasked: maskSubject(certificate.fields, certificate.notes.fields_unrecognized),
    personSealed,
    gpc: certificate.captureContext.gpc,
    capturedVia: certificate.captureContext.capturedVia,
    signature: stored.signature.value,
    signatureKid: stored.signature.kid,
  };
  const insertChecked = shardOfId(id) === shardOfId(business.id) ? insertCheckedCertificate : insertIntoOtherShard;
  const build = (isChecked: boolean) => ({
    usage: recordSubmissionUsage(db, usage, isChecked),
    ...((hasApiKey || ownerKind === "sandbox") && {
      ownerUsage: countStoredRecord(db, storedRecord, isChecked ? storageLimits[ownerKind] : unlimited(storageLimits[ownerKind])),
    }),
    purpose: insertPurpose(db, purposeKey),
    disclosure: insertDisclosure(db, { hash: disclosureHash, text: certificate.disclosureText, environment }),
    entityList: insertEntityList(db, { hash: entitiesHash, entities, environment }),
    ...(answers && {
      acceptedList: insertEntityList(db, { ...answers.accepted, environment }),
      rejectedList: insertEntityList(db, { ...answers.rejected, environment }),
    }),
    group: insertCertificateGroup(
      db,
      { ...purposeKey, entitiesHash, originDomain: certificate.originDomain },
      hasApiKey ? null : { ...usage, maxGroups: storageLimits.newGroups },
    ),
    policyRequest: requestPolicyCapture(db, { ...stored, businessId: business.id }, certificate.issuedAt),
    certificate: isChecked ? insertChecked(db, row) : insertCertificateUnconditionally(db, row),
    addresses: insertCertificateAddresses(db, id, stored.addresses),
  });
  return { statements: build(true), buildUnconditional: () => build(false), subjectMasked: row.subjectMasked };
};

const { id, kind, sourceUrl, contentHash, capturedAt } = policySnapshots;
const policiesField = jsonRows({ id, kind, sourceUrl, contentHash, capturedAt }, (rows) =>
  query
    .select({ rows })
    .from(policyCaptures)
    .innerJoin(policySnapshots, or(eq(id, policyCaptures.privacyId), eq(id, policyCaptures.termsId)))
    .where(eq(policyCaptures.id, certificates.policyCaptureId)),
);

/** Matches the audit entry for issuing the certificate in the outer query. */
const isIssuanceEntry = allOf(eq(auditEntries.entityId, certificates.id), eq(auditEntries.type, "certificate.issued"));

const publishedFields = {
  id: certificates.id,
  businessId: certificates.businessId,
  businessName: certificates.businessName,
  environment: certificates.environment,
  status: certificates.status,
  purpose: purposes.purpose,
  disclosureText: disclosures.text,
  disclosureHash: certificates.disclosureHash,
  entities: entitiesField,
  accepted: acceptedEntitiesField,
  rejected: rejectedEntitiesField,
  originDomain: certificates.originDomain,
  issuedAt: certificates.issuedAt,
  fingerprint: certificates.fingerprint,
  subjectHash: certificates.subjectHash,
  subjectMasked: certificates.subjectMasked,
  subjectErasedAt: certificates.subjectErasedAt,
  notes: certificates.submissionNotes,
  gpc: certificates.gpc,
  capturedVia: certificates.capturedVia,
  signature: certificates.signature,
  signatureKid: certificates.signatureKid,
  viewCount: certificates.viewCount,
  policyCaptureId: certificates.policyCaptureId,
  policies: policiesField,
  ...issuanceAnchorFields,
  withdrawal: withdrawalProofField,
  entitiesWithdrawn: withdrawnEntitiesField,
  revocation: firstAnchorField(allOf(eq(anchors.entityId, certificates.id), eq(anchors.event, "certificate.revoked")).inlineParams()),
};

/**
 * Joins the receipts, because every certificate has one and they should not be JSON inside JSON. The withdrawal is a sub-select, because
 * few certificates have one.
 */
const selectPublished = <More extends SelectedFields>(db: Database, more: More) =>
  db
    .select({ ...publishedFields, ...more })
    .from(certificates)
    .innerJoin(purposes, eq(purposes.id, certificates.purposeId))
    .innerJoin(disclosures, eq(disclosures.hash, certificates.disclosureHash))
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

/** Finds the published certificate. Returns null if it is unknown. SPEC Public verification. */
export const findPublishedCertificate = async (db: Database, certId: CertId): Promise<PublishedCertificate | null> => {
  const row = await selectPublishedById(db, { certId }).get();
  if (row === undefined) return null;
  const { twins, ...certificate } = row;
  const duplicates = twins.map(({ signature: value, signatureKid: kid, ...twin }) => ({ ...twin, signature: toSignature(kid, value) }));
  return { ...toPublishedCertificate(certificate), ...(duplicates.length > 0 && { duplicates }) };
};

/** Like `findPublishedCertificate`, but as a lookup that can be combined with others. */
export const lookUpPublishedCertificate = (db: Database, certId: CertId): Lookup<PublishedCertificate | null> =>
  createLookup(db, [selectPublished(db, {}).where(eq(certificates.id, certId))], ([[row]]) =>
    row === undefined ? null : toPublishedCertificate(row),
  );

/**
 * Looks up when a certificate's personal details are erased, and when its issuance entered the audit log, which is null until then. The
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
 * Returns the certificate as shown on the public page, and the time when the audit log recorded its issuance. Returns null if the
 * certificate is unknown. The same round trip runs `viewStatements`, which record the view, and the result reflects their changes.
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

const selectOwnedById = (db: Database, { certId, businessId, environment }: OwnedCertificateRef) => {
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
    .where(allOf(eq(certificates.id, certId), eq(certificates.businessId, businessId), eq(certificates.environment, environment)));
};

/**
 * Returns the owner's view of a certificate, with subject and evidence decrypted. Returns null if the certificate is unknown or belongs to
 * another business. SPEC Certificate API.
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
 * Returns the newest of these certificates that was issued after `since`, opened, to compare a repeated submission with it and to repeat
 * its receipt. Returns null if there is none, or if the person's data has been erased.
 */
export const findIssuance = async (db: Database, vault: Vault, ids: readonly CertId[], since: Instant) => {
  const row = await db
    .select({
      certId: certificates.id,
      businessId: certificates.businessId,
      clientId: certificates.clientId,
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
    .innerJoin(disclosures, eq(disclosures.hash, certificates.disclosureHash))
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

/** Returns a certificate's capture evidence, or null once its personal data is erased. Throws if the certificate is unknown. */
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

const openPerson = async (vault: Vault, certId: string, businessId: string, personSealed: string): Promise<Person> => {
  const { subject, evidence } = JSON.parse(await vault.open(personContext(certId, businessId), personSealed)) as {
    readonly subject: { readonly root_salt: string; readonly fields: readonly (readonly [string, string])[] };
    readonly evidence: Person["evidence"];
  };
  const rootSalt = fromBase64Url(subject.root_salt);
  if (rootSalt === null) throw new Error("certificates: a sealed subject has no root salt");
  return { subject: { fields: new Map(subject.fields), rootSalt }, evidence };
};

/** Returns the email address with this blind index, exactly as entered in the form, or null if the person does not have it or is erased. */
export const openPersonEmail = async (
  vault: Vault,
  certId: string,
  businessId: string,
  personSealed: string | null,
  addressIndex: string,
): Promise<string | null> => {
  if (personSealed === null) return null;
  const { fields } = (await openPerson(vault, certId, businessId, personSealed)).subject;
  const addresses = await Promise.all(
    listEmailAddresses(fields).map(async ([typed, normalized]) => [typed, await vault.blindIndex("email", normalized)] as const),
  );
  return addresses.find(([, index]) => index === addressIndex)?.[0] ?? null;
};

/**
 * Returns the domains of the forms on which these certificates of the business were issued, by certificate ID. The business is compared
 * after the query, because a condition on it made SQLite read all of the business's certificates.
 */
export const listOriginDomains = (db: Database, businessId: BusinessId, ids: readonly string[]): Lookup<ReadonlyMap<string, string>> =>
  createLookup(
    db,
    [
      db
        .select({ id: certificates.id, businessId: certificates.businessId, originDomain: certificates.originDomain })
        .from(certificates)
        .where(inArray(certificates.id, jsonList(ids))),
    ],
    ([rows]) => new Map(rows.flatMap((row) => (row.businessId === businessId ? [[row.id, row.originDomain] as const] : []))),
  );
