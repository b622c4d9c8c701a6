// One change, one batch: the rows of the change, the audit entries, ledger statements and events its facts call for, and
// the work that follows, all or nothing. A 2xx is answered only after this returned.
import type { SQL } from "drizzle-orm";
import type { BatchResponse } from "drizzle-orm/batch";
import type { Environment } from "../core/access/entitlement.ts";
import { hashAuditPayload } from "../core/audit/payload.ts";
import { toBase64Url } from "../core/bytes.ts";
import type { EventType } from "../core/events/event.ts";
import { toAuditPayload, domainEventRoutes, type DomainEvent, type DomainEventRoute } from "../core/domain-events.ts";
import type { BusinessId } from "../core/ids.ts";
import { refuse, type Refusal } from "../core/result.ts";
import { formatAnchorStatement, hashStatement, type AnchoredEventType } from "../core/ledger/statement.ts";
import { toCanonicalJson } from "../core/canonical-json.ts";
import { auditEntryColumns, auditPayloadContext } from "./outboxes/audit.ts";
import { batch, type Database, type Statement } from "./database.ts";
import { insertOutboxEvents, type NewEvent } from "./outboxes/events.ts";
import { insertIf, prepareBulkInsert } from "./inserts.ts";
import { anchors, auditOutbox } from "./schema.ts";
import type { Vault } from "./vault.ts";

type AuditRow = typeof auditOutbox.$inferInsert;
type AnchorRow = typeof anchors.$inferInsert;

const insertAuditEntries = prepareBulkInsert(auditOutbox, auditEntryColumns);
const statementColumns = ["id", "ledgerId", "kind", "entityId", "event", "statement", "entryHash", "nextAt", "createdAt"] as const;
const insertAnchorStatements = prepareBulkInsert(anchors, statementColumns);

/** The entries of a fact: one in each of its chains, under one id, each committed to and sealed on its own. */
const toAuditRows = (vault: Vault, fact: DomainEvent): Promise<AuditRow[]> => {
  const { type, entityType, entityId, at, chains } = fact;
  const id = crypto.randomUUID();
  return Promise.all(
    chains.map(async ({ tag, auditLog, content = fact }) => {
      const payload = toAuditPayload(content);
      const salt = toBase64Url(crypto.getRandomValues(new Uint8Array(16)));
      const payloadSealed = await vault.seal(auditPayloadContext(id, tag), toCanonicalJson([salt, payload]));
      return { id, auditLog, chain: tag, type, entityType, entityId, at, payloadHash: hashAuditPayload(salt, payload), payloadSealed };
    }),
  );
};

/** What the ledger will hold of a fact. Throws for an anchored fact that carries nothing to anchor. */
const toAnchorRow = (ledgerId: string, { type, entityId, at, anchor }: DomainEvent): AnchorRow => {
  if (anchor === undefined) throw new Error(`commit: ${type} is anchored and carries nothing to anchor`);
  const statement = formatAnchorStatement({ event: type as AnchoredEventType, entityId, ...anchor, at });
  return {
    id: crypto.randomUUID(),
    ledgerId,
    kind: "event",
    entityId,
    event: type,
    statement,
    entryHash: hashStatement(statement),
    nextAt: at,
    createdAt: at,
  };
};

const toOutboxEvent = ({ type: fact, entityType, entityId, at, occurredAt, businessId, environment }: DomainEvent, type: EventType) => {
  if (businessId === undefined || environment === undefined) throw new Error(`commit: ${fact} has an event and does not say whose`);
  const isShare = entityType === "share";
  const about = { shareId: isShare ? entityId : null, certId: isShare ? null : entityId };
  return { environment, event: { id: crypto.randomUUID(), businessId, type, ...about, dataSealed: null, createdAt: occurredAt ?? at } };
};

/** Events of sandbox records go a way of their own: test keys and test clients never make a live endpoint ring. */
const buildEventStatements = (
  db: Database,
  events: readonly { readonly environment: Environment; readonly event: NewEvent }[],
): readonly Statement[] =>
  (["live", "sandbox"] as const).flatMap((environment) => {
    const of = events.filter((one) => one.environment === environment).map(({ event }) => event);
    return of.length === 0 ? [] : [insertOutboxEvents(db, environment, of)];
  });

const getDomainEventRoute = ({ type }: DomainEvent): DomainEventRoute => domainEventRoutes[type];

const hasPublicEvent = (fact: DomainEvent): boolean => {
  const { event, requiresOptIn } = getDomainEventRoute(fact);
  return event !== null && (requiresOptIn !== true || fact.businessId !== undefined);
};

/** The rows that `facts` add to a change: one insert for all their audit entries, one for all their statements, one for all their events. */
const buildDomainEventStatements = async (
  db: Database,
  { vault, ledgerId }: CommitServices,
  facts: readonly DomainEvent[],
  onlyIf: SQL | undefined,
): Promise<readonly Statement[]> => {
  if (facts.length === 0) return [];
  const statements = facts.filter((fact) => getDomainEventRoute(fact).anchored).map((fact) => toAnchorRow(ledgerId, fact));
  const events = facts.filter(hasPublicEvent).map((fact) => toOutboxEvent(fact, getDomainEventRoute(fact).event as EventType));
  const entries = (await Promise.all(facts.map((fact) => toAuditRows(vault, fact)))).flat();
  if (onlyIf !== undefined) {
    if (statements.length + events.length > 0) throw new Error("commit: only what is audited alone can be under a condition");
    return entries.map((entry) => insertIf(db, auditOutbox, entry, onlyIf));
  }
  return [
    insertAuditEntries(db, entries),
    ...(statements.length === 0 ? [] : [insertAnchorStatements(db, statements)]),
    ...buildEventStatements(db, events),
  ];
};

/** What seals the entries of a change, and where its statements go. */
export interface CommitServices {
  readonly vault: Vault;
  readonly ledgerId: string;
}

/** What a change asks for once it is committed. */
export interface FollowUpScheduler {
  readonly scheduleFollowUp: () => void;
  readonly scheduleEvents: (businessId: BusinessId, environment: Environment) => void;
}

/**
 * Runs the rows of a change and of its facts as one transaction; throws, with nothing written, when any of them fails.
 * Answers the results of `rows`, in their order. Asks for nothing: what follows is the next minute's.
 */
export const commitWithoutFollowUp = async <const Rows extends readonly Statement[]>(
  db: Database,
  services: CommitServices,
  rows: Rows,
  facts: readonly DomainEvent[],
  /** What must hold after `rows` for the facts to be told. */
  onlyIf?: SQL,
): Promise<BatchResponse<Rows>> => {
  const results = await batch(db, [...rows, ...(await buildDomainEventStatements(db, services, facts, onlyIf))]);
  return results.slice(0, rows.length) as BatchResponse<Rows>;
};

/** The same; and its entries and statements go on their way, and its events to their businesses, after the answer. */
export const commit = async <const Rows extends readonly Statement[]>(
  db: Database,
  services: CommitServices & FollowUpScheduler,
  rows: Rows,
  facts: readonly DomainEvent[],
  onlyIf?: SQL,
): Promise<BatchResponse<Rows>> => {
  const results = await commitWithoutFollowUp(db, services, rows, facts, onlyIf);
  if (facts.length > 0) services.scheduleFollowUp();
  const told = new Map(facts.filter(hasPublicEvent).map((fact) => [`${fact.businessId} ${fact.environment}`, fact]));
  for (const { businessId, environment } of told.values()) services.scheduleEvents(businessId as BusinessId, environment as Environment);
  return results;
};

/**
 * Loads, decides and commits. Where what was loaded had changed by the commit, all of it is done again, three times in all: what changes
 * more often while one request is answered never rests.
 */
export const retryOnConflict = async <T>(
  /** The faults that say so. */
  outdated: readonly ((error: unknown) => boolean)[],
  attempt: () => Promise<T>,
  maxAttempts = 3,
): Promise<T | Refusal<"storage_unavailable">> => {
  for (let attempts = 1; attempts <= maxAttempts; attempts += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!outdated.some((isThat) => isThat(error))) throw error;
    }
  }
  return refuse("storage_unavailable");
};
