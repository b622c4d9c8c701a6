// A shard's event outboxes: public events waiting to be added to their business's event sequence
// (durable-objects/event-sequence/object.ts). They are written in the same batch as the change. Events about sandbox records have a
// separate table, which feeds the sandbox's sequence. A row is deleted once the sequence has stored it.
import { eq, getColumns, inArray, min } from "drizzle-orm";
import type { Environment } from "../../core/access/entitlement.ts";
import type { UnsequencedEvent } from "../../core/events/event.ts";
import type { EventSequenceOwner } from "../../core/events/event-sequence-name.ts";
import type { BusinessId } from "../../core/ids.ts";
import { onPrimary, type Database, type Statement } from "../database.ts";
import { bulkInsert } from "../inserts.ts";
import { eventOutbox, sandboxEventOutbox } from "../schema.ts";
import { jsonList } from "../query.ts";

/** Returns the outbox for this environment's events. */
export const eventOutboxFor = (environment: Environment) => (environment === "sandbox" ? sandboxEventOutbox : eventOutbox);

const eventColumns = ["eventId", "businessId", "type", "shareId", "certId", "dataSealed", "createdAt"] as const;
const insertByEnvironment = {
  live: bulkInsert(eventOutbox, eventColumns),
  sandbox: bulkInsert(sandboxEventOutbox, eventColumns),
};

export type NewEvent = UnsequencedEvent & { readonly businessId: BusinessId };

/** Returns the insert to add to the change's batch. Events keep their order. */
export const insertOutboxEvents = (db: Database, environment: Environment, events: readonly NewEvent[]): Statement =>
  insertByEnvironment[environment](
    db,
    events.map(({ id, ...event }) => ({ eventId: id, ...event })),
  );

/** Lists waiting events, oldest first. Reads from the primary, to see events that were just committed. */
export const listWaitingEvents = (db: Database, { businessId, environment }: EventSequenceOwner, max: number) => {
  const outbox = eventOutboxFor(environment);
  const { businessId: _business, eventId: id, ...rest } = getColumns(outbox);
  return onPrimary(db)
    .select({ id, ...rest })
    .from(outbox)
    .where(eq(outbox.businessId, businessId))
    .orderBy(outbox.ord)
    .limit(max)
    .all();
};

/** Deletes events by ID. Deleting all rows up to a number would not be safe, because numbers are reused after a database restore. */
export const deleteSequencedEvents = (db: Database, environment: Environment, ids: readonly string[]) => {
  const outbox = eventOutboxFor(environment);
  return db.delete(outbox).where(inArray(outbox.eventId, jsonList(ids)));
};

/** Lists businesses that have waiting events, for the minute job, ordered by their oldest event. */
export const listBusinessesWithEvents = async (db: Database, environment: Environment, max: number): Promise<readonly BusinessId[]> => {
  const outbox = eventOutboxFor(environment);
  const rows = await db.select({ id: outbox.businessId }).from(outbox).groupBy(outbox.businessId).orderBy(min(outbox.ord)).limit(max);
  return rows.map(({ id }) => id);
};
