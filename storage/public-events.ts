// Public events in the change log. If a business receives an event for a change, the change contains the name of the business's event
// sequence. Each sequence reads the changes with its name. The reader `events` notifies each sequence of new changes, and sets aside
// sequences that do not respond.
import { eq, isNotNull, or, sql, type Column, type SQL } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import { getEventSequenceName } from "../core/events/event-sequence-name.ts";
import type { UnsequencedEvent } from "../core/events/event.ts";
import { minuteMs, secondMs } from "../core/time.ts";
import type { ChangeReader } from "./change-reader.ts";
import { isSetAside, positionInReaders, readerOffset, type ChangePosition } from "./changes.ts";
import { onPrimary, type Database } from "./database.ts";
import { allOf, query } from "./query.ts";
import { changeExceptions, changes } from "./schema.ts";

const eventReader = "events";
const eventOffset = readerOffset(positionInReaders(eventReader));

const { ord, id, type, entityType, entityId, at, sequence, eventAt, eventDataSealed } = changes;
const isSequenceSetAside = isSetAside(eventReader, sql`${sequence}`);

/** Selects the name of a business's event sequence. */
export const eventSequenceOf = (businessId: Column, environment: Environment): SQL<string> =>
  sql<string>`${businessId} || ${getEventSequenceName("", environment)}`;

/** True if the change in the outer query contains an event that its sequence may not have read yet. */
export const isUnplacedEvent: SQL = allOf(isNotNull(sequence), or(sql`${ord} > ${eventOffset}`, isSequenceSetAside) as SQL);

const aboutShare = sql`${entityType} = 'share'`;
const eventFields = {
  ord,
  id,
  type: sql<string>`${type}`,
  shareId: sql<string | null>`iif(${aboutShare}, ${entityId}, null)`.as("share_id"),
  certId: sql<string | null>`iif(${aboutShare}, null, ${entityId})`.as("cert_id"),
  dataSealed: eventDataSealed,
  createdAt: sql<number>`coalesce(${eventAt}, ${at})`.as("created_at"),
};

/**
 * Lists up to `max` events of a sequence in commit order, starting after `last`, the last change that the sequence has read. If `last` is
 * null, or after a database restore, the list can contain events that the sequence already has. Reads from the primary database to see
 * events that were just committed.
 */
export const listEventsToPlace = (
  db: Database,
  sequenceName: string,
  last: ChangePosition | null,
  max: number,
): Promise<readonly (UnsequencedEvent & ChangePosition)[]> => {
  const known = query
    .select({ ord })
    .from(changes)
    .where(allOf(eq(ord, last?.ord ?? 0), eq(id, last?.id ?? "")));
  const firstSetAside = query
    .select({ ord: sql`${changeExceptions.ord} - 1`.as("first") })
    .from(changeExceptions)
    .where(allOf(eq(changeExceptions.reader, eventReader), eq(changeExceptions.subject, sequenceName)));
  return onPrimary(db)
    .select(eventFields)
    .from(changes)
    .where(allOf(eq(sequence, sequenceName), sql`${ord} > coalesce(${known}, min(${firstSetAside}, ${eventOffset}), ${eventOffset})`))
    .orderBy(ord)
    .limit(max)
    .all();
};

export interface SequenceWork extends ChangePosition {
  readonly sequence: string;
  readonly isSetAside: boolean;
}

/** Creates the reader that makes event sequences read their events. `process` returns the sequences that failed. */
export const createEventReader = (process: (sequences: readonly string[]) => Promise<ReadonlySet<string>>): ChangeReader<SequenceWork> => ({
  name: eventReader,
  offset: eventOffset,
  maxPerPage: 500,
  selectUnread: (db, max) =>
    db
      .select({
        ord,
        id,
        sequence: sql<string>`${sequence}`.as("sequence"),
        isSetAside: isSequenceSetAside.mapWith(Boolean).as("is_set_aside"),
      })
      .from(changes)
      .where(allOf(isNotNull(sequence), sql`${ord} > ${eventOffset}`))
      .orderBy(ord)
      .limit(max),
  listWorkOf: async (_db, exceptions) =>
    exceptions.map(({ subject, ord: first }) => ({ ord: first, id: "", sequence: subject, isSetAside: false })),
  getSubject: (work) => work.sequence,
  process: (work) => process([...new Set(work.map((each) => each.sequence))]),
  isPassedWithoutWork: true,
  backoff: { firstMs: 30 * secondMs, maxMs: 10 * minuteMs },
});
