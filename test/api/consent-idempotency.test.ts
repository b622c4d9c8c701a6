// Tests that POST /v1/consent processes a submission once if it is repeated within 24 hours with the same Idempotency-Key header or the
// same submission_id in the body.
import { auditEntriesSql, statementsSql } from "../support/statements-sql.ts";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { dayMs, minuteMs } from "../../core/time.ts";
import { requestErasure } from "../support/erasure.ts";
import { createRandomKey } from "../support/note-keys.ts";
import {
  buildConsentRequest,
  buildSubmission,
  countRows,
  createServiceCall,
  getWithKey,
  readDatabaseContents,
  submitConsent,
  world,
  type TestResponse,
} from "../support/world.ts";

const isReplay = (response: TestResponse): boolean => response.headers.get("idempotency-replayed") === "true";
const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body?.error?.code ?? "issued"}`;
const uuid = "7d9f0b0e-6a37-4b0e-9a53-0f3f0f8f7a11";
let count = 0;
const createKey = (): string => {
  count += 1;
  return `key-${count}`;
};

afterEach(() => {
  vi.useRealTimers();
});

describe("a repeated submission", () => {
  test.each([
    ["Idempotency-Key", (key: string) => submitConsent(buildSubmission(), { "idempotency-key": key })],
    [
      "submission_id",
      (key: string) =>
        submitConsent({
          ...buildSubmission(),
          submission_id: `${uuid.slice(0, -4)}${key
            .slice(-4)
            .padStart(4, "0")
            .replace(/[^0-9]/g, "0")}`,
        }),
    ],
  ] as const)("by %s returns the same certificate, marked as replayed", async (_name, send) => {
    const key = createKey();
    const first = await send(key);
    const before = await countRows();
    const second = await send(key);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.data).toEqual(first.body.data);
    expect([isReplay(first), isReplay(second)]).toEqual([false, true]);
    expect(second.body.request_id).not.toBe(first.body.request_id);
    expect(await countRows()).toEqual(before);
  });

  test("may name its key in the header or the body, and a UUID in upper or lower case", async () => {
    const id = "abcdef11-2222-4333-8444-abcdefabcdef";
    const first = await submitConsent({ ...buildSubmission(), submission_id: id.toUpperCase() });
    const second = await submitConsent(buildSubmission(), { "idempotency-key": id });
    expect(second.body.data.cert_id).toBe(first.body.data.cert_id);
    expect(isReplay(second)).toBe(true);
  });

  test("is identified by the header if it also has a submission_id", async () => {
    const body = { ...buildSubmission(), submission_id: crypto.randomUUID() };
    const submit = (key: string) => submitConsent(body, { "idempotency-key": key });
    const first = (await submit("header-key-1")).body.data.cert_id;
    expect((await submit("header-key-1")).body.data.cert_id).toBe(first);
    expect((await submit("header-key-2")).body.data.cert_id).not.toBe(first);
  });

  test("may differ in evidence that a retry changes", async () => {
    const key = { "idempotency-key": createKey() };
    const first = await submitConsent({ ...buildSubmission(), client_time: "10:00:00", referrer: "https://a.example/" }, key);
    const second = await submitConsent(
      { ...buildSubmission(), client_time: "10:00:03", referrer: null, widget: { version: "1.0.0" }, unknown: 1 },
      { ...key, "cf-connecting-ip": "203.0.113.99", "user-agent": "another" },
    );
    expect(second.body.data).toEqual(first.body.data);
  });

  test("may differ in spelling if both are stored in the same form", async () => {
    const key = { "idempotency-key": createKey() };
    const original = buildSubmission();
    const first = await submitConsent(original, key);
    const second = await submitConsent(
      {
        ...original,
        purpose: ` ${original.purpose}\t`,
        entities: [...original.entities, ...original.entities].reverse(),
        fields: Object.fromEntries(Object.entries(original.fields).reverse()),
      },
      key,
    );
    expect(second.body.data).toEqual(first.body.data);
  });

  test.each<readonly [string, Record<string, unknown>]>([
    ["another field value", { fields: { ...buildSubmission().fields, first_name: "Pam" } }],
    ["one field more", { fields: { ...buildSubmission().fields, last_name: "" } }],
    ["another disclosure", { disclosure_text: `${buildSubmission().disclosure_text} ` }],
    ["another recipient", { entities: ["Acme Solar LLC"] }],
    ["another purpose", { purpose: "Solar quote follow-up" }],
    ["another page", { page_url: "https://www.example.com/quote?utm=2" }],
    ["a choice of recipients where there was none", { entities_accepted: [], entities_rejected: [] }],
  ])("with %s returns 409 idempotency_conflict", async (_name, change) => {
    const key = { "idempotency-key": createKey() };
    expect(describeOutcome(await submitConsent(buildSubmission(), key))).toBe("201 issued");
    const before = await countRows();
    expect(describeOutcome(await submitConsent({ ...buildSubmission(), ...change }, key))).toBe("409 idempotency_conflict");
    expect(await countRows()).toEqual(before);
    const repeated = await submitConsent(buildSubmission(), key);
    expect([repeated.status, isReplay(repeated)]).toEqual([201, true]);
  });

  test("matches only within its client", async () => {
    const key = { "idempotency-key": createKey() };
    const first = await submitConsent(buildSubmission(), key);
    const sandbox = await submitConsent({ ...buildSubmission(), client_id: world.acme.clients.sandbox }, key);
    const other = await submitConsent(
      { ...buildSubmission(world.other), page_url: "https://other.example/" },
      { ...key, origin: "https://other.example" },
    );
    expect([first.status, sandbox.status, other.status]).toEqual([201, 201, 201]);
    expect(new Set([first, sandbox, other].map(({ body }) => body.data.cert_id)).size).toBe(3);
    expect([sandbox, other].some(isReplay)).toBe(false);
  });

  test("is not replayed to an API key of another business", async () => {
    const key = { "idempotency-key": createKey() };
    await submitConsent(buildSubmission(), key);
    expect(describeOutcome(await submitConsent(buildSubmission(), { ...key, authorization: `Bearer ${world.other.keys.live}` }))).toBe(
      "403 forbidden",
    );
  });

  test("can use its key after the first request was refused", async () => {
    const key = { "idempotency-key": createKey() };
    expect(describeOutcome(await submitConsent({ ...buildSubmission(), purpose: "" }, key))).toBe("400 invalid_request");
    expect(describeOutcome(await submitConsent(buildSubmission(), { ...key, origin: "https://evil.com" }))).toBe("403 origin_not_verified");
    const response = await submitConsent(buildSubmission(), key);
    expect([response.status, isReplay(response)]).toEqual([201, false]);
  });

  test("returns the stored response, and the certificate verifies, even while the account is past due", async () => {
    const key = { "idempotency-key": createKey() };
    const body = { ...buildSubmission(world.other), page_url: "https://other.example/" };
    const first = await submitConsent(body, { ...key, origin: "https://other.example" });
    await env.DB.prepare("UPDATE businesses SET status = 'past_due' WHERE id = ?").bind(world.other.id).run();
    const second = await submitConsent(body, { ...key, origin: "https://other.example" });
    await env.DB.prepare("UPDATE businesses SET status = 'active' WHERE id = ?").bind(world.other.id).run();
    expect(second.body.data).toEqual(first.body.data);
    expect((await getWithKey(`/v1/certs/${first.body.data.cert_id}/verify`)).status).toBe(200);
  });

  test("matches for 24 hours and not longer", async () => {
    const key = { "idempotency-key": createKey() };
    const start = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: start });
    const first = await submitConsent(buildSubmission(), key);
    vi.setSystemTime(start + dayMs - minuteMs);
    expect(isReplay(await submitConsent(buildSubmission(), key))).toBe(true);
    vi.setSystemTime(start + dayMs + minuteMs);
    const changed = await submitConsent({ ...buildSubmission(), purpose: "another purpose" }, key);
    expect([changed.status, isReplay(changed)]).toEqual([201, false]);
    expect(changed.body.data.cert_id).not.toBe(first.body.data.cert_id);
    expect(isReplay(await submitConsent({ ...buildSubmission(), purpose: "another purpose" }, key))).toBe(true);
  });

  test.each([50, 50])("sent %i times at once with one key creates one certificate", async (times) => {
    const key = { "idempotency-key": createKey() };
    const countIssued = () =>
      env.DB.prepare(
        `SELECT (SELECT COUNT(*) FROM certificates) AS certificates, (SELECT COUNT(*) FROM ${auditEntriesSql}) AS entries,
           (SELECT COUNT(*) FROM ${statementsSql}) AS statements`,
      ).first<Record<string, number>>();
    const before = await countIssued();
    const responses = await Promise.all(Array.from({ length: times }, () => submitConsent(buildSubmission(), key)));
    const issued = responses.filter(({ status }) => status === 201);
    expect(new Set(responses.map(describeOutcome))).toEqual(new Set(["201 issued"]));
    expect(new Set(issued.map(({ body }) => JSON.stringify(body.data))).size).toBe(1);
    expect(issued.filter((response) => !isReplay(response))).toHaveLength(1);
    const after = (await countIssued()) ?? {};
    expect(Object.entries(after).map(([name, rows]) => rows - (before?.[name] ?? 0))).toEqual([1, 1, 1]);
  });

  test("sent 50 times at once with one key and two bodies creates one certificate and conflicts", async () => {
    const key = { "idempotency-key": createKey() };
    const before = await countRows();
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        submitConsent(at % 2 === 0 ? buildSubmission() : { ...buildSubmission(), purpose: "another purpose" }, key),
      ),
    );
    expect(new Set(responses.map(describeOutcome))).toEqual(new Set(["201 issued", "409 idempotency_conflict"]));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(25);
    expect(new Set(responses.filter(({ status }) => status === 201).map(({ body }) => body.data.cert_id)).size).toBe(1);
    expect((await countRows()).certificates).toBe((before.certificates ?? 0) + 1);
  });

  test("stores neither its key nor its withdrawal link in the clear", async () => {
    const key = `secret-key-${createKey()}`;
    const { manage_url } = (await submitConsent(buildSubmission(), { "idempotency-key": key })).body.data;
    const stored = JSON.stringify(await readDatabaseContents());
    for (const marker of [key, String(manage_url).split("#m=")[1] as string]) expect(stored).not.toContain(marker);
  });

  test("is recognized across midnight, and after its key was used again", async () => {
    const key = { "idempotency-key": createKey() };
    const midnight = Math.ceil(Date.now() / dayMs) * dayMs;
    vi.useFakeTimers({ toFake: ["Date"], now: midnight - minuteMs });
    const first = await submitConsent(buildSubmission(), key);
    const sendAt = async (at: number): Promise<TestResponse> => {
      vi.setSystemTime(at);
      return submitConsent(buildSubmission(), key);
    };
    const replays = [await sendAt(midnight + minuteMs)];
    const second = await sendAt(midnight + 2 * dayMs - minuteMs);
    replays.push(await sendAt(midnight + 2 * dayMs + minuteMs));
    const third = await sendAt(midnight + 3 * dayMs + minuteMs);
    replays.push(await sendAt(midnight + 3 * dayMs + 2 * minuteMs));
    expect([first, second, third].map(isReplay)).toEqual([false, false, false]);
    expect(new Set([first, second, third].map(({ body }) => body.data.cert_id)).size).toBe(3);
    expect(replays.map(isReplay)).toEqual([true, true, true]);
    expect(replays.map(({ body }) => body.data)).toEqual([first, second, third].map(({ body }) => body.data));
  });

  test("is a new submission once the first submission's person is erased", async () => {
    const key = { "idempotency-key": createKey() };
    const first = await submitConsent(buildSubmission(), key);
    expect((await requestErasure(first.body.data.cert_id)).status).toBe(200);
    const second = await submitConsent(buildSubmission(), key);
    expect([second.status, isReplay(second)]).toEqual([201, false]);
    expect(second.body.data.cert_id).not.toBe(first.body.data.cert_id);
    const repeated = await submitConsent(buildSubmission(), key);
    expect([repeated.body.data, isReplay(repeated)]).toEqual([second.body.data, true]);
  });

  test("gets the same receipt even if the master key has changed", async () => {
    const key = { "idempotency-key": createKey() };
    const first = await submitConsent(buildSubmission(), key);
    const rotated = createServiceCall({
      MASTER_KEYS: `${String(Reflect.get(env, "MASTER_KEYS"))},2:${createRandomKey(8)}`,
    });
    const second = await rotated("/v1/consent", buildConsentRequest(buildSubmission(), key));
    expect([second.body.data, isReplay(second)]).toEqual([first.body.data, true]);
  });
});

describe("C19: a stranger with the client id", () => {
  const server = { authorization: `Bearer ${world.acme.keys.live}` };

  test("neither occupies the key of the business's server nor receives its response", async () => {
    const key = { "idempotency-key": createKey() };
    const squatted = await submitConsent({ ...buildSubmission(), purpose: "squatted" }, key);
    const serverResponse = await submitConsent(buildSubmission(), { ...key, ...server });
    expect([describeOutcome(squatted), describeOutcome(serverResponse), isReplay(serverResponse)]).toEqual([
      "201 issued",
      "201 issued",
      false,
    ]);
    const response = await submitConsent(buildSubmission(), key);
    expect(describeOutcome(response)).toBe("409 idempotency_conflict"); // the conflict is with the stranger's own earlier submission
    const repeated = await submitConsent(buildSubmission(), { ...key, ...server });
    expect([repeated.body.data, isReplay(repeated)]).toEqual([serverResponse.body.data, true]);
  });

  test("receives no stored response from another site, verified or not", async () => {
    const key = { "idempotency-key": createKey() };
    const ownResponse = await submitConsent(buildSubmission(), key);
    expect(describeOutcome(await submitConsent(buildSubmission(), { ...key, origin: "https://evil.com" }))).toBe("403 origin_not_verified");
    const sibling = await submitConsent(buildSubmission(), { ...key, origin: "https://shop.example.com" });
    expect([sibling.status, isReplay(sibling)]).toEqual([201, false]);
    expect(sibling.text).not.toContain(String(ownResponse.body.data.manage_url).split("#m=")[1]);
    const same = await submitConsent(buildSubmission(), key);
    expect([same.body.data, isReplay(same)]).toEqual([ownResponse.body.data, true]);
  });

  test("receives no stored response from a site that is no longer verified, with or without the API key", async () => {
    for (const credential of [{}, server]) {
      const key = { ...credential, "idempotency-key": createKey(), origin: "https://shop.example.com" };
      expect(describeOutcome(await submitConsent(buildSubmission(), key))).toBe("201 issued");
      const move = env.DB.prepare("UPDATE domains SET method = ? WHERE domain = 'example.com' AND business_id = ?");
      await move.bind("meta", world.acme.id).run();
      try {
        expect(describeOutcome(await submitConsent(buildSubmission(), key))).toBe("403 origin_not_verified");
      } finally {
        await move.bind("dns", world.acme.id).run();
      }
    }
  });
});
