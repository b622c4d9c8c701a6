// The event outboxes of a shard: public events, written in the same batch as the change, waiting to join their business's event sequence
// (durable-objects/event-sequence/object.ts). Events about sandbox records have their own table, which feeds the sandbox's sequence. A row
// is deleted once the sequence has it.
import { eq, getColumns, inArray, min } from "drizzle-orm";
import type { Environment } from "../../core/access/entitlement.ts";
import type { UnsequencedEvent } from "../../core/events/event.ts";
import type { EventSequenceOwner } from "../../core/events/event-sequence-name.ts";
import type { BusinessId } from "../../core/ids.ts";
import { onPrimary, type Database, type Statement } from "../database.ts";
import { bulkInsert } from "../inserts.ts";
import { eventOutbox, sandboxEventOutbox } from "../schema.ts";
import { jsonList } from "../query.ts";

/** The outbox for events of this environment. */
export const eventOutboxFor = (environment: Environment) => (environment === "sandbox" ? sandboxEventOutbox : eventOutbox);

const eventColumns = ["eventId", "businessId", "type", "shareId", "certId", "dataSealed", "createdAt"] as const;
const insertByEnvironment = {
  live: bulkInsert(eventOutbox, eventColumns),
  sandbox: bulkInsert(sandboxEventOutbox, eventColumns),
};

export type NewEvent = UnsequencedEvent & { readonly businessId: BusinessId };

/** The insert for the batch of a change. Events keep their order. */
export const insertOutboxEvents = (db: Database, environment: Environment, events: readonly NewEvent[]): Statement =>
  insertByEnvironment[environment](
    db,
    events.map(({ id, ...event }) => ({ eventId: id, ...event })),
  );

/** Waiting events, oldest first. Reads from the primary, so that it sees events that were just committed. */
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

/** Deletes by ID rather than up to a number, because after a database restore, numbers are assigned again. */
export const deleteSequencedEvents = (db: Database, environment: Environment, ids: readonly string[]) => {
  const outbox = eventOutboxFor(environment);
  return db.delete(outbox).where(inArray(outbox.eventId, jsonList(ids)));
};

/** Businesses with waiting events, for the minute job; those with the oldest event first. */
export const listBusinessesWithEvents = async (db: Database, environment: Environment, max: number): Promise<readonly BusinessId[]> => {
  const outbox = eventOutboxFor(environment);
  const rows = await db.select({ id: outbox.businessId }).from(outbox).groupBy(outbox.businessId).orderBy(min(outbox.ord)).limit(max);
  return rows.map(({ id }) => id);
};
