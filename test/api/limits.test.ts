// Limits by address and by client, as an isolate with the published limits counts them.
import { afterEach, describe, expect, test, vi } from "vitest";
import { buildJsonRequest } from "../support/people.ts";
import { createVerifier, grantShare, describeOutcome, signInPerson, redeemCode } from "../support/sharing.ts";
import {
  call,
  buildConsentRequest,
  origin,
  createServiceCall,
  buildSubmission,
  world,
  type TestResponse,
  type Call,
} from "../support/world.ts";

/** Without the platform's own shield, whose local stand-in also counts. */
const published = { DEV_RATE_SCALE: "1", SHIELD: undefined };
const from = (ip: string): Record<string, string> => ({ "cf-connecting-ip": ip });
const verify = (service: Call, ip: string): Promise<TestResponse> =>
  service("/v1/certs/cc_00000000000000000000000000/verify", { headers: from(ip) });
const badConsent = (service: Call, ip: string): Promise<TestResponse> => service("/v1/consent", buildConsentRequest("{", from(ip)));
const times = async (count: number, ask: () => Promise<TestResponse>): Promise<number[]> => {
  const statuses: number[] = [];
  for (let at = 0; at < count; at += 1) statuses.push((await ask()).status);
  return statuses;
};

afterEach(() => {
  vi.useRealTimers();
});

describe("limits by address", () => {
  test("60 submissions a minute, good or bad, then 429 with Retry-After, for that address alone", async () => {
    const start = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: start });
    const service = createServiceCall(published);
    expect(new Set(await times(60, () => badConsent(service, "203.0.113.7")))).toEqual(new Set([400]));
    const refused = await badConsent(service, "203.0.113.7");
    expect([refused.status, refused.body.error.code, refused.headers.get("retry-after")]).toEqual([429, "rate_limited", "60"]);
    expect([refused.headers.get("ratelimit-limit"), refused.headers.get("ratelimit-remaining")]).toEqual(["60", "0"]);
    expect((await badConsent(service, "203.0.113.8")).status).toBe(400);
    vi.setSystemTime(start + 59_999);
    expect((await badConsent(service, "203.0.113.7")).status).toBe(429);
    vi.setSystemTime(start + 60_000);
    expect((await badConsent(service, "203.0.113.7")).status).toBe(400);
  });

  test("an IPv6 subscriber is one address, whatever the last 64 bits", async () => {
    const service = createServiceCall({ ...published, LIMIT_CONSENT_PER_IP: "2/60" });
    const statuses: number[] = [];
    for (const ip of ["2001:db8:1:2::1", "2001:DB8:1:2:ffff::9", "2001:db8:0001:0002:3:4:5:6", "2001:db8:1:3::1"])
      statuses.push((await badConsent(service, ip)).status);
    expect(statuses).toEqual([400, 400, 429, 400]);
  });

  test("headers that only claim an address do not make another one", async () => {
    const service = createServiceCall({ ...published, LIMIT_CONSENT_PER_IP: "2/60" });
    const statuses: number[] = [];
    for (let at = 0; at < 4; at += 1) {
      const claims = {
        "x-forwarded-for": `198.51.100.${at}`,
        "x-real-ip": `198.51.100.${at}`,
        "true-client-ip": `198.51.100.${at}`,
        forwarded: `for=198.51.100.${at}`,
      };
      statuses.push((await service("/v1/consent", buildConsentRequest("{", { ...from("203.0.113.7"), ...claims }))).status);
    }
    expect(statuses).toEqual([400, 400, 429, 429]);
  });

  test("120 verifications a minute, found or not", async () => {
    const service = createServiceCall(published);
    expect(new Set(await times(120, () => verify(service, "203.0.113.7")))).toEqual(new Set([404]));
    expect((await verify(service, "203.0.113.7")).status).toBe(429);
    expect((await verify(service, "203.0.113.8")).status).toBe(404);
  });

  test("the platform's shield refuses on top, and asks nothing while ours refuses", async () => {
    let asked = 0;
    const shield = (success: boolean) => ({
      limit: async (): Promise<{ success: boolean }> => {
        asked += 1;
        return { success };
      },
    });
    const refused = await badConsent(createServiceCall({ ...published, SHIELD: shield(false) }), "203.0.113.7");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
    const service = createServiceCall({ ...published, LIMIT_CONSENT_PER_IP: "1/60", SHIELD: shield(true) });
    expect(await times(3, () => badConsent(service, "203.0.113.7"))).toEqual([400, 429, 429]);
    expect(asked).toBe(2);
  });

  test("a shield that fails refuses nobody: our own limit goes on counting", async () => {
    const broken = { limit: () => Promise.reject(new Error("the platform's limiter is away")) };
    const service = createServiceCall({ ...published, LIMIT_CONSENT_PER_IP: "1/60", SHIELD: broken });
    expect((await service("/v1/consent", buildConsentRequest(buildSubmission(world.acme), from("203.0.113.7")))).status).toBe(201);
    expect((await badConsent(service, "203.0.113.7")).status).toBe(429);
  });
});

describe("limits of sharing", () => {
  const stopPath = "/v1/shares/shr_00000000000000000000000000/revoke";
  const redeemPath = "/v1/share/redeem";
  const badPost = (path: string) => (service: Call, ip: string) =>
    service(path, { method: "POST", headers: { "content-type": "application/json", ...from(ip) }, body: "{" });

  test.each<readonly [string, (service: Call, ip: string) => Promise<TestResponse>]>([
    ["requests that are checked", (service, ip) => service("/v1/authorize", { headers: from(ip) })],
    ["redemptions", badPost(redeemPath)],
    ["test shares", badPost("/v1/share/sandbox-consent")],
    ["links that stop a share", badPost(stopPath)],
  ])("60 %s a minute, good or bad, then 429 for that address alone", async (_name, ask) => {
    const start = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: start });
    const service = createServiceCall(published);
    expect(new Set(await times(60, () => ask(service, "203.0.113.7")))).toEqual(new Set([400]));
    const refused = await ask(service, "203.0.113.7");
    expect([describeOutcome(refused), refused.headers.get("retry-after"), refused.headers.get("ratelimit-limit")]).toEqual([
      "429 rate_limited",
      "60",
      "60",
    ]);
    expect((await ask(service, "203.0.113.8")).status).toBe(400);
    vi.setSystemTime(start + 60_000);
    expect((await ask(service, "203.0.113.7")).status).toBe(400);
  });

  test("20 wrong tries of one code a minute, then 429 for that address and that code alone; none uses the code up", async () => {
    const granted = await grantShare(await signInPerson());
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const service = createServiceCall(published);
    const wrong = (ip: string, code = granted.code): Promise<TestResponse> =>
      redeemCode({ code, verifier: createVerifier() }, {}, { origin, ...from(ip) }, service);
    expect(new Set(await times(20, () => wrong("203.0.113.7")))).toEqual(new Set([400]));
    expect(describeOutcome(await wrong("203.0.113.7"))).toBe("429 rate_limited");
    expect(describeOutcome(await wrong("203.0.113.7", `ac_00${"A".repeat(43)}`))).toBe("400 code_invalid");
    expect(describeOutcome(await wrong("203.0.113.8"))).toBe("400 pkce_mismatch");
    expect(describeOutcome(await redeemCode(granted, {}, { origin, ...from("203.0.113.7") }, service))).toBe("200 ok");
  });

  test.each([
    ["decisions", "POST", "/v1/share/consent"],
    ["changes of fields", "PUT", "/v1/me/fields"],
  ])("30 %s a minute by one person, good or bad, then 429 for that person alone", async (_name, method, path) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const [pat, sam] = [await signInPerson({}), await signInPerson({})];
    const bad = ({ headers }: typeof pat): Promise<TestResponse> => call(path, { ...buildJsonRequest({}, headers), method, body: "{" });
    expect(new Set(await times(30, () => bad(pat)))).toEqual(new Set([400]));
    const refused = await bad(pat);
    expect([describeOutcome(refused), refused.headers.get("retry-after"), refused.headers.get("ratelimit-limit")]).toEqual([
      "429 rate_limited",
      "60",
      "30",
    ]);
    expect((await bad(sam)).status).toBe(400);
    expect((await pat.get("/v1/me")).status).toBe(200);
  });
});

describe("limits by client", () => {
  test("a client is counted over all addresses, with the others untouched", async () => {
    const service = createServiceCall({ ...published, LIMIT_CONSENT_PER_CLIENT: "3/60" });
    let ip = 0;
    const send = (clientId: string): Promise<TestResponse> => {
      ip += 1;
      return service(
        "/v1/consent",
        buildConsentRequest({ ...buildSubmission(), client_id: clientId, purpose: "" }, from(`203.0.113.${ip}`)),
      );
    };
    expect(await times(5, () => send(world.acme.clients.live))).toEqual([400, 400, 400, 429, 429]);
    const refused = await send(world.acme.clients.live);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(refused.headers.get("ratelimit-limit")).toBe("3");
    expect((await send(world.acme.clients.sandbox)).status).toBe(400);
    expect((await send("nobody")).status).toBe(400);
  });

  test("the published limit of a client is 600 a minute", async () => {
    const service = createServiceCall(published);
    let ip = 0;
    const send = (): Promise<TestResponse> => {
      ip += 1;
      return service("/v1/consent", buildConsentRequest({ ...buildSubmission(), purpose: "" }, from(`10.${ip >> 8}.${ip & 255}.1`)));
    };
    expect(new Set(await times(600, send))).toEqual(new Set([400]));
    expect((await send()).status).toBe(429);
  });
});
