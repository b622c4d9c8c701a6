// What goes wrong with a store is told by kind: an outage, a constraint or a bug, and never in the words of the store.
import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { encodeUtf8 } from "../../core/bytes.ts";
import { batch, openDatabase, onPrimary } from "../../storage/database.ts";
import { isTriggerError, findStorageFault, StorageFault, isConstraintViolation } from "../../storage/faults.ts";
import { disclosures, withdrawals } from "../../storage/schema.ts";
import { getErrorKind } from "../../workers/log.ts";
import { buildConsentRequest, readDatabaseContents, createServiceCall, buildSubmission, world } from "../support/world.ts";

const db = openDatabase(env.DB);
const thrownBy = async (call: () => unknown): Promise<unknown> => {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
};
const faultOf = async (call: () => unknown): Promise<StorageFault> => {
  const fault = findStorageFault(await thrownBy(call));
  if (fault === null) throw new Error("it was no fault of a store");
  return fault;
};
const databaseThatSays = (error: Error) => {
  const fails = (): Promise<never> => Promise.reject(error);
  const statement = { bind: () => statement, first: fails, all: fails, run: fails, raw: fails };
  return { prepare: () => statement, batch: fails } as unknown as D1Database;
};

const noTable = sqliteTable("no_such_table", { id: integer() });
const noColumn = sqliteTable("disclosures", { missing: text() });

describe("a fault of the database is", () => {
  test("a bug where it does not understand the question, alone, in a batch and in a session", async () => {
    for (const call of [
      () => db.select().from(noTable),
      () => db.insert(noColumn).values({ missing: "x" }).run(),
      () => batch(db, [db.insert(noColumn).values({ missing: "x" })]),
      () => onPrimary(db).select().from(noTable),
      () => db.run(sql`selct 1`),
      () => db.run(sql`select ${{ an: "object" }}`),
      () =>
        openDatabase(undefined as unknown as D1Database)
          .select()
          .from(disclosures),
    ]) {
      expect((await faultOf(call)).kind, String(call)).toBe("bug");
    }
  });

  test("a constraint, told by its columns, where the rows are refused", async () => {
    const row = { hash: "faults-twice", text: "T" };
    await db.insert(disclosures).values(row);
    for (const call of [() => db.insert(disclosures).values(row), () => batch(db, [db.insert(disclosures).values(row)])]) {
      const error = await thrownBy(call);
      expect(findStorageFault(error)?.kind).toBe("constraint");
      expect(isConstraintViolation(error, "UNIQUE", disclosures.hash)).toBe(true);
      expect(isConstraintViolation(error, "NOT NULL", disclosures.hash)).toBe(false);
      expect(isConstraintViolation(error, "UNIQUE", disclosures.text)).toBe(false);
      expect(isConstraintViolation(error, "UNIQUE", withdrawals.certId)).toBe(false);
    }
    const refused = await thrownBy(() => db.insert(disclosures).values({ hash: "faults-null", text: sql`null` }));
    expect(isConstraintViolation(refused, "NOT NULL", disclosures.text)).toBe(true);
    const sealed = await thrownBy(() => db.update(disclosures).set({ text: "other" }).where(eq(disclosures.hash, "faults-twice")));
    expect(findStorageFault(sealed)?.kind).toBe("constraint");
    expect(isTriggerError(sealed, "policies are linked once")).toBe(false);
  });

  test.each([
    "D1_ERROR: database is locked: SQLITE_BUSY",
    "D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.",
    "Network connection lost.",
    "D1 DB is overloaded. Too many requests queued.",
    "D1_ERROR: away",
    "",
  ])("an outage where it cannot be asked: %s", async (message) => {
    const away = openDatabase(databaseThatSays(new Error(message)));
    expect((await faultOf(() => away.select().from(disclosures))).kind).toBe("outage");
    expect((await faultOf(() => batch(away, [away.select().from(disclosures)]))).kind).toBe("outage");
  });
});

describe("a fault of an object", () => {
  test("is an outage where the platform says so, and nothing of storage where the object failed", () => {
    for (const error of [
      new Error("Network connection lost."),
      Object.assign(new Error("x"), { retryable: true }),
      Object.assign(new Error("x"), { overloaded: true }),
      new Error("wrapped", { cause: new StorageFault("outage") }),
      new Error(`StorageFault: ${new StorageFault("outage", "SQLITE_BUSY").message}`),
    ])
      expect(findStorageFault(error)?.kind).toBe("outage");
    for (const error of [new TypeError("a mistake"), new Error("UNIQUE constraint failed: a.b"), "text", null])
      expect(findStorageFault(error)).toBeNull();
  });
});

describe("at the front door", () => {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    for (const level of ["log", "info", "warn", "error"] as const)
      vi.spyOn(console, level).mockImplementation((...said: unknown[]) => void lines.push(said.map(String).join(" ")));
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const bug = new Error("D1_ERROR: no such column: evidence_sealed at offset 12: SQLITE_ERROR");

  test("a bug answers 500 and is logged as one", async () => {
    const service = createServiceCall({ DB: databaseThatSays(bug) });
    const answer = await service("/v1/certs/cc_00000000000000000000000000/verify");
    expect([answer.status, answer.body.error.code, answer.headers.get("retry-after")]).toEqual([500, "internal_error", null]);
    expect(lines.some((line) => line.includes('"error":"StorageFault bug SQLITE_ERROR"'))).toBe(true);
  });

  /** Every way in which a value that was bound can come back in words. */
  const telling: readonly (readonly [string, (values: readonly unknown[]) => Error])[] = [
    ["in its message", (values) => new Error(`D1_ERROR: UNIQUE constraint failed: ${values.join(" ")}: SQLITE_CONSTRAINT`)],
    ["as a bad type", (values) => new TypeError(`D1_TYPE_ERROR: Type 'object' not supported for value '${values.join(" ")}'`)],
    [
      "in fields of its own",
      (values) => Object.assign(new Error("D1_ERROR: away"), { params: values, cause: new Error(values.join(" ")) }),
    ],
  ];

  test.each(telling)("an error of the driver that quotes what was bound, %s, tells it to no log and no answer", async (_name, error) => {
    const secret = "pat.quoted@example.com";
    const fields = { ...buildSubmission().fields, email: secret };
    const before = await readDatabaseContents();
    let quoted = 0;
    /** The database; what is written fails with everything that was bound. */
    const bound = new WeakMap<object, readonly unknown[]>();
    const failing = {
      prepare: (text: string) => {
        const statement = env.DB.prepare(text);
        return {
          bind: (...values: unknown[]) => {
            const made = statement.bind(...(values as string[]));
            bound.set(made, values);
            return made;
          },
        };
      },
      batch: (statements: readonly object[]) => {
        const values = [...statements.flatMap((statement) => bound.get(statement) ?? []), secret];
        quoted += 1;
        return Promise.reject(error(values));
      },
    };
    const service = createServiceCall({ DB: failing });
    const answers = [
      await service("/v1/consent", buildConsentRequest({ ...buildSubmission(), fields })),
      await service("/v1/consent", buildConsentRequest({ ...buildSubmission(), fields }, { "idempotency-key": "quoted" })),
    ];
    expect(quoted).toBeGreaterThan(1);
    for (const { status, text: said } of answers) {
      expect([500, 503]).toContain(status);
      expect(said).not.toContain(secret);
      expect(said).not.toContain(world.acme.id);
    }
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join("\n")).not.toContain(secret);
    expect(lines.join("\n")).not.toContain("constraint failed");
    expect(await readDatabaseContents()).toEqual(before);
  });

  test("the error itself holds nothing that was bound", async () => {
    const secret = `pat.held@example.com ${"x".repeat(10)}`;
    await db.insert(disclosures).values({ hash: "held", text: secret });
    const twice = db.insert(disclosures).values({ hash: "held", text: secret });
    for (const call of [() => twice.run(), () => batch(db, [twice]), () => db.run(sql`select ${{ toString: () => secret }}`)]) {
      const error = await thrownBy(call);
      const causes = [error, (error as Error).cause, ((error as Error).cause as Error | undefined)?.cause];
      const said = causes.map((one) => `${String(one)} ${(one as Error | undefined)?.stack} ${JSON.stringify(one)}`).join("\n");
      expect(encodeUtf8(said).length).toBeGreaterThan(20);
      expect(said).not.toContain(secret);
      expect(getErrorKind(error)).toMatch(/^StorageFault (?:constraint|bug)/);
    }
  });
});
