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
