// Tests that the owner of an agent connection gets a single email, a week before the connection expires.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { dayMs } from "../../core/time.ts";
import { listExpiringConnections } from "../../storage/agent-tokens.ts";
import { openDatabase } from "../../storage/database.ts";
import { sendConnectionExpiryNotices } from "../../workers/background/connection-expiry-notices.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import { callTool, createToken } from "../support/agents.ts";
import { getAuthorizationCode, exchangeCode, buildForm, registerClient } from "../support/oauth-connection.ts";
import { listMailTo, signIn } from "../support/people.ts";
import { createPersonEmail } from "../support/sharing.ts";
import { call, world } from "../support/world.ts";

const subject = "Your assistant’s connection will end soon";
let startedAt = Date.now();
beforeEach(async () => {
  startedAt += 200 * dayMs; // longer than the lifetime of any other test's token
  vi.useFakeTimers({ toFake: ["Date"], now: startedAt });
  await env.DB.prepare("DELETE FROM agent_tokens").run();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Runs the job twice at the same time, as if the cron trigger had fired twice. */
const runMinuteAt = async (at: number): Promise<void> => {
  vi.setSystemTime(at);
  const platform = await getPlatform(env);
  await Promise.all([sendConnectionExpiryNotices(platform), sendConnectionExpiryNotices(platform)]);
};
const listWarningsTo = async (email: string) => (await listMailTo(email)).filter((mail) => mail.subject === subject);
const connectClient = async (session: { cookie: string }): Promise<string> => {
  const client = await registerClient({ client_name: "Kitchen helper" });
  return (await exchangeCode(await getAuthorizationCode(client, session), client)).body.access_token;
};

describe("an expiring connection", () => {
  test("sends a single email, a week before it expires, with a link to disconnect", async () => {
    const email = createPersonEmail();
    const token = await connectClient(await signIn(email, "consumer"));
    await runMinuteAt(startedAt + 83 * dayMs - 1_000);
    expect(await listWarningsTo(email)).toEqual([]);
    await runMinuteAt(startedAt + 83 * dayMs + 1_000);
    await runMinuteAt(startedAt + 85 * dayMs);
    const warnings = await listWarningsTo(email);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.text).toContain("Kitchen helper");
    expect(warnings[0]?.text).toContain(
      new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" }).format(startedAt + 90 * dayMs),
    );

    const { pathname, search } = new URL(/https?:\S+\/oauth\/end\/\S+/.exec(warnings[0]?.text ?? "")?.[0] ?? "http://none.test");
    expect((await call(`${pathname}${search}`)).status).toBe(200);
    expect((await callTool(token, "svc_list_shares")).status).toBe(200);
    expect((await call(`${pathname}${search}`, buildForm({}))).status).toBe(200);
    expect((await callTool(token, "svc_list_shares")).status).toBe(401);
  });

  test("sends the email, whose link works, even if its name or another connection's cannot be decrypted", async () => {
    const [damaged, other] = [createPersonEmail(), createPersonEmail()];
    const session = await signIn(damaged, "consumer");
    const token = await connectClient(session);
    await env.DB.prepare("UPDATE agent_tokens SET name_sealed = 'damaged'").run();
    expect((await call("/v1/me/agent-tokens", { headers: session })).body.data.agent_tokens).toMatchObject([{ name: null }]);
    await connectClient(await signIn(other, "consumer"));
    await runMinuteAt(startedAt + 84 * dayMs);
    const unnamed = expect.stringMatching(/^127\. ?0\. ?0\. ?1 will lose access/);
    const warnings = await listWarningsTo(damaged);
    expect(warnings.map(({ text }) => text)).toEqual([unnamed]);
    expect(await listWarningsTo(other)).toHaveLength(1);

    const { pathname, search } = new URL(/https?:\S+\/oauth\/end\/\S+/.exec(warnings[0]?.text ?? "")?.[0] ?? "http://none.test");
    expect((await call(`${pathname}${search}`)).status).toBe(200);
    expect((await callTool(token, "svc_list_shares")).status).toBe(200);
    expect((await call(`${pathname}${search}`, buildForm({}))).status).toBe(200);
    expect((await callTool(token, "svc_list_shares")).status).toBe(401);
  });

  test("sends the email even if the emails for a page of earlier connections cannot be written", async () => {
    const [damaged, other] = [createPersonEmail(), createPersonEmail()];
    await connectClient(await signIn(damaged, "consumer"));
    await env.DB.batch([
      env.DB.prepare("UPDATE consumers SET email_sealed = 'damaged' WHERE id = (SELECT principal_id FROM agent_tokens)"),
      env.DB.prepare(
        "INSERT INTO agent_tokens (id, token_hash, realm, principal_id, created_at, expires_at, source, client_id, redirect_host) SELECT 'tok_' || value, value, realm, principal_id, created_at, expires_at - value, source, client_id, redirect_host FROM agent_tokens, json_each(?)",
      ).bind(JSON.stringify(Array.from({ length: 50 }, (_, index) => index + 1))),
    ]);
    await connectClient(await signIn(other, "consumer"));
    await runMinuteAt(startedAt + 84 * dayMs);
    expect(await listWarningsTo(other)).toHaveLength(1);
  });

  test("is found even if more connections than one run reads expire earlier", async () => {
    const ids: string[] = [];
    for (const email of [createPersonEmail(), createPersonEmail()]) {
      const session = await signIn(email, "consumer");
      await connectClient(session);
      ids.push((await call("/v1/me/agent-tokens", { headers: session })).body.data.agent_tokens[0].id);
    }
    const { vault } = await getPlatform(env);
    const found = new Set<string>();
    // Each run reads one of the two connections at random, so a hundred runs are enough.
    for (let run = 0; run < 100 && found.size < 2; run += 1) {
      const due = await listExpiringConnections(openDatabase(env.DB), vault, { from: 0, until: startedAt + 100 * dayMs, max: 1 });
      for (const { id } of due) found.add(id);
    }
    expect([...found].toSorted()).toEqual(ids.toSorted());
  });

  test("sends the email to the member who made it", async () => {
    await connectClient(await signIn(world.ownerEmail));
    const before = (await listWarningsTo(world.ownerEmail)).length;
    await runMinuteAt(startedAt + 84 * dayMs);
    expect(await listWarningsTo(world.ownerEmail)).toHaveLength(before + 1);
  });
});

test("no email is sent for a connection that was ended, or for a token that a person created", async () => {
  const email = createPersonEmail();
  const session = await signIn(email, "consumer");
  await connectClient(session);
  const { id } = (await call("/v1/me/agent-tokens", { headers: session })).body.data.agent_tokens[0];
  expect((await call(`/v1/me/agent-tokens/${id}`, { method: "DELETE", headers: session })).status).toBe(200);
  await createToken("consumer");
  await runMinuteAt(startedAt + 84 * dayMs);
  expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM agent_tokens WHERE expiry_notified_at IS NOT NULL").first("n")).toBe(0);
  expect(await listWarningsTo(email)).toEqual([]);
});
