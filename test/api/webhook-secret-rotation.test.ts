// Tests how the operator replaces the signing secrets of webhook endpoints (POST /v1/admin/keys/webhook).
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { verifySignature } from "../../core/webhooks/verify-signature.ts";
import { getEventSequenceName } from "../../core/events/event-sequence-name.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { eventSequences, farAhead, mockReceivers, type ReceivedPost } from "../support/events.ts";
import { buildJsonRequest, listMailTo, signIn } from "../support/people.ts";
import { call, createServiceCall, world, type TestResponse } from "../support/world.ts";

const token = "token-of-the-operator-in-the-tests-of-43-ch";
const service = createServiceCall({ ADMIN_TOKEN_SHA256: sha256Hex(token) });
const bearer = { authorization: `Bearer ${token}` };
const route = "/v1/admin/keys/webhook";
const day = 24 * 3_600_000;
const { acme, other, ownerEmail, otherOwnerEmail } = world;

interface Endpoint {
  readonly id: string;
  readonly secret: string;
}
interface Total {
  readonly before: string;
  readonly replaced: number;
  readonly outdated: number;
  readonly earlierUntil: string | null;
}

/** Each test starts days after the previous one, so the limits that earlier tests used up have been reset. */
let start = farAhead;
let posts: ReceivedPost[] = [];

beforeEach(async () => {
  start += 100 * day;
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(start);
  posts = mockReceivers(() => new Response(null, { status: 200 }));
  for (const business of [acme.id, other.id])
    for (const name of [business, getEventSequenceName(business, "sandbox")])
      for (const { endpoint } of await eventSequences.getByName(name).listEndpoints())
        await eventSequences.getByName(name).removeEndpoint(endpoint.id);
  await env.DB.batch(
    ["owner_notices", "mail_outbox", "captured_mail", "audit_entries"].map((table) => env.DB.prepare(`DELETE FROM ${table}`)),
  );
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const send = async (email: string, method: string, path: string, body?: object): Promise<TestResponse> => {
  const { cookie } = await signIn(email);
  const headers = { cookie, ...(body !== undefined && { "content-type": "application/json" }) };
  return call(`/v1/webhooks${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
};
const create = async (email: string, path: string): Promise<Endpoint> => {
  const { body } = await send(email, "POST", "", { url: `https://hook1.merchant-tests.com/${path}` });
  return { id: body.data.id, secret: body.data.secret };
};
const getSecret = async (email: string, id: string): Promise<string> => (await send(email, "GET", `/${id}/secret`)).body.data.secret;
const step = (body: object): Promise<TestResponse> => service(route, buildJsonRequest(body, bearer));
/** Runs a rotation step by step, as the operator's command does, and returns the totals. */
const runSteps = async (request: object): Promise<Total> => {
  let total: Total = { before: "", replaced: 0, outdated: 0, earlierUntil: null };
  for (let cursor: unknown = null; ; ) {
    const { body } = await step({ ...request, cursor });
    const { before, replaced, outdated, earlier_until: earlierUntil, next } = body.data;
    total = {
      before,
      replaced: total.replaced + replaced,
      outdated: total.outdated + outdated,
      earlierUntil: earlierUntil ?? total.earlierUntil,
    };
    if (next === null) return total;
    cursor = next;
  }
};
/** Sends a test event. Returns, for each secret, whether the event has a signature made with that secret. */
const listSigners = async (email: string, id: string, secrets: readonly string[]): Promise<readonly boolean[]> => {
  posts.length = 0;
  await send(email, "POST", `/${id}/test`);
  const [{ body, headers }] = posts as [ReceivedPost];
  const header = headers.get("svc-signature");
  return secrets.map((secret) => verifySignature(body, header, secret, Math.floor(Date.now() / 1_000)));
};
const listSubjects = async (email: string): Promise<readonly string[]> => {
  await waitUntilSettled();
  return (await listMailTo(email)).map(({ subject }) => subject).filter((subject) => /secret/.test(subject));
};

describe("POST /v1/admin/keys/webhook", () => {
  test("replaces the secrets of all businesses, records it and notifies the owners, and both secrets sign for exactly seven days", async () => {
    const [ownEndpoint, otherEndpoint] = [await create(ownerEmail, "acme"), await create(otherOwnerEmail, "other")];
    vi.setSystemTime(start + 1_000);
    const { before, ...check } = await runSteps({ check: true });
    expect(check).toEqual({ replaced: 0, outdated: 2, earlierUntil: null });
    expect(before).toBe(new Date(start + 1_000).toISOString());
    expect(await getSecret(ownerEmail, ownEndpoint.id)).toBe(ownEndpoint.secret);

    const until = start + 1_000 + 7 * day;
    expect(await runSteps({ before })).toEqual({ before, replaced: 2, outdated: 0, earlierUntil: new Date(until).toISOString() });
    expect(await listSubjects(ownerEmail)).toEqual(["Your webhook signing secret was replaced"]);
    const { results } = await env.DB.prepare("SELECT entity_id AS id FROM audit_entries WHERE type = 'webhook.secret_rotated'").all();
    expect(results.map(({ id }) => id).toSorted()).toEqual([ownEndpoint.id, otherEndpoint.id].toSorted());

    for (const [email, { id, secret }] of [
      [ownerEmail, ownEndpoint],
      [otherOwnerEmail, otherEndpoint],
    ] as const) {
      const replaced = await getSecret(email, id);
      expect(replaced).not.toBe(secret);
      vi.setSystemTime(until - 1);
      expect(await listSigners(email, id, [replaced, secret])).toEqual([true, true]);
      vi.setSystemTime(until);
      expect(await listSigners(email, id, [replaced, secret])).toEqual([true, false]);
    }
    expect(await runSteps({ before, check: true })).toEqual({ before, replaced: 0, outdated: 0, earlierUntil: null });
  });

  test("replaces nothing twice, and leaves secrets that are newer than the rotation", async () => {
    const { id } = await create(ownerEmail, "acme");
    vi.setSystemTime(start + 1_000);
    const { before } = await runSteps({});
    const replaced = await getSecret(ownerEmail, id);
    vi.setSystemTime(start + 2_000);
    const laterEndpoint = await create(ownerEmail, "later");
    expect((await runSteps({ before })).replaced).toBe(0);
    expect(await getSecret(ownerEmail, id)).toBe(replaced);
    expect(await getSecret(ownerEmail, laterEndpoint.id)).toBe(laterEndpoint.secret);
  });

  test("waits until a secret that the owner replaced shortly before no longer signs", async () => {
    const { id, secret } = await create(ownerEmail, "acme");
    const rotated = (await send(ownerEmail, "POST", `/${id}/rotate-secret`)).body.data.secret as string;
    vi.setSystemTime(start + 1_000);
    const { before, ...first } = await runSteps({});
    expect(first).toEqual({ replaced: 0, outdated: 1, earlierUntil: new Date(start + day).toISOString() });
    expect(await listSigners(ownerEmail, id, [rotated, secret])).toEqual([true, true]);
    vi.setSystemTime(start + day);
    expect(await runSteps({ before })).toMatchObject({ replaced: 1, outdated: 0 });
    expect(await listSigners(ownerEmail, id, [await getSecret(ownerEmail, id), rotated, secret])).toEqual([true, true, false]);
  });

  test("replaces only the secret of the endpoint that it is given", async () => {
    const [one, another] = [await create(ownerEmail, "one"), await create(ownerEmail, "another")];
    vi.setSystemTime(start + 1_000);
    expect(await runSteps({ webhook_id: one.id })).toMatchObject({ replaced: 1, outdated: 0 });
    expect(await getSecret(ownerEmail, one.id)).not.toBe(one.secret);
    expect(await getSecret(ownerEmail, another.id)).toBe(another.secret);
  });

  test("refuses an unknown shard, a malformed request and callers without the token, and replaces nothing if it cannot be recorded", async () => {
    const { id, secret } = await create(ownerEmail, "acme");
    vi.setSystemTime(start + 1_000);
    const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body.error?.code ?? "ok"}`;
    expect(describeOutcome(await step({ cursor: { shard: "zz", after: "" } }))).toBe("404 not_found");
    expect(describeOutcome(await step({ webhook_id: "7" }))).toBe("400 invalid_request");
    expect(describeOutcome(await step({ before: "soon" }))).toBe("400 invalid_request");
    expect(describeOutcome(await service(route, buildJsonRequest({}, {})))).toBe("401 unauthorized");
    await env.DB.prepare("CREATE TRIGGER no_audit BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'injected'); END").run();
    try {
      expect(describeOutcome(await step({}))).toBe("503 storage_unavailable");
    } finally {
      await env.DB.prepare("DROP TRIGGER no_audit").run();
    }
    expect(await getSecret(ownerEmail, id)).toBe(secret);
  });
});
