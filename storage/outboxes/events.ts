// The event outbox of a home: events written with the change they tell of, on their way into the sequence of their
// business (durable-objects/business-log/object.ts). A row is deleted once the sequence holds it.
import { eq, getColumns, inArray, min } from "drizzle-orm";
import type { UnplacedEvent } from "../../core/events/event.ts";
import type { BusinessId } from "../../core/ids.ts";
import { onPrimary, type Database, type Statement } from "../database.ts";
import { insertMany } from "../inserts.ts";
import { eventOutbox } from "../schema.ts";
import { listed } from "../query.ts";

const insertRows = insertMany(eventOutbox, ["eventId", "businessId", "type", "shareId", "certId", "dataSealed", "createdAt"]);

/** For the batch of the change; placed in their order. */
export const insertEvents = (db: Database, events: readonly (UnplacedEvent & { readonly businessId: BusinessId })[]): Statement =>
  insertRows(
    db,
    events.map(({ id, ...event }) => ({ eventId: id, ...event })),
  );

export interface WaitingEvent extends UnplacedEvent {
  readonly ord: number;
}

/** Oldest first; read from the primary, so that what was just committed is seen. */
export const waitingEvents = (db: Database, businessId: BusinessId, max: number): Promise<readonly WaitingEvent[]> => {
  const { businessId: _business, eventId: id, ...rest } = getColumns(eventOutbox);
  return onPrimary(db)
    .select({ id, ...rest })
    .from(eventOutbox)
    .where(eq(eventOutbox.businessId, businessId))
    .orderBy(eventOutbox.ord)
    .limit(max)
    .all();
};

/** By their ids and not up to a number: after a restore numbers are given out twice. */
export const forgetPlacedEvents = (db: Database, ids: readonly string[]) =>
  db.delete(eventOutbox).where(inArray(eventOutbox.eventId, listed(ids)));

/** Whose events wait, for the sweep of each minute. */
export const businessesWithEvents = async (db: Database, max: number): Promise<readonly BusinessId[]> => {
  const rows = await db
    .select({ id: eventOutbox.businessId })
    .from(eventOutbox)
    .groupBy(eventOutbox.businessId)
    .orderBy(min(eventOutbox.ord))
    .limit(max);
  return rows.map(({ id }) => id);
};
