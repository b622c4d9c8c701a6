// Tests attacks on the share protocol. Most titles start with the number of a threat in docs/internals/security.md.
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { computeCodeChallenge } from "../../core/shares/pkce.ts";
import { dayMs, minuteMs } from "../../core/time.ts";
import { copyRow } from "../support/copied-rows.ts";
import { listMailTo, signIn } from "../support/people.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { callPortal } from "../support/portal.ts";
import {
  listAllEvents,
  buildDecision,
  createVerifier,
  grantShare,
  describeOutcome,
  signInPerson,
  getWithApiKey,
  redeemCode,
  contactValues,
  postWithApiKey,
  type Grant,
  type SignedPerson,
} from "../support/sharing.ts";
import { buildJsonPost } from "../support/withdrawal.ts";
import {
  call,
  readDatabaseContents,
  origin,
  productionSettings,
  createServiceCall,
  world,
  type TestResponse,
  type Call,
} from "../support/world.ts";
import { stopClock } from "../support/stopped-clock.ts";

const { acme, examples } = world;
const concurrency = Number(env.AT_ONCE);
const codeCount = Number(env.REDEEMED_CODES ?? 1);
const strict = { DEV_RATE_SCALE: "1" };
const from = (ip: string) => ({ origin, "cf-connecting-ip": ip });
const countOutcomes = (responses: readonly TestResponse[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const response of responses) counts[describeOutcome(response)] = (counts[describeOutcome(response)] ?? 0) + 1;
  return counts;
};
const runConcurrently = <T>(count: number, work: (at: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => work(at)));
const countEntries = async (shareId: string, type: string): Promise<number> =>
  (await env.DB.prepare("SELECT COUNT(*) AS n FROM audit_entries WHERE entity_id = ? AND type = ?")
    .bind(shareId, type)
    .first("n")) as number;
const listEventTypes = async (shareId: string): Promise<string[]> => {
  await waitUntilSettled();
  return (await listAllEvents()).filter(({ share_id }) => share_id === shareId).map(({ type }) => type);
};
const testGrant = async (change: object = {}): Promise<Grant> => {
  const verifier = createVerifier();
  const body = { ...buildDecision(verifier, { client_id: acme.clients.sandbox }), ...change };
  const response = await call("/v1/share/sandbox-consent", buildJsonPost(body, { origin }));
  return { verifier, code: response.body.data.code, share: response.body.data.share };
};

/** Wraps a database and runs the given work once, right before the first change. */
const withWorkBeforeChange = (doFirst: () => Promise<unknown>) => {
  let isDone = false;
  return {
    prepare: (text: string) => env.DB.prepare(text),
    withSession: (constraint: D1SessionConstraint) => env.DB.withSession(constraint),
    batch: async (statements: D1PreparedStatement[]) => {
      if (!isDone && statements.length > 4) {
        isDone = true;
        await doFirst();
      }
      return env.DB.batch(statements);
    },
  };
};

const query = (change: Record<string, string> = {}): string => {
  const { client_id, purpose, code_challenge } = buildDecision(createVerifier());
  const parameters = { client_id, origin, purpose, code_challenge, code_challenge_method: "S256", scope: "email phone?", ...change };
  return `/authorize?${new URLSearchParams(parameters)}`;
};
const parseCookies = (response: TestResponse): Record<string, string> =>
  Object.fromEntries(response.headers.getSetCookie().map((line) => (line.split(";")[0] as string).split("=") as [string, string]));
const formatCookieHeader = (cookies: Record<string, string>): string =>
  Object.entries(cookies)
    .map(([name, value]) => `${name}=${value}`)
    .join("; ");
/** The headers of a browser that arrives from the business's page. */
const fromPage = { referer: `${origin}/` };
/** Creates a browser that opens the consent sheet and keeps its cookies. */
const createSheet = (pat: SignedPerson | null, service: Call = call) => {
  let cookies: Record<string, string> = {};
  if (pat !== null) cookies = Object.fromEntries([pat.headers.cookie.split("=") as [string, string]]);
  const keep = (response: TestResponse): TestResponse => {
    cookies = { ...cookies, ...parseCookies(response) };
    return response;
  };
  return {
    get: async (path: string, headers: Record<string, string> = {}) =>
      keep(await service(path, { headers: { ...headers, cookie: formatCookieHeader(cookies) }, redirect: "manual" })),
    post: async (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
      keep(
        await service(path, {
          method: "POST",
          headers: { "sec-fetch-site": "same-origin", ...headers, cookie: formatCookieHeader(cookies) },
          body: new URLSearchParams(form),
          redirect: "manual",
        }),
      ),
  };
};
const extractToken = ({ text }: TestResponse): string => /name="token" value="([^"]+)"/.exec(text)?.[1] ?? "";
const extractCode = ({ text }: TestResponse): string | undefined => /data-code="(ac_[^"]+)"/.exec(text)?.[1];
const extractReturnUrl = ({ text }: TestResponse): string => /data-back="([^"]*)"/.exec(text)?.[1]?.replaceAll("&amp;", "&") ?? "";
const decidePath = (path: string): string => path.replace("/authorize?", "/authorize/decide?");

describe("an authorization code", () => {
  test(
    "P1: is redeemed only once by many concurrent redemptions, with one entry in each audit chain",
    async () => {
      let pat = await signInPerson();
      for (let round = 0; round < codeCount; round += 1) {
        if (round % 25 === 24) pat = await signInPerson(); // uses a new person, because a person can grant at most 30 shares a minute
        const grant = await grantShare(pat);
        const responses = await runConcurrently(concurrency, (at) => redeemCode(grant, {}, at % 2 === 0 ? { origin } : {}));
        expect(countOutcomes(responses)).toEqual({ "200 ok": 1, "409 code_used": concurrency - 1 });
        expect(await countEntries(grant.share.id, "share.redeemed")).toBe(2); // one entry in the business's chain and one in the person's
        if (codeCount > 1 && round % 25 === 24) console.log(`${round + 1} codes, ${concurrency} redemptions each`);
      }
    },
    30_000 + codeCount * 30_000,
  );

  test("P2: is issued and redeemed only with an S256 challenge", async () => {
    const pat = await signInPerson();
    const verifier = createVerifier();
    const decide = (change: Record<string, string | undefined>) =>
      pat.post("/v1/share/consent", { ...buildDecision(verifier), code_challenge: computeCodeChallenge(verifier), ...change });
    const weak: Record<string, string | undefined>[] = [
      { code_challenge_method: "plain" },
      { code_challenge_method: undefined },
      { code_challenge_method: "s256" },
      { code_challenge: undefined },
      { code_challenge: "" },
      { code_challenge: `${computeCodeChallenge(verifier)}=` },
      { code_challenge: computeCodeChallenge(verifier).slice(1) },
    ];
    for (const change of weak) expect(describeOutcome(await decide(change))).toBe("400 invalid_request");
    for (const change of weak) {
      const sent = Object.entries({ ...change }).map(([name, value]) => [name, value ?? ""]);
      expect(describeOutcome(await call(query(Object.fromEntries(sent)).replace("/authorize", "/v1/authorize")))).toBe(
        "400 invalid_request",
      );
    }
    const grant = await grantShare(pat);
    // The challenge is public, because it passes through the browser.
    expect(describeOutcome(await redeemCode({ code: grant.code, verifier: computeCodeChallenge(grant.verifier) }))).toBe(
      "400 pkce_mismatch",
    );
    const asChallenge = await pat.post("/v1/share/consent", buildDecision(verifier, { code_challenge: verifier.slice(0, 42).concat("A") }));
    expect(asChallenge.status).toBe(201);
    const plain = { code: asChallenge.body.data.code, verifier: verifier.slice(0, 42).concat("A") };
    expect(describeOutcome(await redeemCode(plain))).toBe("400 pkce_mismatch");
    expect(describeOutcome(await redeemCode(grant))).toBe("200 ok");
  });

  test("P3: is refused for another client, another verifier or another shard", async () => {
    const pat = await signInPerson();
    const [granted, other] = [await grantShare(pat), await grantShare(pat)];
    expect(describeOutcome(await redeemCode(granted, { client_id: world.other.clients.live }))).toBe("400 code_invalid");
    expect(describeOutcome(await redeemCode(granted, { client_id: acme.clients.sandbox }))).toBe("400 code_invalid");
    expect(describeOutcome(await redeemCode({ code: granted.code, verifier: other.verifier }))).toBe("400 pkce_mismatch");
    expect(describeOutcome(await redeemCode({ ...granted, code: granted.code.replace("ac_00", "ac_01") }))).toBe("400 code_invalid");
    expect(describeOutcome(await redeemCode({ ...granted, code: granted.code.replace("ac_00", "ac_zz") }))).toBe("400 code_invalid");
    expect(describeOutcome(await redeemCode(granted))).toBe("200 ok");
  });

  test("P4: is redeemed only from the origin that requested it, which alone can read the response", async () => {
    const pat = await signInPerson();
    const grant = await grantShare(pat);
    const foreign = ["https://other.example", `${origin}:8443`, "http://www.example.com", "https://example.com", "null"];
    // No browser sends these values. The URL parser would turn each of them into the right origin.
    foreign.push(
      `${origin}/`,
      `${origin}/quote`,
      `${origin}?a=1`,
      "https://pat@www.example.com",
      `blob:${origin}/1`,
      "https:www.example.com",
    );
    for (const other of foreign) expect(describeOutcome(await redeemCode(grant, {}, { origin: other }))).toBe("403 origin_mismatch");
    const right = await redeemCode(grant);
    expect(describeOutcome(right)).toBe("200 ok");
    expect(right.headers.get("access-control-allow-origin")).toBe(origin);
    expect(right.headers.get("access-control-allow-credentials")).toBeNull();
    expect(right.headers.get("vary")?.toLowerCase()).toContain("origin");
  });

  test("P4: is refused without an Origin if the client requires one", async () => {
    const pat = await signInPerson();
    const owner = await signIn(world.ownerEmail);
    const setOriginRequired = (require_origin: boolean) => callPortal(owner, "PATCH", `/clients/${acme.clients.live}`, { require_origin });
    expect(describeOutcome(await setOriginRequired(true))).toBe("200 ok");
    const grant = await grantShare(pat);
    await setOriginRequired(false);
    expect(describeOutcome(await redeemCode(grant, {}, {}))).toBe("403 origin_mismatch");
    expect(describeOutcome(await redeemCode(grant))).toBe("200 ok");
  });

  test("P4: is refused without an Origin if its domain is no longer verified", async () => {
    const pat = await signInPerson();
    const grant = await grantShare(pat);
    const setDomainStatus = (status: string) =>
      env.DB.prepare("UPDATE domains SET status = ? WHERE id = (SELECT domain_id FROM share_codes WHERE share_id = ?)")
        .bind(status, grant.share.id)
        .run();
    await setDomainStatus("lapsed");
    const refused = await redeemCode(grant, {}, {});
    await setDomainStatus("verified");
    expect(describeOutcome(refused)).toBe("403 origin_mismatch");
  });

  test("P5: is not used up by wrong redemptions, which are limited for their sender alone", async () => {
    stopClock();
    const pat = await signInPerson();
    const grant = await grantShare(pat);
    const service = createServiceCall({ ...strict, LIMIT_REDEEM_PER_IP: "1000/60" });
    const wrong = { code: grant.code, verifier: createVerifier() };
    const attempts: string[] = [];
    for (let tried = 0; tried < 21; tried += 1) attempts.push(describeOutcome(await redeemCode(wrong, {}, from("203.0.113.31"), service)));
    expect(new Set(attempts.slice(0, 20))).toEqual(new Set(["400 pkce_mismatch"]));
    expect(attempts[20]).toBe("429 rate_limited");
    expect(describeOutcome(await redeemCode(wrong, {}, from("203.0.113.32"), service))).toBe("400 pkce_mismatch");
    expect(describeOutcome(await redeemCode(grant, {}, from("203.0.113.31"), service))).toBe("200 ok");
  });

  test("P6: is refused once a revocation is confirmed, even if the two requests race", async () => {
    const pat = await signInPerson();
    for (let round = 0; round < 12; round += 1) {
      const grant = await grantShare(pat);
      let isAcknowledged = false;
      const stop = pat.post(`/v1/shares/${grant.share.id}/revoke`, {}).then((response) => {
        isAcknowledged = true;
        return response;
      });
      const late: TestResponse[] = [];
      const race = await runConcurrently(4, async () => redeemCode(grant));
      while (late.length < 2) {
        const wasAcknowledged = isAcknowledged;
        const response = await redeemCode(grant, {}, {});
        if (wasAcknowledged) late.push(response);
        else race.push(response);
      }
      expect(describeOutcome(await stop)).toBe("200 ok");
      expect(race.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
      for (const response of late) expect(["409 share_inactive", "409 code_used"]).toContain(describeOutcome(response));
      for (const response of [...race, ...late]) if (response.status !== 200) expect(response.text).not.toContain(contactValues.email);
    }
  });

  test("P7: is in no store, log or referrer", async () => {
    const lines: string[] = [];
    const logs = (["log", "info", "warn", "error"] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation((...parts) => void lines.push(parts.map(String).join(" "))),
    );
    const pat = await signInPerson();
    const grant = await grantShare(pat);
    await redeemCode({ code: grant.code, verifier: createVerifier() });
    await redeemCode(grant, {}, { origin, "idempotency-key": "key-of-the-test" });
    await waitUntilSettled();
    for (const log of logs) log.mockRestore();
    expect(lines.length).toBeGreaterThan(0);
    const stored = JSON.stringify(await readDatabaseContents());
    expect(stored).toContain(sha256Hex(grant.code));
    for (const secret of [grant.code, grant.verifier, "key-of-the-test"]) {
      expect(stored).not.toContain(secret);
      expect(lines.join("\n")).not.toContain(secret);
    }
    const sheet = await createSheet(pat).get(query());
    expect(sheet.headers.get("referrer-policy")).toBe("no-referrer");
    expect(sheet.headers.get("cache-control")).toBe("no-store");
  });

  test("P12, P7: is sent only to the verified origin, and an invalid request gets an error page instead of a redirect", async () => {
    const sheet = createSheet(null);
    for (const [change, status] of [
      [{ client_id: "pc_live_00zzzzzzzzzzzzzzzzzzzzzzzz" }, 404],
      [{ origin: "https://elsewhere.example" }, 403],
      [{ return_url: "https://elsewhere.example/", scope: "shoe_size" }, 400],
    ] as const) {
      const response = await sheet.get(query(change), { referer: `${origin}/` });
      expect(response.status).toBe(status);
      expect(response.headers.get("location")).toBeNull();
      expect(response.text).not.toMatch(/href="https:\/\/elsewhere/);
    }
  });

  test("P20: is redeemed for a business that is past due, but not for one that is suspended or closed", async () => {
    const pat = await signInPerson();
    const setBusinessStatus = (status: string) =>
      env.DB.prepare("UPDATE businesses SET status = ? WHERE id = ?").bind(status, acme.id).run();
    const grant = await grantShare(pat);
    const seen: string[] = [];
    for (const status of ["suspended", "closed", "past_due"]) {
      await setBusinessStatus(status);
      seen.push(describeOutcome(await redeemCode(grant)));
    }
    await setBusinessStatus("active");
    expect(seen).toEqual(["402 business_suspended", "402 business_inactive", "200 ok"]);
    expect(describeOutcome(await pat.post("/v1/share/consent", buildDecision(createVerifier(), {}, examples.past_due)))).toBe(
      "402 subscription_past_due",
    );
  });

  test("P26: is not redeemed again with the idempotency key of a lost response, nor by another caller with that key", async () => {
    const pat = await signInPerson();
    const grant = await grantShare(pat);
    const key = { "idempotency-key": crypto.randomUUID() };
    const responses = await runConcurrently(20, () => redeemCode(grant, {}, { origin, ...key }));
    expect(countOutcomes(responses)).toEqual({ "200 ok": 20 });
    expect(responses.filter(({ headers }) => headers.get("idempotency-replayed") === null)).toHaveLength(1);
    expect(await countEntries(grant.share.id, "share.redeemed")).toBe(2);
    const stranger = { code: grant.code, verifier: createVerifier() };
    expect(describeOutcome(await redeemCode(stranger, {}, { origin, ...key }))).toBe("400 pkce_mismatch");
    expect(describeOutcome(await redeemCode(grant, {}, { origin: "https://other.example", ...key }))).toBe("403 origin_mismatch");
    expect(describeOutcome(await redeemCode(grant, {}, { origin, "idempotency-key": crypto.randomUUID() }))).toBe("409 code_used");
    expect(describeOutcome(await redeemCode(grant, {}, key))).toBe("409 code_used");
    expect(describeOutcome(await redeemCode(grant))).toBe("409 code_used");
    const late = createServiceCall({ DEV_CLOCK_OFFSET_MS: String(minuteMs) });
    expect(describeOutcome(await redeemCode(grant, {}, { origin, ...key }, late))).toBe("409 code_used");
    await pat.post(`/v1/shares/${grant.share.id}/revoke`, {});
    expect(describeOutcome(await redeemCode(grant, {}, { origin, ...key }))).toBe("409 share_inactive");
    expect(JSON.stringify(await readDatabaseContents())).not.toContain(key["idempotency-key"]);
  });
});

describe("the consent sheet", () => {
  test("P9: cannot be framed", async () => {
    const pat = await signInPerson();
    const response = await createSheet(pat).get(query());
    expect(response.status).toBe(200);
    expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(response.headers.get("content-security-policy")).toContain(`form-action 'self' ${origin}`);
  });

  test("P10: accepts no decision from another site, another session or another browser", async () => {
    const [pat, sam] = [await signInPerson(), await signInPerson()];
    const path = query({ scope: "email" });
    const sheet = createSheet(pat);
    const token = extractToken(await sheet.get(path, fromPage));
    expect(token).toMatch(/^az_00/);
    const before = await env.DB.prepare("SELECT COUNT(*) AS n FROM shares").first("n");
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }])
      expect((await sheet.post(decidePath(path), { token }, headers)).status).toBe(403);
    const plain = await call(decidePath(path), {
      method: "POST",
      headers: { cookie: pat.headers.cookie, origin: "https://elsewhere.example" },
      body: new URLSearchParams({ token }),
    });
    expect(plain.status).toBe(403);
    for (const stolen of [createSheet(sam), createSheet(pat)])
      expect(extractCode(await stolen.post(decidePath(path), { token }))).toBeUndefined();
    expect((await sheet.post(decidePath(path), { token: "" })).status).toBe(303);
    expect(await env.DB.prepare("SELECT COUNT(*) AS n FROM shares").first("n")).toBe(before);
    expect(
      describeOutcome(await pat.post("/v1/share/consent", buildDecision(createVerifier()), { origin: "https://elsewhere.example" })),
    ).toBe("403 csrf_failed");
    expect((await sheet.post(decidePath(path), { token })).status).toBe(303);
    expect(extractCode(await sheet.get(path))).toMatch(/^ac_00/);
  });

  test("P11: accepts only the request that it showed, and never more than was requested", async () => {
    const pat = await signInPerson();
    const path = query({ scope: "email phone?" });
    const sheet = createSheet(pat);
    const token = extractToken(await sheet.get(path, fromPage));
    const changed: Record<string, string>[] = [
      { scope: "email phone? name" },
      { scope: "phone?" },
      { purpose: "Something else" },
      { duration_days: "730" },
      { code_challenge: computeCodeChallenge(createVerifier()) },
      { state: "another" },
      { disclosure_text: "More than was shown." },
      { client_id: world.other.clients.live },
    ];
    for (const change of changed) {
      const other = new URL(path, "http://svc.test");
      for (const [name, value] of Object.entries(change)) other.searchParams.set(name, value);
      await sheet.get(`/authorize${other.search}`, fromPage);
      await sheet.post(`/authorize/decide${other.search}`, { token, "group.name": "first_name last_name", "group.phone": "phone" });
    }
    expect((await pat.get("/v1/me/shares")).body.data.shares).toEqual([]);
    await sheet.get(path, fromPage); // opens the request again, because the cookie stores only the browser's five newest requests
    await sheet.post(decidePath(path), {
      token,
      "group.name": "first_name last_name",
      "group.address": "address_line1 address_line2 city state zip country",
      "group.phone": "phone",
      days: "3650",
    });
    const [share] = (await pat.get("/v1/me/shares")).body.data.shares;
    expect([share.scope, share.duration_days]).toEqual([["email", "phone"], 365]);
  });

  test("P21: redirects with the result only with evidence that the request came from the named page", async () => {
    const pat = await signInPerson();
    const back = `${origin}/quote?step=2`;
    const buildReturnQuery = (change: Record<string, string>) => query({ return_url: back, ...change });
    expect(extractReturnUrl(await createSheet(pat).get(buildReturnQuery({})))).toBe("");
    for (const referer of [
      "https://elsewhere.example/",
      `${origin}.elsewhere.example/`,
      "https://sub.www.example.com/",
      "https://example.com/",
    ])
      expect(extractReturnUrl(await createSheet(pat).get(buildReturnQuery({}), { referer }))).toBe("");
    for (const return_url of [
      "https://elsewhere.example/",
      "https://www.example.com:8443/",
      "http://www.example.com/",
      "https://user@www.example.com/",
      "https://www.example.com/#here",
      "//www.example.com/",
      "javascript:alert(1)",
    ])
      expect(extractReturnUrl(await createSheet(pat).get(buildReturnQuery({ return_url }), { referer: `${origin}/quote` }))).toBe("");
    const path = buildReturnQuery({});
    const seen = createSheet(pat);
    expect(extractReturnUrl(await seen.get(path, { referer: `${origin}/` }))).toBe(back);
    expect(extractReturnUrl(await seen.get(path))).toBe(back); // the sign-in steps do not send the page's URL as Referer
    expect(extractReturnUrl(await createSheet(pat).get(path))).toBe(""); // the URL was copied to another browser
    const moved = `${new URL(path, "http://svc.test").pathname}${new URL(path, "http://svc.test").search.replace("step%3D2", "step%3D3")}`;
    expect(extractReturnUrl(await seen.get(moved))).toBe("");
    expect(extractReturnUrl(await seen.get(query({ return_url: back })))).toBe(""); // this is a different request for the same page
  });

  test("P21: accepts no forged cookie as evidence", async () => {
    const pat = await signInPerson();
    const path = query({ return_url: `${origin}/quote` });
    const first = await createSheet(pat).get(path, { referer: `${origin}/` });
    const [[name, value]] = Object.entries(parseCookies(first)) as [[string, string]];
    const [payload, mac] = value.split(".") as [string, string];
    const forged = [`${payload}.${mac.slice(1)}A`, `${payload}`, `.${mac}`, `${payload.slice(0, -2)}AA.${mac}`, "a.b", "."];
    for (const cookie of forged) {
      const response = await call(path, { headers: { cookie: `${pat.headers.cookie}; ${name}=${cookie}` } });
      expect([response.status, extractReturnUrl(response)]).toEqual([200, ""]);
    }
  });

  test("P22: keeps the connection to its opener in every response", async () => {
    const pat = await signInPerson();
    const path = query();
    const sheet = createSheet(pat);
    const full = createServiceCall({ LIMIT_AUTHORIZE_PER_IP: "1/60", LIMIT_AUTH_REQUEST_PER_IP: "1/3600", ...strict });
    const callDuringOutage = createServiceCall({
      DB: { prepare: () => { throw new Error("D1_ERROR: away"); }, batch: () => Promise.reject(new Error("D1_ERROR: away")) }, // biome-ignore format: one line says it
    });
    const form = { token: extractToken(await sheet.get(path, fromPage)) };
    const responses: Record<string, TestResponse> = {
      "a request": await sheet.get(path),
      "without a session": await createSheet(null).get(path),
      "a bad request": await sheet.get("/authorize"),
      "an unknown client": await sheet.get(query({ client_id: "pc_live_00zzzzzzzzzzzzzzzzzzzzzzzz" })),
      "another origin": await sheet.get(query({ origin: "https://elsewhere.example" })),
      "not now": await sheet.get(path.replace("?", "/not-now?")),
      "a foreign form": await sheet.post(decidePath(path), form, { "sec-fetch-site": "cross-site" }),
      "an invalid form": await sheet.post(decidePath(path), { token: "x".repeat(30_000) }),
      "a bad address": await createSheet(null).post(path.replace("?", "/email?"), { email: "nobody" }),
      "an address": await createSheet(null).post(path.replace("?", "/email?"), { email: pat.email }),
      "a decision": await sheet.post(decidePath(path), form),
      decided: await sheet.get(path),
      "redirected from the API": await call(path.replace("/authorize", "/v1/authorize"), {
        headers: { "sec-fetch-mode": "navigate" },
        redirect: "manual",
      }),
      "too often": (await runConcurrently(2, () => full(path)))[1] as TestResponse,
      "too many forms": await (async () => {
        const busy = createSheet(null, full);
        await busy.post(path.replace("?", "/email?"), { email: "nobody" });
        return busy.post(path.replace("?", "/email?"), { email: "nobody" });
      })(),
      "an outage": await callDuringOutage(path),
      "another method": await call(path, { method: "PUT" }),
      "an unknown step": await sheet.get(path.replace("?", "/nothing?")),
    };
    const severed = Object.entries(responses).filter(([, { headers }]) => headers.get("cross-origin-opener-policy") !== "unsafe-none");
    expect(severed.map(([name, { status }]) => `${name} ${status}`)).toEqual([]);
    expect([responses["too often"]?.status, responses["too many forms"]?.status, responses["an outage"]?.status]).toEqual([429, 429, 503]);
    expect(responses.decided && extractCode(responses.decided)).toMatch(/^ac_/);
  });

  test("P25: decides a request once, however many windows answer it", async () => {
    const pat = await signInPerson();
    const path = query({ scope: "email" });
    const sheet = createSheet(pat);
    const token = extractToken(await sheet.get(path, fromPage));
    const responses = await runConcurrently(30, () => sheet.post(decidePath(path), { token }));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([303]));
    const { shares } = (await pat.get("/v1/me/shares")).body.data;
    expect(shares).toHaveLength(1);
    expect(await listEventTypes(shares[0].id)).toEqual(["share.created"]);
    expect((await listMailTo(pat.email)).filter(({ subject }) => subject === "You shared your details")).toHaveLength(1);
    const code = extractCode(await sheet.get(path)) as string;
    expect(extractCode(await sheet.get(path))).toBe(code);
    const other = await signInPerson();
    expect(extractCode(await createSheet(other).get(path))).toBeUndefined();
  });

  test("P36: accepts no decision on a link that anyone can write, regardless of its text and of who is signed in", async () => {
    const pat = await signInPerson();
    const path = query({ purpose: "Sell your details", disclosure_text: "I agree to everything.", duration_days: "730" });
    const sheet = createSheet(pat);
    for (const headers of [{}, { referer: "https://elsewhere.example/" }, { referer: `${origin}.elsewhere.example/` }, { origin }]) {
      const shown = await sheet.get(path, headers);
      expect([shown.status, shown.text.includes("Sell your details")]).toEqual([200, false]);
      expect((await sheet.post(decidePath(path), { token: extractToken(shown) }, headers)).status).toBe(403);
    }
    // A token from `GET /v1/authorize` does not prove that the request came from the business.
    const checked = await call(path.replace("/authorize", "/v1/authorize"));
    expect((await sheet.post(decidePath(path), { token: checked.body.data.authorize_token })).status).toBe(403);
    expect((await pat.get("/v1/me/shares")).body.data.shares).toEqual([]);
  });
});

describe("a share", () => {
  test("P13: of a test person is created only for test clients, even in production, and one of a real person only for live clients", async () => {
    const live = await call("/v1/share/sandbox-consent", buildJsonPost(buildDecision(createVerifier()), { origin }));
    expect(describeOutcome(live)).toBe("403 sandbox_only");
    const inProduction = createServiceCall({ ...productionSettings }, "https://api.svc.test");
    const refused = await inProduction("/v1/share/sandbox-consent", buildJsonPost(buildDecision(createVerifier()), { origin }));
    expect(describeOutcome(refused)).toBe("403 sandbox_only");
    const pat = await signInPerson();
    const body = buildDecision(createVerifier(), { client_id: acme.clients.sandbox });
    expect(describeOutcome(await pat.post("/v1/share/consent", body))).toBe("403 forbidden");
  });

  test("P24: of the sandbox is in no live list, feed or response, and a live share is in none of the sandbox's", async () => {
    const pat = await signInPerson();
    const [real, trial] = [await grantShare(pat), await testGrant()];
    const listShareIds = async (key: string): Promise<string[]> =>
      (await getWithApiKey("/v1/shares?limit=200", key)).body.data.shares.map(({ id }: { id: string }) => id);
    for (const [ownGrant, others, key] of [
      [real, trial, acme.keys.live],
      [trial, real, acme.keys.sandbox],
    ] as const) {
      const ids = await listShareIds(key);
      expect([ids.includes(ownGrant.share.id), ids.includes(others.share.id)]).toEqual([true, false]);
      for (const path of [`/v1/shares/${others.share.id}`, `/v1/consumers/${others.share.id}/current`])
        expect(describeOutcome(await getWithApiKey(path, key))).toBe("404 not_found");
      expect(describeOutcome(await postWithApiKey(`/v1/shares/${others.share.id}/cease-ack`, {}, key))).toBe("404 not_found");
      expect(describeOutcome(await getWithApiKey(`/v1/shares?starting_after=${others.share.id}`, key))).toBe("400 invalid_request");
    }
    expect(describeOutcome(await redeemCode(trial, { client_id: acme.clients.sandbox }))).toBe("200 ok");
    await waitUntilSettled();
    expect((await listAllEvents()).filter(({ share_id }) => share_id === trial.share.id)).toEqual([]);
    expect((await env.DB.prepare("SELECT COUNT(*) AS n FROM anchors WHERE entity_id = ?").bind(trial.share.id).first("n")) as number).toBe(
      1,
    );
    expect(await env.DB.prepare("SELECT consumer_id FROM shares WHERE id = ?").bind(trial.share.id).first("consumer_id")).toBeNull();
  });

  test("P14: is revoked only by the person who granted it", async () => {
    const [pat, sam] = [await signInPerson(), await signInPerson()];
    const grant = await grantShare(pat);
    const path = `/v1/shares/${grant.share.id}/revoke`;
    expect(describeOutcome(await sam.post(path, {}))).toBe("404 not_found");
    expect(describeOutcome(await sam.post(`/v1/me/sever/${grant.share.id}`, {}))).toBe("404 not_found");
    expect(describeOutcome(await sam.post(`/v1/me/shares/${grant.share.id}/renew`, { consent: true }))).toBe("404 not_found");
    expect(describeOutcome(await call(path, buildJsonPost({})))).toBe("401 unauthorized");
    expect(describeOutcome(await call(path, buildJsonPost({ revoke_token: "A".repeat(43) })))).toBe("401 unauthorized");
    expect(describeOutcome(await call(path, buildJsonPost({}, { cookie: (await signIn(world.ownerEmail)).cookie })))).toBe("403 forbidden");
    expect(describeOutcome(await call(path, buildJsonPost({}, { authorization: `Bearer ${acme.keys.live}` })))).toBe("401 unauthorized");
    expect(describeOutcome(await pat.post(path, {}, { origin: "https://elsewhere.example" }))).toBe("403 csrf_failed");
    expect((await getWithApiKey(`/v1/shares/${grant.share.id}`)).body.data.status).toBe("active");
  });

  test("P15: is revoked once by a hundred concurrent requests, with one event, one entry per chain and one email", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    const responses = await runConcurrently(100, (at) =>
      pat.post(at % 2 === 0 ? `/v1/shares/${share.id}/revoke` : `/v1/me/sever/${share.id}`, {}),
    );
    expect(countOutcomes(responses.filter(({ status }) => status !== 429))).toEqual({
      "200 ok": responses.filter(({ status }) => status === 200).length,
    });
    expect(responses.filter(({ body }) => body.data?.already_revoked !== true && body.ok)).toHaveLength(1);
    expect(await listEventTypes(share.id)).toEqual(["share.created", "share.revoked"]);
    expect(await countEntries(share.id, "share.revoked")).toBe(2);
    expect((await listMailTo(pat.email)).filter(({ subject }) => subject === "You stopped sharing")).toHaveLength(1);
  });

  test("P16: is acknowledged only by the business that received it, and only after it was revoked", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    const path = `/v1/shares/${share.id}/cease-ack`;
    expect(describeOutcome(await postWithApiKey(path, {}))).toBe("409 cease_not_open");
    await pat.post(`/v1/shares/${share.id}/revoke`, {});
    expect(describeOutcome(await postWithApiKey(path, {}, world.other.keys.live))).toBe("404 not_found");
    expect(describeOutcome(await postWithApiKey(path, {}, acme.keys.sandbox))).toBe("404 not_found");
    const responses = await runConcurrently(20, () => postWithApiKey(path, {}));
    expect(countOutcomes(responses)).toEqual({ "200 ok": 20 });
    expect(await listEventTypes(share.id)).toEqual(["share.created", "share.revoked", "business.ceased"]);
  });

  test("P17: is renewed once by many concurrent requests", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    const responses = await runConcurrently(50, () => pat.post(`/v1/me/shares/${share.id}/renew`, { consent: true }));
    expect(countOutcomes(responses)).toEqual({ "201 ok": 1, "409 share_inactive": 49 });
    const { shares } = (await pat.get("/v1/me/shares")).body.data;
    expect(shares.map(({ status }: { status: string }) => status)).toEqual(["active", "superseded"]);
    expect(await listEventTypes(shares[0].id)).toEqual(["share.renewed"]);
    expect(await listEventTypes(share.id)).toEqual(["share.created"]);
  });

  test("P15, P17: is ended by the first of two concurrent requests, and the second is refused", async () => {
    const pat = await signInPerson();
    const buildPaths = (id: string) => ({ renew: `/v1/me/shares/${id}/renew`, revoke: `/v1/shares/${id}/revoke` });
    const expireShare = (id: string) =>
      env.DB.prepare("UPDATE shares SET state = 'expired', key_sealed = NULL, next_due_at = NULL WHERE id = ?").bind(id).run();
    const ends = {
      renewed: { send: (id: string, service: Call) => service(buildPaths(id).renew, buildJsonPost({ consent: true }, pat.headers)) },
      stopped: { send: (id: string, service: Call) => service(buildPaths(id).revoke, buildJsonPost({}, pat.headers)) },
    };
    for (const [late, first, refusal] of [
      [ends.renewed, (id: string) => ends.stopped.send(id, call), "409 share_inactive"],
      [ends.stopped, (id: string) => ends.renewed.send(id, call), "409 share_inactive"],
      [ends.renewed, expireShare, "409 share_inactive"],
      [ends.stopped, expireShare, "409 share_inactive"],
    ] as const) {
      const { share } = await grantShare(pat);
      const response = await late.send(share.id, createServiceCall({ DB: withWorkBeforeChange(() => first(share.id)) }));
      expect(describeOutcome(response)).toBe(refusal);
    }
  });

  test("P19: does not change when it is read", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    await waitUntilSettled();
    const reads = [
      () => call(query().replace("/authorize", "/v1/authorize")),
      () => createSheet(pat).get(query(), { referer: `${origin}/` }),
      () => createSheet(null).get(query()),
      () => pat.get("/v1/me"),
      () => pat.get("/v1/me/fields"),
      () => pat.get("/v1/me/shares"),
      () => getWithApiKey("/v1/shares"),
      () => getWithApiKey("/v1/shares?status=expired"),
      () => getWithApiKey(`/v1/shares/${share.id}`),
    ];
    const before = await readDatabaseContents();
    for (const sendRequest of [...reads, ...reads]) expect((await sendRequest()).status).toBe(200);
    expect(await readDatabaseContents()).toEqual(before);
    await getWithApiKey(`/v1/consumers/${share.id}/current`);
    const after = await readDatabaseContents();
    expect(Object.keys(after).filter((table) => after[table] !== before[table])).toEqual(["audit_entries"]);
  });

  test("P27: cannot be read after its end, even before a sweep", async () => {
    const pat = await signInPerson();
    const grant = await grantShare(pat, { duration_days: 1 });
    const at = Date.parse(grant.share.expires_at) - Date.now();
    const over = createServiceCall({ DEV_CLOCK_OFFSET_MS: String(at) });
    const nearly = createServiceCall({ DEV_CLOCK_OFFSET_MS: String(at - minuteMs) });
    const current = `/v1/consumers/${grant.share.id}/current`;
    expect((await getWithApiKey(current, undefined, nearly)).status).toBe(200);
    expect(describeOutcome(await getWithApiKey(current, undefined, over))).toBe("409 share_inactive");
    expect((await getWithApiKey(`/v1/shares/${grant.share.id}`, undefined, over)).body.data.status).toBe("expired");
    expect(describeOutcome(await over(`/v1/me/shares/${grant.share.id}/renew`, buildJsonPost({ consent: true }, pat.headers)))).toBe(
      "409 share_inactive",
    );
    expect(describeOutcome(await redeemCode(grant, {}, { origin }, over))).toBe("410 code_expired");
    expect(at).toBeLessThanOrEqual(dayMs);
  });
});

describe("PUT /v1/me/fields", () => {
  test("U1: accepts only the ten documented keys, and a refused request changes nothing", async () => {
    const pat = await signInPerson();
    const before = await readDatabaseContents();
    const bodies: unknown[] = [
      { plan: "family" },
      { phone: "+1 202 555 0100", id: "con_00zzzz" },
      { email: "new@example.com", fields_revision: 0 },
      { email: ["new@example.com"] },
      { email: 5 },
      { phone: "not a number" },
      { phone: "+999 123 4567" }, // no country has this code
      { country: "Atlantis" },
      { first_name: "A\nB" },
      [],
      null,
      "email",
    ];
    for (const body of bodies) expect(describeOutcome(await pat.put("/v1/me/fields", body))).toBe("400 invalid_request");
    const raw = await call("/v1/me/fields", {
      method: "PUT",
      headers: { ...pat.headers, "content-type": "application/json" },
      body: '{"__proto__": {"email": "new@example.com"}}',
    });
    expect(describeOutcome(raw)).toBe("400 invalid_request");
    expect(await readDatabaseContents()).toEqual(before);
  });

  test("U2: accepts sixty changes an hour, with one event per change and group, and loses no accepted change", async () => {
    stopClock();
    const pat = await signInPerson({});
    await pat.put("/v1/me/fields", contactValues);
    const { share } = await grantShare(pat, { scope: ["email", "phone"] });
    const responses = await runConcurrently(90, (at) => pat.put("/v1/me/fields", { phone: `+1 202 555 0${String(130 + at)}` }));
    const changed = responses.filter(({ status }) => status === 200);
    const limited = responses.filter(({ status }) => status === 429);
    // Each of these gave up after ten conflicts with other changes, and stored nothing.
    const conflicting = responses.filter(({ status }) => status === 503);
    expect(changed.length + limited.length + conflicting.length).toBe(90);
    expect(changed.length + conflicting.length).toBeLessThanOrEqual(59); // the limit is 60, and one change was made earlier
    expect(limited.length).toBeGreaterThanOrEqual(31);
    const eventTypes = await listEventTypes(share.id);
    expect(eventTypes.filter((type) => type === "consumer.updated.phone")).toHaveLength(changed.length);
    expect(eventTypes).toHaveLength(changed.length + 1);
    const storedFields = (await pat.get("/v1/me/fields")).body.data;
    const current = (await getWithApiKey(`/v1/consumers/${share.id}/current`)).body.data.fields.phone;
    expect(JSON.stringify(storedFields)).toContain(current);
  });

  test("applies ten simultaneous changes, and counts each of them once", async () => {
    const before = { ...contactValues, address_line2: "Floor 2", state: "CA" };
    const service = createServiceCall({ LIMIT_SHARE_UPDATES: "20/3600" });
    const pat = await signInPerson(before, service);
    const scope = ["email", "phone", "name", "address"];
    await grantShare(pat, { scope });
    await grantShare(pat, { scope });
    const after = {
      ...{ email: "pat.new@example.com", phone: "+1 202 555 0177", first_name: "Patricia", last_name: "Sample" },
      ...{ address_line1: "2 New Street", address_line2: "Floor 3", city: "Newtown", state: "NY", zip: "10001", country: "CA" },
    };
    const changes = Object.entries(after);
    const responses = await runConcurrently(10, (at) => pat.put("/v1/me/fields", Object.fromEntries(changes.slice(at, at + 1))));
    expect(responses.map(({ status, body }) => [status, body.data?.events_emitted])).toEqual(changes.map(() => [200, 2]));
    expect((await pat.get("/v1/me/fields")).body.data.fields).toEqual(after);
  });
});

describe("the number of active shares of a person with one business", () => {
  test("is at most a hundred, even for concurrent grants; ending one makes room, and other people are not affected", async () => {
    const pat = await signInPerson();
    const { share } = await grantShare(pat);
    await copyRow("shares", share.id, 98);
    const grants = await runConcurrently(5, () => pat.post("/v1/share/consent", buildDecision(createVerifier())));
    expect(countOutcomes(grants)).toEqual({ "201 ok": 1, "409 share_limit": 4 });
    await pat.post(`/v1/shares/${share.id}/revoke`, {});
    expect(describeOutcome(await pat.post("/v1/share/consent", buildDecision(createVerifier())))).toBe("201 ok");
    expect(describeOutcome(await pat.post("/v1/share/consent", buildDecision(createVerifier())))).toBe("409 share_limit");
    expect(describeOutcome(await (await signInPerson()).post("/v1/share/consent", buildDecision(createVerifier())))).toBe("201 ok");
  });
});

describe("what shares store", () => {
  const readUsage = async (owner: string) =>
    env.DB.prepare("SELECT SUM(records) AS records, SUM(bytes) AS bytes FROM record_usage WHERE owner_id = ?").bind(owner).first<{
      records: number;
      bytes: number;
    }>();
  const setUsage = (owner: string, daysAgo: number, records: number, bytes: number) =>
    env.DB.prepare("INSERT OR REPLACE INTO record_usage (owner_id, owner_kind, day, records, bytes) VALUES (?, ?, ?, ?, ?)")
      .bind(owner, owner === acme.id ? "sandbox" : "person", Math.floor(Date.now() / dayMs) - daysAgo, records, bytes)
      .run();

  test("is limited to 1,000 shares and 20 MB a day for a person; a disclosure counts only if it is new", async () => {
    stopClock();
    const pat = await signInPerson();
    const id = (await pat.get("/v1/me")).body.data.id as string;
    const disclosure_text = `${crypto.randomUUID()} ${"x".repeat(10_000)}`;
    await grantShare(pat, { disclosure_text });
    const first = await readUsage(id);
    expect(first).toMatchObject({ records: 1 });
    expect(first?.bytes).toBeGreaterThan(10_000);
    await grantShare(pat, { disclosure_text });
    expect(((await readUsage(id))?.bytes ?? 0) - (first?.bytes ?? 0)).toBeLessThan(10_000);
    const grant = () => pat.post("/v1/share/consent", buildDecision(createVerifier()));
    await setUsage(id, 0, 999, 0);
    expect(countOutcomes(await runConcurrently(3, grant))).toEqual({ "201 ok": 1, "429 rate_limited": 2 });
    await setUsage(id, 0, 5, 20_000_000);
    const refused = await grant();
    expect(describeOutcome(refused)).toBe("429 rate_limited");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    await setUsage(id, 0, 0, 0);
    await setUsage(id, 1, 1_000, 20_000_000);
    expect(describeOutcome(await grant())).toBe("201 ok");
  });

  test("is limited to 10,000 test shares and 100 MB in 30 days for a sandbox", async () => {
    stopClock();
    const grant = () =>
      call("/v1/share/sandbox-consent", buildJsonPost(buildDecision(createVerifier(), { client_id: acme.clients.sandbox }), { origin }));
    await env.DB.prepare("DELETE FROM record_usage WHERE owner_id = ?").bind(acme.id).run();
    expect(describeOutcome(await grant())).toBe("201 ok");
    await setUsage(acme.id, 29, 9_998, 0);
    expect([describeOutcome(await grant()), describeOutcome(await grant())]).toEqual(["201 ok", "429 rate_limited"]);
    await env.DB.prepare("DELETE FROM record_usage WHERE owner_id = ?").bind(acme.id).run();
    await setUsage(acme.id, 29, 1, 100_000_000);
    expect(describeOutcome(await grant())).toBe("429 rate_limited");
    await env.DB.prepare("DELETE FROM record_usage WHERE owner_id = ?").bind(acme.id).run();
    await setUsage(acme.id, 30, 10_000, 100_000_000);
    expect(describeOutcome(await grant())).toBe("201 ok");
    await env.DB.prepare("DELETE FROM record_usage WHERE owner_id = ?").bind(acme.id).run();
  });
});
