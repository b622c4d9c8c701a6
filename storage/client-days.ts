// What submissions without an API key wrote for a client, by day: whoever reads a page's source can send them, so their rows and
// bytes are bounded. Counted in the batch of the issuance, which fails as a whole beyond the limit.
import { eq, isNull, sql } from "drizzle-orm";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { violates } from "./faults.ts";
import { excluded } from "./inserts.ts";
import { prepared } from "./prepared.ts";
import { allOf, existsIn, query } from "./query.ts";
import { clientDays, clients, disclosures, entityLists } from "./schema.ts";

export type ClientDay = Pick<typeof clientDays.$inferSelect, "clientId" | "day">;

export interface CountedSubmission extends ClientDay {
  /** Characters that are stored for this certificate alone. */
  readonly ownBytes: number;
  /** The shared parts, each counted only if it is not there yet. */
  readonly disclosureHash: string;
  readonly disclosureBytes: number;
  readonly entitiesHash: string;
  readonly entitiesBytes: number;
  /** For clients that have no limits of their own; null where nothing is to be counted. */
  readonly maxSubmissions: number | null;
  readonly maxBytes: number | null;
}

/** Stands before the statements that store the shared parts. Answers whether the owners are to be told that the limit is near, if it counted. */
export const countSubmission = prepared<CountedSubmission>()((db, counted) => {
  const { submissions, bytes, warnedAt } = clientDays;
  const own = (limit: typeof clients.daySubmissions | typeof clients.dayBytes) =>
    query.select({ limit }).from(clients).where(eq(clients.id, counted.clientId));
  const maxSubmissions = sql`coalesce(${own(clients.daySubmissions)}, ${counted.maxSubmissions})`;
  const maxBytes = sql`coalesce(${own(clients.dayBytes)}, ${counted.maxBytes})`;
  const hasDisclosure = existsIn(disclosures, eq(disclosures.hash, counted.disclosureHash));
  const hasList = existsIn(entityLists, eq(entityLists.hash, counted.entitiesHash));
  const added = sql`${counted.ownBytes} + iif(${hasDisclosure}, 0, ${counted.disclosureBytes}) + iif(${hasList}, 0, ${counted.entitiesBytes})`;
  const allBytes = sql`${bytes} + ${excluded(bytes)}`;
  return db
    .insert(clientDays, "clientId", "day", "submissions", "bytes")
    .select(
      sql`select ${counted.clientId}, ${counted.day}, iif(${maxSubmissions} >= 1 and ${added} <= ${maxBytes}, 1, null), ${added} where ${counted.maxSubmissions} is not null`,
    )
    .onConflictDoUpdate({
      target: [clientDays.clientId, clientDays.day],
      set: {
        submissions: sql`iif(${submissions} < ${maxSubmissions} and ${allBytes} <= ${maxBytes}, ${submissions} + 1, null)`,
        bytes: allBytes,
      },
    })
    .returning({
      // four fifths
      isNear: sql<boolean>`${warnedAt} is null and (${submissions} * 5 >= ${maxSubmissions} * 4 or ${bytes} * 5 >= ${maxBytes} * 4)`
        .mapWith(Boolean)
        .as("is_near"),
    })
    .prepare();
});

/** What the batch says beyond the limit of the day. */
export const isDayFull = (error: unknown): boolean => violates(error, "NOT NULL", clientDays.submissions);

const notWarned = ({ clientId, day }: ClientDay) =>
  allOf(eq(clientDays.clientId, clientId), eq(clientDays.day, day), isNull(clientDays.warnedAt));

/** A condition for the mail to the owners, which stands before `noteWarning` in one batch. */
export const isNotWarned = (of: ClientDay) => existsIn(clientDays, notWarned(of));

export const noteWarning = (db: Database, of: ClientDay, now: Instant) => db.update(clientDays).set({ warnedAt: now }).where(notWarned(of));
