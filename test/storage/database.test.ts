// Tests the behavior of drizzle that the storage layer relies on, with the real database.
import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { batch, openDatabase } from "../../storage/database.ts";
import { prepareOnce } from "../../storage/prepared.ts";
import { businesses, clients, disclosures, mailOutbox } from "../../storage/schema.ts";
import { insertIf } from "../../storage/inserts.ts";
import { jsonRow } from "../../storage/json-rows.ts";
import { jsonList, withTablePrefix, query } from "../../storage/query.ts";
import { getErrorKind } from "../../workers/log.ts";
import { world } from "../support/world.ts";

const db = openDatabase(env.DB);
const secret = "pat@example.com";

describe("an error of the database", () => {
  test("contains no bound value, alone or in a batch", async () => {
    const twice = db.insert(disclosures).values({ hash: "twice", text: secret });
    await twice;
    for (const fails of [() => twice.run(), () => batch(db, [twice])]) {
      const error = await fails().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(Error);
      const text = JSON.stringify(error, ["message", "stack", "cause", "params", "query"]) + String(error) + (error as Error).stack;
      expect(text).not.toContain(secret);
      expect(getErrorKind(error)).toBe("StorageFault constraint SQLITE_CONSTRAINT");
    }
  });
});

describe("a batch", () => {
  test("returns the columns of a join correctly when each has its own name", async () => {
    const { name } = businesses;
    const join = () =>
      db.select({ client: clients.name, business: name }).from(clients).innerJoin(businesses, eq(businesses.id, clients.businessId));
    const ownClients = db
      .select({ client: clients.name, ...withTablePrefix({ name }) })
      .from(clients)
      .innerJoin(businesses, eq(businesses.id, clients.businessId))
      .limit(1);
    const [alone] = await join().limit(1);
    const [[apart]] = await batch(db, [ownClients]);
    expect(apart).toEqual({ client: alone?.client, name: alone?.business });
  });

  test("accepts prepared queries next to others", async () => {
    const byHash = prepareOnce<{ hash: string }>()((db, { hash }) =>
      db.select().from(disclosures).where(eq(disclosures.hash, hash)).prepare(),
    );
    await db.insert(disclosures).values({ hash: "a", text: "A" });
    const [first, , second] = await batch(db, [byHash(db, { hash: "a" }), db.select().from(businesses), byHash(db, { hash: "none" })]);
    expect([first, second]).toEqual([[{ hash: "a", text: "A", environment: "live" }], []]);
    expect(await byHash(db, { hash: "a" }).get()).toEqual({ hash: "a", text: "A", environment: "live" });
  });
});

describe("the SQL helpers", () => {
  test("accept lists of more values than a statement can bind", async () => {
    const hashes = Array.from({ length: 5_000 }, (_, at) => `listed-${at}`);
    await db.insert(disclosures).values({ hash: "listed-4999", text: "" });
    const found = await db
      .select({ hash: disclosures.hash })
      .from(disclosures)
      .where(sql`${disclosures.hash} in ${jsonList(hashes)}`);
    expect(found).toEqual([{ hash: "listed-4999" }]);
  });

  test("insert a row only when the condition holds, and ignore properties that are not columns", async () => {
    const row = { id: "m1", template: "t", messageSealed: "s", nextAt: 1, giveUpAt: 2, createdAt: 3 };
    const wider = { ...row, unknown: true };
    await batch(db, [insertIf(db, mailOutbox, wider, sql`true`), insertIf(db, mailOutbox, { ...row, id: "m2" }, sql`false`)]);
    const rows = await db.select({ id: mailOutbox.id, attempts: mailOutbox.attempts }).from(mailOutbox).where(eq(mailOutbox.template, "t"));
    expect(rows).toEqual([{ id: "m1", attempts: 0 }]);
  });

  test("return a row of another table as one value", async () => {
    const owner = jsonRow({ id: businesses.id, retentionYears: businesses.retentionYears }, (row) =>
      query.select({ row }).from(businesses).where(eq(businesses.id, clients.businessId)),
    );
    const [client] = await db
      .select({ owner })
      .from(clients)
      .where(eq(clients.businessId, world.acme.id as never))
      .limit(1);
    expect(client?.owner?.id).toBe(world.acme.id);
    expect(typeof client?.owner?.retentionYears).toBe("number");
  });
});
