// The event outbox of a home: events written with the change they tell of, on their way into the sequence of their
// business (durable-objects/business-log.ts). A row is deleted once the sequence holds it.
import type { UnplacedEvent } from "../core/events/event.ts";

/** For the batch of the change. */
export const insertEvent = (db: D1Database, businessId: string, event: UnplacedEvent): D1PreparedStatement =>
  db
    .prepare(
      `INSERT INTO event_outbox (event_id, business_id, type, share_id, cert_id, data_sealed, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    )
    .bind(event.id, businessId, event.type, event.shareId, event.certId, event.dataSealed, event.createdAt);

export interface WaitingEvent extends UnplacedEvent {
  readonly ord: number;
}

/** Oldest first; read from the primary, so that what was just committed is seen. */
export const waitingEvents = async (db: D1Database, businessId: string, most: number): Promise<readonly WaitingEvent[]> => {
  const { results } = await db
    .withSession("first-primary")
    .prepare(
      `SELECT ord, event_id AS id, type, share_id AS shareId, cert_id AS certId, data_sealed AS dataSealed, created_at AS createdAt
       FROM event_outbox WHERE business_id = ? ORDER BY ord LIMIT ?`,
    )
    .bind(businessId, most)
    .all<WaitingEvent & Record<string, unknown>>();
  return results;
};

/** By their ids and not up to a number: after a restore numbers are given out twice. */
export const forgetPlacedEvents = (db: D1Database, ids: readonly string[]): D1PreparedStatement =>
  db.prepare("DELETE FROM event_outbox WHERE event_id IN (SELECT value FROM json_each(?))").bind(JSON.stringify(ids));

/** Whose events wait, for the sweep of each minute. */
export const businessesWithEvents = async (db: D1Database, most: number): Promise<readonly string[]> => {
  const { results } = await db
    .prepare("SELECT business_id AS id FROM event_outbox GROUP BY business_id ORDER BY MIN(ord) LIMIT ?")
    .bind(most)
    .all<{ id: string }>();
  return results.map(({ id }) => id);
};
