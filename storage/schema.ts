// The drizzle definitions of all tables of a shard. The migrations create the tables and add what drizzle cannot express (STRICT, CHECK,
// triggers). A test compares this file with the migrations. docs/internals/storage.md describes every column.
import { isNotNull, isNull, sql } from "drizzle-orm";
import { customType, foreignKey, index, integer, primaryKey, snakeCase, text, unique } from "drizzle-orm/sqlite-core";
import { languages } from "../core/language.ts";
import { scopeToBits, scopeFromBits, type ContactKey } from "../core/shares/fields.ts";
import type { SubmissionNotes } from "../core/certificates/submission-notes.ts";
import type { StoredIndex } from "../core/access/address-index.ts";
import type { EmailCodePurpose } from "../core/access/email-code.ts";
import type { AlertKind } from "../core/alerts.ts";
import type { IncidentUpdate, StatusComponent } from "../core/incidents.ts";
import type { Attestation } from "../core/ledger/adapter.ts";
import type { EntityType, DomainEventType } from "../core/domain-events.ts";
import type { EventType } from "../core/events/event.ts";
import { mailFailureReasons } from "../core/mail/message.ts";
import type { OwnerNoticeKind } from "../core/mail/templates.ts";
import type { BusinessId, CertId, ClientId, ConsumerId, ShardId, RemovalId, ShareId } from "../core/ids.ts";
import { requestEvidenceKinds } from "../core/shares/request-evidence.ts";
import { recordedChannels } from "../core/withdrawals/withdrawal.ts";
import { base64Bytes, base64UrlBytes, hexBytes, sealedBytes } from "./byte-columns.ts";

const { table } = snakeCase;

/** Milliseconds since 1970 (UTC), as in core/time.ts. */
const instant = () => integer();
const flag = () => integer({ mode: "boolean" });
/** JSON that only the service reads. Data that is hashed, signed or sealed is stored as text instead, because its exact bytes matter. */
const json = <T>() => text({ mode: "json" }).$type<T>();
const certId = () => text().$type<CertId>();
const businessId = () => text().$type<BusinessId>();
const shareId = () => text().$type<ShareId>();
const consumerId = () => text().$type<ConsumerId>();
const clientId = () => text().$type<ClientId>();
/** The index of an email address or phone number. */
const blindIndex = () => text().$type<StoredIndex>();
/** One of a fixed set of values, which a CHECK enforces. */
const oneOf = <const Values extends readonly [string, ...string[]]>(...values: Values) => text({ enum: values });
const environment = () => oneOf("live", "sandbox");
const realm = () => oneOf("consumer", "business");
const language = () => oneOf(...languages);
/** A set of contact fields. Each field is one bit. */
const contactScope = customType<{ data: readonly ContactKey[]; driverData: number }>({
  dataType: () => "integer",
  toDriver: scopeToBits,
  fromDriver: scopeFromBits,
});
/** The number of a row. Because of AUTOINCREMENT, no number is used twice, even after rows are deleted. */
const ord = () => integer().primaryKey({ autoIncrement: true });
/**
 * Like `ord`, but the number of a deleted row can be used again. AUTOINCREMENT would prevent this, but it writes a second row for each
 * insert.
 */
const recordOrd = () => integer().primaryKey();

const businessRef = () => businessId().references(() => businesses.id);
const clientRef = () => clientId().references(() => clients.id);
const purposeRef = () => integer().references(() => purposes.id);
const entityListRef = () => integer().references(() => entityLists.id);
const certificateRef = () => certId().references(() => certificates.id);
const consumerRef = () => consumerId().references(() => consumers.id);
const shareRef = () => shareId().references(() => shares.id);

export const businesses = table("businesses", {
  id: businessId().primaryKey(),
  name: text().notNull(),
  legalName: text(),
  status: oneOf("pending", "active", "past_due", "suspended", "closed").notNull(),
  plan: oneOf("free", "business", "enterprise").notNull(),
  country: text().notNull().default("US"),
  mailingAddress: text(),
  contactEmail: text(),
  emitCertificateIssued: flag().notNull().default(false),
  retentionYears: integer().notNull().default(5),
  auditChain: text().notNull().unique(),
  revision: integer().notNull().default(0),
  createdAt: instant().notNull(),
  revocationScopeDefault: oneOf("certificate", "business").notNull().default("business"),
  contactPhone: text(),
  logoUrl: text(),
});

export const domains = table(
  "domains",
  {
    id: text().primaryKey(),
    businessId: businessRef().notNull(),
    domain: text().notNull(),
    status: oneOf("pending", "verified", "lapsed").notNull(),
    method: oneOf("dns", "meta", "well_known"),
    verifiedAt: instant(),
    createdAt: instant().notNull(),
    token: text(),
    expiresAt: instant(),
    checkedAt: instant(),
    nextCheckAt: instant(),
    misses: integer().notNull().default(0),
    lapsesAt: instant(),
  },
  (t) => [
    unique().on(t.businessId, t.domain),
    index("domains_checks").on(t.nextCheckAt).where(sql`${t.status} = 'verified' and ${t.nextCheckAt} is not null`),
    index("domains_expiry").on(t.expiresAt).where(sql`${t.status} = 'pending' and ${t.expiresAt} is not null`),
  ],
);

export const clients = table(
  "clients",
  {
    id: clientId().primaryKey(),
    businessId: businessRef().notNull(),
    environment: environment().notNull(),
    name: text().notNull(),
    createdAt: instant().notNull(),
    dailySubmissionLimit: integer(),
    dailyByteLimit: integer(),
    requireOrigin: flag().notNull().default(false),
    returnUrls: json<readonly string[]>().notNull().default([]),
  },
  (t) => [index("clients_business").on(t.businessId)],
);

export const clientDailyUsage = table(
  "client_daily_usage",
  {
    clientId: clientRef().notNull(),
    day: integer().notNull(),
    submissions: integer().notNull(),
    bytes: integer().notNull(),
    newGroups: integer().notNull().default(0),
    warnedAt: instant(),
  },
  (t) => [primaryKey({ columns: [t.clientId, t.day] }), index("client_daily_usage_age").on(t.day)],
);

export const apiKeys = table(
  "api_keys",
  {
    id: text().primaryKey(),
    businessId: businessRef().notNull(),
    environment: environment().notNull(),
    keyHash: text().notNull().unique(),
    name: text().notNull(),
    last4: text().notNull(),
    createdAt: instant().notNull(),
    revokedAt: instant(),
    lastUsedAt: instant(),
  },
  (t) => [
    index("api_keys_active").on(t.businessId).where(isNull(t.revokedAt)),
    index("api_keys_revoked").on(t.businessId, t.revokedAt, t.id).where(isNotNull(t.revokedAt)),
  ],
);

export const purposes = table(
  "purposes",
  {
    id: integer().primaryKey(),
    businessId: businessRef().notNull(),
    environment: environment().notNull(),
    purpose: text().notNull(),
    purposeFolded: text().notNull(),
  },
  (t) => [unique().on(t.businessId, t.environment, t.purpose)],
);

export const certificateTotals = table(
  "certificate_totals",
  {
    businessId: businessRef().notNull(),
    environment: environment().notNull(),
    active: integer().notNull().default(0),
    revoked: integer().notNull().default(0),
    countedGroups: integer().notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.businessId, t.environment] })],
);

export const disclosures = table("disclosures", {
  hash: text().primaryKey(),
  text: text().notNull(),
  environment: environment().notNull().default("live"),
});

export const entityLists = table("entity_lists", {
  id: integer().primaryKey(),
  hash: text().notNull().unique(),
  entities: json<readonly string[]>().notNull(),
  environment: environment().notNull().default("live"),
});

export const listedEntities = table(
  "listed_entities",
  {
    listId: entityListRef().notNull(),
    entity: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.listId, t.entity] })],
);

export const certificateGroups = table(
  "certificate_groups",
  {
    id: integer().primaryKey(),
    purposeId: purposeRef().notNull(),
    entityListId: entityListRef().notNull(),
    originDomain: text().notNull(),
    businessId: businessRef().notNull(),
    environment: environment().notNull(),
    counted: flag().notNull().default(true),
    active: integer().notNull().default(0),
    revoked: integer().notNull().default(0),
  },
  (t) => [
    unique().on(t.purposeId, t.entityListId, t.originDomain),
    index("certificate_groups_list").on(t.entityListId),
    index("certificate_groups_counted").on(t.businessId, t.environment).where(sql`${t.counted} = 1`),
  ],
);

export const certificateTallies = table(
  "certificate_tallies",
  {
    groupId: integer()
      .notNull()
      .references(() => certificateGroups.id),
    span: integer().notNull(),
    start: instant().notNull(),
    active: integer().notNull().default(0),
    revoked: integer().notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.groupId, t.span, t.start] })],
);

export const countedCertificates = table("counted_certificates", {
  id: integer().primaryKey(),
  ord: integer().notNull(),
});

export const retentionBlocks = table(
  "retention_blocks",
  {
    firstOrd: integer().primaryKey(),
    lastOrd: integer().notNull(),
    nextDue: instant().notNull(),
  },
  (t) => [index("retention_blocks_due").on(t.nextDue)],
);

export const dailyActivity = table(
  "daily_activity",
  {
    businessId: businessRef().notNull(),
    environment: environment().notNull(),
    day: instant().notNull(),
    withdrawn: integer().notNull().default(0),
    onTime: integer().notNull().default(0),
    late: integer().notNull().default(0),
    issued: integer().notNull().default(0),
    opened: integer().notNull().default(0),
    granted: integer().notNull().default(0),
    revoked: integer().notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.businessId, t.environment, t.day] })],
);

export const savedViews = table(
  "saved_views",
  {
    businessId: businessRef().notNull(),
    name: text().notNull(),
    query: text().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.businessId, t.name] })],
);

export const linkedRecipients = table(
  "linked_recipients",
  {
    businessId: businessRef().notNull(),
    recipientId: text().$type<BusinessId>().notNull(),
    entity: text().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.businessId, t.recipientId, t.entity] })],
);

export const certificateForms = table(
  "certificate_forms",
  {
    id: integer().primaryKey(),
    disclosureHash: text().notNull(),
    clientId: clientRef().notNull(),
    businessName: text().notNull(),
    capturedVia: oneOf("browser", "server").notNull(),
    signatureKid: text().notNull(),
  },
  (t) => [unique().on(t.disclosureHash, t.clientId, t.businessName, t.capturedVia, t.signatureKid)],
);

export const certificates = table(
  "certificates",
  {
    ord: recordOrd(),
    id: certId().notNull().unique(),
    businessId: businessRef().notNull(),
    environment: environment().notNull(),
    status: oneOf("active", "revoked").notNull().default("active"),
    formId: integer().notNull(),
    purposeId: integer().notNull(),
    acceptedListId: integer(),
    rejectedListId: integer(),
    issuedAt: instant().notNull(),
    fingerprint: hexBytes().notNull(),
    subjectHash: hexBytes().notNull(),
    subjectMasked: json<Readonly<Record<string, string>>>().notNull(),
    personSealed: sealedBytes(),
    subjectErasedAt: instant(),
    emailIndexes: json<readonly StoredIndex[]>(),
    phoneIndexes: json<readonly StoredIndex[]>(),
    evidenceHash: hexBytes().notNull(),
    gpc: flag().notNull().default(false),
    signature: base64Bytes().notNull(),
    policyCaptureId: integer(),
    viewCount: integer().notNull().default(0),
    viewRows: integer().notNull().default(0),
    retentionUntil: instant().notNull(),
    groupId: integer().references(() => certificateGroups.id),
    counted: flag().notNull().default(true),
    submissionNotes: json<SubmissionNotes>(),
    changeOrd: integer().notNull(),
    policyPageId: integer().references(() => policyPages.ord),
    auditSalt: base64UrlBytes(),
  },
  (t) => [
    index("certificates_listed").on(t.businessId, t.environment, t.issuedAt),
    index("certificates_revoked").on(t.businessId, t.environment, t.issuedAt).where(sql`${t.status} = 'revoked'`),
    index("certificates_group").on(t.groupId, t.status, t.issuedAt),
    index("certificates_awaiting_policies").on(t.policyPageId).where(isNotNull(t.policyPageId)),
    index("certificates_test_age").on(t.issuedAt).where(sql`${t.environment} = 'sandbox'`),
    index("certificates_test_form").on(t.formId).where(sql`${t.environment} = 'sandbox'`),
    index("certificates_test_accepted").on(t.acceptedListId).where(sql`${t.environment} = 'sandbox'`),
    index("certificates_test_rejected").on(t.rejectedListId).where(sql`${t.environment} = 'sandbox'`),
    index("certificates_test_policies").on(t.policyCaptureId).where(sql`${t.environment} = 'sandbox'`),
    index("certificates_without_counters").on(t.businessId, t.environment, t.issuedAt).where(sql`${t.counted} = 0`),
  ],
);

export const certificateAddresses = table(
  "certificate_addresses",
  {
    addressIndex: blindIndex().notNull(),
    environment: environment().notNull(),
    active: flag().notNull().default(true),
    businessId: businessId().notNull(),
    issuedAt: instant().notNull(),
    certOrd: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.addressIndex, t.environment, t.active, t.businessId, t.issuedAt, t.certOrd] })],
);

export const certificateTwins = table(
  "certificate_twins",
  {
    certId: certificateRef().notNull(),
    fingerprint: text().notNull(),
    issuedAt: instant().notNull(),
    canonical: text().notNull(),
    signature: text().notNull(),
    signatureKid: text().notNull(),
    manageTokenHash: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.certId, t.fingerprint] })],
);

export const certificateViews = table(
  "certificate_views",
  {
    ord: recordOrd(),
    certId: certificateRef().notNull(),
    at: instant().notNull(),
    viewerSealed: text().notNull(),
    bot: flag().notNull(),
  },
  (t) => [index("certificate_views_cert").on(t.certId, t.ord)],
);

export const shardRegistry = table("shard_registry", {
  shard: text().$type<ShardId>().primaryKey(),
  state: oneOf("open", "closed").notNull().default("open"),
  bytes: integer().notNull().default(0),
  measuredAt: instant(),
});

export const idempotentResponses = table(
  "idempotent_responses",
  {
    keyHash: text().primaryKey(),
    bodyHash: text().notNull(),
    status: integer().notNull(),
    responseSealed: text().notNull(),
    expiresAt: instant().notNull(),
    certId: certId(),
    consumerId: consumerId(),
  },
  (t) => [
    index("idempotent_responses_expiry").on(t.expiresAt),
    index("idempotent_responses_certificate").on(t.certId).where(isNotNull(t.certId)),
    index("idempotent_responses_consumer").on(t.consumerId).where(isNotNull(t.consumerId)),
  ],
);

/**
 * The types of changes that record a checkpoint of a log. Checkpoints are in the change log, because their statements are sent to the
 * ledgers.
 */
export type CheckpointType = "audit.checkpoint" | "ledger.checkpoint";

export const changes = table(
  "changes",
  {
    ord: integer().primaryKey(),
    id: text().notNull(),
    type: text().$type<DomainEventType | EventType | CheckpointType>().notNull(),
    entityType: text().$type<EntityType | "log">().notNull(),
    entityId: text().notNull(),
    at: instant().notNull(),
    sequence: text(),
    eventAt: instant(),
    eventDataSealed: text(),
    ledgerId: text(),
    statement: text(),
    chain: text(),
    auditLog: text().$type<ShardId>(),
    payloadHash: text(),
    payload: text(),
  },
  (t) => [index("changes_sequence").on(t.sequence, t.ord).where(isNotNull(t.sequence))],
);

export const changeReaders = table("change_readers", {
  reader: text().primaryKey(),
  ord: integer().notNull(),
});

export const changeExceptions = table(
  "change_exceptions",
  {
    reader: text().notNull(),
    subject: text().notNull(),
    ord: integer().notNull(),
    attempts: integer().notNull().default(1),
    nextAt: instant().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.reader, t.subject] })],
);

export const auditEntries = table(
  "audit_entries",
  {
    ord: integer().notNull(),
    chain: text().notNull(),
    id: text().notNull(),
    auditLog: text().$type<ShardId>().notNull(),
    type: text().$type<DomainEventType>().notNull(),
    entityType: text().$type<EntityType>().notNull(),
    entityId: text().notNull(),
    at: instant().notNull(),
    payloadHash: text().notNull(),
    payloadSealed: text(),
  },
  (t) => [
    primaryKey({ columns: [t.ord, t.chain] }),
    index("audit_entries_entity").on(t.entityId, t.type, t.chain),
    index("audit_entries_chain").on(t.chain).where(sql`${t.entityType} <> 'certificate'`),
  ],
);

export const auditBatches = table(
  "audit_batches",
  {
    auditLog: text().$type<ShardId>().notNull(),
    ord: integer().notNull(),
    recordedAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.auditLog, t.ord] })],
);

export const receipts = table("receipts", {
  ord: integer().primaryKey(),
  firstOrd: integer(),
  ledgerId: text().notNull(),
  note: text().notNull(),
  leaves: text().notNull(),
  nodes: text().notNull(),
  leafBodies: text(),
  submittedAt: instant().notNull(),
  verifiedAt: instant().notNull(),
  anchoredAt: instant().notNull(),
});

export const anchors = table(
  "anchors",
  {
    ord: integer().primaryKey(),
    ledgerId: text().notNull(),
    kind: text().$type<"event" | "checkpoint">().notNull(),
    entityId: text().notNull(),
    event: text().notNull(),
    statement: text().notNull(),
    status: oneOf("pending", "prepared", "anchored", "parked").notNull().default("pending"),
    attempts: integer().notNull().default(0),
    nextAt: instant().notNull(),
    prepared: text(),
    receiptOrd: integer().references(() => receipts.ord),
    lastError: text(),
    createdAt: instant().notNull(),
  },
  (t) => [
    index("anchors_entity").on(t.entityId, t.event),
    index("anchors_failed").on(t.ledgerId, t.nextAt, t.ord).where(sql`${t.attempts} > 0 and ${t.status} <> 'anchored'`),
  ],
);

export const operatorAlerts = table("operator_alerts", {
  kind: text().$type<AlertKind>().primaryKey(),
  since: instant().notNull(),
  notifiedAt: instant().notNull(),
});

export const incidents = table("incidents", {
  id: text().primaryKey(),
  title: text().notNull(),
  impact: oneOf("maintenance", "degraded", "outage").notNull(),
  components: json<readonly StatusComponent[]>().notNull(),
  startedAt: instant().notNull(),
  endedAt: instant(),
  updates: json<readonly IncidentUpdate[]>().notNull(),
});

export const outbox = table(
  "outbox",
  {
    ord: ord(),
    kind: text().$type<"subscription_end" | "failing_endpoint">().notNull(),
    entityId: text().notNull(),
    topic: text().notNull(),
    payload: text().notNull(),
    attempts: integer().notNull().default(0),
    nextAt: instant().notNull(),
    createdAt: instant().notNull(),
    businessId: businessId()
      .notNull()
      .default("" as BusinessId),
  },
  (t) => [unique().on(t.kind, t.entityId), index("outbox_due").on(t.kind, t.nextAt, t.ord)],
);

export const policyPages = table(
  "policy_pages",
  {
    ord: ord(),
    businessId: businessRef().notNull(),
    origin: text().notNull(),
    page: text().notNull(),
    attempts: integer().notNull().default(0),
    nextAt: instant().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [unique().on(t.businessId, t.origin, t.page), index("policy_pages_due").on(t.nextAt, t.ord)],
);

export const policyTurns = table("policy_turns", {
  businessId: businessId().primaryKey(),
  takenAt: instant().notNull(),
  until: instant().notNull(),
});

export const policySnapshots = table(
  "policy_snapshots",
  {
    id: text().primaryKey(),
    domain: text().notNull(),
    kind: oneOf("privacy", "terms").notNull(),
    sourceUrl: text().notNull(),
    contentHash: text().notNull(),
    capturedAt: instant().notNull(),
  },
  (t) => [unique().on(t.domain, t.kind, t.contentHash)],
);

export const policyCaptures = table(
  "policy_captures",
  {
    ord: recordOrd(),
    id: text().notNull().unique(),
    domain: text().notNull(),
    capturedAt: instant().notNull(),
    privacyId: text().references(() => policySnapshots.id),
    termsId: text().references(() => policySnapshots.id),
    origin: text().notNull().default(""),
    page: text(),
    environment: oneOf("live", "sandbox").notNull().default("sandbox"),
  },
  (t) => [
    index("policy_captures_origin").on(t.origin, t.capturedAt),
    index("policy_captures_privacy").on(t.privacyId).where(sql`${t.privacyId} is not null`),
    index("policy_captures_terms").on(t.termsId).where(sql`${t.termsId} is not null`),
  ],
);

export const deletedPolicyTexts = table("deleted_policy_texts", { snapshotId: text().primaryKey() });

export const ledgerState = table("ledger_state", {
  ledgerId: text().primaryKey(),
  size: text().notNull().default("0"),
  root: text(),
  note: text(),
  failures: integer().notNull().default(0),
  blockedUntil: instant().notNull().default(0),
  fork: json<{ readonly old: string; readonly new: string }>(),
  ord: integer(),
  lastRun: text(),
  updatedAt: instant().notNull(),
});

export const checkpoints = table(
  "checkpoints",
  {
    origin: text().notNull(),
    window: integer().notNull(),
    size: text().notNull(),
    root: text().notNull(),
    note: text().notNull(),
    headsRoot: text(),
    headsSize: text(),
    createdAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.origin, t.window] })],
);

export const auditLogHighWater = table("audit_log_high_water", {
  auditLog: text().$type<ShardId>().primaryKey(),
  size: text().notNull(),
  root: text().notNull(),
  updatedAt: instant().notNull(),
});

export const attestations = table(
  "attestations",
  {
    origin: text().notNull(),
    window: integer().notNull(),
    kind: oneOf("rfc3161", "cosignature").notNull(),
    attestor: text().notNull(),
    status: oneOf("pending", "attested", "unverified", "given_up").notNull().default("pending"),
    attempts: integer().notNull().default(0),
    nextAt: instant().notNull(),
    data: json<Attestation>(),
    time: text(),
  },
  (t) => [
    primaryKey({ columns: [t.origin, t.window, t.kind, t.attestor] }),
    foreignKey({ columns: [t.origin, t.window], foreignColumns: [checkpoints.origin, checkpoints.window] }),
    index("attestations_due").on(t.nextAt).where(sql`${t.status} = 'pending'`),
  ],
);

export const sandboxClocks = table("sandbox_clocks", {
  businessId: businessRef().primaryKey(),
  offsetMs: integer().notNull(),
  movedAt: instant().notNull(),
});

export const issuingShards = table(
  "issuing_shards",
  {
    businessId: businessRef().notNull(),
    shard: text().$type<ShardId>().notNull(),
    startedAt: instant().notNull(),
    heldUntil: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.businessId, t.shard] })],
);

export const issuers = table(
  "issuers",
  {
    businessId: businessId().primaryKey(),
    revision: integer(),
    heldUntil: instant().notNull(),
  },
  (t) => [index("issuers_held").on(t.heldUntil).where(isNull(t.revision))],
);

export const members = table(
  "members",
  {
    id: text().primaryKey(),
    businessId: businessRef().notNull(),
    emailSealed: text().notNull(),
    emailIndex: blindIndex().notNull(),
    role: oneOf("owner", "member").notNull(),
    createdAt: instant().notNull(),
    lastUsedAt: instant(),
  },
  (t) => [unique().on(t.businessId, t.emailIndex), index("members_address").on(t.emailIndex, t.lastUsedAt, t.createdAt, t.id)],
);

export const signups = table(
  "signups",
  {
    id: businessId().primaryKey(),
    emailIndex: blindIndex().notNull(),
    emailSealed: text().notNull(),
    requestSealed: text().notNull(),
    createdAt: instant().notNull(),
    expiresAt: instant().notNull(),
  },
  (t) => [index("signups_address").on(t.emailIndex, t.expiresAt), index("signups_expiry").on(t.expiresAt)],
);

export const invitations = table(
  "invitations",
  {
    id: text().primaryKey(),
    businessId: businessRef().notNull(),
    emailIndex: blindIndex().notNull(),
    emailSealed: text().notNull(),
    role: oneOf("owner", "member").notNull(),
    createdAt: instant().notNull(),
    expiresAt: instant().notNull(),
    invitedBy: text(),
  },
  (t) => [
    unique().on(t.businessId, t.emailIndex),
    index("invitations_address").on(t.emailIndex, t.expiresAt),
    index("invitations_expiry").on(t.expiresAt),
  ],
);

export const consumers = table("consumers", {
  id: text().primaryKey(),
  emailSealed: text().notNull(),
  emailIndex: blindIndex().notNull().unique(),
  nameSealed: text(),
  auditChain: text().notNull().unique(),
  createdAt: instant().notNull(),
  fieldsSealed: text(),
  fieldsRevision: integer().notNull().default(0),
  erasedAt: instant(),
  plan: oneOf("free", "white_glove").notNull().default("free"),
});

export const consumerShards = table(
  "consumer_shards",
  {
    consumerId: consumerRef().notNull(),
    shard: text().$type<ShardId>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.consumerId, t.shard] })],
);

export const billingCustomers = table(
  "billing_customers",
  {
    customerId: text().primaryKey(),
    accountId: text().unique(),
    linkedAt: instant(),
    subscriptionId: text(),
    plan: oneOf("free", "business", "enterprise", "white_glove"),
    planAt: instant().notNull().default(0),
    paidAt: instant().notNull().default(0),
    failedAt: instant().notNull().default(0),
    pastDueSince: instant(),
    suspendedAt: instant(),
    endedAt: instant(),
    revision: integer().notNull().default(0),
    updatedAt: instant().notNull(),
  },
  (t) => [
    index("billing_customers_unpaid").on(t.pastDueSince).where(sql`${t.pastDueSince} is not null and ${t.suspendedAt} is null`),
    index("billing_customers_unlinked").on(t.updatedAt).where(isNull(t.accountId)),
  ],
);

export const billingEvents = table(
  "billing_events",
  {
    id: text().primaryKey(),
    customerId: text().notNull(),
    type: text().notNull(),
    at: instant().notNull(),
    receivedAt: instant().notNull(),
  },
  (t) => [index("billing_events_age").on(t.receivedAt)],
);

export const sessions = table(
  "sessions",
  {
    tokenHash: text().primaryKey(),
    realm: oneOf("consumer", "business", "invited").notNull(),
    userId: text().notNull(),
    createdAt: instant().notNull(),
    expiresAt: instant().notNull(),
    id: text().notNull().default(""),
    deviceSealed: text(),
    seenDay: integer(),
    verifiedAt: instant(),
    hasOtherShards: flag().notNull().default(false),
    addressSealed: text(),
  },
  (t) => [index("sessions_user").on(t.userId, t.createdAt, t.id), index("sessions_expiry").on(t.expiresAt)],
);

export const passkeys = table(
  "passkeys",
  {
    id: text().primaryKey(),
    userId: text().notNull(),
    credentialId: text().notNull().unique(),
    userHandle: text().notNull(),
    publicKey: text().notNull(),
    counter: integer().notNull(),
    transports: json<readonly string[]>().notNull(),
    backedUp: flag().notNull(),
    nameSealed: text().notNull(),
    createdAt: instant().notNull(),
    usedDay: integer(),
  },
  (t) => [index("passkeys_user").on(t.userId)],
);

export const webauthnChallenges = table(
  "webauthn_challenges",
  {
    challengeHash: text().primaryKey(),
    purpose: oneOf("add", "sign_in").notNull(),
    sessionHash: text(),
    userHandle: text(),
    expiresAt: instant().notNull(),
    usedAt: instant(),
  },
  (t) => [index("webauthn_challenges_expiry").on(t.expiresAt)],
);

export const mailOutbox = table(
  "mail_outbox",
  {
    ord: ord(),
    id: text().notNull(),
    template: text().notNull(),
    messageSealed: text().notNull(),
    attempts: integer().notNull().default(0),
    nextAt: instant().notNull(),
    giveUpAt: instant().notNull(),
    createdAt: instant().notNull(),
    certId: certId(),
    consumerId: consumerId(),
    entityId: text(),
  },
  (t) => [
    index("mail_outbox_urgent").on(t.giveUpAt, t.ord, t.nextAt),
    index("mail_outbox_certificate").on(t.certId).where(isNotNull(t.certId)),
    index("mail_outbox_consumer").on(t.consumerId).where(isNotNull(t.consumerId)),
  ],
);

export const failedMail = table(
  "failed_mail",
  {
    ord: ord(),
    id: text().notNull().unique(),
    template: text().notNull(),
    messageSealed: text().notNull(),
    reason: text({ enum: mailFailureReasons }).notNull(),
    failedAt: instant().notNull(),
    expiresAt: instant().notNull(),
    createdAt: instant().notNull(),
    certId: certId(),
    consumerId: consumerId(),
    entityId: text(),
  },
  (t) => [
    index("failed_mail_expiry").on(t.expiresAt),
    index("failed_mail_certificate").on(t.certId).where(isNotNull(t.certId)),
    index("failed_mail_consumer").on(t.consumerId).where(isNotNull(t.consumerId)),
    index("failed_mail_entity").on(t.entityId).where(isNotNull(t.entityId)),
  ],
);

export const ownerNotices = table(
  "owner_notices",
  {
    businessId: businessRef().notNull(),
    kind: text().$type<OwnerNoticeKind>().notNull(),
    notices: integer().notNull(),
    records: integer().notNull(),
    earliestCeaseBy: instant(),
    firstSealed: text(),
    lastSealed: text(),
    dueAt: instant(),
    sentAt: instant(),
  },
  (t) => [primaryKey({ columns: [t.businessId, t.kind] }), index("owner_notices_due").on(t.dueAt).where(isNotNull(t.dueAt))],
);

export const capturedMail = table(
  "captured_mail",
  {
    ord: ord(),
    id: text().notNull().unique(),
    recipientIndex: blindIndex().notNull(),
    messageSealed: text().notNull(),
    sentAt: instant().notNull(),
  },
  (t) => [index("captured_mail_recipient").on(t.recipientIndex, t.ord)],
);

export const emailCodes = table(
  "email_codes",
  {
    id: text().primaryKey(),
    purpose: text().$type<EmailCodePurpose>().notNull(),
    topic: text().notNull(),
    addressIndex: blindIndex().notNull(),
    certId: certificateRef(),
    codeHash: blindIndex().notNull(),
    contextHash: text(),
    sameContextAttempts: integer().notNull().default(0),
    otherContextAttempts: integer().notNull().default(0),
    createdAt: instant().notNull(),
    expiresAt: instant().notNull(),
    sessionHash: text(),
    signupId: text(),
  },
  (t) => [
    index("email_codes_address").on(t.purpose, t.addressIndex, t.topic, t.createdAt),
    index("email_codes_age").on(t.createdAt),
    index("email_codes_cert").on(t.certId).where(isNotNull(t.certId)),
  ],
);

export const emailCodeFailures = table(
  "email_code_failures",
  {
    purpose: text().$type<EmailCodePurpose>().notNull(),
    topic: text().notNull(),
    addressIndex: blindIndex().notNull(),
    certId: certificateRef(),
    failures: integer().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.purpose, t.topic, t.addressIndex] }),
    index("email_code_failures_age").on(t.updatedAt),
    index("email_code_failures_cert").on(t.certId).where(isNotNull(t.certId)),
  ],
);

const withdrawalMethod = () => oneOf("email_code", "manage_link", "business_recorded");

export const withdrawals = table(
  "withdrawals",
  {
    certId: certificateRef().primaryKey(),
    businessId: businessRef().notNull(),
    environment: environment().notNull(),
    withdrawnAt: instant().notNull(),
    ceaseBy: instant().notNull(),
    method: withdrawalMethod().notNull(),
    scope: oneOf("certificate", "business").notNull(),
    channel: oneOf(...recordedChannels),
    receivedAt: instant(),
    noteSealed: text(),
    receipt: text().notNull(),
    signature: text().notNull(),
    signatureKid: text().notNull(),
    acknowledged: flag().notNull().default(false),
  },
  (t) => [index("withdrawals_deadline").on(t.businessId, t.environment, t.ceaseBy).where(sql`${t.acknowledged} = 0`)],
);

export const entityWithdrawals = table(
  "entity_withdrawals",
  {
    certId: certificateRef().notNull(),
    number: integer().notNull(),
    withdrawnAt: instant().notNull(),
    ceaseBy: instant().notNull(),
    method: withdrawalMethod().notNull(),
    channel: oneOf(...recordedChannels),
    receivedAt: instant(),
    noteSealed: text(),
    receipt: text().notNull(),
    signature: text().notNull(),
    signatureKid: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.certId, t.number] })],
);

export const withdrawnEntities = table(
  "withdrawn_entities",
  {
    certId: certificateRef().notNull(),
    entity: text().notNull(),
    number: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.certId, t.entity] }),
    foreignKey({ columns: [t.certId, t.number], foreignColumns: [entityWithdrawals.certId, entityWithdrawals.number] }),
  ],
);

export const entityAcknowledgements = table(
  "entity_acknowledgements",
  {
    certId: certificateRef().notNull(),
    number: integer().notNull(),
    acknowledgedAt: instant().notNull(),
    detailsSealed: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.certId, t.number] })],
);

export const acknowledgedEntities = table(
  "acknowledged_entities",
  {
    certId: certId().notNull(),
    entity: text().notNull(),
    number: integer().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.certId, t.entity] }),
    foreignKey({ columns: [t.certId, t.entity], foreignColumns: [withdrawnEntities.certId, withdrawnEntities.entity] }),
    foreignKey({ columns: [t.certId, t.number], foreignColumns: [entityAcknowledgements.certId, entityAcknowledgements.number] }),
  ],
);

export const entityCeaseDeadlines = table(
  "entity_cease_deadlines",
  {
    certId: certId().notNull(),
    number: integer().notNull(),
    businessId: businessRef().notNull(),
    environment: environment().notNull(),
    ceaseBy: instant().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.certId, t.number] }),
    foreignKey({ columns: [t.certId, t.number], foreignColumns: [entityWithdrawals.certId, entityWithdrawals.number] }),
    index("entity_cease_deadlines_board").on(t.businessId, t.environment, t.ceaseBy),
  ],
);

export const ceaseAcknowledgements = table("cease_acknowledgements", {
  certId: certId()
    .primaryKey()
    .references(() => withdrawals.certId),
  acknowledgedAt: instant().notNull(),
  detailsSealed: text().notNull(),
});

export const withdrawalWork = table(
  "withdrawal_work",
  {
    certId: certId().primaryKey(),
    businessId: businessRef().notNull(),
    environment: environment().notNull(),
    addressIndexes: json<readonly StoredIndex[]>().notNull(),
    withdrawnAt: instant().notNull(),
    method: withdrawalMethod().notNull(),
    apiKeyId: text(),
    nextAt: instant().notNull(),
    forAllShards: flag().notNull().default(false),
  },
  (t) => [index("withdrawal_work_due").on(t.nextAt)],
);

export const matchMisses = table(
  "match_misses",
  {
    certId: certificateRef().notNull(),
    callerId: text().$type<BusinessId>().notNull(),
    day: integer().notNull(),
    misses: integer().notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.certId, t.callerId, t.day] }), index("match_misses_age").on(t.day)],
);

export const idempotencyClaims = table(
  "idempotency_claims",
  {
    keyHash: text().primaryKey(),
    bodyHash: text().notNull(),
    holder: text().notNull(),
    leasedUntil: instant().notNull(),
    draftSealed: text(),
    expiresAt: instant().notNull(),
  },
  (t) => [index("idempotency_claims_expiry").on(t.expiresAt)],
);

export const agentTokens = table(
  "agent_tokens",
  {
    id: text().primaryKey(),
    tokenHash: text().notNull().unique(),
    realm: realm().notNull(),
    principalId: text().notNull(),
    businessId: businessRef(),
    nameSealed: text(),
    createdAt: instant().notNull(),
    expiresAt: instant().notNull(),
    lastUsedDay: integer(),
    notifiedAt: instant(),
    revokedAt: instant(),
    source: oneOf("minted", "oauth").notNull().default("minted"),
    clientId: text(),
    clientHost: text(),
    redirectHost: text(),
    language: language(),
    expiryNotifiedAt: instant(),
  },
  (t) => [
    index("agent_tokens_principal").on(t.principalId),
    index("agent_tokens_business").on(t.businessId, t.expiresAt).where(sql`${t.revokedAt} is null and ${t.businessId} is not null`),
    index("agent_tokens_live").on(t.principalId, t.expiresAt).where(isNull(t.revokedAt)),
    index("agent_tokens_expiry").on(t.expiresAt),
    index("agent_tokens_ending")
      .on(t.expiresAt)
      .where(sql`${t.source} = 'oauth' AND ${t.revokedAt} IS NULL AND ${t.expiryNotifiedAt} IS NULL`),
  ],
);

export const oauthCodes = table(
  "oauth_codes",
  {
    codeHash: text().primaryKey(),
    nonceHash: text().notNull().unique(),
    realm: realm().notNull(),
    principalId: text().notNull(),
    businessId: businessRef(),
    clientId: text().notNull(),
    clientName: text(),
    clientHost: text(),
    redirectUri: text().notNull(),
    challenge: text().notNull(),
    replaces: flag().notNull(),
    language: language().notNull(),
    createdAt: instant().notNull(),
    expiresAt: instant().notNull(),
    usedAt: instant(),
    tokenId: text(),
  },
  (t) => [index("oauth_codes_age").on(t.expiresAt)],
);

export const oauthClients = table(
  "oauth_clients",
  { url: text().primaryKey(), document: text().notNull(), fetchedAt: instant().notNull() },
  (t) => [index("oauth_clients_age").on(t.fetchedAt)],
);

export const shares = table(
  "shares",
  {
    ord: recordOrd(),
    id: shareId().notNull().unique(),
    businessId: businessRef().notNull(),
    businessName: text().notNull(),
    clientId: clientRef().notNull(),
    environment: environment().notNull(),
    consumerId: consumerId(),
    consumerChain: text(),
    state: oneOf("active", "revoked", "ceased", "expired", "superseded").notNull().default("active"),
    scope: contactScope().notNull(),
    origin: text().notNull(),
    requestEvidence: oneOf(...requestEvidenceKinds).notNull(),
    purpose: text().notNull(),
    disclosureHash: text().notNull(),
    durationDays: integer().notNull(),
    createdAt: instant().notNull(),
    storedAt: instant().notNull(),
    expiresAt: instant().notNull(),
    nextDueAt: instant(),
    revokedAt: instant(),
    ceaseBy: instant(),
    reasonSealed: text(),
    supersedes: shareId(),
    supersededBy: shareId(),
    fieldsRevision: integer().notNull(),
    fingerprint: text().notNull(),
    subjectHash: text().notNull(),
    subjectSealed: text(),
    signature: text().notNull(),
    signatureKid: text().notNull(),
    keySealed: text(),
    emailIndex: blindIndex(),
    phoneIndex: blindIndex(),
    emailProven: flag().notNull().default(false),
    language: language().notNull().default("en"),
    changedBy: text().notNull(),
    updateSentAt: instant(),
  },
  (t) => [
    index("shares_listed").on(t.businessId, t.environment, t.ord),
    index("shares_state").on(t.businessId, t.environment, t.state, t.ord),
    index("shares_consumer").on(t.consumerId, t.state, t.ord).where(isNotNull(t.consumerId)),
    index("shares_due").on(t.environment, t.nextDueAt).where(isNotNull(t.nextDueAt)),
    index("shares_test_age").on(t.storedAt).where(sql`${t.environment} = 'sandbox'`),
    index("shares_test_disclosure").on(t.disclosureHash).where(sql`${t.environment} = 'sandbox'`),
    index("shares_business_due").on(t.businessId, t.environment, t.nextDueAt).where(isNotNull(t.nextDueAt)),
    index("shares_person").on(t.consumerId, t.ord).where(isNotNull(t.consumerId)),
    index("shares_deadline").on(t.businessId, t.environment, t.ceaseBy).where(sql`${t.state} = 'revoked'`),
    index("shares_email").on(t.emailIndex, t.businessId, t.environment, t.createdAt).where(isNotNull(t.emailIndex)),
    index("shares_counted").on(t.consumerId, t.businessId, t.state).where(isNotNull(t.consumerId)),
    index("shares_named")
      .on(t.emailIndex, t.businessId)
      .where(sql`${t.emailIndex} is not null and ${t.state} = 'active' and ${t.environment} = 'live'`),
    index("shares_phone").on(t.phoneIndex, t.businessId, t.environment, t.createdAt).where(isNotNull(t.phoneIndex)),
  ],
);

export const recordUsage = table(
  "record_usage",
  {
    ownerId: text().notNull(),
    ownerKind: oneOf("person", "business", "sandbox", "policies").notNull(),
    day: integer().notNull(),
    records: integer().notNull(),
    bytes: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.ownerId, t.ownerKind, t.day] }), index("record_usage_age").on(t.day)],
);

export const shareValues = table("share_values", {
  shareId: shareRef().primaryKey(),
  valuesSealed: text().notNull(),
  revision: integer().notNull(),
});

export const shareCodes = table(
  "share_codes",
  {
    shareId: shareRef().primaryKey(),
    codeHash: text().notNull().unique(),
    requestHash: text().notNull().unique(),
    generation: integer().notNull().default(1),
    clientId: clientId().notNull(),
    businessId: businessRef().notNull(),
    origin: text().notNull(),
    challenge: text().notNull(),
    requireOrigin: flag().notNull(),
    domainId: text(),
    createdAt: instant().notNull(),
    expiresAt: instant().notNull(),
    usedAt: instant(),
    usedBy: text(),
    retryHash: text(),
  },
  (t) => [index("share_codes_age").on(t.createdAt)],
);

export const shareAcknowledgements = table("share_acknowledgements", {
  shareId: shareRef().primaryKey(),
  acknowledgedAt: instant().notNull(),
  detailsSealed: text().notNull(),
});

export const shareIntents = table(
  "share_intents",
  {
    shareId: shareId().primaryKey(),
    consumerId: consumerRef().notNull(),
    nextAt: instant().notNull(),
  },
  (t) => [index("share_intents_due").on(t.nextAt)],
);

export const fieldFanouts = table(
  "field_fanouts",
  {
    consumerId: consumerRef().notNull(),
    shard: text().$type<ShardId>().notNull(),
    changed: json<readonly ContactKey[]>().notNull(),
    revision: integer().notNull(),
    nextAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.consumerId, t.shard] }), index("field_fanouts_due").on(t.nextAt)],
);

export const shareNotices = table(
  "share_notices",
  {
    shareId: shareRef().notNull(),
    kind: oneOf("expiring", "overdue").notNull(),
    nextAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.shareId, t.kind] }), index("share_notices_due").on(t.nextAt)],
);

export const accountErasures = table(
  "account_erasures",
  {
    consumerId: consumerRef().primaryKey(),
    language: language().notNull(),
    nextAt: instant().notNull(),
  },
  (t) => [index("account_erasures_due").on(t.nextAt)],
);

export const accountWithdrawals = table(
  "account_withdrawals",
  {
    addressIndex: blindIndex().notNull(),
    businessId: text().$type<BusinessId | "">().notNull(),
    consumerId: text().$type<ConsumerId>(),
    withdrawnAt: instant().notNull(),
    nextAt: instant().notNull(),
    forAllShards: flag().notNull().default(false),
  },
  (t) => [primaryKey({ columns: [t.addressIndex, t.businessId] }), index("account_withdrawals_due").on(t.nextAt)],
);

const removalStatus = () => oneOf("requested", "in_progress", "completed", "rejected").notNull().default("requested");

export const removals = table(
  "removals",
  {
    ord: recordOrd(),
    id: text().$type<RemovalId>().notNull().unique(),
    consumerId: consumerRef().notNull(),
    status: removalStatus(),
    notesSealed: text(),
    language: language().notNull(),
    requestedAt: instant().notNull(),
    completedAt: instant(),
    recheckAt: instant(),
    affidavitSealed: text(),
    affidavitSha256: text(),
    signature: text(),
    signatureKid: text(),
    changedBy: text().notNull(),
  },
  (t) => [index("removals_consumer").on(t.consumerId, t.ord)],
);

export const removalTargets = table(
  "removal_targets",
  {
    removalId: text()
      .$type<RemovalId>()
      .notNull()
      .references(() => removals.id),
    name: text().notNull(),
    status: removalStatus(),
    completedAt: instant(),
  },
  (t) => [primaryKey({ columns: [t.removalId, t.name] })],
);
