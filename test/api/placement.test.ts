// Tests which shard an account is created in if a deployment has several shards, and how an operator lists, closes and opens shards.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { shardOfId } from "../../core/ids.ts";
import { buildJsonRequest, findEmailCode, getCookie, requestEmailCode, submitEmailCode } from "../support/people.ts";
import { call, createServiceCall, type TestResponse } from "../support/world.ts";

const token = "token-of-the-operator-in-the-tests-of-43-ch";
const operator = createServiceCall({ ADMIN_TOKEN_SHA256: sha256Hex(token) });
const bearer = { authorization: `Bearer ${token}` };
const setState = (shard: string, state: unknown): Promise<TestResponse> =>
  operator(`/v1/admin/shards/${shard}`, buildJsonRequest({ state }, bearer));
const forgetShards = () => env.DB.exec("DELETE FROM shard_registry");

beforeEach(forgetShards);
afterEach(forgetShards);

const createAddress = (): string => `placed.${crypto.randomUUID()}@example.com`;
const enterCode = async (email: string, realm: "consumer" | "business"): Promise<TestResponse> =>
  submitEmailCode(email, await findEmailCode(email), realm);
const readConsumerId = async (response: TestResponse): Promise<string> =>
  (await call("/v1/auth/session", { headers: { cookie: getCookie(response) } })).body.data.id;

describe("a new account", () => {
  test("is created in the first shard while all shards are open and about equally empty", async () => {
    const email = createAddress();
    await requestEmailCode(email, "consumer");
    expect(shardOfId(await readConsumerId(await enterCode(email, "consumer")))).toBe("00");
  });

  test("of a person is created in another shard when the first one is closed", async () => {
    await setState("00", "closed");
    const email = createAddress();
    await requestEmailCode(email, "consumer");
    const id = await readConsumerId(await enterCode(email, "consumer"));
    expect(shardOfId(id)).toBe("01");
    expect(await env.DB_01.prepare("SELECT COUNT(*) AS n FROM consumers WHERE id = ?").bind(id).first("n")).toBe(1);
  });

  test("of a business is created in another shard when the first one is 70% full", async () => {
    await env.DB.exec("INSERT INTO shard_registry (shard, bytes) VALUES ('00', 7000000000)");
    const email = createAddress();
    const signUp = { business_name: "Solar & Sons", email, country: "US" };
    const { status, body } = await call("/v1/business/signup", buildJsonRequest(signUp));
    expect([status, shardOfId(body.data.business.id)]).toEqual([201, "01"]);
    expect((await enterCode(email, "business")).status).toBe(200);
    expect(await env.DB_01.prepare("SELECT COUNT(*) AS n FROM businesses WHERE id = ?").bind(body.data.business.id).first("n")).toBe(1);
  });

  test("is created where its code was requested, even if that shard is closed before the code is entered", async () => {
    await setState("00", "closed");
    const email = createAddress();
    await requestEmailCode(email, "consumer");
    await setState("00", "open");
    await setState("01", "closed");
    expect(shardOfId(await readConsumerId(await enterCode(email, "consumer")))).toBe("01");
  });
});

describe("an existing account", () => {
  test("in a shard that is closed later signs in as before", async () => {
    const email = createAddress();
    await requestEmailCode(email, "consumer");
    const id = await readConsumerId(await enterCode(email, "consumer"));
    await env.DB.prepare("DELETE FROM email_codes").run(); // without this, another code could be requested only after a minute
    await setState("00", "closed");
    await requestEmailCode(email, "consumer");
    expect(await readConsumerId(await enterCode(email, "consumer"))).toBe(id);
  });
});

describe("/v1/admin/shards", () => {
  test("lists every shard with its state, size and limit, and the one in which the next account is created", async () => {
    await setState("00", "closed");
    const { body } = await operator("/v1/admin/shards", { headers: bearer });
    expect(body.data).toEqual([
      { shard: "00", state: "closed", bytes: expect.any(Number), max_bytes: 10_000_000_000, next: false, available: true },
      { shard: "01", state: "open", bytes: expect.any(Number), max_bytes: 10_000_000_000, next: true, available: true },
    ]);
    for (const { bytes } of body.data) expect(bytes).toBeGreaterThan(10_000);
  });

  test("closes and opens a shard, and refuses one without a database, an unknown state and a malformed shard", async () => {
    expect((await setState("01", "closed")).body.data).toEqual({ shard: "01", state: "closed" });
    expect((await setState("01", "open")).body.data).toEqual({ shard: "01", state: "open" });
    expect((await setState("0a", "closed")).status).toBe(404);
    expect((await setState("01", "sealed")).status).toBe(400);
    expect((await setState("1", "closed")).status).toBe(404);
    expect((await operator("/v1/admin/shards")).status).toBe(401);
    expect((await call("/v1/admin/shards", { headers: bearer })).status).toBe(404);
  });
});
