// Tests that, on every POST route, a repeated request with the same Idempotency-Key is processed only once and gets the same response. This
// applies only to repeats by the same caller.
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { toCanonicalJson } from "../../core/canonical-json.ts";
import { sha256Hex } from "../../core/hash.ts";
import { dayMs, minuteMs, secondMs } from "../../core/time.ts";
import { openWebhookSecret } from "../../storage/webhook-secrets.ts";
import { buildApp } from "../../workers/app.ts";
import { deleteExpired } from "../../workers/background/expiry-sweep.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import {
  commitEvents,
  farAhead,
  deliveryQueues,
  eventSequences,
  createApiKey,
  mockReceivers,
  runAlarm,
  type ReceivedPost,
  type EventSequenceMethods,
} from "../support/events.ts";
import { Authenticator } from "../support/authenticator.ts";
import { requestCreationOptions } from "../support/passkeys.ts";
import { listMailTo, signIn } from "../support/people.ts";
import { buildDecision, createVerifier, grantShare, signInPerson, redeemCode, type SignedPerson } from "../support/sharing.ts";
import { call, getWithKey, countRows, createServiceCall, world, worldInSecondShard, type TestResponse } from "../support/world.ts";
import {
  submitWithdrawalCode,
  requestWithdrawalCode,
  listCodes,
  getCookies,
  createEmailAddress,
  issueToNewPerson,
  startWithdrawal,
  withdrawCertificate,
} from "../support/withdrawal.ts";
import { createServicesWith } from "../support/changed-services.ts";
import { findNewestCode } from "../support/email-code.ts";

/** A business can have only one endpoint per URL, so each endpoint has its own path. */
const createHookUrl = (): string => `https://hook1.merchant-tests.com/in/${crypto.randomUUID()}`;
type Headers = Readonly<Record<string, string>>;

/** Each test starts days after the previous one, so the limits that earlier tests used up have been reset. */
let start = farAhead;
let platform: Platform;
let owner: Headers;
let secondOwner: Headers;
let consumer: Headers;
let secondConsumer: Headers;
let otherKey: string;
let posts: ReceivedPost[] = [];
let answerPost: () => Response | Promise<Response>;

beforeAll(async () => {
  platform = await createPlatform(env);
  otherKey = await createApiKey(world.acme.id);
  await env.DB.prepare("UPDATE members SET role = 'owner' WHERE business_id = ?").bind(world.acme.id).run();
});
beforeEach(async () => {
  start += 7 * dayMs;
  vi.useFakeTimers({ toFake: ["Date"], now: start });
  answerPost = () => new Response(null, { status: 200 });
  posts = mockReceivers(() => answerPost());
  const log = eventSequences.getByName(world.acme.id);
  for (const { endpoint } of await log.listEndpoints()) await log.removeEndpoint(endpoint.id);
  await env.DB.prepare("DELETE FROM passkeys").run();
  await signAllIn();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Each test signs everyone in again, because some routes require a recent sign-in. */
const signAllIn = async (): Promise<void> => {
  owner = await signIn(world.ownerEmail);
  secondOwner = await signIn(world.memberEmail);
  consumer = await signIn(world.consumerEmail, "consumer");
  secondConsumer = await signIn("second.consumer@example.com", "consumer");
};

const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body?.error?.code ?? "ok"}`;
const isReplay = (response: TestResponse): boolean => response.headers.get("idempotency-replayed") === "true";
const buildBearer = (key: string): Headers => ({ authorization: `Bearer ${key}` });
const from = (address: string): Headers => ({ "cf-connecting-ip": address });

const post = (path: string, body: unknown, headers: Headers): Promise<TestResponse> =>
  call(path, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });

const registerWebhook = async (): Promise<{ readonly id: string; readonly secret: string }> => {
  const response = await post("/v1/webhooks", { url: createHookUrl() }, owner);
  if (response.status !== 201) throw new Error(`not registered: ${response.text}`);
  return response.body.data;
};
const createDelivery = async (): Promise<string> => {
  const { id } = await registerWebhook();
  await commitEvents(world.acme.id, 1);
  await eventSequences.getByName(world.acme.id).drain();
  await runAlarm(deliveryQueues.getByName(id));
  return (await eventSequences.getByName(world.acme.id).listDeliveries(id, 1, null))?.deliveries[0]?.id as string;
};

interface Sendable {
  readonly path: string;
  readonly body: object;
  readonly otherBody: object;
  readonly caller: () => Headers;
  readonly otherCaller: () => Headers;
}
interface Route {
  readonly prepare: () => Promise<Sendable>;
  /** True if a repeat without the key makes another change. If false, the test cannot tell whether a repeat with the key was processed. */
  readonly repeats: boolean;
}

const people = { caller: () => owner, otherCaller: () => secondOwner };
const keys = { caller: () => buildBearer(world.acme.keys.live), otherCaller: () => buildBearer(otherKey) };
/** These routes accept an idempotency key, but their limit of 20 requests per minute is too low for these tests. */
const inTestMode = ["/v1/sandbox/clock", "/v1/sandbox/reset", "/v1/sandbox/trigger"];
let household = 0;
/** Returns two IP addresses that no other test uses. */
const createVisitors = () => {
  household += 1;
  const at = `2001:db8:${household.toString(16)}`;
  return { caller: () => from(`${at}:0::1`), otherCaller: () => from(`${at}:1::1`) };
};
const named = { body: { name: "the assistant on my laptop" }, otherBody: { name: "another" } };
const empty = { body: {}, otherBody: { note: "other" } };
const createTwoPeople = async () => {
  const [pat, sam] = [await signInPerson(), await signInPerson()];
  return { pat, caller: () => pat.headers, otherCaller: () => sam.headers };
};
const createShare = async (pat: SignedPerson): Promise<string> => (await grantShare(pat)).share.id;
const stopping = { body: { reason: "Found another provider" }, otherBody: { reason: "other" } };

const page = (): Response => new Response("<form><input type=email name=email></form>", { headers: { "content-type": "text/html" } });
const mapped = { url: "https://www.example.com/quote", mode: "consent", purpose: "quotes", entities: ["Acme Solar LLC"] };

const routes: Readonly<Record<string, Route>> = {
  "/v1/business/portal/integrate": {
    repeats: false,
    prepare: async () => {
      answerPost = page;
      return { path: "/v1/business/portal/integrate", body: mapped, otherBody: { ...mapped, purpose: "calls" }, ...people };
    },
  },
  "/v1/webhooks": {
    repeats: false,
    prepare: async () => {
      const url = createHookUrl();
      return { path: "/v1/webhooks", body: { url }, otherBody: { url, description: "CRM" }, ...people };
    },
  },
  "/v1/webhooks/{webhook_id}/rotate-secret": {
    repeats: true,
    prepare: async () => ({ path: `/v1/webhooks/${(await registerWebhook()).id}/rotate-secret`, ...empty, ...people }),
  },
  "/v1/webhooks/{webhook_id}/recover": {
    repeats: false,
    prepare: async () => {
      const buildSince = (days: number) => ({ since: new Date(start - days * dayMs).toISOString() });
      return { path: `/v1/webhooks/${(await registerWebhook()).id}/recover`, body: buildSince(1), otherBody: buildSince(2), ...people };
    },
  },
  "/v1/webhooks/{webhook_id}/test": {
    repeats: true,
    prepare: async () => ({ path: `/v1/webhooks/${(await registerWebhook()).id}/test`, ...empty, ...people }),
  },
  "/v1/webhooks/deliveries/{delivery_id}/replay": {
    repeats: true,
    prepare: async () => ({ path: `/v1/webhooks/deliveries/${await createDelivery()}/replay`, ...empty, ...people }),
  },
  "/v1/certs/{cert_id}/withdrawals": {
    repeats: false,
    prepare: async () => {
      const body = { method: "phone", received_at: new Date().toISOString() };
      const { certId } = await issueToNewPerson({ fields: { email: createEmailAddress() } });
      return { path: `/v1/certs/${certId}/withdrawals`, body, otherBody: { ...body, note: "other" }, ...keys };
    },
  },
  "/v1/certs/{cert_id}/cease-ack": {
    repeats: false,
    prepare: async () => {
      const issued = await issueToNewPerson();
      await withdrawCertificate(issued);
      return { path: `/v1/certs/${issued.certId}/cease-ack`, body: { note: "done" }, otherBody: { note: "other" }, ...keys };
    },
  },
  "/v1/certs/{cert_id}/erase-subject": {
    repeats: false,
    prepare: async () => {
      const body = { confirm: "ERASE" };
      return { path: `/v1/certs/${(await issueToNewPerson()).certId}/erase-subject`, body, otherBody: { ...body, other: true }, ...people };
    },
  },
  "/v1/me/agent-token": {
    repeats: true,
    prepare: async () => {
      await env.DB.prepare("DELETE FROM agent_tokens").run(); // deletes earlier tokens, because a person can have at most ten
      return { path: "/v1/me/agent-token", ...named, caller: () => consumer, otherCaller: () => secondConsumer };
    },
  },
  "/v1/business/portal/agent-token": {
    repeats: true,
    prepare: async () => {
      await env.DB.prepare("DELETE FROM agent_tokens").run();
      return { path: "/v1/business/portal/agent-token", ...named, ...people };
    },
  },
  "/v1/certs/{cert_id}/match": {
    repeats: true,
    prepare: async () => {
      const wrong = { body: { email: "nobody@example.com" }, otherBody: { email: "no-one@example.com" } };
      return { path: `/v1/certs/${(await issueToNewPerson()).certId}/match`, ...wrong, ...keys };
    },
  },
  "/v1/contact-check": {
    repeats: false,
    prepare: async () => {
      const buildCheck = (email: string) => ({ subjects: [{ email }] });
      return {
        path: "/v1/contact-check",
        body: buildCheck((await issueToNewPerson()).email),
        otherBody: buildCheck(createEmailAddress()),
        ...keys,
      };
    },
  },
  "/v1/certs/{cert_id}/opt-out/request": {
    repeats: true,
    prepare: async () => {
      const { certId, email } = await issueToNewPerson();
      return {
        path: `/v1/certs/${certId}/opt-out/request`,
        body: { email },
        otherBody: { email: createEmailAddress() },
        ...createVisitors(),
      };
    },
  },
  "/v1/certs/{cert_id}/opt-out/confirm": {
    repeats: false,
    prepare: async () => {
      const { certId, email } = await issueToNewPerson();
      const body = { email, code: (await startWithdrawal(certId, email)).code };
      return { path: `/v1/certs/${certId}/opt-out/confirm`, body, otherBody: { ...body, scope: "business" }, ...createVisitors() };
    },
  },
  "/v1/certs/{cert_id}/opt-out/manage": {
    repeats: false,
    prepare: async () => {
      const { certId, manageToken: token } = await issueToNewPerson();
      return { path: `/v1/certs/${certId}/opt-out/manage`, body: { token }, otherBody: { token, scope: "business" }, ...createVisitors() };
    },
  },
  "/v1/business/signup": {
    repeats: false,
    prepare: async () => {
      const buildSignup = (email: string) => ({ business_name: "Fresh Roofs LLC", email });
      return {
        path: "/v1/business/signup",
        body: buildSignup(createEmailAddress()),
        otherBody: buildSignup(createEmailAddress()),
        ...createVisitors(),
      };
    },
  },
  "/v1/business/portal/domains": {
    repeats: false,
    prepare: async () => {
      const buildDomain = () => ({ domain: createEmailAddress().replace(/^.*@/, `d${crypto.randomUUID()}.`) });
      return { path: "/v1/business/portal/domains", body: buildDomain(), otherBody: buildDomain(), ...people };
    },
  },
  "/v1/business/portal/domains/{domain_id}/verify": {
    repeats: true,
    prepare: async () => {
      const claimed = await post("/v1/business/portal/domains", { domain: `d${crypto.randomUUID()}.merchant-tests.com` }, owner);
      const { id, token } = claimed.body.data;
      answerPost = () => new Response(`svc-verify=${token}`, { headers: { "content-type": "text/plain" } });
      const body = { method: "well_known" };
      return { path: `/v1/business/portal/domains/${id}/verify`, body, otherBody: { ...body, other: true }, ...people };
    },
  },
  "/v1/business/portal/clients": {
    repeats: true,
    prepare: async () => ({ path: "/v1/business/portal/clients", body: { name: "A" }, otherBody: { name: "B" }, ...people }),
  },
  "/v1/business/portal/recipients": {
    repeats: false,
    prepare: async () => {
      const body = { entity: `Bright Homes ${crypto.randomUUID()}`, business_id: world.other.id };
      return { path: "/v1/business/portal/recipients", body, otherBody: { ...body, entity: "Bright Homes Inc" }, ...people };
    },
  },
  "/v1/business/portal/keys": {
    repeats: true,
    prepare: async () => {
      await env.DB.prepare("DELETE FROM api_keys WHERE name IN ('A', 'B')").run();
      return { path: "/v1/business/portal/keys", body: { name: "A" }, otherBody: { name: "B" }, ...people };
    },
  },
  "/v1/business/portal/members": {
    repeats: true,
    prepare: async () => {
      const buildInvitation = (email: string) => ({ email, role: "member" });
      return {
        path: "/v1/business/portal/members",
        body: buildInvitation(createEmailAddress()),
        otherBody: buildInvitation(createEmailAddress()),
        ...people,
      };
    },
  },
  "/v1/auth/request-code": {
    repeats: false,
    prepare: async () => {
      const buildCodeRequest = (email: string) => ({ email, realm: "consumer" });
      return {
        path: "/v1/auth/request-code",
        body: buildCodeRequest(createEmailAddress()),
        otherBody: buildCodeRequest(createEmailAddress()),
        ...createVisitors(),
      };
    },
  },
  "/v1/share/consent": {
    repeats: true,
    prepare: async () => {
      const { pat: _, ...callers } = await createTwoPeople();
      return { path: "/v1/share/consent", body: buildDecision(createVerifier()), otherBody: buildDecision(createVerifier()), ...callers };
    },
  },
  "/v1/share/sandbox-consent": {
    repeats: true,
    prepare: async () => {
      const buildTrialDecision = () => buildDecision(createVerifier(), { client_id: world.acme.clients.sandbox });
      return { path: "/v1/share/sandbox-consent", body: buildTrialDecision(), otherBody: buildTrialDecision(), ...createVisitors() };
    },
  },
  "/v1/shares/{share_id}/revoke": {
    repeats: false,
    prepare: async () => {
      const { pat, ...callers } = await createTwoPeople();
      return { path: `/v1/shares/${await createShare(pat)}/revoke`, ...stopping, ...callers };
    },
  },
  "/v1/me/sever/{share_id}": {
    repeats: false,
    prepare: async () => {
      const { pat, ...callers } = await createTwoPeople();
      return { path: `/v1/me/sever/${await createShare(pat)}`, ...stopping, ...callers };
    },
  },
  "/v1/me/shares/{share_id}/renew": {
    repeats: false,
    prepare: async () => {
      const { pat, ...callers } = await createTwoPeople();
      const body = { consent: true, duration_days: 30 };
      return { path: `/v1/me/shares/${await createShare(pat)}/renew`, body, otherBody: { ...body, duration_days: 60 }, ...callers };
    },
  },
  "/v1/me/certificates/withdraw": {
    repeats: false,
    prepare: async () => {
      const { pat, ...callers } = await createTwoPeople();
      const body = { scope: "certificate", cert_id: (await issueToNewPerson({ fields: { email: pat.email } })).certId };
      return { path: "/v1/me/certificates/withdraw", body, otherBody: { scope: "everything" }, ...callers };
    },
  },
  "/v1/me/removals": {
    repeats: true,
    prepare: async () => {
      const { pat: _, ...callers } = await createTwoPeople();
      await env.DB.prepare("UPDATE consumers SET plan = 'white_glove'").run();
      return { path: "/v1/me/removals", body: { authorize: true }, otherBody: { authorize: true, targets: ["spokeo"] }, ...callers };
    },
  },
  "/v1/shares/{share_id}/cease-ack": {
    repeats: false,
    prepare: async () => {
      const pat = await signInPerson();
      const id = await createShare(pat);
      await pat.post(`/v1/shares/${id}/revoke`, {});
      return { path: `/v1/shares/${id}/cease-ack`, body: { note: "done" }, otherBody: { note: "other" }, ...keys };
    },
  },
  "/v1/me/passkeys": {
    repeats: false,
    prepare: async () => {
      const credential = await new Authenticator().make((await requestCreationOptions(consumer)).body.data.options);
      const otherBody = { credential, name: "another" };
      return { path: "/v1/me/passkeys", body: { credential }, otherBody, caller: () => consumer, otherCaller: () => secondConsumer };
    },
  },
};
const table = Object.entries(routes).map(([path, route]) => ({ path, ...route }));

let keysUsed = 0;
const createKey = (): string => {
  keysUsed += 1;
  return `key_${keysUsed}-A`;
};
const send = (sendable: Sendable, key: string | null, change: { body?: object; caller?: Headers } = {}): Promise<TestResponse> =>
  post(sendable.path, change.body ?? sendable.body, {
    ...(change.caller ?? sendable.caller()),
    ...(key !== null && { "idempotency-key": key }),
  });

const counted = [
  "email_codes",
  "mail_outbox",
  "anchors",
  "withdrawals",
  "cease_acknowledgements",
  "certificate_views",
  "shares",
  "share_acknowledgements",
  "passkeys",
];
/** Returns everything that requests have changed or sent so far. The counts include rows that were deleted after processing. */
const readEffects = async (): Promise<object> => {
  const rows = counted.map(
    (name) => `COALESCE((SELECT seq FROM sqlite_sequence WHERE name = '${name}'), (SELECT COUNT(*) FROM ${name})) AS ${name}`,
  );
  const entries = "(SELECT COUNT(*) FROM audit_entries WHERE type NOT LIKE 'policy.%') AS entries"; // policy captures run on their own schedule
  const events = "(SELECT COUNT(*) FROM changes WHERE sequence IS NOT NULL) AS events";
  const misses = "(SELECT TOTAL(misses) FROM match_misses) AS misses, (SELECT TOTAL(failures) FROM email_code_failures) AS failures";
  const log = eventSequences.getByName(world.acme.id);
  const endpoints = await log.listEndpoints();
  return {
    rows: await env.DB.prepare(`SELECT ${rows.join(", ")}, ${entries}, ${events}, ${misses}`).first(),
    endpoints: endpoints.map(({ endpoint }) => endpoint),
    secrets: await Promise.all(endpoints.map(({ endpoint }) => log.findEndpointSettings(endpoint.id))),
    posts: posts.filter(({ url }) => url.startsWith("https://hook1.merchant-tests.com/")).length,
  };
};
/** Returns the response without the parts that differ in a repeat by design, such as the request ID and the rate limit. */
const summarizeResponse = (response: TestResponse): object => ({
  status: response.status,
  data: response.body.data,
  headers: [...response.headers].filter(
    ([name]) => !["x-request-id", "idempotency-replayed", "ratelimit-remaining", "ratelimit-reset", "content-length"].includes(name),
  ),
});

describe("the Idempotency-Key header", () => {
  test("is accepted on every POST route except those listed with a reason", async () => {
    const exemptions = {
      "/v1/consent": "tested in consent-idempotency.test.ts",
      "/v1/share/redeem": "stores no response, tested below",
      "/v1/share/requests": "computes a signature and stores nothing",
      "/v1/auth/verify-code": "a stored response would be a session",
      "/v1/auth/passkey/verify": "likewise",
      "/v1/auth/passkey/options": "a stored response would be a challenge that may be used up",
      "/v1/me/passkeys/options": "likewise",
      "/v1/certs/search": "only reads",
      "/v1/business/portal/certs/{cert_id}/reveal": "only reads, and its response must not be stored",
      "/v1/webhooks/deliveries/{delivery_id}/reveal": "likewise",
      "/v1/webhooks/stripe": "the event's own id is the key",
      "/v1/auth/logout": "ends the session that identifies the caller, and a repeat changes nothing",
    };
    const { paths } = (await getWithKey("/v1/openapi.json")).body as {
      paths: Record<string, { post?: { parameters?: { name: string }[] } }>;
    };
    const posted = Object.entries(paths).filter(([, { post }]) => post !== undefined);
    expect(posted.map(([path]) => path).sort()).toEqual([...Object.keys(routes), ...Object.keys(exemptions), ...inTestMode].sort());
    const described = posted.filter(([, { post }]) => post?.parameters?.some(({ name }) => name === "Idempotency-Key"));
    expect(described.map(([path]) => path).sort()).toEqual(
      [...Object.keys(routes), "/v1/consent", "/v1/share/redeem", ...inTestMode].sort(),
    );
  });
});

describe.each(table)("POST $path", ({ prepare, repeats }) => {
  test("returns the same response and does nothing when repeated with the same key", async () => {
    const sendable = await prepare();
    const key = createKey();
    const first = await send(sendable, key);
    expect(first.status, first.text).toBeLessThan(300);
    const before = await readEffects();
    const second = await send(sendable, key);
    expect(summarizeResponse(second)).toEqual(summarizeResponse(first));
    expect([isReplay(first), isReplay(second)]).toEqual([false, true]);
    expect(second.body.request_id).not.toBe(first.body.request_id);
    expect(second.headers.get("x-request-id")).toBe(second.body.request_id);
    expect(await readEffects()).toEqual(before);
    if (repeats) {
      expect(isReplay(await send(sendable, createKey()))).toBe(false);
      expect(await readEffects(), "a repeat without the key has an effect").not.toEqual(before);
    }
  });

  test("returns 409 idempotency_conflict for the same key with another body, and keeps the first response", async () => {
    const sendable = await prepare();
    const key = createKey();
    const first = await send(sendable, key);
    const before = await readEffects();
    expect(describeOutcome(await send(sendable, key, { body: sendable.otherBody }))).toBe("409 idempotency_conflict");
    expect(await readEffects()).toEqual(before);
    expect(summarizeResponse(await send(sendable, key))).toEqual(summarizeResponse(first));
  });

  test("treats the same key of another caller as another request", async () => {
    const sendable = await prepare();
    const key = createKey();
    await send(sendable, key);
    const otherResponse = await send(sendable, key, { caller: sendable.otherCaller() });
    expect(isReplay(otherResponse)).toBe(false);
    expect(describeOutcome(otherResponse)).not.toBe("409 idempotency_conflict");
  });

  test("treats the same key on another record as another request", async () => {
    const [one, other] = [await prepare(), await prepare()];
    if (one.path === other.path) return; // the path contains no record ID, so there is no other record to request
    const key = createKey();
    await send({ ...one, caller: other.caller }, key);
    const otherPathResponse = await send(other, key);
    expect(otherPathResponse.status, otherPathResponse.text).toBeLessThan(300);
    expect(isReplay(otherPathResponse)).toBe(false);
  });

  test("refuses an invalid key before it does anything", async () => {
    const sendable = await prepare();
    const before = await readEffects();
    for (const key of ["", "x".repeat(65), "a b", "a.b", "a,b", "Ä", "a/b"]) {
      const response = await send(sendable, key);
      expect(describeOutcome(response), key).toBe("400 invalid_request");
      expect(response.body.error.message, key).toMatch(/^Idempotency-Key: /);
    }
    expect(await readEffects()).toEqual(before);
    expect((await send(sendable, "x".repeat(64))).status).toBeLessThan(300);
  });

  test("remembers a key for 24 hours and not longer", async () => {
    const sendable = await prepare();
    const key = createKey();
    const at = Date.now();
    await send(sendable, key);
    vi.setSystemTime(at + dayMs - minuteMs);
    await signAllIn();
    expect(isReplay(await send(sendable, key))).toBe(true);
    vi.setSystemTime(at + dayMs + minuteMs);
    const changedResponse = await send(sendable, key, { body: sendable.otherBody });
    expect(isReplay(changedResponse)).toBe(false);
    expect(describeOutcome(changedResponse)).not.toBe("409 idempotency_conflict");
  });

  test("processes concurrent repeats once, and returns the same response or 409 idempotency_conflict to the others", async () => {
    const sendable = await prepare();
    const key = createKey();
    const responses = await Promise.all(Array.from({ length: 8 }, () => send(sendable, key)));
    const succeeded = responses.filter(({ status }) => status < 300);
    expect(succeeded.filter((response) => !isReplay(response))).toHaveLength(1);
    expect(new Set(succeeded.map(({ body }) => JSON.stringify(body.data))).size).toBe(1);
    const rest = responses.filter(({ status }) => status >= 300).map(describeOutcome);
    expect(rest.filter((one) => one !== "409 idempotency_conflict")).toEqual([]);
    expect(summarizeResponse(await send(sendable, key))).toEqual(summarizeResponse(succeeded[0] as TestResponse));
  });

  test("does not remember a refused request, so that its key can be used again", async () => {
    const sendable = await prepare();
    const key = createKey();
    const readRefusal = async (type: string, body: string): Promise<string> => {
      const headers = { ...sendable.caller(), "content-type": type, "idempotency-key": key };
      return describeOutcome(await call(sendable.path, { method: "POST", headers, body }));
    };
    expect(await readRefusal("text/plain", "{}")).toBe("415 unsupported_media_type");
    const takesInput = Object.keys(sendable.body).length > 0;
    if (takesInput)
      for (const body of ["[]", "null", "1"]) expect(await readRefusal("application/json", body), body).toBe("400 invalid_request");
    const response = await send(sendable, key);
    expect([response.status < 300, isReplay(response)]).toEqual([true, false]);
  });

  test("counts each repeat against the limit", async () => {
    const sendable = await prepare();
    const key = createKey();
    const readRemaining = async (): Promise<number> => Number((await send(sendable, key)).headers.get("ratelimit-remaining"));
    const first = await readRemaining();
    expect(await readRemaining()).toBe(first - 1);
  });

  test("stores neither the key nor the response nor the body in the clear", async () => {
    const sendable = await prepare();
    const key = `secret-${createKey()}`;
    const { data } = (await send(sendable, key)).body;
    const { results } = await env.DB.prepare("SELECT * FROM idempotent_responses").all();
    // Compares whole words, because a code's six digits can occur inside a hash or a time.
    const extractWords = (value: unknown): readonly string[] => JSON.stringify(value).match(/[\w@./+-]{6,}/g) ?? [];
    const kept = new Set(extractWords(results.map((row) => Object.values(row))));
    const spoken = extractWords([key, sendable.body, data]);
    expect(spoken).toContain(key);
    expect(spoken.filter((word) => kept.has(word))).toEqual([]);
  });
});

const requestTo = (sendable: Sendable, key: string): Request =>
  new Request(`http://svc.test${sendable.path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key, ...sendable.caller() },
    body: JSON.stringify(sendable.body),
  });
/**
 * Sends the request to a service with one part replaced. Returns the response, and the background work that continues even if the caller
 * disconnects.
 */
const callWithChanges = (changed: Partial<Platform>, sendable: Sendable, key: string) => {
  const following: Promise<void>[] = [];
  const services = createServicesWith(platform, { ...changed, waitUntil: (work) => following.push(work()) });
  const response = Promise.resolve(buildApp(services).fetch(requestTo(sendable, key), env, createExecutionContext()));
  return { response, ended: () => Promise.all(following) };
};
const createGate = <T>() => {
  const [reaching, opening] = [Promise.withResolvers<void>(), Promise.withResolvers<T>()];
  return { reached: reaching.resolve, arrived: reaching.promise, open: opening.resolve, opened: opening.promise };
};
const withLog = (methods: EventSequenceMethods): Partial<Platform> => {
  const log = eventSequences.getByName(world.acme.id);
  const changed = new Proxy(log, { get: (target, name) => Reflect.get(name in methods ? methods : target, name) as unknown });
  return { eventSequence: () => changed as never };
};

/**
 * A database that makes every change but loses the response. The caller's timeout of two seconds fires immediately, so that the test is
 * fast.
 */
const losingChanges = {
  prepare: (text: string) => env.DB.prepare(text),
  withSession: (constraint: D1SessionConstraint) => env.DB.withSession(constraint),
  batch: async (statements: D1PreparedStatement[]) => {
    const [stopWaiting] = vi.mocked(setTimeout).mock.lastCall ?? [];
    const readLastEntry = () => env.DB.prepare("SELECT MAX(ord) AS last FROM audit_entries").first("last");
    const before = await readLastEntry();
    const results = await env.DB.batch(statements);
    if ((await readLastEntry()) === before) return results;
    stopWaiting?.();
    return new Promise<never>(() => {});
  },
};

describe("a change whose response was lost", () => {
  test.each([
    "/v1/share/consent",
    "/v1/share/sandbox-consent",
    "/v1/shares/{share_id}/revoke",
    "/v1/me/sever/{share_id}",
    "/v1/me/shares/{share_id}/renew",
    "/v1/shares/{share_id}/cease-ack",
    "/v1/me/agent-token",
    "/v1/business/portal/agent-token",
    "/v1/me/removals",
    "/v1/me/passkeys",
    "/v1/certs/{cert_id}/opt-out/confirm",
    "/v1/certs/{cert_id}/opt-out/manage",
    "/v1/certs/{cert_id}/cease-ack",
    "/v1/me/certificates/withdraw",
  ])("is returned for the same key and not made again: POST %s", async (path) => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const sendable = await (routes[path] as Route).prepare();
    const [key, before] = [createKey(), await readEffects()];
    vi.spyOn(globalThis, "setTimeout");
    const lossy = createServiceCall({ DB: losingChanges });
    const headers = { "content-type": "application/json", "idempotency-key": key, ...sendable.caller() };
    const lost = await lossy(sendable.path, { method: "POST", headers, body: JSON.stringify(sendable.body) });
    expect(describeOutcome(lost)).toBe("503 storage_unavailable");
    const after = await readEffects();
    expect(after).not.toEqual(before);
    const repeated = await send(sendable, key);
    expect([repeated.status < 300, isReplay(repeated)], repeated.text).toEqual([true, true]);
    expect(repeated.body.data).not.toMatchObject({ already_revoked: true });
    expect(repeated.body.data).not.toMatchObject({ already_acknowledged: true });
    expect(summarizeResponse(await send(sendable, key))).toEqual(summarizeResponse(repeated));
    expect(await readEffects()).toEqual(after);
    expect(describeOutcome(await send(sendable, key, { body: sendable.otherBody }))).toBe("409 idempotency_conflict");
  });

  test.each([
    ["by a day", () => ({ advance_seconds: dayMs / secondMs })],
    ["to a moment", () => ({ to: new Date(Date.now() + dayMs).toISOString() })],
  ] as const)("moves a sandbox's clock %s, and no further when repeated", async (_, createBody) => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const buildCaller = () => buildBearer(world.acme.keys.sandbox);
    const readClock = async () => (await getWithKey("/v1/sandbox/clock", world.acme.keys.sandbox)).body.data;
    await post("/v1/sandbox/reset", {}, buildCaller());
    const [path, key] = ["/v1/sandbox/clock", createKey()];
    const body = createBody();
    const sendable = { path, body, otherBody: { advance_seconds: 60 }, caller: buildCaller, otherCaller: buildCaller };
    let isMove = false;
    const losingMoves = {
      ...losingChanges,
      prepare: (text: string) => {
        isMove ||= text.includes('into "sandbox_clocks"');
        return env.DB.prepare(text);
      },
      batch: async (statements: D1PreparedStatement[]) => {
        const results = await env.DB.batch(statements);
        if (isMove) throw new Error("Network connection lost.");
        return results;
      },
    };
    const headers = { "content-type": "application/json", "idempotency-key": key, ...buildCaller() };
    const lost = await createServiceCall({ DB: losingMoves })(path, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    expect(describeOutcome(lost)).toBe("503 storage_unavailable");
    expect((await readClock()).offset_seconds).toBe(86_400);
    await post(path, { advance_seconds: 60 }, buildCaller());
    vi.setSystemTime(Date.now() + secondMs);
    const repeated = await send(sendable, key);
    expect([describeOutcome(repeated), isReplay(repeated)]).toEqual(["200 ok", false]);
    expect(repeated.body.data.offset_seconds).toBe(86_460);
    expect(summarizeResponse(await send(sendable, key))).toEqual(summarizeResponse(repeated));
    expect((await readClock()).offset_seconds).toBe(86_460);
    expect(describeOutcome(await send(sendable, key, { body: sendable.otherBody }))).toBe("409 idempotency_conflict");
    await post("/v1/sandbox/reset", {}, buildCaller());
  });

  test("does not move a sandbox's clock if another request has taken over its key in the meantime", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const caller = () => buildBearer(world.acme.keys.sandbox);
    await post("/v1/sandbox/reset", {}, caller());
    const body = { advance_seconds: 3_600 };
    const [sendable, key] = [{ path: "/v1/sandbox/clock", body, otherBody: {}, caller, otherCaller: caller }, createKey()];
    let isMove = false;
    const slow = {
      ...losingChanges,
      prepare: (text: string) => {
        isMove ||= text.includes('into "sandbox_clocks"');
        return env.DB.prepare(text);
      },
      batch: async (statements: D1PreparedStatement[]) => {
        if (isMove) await env.DB.prepare("UPDATE idempotency_claims SET holder = 'another', leased_until = 0").run();
        return env.DB.batch(statements);
      },
    };
    const headers = { "content-type": "application/json", "idempotency-key": key, ...caller() };
    await createServiceCall({ DB: slow })(sendable.path, { method: "POST", headers, body: JSON.stringify(body) });
    expect((await getWithKey("/v1/sandbox/clock", world.acme.keys.sandbox)).body.data.offset_seconds).toBe(0);
    expect((await send(sendable, key)).body.data.offset_seconds).toBe(3_600);
    await post("/v1/sandbox/reset", {}, caller());
  });

  test("does not move a sandbox's clock again if another request has already finished with its key", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const caller = () => buildBearer(world.acme.keys.sandbox);
    await post("/v1/sandbox/reset", {}, caller());
    const body = { advance_seconds: 3_600 };
    const [sendable, key] = [{ path: "/v1/sandbox/clock", body, otherBody: {}, caller, otherCaller: caller }, createKey()];
    let wasOvertaken = false;
    const slow = {
      ...losingChanges,
      batch: (statements: D1PreparedStatement[]) => env.DB.batch(statements),
      prepare: (text: string) => {
        const statement = env.DB.prepare(text);
        if (!text.includes('from "sandbox_clocks"') || wasOvertaken) return statement;
        wasOvertaken = true;
        return {
          bind: (...values: unknown[]) => ({
            raw: async () => {
              await env.DB.prepare("UPDATE idempotency_claims SET leased_until = 0").run();
              expect((await send(sendable, key)).body.data.offset_seconds).toBe(3_600);
              return statement.bind(...values).raw();
            },
          }),
        };
      },
    };
    const headers = { "content-type": "application/json", "idempotency-key": key, ...caller() };
    const late = await createServiceCall({ DB: slow })(sendable.path, { method: "POST", headers, body: JSON.stringify(body) });
    expect([wasOvertaken, describeOutcome(late)]).toEqual([true, "500 internal_error"]);
    expect((await getWithKey("/v1/sandbox/clock", world.acme.keys.sandbox)).body.data.offset_seconds).toBe(3_600);
    await post("/v1/sandbox/reset", {}, caller());
  });

  test("is not made at all if another request has taken over its key in the meantime", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { pat, caller } = await createTwoPeople();
    const sendable = { path: "/v1/share/consent", body: buildDecision(createVerifier()), otherBody: {}, caller, otherCaller: caller };
    const key = createKey();
    const slow = {
      ...losingChanges,
      batch: async (statements: D1PreparedStatement[]) => {
        if (statements.length > 4) await env.DB.prepare("UPDATE idempotency_claims SET holder = 'another'").run();
        return env.DB.batch(statements);
      },
    };
    const headers = { "content-type": "application/json", "idempotency-key": key, ...caller() };
    const first = await createServiceCall({ DB: slow })(sendable.path, { method: "POST", headers, body: JSON.stringify(sendable.body) });
    expect(describeOutcome(first)).toBe("503 storage_unavailable");
    expect((await pat.get("/v1/me/shares")).body.data.shares).toEqual([]);
    await env.DB.prepare("UPDATE idempotency_claims SET leased_until = 0").run();
    const second = await send(sendable, key);
    expect([second.status, isReplay(second)]).toEqual([201, false]);
    const { shares } = (await pat.get("/v1/me/shares")).body.data;
    expect(shares.map(({ id }: { id: string }) => id)).toEqual([second.body.data.share.id]);
  });
});

describe("work that is interrupted", () => {
  const prepareRotation = async () => {
    const { id, secret } = await registerWebhook();
    const sendable = { path: `/v1/webhooks/${id}/rotate-secret`, ...empty, ...people };
    const listSecrets = async (): Promise<readonly string[]> => {
      const settings = await eventSequences.getByName(world.acme.id).findEndpointSettings(id);
      const sealed = [settings?.secretSealed, settings?.earlierSecretSealed];
      const at = { endpointId: id, businessId: world.acme.id };
      return Promise.all(sealed.map((one) => openWebhookSecret(platform.vault, at, one as string)));
    };
    return { id, secret, sendable, secrets: listSecrets };
  };
  const createRotatingPlatform = (then: () => Promise<never>): Partial<Platform> =>
    withLog({
      rotateSecret: async (...parameters: Parameters<ReturnType<Platform["eventSequence"]>["rotateSecret"]>) => {
        await eventSequences.getByName(world.acme.id).rotateSecret(...parameters);
        return then();
      },
    });

  test("after the change: the same request resumes it, so that a secret known to receivers is never lost", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { secret, sendable, secrets } = await prepareRotation();
    const key = createKey();
    const broken = createRotatingPlatform(() => Promise.reject(new Error("Network connection lost.")));
    for (let times = 0; times < 3; times += 1) expect((await callWithChanges(broken, sendable, key).response).status).toBe(503);
    const response = await send(sendable, key);
    expect([response.status, isReplay(response)]).toEqual([200, false]);
    expect(await secrets()).toEqual([response.body.data.secret, secret]);
    expect(response.body.data.previous_secret_until).toBe(new Date(start + dayMs).toISOString());
    expect(summarizeResponse(await send(sendable, key))).toEqual(summarizeResponse(response));
  });

  test("by the death of its worker blocks the key for a minute and not longer", async () => {
    const { secret, sendable, secrets } = await prepareRotation();
    const key = createKey();
    const never = createGate<never>();
    const died = createRotatingPlatform(() => {
      never.reached();
      return never.opened;
    });
    void callWithChanges(died, sendable, key).response;
    await never.arrived;
    const conflict = await send(sendable, key);
    expect([describeOutcome(conflict), conflict.headers.get("retry-after")]).toEqual(["409 idempotency_conflict", "5"]);
    const other = await send(sendable, key, { body: sendable.otherBody });
    expect([describeOutcome(other), other.headers.get("retry-after")]).toEqual(["409 idempotency_conflict", null]);
    vi.setSystemTime(start + minuteMs - secondMs);
    expect(describeOutcome(await send(sendable, key))).toBe("409 idempotency_conflict");
    vi.setSystemTime(start + minuteMs + secondMs);
    expect(describeOutcome(await send(sendable, key, { body: sendable.otherBody }))).toBe("409 idempotency_conflict");
    const response = await send(sendable, key);
    expect([response.status, isReplay(response)]).toEqual([200, false]);
    expect(await secrets()).toEqual([response.body.data.secret, secret]);
  });

  type Settings = Awaited<ReturnType<ReturnType<Platform["eventSequence"]>["findEndpointSettings"]>>;
  test.each<readonly [string, number, (settings: Settings) => Settings]>([
    ["succeeds", 200, (settings) => settings],
    ["is refused", 404, () => null],
    [
      "fails",
      503,
      () => {
        throw new Error("Network connection lost.");
      },
    ],
  ])("and %s after another request took it over neither stores nor ends anything", async (_name, status, ending) => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { id } = await registerWebhook();
    const sendable = { path: `/v1/webhooks/${id}/test`, ...empty, ...people };
    const key = createKey();
    const [late, slow] = [createGate<void>(), createGate<Response>()];
    const findEndpointSettings = async (endpoint: string) => {
      late.reached();
      await late.opened;
      return ending(await eventSequences.getByName(world.acme.id).findEndpointSettings(endpoint));
    };
    const { response } = callWithChanges(withLog({ findEndpointSettings }), sendable, key);
    await late.arrived;
    vi.setSystemTime(start + 2 * minuteMs);
    answerPost = () => (posts.length === 1 ? slow.opened : new Response(null, { status: 200 }));
    const second = send(sendable, key);
    await vi.waitFor(() => expect(posts).toHaveLength(1), { timeout: 20_000 });
    late.open();
    expect((await response).status).toBe(status);
    expect(describeOutcome(await send(sendable, key)), "the second is still running").toBe("409 idempotency_conflict");
    slow.open(new Response(null, { status: 204 }));
    expect([isReplay(await second), (await second).body.data.response_status]).toEqual([false, 204]);
    const third = await send(sendable, key);
    expect([isReplay(third), third.body.data.response_status]).toEqual([true, 204]);
  });

  test("when the caller disconnects is completed, and its response is stored for the repeat", async () => {
    const { id } = await registerWebhook();
    const sendable = { path: `/v1/webhooks/${id}/test`, ...empty, ...people };
    const key = createKey();
    const slow = createGate<Response>();
    answerPost = () => slow.opened;
    const { ended } = callWithChanges({}, sendable, key);
    await vi.waitFor(() => expect(posts).toHaveLength(1), { timeout: 20_000 });
    const countKeptResponses = async (): Promise<number> => (await countRows(["idempotent_responses"])).idempotent_responses as number;
    const before = await countKeptResponses();
    slow.open(new Response(null, { status: 204 }));
    await ended();
    expect(await countKeptResponses()).toBe(before + 1);
    const repeated = await send(sendable, key);
    expect([isReplay(repeated), repeated.body.data.response_status]).toEqual([true, 204]);
    expect(posts).toHaveLength(1);
  });

  test("is swept after a day", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { sendable } = await prepareRotation();
    await callWithChanges(
      createRotatingPlatform(() => Promise.reject(new Error("Network connection lost."))),
      sendable,
      createKey(),
    ).response;
    const countExpiredClaims = async (): Promise<number> =>
      (await env.DB.prepare("SELECT COUNT(*) AS n FROM idempotency_claims WHERE leased_until <= ?").bind(Date.now()).first<{ n: number }>())
        ?.n ?? 0;
    expect(await countExpiredClaims()).toBe(1);
    vi.setSystemTime(start + dayMs + minuteMs);
    await deleteExpired(platform);
    expect(await countExpiredClaims()).toBe(0);
  });
});

describe("the public routes", () => {
  test("store no hash that an address and a code could be tested against", async () => {
    const { certId, email } = await issueToNewPerson();
    const body = { email };
    await env.DB.prepare("DELETE FROM idempotent_responses").run();
    for (const key of [createKey(), createKey()])
      await requestWithdrawalCode(certId, email, { ...from("203.0.113.78"), "idempotency-key": key });
    const { results } = await env.DB.prepare("SELECT body_hash FROM idempotent_responses").all<{ body_hash: string }>();
    expect(new Set(results.map(({ body_hash }) => body_hash)).size).toBe(2);
    expect(results.map(({ body_hash }) => body_hash)).not.toContain(sha256Hex(toCanonicalJson(body)));
  });

  test("return the browser's cookie again, so that a lost response costs no attempts", async () => {
    const { certId, email } = await issueToNewPerson();
    const headers = { ...from("203.0.113.77"), "idempotency-key": createKey() };
    await requestWithdrawalCode(certId, email, headers);
    const cookie = getCookies(await requestWithdrawalCode(certId, email, headers));
    const codes = await listCodes(email);
    expect(codes).toHaveLength(1);
    const wrong = codes[0] === "000000" ? "000001" : "000000";
    for (let attempt = 0; attempt < 5; attempt += 1) await submitWithdrawalCode(certId, { email, code: wrong });
    expect((await submitWithdrawalCode(certId, { email, code: codes[0] }, cookie)).status).toBe(200);
  });

  test("accept the header from pages, and let them read that a response is replayed", async () => {
    const origin = "https://www.example.com";
    for (const path of [`/v1/certs/${(await issueToNewPerson()).certId}/opt-out/request`, "/v1/auth/request-code", "/v1/webhooks"]) {
      const response = await call(path, { method: "OPTIONS", headers: { origin, "access-control-request-method": "POST" } });
      expect(response.headers.get("access-control-allow-headers"), path).toContain("Idempotency-Key");
      const ownOrigin = path.includes("opt-out") ? origin : new URL(platform.config.appUrl).origin;
      const answer = await post(path, {}, { origin: ownOrigin });
      expect(answer.headers.get("access-control-expose-headers"), path).toContain("Idempotency-Replayed");
    }
  });
});

describe("a share", () => {
  test("revoked by the link in its email is revoked once, and a repeat from the same address gets the same response", async () => {
    const pat = await signInPerson();
    const id = await createShare(pat);
    const token = (await listMailTo(pat.email)).map(({ text }) => /\/stop\/\S+#t=(\S+)/.exec(text)?.[1]).find(Boolean);
    const sendable = { path: `/v1/shares/${id}/revoke`, body: { revoke_token: token }, otherBody: {}, ...createVisitors() };
    const key = createKey();
    const first = await send(sendable, key);
    const before = await readEffects();
    const second = await send(sendable, key);
    expect([summarizeResponse(second), isReplay(second)]).toEqual([summarizeResponse(first), true]);
    const otherResponse = await send(sendable, key, { caller: sendable.otherCaller() });
    expect([isReplay(otherResponse), otherResponse.body.data.already_revoked]).toEqual([false, true]);
    expect(await readEffects()).toEqual(before);
  });
});

describe("POST /v1/share/redeem", () => {
  const origin = "https://www.example.com";
  const prepareRedemption = async () => {
    const granted = await grantShare(await signInPerson());
    const key = { origin, "idempotency-key": createKey() };
    const countEntries = async (): Promise<unknown> =>
      env.DB.prepare("SELECT COUNT(*) AS n FROM audit_entries WHERE type = 'share.redeemed' AND entity_id = ?")
        .bind(granted.share.id)
        .first();
    return { granted, key, entries: countEntries };
  };

  test("redeems once per key, and returns the response again while the code would be valid, without storing it", async () => {
    const { granted, key, entries } = await prepareRedemption();
    const countKeptRows = () => countRows(["idempotent_responses", "idempotency_claims"]);
    const before = await countKeptRows();
    const first = await redeemCode(granted, {}, key);
    const second = await redeemCode(granted, {}, key);
    expect([summarizeResponse(second), isReplay(first), isReplay(second)]).toEqual([summarizeResponse(first), false, true]);
    expect(await entries()).toEqual({ n: 2 }); // one entry in each of the two audit chains
    expect(await countKeptRows()).toEqual(before);
    vi.setSystemTime(start + minuteMs);
    expect(describeOutcome(await redeemCode(granted, {}, key))).toBe("409 code_used");
  });

  test("refuses a repeat with another key, without a key, or by another caller", async () => {
    const { granted, key } = await prepareRedemption();
    expect((await redeemCode(granted, {}, key)).status).toBe(200);
    expect(describeOutcome(await redeemCode(granted, {}, { origin, "idempotency-key": createKey() }))).toBe("409 code_used");
    expect(describeOutcome(await redeemCode(granted, {}, { origin }))).toBe("409 code_used");
    expect(describeOutcome(await redeemCode(granted, { code_verifier: createVerifier() }, key))).toBe("400 pkce_mismatch");
    expect(describeOutcome(await redeemCode(granted, { client_id: world.other.clients.live }, key))).toBe("400 code_invalid");
    expect(describeOutcome(await redeemCode(granted, {}, { ...key, origin: "https://other.example" }))).toBe("403 origin_mismatch");
    expect(isReplay(await redeemCode(granted, {}, key))).toBe(true);
  });

  test("redeems once for concurrent repeats with one key, and returns the same response to all", async () => {
    const { granted, key, entries } = await prepareRedemption();
    const responses = await Promise.all(Array.from({ length: 8 }, () => redeemCode(granted, {}, key)));
    expect(responses.map(describeOutcome)).toEqual(Array.from({ length: 8 }, () => "200 ok"));
    expect(responses.filter((response) => !isReplay(response))).toHaveLength(1);
    expect(new Set(responses.map(({ body }) => JSON.stringify(body.data))).size).toBe(1);
    expect(await entries()).toEqual({ n: 2 });
  });

  test("returns 409 share_inactive to a repeat after the share was revoked", async () => {
    const pat = await signInPerson();
    const granted = await grantShare(pat);
    const key = { origin, "idempotency-key": createKey() };
    expect((await redeemCode(granted, {}, key)).status).toBe(200);
    await pat.post(`/v1/shares/${granted.share.id}/revoke`, {});
    expect(describeOutcome(await redeemCode(granted, {}, key))).toBe("409 share_inactive");
  });

  test("refuses an invalid key before it uses the code", async () => {
    const granted = await grantShare(await signInPerson());
    const response = await redeemCode(granted, {}, { origin, "idempotency-key": "a b" });
    expect([describeOutcome(response), response.body.error.message]).toEqual([
      "400 invalid_request",
      expect.stringMatching(/^Idempotency-Key: /),
    ]);
    expect((await redeemCode(granted)).status).toBe(200);
  });
});

describe("a body with an unknown member that looks like a record of another shard", () => {
  test.each(["client_id", "cert_id"])("is processed as without %s", async (name) => {
    const headers = { ...consumer, "idempotency-key": createKey() };
    const body = { name: "Helper", [name]: worldInSecondShard.acme.clients.live };
    const first = await post("/v1/me/agent-token", body, headers);
    expect(describeOutcome(first)).toBe("201 ok");
    const repeated = await post("/v1/me/agent-token", body, headers);
    expect([isReplay(repeated), repeated.body.data]).toEqual([true, first.body.data]);
  });
});

describe("POST /v1/auth/verify-code", () => {
  test("ignores the key: a code gives one session however often it is sent", async () => {
    const email = createEmailAddress();
    await post("/v1/auth/request-code", { email, realm: "consumer" }, {});
    const [mail] = (await getWithKey(`/dev/mail?to=${encodeURIComponent(email)}`)).body.messages;
    const proof = { email, realm: "consumer", code: findNewestCode([mail]) };
    const headers = { "idempotency-key": createKey() };
    const before = await env.DB.prepare("SELECT COUNT(*) AS n FROM idempotent_responses").first();
    expect((await post("/v1/auth/verify-code", proof, headers)).status).toBe(200);
    const repeated = await post("/v1/auth/verify-code", proof, headers);
    expect(describeOutcome(repeated)).toBe("400 login_failed");
    expect(repeated.headers.has("set-cookie")).toBe(false);
    expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM idempotent_responses").first()).toEqual(before);
  });
});
