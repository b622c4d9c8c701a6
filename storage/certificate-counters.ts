// Counters of certificates: per business, per group (purpose, recipients and origin), per hour and day of a group, and per day of a
// business. Issuing a certificate does not change the counters. A periodic run adds many certificates together and stores the number of the
// last one in `counted_certificates`. Queries for totals add the later certificates, so totals are exact. Triggers update the counters when
// a counted certificate is withdrawn or deleted. Each run also stores the range of its certificates as a retention block. The retention
// sweep uses the blocks to find certificates that are due for erasure (certificate-erasures.ts).
import { eq, sql, type SQL } from "drizzle-orm";
import { tallySpansMs } from "../core/certificates/tallies.ts";
import { dayMs, hourMs, type Instant } from "../core/time.ts";
import { batch, type Database } from "./database.ts";
import { excluded } from "./inserts.ts";
import {
  certificateGroups,
  certificates,
  certificateTallies,
  certificateTotals,
  countedCertificates,
  dailyActivity,
  retentionBlocks,
} from "./schema.ts";

/** The maximum number of certificates that one run adds to the counters. The transaction takes about 50 ms. */
const maxPerRun = 2_000;
/** A run starts when this many certificates are waiting, because the query for each total must read them. */
const maxUncounted = 256;
/** A run also starts when the oldest certificate has waited this long. Otherwise, queries would keep reading the same few certificates. */
const maxUncountedMs = hourMs;

const countedOrd = sql`coalesce((select ${countedCertificates.ord} from ${countedCertificates}), 0)`;

/**
 * The table `certificates`, for queries that start at a certain `ord`. Without `not indexed`, SQLite would use the index on the business
 * and read all of the business's certificates.
 */
export const certificatesByOrd = sql`${certificates} not indexed`;
/** A condition for queries on `certificatesByOrd`. It is true if the counters do not include the certificate yet. */
export const isNewToCounters = sql`${certificates.ord} > ${countedOrd}`;

const nextOrds = sql`select ${certificates.ord} from ${certificatesByOrd} where ${isNewToCounters} order by 1 limit ${sql.raw(String(maxPerRun))}`;
const inThisRun = sql`from ${certificatesByOrd} where ${isNewToCounters} and ${certificates.ord} <= (select max(ord) from (${nextOrds}))`;
const statusCounts = sql`sum(${certificates.status} = 'active'), sum(${certificates.status} = 'revoked')`;
const startOf = (span: number | SQL): SQL => sql`${certificates.issuedAt} - ${certificates.issuedAt} % ${span}`;

/** The last statement stores the number of the run's last certificate, so it must come after those that count the new certificates. */
const buildRun = (db: Database) => {
  const { businessId, environment, groupId, counted } = certificates;
  const addCounts = (row: typeof certificateTotals | typeof certificateTallies) => ({
    active: sql`${row.active} + ${excluded(row.active)}`,
    revoked: sql`${row.revoked} + ${excluded(row.revoked)}`,
  });
  return [
    db
      .insert(certificateTotals, "businessId", "environment", "active", "revoked")
      .select(sql`select ${businessId}, ${environment}, ${statusCounts} ${inThisRun} group by 1, 2`)
      .onConflictDoUpdate({ target: [certificateTotals.businessId, certificateTotals.environment], set: addCounts(certificateTotals) }),
    db
      .update(certificateGroups)
      .set({ active: sql`${certificateGroups.active} + added.active`, revoked: sql`${certificateGroups.revoked} + added.revoked` })
      .from(
        sql`(select ${groupId} as group_id, sum(${certificates.status} = 'active') as active, sum(${certificates.status} = 'revoked') as revoked
          ${inThisRun} and ${counted} = 1 group by 1) added`,
      )
      .where(eq(certificateGroups.id, sql`added.group_id`)),
    ...tallySpansMs.map((span) =>
      db
        .insert(certificateTallies, "groupId", "span", "start", "active", "revoked")
        .select(
          sql`select ${groupId}, ${span}, ${startOf(sql.raw(String(span)))}, ${statusCounts} ${inThisRun} and ${counted} = 1 group by 1, 3`,
        )
        .onConflictDoUpdate({
          target: [certificateTallies.groupId, certificateTallies.span, certificateTallies.start],
          set: addCounts(certificateTallies),
        }),
    ),
    db
      .insert(dailyActivity, "businessId", "environment", "day", "issued")
      .select(sql`select ${businessId}, ${environment}, ${startOf(sql.raw(String(dayMs)))}, count(*) ${inThisRun} group by 1, 2, 3`)
      .onConflictDoUpdate({
        target: [dailyActivity.businessId, dailyActivity.environment, dailyActivity.day],
        set: { issued: sql`${dailyActivity.issued} + ${excluded(dailyActivity.issued)}` },
      }),
    db
      .insert(retentionBlocks, "firstOrd", "lastOrd", "nextDue")
      .select(
        sql`select min(${certificates.ord}), max(${certificates.ord}), min(${certificates.retentionUntil}) ${inThisRun} having count(*) > 0`,
      )
      // A block that starts with the same number can exist, because a new certificate can get the number of a deleted test certificate.
      .onConflictDoUpdate({
        target: retentionBlocks.firstOrd,
        set: {
          lastOrd: sql`max(${retentionBlocks.lastOrd}, ${excluded(retentionBlocks.lastOrd)})`,
          nextDue: sql`min(${retentionBlocks.nextDue}, ${excluded(retentionBlocks.nextDue)})`,
        },
      }),
    db
      .insert(countedCertificates, "id", "ord")
      .select(sql`select 1, max(${certificates.ord}) ${inThisRun} having count(*) > 0`)
      .onConflictDoUpdate({ target: countedCertificates.id, set: { ord: excluded(countedCertificates.ord) } }),
  ] as const;
};

/**
 * Adds new certificates to the counters if at least 256 are waiting or the oldest has waited for an hour. Returns true if more certificates
 * may be waiting. Concurrent runs count no certificate twice, because each transaction starts where the previous one ended.
 */
export const countNewCertificates = async (db: Database, now: Instant): Promise<boolean> => {
  const [waiting] = await db
    .select({ certificates: sql<number>`count(*)`, oldestAt: sql<Instant | null>`min(${certificates.issuedAt})` })
    .from(sql`(select * ${inThisRun}) ${certificates}`)
    .all();
  if (waiting === undefined || waiting.oldestAt === null) return false;
  if (waiting.certificates < maxUncounted && waiting.oldestAt > now - maxUncountedMs) return false;
  await batch(db, buildRun(db));
  return waiting.certificates === maxPerRun;
};
