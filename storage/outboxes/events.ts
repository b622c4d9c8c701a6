// The event outboxes of a home: events written with the change they tell of, on their way into the sequence of their
// business (durable-objects/event-sequence/object.ts). Those of sandbox records have a table of their own, which leads to the sequence
// of the business's sandbox. A row is deleted once the sequence holds it.
import { eq, getColumns, inArray, min } from "drizzle-orm";
import type { Environment } from "../../core/access/entitlement.ts";
import type { UnsequencedEvent } from "../../core/events/event.ts";
import type { EventSequenceOwner } from "../../core/events/event-sequence-name.ts";
import type { BusinessId } from "../../core/ids.ts";
import { onPrimary, type Database, type Statement } from "../database.ts";
import { prepareBulkInsert } from "../inserts.ts";
import { eventOutbox, sandboxEventOutbox } from "../schema.ts";
import { jsonList } from "../query.ts";

/** Where the events of records of this environment wait. */
export const eventOutboxFor = (environment: Environment) => (environment === "sandbox" ? sandboxEventOutbox : eventOutbox);

const eventColumns = ["eventId", "businessId", "type", "shareId", "certId", "dataSealed", "createdAt"] as const;
const insertByEnvironment = {
  live: prepareBulkInsert(eventOutbox, eventColumns),
  sandbox: prepareBulkInsert(sandboxEventOutbox, eventColumns),
};

export type NewEvent = UnsequencedEvent & { readonly businessId: BusinessId };

/** For the batch of the change; placed in their order. */
export const insertOutboxEvents = (db: Database, environment: Environment, events: readonly NewEvent[]): Statement =>
  insertByEnvironment[environment](
    db,
    events.map(({ id, ...event }) => ({ eventId: id, ...event })),
  );

/** Oldest first; read from the primary, so that what was just committed is seen. */
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

/** By their ids and not up to a number: after a restore numbers are given out twice. */
export const deleteSequencedEvents = (db: Database, environment: Environment, ids: readonly string[]) => {
  const outbox = eventOutboxFor(environment);
  return db.delete(outbox).where(inArray(outbox.eventId, jsonList(ids)));
};

/** Whose events wait, for the sweep of each minute. */
export const listBusinessesWithEvents = async (db: Database, environment: Environment, max: number): Promise<readonly BusinessId[]> => {
  const outbox = eventOutboxFor(environment);
  const rows = await db.select({ id: outbox.businessId }).from(outbox).groupBy(outbox.businessId).orderBy(min(outbox.ord)).limit(max);
  return rows.map(({ id }) => id);
};
