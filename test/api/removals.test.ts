// Tests removals: a person whose plan includes removals requests one, an operator handles it, and an affidavit documents the result.
import { env, exports } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { fromBase64Url } from "../../core/bytes.ts";
import { sha256Hex } from "../../core/hash.ts";
import { parseRemovalId } from "../../core/ids.ts";
import { removalTargetNames, type RemovalStatus } from "../../core/removals/removal.ts";
import { recordRemovalProgress } from "../../workers/operations/consumers/record-removal-progress.ts";
import { createServicesWith } from "../support/changed-services.ts";
import { buildJsonRequest, listMailTo } from "../support/people.ts";
import { platform } from "../support/scenarios.ts";
import { describeOutcome, signInPerson, type SignedPerson } from "../support/sharing.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { call, readDatabaseContents, createServiceCall, type Call } from "../support/world.ts";

const services = createServicesWith(platform, {});
/** These tests raise the daily limit, which has its own test. */
const withoutLimit = createServiceCall({ LIMIT_REMOVALS: "1000/60" });
const signInOnPlan = async (service: Call = withoutLimit): Promise<SignedPerson> => {
  const person = await signInPerson({}, service);
  const { id } = (await person.get("/v1/me")).body.data;
  await env.DB.prepare("UPDATE consumers SET plan = 'white_glove' WHERE id = ?").bind(id).run();
  return person;
};
const request = (person: SignedPerson, change: object = {}) =>
  person.post("/v1/me/removals", { authorize: true, targets: ["spokeo", "radaris"], ...change });
const requestId = async (person: SignedPerson): Promise<string> => (await request(person)).body.data.id;
const recordProgress = (id: string, found: Record<string, RemovalStatus>) =>
  recordRemovalProgress(services, parseRemovalId(id), new Map(Object.entries(found)));
const requestAffidavit = (id: string, person: Pick<SignedPerson, "headers">) =>
  call(`/v1/me/removals/${id}/affidavit`, { headers: person.headers });
const readAffidavitFile = async (id: string, { headers }: SignedPerson): Promise<Uint8Array> => {
  const response = await exports.default.fetch(new Request(`http://svc.test/v1/me/removals/${id}/affidavit`, { headers }));
  return new Uint8Array(await response.arrayBuffer());
};

describe("POST /v1/me/removals", () => {
  test("requires a plan that includes it, and targets from the fixed list", async () => {
    const free = await signInPerson({});
    expect(describeOutcome(await request(free))).toBe("402 plan_required");
    const person = await signInOnPlan();
    expect((await person.get("/v1/me")).body.data.plan).toBe("white_glove");
    const before = await readDatabaseContents();
    for (const change of [
      { authorize: false },
      { targets: [] },
      { targets: ["https://evil.example/"] },
      { targets: ["spokeo", "constructor"] },
      { notes: "two\nlines" },
      { notes: "x".repeat(501) },
    ]) {
      expect(describeOutcome(await request(person, change))).toBe("400 invalid_request");
    }
    expect(await readDatabaseContents()).toEqual(before);
    const response = await request(person, { notes: "I am also known as Patricia" });
    expect(response.status).toBe(201);
    expect(response.body.data).toMatchObject({
      status: "requested",
      targets: [
        { name: "radaris", status: "requested", completed_at: null },
        { name: "spokeo", status: "requested", completed_at: null },
      ],
      completed_at: null,
      recheck_at: null,
      affidavit_url: null,
    });
    expect(JSON.stringify(await readDatabaseContents())).not.toContain("Patricia");
    const all = await request(person, { targets: undefined });
    expect(all.body.data.targets).toHaveLength(removalTargetNames.length);
    const { removals, targets } = (await person.get("/v1/me/removals")).body.data;
    expect(removals.map(({ id }: { id: string }) => id)).toEqual([all.body.data.id, response.body.data.id]);
    expect(removals[1].notes).toBe("I am also known as Patricia");
    expect(targets).toContainEqual({ name: "spokeo", title: "Spokeo" });
  });

  test("returns 429 after thirty requests a day", async () => {
    const person = await signInOnPlan(call);
    const responses = [];
    for (let count = 0; count < 31; count += 1) responses.push(await request(person));
    expect(responses.map(({ status }) => status)).toEqual([...Array.from({ length: 30 }, () => 201), 429]);
    expect((await person.get("/v1/me/removals")).body.data.removals).toHaveLength(30);
  });
});

describe("POST /v1/admin/removals/{id}", () => {
  const token = "t".repeat(43);
  const operatorService = createServiceCall({ ADMIN_TOKEN_SHA256: sha256Hex(token) });
  const reportProgress = (id: string, targets: object, secret = token) =>
    operatorService(`/v1/admin/removals/${id}`, buildJsonRequest({ targets }, { authorization: `Bearer ${secret}` }));

  test("records the outcome for each target, and only with the operator token", async () => {
    const person = await signInOnPlan();
    const id = await requestId(person);
    expect(describeOutcome(await reportProgress(id, { spokeo: "completed" }, "x".repeat(43)))).toBe("401 unauthorized");
    expect(
      describeOutcome(
        await operatorService(`/v1/admin/removals/${id}`, buildJsonRequest({ targets: { spokeo: "completed" } }, person.headers)),
      ),
    ).toBe("401 unauthorized");
    expect(describeOutcome(await reportProgress(id, { spokeo: "gone" }))).toBe("400 invalid_request");
    expect(describeOutcome(await reportProgress(id, {}))).toBe("400 invalid_request");
    expect(describeOutcome(await reportProgress("rmv_00000000000000000000000000", {}))).toBe("404 not_found");
    const response = await reportProgress(id, { spokeo: "completed", radaris: "completed" });
    expect(response.body.data).toMatchObject({ id, status: "completed" });
    expect(response.text).not.toContain(person.email);
    expect((await requestAffidavit(id, person)).status).toBe(200);
  });
});

describe("/v1/admin/removals", () => {
  const token = "t".repeat(43);
  const headers = { authorization: `Bearer ${token}` };
  const settings = { ADMIN_TOKEN_SHA256: sha256Hex(token) };
  const operator = createServiceCall(settings);
  const createLaterService = (days: number) => createServiceCall({ ...settings, DEV_CLOCK_OFFSET_MS: String(days * 86_400_000) });
  const post = (path: string, service: Call = operator) => service(`/v1/admin/removals/${path}`, { method: "POST", headers });
  const readListedRemoval = async (id: string, service: Call = operator) => {
    const { text, body } = await service("/v1/admin/removals", { headers });
    return { text, found: body.data.removals.find((removal: { id: string }) => removal.id === id) };
  };

  test("lists unfinished removals without personal data", async () => {
    const person = await signInOnPlan();
    const id = await requestId(person);
    const { text, found } = await readListedRemoval(id);
    expect(found).toMatchObject({ shard: "00", status: "requested", recheck_at: null, targets: [{ name: "radaris" }, { name: "spokeo" }] });
    expect(text).not.toContain(person.email);
    await recordProgress(id, { spokeo: "rejected", radaris: "rejected" });
    expect((await readListedRemoval(id)).found).toBeUndefined();
  });

  test("lists no removals of people who have deleted their account", async () => {
    const person = await signInOnPlan();
    const id = await requestId(person);
    expect((await readListedRemoval(id)).found).toBeDefined();
    expect((await call("/v1/me", { method: "DELETE", headers: person.headers })).status).toBe(200);
    expect((await readListedRemoval(id)).found).toBeUndefined();
  });

  test("shows a removal with the person's data, and records this in the person's history", async () => {
    const person = await signInOnPlan();
    const fields = { first_name: "Pat", city: "Springfield" };
    expect((await person.put("/v1/me/fields", fields)).status).toBe(200);
    const { id } = (await request(person, { notes: "I am also known as Patricia" })).body.data;
    const { status, body } = await post(`${id}/open`);
    expect([status, body.data.email, body.data.notes]).toEqual([200, person.email, "I am also known as Patricia"]);
    expect(body.data.fields).toEqual(fields);
    const { entries } = (await person.get("/v1/me/audit")).body.data;
    expect(entries.filter(({ type }: { type: string }) => type === "removal.opened")).toHaveLength(1);
    expect(describeOutcome(await post("rmv_00000000000000000000000000/open"))).toBe("404 not_found");
  });

  test("lists a completed removal again after 90 days, until the operator has checked the brokers", async () => {
    const person = await signInOnPlan();
    const id = await requestId(person);
    expect((await post(`${id}/checked`)).body.error).toEqual({
      code: "invalid_request",
      message: "The removal is not completed, so there is nothing to check again.",
    });
    await recordProgress(id, { spokeo: "completed", radaris: "completed" });
    expect((await readListedRemoval(id)).found).toBeUndefined();
    const [{ recheck_at: recheckAt }] = (await person.get("/v1/me/removals")).body.data.removals;
    expect((await post(`${id}/checked`)).body.error).toEqual({
      code: "invalid_request",
      message: `The next check of this removal is due at ${recheckAt}.`,
    });
    expect(describeOutcome(await post("rmv_00000000000000000000000000/checked"))).toBe("404 not_found");
    const due = createLaterService(91);
    expect((await readListedRemoval(id, due)).found).toMatchObject({ status: "completed" });
    const checked = await post(`${id}/checked`, due);
    expect(Date.parse(checked.body.data.recheck_at)).toBeGreaterThan(Date.now() + 180 * 86_400_000);
    expect((await readListedRemoval(id, due)).found).toBeUndefined();
    expect((await readListedRemoval(id, createLaterService(182))).found).toMatchObject({ status: "completed" });
  });
});

describe("GET /v1/me/removals/{id}/affidavit", () => {
  test("returns the same bytes every time, with their hash signed and in the person's audit chain", async () => {
    const person = await signInOnPlan();
    const id = await requestId(person);
    expect(describeOutcome(await requestAffidavit(id, person))).toBe("409 affidavit_not_ready");
    expect((await recordProgress(id, { spokeo: "completed" })).ok).toBe(true);
    expect((await person.get("/v1/me/removals")).body.data.removals[0]).toMatchObject({ status: "in_progress", affidavit_url: null });
    expect(describeOutcome(await requestAffidavit(id, person))).toBe("409 affidavit_not_ready");
    expect((await recordProgress(id, { radaris: "rejected" })).ok).toBe(true);

    const [removal] = (await person.get("/v1/me/removals")).body.data.removals;
    expect(removal).toMatchObject({
      status: "completed",
      targets: [
        { name: "radaris", status: "rejected", completed_at: null },
        { name: "spokeo", status: "completed" },
      ],
      affidavit_url: `http://svc.test/v1/me/removals/${id}/affidavit`,
    });
    expect(Date.parse(removal.recheck_at) - Date.parse(removal.completed_at)).toBe(90 * 86_400_000);

    const response = await requestAffidavit(id, person);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/pdf");
    expect(response.headers.get("content-disposition")).toBe(`attachment; filename="affidavit-${id}.pdf"`);
    const [bytes, repeated] = [await readAffidavitFile(id, person), await readAffidavitFile(id, person)];
    expect(new TextDecoder("latin1").decode(bytes.subarray(0, 5))).toBe("%PDF-");
    expect(repeated).toEqual(bytes);
    expect(sha256Hex(bytes as Uint8Array<ArrayBuffer>)).toBe(removal.affidavit.sha256);

    expect(JSON.parse(removal.affidavit.signed)).toEqual({ type: "svc-affidavit-v1", removal_id: id, sha256: removal.affidavit.sha256 });
    const jwk = (await call("/.well-known/jwks.json")).body.keys.find(
      ({ kid }: { kid: string }) => kid === removal.affidavit.signature.kid,
    );
    const key = await crypto.subtle.importKey("raw", fromBase64Url(jwk.x) as Uint8Array<ArrayBuffer>, "Ed25519", false, ["verify"]);
    const signature = Uint8Array.from(atob(removal.affidavit.signature.value), (letter) => letter.charCodeAt(0));
    expect(await crypto.subtle.verify("Ed25519", key, signature, new TextEncoder().encode(removal.affidavit.signed))).toBe(true);

    await waitUntilSettled();
    const { audit } = (await person.get("/v1/me/export")).body;
    expect(audit.find(({ type }: { type: string }) => type === "removal.completed")).toMatchObject({
      entity_id: id,
      payload: { affidavit_sha256: removal.affidavit.sha256, asked: 2, removed: 1 },
    });
    expect((await listMailTo(person.email))[0]?.text).toContain("1 of 2 data brokers removed your data");
  });

  test("returns 404 for another person's removal, and a completed removal can no longer change", async () => {
    const [person, other] = [await signInOnPlan(), await signInOnPlan()];
    const id = await requestId(person);
    await recordProgress(id, { spokeo: "completed", radaris: "completed" });
    expect(describeOutcome(await requestAffidavit(id, other))).toBe("404 not_found");
    expect(describeOutcome(await requestAffidavit("rmv_00000000000000000000000000", person))).toBe("404 not_found");
    expect(describeOutcome(await requestAffidavit("nothing", person))).toBe("404 not_found");
    expect(await recordProgress(id, { spokeo: "rejected" })).toMatchObject({ ok: false, code: "invalid_request" });
    expect(await recordProgress(await requestId(person), { acxiom: "completed" })).toMatchObject({ ok: false, code: "invalid_request" });
    expect(await recordProgress("nothing", {})).toMatchObject({ ok: false, code: "not_found" });
  });

  test("creates the affidavit once when two updates complete the removal at the same time", async () => {
    const person = await signInOnPlan();
    const id = await requestId(person);
    const outcomes = await Promise.all([recordProgress(id, { spokeo: "completed" }), recordProgress(id, { radaris: "completed" })]);
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, true]);
    expect((await person.get("/v1/me/removals")).body.data.removals[0].status).toBe("completed");
    const entries = await env.DB.prepare("SELECT COUNT(*) AS n FROM audit_entries WHERE entity_id = ? AND type = 'removal.completed'")
      .bind(id)
      .first<{ n: number }>();
    expect(entries?.n).toBe(1);
  });

  test("returns 409 affidavit_not_ready for a removal that every target rejected", async () => {
    const person = await signInOnPlan();
    const id = await requestId(person);
    await recordProgress(id, { spokeo: "rejected", radaris: "rejected" });
    expect((await person.get("/v1/me/removals")).body.data.removals[0]).toMatchObject({ status: "rejected", affidavit_url: null });
    expect(describeOutcome(await requestAffidavit(id, person))).toBe("409 affidavit_not_ready");
  });

  test("is erased with the account, as are the notes, and the operator can no longer update the removal", async () => {
    const person = await signInOnPlan();
    const [completedId, open] = [await requestId(person), (await request(person, { notes: "Also Patricia" })).body.data.id];
    await recordProgress(completedId, { spokeo: "completed", radaris: "completed" });
    await call("/v1/me", { method: "DELETE", headers: person.headers });
    const { results } = await env.DB.prepare("SELECT notes_sealed, affidavit_sealed FROM removals WHERE id IN (?, ?)")
      .bind(completedId, open)
      .all();
    expect(results).toEqual([
      { notes_sealed: null, affidavit_sealed: null },
      { notes_sealed: null, affidavit_sealed: null },
    ]);
    expect(await recordProgress(open, { spokeo: "completed" })).toMatchObject({ ok: false, code: "not_found" });
  });
});
