// Tests how a signed-in person lists the certificates that name them, and withdraws the consent that these certificates record.
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import type { ShardId } from "../../core/ids.ts";
import { minuteMs } from "../../core/time.ts";
import { openDatabase, type Database } from "../../storage/database.ts";
import { listStuckWork } from "../../storage/stuck-work.ts";
import { settleShares } from "../../workers/background/share-settling.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { buildJsonRequest } from "../support/people.ts";
import { callWith, createOutagePlatform, platform } from "../support/scenarios.ts";
import { listAllEvents, describeOutcome, signInPerson, getWithApiKey, type SignedPerson } from "../support/sharing.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { issueToNewPerson, listMailTo, withdrawCertificate } from "../support/withdrawal.ts";
import { getWithKey, world, worldInSecondShard } from "../support/world.ts";

const buildSubmissionFor = (person: SignedPerson, more: object = {}) => ({ fields: { email: person.email, first_name: "Pat" }, ...more });
const list = async (person: SignedPerson, path = "") => (await person.get(`/v1/me/certificates${path}`)).body.data;
const withdraw = (person: SignedPerson, body: object) => person.post("/v1/me/certificates/withdraw", body);
const listConfirmations = async ({ email }: SignedPerson) => {
  await waitUntilSettled();
  return (await listMailTo(email)).filter(({ subject }) => /(?:has been withdrawn|ont été retirés)$/.test(subject));
};
const readStatus = async (certId: string): Promise<string> => (await getWithKey(`/v1/certs/${certId}/verify`)).body.data.status;

describe("GET /v1/me/certificates", () => {
  test("lists the person's own certificates by business and then one by one, from every shard", async () => {
    const [person, stranger] = [await signInPerson({}), await signInPerson({})];
    const first = await issueToNewPerson(buildSubmissionFor(person));
    const second = await issueToNewPerson(buildSubmissionFor(person, { purpose: "roof survey" }));
    const far = await issueToNewPerson(buildSubmissionFor(person), worldInSecondShard.acme);
    await issueToNewPerson(buildSubmissionFor(stranger));
    await withdrawCertificate({ ...first, email: person.email });

    const { businesses, has_more, incomplete } = await list(person);
    expect({ has_more, incomplete }).toEqual({ has_more: false, incomplete: false });
    const near = businesses.find(({ business_id }: { business_id: string }) => business_id === world.acme.id);
    expect(near).toMatchObject({ name: world.acme.name, certificates: 2, active: 1 });
    expect(businesses).toHaveLength(2);

    const { certificates } = await list(person, `/${world.acme.id}`);
    expect(certificates.map(({ cert_id, status: current }: { cert_id: string; status: string }) => [cert_id, current])).toEqual([
      [second.certId, "active"],
      [first.certId, "revoked"],
    ]);
    expect(certificates[0]).toMatchObject({ purpose: "roof survey", cease_by: null, verify_url: `http://svc.test/c/${second.certId}` });
    expect(certificates[1].cease_by).not.toBeNull();
    expect((await list(person, `/${worldInSecondShard.acme.id}`)).certificates.map(({ cert_id }: { cert_id: string }) => cert_id)).toEqual([
      far.certId,
    ]);
    expect((await list(person, `/${world.acme.id}?starting_after=${second.certId}`)).certificates).toHaveLength(1);
    expect((await list(person, `?starting_after=${businesses[0].business_id}`)).businesses).toHaveLength(1);
    expect((await list(person, `/${world.examples.free.id}`)).certificates).toEqual([]);
    expect((await list(stranger)).businesses).toHaveLength(1);
  });

  test("lists nothing for an unknown business, even if its ID names a shard that does not exist", async () => {
    const person = await signInPerson({});
    for (const id of ["nothing", `biz_00${"1".repeat(24)}`, `biz_zz${"1".repeat(24)}`])
      expect([id, await list(person, `/${id}`)]).toEqual([id, { certificates: [], has_more: false }]);
  });

  test("leaves out sandbox certificates, and finds nothing by an unverified address among the fields", async () => {
    const person = await signInPerson({});
    const victim = await signInPerson({});
    await issueToNewPerson(buildSubmissionFor(victim));
    await person.put("/v1/me/fields", { email: victim.email });
    expect((await list(person)).businesses).toEqual([]);
    await issueToNewPerson(buildSubmissionFor(person, { client_id: world.acme.clients.sandbox }));
    expect((await list(person)).businesses).toEqual([]);
  });

  test("marks the list as incomplete while a shard is unavailable, and returns the others", async () => {
    const person = await signInPerson({});
    await issueToNewPerson(buildSubmissionFor(person));
    const unavailableDatabase = (createOutagePlatform().shards as Platform["shards"]).forId("") as Database;
    const listShards = () => platform.shards.all().map(([shardId, db]) => [shardId, shardId === "01" ? unavailableDatabase : db] as const);
    const response = await callWith({ shards: { ...platform.shards, all: listShards } }, "/v1/me/certificates", {
      headers: person.headers,
    });
    expect(response.body.data).toMatchObject({ incomplete: true, businesses: [{ business_id: world.acme.id }] });
  });
});

describe("POST /v1/me/certificates/withdraw", () => {
  test("withdraws one certificate, with email_code in the receipt and the account in the audit chain, and sends an event", async () => {
    const person = await signInPerson({});
    const [issued, untouched] = [await issueToNewPerson(buildSubmissionFor(person)), await issueToNewPerson(buildSubmissionFor(person))];
    const response = await withdraw(person, { scope: "certificate", cert_id: issued.certId });
    expect(response.body.data).toMatchObject({ withdrawn: 1, pending: false, cert_id: issued.certId });
    expect([await readStatus(issued.certId), await readStatus(untouched.certId)]).toEqual(["revoked", "active"]);
    const detail = (await getWithApiKey(`/v1/certs/${issued.certId}`)).body.data;
    expect(detail.withdrawal).toMatchObject({ method: "email_code", scope: "certificate", cease_by: response.body.data.cease_by });
    await waitUntilSettled();
    expect((await listAllEvents()).filter(({ type, cert_id }) => type === "certificate.revoked" && cert_id === issued.certId)).toHaveLength(
      1,
    );
    const row = await env.DB.prepare(
      "SELECT id, chain, payload_sealed FROM audit_entries WHERE entity_id = ? AND type = 'certificate.revoked'",
    )
      .bind(issued.certId)
      .first<{ id: string; chain: string; payload_sealed: string }>();
    const context = { table: "audit_entries", record: row?.id as string, field: "payload", owner: row?.chain as string };
    expect(await platform.vault.open(context, row?.payload_sealed as string)).toContain('"actor":"subject:account"');
    expect(describeOutcome(await withdraw(person, { scope: "certificate", cert_id: issued.certId }))).toBe("409 already_revoked");
  });

  test("returns 404 cert_not_found for another person's, a sandbox and an unknown certificate", async () => {
    const [person, other] = [await signInPerson({}), await signInPerson({})];
    const othersCertificate = await issueToNewPerson(buildSubmissionFor(other));
    const sandboxCertificate = await issueToNewPerson(buildSubmissionFor(person, { client_id: world.acme.clients.sandbox }));
    for (const cert_id of [othersCertificate.certId, sandboxCertificate.certId, "cc_00000000000000000000000000", "nothing"]) {
      expect(describeOutcome(await withdraw(person, { scope: "certificate", cert_id }))).toBe("404 cert_not_found");
    }
    expect(describeOutcome(await withdraw(person, { scope: "business", business_id: world.other.id }))).toBe("404 cert_not_found");
    expect(describeOutcome(await withdraw(person, { scope: "business", business_id: "nothing" }))).toBe("404 cert_not_found");
    const unclear = [await withdraw(person, { scope: "all" }), await withdraw(person, {})];
    expect(unclear.map(({ status, body }) => [status, body.error.message])).toEqual([
      [400, "scope: must be one of certificate, business, everything."],
      [400, "scope: is required."],
    ]);
    expect([await readStatus(othersCertificate.certId), await readStatus(sandboxCertificate.certId)]).toEqual(["active", "active"]);
  });

  test("withdraws all certificates of one business and no others, whatever the business's billing status", async () => {
    const person = await signInPerson({});
    const issued = [await issueToNewPerson(buildSubmissionFor(person)), await issueToNewPerson(buildSubmissionFor(person))];
    const far = await issueToNewPerson(buildSubmissionFor(person), worldInSecondShard.acme);
    await env.DB.prepare("UPDATE businesses SET status = 'suspended' WHERE id = ?").bind(world.acme.id).run();
    try {
      const response = await withdraw(person, { scope: "business", business_id: world.acme.id });
      expect(response.body.data).toMatchObject({ withdrawn: 2, pending: false });
    } finally {
      await env.DB.prepare("UPDATE businesses SET status = 'active' WHERE id = ?").bind(world.acme.id).run();
    }
    expect(await Promise.all(issued.map(({ certId }) => readStatus(certId)))).toEqual(["revoked", "revoked"]);
    expect(await readStatus(far.certId)).toBe("active");
  });

  test("withdraws all certificates on every shard, and a later certificate is a new consent", async () => {
    const person = await signInPerson({});
    const issued = await Promise.all(Array.from({ length: 45 }, () => issueToNewPerson(buildSubmissionFor(person))));
    const far = await issueToNewPerson(buildSubmissionFor(person), worldInSecondShard.acme);
    const response = await withdraw(person, { scope: "everything" });
    expect(response.body.data).toMatchObject({ withdrawn: 46, pending: false });
    expect(new Set(await Promise.all([...issued, far].map(({ certId }) => readStatus(certId))))).toEqual(new Set(["revoked"]));
    expect(await readStatus((await issueToNewPerson(buildSubmissionFor(person))).certId)).toBe("active");
    expect((await env.DB.prepare("SELECT COUNT(*) AS n FROM account_withdrawals").first<{ n: number }>())?.n).toBe(0);
  });

  test("completes an interrupted withdrawal in the cron job, with the time of the person's request", async () => {
    const person = await signInPerson({});
    const issued = await issueToNewPerson(buildSubmissionFor(person));
    let signed = 0;
    const failing = {
      ...platform.signer,
      sign: async () => {
        signed += 1;
        throw new Error("died");
      },
    };
    const response = await callWith(
      { signer: failing },
      "/v1/me/certificates/withdraw",
      buildJsonRequest({ scope: "everything" }, person.headers),
    );
    expect([response.status, signed]).toEqual([500, 1]);
    expect(await readStatus(issued.certId)).toBe("active");
    await settleShares({ ...platform, clock: () => Date.now() + 2 * minuteMs });
    const { withdrawal } = (await getWithApiKey(`/v1/certs/${issued.certId}`)).body.data;
    expect(Math.abs(Date.parse(withdrawal.withdrawn_at) - Date.now())).toBeLessThan(minuteMs);
  });

  test("completes an interrupted withdrawal even if it is repeated on a machine whose clock is behind", async () => {
    const person = await signInPerson({});
    const issued = await issueToNewPerson(buildSubmissionFor(person));
    const failing = { ...platform.signer, sign: () => Promise.reject(new Error("died")) };
    const request = () => buildJsonRequest({ scope: "everything" }, person.headers);
    const now = Date.now();
    const interrupted = { signer: failing, clock: () => now };
    expect((await callWith(interrupted, "/v1/me/certificates/withdraw", request())).status).toBe(500);
    const behind = { clock: () => now - 5 * minuteMs };
    const repeated = await callWith(behind, "/v1/me/certificates/withdraw", request());
    expect(repeated.body.data).toMatchObject({ withdrawn: 0, pending: true });
    await settleShares({ ...platform, clock: () => now });
    expect(await readStatus(issued.certId)).toBe("active"); // the relay leaves this work to the first request, which could still be running
    const stuck = await listStuckWork(openDatabase(env.DB), now + 11 * minuteMs);
    expect(stuck).toContainEqual({ kind: "withdrawals", count: 1, since: now });
    await settleShares({ ...platform, clock: () => now + 2 * minuteMs });
    expect(await readStatus(issued.certId)).toBe("revoked");
    expect((await withdraw(person, { scope: "everything" })).body.data).toMatchObject({ pending: false });
    expect(await listConfirmations(person)).toHaveLength(1);
  });

  test("confirms a withdrawal for a business with one email, and a repeated or concurrent request with none", async () => {
    const person = await signInPerson({});
    const near = { scope: "business", business_id: world.acme.id };
    for (const _ of [1, 2]) await issueToNewPerson(buildSubmissionFor(person));
    await issueToNewPerson(buildSubmissionFor(person), worldInSecondShard.acme);
    expect((await withdraw(person, near)).body.data).toMatchObject({ withdrawn: 2, pending: false });
    expect((await withdraw(person, near)).body.data).toMatchObject({ withdrawn: 0, pending: false });
    const [mail, ...others] = await listConfirmations(person);
    expect(others).toEqual([]);
    expect(mail?.text).toContain(`You withdrew all consent you gave to ${world.acme.name}.`);
    expect(mail?.text).toMatch(/Contact must stop: By the end of \d+ \w+ \d{4} \(UTC\)/);
    expect(mail?.text).toContain(`/app/with/${world.acme.id}`);
    expect(mail?.text).toMatch(/^Contact Acme Solar LLC, .+\. Include the certificate ID\.$/m);

    expect((await withdraw(person, { ...near, business_id: worldInSecondShard.acme.id })).body.data).toMatchObject({ withdrawn: 1 });
    await issueToNewPerson(buildSubmissionFor(person));
    const concurrent = await Promise.all([1, 2, 3].map(() => withdraw(person, near)));
    expect(concurrent.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await listConfirmations(person)).toHaveLength(3);
  });

  test("confirms a withdrawal of everything with one email in the person's language, if there was something to withdraw", async () => {
    const person = await signInPerson({});
    const french = { "accept-language": "fr-CA" };
    const withdrawEverything = () => person.post("/v1/me/certificates/withdraw", { scope: "everything" }, french);
    await withdrawEverything();
    expect(await listConfirmations(person)).toEqual([]);
    await issueToNewPerson(buildSubmissionFor(person));
    await issueToNewPerson(buildSubmissionFor(person), worldInSecondShard.acme);
    await withdrawEverything();
    await withdrawEverything();
    expect(await listConfirmations(person)).toMatchObject([{ text: expect.stringContaining("Vous avez retiré tous vos consentements.") }]);
  });

  test("confirms a withdrawal once if a shard does not respond, and the job completes it there", async () => {
    const person = await signInPerson({});
    const far = await issueToNewPerson(buildSubmissionFor(person), worldInSecondShard.acme);
    const unavailableDatabase = (createOutagePlatform().shards as Platform["shards"]).forId("") as Database;
    const { shards } = platform;
    const listShards = () => shards.all().map(([id, db]) => [id, id === "01" ? unavailableDatabase : db] as const);
    const withoutSecondShard = { shards: { ...shards, all: listShards } };
    const request = () => buildJsonRequest({ scope: "everything" }, person.headers);
    for (const _ of [1, 2]) expect((await callWith(withoutSecondShard, "/v1/me/certificates/withdraw", request())).status).toBe(503);
    expect(await listConfirmations(person)).toHaveLength(1);
    expect(await readStatus(far.certId)).toBe("active");
    for (const minutes of [2, 4]) await settleShares({ ...platform, clock: () => Date.now() + minutes * minuteMs });
    expect(await readStatus(far.certId)).toBe("revoked");
    await withdraw(person, { scope: "everything" });
    expect(await listConfirmations(person)).toHaveLength(1);
  });

  test("confirms a withdrawal again if it follows an unfinished one by more than ten minutes", async () => {
    const person = await signInPerson({});
    const unavailableDatabase = (createOutagePlatform().shards as Platform["shards"]).forId("") as Database;
    const { shards } = platform;
    const listShards = () => shards.all().map(([id, db]) => [id, id === "01" ? unavailableDatabase : db] as const);
    const withoutSecondShard = { shards: { ...shards, all: listShards } };
    const withdrawAgain = async (): Promise<number> => {
      await issueToNewPerson(buildSubmissionFor(person));
      const request = buildJsonRequest({ scope: "everything" }, person.headers);
      expect((await callWith(withoutSecondShard, "/v1/me/certificates/withdraw", request)).status).toBe(503);
      return (await listConfirmations(person)).length;
    };
    expect([await withdrawAgain(), await withdrawAgain()]).toEqual([1, 1]);
    const age = (minutes: number) =>
      env.DB.prepare("UPDATE account_withdrawals SET withdrawn_at = withdrawn_at - ? WHERE for_all_shards = 1")
        .bind(minutes * minuteMs)
        .run();
    await age(9);
    expect(await withdrawAgain()).toBe(1);
    await age(11);
    expect(await withdrawAgain()).toBe(2);
  });

  test("the job withdraws what is left in the person's shard while another shard does not respond", async () => {
    const person = await signInPerson({});
    const far = await issueToNewPerson(buildSubmissionFor(person), worldInSecondShard.acme);
    const unavailableDatabase = (createOutagePlatform().shards as Platform["shards"]).forId("") as Database;
    const { shards } = platform;
    const listShards = () => shards.all().map(([id, db]) => [id, id === "01" ? unavailableDatabase : db] as const);
    const getShard = (id: ShardId) => (id === "01" ? unavailableDatabase : shards.get(id));
    const withoutSecondShard = { shards: { ...shards, all: listShards, get: getShard } };
    const request = buildJsonRequest({ scope: "everything" }, person.headers);
    expect((await callWith(withoutSecondShard, "/v1/me/certificates/withdraw", request)).status).toBe(503);
    const near = await issueToNewPerson(buildSubmissionFor(person));
    await env.DB.prepare("UPDATE account_withdrawals SET withdrawn_at = ? WHERE for_all_shards = 1").bind(Date.now()).run();
    await settleShares({ ...platform, ...withoutSecondShard, clock: () => Date.now() + 2 * minuteMs });
    expect(await readStatus(near.certId)).toBe("revoked");
    expect(await readStatus(far.certId)).toBe("active");
    for (const minutes of [4, 6]) await settleShares({ ...platform, clock: () => Date.now() + minutes * minuteMs });
    expect(await readStatus(far.certId)).toBe("revoked");
  });
});
