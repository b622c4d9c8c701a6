// Tests that a certificate in the database is immutable: triggers reject every statement that would delete it or change it, except in a few
// columns.
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { issueCertificate } from "../support/world.ts";

let certId: string;
beforeAll(async () => {
  ({ cert_id: certId } = await issueCertificate({ entities: ["One", "Two"], entities_accepted: ["One"], entities_rejected: ["Two"] }));
});

const listColumns = async (table: string): Promise<string[]> => {
  const { results } = await env.DB.prepare("SELECT name FROM pragma_table_info(?)").bind(table).all<{ name: string }>();
  return results.map(({ name }) => name);
};

/** Sets the column to its current value, which succeeds if the column has no trigger. */
const touch = async (table: string, column: string): Promise<string> => {
  const statement = env.DB.prepare(
    `UPDATE ${table} SET ${column} = ${column} WHERE ${table === "certificates" ? "id = ?1" : "?1 IS NOT NULL"}`,
  );
  return await statement
    .bind(certId)
    .run()
    .then(
      ({ meta }) => `changed ${meta.changes}`,
      (error: unknown) => String(error),
    );
};

describe("a certificate in the database", () => {
  test("rejects a change of every column except links, counters and the retention date", async () => {
    const columns = await listColumns("certificates");
    expect(columns.length).toBeGreaterThan(20);
    const outcomes = await Promise.all(columns.map(async (column) => [column, await touch("certificates", column)] as const));
    const accepted = outcomes.filter(([, outcome]) => !outcome.includes("SQLITE_CONSTRAINT")).map(([column]) => column);
    // These columns change after issuance. The certificate is linked to its policies once and then no longer refers to a page to capture,
    // its views are counted, and its retention date can change.
    expect(accepted).toEqual(["policy_capture_id", "view_count", "view_rows", "retention_until", "policy_page_id"]);
  });

  test("cannot be deleted", async () => {
    await expect(env.DB.prepare("DELETE FROM certificates WHERE id = ?").bind(certId).run()).rejects.toThrow("never deleted");
  });

  test.each(["disclosures", "entity_lists", "certificate_forms"])("keeps its %s unchanged", async (table) => {
    const outcomes = await Promise.all((await listColumns(table)).map((column) => touch(table, column)));
    expect(outcomes.filter((outcome) => !outcome.includes("immutable"))).toEqual([]);
  });
});

describe("an index of a certificate", () => {
  const change = (sql: string): Promise<string> =>
    env.DB.prepare(sql)
      .run()
      .then(
        ({ meta }) => `changed ${meta.changes}`,
        (error: unknown) => String(error),
      );
  const buildIndexes = (prefix: string) => `'["${prefix}${"b".repeat(32)}"]'`;

  test("can be encrypted with a key that has a higher number, and never with an earlier one", async () => {
    const { cert_id: id } = await issueCertificate({ fields: { email: "index@example.com" } });
    const setLists = (prefix: string) => change(`UPDATE certificates SET email_indexes = ${buildIndexes(prefix)} WHERE id = '${id}'`);
    const { ord, index } = (await env.DB.prepare("SELECT ord, email_indexes ->> 0 AS 'index' FROM certificates WHERE id = ?")
      .bind(id)
      .first()) as {
      ord: number;
      index: string;
    };
    const setRow = (prefix: string, more = "") =>
      change(`UPDATE certificate_addresses SET address_index = '${prefix}${"b".repeat(32)}'${more} WHERE cert_ord = ${ord}`);
    expect(index).toMatch(/^[0-9a-f]{32}$/);
    expect([await setLists(""), await setRow("")]).toEqual([
      expect.stringContaining("erased only once"),
      expect.stringContaining("immutable"),
    ]);
    expect(await setRow("9.", ", business_id = 'biz_other'")).toContain("immutable");
    for (const prefix of ["9.", "10."]) expect([await setLists(prefix), await setRow(prefix)]).toEqual(["changed 1", "changed 1"]);
    for (const prefix of ["9.", ""])
      expect([await setLists(prefix), await setRow(prefix)]).toEqual([
        expect.stringContaining("erased only once"),
        expect.stringContaining("immutable"),
      ]);
  });
});

describe("a sealed value of a certificate", () => {
  const change = (sql: string): Promise<string> =>
    env.DB.prepare(`UPDATE certificates SET ${sql} WHERE id = ?`)
      .bind(certId)
      .run()
      .then(
        ({ meta }) => `changed ${meta.changes}`,
        (error: unknown) => String(error),
      );
  const rewrap = (prefix: string, key: string, more = "") =>
    `person_sealed = unhex(hex('${prefix}' || '${key}') || '${more}' || hex(substr(person_sealed, instr(person_sealed, x'2e') + 41)))`;
  const otherKey = "A".repeat(40);

  test("can get another wrapped key, and back", async () => {
    const before = await env.DB.prepare("SELECT hex(person_sealed) AS sealed FROM certificates WHERE id = ?").bind(certId).first("sealed");
    expect(await change(rewrap("2-1.", otherKey))).toBe("changed 1");
    expect(await change(`person_sealed = unhex('${before}')`)).toBe("changed 1");
  });

  test.each([
    ["another ciphertext", rewrap("2-1.", otherKey, "42")],
    ["another length", rewrap("2-1.", "A".repeat(39))],
    ["no value", "person_sealed = NULL"],
    ["a mask of another person", `subject_masked = '{"a":"b"}', ${rewrap("2-1.", otherKey)}`],
    ["an unencrypted index of another person", `email_indexes = '["${"a".repeat(32)}"]'`],
    ["one more index", `email_indexes = json_insert(email_indexes, '$[#]', '1.${"a".repeat(32)}')`],
    ["no indexes", "email_indexes = NULL"],
    ["an encrypted index and another mask", `subject_masked = '{"a":"b"}', email_indexes = '["1.${"a".repeat(32)}"]'`],
    ["an index of another person", `email_indexes = '["x"]', ${rewrap("2-1.", otherKey)}`],
  ])("cannot get %s", async (_what, sql) => {
    expect(await change(sql)).toContain("erased only once and only completely");
  });
});
