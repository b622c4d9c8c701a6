// An object's tables catch up with the code when the object starts: also in an object that was written before tables had a
// version, and has been asleep since.
import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { auditLogSteps } from "../../durable-objects/audit-log/migrations.ts";
import { eventSequenceSteps } from "../../durable-objects/event-sequence/migrations.ts";
import { deliveryQueueSteps } from "../../durable-objects/delivery-queue/migrations.ts";
import { ledgerLogSteps } from "../../durable-objects/ledger-log/migrations.ts";
import { rateLimiterSteps } from "../../durable-objects/rate-limiter/migrations.ts";
import { migrateSchema } from "../../durable-objects/schema-steps.ts";
import type { Env } from "../../workers/env.ts";
import { oldAuditLog, oldEventSequence, oldDeliveryQueue, oldLedgerLog, oldRateLimiter, type OldStore } from "../support/old-schemas.ts";

const { AUDIT_LOG, EVENT_SEQUENCE, DELIVERY_QUEUE, LEDGER_LOG, RATE_LIMITER } = env as unknown as Env;

/** Every row of every table but the version's, and what the tables are. */
const contentOf = (sql: SqlStorage): { readonly schema: unknown; readonly rows: Readonly<Record<string, unknown>> } => {
  const schema = sql
    .exec<{ name: string; type: string; sql: string | null }>(
      "SELECT name, type, sql FROM sqlite_master WHERE name NOT LIKE '\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite%' AND name <> 'schema_version' ORDER BY name",
    )
    .toArray()
    .map((made) => ({ ...made, sql: made.sql?.replace(/\s+/g, " ") ?? null }));
  const rows = schema
    .filter(({ type }) => type === "table")
    .map(({ name }) => [name, sql.exec(`SELECT * FROM ${name}`).toArray()] as const);
  return { schema, rows: Object.fromEntries(rows) };
};

const versionOf = (sql: SqlStorage): number => sql.exec<{ version: number }>("SELECT version FROM schema_version").one().version;

interface Subject {
  readonly stub: () => DurableObjectStub;
  readonly fresh: () => DurableObjectStub;
  readonly old: OldStore;
  readonly steps: readonly string[];
  /** What the object itself writes when it starts under its name. */
  readonly named?: string;
}

const name = (): string => crypto.randomUUID();
const of = (namespace: DurableObjectNamespace<never>, old: OldStore, steps: readonly string[], named?: string): Subject => {
  const [stored, fresh] = [name(), name()];
  return {
    stub: () => namespace.getByName(stored),
    fresh: () => namespace.getByName(fresh),
    old,
    steps,
    ...(named !== undefined && { named: named.replace("?", stored) }),
  };
};

const subjects: readonly (readonly [string, Subject])[] = [
  ["an audit log", of(AUDIT_LOG as never, oldAuditLog, auditLogSteps, "INSERT INTO meta (k, v) VALUES ('shard', '?')")],
  ["a business's log", of(EVENT_SEQUENCE as never, oldEventSequence, eventSequenceSteps, "INSERT INTO business (id) VALUES ('?')")],
  ["an endpoint's lane", of(DELIVERY_QUEUE as never, oldDeliveryQueue, deliveryQueueSteps)],
  ["a ledger", of(LEDGER_LOG as never, oldLedgerLog, ledgerLogSteps)],
  ["a limiter", of(RATE_LIMITER as never, oldRateLimiter, rateLimiterSteps)],
];

describe.each(subjects)("a store of %s written before stores had a version", (_, { stub, fresh, old, steps, named }) => {
  test("opens with every row and reaches the newest version, and opening it again changes nothing", async () => {
    await runInDurableObject(stub(), async (_, { storage }) => {
      await storage.deleteAll();
      storage.sql.exec(old.tables);
      storage.sql.exec(old.rows);
      if (named !== undefined) storage.sql.exec(named);
    });
    const written = await runInDurableObject(stub(), (_, { storage }) => contentOf(storage.sql));
    expect(Object.values(written.rows).every((rows) => (rows as unknown[]).length > 0)).toBe(true);
    for (const _ of ["for the first time", "again"]) {
      await abortAllDurableObjects();
      const opened = await runInDurableObject(stub(), (_, { storage }) => ({
        ...contentOf(storage.sql),
        version: versionOf(storage.sql),
      }));
      expect(opened.version).toBe(steps.length);
      expect(opened.rows).toMatchObject(written.rows);
    }
  });

  test("then has the tables of one that is new", async () => {
    await abortAllDurableObjects();
    const opened = await runInDurableObject(stub(), (_, { storage }) => contentOf(storage.sql).schema);
    const made = await runInDurableObject(fresh(), (_, { storage }) => {
      migrateSchema(storage, steps); // a lane has none before it is told what it is for
      return contentOf(storage.sql).schema;
    });
    expect(opened).toEqual(made);
  });
});

describe("the steps of a schema", () => {
  /** An empty store; what `work` leaves behind belongs to no class. */
  const inStore = (work: (storage: DurableObjectStorage) => void): Promise<void> =>
    runInDurableObject(RATE_LIMITER.getByName(name()), async (_, { storage }) => {
      await storage.deleteAll();
      work(storage);
    });
  const first = "CREATE TABLE IF NOT EXISTS thing (a INTEGER); INSERT INTO thing (a) VALUES (1);";
  const second = "ALTER TABLE thing ADD COLUMN b INTEGER NOT NULL DEFAULT 7;";

  test("run once each, from where the store is", () =>
    inStore((storage) => {
      migrateSchema(storage, [first]);
      expect(versionOf(storage.sql)).toBe(1);
      migrateSchema(storage, [first, second]);
      migrateSchema(storage, [first, second]);
      expect(versionOf(storage.sql)).toBe(2);
      expect(storage.sql.exec("SELECT * FROM thing").toArray()).toEqual([{ a: 1, b: 7 }]);
    }));

  test("run all or none", () =>
    inStore((storage) => {
      migrateSchema(storage, [first]);
      expect(() => migrateSchema(storage, [first, second, "ALTER TABLE nothing ADD COLUMN c INTEGER;"])).toThrow();
      expect(versionOf(storage.sql)).toBe(1);
      expect(storage.sql.exec("SELECT * FROM thing").toArray()).toEqual([{ a: 1 }]);
    }));

  test("leave a store alone that a later deployment has written", () =>
    inStore((storage) => {
      migrateSchema(storage, [first, second]);
      migrateSchema(storage, [first]);
      expect(versionOf(storage.sql)).toBe(2);
      expect(storage.sql.exec("SELECT * FROM thing").toArray()).toEqual([{ a: 1, b: 7 }]);
    }));
});
