// Creates many rows in one statement, for tests with large amounts of data.
import { env } from "cloudflare:workers";

/** Copies a row `count` times. Each copy has its own ID; other columns differ only where `overrides` contains an SQL expression for them. */
export const copyRow = async (
  table: "shares" | "businesses",
  id: string,
  count: number,
  overrides: Readonly<Record<string, string>> = {},
): Promise<void> => {
  const { results } = await env.DB.prepare(`SELECT name FROM pragma_table_info('${table}') WHERE name <> 'ord'`).all<{ name: string }>();
  const names = results.map(({ name }) => name);
  const cells: Readonly<Record<string, string>> = { id: "substr(s.id, 1, 20) || printf('%06d', n.i)", ...overrides };
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
     INSERT INTO ${table} (${names.join(", ")}) SELECT ${names.map((name) => cells[name] ?? `s.${name}`).join(", ")} FROM n, ${table} s WHERE s.id = ?2`,
  )
    .bind(count, id)
    .run();
};
