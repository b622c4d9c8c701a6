// An event sequence's tables: events, endpoints and segments. Each function is synchronous, so no other request can run partway through it.
import type { StoredEvent, UnsequencedEvent } from "../../core/events/event.ts";
import type { Endpoint, EndpointChange, EndpointSettings, NewEndpoint, SecretAge } from "../../core/webhooks/endpoint.ts";
import type { Instant } from "../../core/time.ts";

export const findName = (sql: SqlStorage): string | null => sql.exec<{ id: string }>("SELECT id FROM business").toArray()[0]?.id ?? null;

export const saveName = (sql: SqlStorage, id: string): void => {
  sql.exec("INSERT INTO business (id) VALUES (?)", id);
};

export const getHead = (sql: SqlStorage): number =>
  sql.exec<{ head: number }>("SELECT COALESCE(MAX(seq), 0) AS head FROM event").one().head;

/** Inserts an event. Returns false if the event is already stored. */
const insertEvent = (sql: SqlStorage, seq: number, event: UnsequencedEvent): boolean =>
  sql.exec(
    `INSERT INTO event (seq, event_id, type, share_id, cert_id, data_sealed, created_at) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7
     WHERE NOT EXISTS (SELECT 1 FROM event WHERE event_id = ?2)`,
    seq,
    event.id,
    event.type,
    event.shareId,
    event.certId,
    event.dataSealed,
    event.createdAt,
  ).rowsWritten > 0;

/**
 * Stores each new event under the next sequence number and returns the last number. Skips events that are already stored. Call it inside a
 * transaction.
 */
export const appendEvents = (sql: SqlStorage, events: readonly UnsequencedEvent[], head: number): number => {
  let last = head;
  for (const event of events) if (insertEvent(sql, last + 1, event)) last += 1;
  return last;
};

// Events are read as arrays, because reading 100 rows as objects takes more than twice as long.
const eventColumns = "seq, event_id, type, share_id, cert_id, data_sealed, created_at";
type EventRow = [number, string, string, string | null, string | null, string | null, number];

const toStoredEvent = ([seq, id, type, shareId, certId, dataSealed, createdAt]: EventRow): StoredEvent => ({
  seq,
  id,
  type,
  createdAt,
  shareId,
  certId,
  dataSealed,
});

/** Lists up to `limit` events with sequence numbers above `after` and up to `upTo`, of the given types or of all types. */
export const listEventsBetween = (
  sql: SqlStorage,
  after: number,
  upTo: number,
  types: readonly string[] | null,
  limit: number,
): readonly StoredEvent[] => {
  const cursor =
    types === null
      ? sql.exec(`SELECT ${eventColumns} FROM event WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?`, after, upTo, limit)
      : sql.exec(
          `SELECT ${eventColumns} FROM event
           WHERE seq > ? AND seq <= ? AND type IN (SELECT value FROM json_each(?)) ORDER BY seq LIMIT ?`,
          after,
          upTo,
          JSON.stringify(types),
          limit,
        );
  return Array.from(cursor.raw<EventRow>(), toStoredEvent);
};

/** Stores events in a segment under their existing sequence numbers. Returns the segment's last sequence number. */
export const insertSegmentEvents = (sql: SqlStorage, events: readonly StoredEvent[]): number => {
  for (const event of events) insertEvent(sql, event.seq, event);
  return getHead(sql);
};

/**
 * A segment contains the events with sequence numbers above `after` and up to `up_to`. While it is being filled, it contains only those up
 * to `moved`.
 */
export type SegmentRow = { number: number; after: number; up_to: number; moved: number };

export const listSegments = (sql: SqlStorage): readonly SegmentRow[] =>
  sql.exec<SegmentRow>("SELECT * FROM segment ORDER BY number").toArray();

export const insertSegment = (sql: SqlStorage, { number, after, up_to, moved }: SegmentRow): void => {
  sql.exec("INSERT INTO segment (number, after, up_to, moved) VALUES (?, ?, ?, ?)", number, after, up_to, moved);
};

/** Deletes the events up to `upTo`, which the segment has stored, and records the move. Call it inside a transaction. */
export const completeMove = (sql: SqlStorage, segment: number, upTo: number): void => {
  sql.exec("DELETE FROM event WHERE seq <= ?", upTo);
  sql.exec("UPDATE segment SET moved = ? WHERE number = ?", upTo, segment);
};

export const filterKnownIds = (sql: SqlStorage, ids: readonly string[]): readonly string[] =>
  sql
    .exec<{ id: string }>("SELECT event_id AS id FROM event WHERE event_id IN (SELECT value FROM json_each(?))", JSON.stringify(ids))
    .toArray()
    .map(({ id }) => id);

export type EndpointRow = Pick<Endpoint, "id" | "url" | "description" | "status"> & {
  ord: number;
  events: string | null;
  secret_sealed: string;
  secret_hint: string;
  earlier_sealed: string | null;
  earlier_until: number | null;
  /** The time when the current secret was created, or null if the endpoint still has its first secret. */
  secret_at: number | null;
  created_at: number;
  revision: number;
  sent_revision: number;
  acked: number;
  removed: number;
};

/** Lists endpoints, oldest first. Omits those that are being removed. */
export const listEndpointRows = (sql: SqlStorage): readonly EndpointRow[] =>
  sql.exec<EndpointRow>("SELECT * FROM endpoint WHERE removed = 0 ORDER BY ord").toArray();

export const findEndpointRow = (sql: SqlStorage, id: string): EndpointRow | null =>
  sql.exec<EndpointRow>("SELECT * FROM endpoint WHERE id = ? AND removed = 0", id).toArray()[0] ?? null;

export const toEndpoint = (row: EndpointRow): Endpoint => ({
  id: row.id,
  url: row.url,
  events: row.events === null ? null : (JSON.parse(row.events) as readonly string[]),
  description: row.description,
  status: row.status,
  secretHint: row.secret_hint,
  createdAt: row.created_at,
});

export type SettingsRow = Pick<EndpointRow, "revision" | "url" | "status" | "secret_sealed" | "earlier_sealed" | "earlier_until">;

export const toEndpointSettings = (row: SettingsRow, endpointId: string, businessId: string): EndpointSettings => ({
  endpointId,
  businessId,
  revision: row.revision,
  url: row.url,
  status: row.status,
  secretSealed: row.secret_sealed,
  earlierSecretSealed: row.earlier_sealed,
  earlierSecretUntil: row.earlier_until,
});

const eventTypesToText = (events: readonly string[] | null): string | null => (events === null ? null : JSON.stringify(events));

/** Adds an endpoint. It receives only events with sequence numbers above `head`. */
export const insertEndpoint = (sql: SqlStorage, endpoint: NewEndpoint, head: number): void => {
  sql.exec(
    `INSERT INTO endpoint (id, url, events, description, status, secret_sealed, secret_hint, earlier_sealed, earlier_until, created_at,
       revision, sent_revision, acked, removed) VALUES (?, ?, ?, ?, 'enabled', ?, ?, NULL, NULL, ?, 1, 0, ?, 0)`,
    endpoint.id,
    endpoint.url,
    eventTypesToText(endpoint.events),
    endpoint.description,
    endpoint.secretSealed,
    endpoint.secretHint,
    endpoint.createdAt,
    head,
  );
};

export const updateEndpoint = (sql: SqlStorage, row: EndpointRow, change: EndpointChange): void => {
  sql.exec(
    "UPDATE endpoint SET url = ?, events = ?, description = ?, status = ?, revision = revision + 1 WHERE id = ?",
    change.url ?? row.url,
    change.events === undefined ? row.events : eventTypesToText(change.events),
    change.description === undefined ? row.description : change.description,
    change.status ?? row.status,
    row.id,
  );
};

export const toSecretAge = (row: EndpointRow): SecretAge => ({
  endpointId: row.id,
  createdAt: row.secret_at ?? row.created_at,
  earlierUntil: row.earlier_until,
});

/** Replaces the secret. For `overlapMs`, deliveries are signed with both secrets. */
export const rotateSecret = (
  sql: SqlStorage,
  id: string,
  secret: { readonly sealed: string; readonly hint: string },
  now: Instant,
  overlapMs: number,
): void => {
  sql.exec(
    `UPDATE endpoint SET earlier_sealed = secret_sealed, earlier_until = ?, secret_sealed = ?, secret_hint = ?, secret_at = ?,
       revision = revision + 1
     WHERE id = ?`,
    now + overlapMs,
    secret.sealed,
    secret.hint,
    now,
    id,
  );
};

/** Lists the current and earlier sealed secrets of all endpoints. */
export const listSealedSecrets = (sql: SqlStorage): readonly string[] =>
  sql
    .exec<{ sealed: string }>(
      "SELECT secret_sealed AS sealed FROM endpoint UNION SELECT earlier_sealed FROM endpoint WHERE earlier_sealed IS NOT NULL",
    )
    .toArray()
    .map(({ sealed }) => sealed);

/** Replaces the sealed secret `from` with `to` wherever it is stored. Increases the revision, so that the delivery queues receive `to`. */
export const replaceSealedSecret = (sql: SqlStorage, from: string, to: string): void => {
  sql.exec(
    `UPDATE endpoint SET secret_sealed = CASE secret_sealed WHEN ?1 THEN ?2 ELSE secret_sealed END,
       earlier_sealed = CASE earlier_sealed WHEN ?1 THEN ?2 ELSE earlier_sealed END, revision = revision + 1
     WHERE secret_sealed = ?1 OR earlier_sealed = ?1`,
    from,
    to,
  );
};

/** Saves the newest settings revision and sequence number that the delivery queue has acknowledged. */
export const updateProgress = (sql: SqlStorage, id: string, revision: number, acked: number): void => {
  sql.exec("UPDATE endpoint SET sent_revision = MAX(sent_revision, ?), acked = MAX(acked, ?) WHERE id = ?", revision, acked, id);
};

export const markEndpointRemoved = (sql: SqlStorage, id: string): boolean =>
  sql.exec("UPDATE endpoint SET removed = 1 WHERE id = ?", id).rowsWritten > 0;

export const listRemovedEndpoints = (sql: SqlStorage): readonly string[] =>
  sql
    .exec<{ id: string }>("SELECT id FROM endpoint WHERE removed = 1")
    .toArray()
    .map(({ id }) => id);

export const deleteEndpoint = (sql: SqlStorage, id: string): void => {
  sql.exec("DELETE FROM endpoint WHERE id = ? AND removed = 1", id);
};
