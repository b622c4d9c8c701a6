// Daily limits for a client's submissions without an API key. The client ID is public, so anyone can send such submissions. Therefore,
// their number and stored bytes are limited. The batch that issues a certificate counts the submission, and fails if a limit is exceeded.
// SPEC Limits.
import { eq, isNull, lte, sql, type Placeholder, type SQL } from "drizzle-orm";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { excluded } from "./inserts.ts";
import type { Placeholders } from "./prepared.ts";
import { allOf, existsIn, query } from "./query.ts";
import { clientDailyUsage, clients, disclosures, entityLists } from "./schema.ts";

export type ClientUsageDay = Pick<typeof clientDailyUsage.$inferSelect, "clientId" | "day">;

export interface SubmissionUsage extends ClientUsageDay {
  /** The bytes that are stored only for this certificate. */
  readonly ownBytes: number;
  /** The hash of the disclosure text. Certificates with the same text share it, so its bytes count only if the text is new. */
  readonly disclosureHash: string;
  readonly disclosureBytes: number;
  readonly entitiesHash: string;
  readonly entitiesBytes: number;
  /** The limits for clients without individual limits. If null, usage is not counted. */
  readonly maxSubmissions: number | null;
  readonly maxBytes: number | null;
}

/**
 * Counts a submission. Must come before the statements that store the shared texts. If `isLimited` is true, the batch fails when a limit is
 * exceeded (`isDailyLimitReached`). `isNear` is true if at least 80% of a limit is used and the owners have not been warned that day.
 * `room` is the number of submissions left that day. If usage is not counted, the statement returns no row.
 */
export const recordSubmissionUsage = (
  db: Database,
  usage: Placeholders<SubmissionUsage>,
  /** True if no earlier certificate has the same purpose, recipients and origin. */
  isNewGroup: SQL,
  isLimited: boolean,
) => {
  const { submissions, bytes, newGroups, warnedAt } = clientDailyUsage;
  const selectLimit = (limit: typeof clients.dailySubmissionLimit | typeof clients.dailyByteLimit) =>
    query.select({ limit }).from(clients).where(eq(clients.id, usage.clientId));
  const maxSubmissions = sql`coalesce(${selectLimit(clients.dailySubmissionLimit)}, ${usage.maxSubmissions})`;
  const maxBytes = sql`coalesce(${selectLimit(clients.dailyByteLimit)}, ${usage.maxBytes})`;
  const hasDisclosure = existsIn(disclosures, eq(disclosures.hash, usage.disclosureHash));
  const hasList = existsIn(entityLists, eq(entityLists.hash, usage.entitiesHash));
  const added = sql`${usage.ownBytes} + iif(${hasDisclosure}, 0, ${usage.disclosureBytes}) + iif(${hasList}, 0, ${usage.entitiesBytes})`;
  const allBytes = sql`${bytes} + ${excluded(bytes)}`;
  return db
    .insert(clientDailyUsage, "clientId", "day", "submissions", "bytes", "newGroups")
    .select(
      sql`select ${usage.clientId}, ${usage.day}, ${isLimited ? sql`iif(${maxSubmissions} >= 1 and ${added} <= ${maxBytes}, 1, null)` : sql`1`}, ${added}, ${isNewGroup} where ${usage.maxSubmissions} is not null`,
    )
    .onConflictDoUpdate({
      target: [clientDailyUsage.clientId, clientDailyUsage.day],
      set: {
        submissions: isLimited
          ? sql`iif(${submissions} < ${maxSubmissions} and ${allBytes} <= ${maxBytes}, ${submissions} + 1, null)`
          : sql`${submissions} + 1`,
        bytes: allBytes,
        newGroups: sql`${newGroups} + ${excluded(newGroups)}`,
      },
    })
    .returning({
      isNear: sql<boolean>`${warnedAt} is null and (${submissions} * 5 >= ${maxSubmissions} * 4 or ${bytes} * 5 >= ${maxBytes} * 4)`
        .mapWith(Boolean)
        .as("is_near"),
      room: sql<number>`${maxSubmissions} - ${submissions}`.as("room"),
    });
};

/**
 * Builds a condition that is true if the client has added at most `maxGroups` new groups that day. Groups above the limit get no counters.
 * Use it after `recordSubmissionUsage` in the batch, which counts the group that is being added.
 */
export const hasGroupsLeft = ({ clientId, day }: Placeholders<ClientUsageDay>, maxGroups: Placeholder): SQL =>
  existsIn(
    clientDailyUsage,
    eq(clientDailyUsage.clientId, clientId),
    eq(clientDailyUsage.day, day),
    lte(clientDailyUsage.newGroups, sql`${maxGroups}`),
  );

export const isDailyLimitReached = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", clientDailyUsage.submissions);

const isUnwarnedDay = ({ clientId, day }: ClientUsageDay) =>
  allOf(eq(clientDailyUsage.clientId, clientId), eq(clientDailyUsage.day, day), isNull(clientDailyUsage.warnedAt));

/** Builds a condition that is true if the owners have not been warned that day. Use it before `markUsageWarned` in the batch. */
export const isUsageWarningDue = (day: ClientUsageDay) => existsIn(clientDailyUsage, isUnwarnedDay(day));

export const markUsageWarned = (db: Database, day: ClientUsageDay, now: Instant) =>
  db.update(clientDailyUsage).set({ warnedAt: now }).where(isUnwarnedDay(day));
