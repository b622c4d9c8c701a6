// Tests schema migrations in Durable Objects: each step runs once, in order, when the object starts.
import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { auditLogSteps } from "../../durable-objects/audit-log/migrations.ts";
import { deliveryQueueSteps } from "../../durable-objects/delivery-queue/migrations.ts";
import { destinationHostSteps } from "../../durable-objects/destination-host/migrations.ts";
import { eventSequenceSteps } from "../../durable-objects/event-sequence/migrations.ts";
import { ledgerLogSteps } from "../../durable-objects/ledger-log/migrations.ts";
import { rateLimiterSteps } from "../../durable-objects/rate-limiter/migrations.ts";
import { migrateSchema } from "../../durable-objects/schema-steps.ts";

const { AUDIT_LOG, EVENT_SEQUENCE, DELIVERY_QUEUE, DESTINATION_HOST, LEDGER_LOG, RATE_LIMITER } = env;

const listSchema = (sql: SqlStorage): unknown =>
  sql
    .exec("SELECT name, type, sql FROM sqlite_master WHERE name NOT LIKE '\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite%' ORDER BY name")
    .toArray();

const getVersion = (sql: SqlStorage): number => sql.exec<{ version: number }>("SELECT version FROM schema_version").one().version;

describe.each<[string, DurableObjectNamespace<never>, readonly string[]]>([
  ["an audit log", AUDIT_LOG as never, auditLogSteps],
  ["an event sequence", EVENT_SEQUENCE as never, eventSequenceSteps],
  ["a destination host", DESTINATION_HOST as never, destinationHostSteps],
  ["a ledger", LEDGER_LOG as never, ledgerLogSteps],
  ["a rate limiter", RATE_LIMITER as never, rateLimiterSteps],
  ["a delivery queue", DELIVERY_QUEUE as never, deliveryQueueSteps],
])("%s", (_, namespace, steps) => {
  test("has the newest schema version and keeps it when it restarts", async () => {
    const name = crypto.randomUUID();
    const first = await runInDurableObject(namespace.getByName(name), (_, { storage }) => {
      migrateSchema(storage, steps); // a delivery queue has no tables before it is opened
      return { version: getVersion(storage.sql), schema: listSchema(storage.sql) };
    });
    expect(first.version).toBe(steps.length);
    await abortAllDurableObjects();
    const restarted = await runInDurableObject(namespace.getByName(name), (_, { storage }) => ({
      version: getVersion(storage.sql),
      schema: listSchema(storage.sql),
    }));
    expect(restarted).toEqual(first);
  });
});

describe("migrateSchema", () => {
  const inEmptyDatabase = (work: (storage: DurableObjectStorage) => void): Promise<void> =>
    runInDurableObject(RATE_LIMITER.getByName(crypto.randomUUID()), async (_, { storage }) => {
      await storage.deleteAll();
      work(storage);
    });
  const first = "CREATE TABLE shelf (a INTEGER); INSERT INTO shelf (a) VALUES (1);";
  const second = "ALTER TABLE shelf ADD COLUMN b INTEGER NOT NULL DEFAULT 7;";
  const third = "UPDATE shelf SET b = b + 1;";

  test("runs all steps in order in an empty database", () =>
    inEmptyDatabase((storage) => {
      migrateSchema(storage, [first, second, third]);
      expect(getVersion(storage.sql)).toBe(3);
      expect(storage.sql.exec("SELECT * FROM shelf").toArray()).toEqual([{ a: 1, b: 8 }]);
    }));

  test("runs each step once, starting from the version of the database", () =>
    inEmptyDatabase((storage) => {
      migrateSchema(storage, [first]);
      expect(getVersion(storage.sql)).toBe(1);
      migrateSchema(storage, [first, second]);
      migrateSchema(storage, [first, second]);
      expect(getVersion(storage.sql)).toBe(2);
      expect(storage.sql.exec("SELECT * FROM shelf").toArray()).toEqual([{ a: 1, b: 7 }]);
    }));

  test("runs no step when one of them fails", () =>
    inEmptyDatabase((storage) => {
      migrateSchema(storage, [first]);
      expect(() => migrateSchema(storage, [first, second, "ALTER TABLE nothing ADD COLUMN c INTEGER;"])).toThrow();
      expect(getVersion(storage.sql)).toBe(1);
      expect(storage.sql.exec("SELECT * FROM shelf").toArray()).toEqual([{ a: 1 }]);
    }));

  test("does not change a database that a later deployment has written", () =>
    inEmptyDatabase((storage) => {
      migrateSchema(storage, [first, second]);
      migrateSchema(storage, [first]);
      expect(getVersion(storage.sql)).toBe(2);
      expect(storage.sql.exec("SELECT * FROM shelf").toArray()).toEqual([{ a: 1, b: 7 }]);
    }));
});
