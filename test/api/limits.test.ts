// Tests the limits per address, per person and per client, with the published settings.
import { beforeEach, describe, expect, test, vi } from "vitest";
import { buildJsonRequest, signIn } from "../support/people.ts";
import { stopClock } from "../support/stopped-clock.ts";
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

/** Excludes the platform's rate limiter, because its local simulation also counts requests. */
const published = { DEV_RATE_SCALE: "1", SHIELD: undefined };
const from = (ip: string): Record<string, string> => ({ "cf-connecting-ip": ip });
const verify = (service: Call, ip: string): Promise<TestResponse> =>
  service("/v1/certs/cc_00000000000000000000000000/verify", { headers: from(ip) });
const sendBadConsent = (service: Call, ip: string): Promise<TestResponse> => service("/v1/consent", buildConsentRequest("{", from(ip)));
const sendRepeatedly = async (count: number, sendRequest: () => Promise<TestResponse>): Promise<number[]> => {
  const statuses: number[] = [];
  for (let at = 0; at < count; at += 1) statuses.push((await sendRequest()).status);
  return statuses;
};

let start = 0;
beforeEach(() => {
  start = stopClock();
});

describe("the limit on changes", () => {
  test("that a member has used up does not keep the owners from making changes", async () => {
    const service = createServiceCall({ ...published, LIMIT_CHANGES_PER_ACCOUNT: "1/1" });
    const patch = async (email: string) => {
      const session = await signIn(email);
      return () => service("/v1/business/portal", { ...buildJsonRequest({}, session), method: "PATCH" });
    };
    const [sendAsMember, sendAsOwner] = [await patch(world.memberEmail), await patch(world.ownerEmail)];
    expect((await sendAsMember()).status).toBe(403); // only owners can change the profile, but the request counts
    expect((await sendAsMember()).status).toBe(429);
    expect((await sendAsOwner()).status).toBe(200);
    expect((await sendAsOwner()).status).toBe(429);
  });
});

describe("limits by address", () => {
  test("allow 60 submissions a minute, valid or not, then return 429 with Retry-After for that address alone", async () => {
    const service = createServiceCall(published);
    expect(new Set(await sendRepeatedly(60, () => sendBadConsent(service, "203.0.113.7")))).toEqual(new Set([400]));
    const refused = await sendBadConsent(service, "203.0.113.7");
    expect([refused.status, refused.body.error.code, refused.headers.get("retry-after")]).toEqual([429, "rate_limited", "60"]);
    expect([refused.headers.get("ratelimit-limit"), refused.headers.get("ratelimit-remaining")]).toEqual(["60", "0"]);
    expect((await sendBadConsent(service, "203.0.113.8")).status).toBe(400);
    vi.setSystemTime(start + 59_999);
    expect((await sendBadConsent(service, "203.0.113.7")).status).toBe(429);
    vi.setSystemTime(start + 60_000);
    expect((await sendBadConsent(service, "203.0.113.7")).status).toBe(400);
  });

  test("count an IPv6 /64 network as one address", async () => {
    const service = createServiceCall({ ...published, LIMIT_CONSENT_PER_IP: "2/60" });
    const statuses: number[] = [];
    for (const ip of ["2001:db8:1:2::1", "2001:DB8:1:2:ffff::9", "2001:db8:0001:0002:3:4:5:6", "2001:db8:1:3::1"])
      statuses.push((await sendBadConsent(service, ip)).status);
    expect(statuses).toEqual([400, 400, 429, 400]);
  });

  test("ignore headers that claim another address", async () => {
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

  test("allow 120 verifications a minute, found or not", async () => {
    const service = createServiceCall(published);
    expect(new Set(await sendRepeatedly(120, () => verify(service, "203.0.113.7")))).toEqual(new Set([404]));
    expect((await verify(service, "203.0.113.7")).status).toBe(429);
    expect((await verify(service, "203.0.113.8")).status).toBe(404);
  });

  test("include the platform's rate limiter, which is not called while our limit refuses", async () => {
    let calls = 0;
    const createShield = (success: boolean) => ({
      limit: async (): Promise<{ success: boolean }> => {
        calls += 1;
        return { success };
      },
    });
    const refused = await sendBadConsent(createServiceCall({ ...published, SHIELD: createShield(false) }), "203.0.113.7");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "60"]);
    const service = createServiceCall({ ...published, LIMIT_CONSENT_PER_IP: "1/60", SHIELD: createShield(true) });
    expect(await sendRepeatedly(3, () => sendBadConsent(service, "203.0.113.7"))).toEqual([400, 429, 429]);
    expect(calls).toBe(2);
  });

  test("keep counting, and refuse no request, when the platform's rate limiter fails", async () => {
    const broken = { limit: () => Promise.reject(new Error("the platform's limiter is away")) };
    const service = createServiceCall({ ...published, LIMIT_CONSENT_PER_IP: "1/60", SHIELD: broken });
    expect((await service("/v1/consent", buildConsentRequest(buildSubmission(world.acme), from("203.0.113.7")))).status).toBe(201);
    expect((await sendBadConsent(service, "203.0.113.7")).status).toBe(429);
  });
});

describe("limits of sharing", () => {
  const stopPath = "/v1/shares/shr_00000000000000000000000000/revoke";
  const redeemPath = "/v1/share/redeem";
  const createBadPost = (path: string) => (service: Call, ip: string) =>
    service(path, { method: "POST", headers: { "content-type": "application/json", ...from(ip) }, body: "{" });

  test.each<readonly [string, (service: Call, ip: string) => Promise<TestResponse>]>([
    ["checks of a request", (service, ip) => service("/v1/authorize", { headers: from(ip) })],
    ["redemptions", createBadPost(redeemPath)],
    ["test shares", createBadPost("/v1/share/sandbox-consent")],
    ["revocations by link", createBadPost(stopPath)],
  ])("allow 60 %s a minute, valid or not, then return 429 for that address alone", async (_name, sendRequest) => {
    const service = createServiceCall(published);
    expect(new Set(await sendRepeatedly(60, () => sendRequest(service, "203.0.113.7")))).toEqual(new Set([400]));
    const refused = await sendRequest(service, "203.0.113.7");
    expect([describeOutcome(refused), refused.headers.get("retry-after"), refused.headers.get("ratelimit-limit")]).toEqual([
      "429 rate_limited",
      "60",
      "60",
    ]);
    expect((await sendRequest(service, "203.0.113.8")).status).toBe(400);
    vi.setSystemTime(start + 60_000);
    expect((await sendRequest(service, "203.0.113.7")).status).toBe(400);
  });

  test("allow 20 wrong redemptions of one code a minute, then return 429 for that address and code alone, without using up the code", async () => {
    const granted = await grantShare(await signInPerson());
    const service = createServiceCall(published);
    const redeemWrongCode = (ip: string, code = granted.code): Promise<TestResponse> =>
      redeemCode({ code, verifier: createVerifier() }, {}, { origin, ...from(ip) }, service);
    expect(new Set(await sendRepeatedly(20, () => redeemWrongCode("203.0.113.7")))).toEqual(new Set([400]));
    expect(describeOutcome(await redeemWrongCode("203.0.113.7"))).toBe("429 rate_limited");
    expect(describeOutcome(await redeemWrongCode("203.0.113.7", `ac_00${"A".repeat(43)}`))).toBe("400 code_invalid");
    expect(describeOutcome(await redeemWrongCode("203.0.113.8"))).toBe("400 pkce_mismatch");
    expect(describeOutcome(await redeemCode(granted, {}, { origin, ...from("203.0.113.7") }, service))).toBe("200 ok");
  });

  test.each([
    [30, "decisions", "minute", "POST", "/v1/share/consent", 60],
    [60, "changes of fields", "hour", "PUT", "/v1/me/fields", 3_600],
  ])(
    "allow %i %s per %s per person, valid or not, then return 429 for that person alone",
    async (count, _name, _window, method, path, seconds) => {
      const [pat, sam] = [await signInPerson({}), await signInPerson({})];
      const sendBadBody = ({ headers }: typeof pat): Promise<TestResponse> =>
        call(path, { ...buildJsonRequest({}, headers), method, body: "{" });
      expect(new Set(await sendRepeatedly(count, () => sendBadBody(pat)))).toEqual(new Set([400]));
      const refused = await sendBadBody(pat);
      expect([describeOutcome(refused), refused.headers.get("retry-after"), refused.headers.get("ratelimit-limit")]).toEqual([
        "429 rate_limited",
        String(seconds),
        String(count),
      ]);
      expect((await sendBadBody(sam)).status).toBe(400);
      expect((await pat.get("/v1/me")).status).toBe(200);
    },
  );
});

describe("limits by client", () => {
  test("count a client's requests from all addresses together, and do not affect other clients", async () => {
    const service = createServiceCall({ ...published, LIMIT_CONSENT_PER_CLIENT: "3/60" });
    let ip = 0;
    const send = (clientId: string): Promise<TestResponse> => {
      ip += 1;
      return service(
        "/v1/consent",
        buildConsentRequest({ ...buildSubmission(), client_id: clientId, purpose: "" }, from(`203.0.113.${ip}`)),
      );
    };
    expect(await sendRepeatedly(5, () => send(world.acme.clients.live))).toEqual([400, 400, 400, 429, 429]);
    const refused = await send(world.acme.clients.live);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(refused.headers.get("ratelimit-limit")).toBe("3");
    expect((await send(world.acme.clients.sandbox)).status).toBe(400);
    expect((await send("nobody")).status).toBe(400);
  });

  test("allow a client 600 submissions a minute", { timeout: 120_000 }, async () => {
    const service = createServiceCall(published);
    let ip = 0;
    const send = (): Promise<TestResponse> => {
      ip += 1;
      return service("/v1/consent", buildConsentRequest({ ...buildSubmission(), purpose: "" }, from(`10.${ip >> 8}.${ip & 255}.1`)));
    };
    expect(new Set(await sendRepeatedly(600, send))).toEqual(new Set([400]));
    expect((await send()).status).toBe(429);
  });
});
