// Tests that a change and everything that its domain events require are written in one transaction.
import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { hashAuditPayload } from "../../core/audit/payload.ts";
import { toCanonicalJson } from "../../core/canonical-json.ts";
import type { DomainEvent } from "../../core/domain-events.ts";
import { firstShard, type ShardId, type BusinessId } from "../../core/ids.ts";
import { sha256, sha256Hex } from "../../core/hash.ts";
import { formatAnchorStatement } from "../../core/ledger/statement.ts";
import { commitWithoutFollowUp } from "../../storage/commit.ts";
import { openDatabase, type Statement } from "../../storage/database.ts";
import { openShards } from "../../storage/shards.ts";
import { listEventsToPlace } from "../../storage/public-events.ts";
import { businesses } from "../../storage/schema.ts";
import { openVault, type Vault } from "../../storage/vault.ts";
import { readDatabaseContents, world } from "../support/world.ts";

let vault: Vault;
beforeAll(async () => {
  const key = sha256("a key") as Uint8Array<ArrayBuffer>;
  vault = await openVault({ masterKeys: new Map([["1", key]]), indexKey: key });
});

const buildEvent = (change: Partial<DomainEvent> = {}): DomainEvent => ({
  type: "certificate.issued",
  entityType: "certificate",
  entityId: "cc_1",
  at: 1_000,
  chains: [{ tag: world.acme.chain, auditLog: firstShard }],
  actor: { kind: "api_key", id: "key_test" },
  payload: { secret: "payload" },
  anchor: { fingerprint: "00", originDomain: "example.com" },
  ...change,
});
const db = openDatabase(env.DB);
const shards = openShards(env);
const rename = (name: string): Statement =>
  db
    .update(businesses)
    .set({ name })
    .where(eq(businesses.id, world.acme.id as BusinessId));
const buildBrokenStatement = (): Statement => db.run(sql`insert into ${businesses} (id) values ('x')`);
const commitChange = (rows: readonly Statement[], domainEvents: readonly DomainEvent[]): Promise<unknown> =>
  commitWithoutFollowUp(db, { shards, vault, getLedgerId: () => "tlog:test" }, rows, domainEvents);

describe("a commit", () => {
  test("writes the change, an audit entry for each domain event, and an anchor for each anchored one", async () => {
    await commitChange([rename("Renamed")], [buildEvent(), buildEvent({ type: "certificate.subject_erased", at: 2_000 })]);
    expect(await env.DB.prepare("SELECT name FROM businesses WHERE id = ?").bind(world.acme.id).first("name")).toBe("Renamed");
    const entries = await env.DB.prepare("SELECT * FROM audit_entries WHERE entity_id = 'cc_1' ORDER BY ord").all<Record<string, string>>();
    expect(entries.results.map(({ type }) => type)).toEqual(["certificate.issued", "certificate.subject_erased"]);
    for (const entry of entries.results) {
      expect(JSON.stringify(entry)).not.toContain("secret");
      const context = { table: "audit_entries", record: entry.id as string, field: "payload", owner: world.acme.chain };
      const opened = await vault.open(context, entry.payload_sealed as string);
      expect(JSON.parse(opened)[1]).toEqual({ actor: "api_key:key_test", secret: "payload" });
      expect(opened).toBe(toCanonicalJson(JSON.parse(opened)));
      expect(sha256Hex(opened)).toBe(entry.payload_hash);
    }
    expect(new Set(entries.results.map(({ payload_hash }) => payload_hash)).size).toBe(2);
    const anchors = await env.DB.prepare("SELECT * FROM anchors WHERE entity_id = 'cc_1'").all<Record<string, string>>();
    expect(anchors.results).toHaveLength(1);
    const statement = { event: "certificate.issued", entityId: "cc_1", fingerprint: "00", originDomain: "example.com", at: 1_000 } as const;
    expect(anchors.results[0]?.statement).toBe(formatAnchorStatement(statement));
  });

  test("writes an event's statement and audit entry only to the change if they can be rebuilt from the record", async () => {
    await commitChange([], [buildEvent({ entityId: "cc_rebuilt", recordSalt: "c2FsdA" })]);
    const change = await env.DB.prepare(
      "SELECT ledger_id, statement, chain, audit_log, payload_hash FROM changes WHERE entity_id = 'cc_rebuilt'",
    ).first();
    const subject = { fingerprint: "00", originDomain: "example.com", at: 1_000 };
    expect(change).toEqual({
      ledger_id: "tlog:test",
      statement: formatAnchorStatement({ event: "certificate.issued", entityId: "cc_rebuilt", ...subject }),
      chain: world.acme.chain,
      audit_log: "00",
      payload_hash: hashAuditPayload("c2FsdA", { actor: "api_key:key_test", secret: "payload" }),
    });
    for (const table of ["anchors", "audit_entries"])
      expect(await env.DB.prepare(`SELECT COUNT(*) AS n FROM ${table} WHERE entity_id = 'cc_rebuilt'`).first("n")).toBe(0);
  });

  test("writes a read's audit entry only to the change, with its payload", async () => {
    await commitChange([], [buildEvent({ type: "certificate.subject_read", entityId: "cc_read", payload: { part: "view_trail" } })]);
    const change = await env.DB.prepare(
      "SELECT sequence, ledger_id, statement, chain, audit_log, payload_hash, payload FROM changes WHERE entity_id = 'cc_read'",
    ).first<Record<string, string | null>>();
    const [salt, payload] = JSON.parse(change?.payload?.slice(2) ?? "[]");
    expect(payload).toEqual({ actor: "api_key:key_test", part: "view_trail" });
    expect(change).toEqual({
      sequence: null,
      ledger_id: null,
      statement: null,
      chain: world.acme.chain,
      audit_log: "00",
      payload_hash: hashAuditPayload(salt, payload),
      payload: `0.${toCanonicalJson([salt, payload])}`,
    });
    for (const table of ["anchors", "audit_entries"])
      expect(await env.DB.prepare(`SELECT COUNT(*) AS n FROM ${table} WHERE entity_id = 'cc_read'`).first("n")).toBe(0);
  });

  test("refuses a read with two chains, because its change has room for one entry", async () => {
    const chains: DomainEvent["chains"] = [
      { tag: world.acme.chain, auditLog: firstShard },
      { tag: "c".repeat(32), auditLog: firstShard },
    ];
    await expect(commitChange([], [buildEvent({ type: "certificate.subject_read", chains })])).rejects.toThrow("two chains");
  });

  test("writes an event with two chains to both, each entry with its own commitment and seal", async () => {
    const otherChain = { tag: "c".repeat(32), auditLog: "03" as ShardId };
    await commitChange([], [buildEvent({ entityId: "cc_two", chains: [{ tag: world.acme.chain, auditLog: firstShard }, otherChain] })]);
    const { results } = await env.DB.prepare(
      "SELECT id, audit_log, chain, payload_hash, payload_sealed FROM audit_entries WHERE entity_id = 'cc_two' ORDER BY ord, audit_log",
    ).all<Record<string, string>>();
    expect(results.map(({ chain, audit_log }) => [chain, audit_log])).toEqual([
      [world.acme.chain, "00"],
      [otherChain.tag, otherChain.auditLog],
    ]);
    expect(new Set(results.map(({ id }) => id)).size).toBe(1);
    expect(new Set(results.map(({ payload_hash }) => payload_hash)).size).toBe(2);
    for (const { id, chain, payload_hash, payload_sealed } of results) {
      const context = { table: "audit_entries", record: id as string, field: "payload", owner: chain as string };
      const opened = await vault.open(context, payload_sealed as string);
      expect(sha256Hex(opened)).toBe(payload_hash);
      expect(JSON.parse(opened)[1]).toEqual({ actor: "api_key:key_test", secret: "payload" });
    }
    expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM anchors WHERE entity_id = 'cc_two'").first("n")).toBe(1);
  });

  test("writes public events, with those of sandbox records in their own outbox", async () => {
    const owner = { businessId: world.acme.id as BusinessId, environment: "live" } as const;
    const revoked = buildEvent({ type: "certificate.revoked", entityId: "cc_public", ...owner });
    await commitChange(
      [],
      [
        revoked,
        buildEvent({ type: "business.ceased", entityType: "share", entityId: "shr_1", ...owner }),
        buildEvent({ type: "certificate.revoked", entityId: "cc_sandbox", ...owner, environment: "sandbox" }),
        buildEvent({ entityId: "cc_internal" }),
      ],
    );
    const listPlacedEvents = async (sequence: string) =>
      (await listEventsToPlace(db, sequence, null, 10)).map(({ ord: _ord, ...event }) => event);
    const results = await listPlacedEvents(world.acme.id);
    const shared = { createdAt: 1_000, dataSealed: null };
    expect(results.map(({ id: _id, ...rest }) => rest)).toEqual([
      { ...shared, type: "certificate.revoked", certId: "cc_public", shareId: null },
      { ...shared, type: "business.ceased", certId: null, shareId: "shr_1" },
    ]);
    const sandboxEvents = await listPlacedEvents(`${world.acme.id}~sandbox`);
    expect(sandboxEvents).toMatchObject([{ certId: "cc_sandbox", type: "certificate.revoked" }]);
    for (const { id } of results) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const { businessId: _, ...unowned } = revoked;
    await expect(commitChange([], [{ ...unowned, entityId: "cc_unowned" }])).rejects.toThrow(
      "has a public event and no business or environment",
    );
  });

  test.each<readonly [string, () => readonly [readonly Statement[], readonly DomainEvent[]]]>([
    ["an invalid row", () => [[rename("Never"), buildBrokenStatement()], [buildEvent({ entityId: "cc_2" })]]],
    ["a duplicate anchor statement", () => [[rename("Never")], [buildEvent({ entityId: "cc_3" }), buildEvent({ entityId: "cc_3" })]]],
    [
      "an anchored event without anchor data",
      () => [[rename("Never")], [{ ...buildEvent({ entityId: "cc_4" }), anchor: undefined } as unknown as DomainEvent]],
    ],
    [
      "a payload that JSON cannot represent",
      () => [[rename("Never")], [buildEvent({ entityId: "cc_5", payload: { lost: undefined } as never })]],
    ],
  ])("writes nothing when it contains %s", async (_name, change) => {
    const before = await readDatabaseContents();
    await expect(commitChange(...change())).rejects.toThrow();
    expect(await readDatabaseContents()).toEqual(before);
  });

  test("writes a distinct entry for each of 50 concurrent commits", async () => {
    await Promise.all(Array.from({ length: 50 }, (_, at) => commitChange([], [buildEvent({ entityId: `cc_many_${at}`, at })])));
    const row = await env.DB.prepare(
      "SELECT COUNT(*) AS n, COUNT(DISTINCT payload_hash) AS hashes FROM audit_entries WHERE entity_id LIKE 'cc\\_many\\_%' ESCAPE '\\'",
    ).first();
    expect(row).toEqual({ n: 50, hashes: 50 });
  });
});
