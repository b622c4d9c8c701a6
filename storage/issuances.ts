// Stores issued certificates with their texts, recipients and purposes. certificates.ts reads them.
import { desc, eq, sql, type Placeholder, type SQL } from "drizzle-orm";
import { toStoredIndex } from "../core/access/address-index.ts";
import type { Environment } from "../core/access/entitlement.ts";
import type { StorageLimit, StorageLimits } from "../core/access/storage-limits.ts";
import type { Certificate } from "../core/certificates/certificate.ts";
import type { IssuerSignature } from "../core/certificates/published-certificate.ts";
import { maskSubject } from "../core/certificates/subject.ts";
import { toCanonicalJson } from "../core/canonical-json.ts";
import { sha256Hex } from "../core/hash.ts";
import { shardOfId, type BusinessId } from "../core/ids.ts";
import { type Instant, toDayNumber } from "../core/time.ts";
import type { Database } from "./database.ts";
import { insertCertificateAddresses, type AddressIndexes } from "./certificate-addresses.ts";
import { hasGroupsLeft, recordSubmissionUsage, type ClientUsageDay, type SubmissionUsage } from "./client-usage.ts";
import { countStoredRecord } from "./record-usage.ts";
import { isConstraintViolation } from "./faults.ts";
import { nextChangeOrd } from "./changes.ts";
import { excluded } from "./inserts.ts";
import { selectIssuer } from "./issuing-shards.ts";
import { requestPolicyCapture, selectRequestedPage } from "./policy-pages.ts";
import { isSharedCapture } from "./policies.ts";
import {
  businesses,
  certificateForms,
  certificateGroups,
  certificates,
  certificateTotals,
  disclosures,
  entityLists,
  policyCaptures,
  purposes,
} from "./schema.ts";
import { base64ToHex, base64UrlToHex } from "./byte-columns.ts";
import { prepareOnce, rowPlaceholders, type Placeholders } from "./prepared.ts";
import { allOf, notExistsIn, query } from "./query.ts";
import { sealedToHex, type Vault } from "./vault.ts";
import { formatPerson, personContext } from "./certificates.ts";

export const isCertIdTaken = (error: unknown): boolean => isConstraintViolation(error, "UNIQUE", certificates.id);

/** Returns true if the batch failed because the account has changed since it was read. */
export const isOutdatedRevision = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", certificates.businessId);

/** Converts a purpose for searches that ignore case, because SQLite's lower() handles only ASCII. */
export const foldPurpose = (purpose: string): string => purpose.normalize("NFC").toLowerCase();

interface PurposeKey {
  readonly businessId: BusinessId;
  readonly environment: Environment;
  readonly purpose: string;
}

const insertPurpose = prepareOnce<PurposeKey & { purposeFolded: string }>()((db, { businessId, environment, purpose, purposeFolded }) =>
  db.insert(purposes).values({ businessId, environment, purpose, purposeFolded }).onConflictDoNothing().prepare(),
);

/** The first live record that uses a stored row marks the row as live, so that it is never deleted with test data. */
const markLiveIfStored = ({ hash, environment }: typeof disclosures | typeof entityLists) => ({
  target: hash,
  set: { environment: "live" as const },
  setWhere: allOf(eq(environment, "sandbox"), eq(excluded(environment), "live")),
});

/** Stores a disclosure text under its hash unless it is already stored (`markLiveIfStored`). */
export const insertDisclosure = prepareOnce<typeof disclosures.$inferSelect>()((db, { hash, text, environment }) =>
  db.insert(disclosures).values({ hash, text, environment }).onConflictDoUpdate(markLiveIfStored(disclosures)).prepare(),
);

const isMatchingPurpose = ({ businessId, environment, purpose }: Placeholders<PurposeKey>) =>
  allOf(eq(purposes.businessId, businessId), eq(purposes.environment, environment), eq(purposes.purpose, purpose));

interface GroupKey extends PurposeKey {
  readonly entitiesHash: string;
  readonly originDomain: string;
}

const toListRow = (entities: readonly string[]) => ({ hash: sha256Hex(toCanonicalJson([...entities])), entities });

type Form = Omit<typeof certificateForms.$inferSelect, "id">;

/** Stores a form unless it is already stored. A form contains the values that are the same in many certificates. */
const insertForm = prepareOnce<Form>()((db, { disclosureHash, clientId, businessName, capturedVia, signatureKid }) =>
  db.insert(certificateForms).values({ disclosureHash, clientId, businessName, capturedVia, signatureKid }).onConflictDoNothing().prepare(),
);

const isMatchingForm = (form: Placeholders<Form>) =>
  allOf(
    eq(certificateForms.disclosureHash, form.disclosureHash),
    eq(certificateForms.clientId, form.clientId),
    eq(certificateForms.businessName, form.businessName),
    eq(certificateForms.capturedVia, form.capturedVia),
    eq(certificateForms.signatureKid, form.signatureKid),
  );

/** Like `insertDisclosure`, for a list of recipients. */
const insertEntityList = prepareOnce<Omit<typeof entityLists.$inferSelect, "id">>()((db, { hash, entities, environment }) =>
  db.insert(entityLists).values({ hash, entities, environment }).onConflictDoUpdate(markLiveIfStored(entityLists)).prepare(),
);

const isMatchingGroup = (group: Placeholders<GroupKey>) =>
  allOf(
    eq(certificateGroups.purposeId, sql`(${query.select({ id: purposes.id }).from(purposes).where(isMatchingPurpose(group))})`),
    eq(
      certificateGroups.entityListId,
      sql`(${query.select({ id: entityLists.id }).from(entityLists).where(eq(entityLists.hash, group.entitiesHash))})`,
    ),
    eq(certificateGroups.originDomain, group.originDomain),
  );

const prepareUsage = (isLimited: boolean) =>
  prepareOnce<SubmissionUsage & GroupKey>()((db, values) =>
    recordSubmissionUsage(db, values, notExistsIn(certificateGroups, isMatchingGroup(values)), isLimited).prepare(),
  );
const recordLimitedUsage = prepareUsage(true);
const recordUnlimitedUsage = prepareUsage(false);

/** The maximum number of groups with counters per business and environment. A search reads all of them. */
const maxCountedGroups = 500;

/**
 * Stores a group (a combination of purpose, recipients and origin) unless it is already stored. A new group gets no counters if the
 * business already has 500 groups with counters in this environment, or if the client has exceeded its daily limit of new groups.
 * Submissions with an API key have no daily limit, because only the business can send them. Must come after `recordSubmissionUsage` in the
 * batch.
 */
const prepareCertificateGroup = (hasDailyLimit: boolean) =>
  prepareOnce<GroupKey & ClientUsageDay & { readonly maxGroups: number }>()((db, key) => {
    const { countedGroups } = certificateTotals;
    const groups = query
      .select({ countedGroups })
      .from(certificateTotals)
      .where(allOf(eq(certificateTotals.businessId, key.businessId), eq(certificateTotals.environment, key.environment)));
    const isBelowTotal = sql`coalesce((${groups}), 0) < ${maxCountedGroups}`;
    const isBelowDay = !hasDailyLimit ? sql`true` : hasGroupsLeft(key, key.maxGroups);
    return db
      .insert(certificateGroups, "purposeId", "entityListId", "originDomain", "businessId", "environment", "counted")
      .select(
        query
          .select({
            purposeId: purposes.id,
            entityListId: entityLists.id,
            originDomain: sql`${key.originDomain}`.as("origin_domain"),
            businessId: purposes.businessId,
            environment: purposes.environment,
            counted: sql`(${isBelowTotal} and ${isBelowDay})`.as("counted"),
          })
          .from(purposes)
          .innerJoin(entityLists, eq(entityLists.hash, key.entitiesHash))
          .where(isMatchingPurpose(key)),
      )
      .onConflictDoNothing()
      .prepare();
  });
const insertLimitedGroup = prepareCertificateGroup(true);
const insertUnlimitedGroup = prepareCertificateGroup(false);

export interface IssuanceContext {
  /** The account revision that the caller has read. */
  readonly revision: number;
  readonly signature: IssuerSignature;
  readonly addresses: AddressIndexes;
  /** The certificate can reuse only policy captures that are newer than this time. */
  readonly policiesNotBefore: Instant;
  /** The scheme, host and port of the page with the form. */
  readonly policyOrigin: string;
  /** The URL of the page with the form, without query and fragment, because it is stored unencrypted. */
  readonly policyPage: string;
  readonly storageLimits: StorageLimits;
  /** True if the submission has an API key. The limit of the business or sandbox then applies instead of the client's. */
  readonly hasApiKey: boolean;
}

interface IssuanceBasis extends GroupKey, Form, Pick<IssuanceContext, "revision" | "policiesNotBefore" | "policyOrigin" | "policyPage"> {
  /** The hashes of the lists of accepted and rejected recipients, or null if the form did not ask about each recipient. */
  readonly acceptedHash: string | null;
  readonly rejectedHash: string | null;
}
/** All columns except those whose value the insert looks up or that have a default. */
type CertificateRow = Omit<
  typeof certificates.$inferSelect,
  | "ord"
  | "formId"
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

/**
 * Where the insert checks the account's revision: in the account itself (`account`), in the shard's copy of an account in another shard
 * (`copy`), or nowhere (`none`).
 */
type InsertCheck = "account" | "copy" | "none";

const prepareCertificateInsert = (check: InsertCheck) =>
  prepareOnce<CertificateRow & IssuanceBasis>()((db, values) => {
    const { businessId } = values;
    const unchanged = query
      .select({ id: businesses.id })
      .from(businesses)
      .where(allOf(eq(businesses.id, businessId), eq(businesses.revision, values.revision)));
    const issuer: Readonly<Record<InsertCheck, SQL | typeof businessId>> = {
      account: sql`${unchanged}`,
      copy: selectIssuer(sql`${businessId}`, sql`${values.revision}`),
      none: businessId,
    };
    const form = query.select({ id: certificateForms.id }).from(certificateForms).where(isMatchingForm(values));
    const purpose = query.select({ id: purposes.id }).from(purposes).where(isMatchingPurpose(values));
    const listWith = (hash: Placeholder) =>
      sql`${query
        .select({ id: entityLists.id })
        .from(entityLists)
        .where(eq(entityLists.hash, sql`${hash}`))}`;
    const ofGroup = (field: typeof certificateGroups.id | typeof certificateGroups.counted) =>
      query.select({ field }).from(certificateGroups).where(isMatchingGroup(values));
    const shared = query
      .select({ ord: policyCaptures.ord })
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
        fingerprint: sql`unhex(${values.fingerprint})`,
        signature: sql`unhex(${values.signature})`,
        auditSalt: sql`unhex(${values.auditSalt})`,
        subjectHash: sql`unhex(${values.subjectHash})`,
        personSealed: sql`unhex(${values.personSealed})`,
        evidenceHash: sql`unhex(${values.evidenceHash})`,
        formId: sql`${form}`,
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
/** Removes the maximums, so that submissions are counted but never refused. */
const unlimited = ({ days }: StorageLimit): StorageLimit => ({ days, records: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER });

const insertCheckedCertificate = prepareCertificateInsert("account");
const insertIntoOtherShard = prepareCertificateInsert("copy");
const insertCertificateUnconditionally = prepareCertificateInsert("none");

/** The values of the row that other statements of the issuance need too. */
type DerivedValues = Form & Pick<CertificateRow & IssuanceBasis, "entitiesHash" | "acceptedHash" | "rejectedHash" | "personSealed">;

const toCertificateRow = (certificate: Certificate, context: IssuanceContext, derived: DerivedValues): CertificateRow & IssuanceBasis => ({
  ...certificate,
  ...context,
  ...derived,
  emailIndexes: context.addresses.emails.map(toStoredIndex),
  phoneIndexes: context.addresses.phones.map(toStoredIndex),
  submissionNotes: Object.keys(certificate.notes).length > 0 ? certificate.notes : null,
  businessId: certificate.business.id,
  subjectMasked: maskSubject(certificate.fields, certificate.notes.fields_unrecognized),
  gpc: certificate.captureContext.gpc,
  signature: base64ToHex(context.signature.value),
  auditSalt: certificate.auditSalt === null ? null : base64UrlToHex(certificate.auditSalt),
});

/**
 * Returns the statements of an issuance, by name. `usage` returns the row of `recordSubmissionUsage`: the number of submissions that the
 * client has left that day, and whether it is near a limit. `policyRequest` returns a row if it has requested a policy capture of the
 * certificate's page.
 *
 * The insert looks up `business_id` by the account's ID and the revision that the caller has read. If the account, its domains or its
 * clients have changed since then, the value is NULL, and the whole batch fails (`isOutdatedRevision`). Therefore, even if the account was
 * read from a cache, no certificate is committed after a change that forbids it. In a shard that is not the account's, the insert checks
 * the row in `issuers` instead (issuing-shards.ts). SPEC Certificate.
 *
 * `buildUnconditional` returns the same statements without the checks of the account and the limits. Use them for a submission that was
 * already accepted while the database did not respond.
 */
export const buildIssuanceStatements = async (db: Database, vault: Vault, certificate: Certificate, context: IssuanceContext) => {
  const { id, business, disclosureHash, environment } = certificate;
  const { entities, answered } = certificate.recipients;
  const person = formatPerson(certificate);
  const personSealed = sealedToHex(await vault.seal(personContext(id, business.id), person));
  const { storageLimits, hasApiKey } = context;
  const entitiesText = toCanonicalJson([...entities]);
  const entitiesHash = sha256Hex(entitiesText);
  const answers = answered && { accepted: toListRow(answered.accepted), rejected: toListRow(answered.rejected) };
  const answeredText = toCanonicalJson(answered === undefined ? null : { ...answered });
  const { purpose, originDomain } = certificate;
  const usage = {
    businessId: business.id,
    environment,
    purpose,
    originDomain,
    clientId: certificate.clientId,
    day: toDayNumber(certificate.issuedAt),
    ownBytes: personSealed.length / 2 + answeredText.length,
    disclosureHash,
    disclosureBytes: certificate.disclosureText.length,
    entitiesHash,
    entitiesBytes: entitiesText.length,
    maxSubmissions: hasApiKey ? null : storageLimits.client.records,
    maxBytes: hasApiKey ? null : storageLimits.client.bytes,
  };
  const ownerKind = environment === "sandbox" ? "sandbox" : "business";
  const storedRecord = {
    owner: { kind: ownerKind, id: business.id },
    now: certificate.issuedAt,
    ownBytes: usage.ownBytes,
    disclosure: { hash: disclosureHash, bytes: usage.disclosureBytes },
    entities: { hash: entitiesHash, bytes: usage.entitiesBytes },
  } as const;
  const form = {
    disclosureHash,
    clientId: certificate.clientId,
    businessName: business.name,
    capturedVia: certificate.captureContext.capturedVia,
    signatureKid: context.signature.kid,
  };
  const row = toCertificateRow(certificate, context, {
    ...form,
    entitiesHash,
    acceptedHash: answers?.accepted.hash ?? null,
    rejectedHash: answers?.rejected.hash ?? null,
    personSealed,
  });
  const insertChecked = shardOfId(id) === shardOfId(business.id) ? insertCheckedCertificate : insertIntoOtherShard;
  const build = (isChecked: boolean) => ({
    usage: isChecked ? recordLimitedUsage(db, usage) : recordUnlimitedUsage(db, usage),
    ...((hasApiKey || ownerKind === "sandbox") && {
      ownerUsage: countStoredRecord(db, storedRecord, isChecked ? storageLimits[ownerKind] : unlimited(storageLimits[ownerKind])),
    }),
    purpose: insertPurpose(db, { businessId: business.id, environment, purpose, purposeFolded: foldPurpose(purpose) }),
    form: insertForm(db, form),
    disclosure: insertDisclosure(db, { hash: disclosureHash, text: certificate.disclosureText, environment }),
    entityList: insertEntityList(db, { hash: entitiesHash, entities, environment }),
    ...(answers && {
      acceptedList: insertEntityList(db, { ...answers.accepted, environment }),
      rejectedList: insertEntityList(db, { ...answers.rejected, environment }),
    }),
    group: (hasApiKey ? insertUnlimitedGroup : insertLimitedGroup)(db, { ...usage, maxGroups: storageLimits.newGroups }),
    policyRequest: requestPolicyCapture(db, { ...context, businessId: business.id, now: certificate.issuedAt }),
    certificate: isChecked ? insertChecked(db, row) : insertCertificateUnconditionally(db, row),
    addresses: insertCertificateAddresses(db, id, context.addresses),
  });
  return { statements: build(true), buildUnconditional: () => build(false), subjectMasked: row.subjectMasked };
};
