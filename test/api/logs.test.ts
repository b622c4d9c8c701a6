// Tests that logs contain no personal data: every input of each request contains a marker, and no log line contains the marker.
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { RateLimiter } from "../../durable-objects/rate-limiter/object.ts";
import { runScheduledJobs } from "../../workers/background/schedule.ts";
import type { Env } from "../../workers/env.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import { Authenticator } from "../support/authenticator.ts";
import { getCookie, signIn, createDifferentCode } from "../support/people.ts";
import {
  call,
  buildConsentRequest,
  createEntryCall,
  issueCertificate,
  createServiceCall,
  buildSubmission,
  world,
  type Call,
} from "../support/world.ts";
import { findNewestCode } from "../support/email-code.ts";

const lines: string[] = [];
let certOfAcme = "";
beforeAll(async () => {
  certOfAcme = (await issueCertificate()).cert_id;
});
beforeEach(() => {
  lines.length = 0;
  for (const method of ["log", "info", "warn", "error", "debug", "trace"] as const) {
    vi.spyOn(console, method).mockImplementation((...words: unknown[]) => {
      lines.push(
        words
          .map((word) => (word instanceof Error ? `${word.message} ${word.stack}` : typeof word === "string" ? word : JSON.stringify(word)))
          .join(" "),
      );
    });
  }
});
afterEach(() => {
  vi.restoreAllMocks();
});

const marker = "zqmarkerqz";
const markedHeaders: Readonly<Record<string, string>> = {
  "cf-connecting-ip": "198.51.100.199",
  "user-agent": `${marker}-agent`,
  referer: `https://${marker}-referer.example/`,
  cookie: `svc_session=${marker}`,
  "x-forwarded-for": `${marker}, 198.51.100.199`,
  "x-request-id": marker,
  "x-subject-user-agent": marker,
  "accept-language": marker,
  "if-none-match": `"${marker}"`,
  "x-anything": marker,
};
const markedBody = {
  ...buildSubmission(),
  fields: { email: `${marker}@example.com`, first_name: marker, message: marker, [marker]: marker },
  disclosure_text: `${marker} disclosure`,
  entities: [`${marker} Inc`],
  purpose: `${marker} purpose`,
  page_url: `https://www.example.com/${marker}?${marker}=1#${marker}`,
  referrer: `https://${marker}.example/`,
  locale: marker,
  client_time: marker,
  esign: { disclosure_text: marker, accepted: true },
  [marker]: marker,
};
const buildConsent = (body: unknown, headers: Record<string, string | null> = {}): RequestInit =>
  buildConsentRequest(body, { ...markedHeaders, ...headers });
const withKey = (key: string): RequestInit => ({ headers: { ...markedHeaders, authorization: `Bearer ${key}` } });

/** Sends requests that use the database, KV and the rate limiter. */
const useEach = async (service: Call): Promise<void> => {
  await service("/v1/consent", buildConsent(markedBody, { "idempotency-key": `${marker}-again` }));
  await service("/v1/consent", buildConsent(markedBody, { authorization: `Bearer ${world.acme.keys.live}` }));
  for (const path of [
    `/v1/certs?q=${marker}`,
    `/v1/certs/${certOfAcme}?${marker}`,
    `/v1/certs/${certOfAcme}/evidence-pack`,
    `/v1/certs/${certOfAcme}/verify`,
    `/c/${certOfAcme}`,
    "/v1/health",
  ])
    await service(path, withKey(world.acme.keys.live));
};

/** Sends many valid and invalid requests that need no signed-in person. */
const useAll = async (service: Call): Promise<void> => {
  const issued = await service("/v1/consent", buildConsent(markedBody, { "idempotency-key": marker }));
  await service("/v1/consent", buildConsent(markedBody, { "idempotency-key": marker }));
  await service("/v1/consent", buildConsent({ ...markedBody, purpose: `another ${marker}` }, { "idempotency-key": marker }));
  const certId = issued.body?.data?.cert_id ?? "cc_00000000000000000000000000";
  const bad: readonly unknown[] = [
    `{"${marker}":`,
    `"${marker}"`,
    { ...markedBody, fields: { email: marker } },
    { ...markedBody, purpose: `${marker}\u0000` },
    { ...markedBody, entities: marker },
    { ...markedBody, page_url: marker },
    { ...markedBody, submission_id: marker },
    { ...markedBody, client_id: marker },
    { ...markedBody, presentation: { opt_in_type: marker } },
    `${marker}${"x".repeat(300_000)}`,
  ];
  for (const body of bad) await service("/v1/consent", buildConsent(body));
  await service("/v1/consent", buildConsent(markedBody, { origin: `https://${marker}.example` }));
  await service("/v1/consent", buildConsent(markedBody, { origin: marker }));
  await service("/v1/consent", buildConsent(markedBody, { authorization: `Bearer ${marker}` }));
  await service("/v1/consent", buildConsent(markedBody, { authorization: `Bearer ${world.other.keys.live}` }));
  await service("/v1/consent", buildConsent(markedBody, { "content-type": `text/${marker}` }));
  await service("/v1/consent", buildConsent(markedBody, { "content-encoding": marker }));
  await service(
    "/v1/consent",
    buildConsent({ ...markedBody, ...buildSubmission(world.examples.free), client_id: world.examples.free.clients.live }),
  );
  await service(`/v1/consent?${marker}=${marker}`, buildConsent(markedBody));

  for (const key of [world.acme.keys.live, world.other.keys.live, `sk_live_00${marker}`, world.examples.suspended.keys.live]) {
    await service(
      `/v1/certs?subject_email=${marker}%40example.com&q=${marker}&entity=${marker}&subject_phone=${marker}&${marker}=1`,
      withKey(key),
    );
    await service(`/v1/certs?status=${marker}`, withKey(key));
    await service(`/v1/certs/${certId}?${marker}`, withKey(key));
    await service(`/v1/certs/${marker}`, withKey(key));
    await service(`/v1/certs/${certId}/evidence-pack?disclose=${marker}`, withKey(key));
    await service(`/v1/certs/${certId}/evidence-pack?format=${marker}`, withKey(key));
  }
  for (const path of [
    `/${marker}`,
    `/v1/${marker}`,
    `/v1/certs/${marker}/verify?${marker}`,
    `/v1/certs/${certId}/verify?${marker}`,
    `/c/${marker}?${marker}`,
    `/c/${certId}?${marker}`,
    `/v1/health?${marker}`,
    `/%F0%9F${marker}`,
  ]) {
    for (const method of ["GET", "HEAD", "POST", "DELETE", "OPTIONS"]) await service(path, { method, headers: markedHeaders });
  }
};

/**
 * Sends valid and invalid requests as signed-in people. Adds the secrets that they receive to the strings that the log must not contain.
 */
const useByPeople = async (service: Call): Promise<void> => {
  const { cookie: _cookie, ...rest } = markedHeaders;
  const send = (path: string, body: unknown, headers: Record<string, string> = {}, method = "POST") =>
    service(path, { method, headers: { ...rest, "content-type": "application/json", ...headers }, body: JSON.stringify(body) });
  const email = `${marker}@example.com`;
  const proof = { email, realm: "consumer", name: `${marker} name` };
  await send("/v1/auth/request-code", { email, realm: "consumer" });
  await send("/v1/auth/request-code", { email: marker, realm: marker });
  await send("/v1/auth/request-code", { email, realm: "business" }, { origin: `https://${marker}.example` });
  const { text } = (await service(`/dev/mail?to=${email}`)).body.messages[0];
  const code = findNewestCode([{ text }]) as string;
  await send("/v1/auth/verify-code", { ...proof, code: marker });
  await send("/v1/auth/verify-code", { ...proof, code: createDifferentCode(code) });
  const signed = await send("/v1/auth/verify-code", { ...proof, code });
  expect(signed.status).toBe(200);
  const owner = await signIn(world.ownerEmail);
  secrets.push(code, getCookie(signed).slice(12), owner.cookie.slice(12));
  await service(`/v1/auth/session?${marker}`, { headers: { ...markedHeaders, cookie: getCookie(signed) } });
  const me = { cookie: getCookie(signed) };
  const { options } = (await send("/v1/me/passkeys/options", {}, me)).body.data;
  const credential = { ...(await new Authenticator().make(options)), [marker]: marker };
  const added = await send("/v1/me/passkeys", { credential, name: marker }, me);
  expect(added.status).toBe(201);
  secrets.push(options.challenge, options.user.id, credential.id);
  for (const submitted of [credential, { ...credential, id: marker }, marker])
    for (const path of ["/v1/me/passkeys", "/v1/auth/passkey/verify"]) await send(path, { credential: submitted, name: marker }, me);
  for (const path of [`/v1/me/passkeys/${marker}`, `/v1/me/passkeys/${added.body.data.id}`, `/v1/me/sessions/${marker}`])
    await send(path, { [marker]: marker }, me, "DELETE");
  const webhook = { url: `https://hook1.merchant-tests.com/${marker}?${marker}`, description: marker };
  const created = await send("/v1/webhooks", webhook, { ...owner, "idempotency-key": marker });
  expect(created.status).toBe(201);
  secrets.push(created.body.data.secret);
  const at = `/v1/webhooks/${created.body.data.id}`;
  for (const body of [{ ...webhook, [marker]: 1 }, { url: `https://${marker}.local/` }, { url: marker }, { ...webhook, events: [marker] }])
    await send("/v1/webhooks", body, owner);
  for (const [method, path] of [
    ["PATCH", at],
    ["POST", `${at}/rotate-secret`],
    ["POST", `${at}/test`],
    ["POST", `/v1/webhooks/deliveries/${marker}/replay`],
    ["POST", `/v1/webhooks/${marker}/test`],
    ["DELETE", `/v1/webhooks/${marker}`],
    ["DELETE", at],
  ] as const)
    await send(path, { description: marker }, owner, method);
  for (const path of ["/v1/webhooks", `${at}/secret`, `${at}/deliveries?before=${marker}`, `/v1/webhooks/${marker}/deliveries`])
    await service(path, { headers: { ...markedHeaders, ...owner } });
  const minted = await send("/v1/me/agent-token", { name: marker }, { cookie: getCookie(signed), "idempotency-key": marker });
  expect(minted.status).toBe(201);
  secrets.push(minted.body.data.token);
  const agent = { authorization: `Bearer ${minted.body.data.token}` };
  const buildToolCall = (params: object) => ({ jsonrpc: "2.0", id: marker, method: "tools/call", params });
  for (const params of [
    { name: marker },
    { name: "svc_get_audit", arguments: { [marker]: marker } },
    { name: "svc_list_events" },
    { name: "svc_get_audit" },
  ])
    await send(`/mcp?${marker}`, buildToolCall(params), agent);
  await send("/mcp", { jsonrpc: "2.0", id: marker, method: marker }, agent);
  await send("/mcp", `${marker}`, { authorization: `Bearer pat_00${marker}`, origin: `https://${marker}.example` });
  await send("/v1/auth/logout", { [marker]: marker }, { cookie: getCookie(signed) });
};

const secrets = [world.acme.keys.live, world.other.keys.live, world.acme.keys.live.slice(-20), "198.51.100.199"];
const findLeaks = (): string[] =>
  lines.filter((line) => line.toLowerCase().includes(marker) || secrets.some((secret) => line.includes(secret)));

const allowedMembers = [
  "level",
  "request_id",
  "method",
  "route",
  "status",
  "ms",
  "code",
  "business_id",
  "key_id",
  "token_id",
  "at",
  "error",
];

describe("the log", () => {
  test("contains one line per request and nothing that a caller sent", async () => {
    let requests = 0;
    await useAll((path, init) => {
      requests += 1;
      return call(path, init);
    });
    expect(requests).toBeGreaterThan(80);
    expect(findLeaks()).toEqual([]);
    const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(parsed.filter(({ route }) => route !== undefined)).toHaveLength(requests);
    expect(new Set(parsed.flatMap((line) => Object.keys(line)).filter((name) => !allowedMembers.includes(name)))).toEqual(new Set());
    for (const { status, code } of parsed.filter(({ route }) => route !== undefined))
      if (Number(status) >= 400) expect(code === undefined).toBe(false);
  });

  test("contains no data of people who sign in, no endpoints they manage and no secrets they are shown", async () => {
    vi.spyOn(globalThis, "fetch").mockImplementation(() => Promise.reject(new Error(`${marker} is not there`)));
    await useByPeople(call);
    expect(lines.length).toBeGreaterThan(25);
    expect(findLeaks()).toEqual([]);
    const members = lines.flatMap((line) => Object.keys(JSON.parse(line) as object));
    expect(members.filter((name) => !allowedMembers.includes(name))).toEqual([]);
    const route = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .find((line) => line.route === "/v1/webhooks/:webhook_id");
    expect(route).toMatchObject({ business_id: world.acme.id });
  });

  test("identifies the caller by ids and the path by the template of the route", async () => {
    await call(`/v1/certs/cc_00000000000000000000000000?x=1`, withKey(world.acme.keys.live));
    const line = JSON.parse(lines.at(-1) as string) as Record<string, unknown>;
    expect(line).toMatchObject({
      level: "info",
      method: "GET",
      route: "/v1/certs/:cert_id",
      status: 404,
      code: "cert_not_found",
      business_id: world.acme.id,
    });
    expect(line.key_id).toMatch(/^key_/);
    expect(line.request_id).toMatch(/^req_/);
  });

  test("contains no caller data when storage, keys or settings fail with messages that include it", async () => {
    const words = new Error(`D1_ERROR: UNIQUE constraint failed: ${marker} 198.51.100.199: SQLITE_CONSTRAINT`);
    const rejectQuery = (): Promise<never> => Promise.reject(words);
    const statement = { bind: () => statement, first: rejectQuery, all: rejectQuery, run: rejectQuery, raw: rejectQuery };
    const half = {
      prepare: (sql: string) => env.DB.prepare(sql),
      batch: rejectQuery,
    };
    for (const broken of [
      { DB: { prepare: () => statement, batch: rejectQuery } },
      { DB: half },
      { KV: { get: rejectQuery, put: rejectQuery, list: rejectQuery } },
      {
        DB: {
          prepare: () => {
            throw new TypeError(marker);
          },
          batch: rejectQuery,
        },
      },
      { RATE_LIMITER: { getByName: (): Partial<Record<keyof RateLimiter, unknown>> => ({ take: rejectQuery }) } },
    ]) {
      await useEach(createServiceCall(broken));
    }
    await useEach(createEntryCall({ MASTER_KEYS: marker, BASE_URL: marker }));
    expect(lines.some((line) => line.includes('"level":"error"'))).toBe(true);
    expect(findLeaks()).toEqual([]);
  });

  test("contains no personal data when work after the response fails", async () => {
    const rejectQuery = (): Promise<never> => Promise.reject(new Error(`D1_ERROR: ${marker}`));
    const statement = { bind: () => statement, first: rejectQuery, all: rejectQuery, run: rejectQuery };
    const platform = await createPlatform({ ...env, DB: { prepare: () => statement, batch: rejectQuery } } as unknown as Env);
    for (const cron of ["* * * * *", "*/15 * * * *"]) await runScheduledJobs(platform, cron, Date.now()).catch(() => undefined); // a cron run may fail, but it must not log the cause
    expect(findLeaks()).toEqual([]);
  });
});
