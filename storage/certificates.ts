// Certificates: the rows an issuance writes, and the reads behind verify, list and detail. Each read is one query.
import { desc, eq, isNotNull, or, sql } from "drizzle-orm";
import type { SelectedFields } from "drizzle-orm/sqlite-core";
import type { Environment } from "../core/access/entitlement.ts";
import type { DailyLimits } from "../core/access/rate-limit.ts";
import type { IssuedCertificate } from "../core/certificates/issue.ts";
import type { IssuerSignature, OpenedCertificate, PublishedCertificate } from "../core/certificates/published-certificate.ts";
import { maskSubject } from "../core/certificates/subject.ts";
import { toBase64Url, fromBase64Url } from "../core/bytes.ts";
import { toCanonicalJson, type Json } from "../core/canonical-json.ts";
import { sha256Hex } from "../core/hash.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import type { AnchoredEventType } from "../core/ledger/statement.ts";
import { dayMs, type Instant } from "../core/time.ts";
import { businessChainFields } from "./accounts.ts";
import { batch, type Database, type Statement } from "./database.ts";
import { recordSubmissionUsage } from "./client-usage.ts";
import { entitiesField, sortWithdrawnEntities, listOpenedEntityWithdrawals, withdrawnEntitiesField } from "./entity-withdrawals.ts";
import { isConstraintViolation } from "./faults.ts";
import { anchorFields } from "./outboxes/anchors.ts";
import { toPolicyTopic, requestPolicyCapture } from "./outboxes/policies.ts";
import { isSharedCapture } from "./policies.ts";
import {
  anchors,
  auditOutbox,
  businesses,
  ceaseAcknowledgements,
  certificateGroups,
  certificates,
  disclosures,
  entityLists,
  policyCaptures,
  policySnapshots,
  purposes,
  withdrawals,
} from "./schema.ts";
import { prepareOnce, rowPlaceholders, type Placeholders } from "./prepared.ts";
import { jsonRow, jsonRows } from "./json-rows.ts";
import { allOf, withTablePrefix, query } from "./query.ts";
import { columnContext, type Vault } from "./vault.ts";
import { openWithdrawal, withdrawalProofField } from "./withdrawals.ts";

const subjectContext = columnContext("certificates", "subject");
const evidenceContext = columnContext("certificates", "evidence");

/** What the insert says when the account changed since the revision that was decided on. */
export const isOutdatedRevision = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", certificates.businessId);

/** Case-insensitive search compares this form; SQLite's own lower() knows ASCII only. */
export const foldPurpose = (purpose: string): string => purpose.normalize("NFC").toLowerCase();

const incrementPurposeCount = prepareOnce<Pick<typeof purposes.$inferSelect, "businessId" | "environment" | "purpose" | "purposeFolded">>()(
  (db, row) =>
    db
      .insert(purposes)
      .values({
        businessId: row.businessId,
        environment: row.environment,
        purpose: row.purpose,
        purposeFolded: row.purposeFolded,
        active: 1,
      })
      .onConflictDoUpdate({
        target: [purposes.businessId, purposes.environment, purposes.purpose],
        set: { active: sql`${purposes.active} + 1` },
      })
      .prepare(),
);

const insertEntityList = prepareOnce<Omit<typeof entityLists.$inferSelect, "id">>()((db, { hash, entities }) =>
  db.insert(entityLists).values({ hash, entities }).onConflictDoNothing({ target: entityLists.hash }).prepare(),
);

export const insertDisclosure = prepareOnce<typeof disclosures.$inferSelect>()((db, row) =>
  db.insert(disclosures).values(row).onConflictDoNothing({ target: disclosures.hash }).prepare(),
);

interface GroupKey {
  readonly businessId: BusinessId;
  readonly environment: Environment;
  readonly purpose: string;
  readonly entitiesHash: string;
}

const isMatchingPurpose = ({ businessId, environment, purpose }: Pick<Placeholders<GroupKey>, "businessId" | "environment" | "purpose">) =>
  allOf(eq(purposes.businessId, businessId), eq(purposes.environment, environment), eq(purposes.purpose, purpose));

const insertCertificateGroup = prepareOnce<GroupKey & { readonly originDomain: string }>()((db, asked) =>
  db
    .insert(certificateGroups, "purposeId", "entityListId", "originDomain")
    .select(
      query
        .select({ purposeId: purposes.id, entityListId: entityLists.id, originDomain: sql`${asked.originDomain}`.as("origin_domain") })
        .from(purposes)
        .innerJoin(entityLists, eq(entityLists.hash, asked.entitiesHash))
        .where(isMatchingPurpose(asked)),
    )
    .onConflictDoNothing()
    .prepare(),
);

interface IssuanceBasis extends GroupKey {
  readonly revision: number;
  readonly policiesNotBefore: Instant;
  readonly policyOrigin: string;
  readonly policyPage: string;
}
/** Without what is looked up, and what every new one has. */
type CertificateRow = Omit<
  typeof certificates.$inferSelect,
  "ord" | "purposeId" | "groupId" | "policyCaptureId" | "status" | "subjectErasedAt" | "viewCount" | "viewRows"
>;

const insertCertificate = prepareOnce<CertificateRow & IssuanceBasis>()((db, decided) => {
  const { businessId, originDomain } = decided;
  const business = query
    .select({ id: businesses.id })
    .from(businesses)
    .where(allOf(eq(businesses.id, businessId), eq(businesses.revision, decided.revision)));
  const purpose = query.select({ id: purposes.id }).from(purposes).where(isMatchingPurpose(decided));
  const list = query.select({ id: entityLists.id }).from(entityLists).where(eq(entityLists.hash, decided.entitiesHash));
  const group = query
    .select({ id: certificateGroups.id })
    .from(certificateGroups)
    .where(
      allOf(
        eq(certificateGroups.purposeId, sql`${purpose}`),
        eq(certificateGroups.entityListId, sql`${list}`),
        eq(certificateGroups.originDomain, originDomain),
      ),
    );
  const shared = query
    .select({ id: policyCaptures.id })
    .from(policyCaptures)
    .where(isSharedCapture(decided.policyOrigin, decided.policyPage, decided.policiesNotBefore))
    .orderBy(desc(policyCaptures.capturedAt))
    .limit(1);
  const { ord, status, subjectErasedAt, viewCount, viewRows, ...given } = rowPlaceholders(certificates);
  return db
    .insert(certificates)
    .values({ ...given, businessId: sql`${business}`, purposeId: sql`${purpose}`, groupId: sql`${group}`, policyCaptureId: sql`${shared}` })
    .prepare();
});

/**
 * The rows of an issuance: the count of the client's day, which answers whether its limit is near; the certificate; its purpose,
 * disclosure, recipients and their group where they are new; and a request for a capture of the origin's policies where there is
 * no fresh one to share; the last answers whether it is made. The certificate's business_id is
 * looked up inside the insert under the revision that was decided on: if the account, a domain or a client changed since, it is
 * NULL, the NOT NULL fails, and the whole batch is undone. So no certificate is ever committed after the change that forbids it,
 * and the account may be remembered between requests for as long as one likes.
 */
export const insertIssuance = async (
  db: Database,
  vault: Vault,
  issued: IssuedCertificate,
  stored: {
    readonly revision: number;
    readonly signature: IssuerSignature;
    readonly manageTokenHash: string;
    readonly emailIndex: string | null;
    readonly phoneIndex: string | null;
    /** A capture of the origin's policies younger than this is shared. */
    readonly policiesNotBefore: Instant;
    /** Scheme, host and port. */
    readonly policyOrigin: string;
    /** Where the capture begins: the form's page without query and fragment, for an outbox holds no personal data. */
    readonly policyPage: string;
    /** The limits of the client's day, which count submissions without an API key; null for one with a key. */
    readonly dayLimits: DailyLimits | null;
  },
) => {
  const { certificate } = issued;
  const { id, business, disclosureHash } = certificate;
  const { entities, answered } = certificate.recipients;
  const subject = toCanonicalJson({ root_salt: toBase64Url(certificate.rootSalt), fields: [...certificate.fields] });
  const [subjectSealed, evidenceSealed] = await Promise.all([
    vault.seal(subjectContext(id, business.id), subject),
    vault.seal(evidenceContext(id, business.id), certificate.evidenceText),
  ]);
  const { dayLimits } = stored;
  const entitiesText = toCanonicalJson([...entities]);
  const entitiesHash = sha256Hex(entitiesText);
  const answeredText = toCanonicalJson(answered === undefined ? null : { ...answered });
  const counted = {
    clientId: certificate.clientId,
    day: Math.floor(certificate.issuedAt / dayMs),
    ownBytes: subjectSealed.length + evidenceSealed.length + answeredText.length,
    disclosureHash,
    disclosureBytes: certificate.disclosureText.length,
    entitiesHash,
    entitiesBytes: entitiesText.length,
    maxSubmissions: dayLimits?.submissions ?? null,
    maxBytes: dayLimits?.bytes ?? null,
  };
  return [
    recordSubmissionUsage(db, counted),
    incrementPurposeCount(db, { ...certificate, businessId: business.id, purposeFolded: foldPurpose(certificate.purpose) }),
    insertDisclosure(db, { hash: disclosureHash, text: certificate.disclosureText }),
    insertEntityList(db, { hash: entitiesHash, entities }),
    insertCertificateGroup(db, { ...certificate, businessId: business.id, entitiesHash }),
    insertCertificate(db, {
      ...certificate,
      ...stored,
      businessId: business.id,
      businessName: business.name,
      entitiesHash,
      entitiesAccepted: answered?.accepted ?? null,
      entitiesRejected: answered?.rejected ?? null,
      subjectMasked: maskSubject(certificate.fields),
      subjectSealed,
      evidenceSealed,
      gpc: certificate.captureContext.gpc,
      capturedVia: certificate.captureContext.capturedVia,
      signature: stored.signature.value,
      signatureKid: stored.signature.kid,
    }),
    requestPolicyCapture(db, { id, topic: toPolicyTopic(stored.policyOrigin, stored.policyPage), policyPage: stored.policyPage }),
  ] as const;
};

const selectFirstAnchor = (event: AnchoredEventType, fields: SelectedFields) =>
  query
    .select(fields)
    .from(anchors)
    .where(allOf(eq(anchors.entityId, certificates.id), eq(anchors.event, event)).inlineParams())
    .orderBy(anchors.ord)
    .limit(1);

const { id, kind, sourceUrl, contentHash, capturedAt } = policySnapshots;
const policiesField = jsonRows({ id, kind, sourceUrl, contentHash, capturedAt }, (rows) =>
  query
    .select({ rows })
    .from(policyCaptures)
    .innerJoin(policySnapshots, or(eq(id, policyCaptures.privacyId), eq(id, policyCaptures.termsId)))
    .where(eq(policyCaptures.id, certificates.policyCaptureId)),
);

/** The entry of an issuance, of an outer query's certificate. */
const isIssuanceEntry = allOf(eq(auditOutbox.entityId, certificates.id), eq(auditOutbox.type, "certificate.issued"));

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
  accepted: certificates.entitiesAccepted,
  rejected: certificates.entitiesRejected,
  originDomain: certificates.originDomain,
  issuedAt: certificates.issuedAt,
  fingerprint: certificates.fingerprint,
  subjectHash: certificates.subjectHash,
  subjectMasked: certificates.subjectMasked,
  subjectErasedAt: certificates.subjectErasedAt,
  gpc: certificates.gpc,
  capturedVia: certificates.capturedVia,
  signature: certificates.signature,
  signatureKid: certificates.signatureKid,
  viewCount: certificates.viewCount,
  policyCaptureId: certificates.policyCaptureId,
  policies: policiesField,
  anchor: withTablePrefix(anchorFields),
  withdrawal: withdrawalProofField,
  entitiesWithdrawn: withdrawnEntitiesField,
  revocation: jsonRow(anchorFields, (row) => selectFirstAnchor("certificate.revoked", { row })),
};

/** Every certificate has an anchor and few are withdrawn: the first is joined, so that its receipt is not quoted within a quotation. */
const selectPublished = <More extends SelectedFields>(db: Database, more: More) =>
  db
    .select({ ...publishedFields, ...more })
    .from(certificates)
    .innerJoin(purposes, eq(purposes.id, certificates.purposeId))
    .innerJoin(disclosures, eq(disclosures.hash, certificates.disclosureHash))
    .leftJoin(anchors, eq(anchors.ord, selectFirstAnchor("certificate.issued", { ord: anchors.ord })));

type PublishedRow = Awaited<ReturnType<ReturnType<typeof selectPublished<Record<never, never>>>["all"]>>[number];

const toPublishedCertificate = (row: PublishedRow): PublishedCertificate => {
  const { accepted, rejected, signature, signatureKid, policyCaptureId, policies, withdrawal, revocation, entitiesWithdrawn, ...rest } =
    row;
  const signed = (kid: string, value: string): IssuerSignature => ({ kid, alg: "Ed25519", value });
  return {
    ...rest,
    answered: accepted === null || rejected === null ? null : { accepted, rejected },
    signature: signed(signatureKid, signature),
    policiesCaptured: policyCaptureId !== null,
    policies: policies.toSorted((a, b) => (a.kind < b.kind ? -1 : 1)),
    entitiesWithdrawn: sortWithdrawnEntities(entitiesWithdrawn),
    withdrawal: withdrawal && { ...withdrawal, signature: signed(withdrawal.signatureKid, withdrawal.signature), anchor: revocation },
  };
};

const selectPublishedById = prepareOnce<{ certId: CertId }>()((db, { certId }) =>
  selectPublished(db, {}).where(eq(certificates.id, certId)).prepare(),
);

/** The published certificate, whoever asks. */
export const findPublishedCertificate = async (db: Database, certId: CertId): Promise<PublishedCertificate | null> => {
  const row = await selectPublishedById(db, { certId }).get();
  return row === undefined ? null : toPublishedCertificate(row);
};

const selectForPage = prepareOnce<{ certId: CertId }>()((db, { certId }) => {
  const entry = query.select({ at: auditOutbox.drainedAt }).from(auditOutbox).where(isIssuanceEntry);
  return selectPublished(db, { loggedAt: sql<Instant | null>`${entry}` })
    .where(eq(certificates.id, certId))
    .prepare();
});

/**
 * What the public page shows: the published certificate, and when its issuance was entered in the audit log. Reads in the
 * same round trip that writes `noted`, the statements of the open; what they count is then in what is read.
 */
export const findCertificateForPage = async (
  db: Database,
  certId: CertId,
  noted: readonly Statement[] = [],
): Promise<{ readonly certificate: PublishedCertificate; readonly loggedAt: Instant | null } | null> => {
  const page = selectForPage(db, { certId });
  const [row] = (await batch(db, [...noted, page])).at(-1) as (typeof page)["_"]["result"];
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
  const { retentionUntil, evidenceHash, subjectSealed, evidenceSealed } = certificates;
  const entered = query
    .select({ id: auditOutbox.id })
    .from(auditOutbox)
    .where(allOf(isIssuanceEntry, isNotNull(auditOutbox.drainedAt)));
  return selectPublished(db, {
    own: { retentionUntil, evidenceHash, subjectSealed, evidenceSealed },
    chain: businessChainFields,
    issuedEntry: sql<string | null>`${entered}`,
    sealed: { channel: withdrawals.channel, noteSealed: withdrawals.noteSealed, detailsSealed: ceaseAcknowledgements.detailsSealed },
  })
    .innerJoin(businesses, eq(businesses.id, certificates.businessId))
    .leftJoin(withdrawals, eq(withdrawals.certId, certificates.id))
    .leftJoin(ceaseAcknowledgements, eq(ceaseAcknowledgements.certId, certificates.id))
    .where(allOf(eq(certificates.id, certId), eq(certificates.businessId, businessId), eq(certificates.environment, environment)))
    .prepare();
});

/** The owner's view: subject and evidence opened. Null for an unknown certificate and for somebody else's, alike. */
export const findOpenedCertificate = async (db: Database, vault: Vault, asked: OwnedCertificateRef): Promise<OpenedCertificate | null> => {
  const row = await selectOwnedById(db, asked).get();
  if (row === undefined) return null;
  const { own, chain, issuedEntry, sealed, ...rest } = row;
  const certificate = toPublishedCertificate(rest);
  const [subject, evidence, withdrawal, entitiesWithdrawn] = await Promise.all([
    own.subjectSealed === null ? null : vault.open(subjectContext(row.id, row.businessId), own.subjectSealed),
    own.subjectSealed === null ? null : vault.open(evidenceContext(row.id, row.businessId), own.evidenceSealed),
    certificate.withdrawal === null ? null : openWithdrawal(vault, asked, sealed),
    certificate.entitiesWithdrawn.length === 0 ? [] : listOpenedEntityWithdrawals(db, vault, asked),
  ]);
  return {
    certificate,
    subject: subject === null ? null : parseSubject(subject),
    evidence: evidence === null ? null : (JSON.parse(evidence) as { readonly [key: string]: Json }),
    evidenceHash: own.evidenceHash,
    retentionUntil: own.retentionUntil,
    chain,
    issuedEntry,
    withdrawal,
    entitiesWithdrawn,
  };
};

/** What was kept of how a certificate came about. */
export const getCertificateEvidence = async (
  db: Database,
  vault: Vault,
  { id, businessId }: Pick<PublishedCertificate, "id" | "businessId">,
): Promise<OpenedCertificate["evidence"]> => {
  const { evidenceSealed } = certificates;
  const row = await db.select({ evidenceSealed }).from(certificates).where(eq(certificates.id, id)).get();
  if (row === undefined) throw new Error("certificates: one that was just read is not there");
  if (row.evidenceSealed === "") return null; // erased
  return JSON.parse(await vault.open(evidenceContext(id, businessId), row.evidenceSealed)) as OpenedCertificate["evidence"];
};

const parseSubject = (text: string): NonNullable<OpenedCertificate["subject"]> => {
  const parsed = JSON.parse(text) as { root_salt: string; fields: [string, string][] };
  const rootSalt = fromBase64Url(parsed.root_salt);
  if (rootSalt === null) throw new Error("certificates: a sealed subject holds no root salt");
  return { fields: new Map(parsed.fields), rootSalt };
};

/** The address typed into the form, of a subject as it is sealed; null where there is none. */
export const openSubjectEmail = async (
  vault: Vault,
  certId: string,
  businessId: string,
  subjectSealed: string | null,
): Promise<string | null> => {
  if (subjectSealed === null) return null;
  const { fields } = parseSubject(await vault.open(subjectContext(certId, businessId), subjectSealed));
  return fields.get("email") || null;
};
