// Tests agent tokens through the API: who can create, list and revoke them, and when they stop working.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { deleteExpired } from "../../workers/background/expiry-sweep.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import { callTool, createToken, createTokenWith, callMethod } from "../support/agents.ts";
import { signIn } from "../support/people.ts";
import { call, readDatabaseContents, getWithKey, countRows, createServiceCall, world, type TestResponse } from "../support/world.ts";

const dayMs = 86_400_000;
const ownPath = "/v1/me/agent-tokens";
const portalPath = "/v1/business/portal/agent-tokens";

let clock = Date.now();
// The tests create more tokens per minute than the per-person limit allows, so each test starts two minutes after the previous one.
beforeEach(async () => {
  clock += 120_000;
  vi.useFakeTimers({ toFake: ["Date"], now: clock });
  await env.DB.prepare("DELETE FROM agent_tokens").run();
});
afterEach(() => {
  vi.useRealTimers();
});

type Session = { readonly cookie: string };
const signInAsPat = (): Promise<Session> => signIn(world.consumerEmail, "consumer");
const signInAsOwner = (): Promise<Session> => signIn(world.ownerEmail);
const signInAsMember = (): Promise<Session> => signIn(world.memberEmail);
const remove = (path: string, headers: Record<string, string>): Promise<TestResponse> => call(path, { method: "DELETE", headers });
const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body?.error?.code ?? "ok"}`;
const pingWithToken = async (token: string): Promise<number> => (await callMethod(token, "ping")).status;
/** Returns the audit entries of one type with their payloads, newest first. */
const listEntries = async (path: string, session: Session, type: string) => {
  const { entries } = (await call(path, { headers: session })).body.data as {
    entries: { type: string; entity_id: string; payload: object }[];
  };
  return entries.filter((entry) => entry.type === type).map(({ entity_id, payload }) => ({ entity_id, payload }));
};

describe("an agent token", () => {
  test("is shown once, and is valid for 90 days and one realm", async () => {
    const response = await createTokenWith("consumer", await signInAsPat(), { name: "  Claude on my laptop " });
    expect(response.status).toBe(201);
    const { id, token, realm, name, created_at, expires_at } = response.body.data;
    expect(Object.keys(response.body.data).sort()).toEqual(["created_at", "expires_at", "id", "name", "realm", "token"]);
    expect([id, token]).toEqual([
      expect.stringMatching(/^tok_00[0-9a-hjkmnp-tv-z]{24}$/),
      expect.stringMatching(/^pat_00[A-Za-z0-9_-]{43}$/),
    ]);
    expect([realm, name]).toEqual(["consumer", "Claude on my laptop"]);
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(90 * dayMs);
    const listed = await call(ownPath, { headers: await signInAsPat() });
    expect(listed.body.data).toEqual({
      agent_tokens: [{ id, realm, name, created_at, expires_at, last_used_at: null, source: "minted", client: null, redirect_host: null }],
    });
    expect(await pingWithToken(token)).toBe(200);
  });

  test("needs no name and no body, and refuses an invalid name", async () => {
    const session = await signInAsPat();
    expect((await call("/v1/me/agent-token", { method: "POST", headers: session })).body.data.name).toBeNull();
    expect((await createTokenWith("consumer", session, { name: null })).body.data.name).toBeNull();
    for (const name of ["x".repeat(81), "a\u202eb", "a\nb", 7, {}])
      expect(describeOutcome(await createTokenWith("consumer", session, { name }))).toBe("400 invalid_request");
    expect((await createTokenWith("consumer", session, { name: "x".repeat(80) })).status).toBe(201);
  });

  test("is stored as a hash only, with its name encrypted", async () => {
    const response = await createTokenWith("consumer", await signInAsPat(), { name: "zqnamezq of a token" });
    const stored = Object.values(await readDatabaseContents()).join("\n");
    expect(stored).toContain(sha256Hex(response.body.data.token));
    expect(stored).not.toContain(response.body.data.token.slice(6));
    expect(stored).not.toContain("zqnamezq");
  });

  test("has a last-used date, precise to the day, that only tool calls update", async () => {
    const { token } = await createToken("consumer");
    const readLastUsed = async () => (await call(ownPath, { headers: await signInAsPat() })).body.data.agent_tokens[0].last_used_at;
    await callMethod(token, "tools/list");
    expect(await readLastUsed()).toBeNull();
    const before = new Date().toISOString().slice(0, 10);
    await callTool(token, "svc_get_audit");
    expect([before, new Date().toISOString().slice(0, 10)]).toContain(await readLastUsed());
  });

  test("is created once when the request is repeated with the same idempotency key", async () => {
    const session = { ...(await signInAsPat()), "idempotency-key": crypto.randomUUID() };
    const first = await createTokenWith("consumer", session);
    const repeated = await createTokenWith("consumer", session);
    expect(repeated.body.data).toEqual(first.body.data);
    expect(await countRows(["agent_tokens"])).toEqual({ agent_tokens: 1 });
  });
});

describe("the limit of ten active agent tokens", () => {
  test("holds for any number of concurrent requests", async () => {
    const session = await signInAsPat();
    const responses = await Promise.all(Array.from({ length: 30 }, () => createTokenWith("consumer", session)));
    expect(responses.map(describeOutcome).sort()).toEqual([...Array(10).fill("201 ok"), ...Array(20).fill("409 token_limit")]);
    expect(await countRows(["agent_tokens"])).toEqual({ agent_tokens: 10 });
    const minted = await env.DB.prepare(
      "SELECT COUNT(*) AS n FROM audit_entries WHERE type = 'agent_token.minted' AND entity_id IN (SELECT id FROM agent_tokens)",
    ).first("n");
    expect(minted).toBe(10);
  });

  test("is counted per person, and revoking a token allows another one", async () => {
    const session = await signInAsOwner();
    const responses: TestResponse[] = [];
    for (let at = 0; at < 11; at += 1) responses.push(await createTokenWith("business", session));
    expect(describeOutcome(responses[10] as TestResponse)).toBe("409 token_limit");
    expect((await createTokenWith("business", await signInAsMember())).status).toBe(201);
    await remove(`${portalPath}/${responses[0]?.body.data.id}`, session);
    expect((await createTokenWith("business", session)).status).toBe(201);
    expect(describeOutcome(await createTokenWith("business", session))).toBe("409 token_limit");
  });
});

describe("permissions on agent tokens", () => {
  test("let consumers and members create and list tokens in their own realm only", async () => {
    for (const [path, session] of [
      ["/v1/me/agent-token", await signInAsOwner()],
      ["/v1/business/portal/agent-token", await signInAsPat()],
    ] as const)
      expect(describeOutcome(await call(path, { method: "POST", headers: session }))).toBe("403 forbidden");
    for (const [path, session] of [
      [ownPath, await signInAsOwner()],
      [portalPath, await signInAsPat()],
    ] as const)
      expect(describeOutcome(await call(path, { headers: session }))).toBe("403 forbidden");
  });

  test("refuse creating and revoking from a page of another site with 403 csrf_failed", async () => {
    const { id, token } = await createToken("consumer");
    const forged = { ...(await signInAsPat()), origin: "https://evil.example" };
    expect(describeOutcome(await createTokenWith("consumer", forged))).toBe("403 csrf_failed");
    expect(describeOutcome(await remove(`${ownPath}/${id}`, forged))).toBe("403 csrf_failed");
    expect(await pingWithToken(token)).toBe(200);
  });

  test("show all tokens of the business to every member; a member can revoke their own, and an owner any", async () => {
    const owned = await createToken("business");
    const ofMember = await createToken("business", world.memberEmail);
    for (const session of [await signInAsOwner(), await signInAsMember()]) {
      const { agent_tokens: listed } = (await call(portalPath, { headers: session })).body.data;
      expect(listed.map(({ id }: { id: string }) => id).sort()).toEqual([owned.id, ofMember.id].sort());
      expect(listed.every(({ member_id }: { member_id: string }) => member_id.startsWith("mem_"))).toBe(true);
    }
    expect(describeOutcome(await remove(`${portalPath}/${owned.id}`, await signInAsMember()))).toBe("403 owner_required");
    expect(await pingWithToken(owned.token)).toBe(200);
    expect((await remove(`${portalPath}/${ofMember.id}`, await signInAsOwner())).body.data).toEqual({ revoked: true, id: ofMember.id });
    expect(await pingWithToken(ofMember.token)).toBe(401);
    expect((await call(portalPath, { headers: await signInAsMember() })).body.data.agent_tokens).toHaveLength(1);
  });

  test("return the same 404 for another person's token as for an unknown or revoked one", async () => {
    const ownToken = await createToken("consumer");
    const business = await createToken("business");
    const strangers = await signIn("stranger@example.com", "consumer");
    const others = await signIn(world.otherOwnerEmail);
    const nowhere = "tok_00000000000000000000000000";
    const responses = [
      await remove(`${ownPath}/${ownToken.id}`, strangers),
      await remove(`${ownPath}/${nowhere}`, strangers),
      await remove(`${ownPath}/x`, strangers),
      await remove(`${ownPath}/${business.id}`, await signInAsPat()),
      await remove(`${portalPath}/${business.id}`, others),
      await remove(`${portalPath}/${ownToken.id}`, await signInAsOwner()),
    ];
    expect(new Set(responses.map(({ text, body }) => text.replace(body.request_id, ""))).size).toBe(1);
    expect(describeOutcome(responses[0] as TestResponse)).toBe("404 not_found");
    expect([await pingWithToken(ownToken.token), await pingWithToken(business.token)]).toEqual([200, 200]);
    expect((await call(ownPath, { headers: strangers })).body.data.agent_tokens).toEqual([]);
    await remove(`${ownPath}/${ownToken.id}`, await signInAsPat());
    expect(describeOutcome(await remove(`${ownPath}/${ownToken.id}`, await signInAsPat()))).toBe("404 not_found");
  });

  test("refuse changes while the business is past due, and reads as well while it is suspended or closed", async () => {
    const session = await signInAsOwner();
    const { id } = await createToken("business");
    for (const [status, written, read] of [
      ["past_due", "402 subscription_past_due", "200 ok"],
      ["suspended", "402 business_suspended", "402 business_suspended"],
      ["closed", "402 business_inactive", "402 business_inactive"],
    ] as const) {
      await env.DB.prepare("UPDATE businesses SET status = ? WHERE id = ?").bind(status, world.acme.id).run();
      const responses = [
        await createTokenWith("business", session),
        await remove(`${portalPath}/${id}`, session),
        await call(portalPath, { headers: session }),
      ];
      expect(responses.map(describeOutcome)).toEqual([written, written, read]);
    }
    await env.DB.prepare("UPDATE businesses SET status = 'active' WHERE id = ?").bind(world.acme.id).run();
  });
});

describe("an agent token stops working at the next request", () => {
  test("after it is revoked, with one audit entry for any number of concurrent revocations", async () => {
    const { id, token } = await createToken("consumer");
    const session = await signInAsPat();
    const ended = await Promise.all(Array.from({ length: 10 }, () => remove(`${ownPath}/${id}`, session)));
    expect(ended.map(({ status }) => status)).toContain(200);
    expect(await pingWithToken(token)).toBe(401);
    const entries = await env.DB.prepare("SELECT COUNT(*) AS n FROM audit_entries WHERE type = 'agent_token.revoked' AND entity_id = ?")
      .bind(id)
      .first("n");
    expect(entries).toBe(1);
  });

  test("after 90 days, to the millisecond, and the next sweep deletes its row", async () => {
    const { token } = await createToken("consumer");
    const expires = (await env.DB.prepare("SELECT expires_at FROM agent_tokens").first("expires_at")) as number;
    vi.useFakeTimers({ toFake: ["Date"], now: expires - 1 });
    expect(await pingWithToken(token)).toBe(200);
    vi.setSystemTime(expires);
    expect(await pingWithToken(token)).toBe(401);
    await deleteExpired(await getPlatform(env));
    expect(await countRows(["agent_tokens"])).toEqual({ agent_tokens: 0 });
  });

  test("after the person is deleted or leaves the business", async () => {
    await signIn("leaving@example.com", "consumer");
    const consumer = await createToken("consumer", "leaving@example.com");
    const memberToken = await createToken("business", world.memberEmail);
    const owned = await createToken("business");
    const readPrincipalId = (id: string) =>
      env.DB.prepare("SELECT principal_id FROM agent_tokens WHERE id = ?").bind(id).first<string>("principal_id");
    await env.DB.prepare("DELETE FROM consumers WHERE id = ?")
      .bind(await readPrincipalId(consumer.id))
      .run();
    const memberId = await readPrincipalId(memberToken.id);
    await env.DB.prepare("UPDATE members SET business_id = ? WHERE id = ?").bind(world.other.id, memberId).run();
    expect([await pingWithToken(consumer.token), await pingWithToken(memberToken.token), await pingWithToken(owned.token)]).toEqual([
      401, 401, 200,
    ]);
    await env.DB.prepare("UPDATE members SET business_id = ? WHERE id = ?").bind(world.acme.id, memberId).run();
  });

  test("after the person's account is erased", async () => {
    await signIn("erased@example.com", "consumer");
    const { id, token } = await createToken("consumer", "erased@example.com");
    await env.DB.prepare("UPDATE consumers SET erased_at = 1 WHERE id = (SELECT principal_id FROM agent_tokens WHERE id = ?)")
      .bind(id)
      .run();
    expect(await pingWithToken(token)).toBe(401);
  });

  test("while the business is suspended, closed or pending; it can still read while the business is past due", async () => {
    const { token } = await createToken("business");
    const statuses: Record<string, number> = {};
    for (const status of ["suspended", "closed", "pending", "past_due", "active"]) {
      await env.DB.prepare("UPDATE businesses SET status = ? WHERE id = ?").bind(status, world.acme.id).run();
      statuses[status] = await pingWithToken(token);
    }
    expect(statuses).toEqual({ suspended: 401, closed: 401, pending: 401, past_due: 200, active: 200 });
  });
});

describe("the audit trail of agent tokens", () => {
  test("records for a consumer when a token was created, used and revoked, but not its name", async () => {
    const { id, token } = await createToken("consumer");
    await callTool(token, "svc_get_audit");
    const other = await createToken("consumer");
    await remove(`${ownPath}/${id}`, await signInAsPat());
    const { text } = (await callTool(other.token, "svc_get_audit", { limit: 100 })).body.result.content[0];
    const entries = (JSON.parse(text).entries as { type: string; entity_id: string; payload: Record<string, unknown> }[]).filter(
      (entry) => entry.entity_id === id,
    );
    expect(entries.map(({ type }) => type)).toEqual(["agent_token.revoked", "agent.called", "agent_token.minted"]);
    expect(entries[1]?.payload).toEqual({ actor: `agent:${id}`, tool: "svc_get_audit", outcome: "done", arguments: [] });
    expect(Object.keys(entries[2]?.payload ?? {}).sort()).toEqual(["actor", "expires_at"]);
  });

  test("records for a business who created and who revoked a token", async () => {
    const { id } = await createToken("business", world.memberEmail);
    await remove(`${portalPath}/${id}`, await signInAsOwner());
    const path = "/v1/business/portal/audit?limit=50";
    const [mintedEntry] = await listEntries(path, await signInAsOwner(), "agent_token.minted");
    const [gone] = await listEntries(path, await signInAsOwner(), "agent_token.revoked");
    expect([mintedEntry?.entity_id, gone?.entity_id]).toEqual([id, id]);
    const actors = [mintedEntry, gone].map((entry) => JSON.stringify(entry?.payload).match(/mem_\w+/)?.[0]);
    expect(new Set(actors).size).toBe(2);
  });
});

describe("the rate limit of /mcp", () => {
  test("is exactly 120 requests per minute per token, with Retry-After", async () => {
    const start = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: start });
    const { token } = await createToken("consumer");
    const other = await createToken("consumer");
    const responses = await Promise.all(Array.from({ length: 200 }, () => callMethod(token, "ping")));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(120);
    for (const { status, headers, body } of responses.filter(({ status }) => status !== 200))
      expect([status, body.error.code, body.id, headers.get("retry-after")]).toEqual([429, -32029, 1, "60"]);
    expect(await pingWithToken(other.token)).toBe(200);
    vi.setSystemTime(start + 59_999);
    expect((await callMethod(token, "ping")).headers.get("retry-after")).toBe("1");
    vi.setSystemTime(start + 60_000);
    expect(await pingWithToken(token)).toBe(200);
  });

  test("counts each message of a batch before any runs, and accepts all of them or none", async () => {
    const { token } = await createToken("consumer");
    const sendBatch = (count: number) =>
      call("/mcp", {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify(Array.from({ length: count }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" }))),
      });
    const statuses: number[] = [];
    for (const count of [20, 20, 20, 20, 20, 19, 2, 1, 1]) statuses.push((await sendBatch(count)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 200, 429]);
  });

  test("allows 60 unknown tokens per minute per address, and valid tokens never count", async () => {
    const service = createServiceCall({ DEV_RATE_SCALE: "1" });
    const { token } = await createToken("consumer");
    const from = { "cf-connecting-ip": "203.0.113.99" };
    const send = (secret: string) =>
      service("/mcp", {
        method: "POST",
        headers: { authorization: `Bearer ${secret}`, ...from },
        body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      });
    expect((await send(token)).status).toBe(200);
    const guesses: number[] = [];
    for (let at = 0; at < 61; at += 1) guesses.push((await send(`pat_00${String(at).padStart(43, "A")}`)).status);
    expect(guesses.filter((status) => status === 401)).toHaveLength(60);
    expect(guesses.at(-1)).toBe(429);
    expect((await send(token)).status).toBe(200);
    expect((await send("pat_00tooshort")).status).toBe(401);
  });
});

describe("POST /v1/me/agent-token and /v1/business/portal/agent-token", () => {
  test("return 401 for an API key", async () => {
    for (const path of ["/v1/me/agent-token", "/v1/business/portal/agent-token"])
      expect((await call(path, { method: "POST", headers: { authorization: `Bearer ${world.acme.keys.live}` } })).status).toBe(401);
    expect((await getWithKey(portalPath, world.acme.keys.live)).status).toBe(401);
  });
});
