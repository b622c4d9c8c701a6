// Tests how much a business or a sandbox can store with certificates and shares together.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { dayMs } from "../../core/time.ts";
import { buildDecision, createVerifier } from "../support/sharing.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import {
  buildConsentRequest,
  buildSubmission,
  createServiceCall,
  world,
  type Call,
  type ConsentBody,
  type TestResponse,
} from "../support/world.ts";

const { acme } = world;
const withKey = (key: string) => ({ authorization: `Bearer ${key}` });
const submit = (service: Call, change: Partial<ConsentBody> = {}, headers: Readonly<Record<string, string>> = {}): Promise<TestResponse> =>
  service("/v1/consent", buildConsentRequest({ ...buildSubmission(), ...change }, headers));
const submitTest = (service: Call, change: Partial<ConsentBody> = {}, headers: Readonly<Record<string, string>> = {}) =>
  submit(service, { client_id: acme.clients.sandbox, ...change }, headers);
const grantTestShare = (service: Call): Promise<TestResponse> =>
  service("/v1/share/sandbox-consent", {
    method: "POST",
    headers: { "content-type": "application/json", origin: "https://www.example.com" },
    body: JSON.stringify(buildDecision(createVerifier(), { client_id: acme.clients.sandbox })),
  });
const describeRefusal = ({ status, headers, body }: TestResponse) => ({
  status,
  code: body.error?.code,
  message: body.error?.message,
  retryAfter: headers.get("retry-after"),
});
const sandboxRefusal = {
  status: 429,
  code: "rate_limited",
  message: "This sandbox has reached its limit for the last 30 days. Retry tomorrow (UTC), when older test records no longer count.",
  retryAfter: "300",
};

// Each test starts 40 days after the previous one, five minutes before the end of a day, so Retry-After is 300 seconds.
let day = Date.UTC(2031, 0, 1);
beforeEach(() => {
  day += 40 * dayMs;
  vi.useFakeTimers({ toFake: ["Date"], now: day + dayMs - 300_000 });
});
afterEach(async () => {
  await waitUntilSettled();
  vi.useRealTimers();
  await env.DB.exec("DELETE FROM record_usage");
});

describe("a sandbox", () => {
  test("stores a limited number of test certificates and test shares together, regardless of who sends them", async () => {
    const service = createServiceCall({ LIMIT_SANDBOX_RECORDS: "3" });
    expect((await submitTest(service)).status).toBe(201);
    expect((await submitTest(service, {}, withKey(acme.keys.sandbox))).status).toBe(201);
    expect((await grantTestShare(service)).status).toBe(201);
    expect(describeRefusal(await submitTest(service))).toEqual(sandboxRefusal);
    expect(describeRefusal(await submitTest(service, {}, withKey(acme.keys.live)))).toEqual(sandboxRefusal);
    expect(describeRefusal(await grantTestShare(service))).toEqual(sandboxRefusal);
    expect((await submit(service)).status).toBe(201);
    expect((await submit(service, {}, withKey(acme.keys.live))).status).toBe(201);
  });

  test("has room again 30 days later", async () => {
    const service = createServiceCall({ LIMIT_SANDBOX_RECORDS: "1" });
    expect((await submitTest(service)).status).toBe(201);
    vi.setSystemTime(day + 30 * dayMs - 1);
    expect(describeRefusal(await submitTest(service))).toMatchObject({ status: 429 });
    vi.setSystemTime(day + 30 * dayMs);
    expect((await submitTest(service)).status).toBe(201);
  });

  test("stores a limited number of bytes, and shared texts count only when they are new", async () => {
    const service = createServiceCall({ LIMIT_SANDBOX_BYTES: "80000" });
    const text = { disclosure_text: `${crypto.randomUUID()} ${"x".repeat(50_000)}` };
    expect((await submitTest(service, text)).status).toBe(201);
    expect((await submitTest(service, text)).status).toBe(201);
    const other = { disclosure_text: `${crypto.randomUUID()} ${"y".repeat(50_000)}` };
    expect(describeRefusal(await submitTest(service, other))).toEqual(sandboxRefusal);
    expect(await env.DB.prepare("SELECT 1 FROM disclosures WHERE text = ?").bind(other.disclosure_text).first()).toBeNull();
  });

  test("refuses a triggered event that would store a share, and a renewal", async () => {
    const service = createServiceCall({ LIMIT_SANDBOX_RECORDS: "1" });
    const trigger = (body: object) =>
      service("/v1/sandbox/trigger", {
        method: "POST",
        headers: { "content-type": "application/json", ...withKey(acme.keys.sandbox) },
        body: JSON.stringify(body),
      });
    const created = await trigger({ type: "share.created" });
    expect(created.status).toBe(200);
    expect(describeRefusal(await trigger({ type: "share.created" }))).toEqual(sandboxRefusal);
    expect(describeRefusal(await trigger({ type: "share.renewed", share_id: created.body.data.share.id }))).toEqual(sandboxRefusal);
  });
});

describe("a business", () => {
  test("stores a limited number of submissions with API keys a day, and its visitors are not affected", async () => {
    const service = createServiceCall({ DEV_RATE_SCALE: "1", LIMIT_BUSINESS_DAY: "2" });
    const statuses = [];
    for (let at = 0; at < 2; at += 1) statuses.push((await submit(service, {}, withKey(acme.keys.live))).status);
    expect(statuses).toEqual([201, 201]);
    expect(describeRefusal(await submit(service, {}, withKey(acme.keys.live)))).toEqual({
      status: 429,
      code: "rate_limited",
      message: "This business has reached its daily limit of submissions with an API key. Retry tomorrow (UTC).",
      retryAfter: "300",
    });
    expect((await submit(service)).status).toBe(201);
    vi.setSystemTime(day + dayMs);
    expect((await submit(service, {}, withKey(acme.keys.live))).status).toBe(201);
  });

  test("stores a limited number of bytes a day with API keys", async () => {
    const service = createServiceCall({ DEV_RATE_SCALE: "1", LIMIT_BUSINESS_DAY_BYTES: "30000" });
    const buildText = () => ({ disclosure_text: `${crypto.randomUUID()} ${"x".repeat(20_000)}` });
    expect((await submit(service, buildText(), withKey(acme.keys.live))).status).toBe(201);
    expect((await submit(service, buildText(), withKey(acme.keys.live))).status).toBe(429);
  });
});
