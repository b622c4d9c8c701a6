// What submissions without an API key wrote for a client, by day: whoever reads a page's source can send them, so their rows and
// bytes are bounded. Counted in the batch of the issuance, which fails as a whole beyond the limit.
import { eq, isNull, sql } from "drizzle-orm";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { excluded } from "./inserts.ts";
import { prepareOnce } from "./prepared.ts";
import { allOf, existsIn, query } from "./query.ts";
import { clientDailyUsage, clients, disclosures, entityLists } from "./schema.ts";

export type ClientUsageDay = Pick<typeof clientDailyUsage.$inferSelect, "clientId" | "day">;

export interface SubmissionUsage extends ClientUsageDay {
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
export const recordSubmissionUsage = prepareOnce<SubmissionUsage>()((db, counted) => {
  const { submissions, bytes, warnedAt } = clientDailyUsage;
  const own = (limit: typeof clients.dailySubmissionLimit | typeof clients.dailyByteLimit) =>
    query.select({ limit }).from(clients).where(eq(clients.id, counted.clientId));
  const maxSubmissions = sql`coalesce(${own(clients.dailySubmissionLimit)}, ${counted.maxSubmissions})`;
  const maxBytes = sql`coalesce(${own(clients.dailyByteLimit)}, ${counted.maxBytes})`;
  const hasDisclosure = existsIn(disclosures, eq(disclosures.hash, counted.disclosureHash));
  const hasList = existsIn(entityLists, eq(entityLists.hash, counted.entitiesHash));
  const added = sql`${counted.ownBytes} + iif(${hasDisclosure}, 0, ${counted.disclosureBytes}) + iif(${hasList}, 0, ${counted.entitiesBytes})`;
  const allBytes = sql`${bytes} + ${excluded(bytes)}`;
  return db
    .insert(clientDailyUsage, "clientId", "day", "submissions", "bytes")
    .select(
      sql`select ${counted.clientId}, ${counted.day}, iif(${maxSubmissions} >= 1 and ${added} <= ${maxBytes}, 1, null), ${added} where ${counted.maxSubmissions} is not null`,
    )
    .onConflictDoUpdate({
      target: [clientDailyUsage.clientId, clientDailyUsage.day],
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
export const isDailyLimitReached = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", clientDailyUsage.submissions);

const isUnwarnedDay = ({ clientId, day }: ClientUsageDay) =>
  allOf(eq(clientDailyUsage.clientId, clientId), eq(clientDailyUsage.day, day), isNull(clientDailyUsage.warnedAt));

/** A condition for the mail to the owners, which stands before `noteWarning` in one batch. */
export const isUsageWarningDue = (of: ClientUsageDay) => existsIn(clientDailyUsage, isUnwarnedDay(of));

export const markUsageWarned = (db: Database, of: ClientUsageDay, now: Instant) =>
  db.update(clientDailyUsage).set({ warnedAt: now }).where(isUnwarnedDay(of));
