// The event outboxes of a home: events written with the change they tell of, on their way into the sequence of their
// business (durable-objects/business-log/object.ts). Those of sandbox records have a table of their own, which leads to the sequence
// of the business's sandbox. A row is deleted once the sequence holds it.
import { eq, getColumns, inArray, min } from "drizzle-orm";
import type { Environment } from "../../core/access/entitlement.ts";
import type { UnplacedEvent } from "../../core/events/event.ts";
import type { LogOwner } from "../../core/events/log-name.ts";
import type { BusinessId } from "../../core/ids.ts";
import { onPrimary, type Database, type Statement } from "../database.ts";
import { insertMany } from "../inserts.ts";
import { eventOutbox, sandboxEventOutbox } from "../schema.ts";
import { listed } from "../query.ts";

/** Where the events of records of this environment wait. */
export const outboxOf = (environment: Environment) => (environment === "sandbox" ? sandboxEventOutbox : eventOutbox);

const columns = ["eventId", "businessId", "type", "shareId", "certId", "dataSealed", "createdAt"] as const;
const insertRows = { live: insertMany(eventOutbox, columns), sandbox: insertMany(sandboxEventOutbox, columns) };

export type NewEvent = UnplacedEvent & { readonly businessId: BusinessId };

/** For the batch of the change; placed in their order. */
export const insertEvents = (db: Database, environment: Environment, events: readonly NewEvent[]): Statement =>
  insertRows[environment](
    db,
    events.map(({ id, ...event }) => ({ eventId: id, ...event })),
  );

/** Oldest first; read from the primary, so that what was just committed is seen. */
export const waitingEvents = (db: Database, { businessId, environment }: LogOwner, max: number) => {
  const outbox = outboxOf(environment);
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
export const forgetPlacedEvents = (db: Database, environment: Environment, ids: readonly string[]) => {
  const outbox = outboxOf(environment);
  return db.delete(outbox).where(inArray(outbox.eventId, listed(ids)));
};

/** Whose events wait, for the sweep of each minute. */
export const businessesWithEvents = async (db: Database, environment: Environment, max: number): Promise<readonly BusinessId[]> => {
  const outbox = outboxOf(environment);
  const rows = await db.select({ id: outbox.businessId }).from(outbox).groupBy(outbox.businessId).orderBy(min(outbox.ord)).limit(max);
  return rows.map(({ id }) => id);
};
