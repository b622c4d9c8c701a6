// Tests POST /v1/consent: the response, the order of refusals, what is signed and stored as evidence, and who may submit.
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, test } from "vitest";
import { fromBase64Url, toHex } from "../../core/bytes.ts";
import { toCanonicalJson, type Json } from "../../core/canonical-json.ts";
import { sha256Hex } from "../../core/hash.ts";
import type { DemoBusiness } from "../../scripts/demo-world.ts";
import {
  productionSettings,
  call,
  submitConsent,
  buildConsentRequest,
  createEntryCall,
  getWithKey,
  issueCertificate,
  countRows,
  createServiceCall,
  buildSubmission,
  world,
  worldInSecondShard,
  type TestResponse,
} from "../support/world.ts";

const buildBearer = (key: string): { authorization: string } => ({ authorization: `Bearer ${key}` });
const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body?.error?.code ?? "issued"}`;
const readEvidence = async (response: TestResponse, key: string = world.acme.keys.live): Promise<Record<string, unknown>> =>
  (await getWithKey(`/v1/certs/${response.body.data.cert_id}`, key)).body.data.evidence;

describe("POST /v1/consent", () => {
  test("returns a certificate that verifies immediately", async () => {
    const response = await submitConsent(buildSubmission());
    expect(response.status).toBe(201);
    expect(Object.keys(response.body)).toEqual(["ok", "data", "request_id"]);
    const { cert_id, fingerprint, issued_at, verify_url, status, environment, manage_url } = response.body.data;
    expect(cert_id).toMatch(/^cc_00[0-9a-hjkmnp-tv-z]{24}$/);
    expect(fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(issued_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(verify_url).toBe(`http://svc.test/c/${cert_id}`);
    expect(manage_url).toMatch(new RegExp(`^http://svc\\.test/c/${cert_id}#m=[A-Za-z0-9_-]{43}$`));
    expect({ status, environment }).toEqual({ status: "active", environment: "live" });
    const verified = await getWithKey(`/v1/certs/${cert_id}/verify`);
    expect(verified.status).toBe(200);
    expect(verified.body.data).toMatchObject({ cert_id, fingerprint, issued_at, status: "active" });
  });

  test("returns exactly the documented keys, with the recipient choices only if they were submitted", async () => {
    const always = ["cert_id", "environment", "fingerprint", "issued_at", "manage_url", "status", "verify_url"];
    expect(Object.keys(await issueCertificate()).sort()).toEqual(always);
    const askedCertificate = await issueCertificate({ entities_accepted: ["Bright Homes Inc"], entities_rejected: [] });
    expect(Object.keys(askedCertificate).sort()).toEqual([...always, "entities_accepted", "entities_rejected"].sort());
    expect([askedCertificate.entities_accepted, askedCertificate.entities_rejected]).toEqual([["Bright Homes Inc"], []]);
  });

  test("issues and finds an account's certificates on the second shard if the account is there", async () => {
    const receipt = await issueCertificate({}, worldInSecondShard.acme);
    expect(receipt.cert_id.slice(0, 5)).toBe("cc_01");
    const detail = await getWithKey(`/v1/certs/${receipt.cert_id}`, worldInSecondShard.acme.keys.live);
    expect(detail.body.data.subject).toEqual(buildSubmission().fields);
    expect((await getWithKey(`/v1/certs/${receipt.cert_id}`, world.acme.keys.live)).body.error.code).toBe("cert_not_found");
  });

  test("issues two certificates that share no hash when the same submission is sent twice", async () => {
    const [first, second] = [await issueCertificate(), await issueCertificate()];
    expect(first.cert_id).not.toBe(second.cert_id);
    const hashes = await Promise.all(
      [first, second].map(async ({ cert_id }) => (await getWithKey(`/v1/certs/${cert_id}/verify`)).body.data.subject_hash),
    );
    expect(hashes[0]).not.toBe(hashes[1]);
  });

  test("distinguishes an empty choice of recipients from no choice in the preimage", async () => {
    const receipts = [await issueCertificate(), await issueCertificate({ entities_accepted: [], entities_rejected: [] })];
    const preimages = await Promise.all(
      receipts.map(async ({ cert_id }) => (await getWithKey(`/v1/certs/${cert_id}/verify`)).body.data.preimage),
    );
    expect(preimages.map((preimage) => "entities_rejected" in preimage)).toEqual([false, true]);
  });

  test("stores neither the manage link's token nor its hash", async () => {
    const { cert_id, manage_url } = await issueCertificate();
    const token = String(manage_url).split("#m=")[1] as string;
    const row = await env.DB.prepare("SELECT * FROM certificates WHERE id = ?").bind(cert_id).first<Record<string, unknown>>();
    const stored = Object.values(row ?? {}).map((value) => (Array.isArray(value) ? toHex(Uint8Array.from(value)) : String(value)));
    expect(stored).toContain(cert_id);
    for (const text of [token, toHex(fromBase64Url(token) as Uint8Array), sha256Hex(token)]) expect(stored.join(" ")).not.toContain(text);
    expect((await getWithKey(`/v1/certs/${cert_id}`, world.acme.keys.live)).text).not.toContain(token);
  });
});

describe("the person a form names", () => {
  test("gets no email because of it", async () => {
    const before = await countRows(["mail_outbox", "captured_mail"]);
    for (let count = 0; count < 20; count += 1) await issueCertificate({ fields: { email: `somebody.else${count}@example.com` } });
    expect(await countRows(["mail_outbox", "captured_mail"])).toEqual(before);
  });
});

describe("the order of refusals of POST /v1/consent", () => {
  const free = world.examples.free;
  /** Each row corrects one mistake of the previous row and gets the next refusal. */
  const steps: readonly (readonly [name: string, body: unknown, headers: Record<string, string>, expected: string])[] = [
    [
      "checks the API key first",
      "x".repeat(300_000),
      { authorization: "Bearer sk_live_x", "content-type": "text/html", origin: "https://evil.com" },
      "401 unauthorized",
    ],
    [
      "checks the media type before the size",
      "x".repeat(300_000),
      { "content-type": "text/html", origin: "https://evil.com" },
      "415 unsupported_media_type",
    ],
    ["checks the size before the syntax", "x".repeat(300_000), { origin: "https://evil.com" }, "413 payload_too_large"],
    ["checks the syntax before the shape", "x", { origin: "https://evil.com" }, "400 invalid_request"],
    [
      "checks the shape before the client",
      { ...buildSubmission(free), client_id: "nobody", purpose: 7 },
      { origin: "https://evil.com" },
      "400 invalid_request",
    ],
    [
      "checks the content before the client",
      { ...buildSubmission(free), client_id: "nobody", purpose: "" },
      { origin: "https://evil.com" },
      "400 invalid_request",
    ],
    [
      "checks the client before the plan",
      { ...buildSubmission(free), client_id: "nobody" },
      { origin: "https://evil.com" },
      "404 client_not_found",
    ],
    [
      "checks the plan before the Origin",
      { ...buildSubmission(free), page_url: "https://evil.com/" },
      { origin: "https://evil.com" },
      "402 plan_required",
    ],
    [
      "checks the Origin before the page",
      { ...buildSubmission(), page_url: "https://evil.com/" },
      { origin: "https://evil.com" },
      "403 origin_not_verified",
    ],
    ["checks the page last", { ...buildSubmission(), page_url: "https://evil.com/" }, {}, "403 page_url_not_verified"],
    ["accepts a request that passes every check", buildSubmission(), {}, "201 issued"],
  ];

  test.each(steps)("%s", async (_name, body, headers, expected) => {
    expect(describeOutcome(await submitConsent(body, headers))).toBe(expected);
  });

  test("checks the rate limit before the request", async () => {
    const service = createServiceCall({ DEV_RATE_SCALE: "1", LIMIT_CONSENT_PER_IP: "1/60" });
    const send = (body: unknown, headers: Record<string, string>): Promise<TestResponse> =>
      service("/v1/consent", buildConsentRequest(body, headers));
    expect(describeOutcome(await send("x", {}))).toBe("400 invalid_request");
    expect(describeOutcome(await send("x".repeat(300_000), { "content-type": "text/html" }))).toBe("429 rate_limited");
  });
});

describe("the account that POST /v1/consent requires", () => {
  afterEach(async () => {
    await env.DB.prepare("UPDATE businesses SET status = 'active', plan = 'enterprise' WHERE id = ?").bind(world.other.id).run();
  });

  const submitAsOther = (): Promise<TestResponse> =>
    call(
      "/v1/consent",
      buildConsentRequest({ ...buildSubmission(world.other), page_url: "https://other.example/" }, { origin: "https://other.example" }),
    );

  test.each<readonly [keyof typeof world.examples, string]>([
    ["free", "402 plan_required"],
    ["past_due", "402 subscription_past_due"],
    ["suspended", "402 business_suspended"],
    ["closed", "402 business_inactive"],
  ])("cannot be %s", async (name, expected) => {
    const before = await countRows();
    expect(describeOutcome(await submitConsent(buildSubmission(world.examples[name])))).toBe(expected);
    expect(await countRows()).toEqual(before);
  });

  test.each([
    ["pending", "enterprise", "402 business_inactive"],
    ["active", "business", "402 plan_required"],
    ["active", "free", "402 plan_required"],
    ["past_due", "free", "402 subscription_past_due"],
    ["active", "enterprise", "201 issued"],
  ])("is checked at every request: %s on %s gives %s", async (status, plan, expected) => {
    expect(describeOutcome(await submitAsOther())).toBe("201 issued");
    await env.DB.prepare("UPDATE businesses SET status = ?, plan = ? WHERE id = ?").bind(status, plan, world.other.id).run();
    expect(describeOutcome(await submitAsOther())).toBe(expected);
  });

  test("has no effect on issued certificates, which verify in every state of the business", async () => {
    const { cert_id } = (await submitAsOther()).body.data;
    for (const status of ["past_due", "suspended", "closed"]) {
      await env.DB.prepare("UPDATE businesses SET status = ? WHERE id = ?").bind(status, world.other.id).run();
      expect((await getWithKey(`/v1/certs/${cert_id}/verify`)).status, status).toBe(200);
    }
  });
});

describe("a test client", () => {
  const buildSandboxSubmission = (business: DemoBusiness): ReturnType<typeof buildSubmission> => ({
    ...buildSubmission(business),
    client_id: business.clients.sandbox,
  });

  test("needs no plan, but an account that is not past due, suspended or closed", async () => {
    expect(describeOutcome(await submitConsent(buildSandboxSubmission(world.examples.free)))).toBe("201 issued");
    expect(describeOutcome(await submitConsent(buildSandboxSubmission(world.examples.past_due)))).toBe("402 subscription_past_due");
    expect(describeOutcome(await submitConsent(buildSandboxSubmission(world.examples.suspended)))).toBe("402 business_suspended");
    expect(describeOutcome(await submitConsent(buildSandboxSubmission(world.examples.closed)))).toBe("402 business_inactive");
  });

  test("gets certificates that are marked as sandbox everywhere and visible only to a test key", async () => {
    const response = await submitConsent(buildSandboxSubmission(world.acme));
    const { cert_id } = response.body.data;
    expect(response.body.data.environment).toBe("sandbox");
    expect((await getWithKey(`/v1/certs/${cert_id}/verify`)).body.data.environment).toBe("sandbox");
    expect((await getWithKey(`/v1/certs/${cert_id}`, world.acme.keys.live)).body.error.code).toBe("cert_not_found");
    expect((await getWithKey(`/v1/certs/${cert_id}`, world.acme.keys.sandbox)).body.data.environment).toBe("sandbox");
    const listCertIds = async (key: string): Promise<string[]> =>
      (await getWithKey("/v1/certs?per_page=100", key)).body.data.certs.map((row: { cert_id: string }) => row.cert_id);
    expect(await listCertIds(world.acme.keys.live)).not.toContain(cert_id);
    expect(await listCertIds(world.acme.keys.sandbox)).toContain(cert_id);
  });
});

describe("POST /v1/consent with an API key", () => {
  const ofVisitor = { "x-subject-ip": "198.51.100.23", "x-subject-user-agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Firefox/145.0" };
  const server = { "cf-connecting-ip": "203.0.113.1", "user-agent": "acme-backend/1.0", "sec-fetch-mode": null };

  test("records the visitor's address and browser from headers, and that a server submitted", async () => {
    const response = await submitConsent(buildSubmission(), { ...server, ...ofVisitor, ...buildBearer(world.acme.keys.live) });
    expect(await readEvidence(response)).toMatchObject({
      ip: "198.51.100.23",
      user_agent: ofVisitor["x-subject-user-agent"],
      os: "Windows",
      browser: "Firefox",
      captured_via: "server",
    });
  });

  test("records that a server submitted even if the headers of a browser are sent", async () => {
    const response = await submitConsent(buildSubmission(), {
      ...ofVisitor,
      ...buildBearer(world.acme.keys.live),
      "sec-fetch-mode": "cors",
    });
    expect((await readEvidence(response)).captured_via).toBe("server");
  });

  test("ignores headers about the visitor when the key is missing", async () => {
    const evidence = await readEvidence(await submitConsent(buildSubmission(), { ...server, ...ofVisitor }));
    expect(evidence).toMatchObject({ ip: "203.0.113.1", user_agent: "acme-backend/1.0", captured_via: "server" });
  });

  test.each<readonly [string, string, Record<string, unknown>, string]>([
    ["of another business", world.other.keys.live, {}, "403 forbidden"],
    ["of another business, test", world.other.keys.sandbox, {}, "403 forbidden"],
    ["of its own, test, for the live client", world.acme.keys.sandbox, {}, "403 forbidden"],
    ["of its own, test, for the test client", world.acme.keys.sandbox, { client_id: world.acme.clients.sandbox }, "201 issued"],
    ["of its own, live, for the test client", world.acme.keys.live, { client_id: world.acme.clients.sandbox }, "201 issued"],
    ["of another shard", worldInSecondShard.acme.keys.live, {}, "403 forbidden"],
  ])("returns the expected outcome for a key %s", async (_name, key, change, expected) => {
    expect(describeOutcome(await submitConsent({ ...buildSubmission(), ...change }, buildBearer(key)))).toBe(expected);
  });

  test("still requires an Origin on a verified domain", async () => {
    expect(describeOutcome(await submitConsent(buildSubmission(), { ...buildBearer(world.acme.keys.live), origin: null }))).toBe(
      "403 origin_not_verified",
    );
    expect(
      describeOutcome(await submitConsent(buildSubmission(), { ...buildBearer(world.acme.keys.live), origin: "https://evil.com" })),
    ).toBe("403 origin_not_verified");
  });

  test.each([
    "Bearer sk_live_unknown",
    `Bearer ${world.acme.keys.live.slice(0, -1)}_`,
    "Basic dXNlcjpwYXNz",
    `Bearer ${world.acme.keys.live}, Bearer ${world.other.keys.live}`,
  ])("returns 401 unauthorized for an invalid credential instead of ignoring it: %s", async (authorization) => {
    const response = await submitConsent(buildSubmission(), { authorization });
    expect(describeOutcome(response)).toBe("401 unauthorized");
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
  });

  test("counts against the limit of the key, not of the address", async () => {
    const service = createServiceCall({ DEV_RATE_SCALE: "1", LIMIT_CONSENT_PER_IP: "1/60" });
    const send = (headers: Record<string, string> = {}): Promise<TestResponse> =>
      service("/v1/consent", buildConsentRequest(buildSubmission(), headers));
    expect((await send()).status).toBe(201);
    expect((await send()).status).toBe(429);
    const keyed = await send(buildBearer(world.acme.keys.live));
    expect(keyed.status).toBe(201);
    expect(keyed.headers.get("ratelimit-limit")).toBe("120");
  });
});

describe("evidence of POST /v1/consent", () => {
  test("contains the circumstances of the submission", async () => {
    const response = await submitConsent(buildSubmission(), { "cf-connecting-ip": "203.0.113.9", "sec-gpc": "1" });
    expect(await readEvidence(response)).toEqual({
      salt: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
      page_url: buildSubmission().page_url,
      ip: "203.0.113.9",
      user_agent: "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/605.1",
      os: "iOS",
      browser: "Safari",
      geo: { country: null, region: null, city: null },
      gpc: true,
      captured_via: "browser",
      origin_reported: "https://www.example.com",
      referrer: null,
      client_time: null,
      locale: null,
      widget: null,
      presentation: null,
      esign: null,
    });
    expect((await getWithKey(`/v1/certs/${response.body.data.cert_id}/verify`)).body.data.signals).toEqual({ gpc: true });
  });

  test("contains a location only if the edge provides it, because a local runtime invents one", async () => {
    const cf = { country: "US", region: "Nevada", city: "Reno" };
    const readGeo = async (service: ReturnType<typeof createServiceCall>, headers: Record<string, string> = {}): Promise<unknown> => {
      const { cert_id } = (await service("/v1/consent", { ...buildConsentRequest(buildSubmission(), headers), cf } as RequestInit)).body
        .data;
      return (await getWithKey(`/v1/certs/${cert_id}`, world.acme.keys.live)).body.data.evidence.geo;
    };
    const deployed = createServiceCall(productionSettings, "https://api.svc.test");
    expect(await readGeo(deployed)).toEqual(cf);
    expect(await readGeo(createServiceCall())).toEqual({ country: null, region: null, city: null });
    // A server submits for the visitor, so the request's location is the server's and is not recorded.
    expect(await readGeo(deployed, buildBearer(world.acme.keys.live))).toEqual({ country: null, region: null, city: null });
  });

  test("has a hash that no guess can be tested against: it differs for two identical submissions", async () => {
    const [one, two] = [await issueCertificate(), await issueCertificate()];
    const details = await Promise.all(
      [one, two].map(async ({ cert_id }) => (await getWithKey(`/v1/certs/${cert_id}`, world.acme.keys.live)).body.data),
    );
    const [first, second] = details.map(({ evidence }) => evidence as Record<string, Json>);
    const { salt: firstSalt, ...circumstances } = first as Record<string, Json>;
    const { salt: secondSalt, ...others } = second as Record<string, Json>;
    expect(circumstances).toEqual(others);
    expect(firstSalt).not.toBe(secondSalt);
    expect(details[0].evidence_hash).not.toBe(details[1].evidence_hash);
    expect(sha256Hex(toCanonicalJson(circumstances))).not.toBe(details[0].evidence_hash);
    const salts = Object.values(details[0].subject_salts as Record<string, string>);
    expect(salts).not.toContain(firstSalt);
  });

  test("takes the address from the edge's own header only", async () => {
    const response = await submitConsent(buildSubmission(), {
      "cf-connecting-ip": "203.0.113.9",
      "x-forwarded-for": "6.6.6.6",
      "x-real-ip": "6.6.6.6",
      "true-client-ip": "6.6.6.6",
      forwarded: "for=6.6.6.6",
      "x-client-ip": "6.6.6.6",
      "cf-connecting-ipv6": "6.6.6.6",
      "x-subject-ip": "6.6.6.6",
    });
    expect(JSON.stringify(await readEvidence(response))).not.toContain("6.6.6.6");
  });

  test("accepts Global Privacy Control only in its defined form", async () => {
    for (const value of ["0", "true", "11", ""]) {
      const response = await submitConsent(buildSubmission(), { "sec-gpc": value });
      expect((await readEvidence(response)).gpc, value).toBe(false);
    }
  });

  test("cuts a User-Agent to 512 characters, without control characters", async () => {
    const evidence = await readEvidence(await submitConsent(buildSubmission(), { "user-agent": `a\tb${"c".repeat(5_000)}` }));
    expect(evidence.user_agent).toBe(`ab${"c".repeat(510)}`);
  });

  test("records a caller without fetch metadata as a server", async () => {
    expect((await readEvidence(await submitConsent(buildSubmission(), { "sec-fetch-mode": null }))).captured_via).toBe("server");
  });

  test("never reports the Origin as verified", async () => {
    const { cert_id } = await issueCertificate();
    const { checks } = (await getWithKey(`/v1/certs/${cert_id}/verify`)).body.data;
    expect(checks.find(({ id }: { id: string }) => id === "origin").result).toBe("reported");
    expect(JSON.stringify(checks)).not.toMatch(/origin[^"]*(?:proved|proven|verified)"/i);
  });
});

describe("cross-origin access to POST /v1/consent", () => {
  test("is allowed for every response, from every page, without credentials", async () => {
    const limitedService = createServiceCall({ DEV_RATE_SCALE: "1", LIMIT_CONSENT_PER_IP: "1/60" });
    await limitedService("/v1/consent", buildConsentRequest(buildSubmission()));
    const key = { "idempotency-key": "cors" };
    await submitConsent(buildSubmission(), key);
    const responses: readonly (readonly [number, TestResponse])[] = [
      [201, await submitConsent(buildSubmission())],
      [201, await submitConsent(buildSubmission(), key)],
      [400, await submitConsent("{")],
      [401, await submitConsent(buildSubmission(), { authorization: "Bearer x" })],
      [402, await submitConsent(buildSubmission(world.examples.free))],
      [403, await submitConsent(buildSubmission(), { origin: "null" })],
      [403, await submitConsent(buildSubmission(), { origin: null })],
      [404, await submitConsent({ ...buildSubmission(), client_id: "nobody" })],
      [405, await call("/v1/consent", { headers: { origin: "https://evil.com" } })],
      [409, await submitConsent({ ...buildSubmission(), purpose: "another" }, key)],
      [413, await submitConsent("x".repeat(300_000))],
      [415, await submitConsent(buildSubmission(), { "content-type": "text/html" })],
      [429, await limitedService("/v1/consent", buildConsentRequest(buildSubmission()))],
      [503, await createEntryCall({ MASTER_KEYS: "" })("/v1/consent", buildConsentRequest(buildSubmission()))],
    ];
    for (const [status, response] of responses) {
      expect(response.status).toBe(status);
      expect(response.headers.get("access-control-allow-origin"), String(status)).toBe("*");
      expect(response.headers.has("access-control-allow-credentials"), String(status)).toBe(false);
    }
  });

  test("allows POST in a preflight response that is cached for two hours, without credentials", async () => {
    const response = await call("/v1/consent", {
      method: "OPTIONS",
      headers: {
        origin: "https://anybody.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,idempotency-key",
      },
    });
    expect([response.status, response.text]).toEqual([204, ""]);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-allow-methods")).toBe("POST");
    expect(response.headers.get("access-control-allow-headers")?.toLowerCase().split(/, ?/)).toEqual(["content-type", "idempotency-key"]);
    expect(response.headers.get("access-control-max-age")).toBe("7200");
    expect(response.headers.has("access-control-allow-credentials")).toBe(false);
  });

  test("exposes the headers that a page needs", async () => {
    const exposed = (await submitConsent(buildSubmission())).headers.get("access-control-expose-headers")?.toLowerCase();
    for (const name of ["x-request-id", "retry-after", "ratelimit-remaining", "idempotency-replayed"]) expect(exposed).toContain(name);
  });
});

describe("other methods and paths of POST /v1/consent", () => {
  test.each(["GET", "HEAD", "PUT", "PATCH", "DELETE"])("%s returns 405 with Allow: POST", async (method) => {
    const before = await countRows();
    const response = await call("/v1/consent", { method, headers: { origin: "https://www.example.com" } });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")?.split(", ")).toContain("POST");
    expect(response.headers.get("allow")).not.toContain("GET");
    if (method !== "HEAD") expect(response.body.error.code).toBe("method_not_allowed");
    expect(await countRows()).toEqual(before);
  });

  test.each(["/v1/consent/", "/v1/Consent", "/v2/consent", "/consent", "/v1/consents"])("%s returns 404 not_found", async (path) => {
    expect(describeOutcome(await call(path, buildConsentRequest(buildSubmission())))).toBe("404 not_found");
  });
});
