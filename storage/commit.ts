// Commits each change in one batch (all or nothing) with the change log rows, audit entries and ledger statements of its domain events. The
// service sends a 2xx response only after the commit.
import { sql, type SQL } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import { hashAuditPayload } from "../core/audit/payload.ts";
import { toBase64Url } from "../core/bytes.ts";
import { getEventSequenceName } from "../core/events/event-sequence-name.ts";
import { deriveIssuanceChangeId } from "../core/certificates/issuance-entry.ts";
import { toAuditPayload, domainEventRoutes, type DomainEvent, type DomainEventRoute } from "../core/domain-events.ts";
import type { BusinessId } from "../core/ids.ts";
import { refuse, type Refusal } from "../core/result.ts";
import { formatAnchorStatement, type AnchoredEventType } from "../core/ledger/statement.ts";
import { toCanonicalJson } from "../core/canonical-json.ts";
import { auditPayloadContext, createUnsealedPayload, insertAuditEntries } from "./audit-entries.ts";
import { appendChanges, lastChangeOrd, type NewChange } from "./changes.ts";
import { batch, shapeResults, type BatchResults, type Database, type Statement, type Statements } from "./database.ts";
import { insertIf, bulkInsert } from "./inserts.ts";
import { isHoldMissing, runWhileHeld } from "./issuing-shards.ts";
import { anchors, auditEntries, changes } from "./schema.ts";
import type { Shards } from "./shards.ts";
import type { Vault } from "./vault.ts";

type AuditRow = Omit<typeof auditEntries.$inferInsert, "ord">;
type AnchorRow = Omit<typeof anchors.$inferInsert, "ord">;

const statementColumns = ["ord", "ledgerId", "kind", "entityId", "event", "statement", "nextAt", "createdAt"] as const;
const insertAnchorStatements = bulkInsert(anchors, statementColumns, { ord: sql<number>`${lastChangeOrd} - (value ->> 'back')` });

/** A row of the change log with its audit entries, one per audit chain. The row and its entries have the same ID. */
interface RecordedChange {
  readonly change: NewChange;
  readonly entries: readonly AuditRow[];
}

const getDomainEventRoute = ({ type }: DomainEvent): DomainEventRoute => domainEventRoutes[type];

const hasPublicEvent = (event: DomainEvent): boolean => {
  const { event: publicType, requiresOptIn } = getDomainEventRoute(event);
  return publicType !== null && (requiresOptIn !== true || event.businessId !== undefined);
};

/**
 * Returns the name of a domain event's sequence, or null if it has no public event. Sandbox records have a separate sequence, so that test
 * data never reaches a live endpoint.
 */
const getSequenceOf = (event: DomainEvent): string | null => {
  if (!hasPublicEvent(event)) return null;
  const { type, businessId, environment } = event;
  if (businessId === undefined || environment === undefined)
    throw new Error(`commit: ${type} has a public event and no business or environment`);
  return getEventSequenceName(businessId, environment);
};

const toRecordedChange = async (vault: Vault, event: DomainEvent): Promise<RecordedChange> => {
  const { type, entityType, entityId, at, occurredAt = null, chains } = event;
  const about = { id: crypto.randomUUID(), type, entityType, entityId, at };
  const entries = chains.map(async ({ tag, auditLog, content = event }) => {
    const payload = toAuditPayload(content);
    const salt = toBase64Url(crypto.getRandomValues(new Uint8Array(16)));
    const payloadSealed = await vault.seal(auditPayloadContext(about.id, tag), toCanonicalJson([salt, payload]));
    return { ...about, auditLog, chain: tag, payloadHash: hashAuditPayload(salt, payload), payloadSealed };
  });
  // For this kind of change, these values are stored in other tables.
  const stored = { ledgerId: null, statement: null, chain: null, auditLog: null, payloadHash: null, payload: null };
  return { change: { ...about, ...stored, sequence: getSequenceOf(event), eventAt: occurredAt }, entries: await Promise.all(entries) };
};

/**
 * Builds a change that contains its ledger statement and audit entry. After the change is deleted, both can be rebuilt from the
 * certificate.
 */
const toChangeOfRecord = (event: DomainEvent, salt: string, { ledgerId, statement }: AnchorRow): RecordedChange => {
  const { type, entityType, entityId, at, occurredAt = null, chains } = event;
  const [{ tag: chain, auditLog }, ...others] = chains;
  if (others.length > 0) throw new Error(`commit: ${type} is kept with its record and has two chains`);
  const payloadHash = hashAuditPayload(salt, toAuditPayload(event));
  const change = { id: deriveIssuanceChangeId(salt), type, entityType, entityId, at, sequence: getSequenceOf(event), eventAt: occurredAt };
  return { change: { ...change, ledgerId, statement, chain, auditLog, payloadHash, payload: null }, entries: [] };
};

/** Builds a change that contains the payload of its audit entry. The change is kept until the audit log has stored the payload. */
const toChangeKeptInLog = (event: DomainEvent): RecordedChange => {
  const { type, entityType, entityId, at, chains } = event;
  const [{ tag: chain, auditLog, content = event }, ...others] = chains;
  if (others.length > 0) throw new Error(`commit: ${type} is kept in the audit log and has two chains`);
  const { hash: payloadHash, text: payload } = createUnsealedPayload(toAuditPayload(content));
  const about = { id: crypto.randomUUID(), type, entityType, entityId, at };
  return {
    change: { ...about, sequence: null, eventAt: null, ledgerId: null, statement: null, chain, auditLog, payloadHash, payload },
    entries: [],
  };
};

/** Throws if the event has no anchor data. */
const toAnchorRow = ({ getLedgerId }: CommitServices, { type, entityId, at, anchor }: DomainEvent): AnchorRow => {
  if (anchor === undefined) throw new Error(`commit: ${type} is anchored and has no anchor data`);
  const statement = formatAnchorStatement({ event: type as AnchoredEventType, entityId, ...anchor, at });
  return {
    ledgerId: getLedgerId(entityId),
    kind: "event",
    entityId,
    event: type,
    statement,
    nextAt: at,
    createdAt: at,
  };
};

/**
 * Returns the statements that record domain events, for the batch that makes the change. If `onlyIf` is given, throws for events that are
 * anchored or public.
 */
export const buildDomainEventStatements = async (
  db: Database,
  services: CommitServices,
  domainEvents: readonly DomainEvent[],
  onlyIf?: SQL,
): Promise<readonly Statement[]> => {
  if (domainEvents.length === 0) return [];
  const countBack = (at: number): number => domainEvents.length - 1 - at;
  const anchorRows = domainEvents.map((event) => (getDomainEventRoute(event).anchored ? toAnchorRow(services, event) : null));
  const statements = anchorRows.flatMap((row) => row ?? []);
  if (new Set(statements.map(({ statement }) => statement)).size < statements.length)
    throw new Error("commit: two domain events have the same anchor statement");
  const recorded = await Promise.all(
    domainEvents.map((event, at) => {
      if (getDomainEventRoute(event).isKeptInLog === true) return toChangeKeptInLog(event);
      const anchor = anchorRows[at] ?? null;
      return event.recordSalt === undefined || anchor === null
        ? toRecordedChange(services.vault, event)
        : toChangeOfRecord(event, event.recordSalt, anchor);
    }),
  );
  const entries = recorded.flatMap(({ entries: changeEntries }, at) => changeEntries.map((entry) => ({ ...entry, back: countBack(at) })));
  const stored = anchorRows.flatMap((row, at) =>
    row === null || domainEvents[at]?.recordSalt !== undefined ? [] : [{ ...row, back: countBack(at) }],
  );
  if (onlyIf !== undefined) {
    if (statements.length > 0 || domainEvents.some(hasPublicEvent))
      throw new Error("commit: a domain event with an anchor or a public event cannot have a condition");
    return recorded.flatMap(({ change, entries: changeEntries }) => [
      insertIf(db, changes, change, onlyIf),
      ...changeEntries.map((entry) => insertIf(db, auditEntries, { ...entry, ord: lastChangeOrd }, onlyIf)),
    ]);
  }
  return [
    appendChanges(
      db,
      recorded.map(({ change }) => change),
    ),
    ...(entries.length === 0 ? [] : [insertAuditEntries(db, entries)]),
    ...(stored.length === 0 ? [] : [insertAnchorStatements(db, stored)]),
  ];
};

export interface CommitServices {
  readonly shards: Shards;
  readonly vault: Vault;
  /** Returns the ID of the ledger that receives the statements about a record. */
  readonly getLedgerId: (recordId: string) => string;
}

/** Schedules work to run after a commit. */
export interface FollowUpScheduler {
  readonly scheduleFollowUp: () => void;
  readonly scheduleEvents: (businessId: BusinessId, environment: Environment) => void;
}

/**
 * Commits a change and its domain events in one transaction. Throws if any statement fails, as `batch` does. Returns the results in the
 * shape of `statements`. Does not schedule the follow-up work, which is then done by the job that runs every minute.
 *
 * If the change fails because the business also issues certificates in other shards, places a hold on the account there and tries again
 * (issuing-shards.ts).
 */
export const commitWithoutFollowUp = async <const Of extends Statements>(
  db: Database,
  services: CommitServices,
  statements: Of,
  domainEvents: readonly DomainEvent[],
  /** The domain events are written only if this condition is true after `statements` have run. */
  onlyIf?: SQL,
): Promise<BatchResults<Of>> => {
  const eventStatements = await buildDomainEventStatements(db, services, domainEvents, onlyIf);
  const changeStatements = [...Object.values<Statement>(statements), ...eventStatements];
  try {
    return shapeResults(statements, await batch(db, changeStatements));
  } catch (error) {
    if (!isHoldMissing(error)) throw error;
    const chainTags = domainEvents.flatMap(({ chains }) => chains.map(({ tag }) => tag));
    return shapeResults(
      statements,
      await runWhileHeld(services.shards, db, chainTags, async ({ before, after }) =>
        (await batch(db, [...before, ...changeStatements, ...after])).slice(before.length),
      ),
    );
  }
};

/** Schedules the work that follows a commit: the audit logs, ledgers and event sequences read the changes of the domain events. */
export const scheduleDomainEventWork = (services: FollowUpScheduler, domainEvents: readonly DomainEvent[]): void => {
  if (domainEvents.length > 0) services.scheduleFollowUp();
  const sequences = new Map(domainEvents.filter(hasPublicEvent).map((event) => [`${event.businessId} ${event.environment}`, event]));
  for (const { businessId, environment } of sequences.values())
    services.scheduleEvents(businessId as BusinessId, environment as Environment);
};

/** Like `commitWithoutFollowUp`, but also schedules the follow-up work. */
export const commit = async <const Of extends Statements>(
  db: Database,
  services: CommitServices & FollowUpScheduler,
  statements: Of,
  domainEvents: readonly DomainEvent[],
  onlyIf?: SQL,
): Promise<BatchResults<Of>> => {
  const results = await commitWithoutFollowUp(db, services, statements, domainEvents, onlyIf);
  scheduleDomainEventWork(services, domainEvents);
  return results;
};

/**
 * Runs `attempt`, which loads data, decides and commits. If it fails because the loaded data has changed, runs it again. After
 * `maxAttempts` such failures, refuses with `storage_unavailable`. Rethrows every other error.
 */
export const retryOnConflict = async <T>(
  /** Functions that recognize errors caused by outdated data. */
  outdated: readonly ((error: unknown) => boolean)[],
  attempt: () => Promise<T>,
  maxAttempts = 3,
): Promise<T | Refusal<"storage_unavailable">> => {
  for (let attempts = 1; attempts <= maxAttempts; attempts += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!outdated.some((isOutdated) => isOutdated(error))) throw error;
    }
  }
  return refuse("storage_unavailable");
};
