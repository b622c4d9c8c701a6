// Daily usage of a client by submissions without an API key. Anyone who reads a page's source can send those, so their number and stored
// bytes are limited. They are usage in the batch of the issuance, which fails as a whole beyond the limit. SPEC Limits.
import { eq, isNull, sql } from "drizzle-orm";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { excluded } from "./inserts.ts";
import { allOf, existsIn, query } from "./query.ts";
import { clientDailyUsage, clients, disclosures, entityLists } from "./schema.ts";

export type ClientUsageDay = Pick<typeof clientDailyUsage.$inferSelect, "clientId" | "day">;

export interface SubmissionUsage extends ClientUsageDay {
  /** Characters stored for this certificate alone. */
  readonly ownBytes: number;
  /** The shared parts; each is usage only when it is new. */
  readonly disclosureHash: string;
  readonly disclosureBytes: number;
  readonly entitiesHash: string;
  readonly entitiesBytes: number;
  /** Defaults for clients without limits of their own; null when nothing is usage. */
  readonly maxSubmissions: number | null;
  readonly maxBytes: number | null;
}

/**
 * Counts a submission. Must come before the statements that store the shared parts. Fails as `isDailyLimitReached` says beyond the limit.
 * Returns `isNear` at four fifths of a limit when the owners were not warned that day; returns no row when nothing is usage.
 */
export const recordSubmissionUsage = (db: Database, usage: SubmissionUsage) => {
  const { submissions, bytes, warnedAt } = clientDailyUsage;
  const own = (limit: typeof clients.dailySubmissionLimit | typeof clients.dailyByteLimit) =>
    query.select({ limit }).from(clients).where(eq(clients.id, usage.clientId));
  const maxSubmissions = sql`coalesce(${own(clients.dailySubmissionLimit)}, ${usage.maxSubmissions})`;
  const maxBytes = sql`coalesce(${own(clients.dailyByteLimit)}, ${usage.maxBytes})`;
  const hasDisclosure = existsIn(disclosures, eq(disclosures.hash, usage.disclosureHash));
  const hasList = existsIn(entityLists, eq(entityLists.hash, usage.entitiesHash));
  const added = sql`${usage.ownBytes} + iif(${hasDisclosure}, 0, ${usage.disclosureBytes}) + iif(${hasList}, 0, ${usage.entitiesBytes})`;
  const allBytes = sql`${bytes} + ${excluded(bytes)}`;
  return db
    .insert(clientDailyUsage, "clientId", "day", "submissions", "bytes")
    .select(
      sql`select ${usage.clientId}, ${usage.day}, iif(${maxSubmissions} >= 1 and ${added} <= ${maxBytes}, 1, null), ${added} where ${usage.maxSubmissions} is not null`,
    )
    .onConflictDoUpdate({
      target: [clientDailyUsage.clientId, clientDailyUsage.day],
      set: {
        submissions: sql`iif(${submissions} < ${maxSubmissions} and ${allBytes} <= ${maxBytes}, ${submissions} + 1, null)`,
        bytes: allBytes,
      },
    })
    .returning({
      isNear: sql<boolean>`${warnedAt} is null and (${submissions} * 5 >= ${maxSubmissions} * 4 or ${bytes} * 5 >= ${maxBytes} * 4)`
        .mapWith(Boolean)
        .as("is_near"),
    });
};

/** True when the batch failed because the client's daily limit is reached. */
export const isDailyLimitReached = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", clientDailyUsage.submissions);

const isUnwarnedDay = ({ clientId, day }: ClientUsageDay) =>
  allOf(eq(clientDailyUsage.clientId, clientId), eq(clientDailyUsage.day, day), isNull(clientDailyUsage.warnedAt));

/** Condition for the email to the owners, which comes before `markUsageWarned` in the batch. */
export const isUsageWarningDue = (of: ClientUsageDay) => existsIn(clientDailyUsage, isUnwarnedDay(of));

/** Records that the owners were warned that day. */
export const markUsageWarned = (db: Database, of: ClientUsageDay, now: Instant) =>
  db.update(clientDailyUsage).set({ warnedAt: now }).where(isUnwarnedDay(of));
