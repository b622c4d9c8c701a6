// Tests GET /v1/me/export, which returns everything stored about a person, to that person only.
import { describe, expect, test } from "vitest";
import { env } from "cloudflare:workers";
import { grantShare, describeOutcome, signInPerson, redeemCode, contactValues } from "../support/sharing.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { world, worldInSecondShard } from "../support/world.ts";

const parts = [
  "export_version",
  "exported_at",
  "profile",
  "fields",
  "shares",
  "audit",
  "audit_pending",
  "removals",
  "agent_tokens",
  "receipts",
];

describe("GET /v1/me/export", () => {
  test("returns one JSON file without an envelope, which no cache stores", async () => {
    const person = await signInPerson();
    const response = await person.get("/v1/me/export");
    expect(response.status).toBe(200);
    expect(Object.keys(response.body)).toEqual(parts);
    expect(response.body.export_version).toBe("1");
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    expect(response.headers.get("content-disposition")).toMatch(/^attachment; filename="svc-export-\d{4}-\d\d-\d\d\.json"$/);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.body.profile.email).toBe(person.email);
    expect(response.body.fields.fields).toMatchObject({ first_name: "Pat", phone: contactValues.phone });
  });

  test("contains every share of every shard with the data granted, a receipt for each share, and the whole audit chain", async () => {
    const person = await signInPerson();
    const near = await grantShare(person, { disclosure_text: "We call you once." });
    const far = await grantShare(person, { scope: ["email"] }, worldInSecondShard.acme);
    await redeemCode(near);
    await person.put("/v1/me/fields", { phone: "+1 202 555 0199" });
    await person.post(`/v1/me/sever/${far.share.id}`, {});
    await waitUntilSettled();
    const { shares, audit, receipts } = (await person.get("/v1/me/export")).body;

    expect(shares.map(({ id }: { id: string }) => id)).toEqual([far.share.id, near.share.id]);
    expect(shares[1]).toMatchObject({
      status: "active",
      fingerprint: near.share.fingerprint,
      disclosure_text: "We call you once.",
      granted: { email: contactValues.email, phone: contactValues.phone },
    });
    expect(shares[0]).toMatchObject({ status: "revoked", granted: { email: contactValues.email } });
    expect(receipts.map(({ receipt_id }: { receipt_id: string }) => receipt_id)).toEqual([far.share.id, near.share.id]);
    expect(receipts[1]).toMatchObject({
      "@type": "dpv:ConsentReceipt",
      schema_version: "ISO/IEC TS 27560:2023",
      consent_record: {
        pii_processing: {
          purposes: [
            { purpose: near.share.purpose, pii_information: [{ pii_type: "email" }, { pii_type: "phone" }], retention_period: "P365D" },
          ],
        },
        party_identification: [{ party_name: world.acme.name }],
        events: [{ event_state: "dpv:ConsentGiven" }],
      },
      share: { fingerprint: near.share.fingerprint, anchor: { status: expect.any(String) } },
    });
    expect(receipts[0].consent_record.events.map(({ event_state }: { event_state: string }) => event_state)).toEqual([
      "dpv:ConsentGiven",
      "dpv:ConsentWithdrawn",
    ]);
    expect(JSON.stringify(receipts)).not.toContain(contactValues.email);

    const types = audit.map(({ type }: { type: string }) => type);
    // The position of this entry is not checked, because the audit log determines the order of entries from two shards.
    expect(types).toContain("data.exported");
    expect(types).toEqual(expect.arrayContaining(["share.created", "share.redeemed", "share.revoked", "fields.updated"]));
    expect(audit.filter(({ payload }: { payload: unknown }) => payload === null)).toEqual([]);
    expect(audit.map(({ seq }: { seq: number }) => seq)).toEqual(audit.map((_: unknown, at: number) => audit.length - at));
  });

  test("contains all removals, even if there are more than a list returns, and each of them has a page", async () => {
    const person = await signInPerson();
    await env.DB.prepare("UPDATE consumers SET plan = 'white_glove' WHERE id = ?")
      .bind((await person.get("/v1/me")).body.data.id)
      .run();
    const { id } = (await person.post("/v1/me/removals", { authorize: true, targets: ["spokeo"] })).body.data;
    const copies = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)";
    const copiedId = "substr(s.id, 1, 20) || printf('%06d', n.i)";
    await env.DB.prepare(
      `${copies} INSERT INTO removals (id, consumer_id, language, requested_at, changed_by)
       SELECT ${copiedId}, s.consumer_id, s.language, s.requested_at, s.changed_by FROM n, removals s WHERE s.id = ?`,
    )
      .bind(id)
      .run();
    const { removals } = (await person.get("/v1/me/export")).body;
    expect(new Set(removals.map((removal: { id: string }) => removal.id)).size).toBe(401);
    expect(removals.at(-1)).toMatchObject({ id, targets: [{ name: "spokeo" }] });
    expect((await person.get(`/app/removals/${id}`)).status).toBe(200);
  });

  test("contains no data of other people", async () => {
    const [person, other] = [await signInPerson(), await signInPerson({ email: "someone.else@example.com", first_name: "Somebodyelse" })];
    await grantShare(other, { scope: ["email", "first_name"] });
    const { text } = await person.get("/v1/me/export");
    expect(text).not.toMatch(/someone\.else|Somebodyelse/);
    expect(text).not.toContain(other.email);
  });

  test("returns 429 rate_limited after five exports in an hour", async () => {
    const person = await signInPerson({});
    const responses = [];
    for (let count = 0; count < 6; count += 1) responses.push(await person.get("/v1/me/export"));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    const rows = await env.DB.prepare("SELECT COUNT(*) AS n FROM audit_entries WHERE type = 'data.exported' AND entity_id = ?")
      .bind((await person.get("/v1/me")).body.data.id)
      .first<{ n: number }>();
    expect(rows?.n).toBe(5);
    expect(describeOutcome(responses[5] as (typeof responses)[number])).toBe("429 rate_limited");
  });
});
