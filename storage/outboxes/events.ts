// The event outboxes of a shard: public events, written with their change, on their way into the sequence of their business
// (durable-objects/event-sequence/object.ts). Events of sandbox records have a table of their own, which leads to the sandbox's sequence. A
// row is deleted once the sequence has it.
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

/** The insert for the batch of a change; the events keep their order. */
export const insertOutboxEvents = (db: Database, environment: Environment, events: readonly NewEvent[]): Statement =>
  insertByEnvironment[environment](
    db,
    events.map(({ id, ...event }) => ({ eventId: id, ...event })),
  );

/** Waiting events, oldest first. Read from the primary, so that events just committed are seen. */
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

/** Deletes by id and not up to a number, because after a restore numbers are assigned twice. */
export const deleteSequencedEvents = (db: Database, environment: Environment, ids: readonly string[]) => {
  const outbox = eventOutboxFor(environment);
  return db.delete(outbox).where(inArray(outbox.eventId, jsonList(ids)));
};

/** Businesses with waiting events, for the minute job; oldest event first. */
export const listBusinessesWithEvents = async (db: Database, environment: Environment, max: number): Promise<readonly BusinessId[]> => {
  const outbox = eventOutboxFor(environment);
  const rows = await db.select({ id: outbox.businessId }).from(outbox).groupBy(outbox.businessId).orderBy(min(outbox.ord)).limit(max);
  return rows.map(({ id }) => id);
};
