// Tests that storage faults are reported by kind (outage, constraint or bug), never with the store's own text.
import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { encodeUtf8 } from "../../core/bytes.ts";
import { batch, openDatabase, onPrimary } from "../../storage/database.ts";
import { isTriggerError, findStorageFault, StorageFault, isConstraintViolation } from "../../storage/faults.ts";
import { disclosures, withdrawals } from "../../storage/schema.ts";
import { getErrorKind } from "../../workers/log.ts";
import { buildConsentRequest, readDatabaseContents, createServiceCall, buildSubmission, world, type Call } from "../support/world.ts";

const db = openDatabase(env.DB);
const catchError = async (call: () => unknown): Promise<unknown> => {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error("the call did not fail");
};
const catchFault = async (call: () => unknown): Promise<StorageFault> => {
  const fault = findStorageFault(await catchError(call));
  if (fault === null) throw new Error("the error is not a storage fault");
  return fault;
};
const createFailingDatabase = (error: Error) => {
  const failQuery = (): Promise<never> => Promise.reject(error);
  const statement = { bind: () => statement, first: failQuery, all: failQuery, run: failQuery, raw: failQuery };
  return { prepare: () => statement, batch: failQuery } as unknown as D1Database;
};

const noTable = sqliteTable("no_such_table", { id: integer() });
const noColumn = sqliteTable("disclosures", { missing: text() });

describe("a database fault", () => {
  test("is a bug when the statement is invalid, alone, in a batch and in a session", async () => {
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
      expect((await catchFault(call)).kind, String(call)).toBe("bug");
    }
  });

  test("is a constraint violation that names its columns when the rows are rejected", async () => {
    const row = { hash: "faults-twice", text: "T" };
    await db.insert(disclosures).values(row);
    for (const call of [() => db.insert(disclosures).values(row), () => batch(db, [db.insert(disclosures).values(row)])]) {
      const error = await catchError(call);
      expect(findStorageFault(error)?.kind).toBe("constraint");
      expect(isConstraintViolation(error, "UNIQUE", disclosures.hash)).toBe(true);
      expect(isConstraintViolation(error, "NOT NULL", disclosures.hash)).toBe(false);
      expect(isConstraintViolation(error, "UNIQUE", disclosures.text)).toBe(false);
      expect(isConstraintViolation(error, "UNIQUE", withdrawals.certId)).toBe(false);
    }
    const refused = await catchError(() => db.insert(disclosures).values({ hash: "faults-null", text: sql`null` }));
    expect(isConstraintViolation(refused, "NOT NULL", disclosures.text)).toBe(true);
    const sealed = await catchError(() => db.update(disclosures).set({ text: "other" }).where(eq(disclosures.hash, "faults-twice")));
    expect(findStorageFault(sealed)?.kind).toBe("constraint");
    expect(isTriggerError(sealed, "policies can be linked to a certificate only once")).toBe(false);
  });

  test.each([
    "D1_ERROR: database is locked: SQLITE_BUSY",
    "D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.",
    "Network connection lost.",
    "D1 DB is overloaded. Too many requests queued.",
    "D1_ERROR: away",
    "",
  ])("is an outage when the database cannot be reached: %s", async (message) => {
    const unavailableDatabase = openDatabase(createFailingDatabase(new Error(message)));
    expect((await catchFault(() => unavailableDatabase.select().from(disclosures))).kind).toBe("outage");
    expect((await catchFault(() => batch(unavailableDatabase, [unavailableDatabase.select().from(disclosures)]))).kind).toBe("outage");
  });
});

describe("a Durable Object fault", () => {
  test("is an outage when the platform reports one, and no storage fault when the object itself failed", () => {
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

describe("in a response", () => {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    for (const level of ["log", "info", "warn", "error"] as const)
      vi.spyOn(console, level).mockImplementation((...text: unknown[]) => void lines.push(text.map(String).join(" ")));
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const bug = new Error("D1_ERROR: no such column: evidence_sealed at offset 12: SQLITE_ERROR");

  test("returns 500 and logs the kind for a bug", async () => {
    const service = createServiceCall({ DB: createFailingDatabase(bug) });
    const response = await service("/v1/certs/cc_00000000000000000000000000/verify");
    expect([response.status, response.body.error.code, response.headers.get("retry-after")]).toEqual([500, "internal_error", null]);
    expect(lines.some((line) => line.includes('"error":"StorageFault bug SQLITE_ERROR"'))).toBe(true);
  });

  /** The ways in which a driver's error can contain bound values. */
  const leakingErrors: readonly (readonly [string, (values: readonly unknown[]) => Error])[] = [
    ["in its message", (values) => new Error(`D1_ERROR: UNIQUE constraint failed: ${values.join(" ")}: SQLITE_CONSTRAINT`)],
    ["as a bad type", (values) => new TypeError(`D1_TYPE_ERROR: Type 'object' not supported for value '${values.join(" ")}'`)],
    ["in its own fields", (values) => Object.assign(new Error("D1_ERROR: away"), { params: values, cause: new Error(values.join(" ")) })],
  ];

  test.each(leakingErrors)(
    "keeps bound values out of logs and responses when the driver's error contains them %s",
    async (_name, error) => {
      const secret = "pat.failures@example.com";
      const fields = { ...buildSubmission().fields, email: secret };
      const before = await readDatabaseContents();
      let failures = 0;
      /** The values bound to each statement. `failing` is a database whose batches fail with an error that contains all of them. */
      const bound = new WeakMap<object, readonly unknown[]>();
      const failing = {
        prepare: (text: string) => {
          const statement = env.DB.prepare(text);
          return {
            bind: (...values: unknown[]) => {
              const boundStatement = statement.bind(...(values as string[]));
              bound.set(boundStatement, values);
              return boundStatement;
            },
          };
        },
        batch: (statements: readonly object[]) => {
          const values = [...statements.flatMap((statement) => bound.get(statement) ?? []), secret];
          failures += 1;
          return Promise.reject(error(values));
        },
      };
      const closed = { getByName: () => ({ countWaiting: async () => 0, append: () => Promise.reject(new Error("storage outage")) }) };
      /** Each request uses a new isolate, because an isolate that has seen an outage sends nothing to the database for a moment. */
      const callDuringOutage: Call = (path, init) => createServiceCall({ DB: failing, INTAKE_JOURNAL: closed })(path, init);
      const responses = [
        await callDuringOutage("/v1/consent", buildConsentRequest({ ...buildSubmission(), fields })),
        await callDuringOutage("/v1/consent", buildConsentRequest({ ...buildSubmission(), fields }, { "idempotency-key": "failures" })),
      ];
      expect(failures).toBeGreaterThan(1);
      for (const { status, text } of responses) {
        expect([500, 503]).toContain(status);
        expect(text).not.toContain(secret);
        expect(text).not.toContain(world.acme.id);
      }
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.join("\n")).not.toContain(secret);
      expect(lines.join("\n")).not.toContain("constraint failed");
      expect(await readDatabaseContents()).toEqual(before);
    },
  );

  test("throws an error without bound values", async () => {
    const secret = `pat.held@example.com ${"x".repeat(10)}`;
    await db.insert(disclosures).values({ hash: "held", text: secret });
    const twice = db.insert(disclosures).values({ hash: "held", text: secret });
    for (const call of [() => twice.run(), () => batch(db, [twice]), () => db.run(sql`select ${{ toString: () => secret }}`)]) {
      const error = await catchError(call);
      const causes = [error, (error as Error).cause, ((error as Error).cause as Error | undefined)?.cause];
      const text = causes.map((cause) => `${String(cause)} ${(cause as Error | undefined)?.stack} ${JSON.stringify(cause)}`).join("\n");
      expect(encodeUtf8(text).length).toBeGreaterThan(20);
      expect(text).not.toContain(secret);
      expect(getErrorKind(error)).toMatch(/^StorageFault (?:constraint|bug)/);
    }
  });
});
