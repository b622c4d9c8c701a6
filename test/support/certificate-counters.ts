// Compares every certificate counter with a count of the certificates themselves.
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { newCertificates } from "./counted-certificates.ts";

const statuses = "SUM(status = 'active') AS active, SUM(status = 'revoked') AS revoked";
const hour = "issued_at - issued_at % 3600000";
const day = "issued_at - issued_at % 86400000";

/**
 * The counter tables. `stored` lists the key columns of a table, and `key` the SQL expressions that compute their values from a
 * certificate. `where` selects the certificates that are counted.
 */
const counters: readonly { readonly table: string; readonly stored: string; readonly key: string; readonly where?: string }[] = [
  { table: "certificate_totals", stored: "business_id, environment", key: "business_id, environment" },
  { table: "certificate_groups", stored: "id", key: "group_id", where: "counted = 1" },
  { table: "certificate_tallies", stored: "group_id, span, start", key: `group_id, 3600000, ${hour}`, where: "counted = 1" },
];

/** Expects that every counter, plus the certificates that it does not include yet, equals the number of certificates. */
export const expectCountersRight = async (): Promise<void> => {
  for (const { table, stored, key, where = "1" } of counters) {
    const ownCondition = table === "certificate_tallies" ? "span = 3600000" : "1";
    const columns = stored
      .split(", ")
      .map((_, at) => at + 1)
      .join(", ");
    const shown = await env.DB.prepare(
      `${newCertificates}SELECT *, SUM(active) AS active, SUM(revoked) AS revoked FROM (
         SELECT ${stored}, active, revoked FROM ${table} WHERE ${ownCondition}
         UNION ALL SELECT ${key}, status = 'active', status = 'revoked' FROM added WHERE ${where}
       ) GROUP BY ${columns} HAVING SUM(active + revoked) > 0 ORDER BY ${columns}`,
    ).raw();
    const rows = await env.DB.prepare(
      `SELECT ${key}, ${statuses} FROM certificates WHERE ${where} GROUP BY ${columns} ORDER BY ${columns}`,
    ).raw();
    expect(
      shown.map((row) => [...row.slice(0, -4), ...row.slice(-2)]),
      table,
    ).toEqual(rows);
  }
  const issued = await env.DB.prepare(
    `${newCertificates}SELECT business_id, environment, day, SUM(issued) FROM (
       SELECT business_id, environment, day, issued FROM daily_activity
       UNION ALL SELECT business_id, environment, ${day}, 1 FROM added
     ) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
  ).raw();
  const dates = await env.DB.prepare(
    `SELECT business_id, environment, ${day}, COUNT(*) FROM certificates GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
  ).raw();
  // The daily counters still include deleted test records, so this compares only live records.
  const filterLive = (all: readonly unknown[][]) => all.filter(([, environment, , n]) => environment === "live" && n !== 0);
  expect(filterLive(issued)).toEqual(filterLive(dates));
};
