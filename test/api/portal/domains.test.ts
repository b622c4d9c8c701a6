// Tests domains: which ones can be claimed, how they are verified, the messages of failed checks, and how verification lapses.
import { env } from "cloudflare:workers";
import { createScheduledController } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { clearCodes, listMailTo, signIn } from "../../support/people.ts";
import { callPortal, listAuditEntryTypes, signUpBusiness, describeOutcome, type Person } from "../../support/portal.ts";
import { createHtmlResponse, redirectResponse, createStubWeb, type StubWeb } from "../../support/stub-web.ts";
import { submitConsent, readDatabaseContents, createServiceCall, buildSubmission, world } from "../../support/world.ts";
import worker from "../../../workers/index.ts";

const day = 86_400_000;
let round = 0;
let start = Date.UTC(2034, 0, 1, 10);
let owner: Person & { id: string; userId: string };
let ownerEmail = "";
let domain = "";
let web: StubWeb;

beforeEach(async () => {
  round += 1;
  start += 60 * day;
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(start);
  domain = `roofs-${round}.com`;
  ownerEmail = `owner-${round}@domains.example`;
  owner = await signUpBusiness(ownerEmail);
  web = createStubWeb();
  web.resolve(domain, ["93.184.216.34"]);
  web.resolve(`www.${domain}`, ["93.184.216.34"]);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const claim = (name: unknown = domain, headers: Record<string, string> = {}) =>
  callPortal(owner, "POST", "/domains", { domain: name }, headers);
const createClaim = async (name: string = domain): Promise<{ id: string; token: string }> => (await claim(name)).body.data;
const verify = (id: string, body?: object, person: Person = owner) => callPortal(person, "POST", `/domains/${id}/verify`, body);
const list = async (person: Person = owner) => (await callPortal(person, "GET", "/domains")).body.data.domains as Record<string, unknown>[];
const getErrorMessage = (response: Awaited<ReturnType<typeof verify>>): string => response.body.error?.message;

/** Publishes the domain's TXT records. If `values` is a function, it returns the response of each resolver. */
const publish = (values: readonly string[] | ((resolver: string) => Response | Promise<Response>), host = domain): void =>
  web.resolve(`_svc-challenge.${host}`, (resolver) => {
    if (typeof values === "function") return values(resolver);
    const name = `_svc-challenge.${host}`;
    return Response.json({ Status: 0, Answer: values.map((value) => ({ name, type: 16, TTL: 60, data: `"${value}"` })) });
  });
const publishWellKnown = (text: string, init: ResponseInit = { headers: { "content-type": "text/plain" } }, host = domain): void =>
  web.serve(`https://${host}/.well-known/svc-verification.txt`, () => new Response(text, init));
const page = (head: string): void =>
  web.serve(`https://${domain}/`, `<!doctype html><html><head>${head}</head><body><p>Hi</p></body></html>`);

describe("POST /v1/business/portal/domains", () => {
  test("returns three ways to verify the domain", async () => {
    const response = await claim(` ${domain.toUpperCase()} `);
    expect(response.status).toBe(201);
    const { id, token, ...rest } = response.body.data;
    expect(id).toMatch(/^dom_00/);
    expect(token).toMatch(/^[0-9a-f]{40}$/);
    expect(rest).toEqual({
      domain,
      status: "pending",
      expires_at: new Date(start + 14 * day).toISOString(),
      methods: {
        dns: { type: "TXT", name: `_svc-challenge.${domain}`, value: `svc-verify=${token}` },
        meta: { tag: `<meta name="svc-site-verification" content="${token}">`, url: `https://${domain}/` },
        well_known: { url: `https://${domain}/.well-known/svc-verification.txt`, body: `svc-verify=${token}` },
      },
      method: null,
      verified_at: null,
      covers_subdomains: false,
      checked_at: null,
      lapses_at: null,
      created_at: new Date(start).toISOString(),
    });
    expect(await list()).toEqual([response.body.data]);
    expect(await listAuditEntryTypes(owner.id)).toContain("domain.added");
    expect(describeOutcome(await claim())).toBe("409 domain_taken");
  });

  test("stores an internationalized domain as punycode", async () => {
    expect((await claim("dächer.de")).body.data.domain).toBe("xn--dcher-gra.de");
    expect(describeOutcome(await claim("xn--dcher-gra.de"))).toBe("409 domain_taken");
  });

  test.each([
    ...["com", "co.uk", "github.io", "s3.amazonaws.com", "localhost", "10.0.0.1", "2130706433", "0x7f.1", "[::1]", "::1"],
    ...["https://roofs.com", "roofs.com/path", "roofs.com:443", "user@roofs.com", "roofs.com.", ".roofs.com", "roofs..com", "*.roofs.com"],
    ...["roofs_1.com", "roofs .com", "roofs.com#x", "①②⑦.com", `${"x".repeat(64)}.com`, "", "roofs.com\u0000", "roofs\u2024com"],
  ])("returns 400 invalid_request for %j", async (name) => {
    const before = await readDatabaseContents();
    expect(describeOutcome(await claim(name))).toBe("400 invalid_request");
    expect(await readDatabaseContents()).toEqual(before);
  });

  test("accepts a domain below a shared suffix", async () => {
    expect((await claim("acme.github.io")).status).toBe(201);
    expect((await claim("a.b.roofs.co.uk")).status).toBe(201);
  });

  test("returns 409 domain_limit past a hundred domains, and replays a claim with the same idempotency key", async () => {
    const key = { "idempotency-key": "domain-1" };
    const [first, second] = [await claim(domain, key), await claim(domain, key)];
    expect([second.status, second.headers.get("idempotency-replayed"), second.body.data]).toEqual([201, "true", first.body.data]);
    await env.DB.batch(
      Array.from({ length: 99 }, (_, at) =>
        env.DB.prepare("INSERT INTO domains (id, business_id, domain, status, created_at) VALUES (?, ?, ?, 'pending', 0)").bind(
          `dom_${round}_${at}`,
          owner.id,
          `filled-${at}.com`,
        ),
      ),
    );
    expect(describeOutcome(await claim("one-more.com"))).toBe("409 domain_limit");
  });

  test("creates a claim that expires after two weeks: it cannot be verified, can be made again, and is deleted", async () => {
    const { id, token } = await createClaim();
    publish([`svc-verify=${token}`]);
    vi.setSystemTime(start + 14 * day);
    await clearCodes();
    owner = { ...owner, ...(await signIn(ownerEmail)) };
    expect(describeOutcome(await verify(id))).toBe("409 domain_unverified");
    const renewed = await claim();
    expect(renewed.status).toBe(201);
    expect([renewed.body.data.id === id, renewed.body.data.token === token]).toEqual([false, false]);
    vi.setSystemTime(start + 28 * day);
    await runJobs();
    await clearCodes();
    owner = { ...owner, ...(await signIn(ownerEmail)) };
    expect(await list()).toEqual([]);
  });
});

describe("POST /v1/business/portal/domains/{id}/verify", () => {
  test("records no verification of a domain that is removed during the check", async () => {
    const { id, token } = await createClaim();
    let removal: Promise<unknown> | null = null;
    publish(async () => {
      removal ??= callPortal(owner, "DELETE", `/domains/${id}`);
      await removal;
      const answer = { name: `_svc-challenge.${domain}`, type: 16, TTL: 60, data: `"svc-verify=${token}"` };
      return Response.json({ Status: 0, Answer: [answer] });
    });
    expect((await verify(id, { method: "dns" })).status).toBe(404);
    expect((await listAuditEntryTypes(owner.id)).filter((type) => type.startsWith("domain."))).toEqual(["domain.added", "domain.removed"]);
  });

  test("verifies the domain and its subdomains by a DNS record that both resolvers see", async () => {
    const { id, token } = await createClaim();
    publish(["something else", `svc-verify=${token}`]);
    const response = await verify(id);
    expect(response.status).toBe(200);
    expect(response.body.data).toMatchObject({
      id,
      domain,
      status: "verified",
      method: "dns",
      verified_at: new Date(start).toISOString(),
      covers_subdomains: true,
      expires_at: null,
    });
    expect(await listAuditEntryTypes(owner.id)).toContain("domain.verified");
  });

  test("accepts a DNS record behind an alias and in several strings", async () => {
    const { id, token } = await createClaim();
    const name = `_svc-challenge.${domain}`;
    const text = `svc-verify=${token}`;
    publish(() =>
      Response.json({
        Status: 0,
        Answer: [
          { name, type: 5, TTL: 60, data: "proofs.dns-host.net." },
          { name: "proofs.dns-host.net", type: 16, TTL: 60, data: `"${text.slice(0, 9)}" "${text.slice(9)}"` },
        ],
      }),
    );
    expect((await verify(id, { method: "dns" })).body.data.status).toBe("verified");
  });

  test("verifies the exact host and its www subdomain by meta tag or file", async () => {
    for (const [method, put] of [
      ["meta", (token: string) => page(`<META NAME="Svc-Site-Verification" content=" ${token} ">`)],
      ["well_known", (token: string) => publishWellKnown(`svc-verify=other\r\nsvc-verify=${token}\n`)],
    ] as const) {
      const { id, token } = await createClaim();
      put(token);
      const response = await verify(id, { method });
      expect(response.body.data).toMatchObject({ status: "verified", method, covers_subdomains: false });
      await callPortal(owner, "DELETE", `/domains/${id}`);
    }
  });

  test("enables submissions from that host immediately, until the domain is removed", async () => {
    const { client_id } = (await callPortal(owner, "POST", "/clients", { name: "t", environment: "live" })).body.data;
    await env.DB.prepare("UPDATE businesses SET plan = 'enterprise' WHERE id = ?").bind(owner.id).run();
    const send = (host: string) =>
      submitConsent({ ...buildSubmission(), client_id, page_url: `https://${host}/form` }, { origin: `https://${host}` }).then(
        describeOutcome,
      );
    const { id, token } = await createClaim();
    expect(await send(domain)).toBe("403 origin_not_verified");
    publish([`svc-verify=${token}`]);
    await verify(id);
    expect(await send(`www.${domain}`)).toBe("201 ok");
    expect((await callPortal(owner, "DELETE", `/domains/${id}`)).body.data).toEqual({ deleted: true, id });
    expect(await send(`www.${domain}`)).toBe("403 origin_not_verified");
    expect(await listAuditEntryTypes(owner.id)).toContain("domain.removed");
  });

  test("verifies one domain for two businesses, each by its own token only", async () => {
    const ownClaim = await createClaim();
    await clearCodes();
    const other = await signUpBusiness(`agency-${round}@domains.example`);
    const otherClaim = (await callPortal(other, "POST", "/domains", { domain })).body.data;
    publish([`svc-verify=${ownClaim.token}`]);
    expect(describeOutcome(await verify(otherClaim.id, undefined, other))).toBe("409 domain_unverified");
    publish([`svc-verify=${ownClaim.token}`, `svc-verify=${otherClaim.token}`]);
    expect((await verify(ownClaim.id)).body.data.status).toBe("verified");
    expect((await verify(otherClaim.id, undefined, other)).body.data.status).toBe("verified");
  });

  test("fetches without cookies and credentials", async () => {
    const { id, token } = await createClaim();
    publishWellKnown(`svc-verify=${token}`);
    await verify(id, { method: "well_known" });
    const [call] = web.calls;
    expect(call?.headers.get("cookie")).toBeNull();
    expect(call?.headers.get("user-agent")).toMatch(/^svc-domain-check/);
    expect(call?.redirect).toBe("manual");
  });
});

describe("POST /v1/business/portal/domains/{id}/verify without a valid token", () => {
  const secretText = "Internal build 4711, password hunter2";

  test("describes the result without echoing the fetched text", async () => {
    const { id } = await createClaim();
    page(`<title>${secretText}</title><meta name="svc-site-verification" content="${secretText}">`);
    publishWellKnown(secretText);
    publish([secretText]);
    const response = await verify(id);
    expect(describeOutcome(response)).toBe("409 domain_unverified");
    expect(getErrorMessage(response)).toBe(
      "DNS record: found, but with a different token. File: not found. Meta tag: found, but with a different token.",
    );
    expect(response.text).not.toContain("hunter2");
    expect((await list())[0]).toMatchObject({ status: "pending" });
  });

  test("reports DNS records that are missing, and resolvers that disagree, fail, do not respond or return invalid data", async () => {
    const { id, token } = await createClaim();
    const right = { Status: 0, Answer: [{ name: `_svc-challenge.${domain}`, type: 16, TTL: 60, data: `svc-verify=${token}` }] };
    const cases: readonly (readonly [string, (resolver: string) => Response])[] = [
      ["not found", () => Response.json({ Status: 3 })],
      ["not found", () => Response.json({ Status: 0 })],
      ["not visible to every resolver yet", (resolver) => Response.json(resolver === "dns.google" ? right : { Status: 3 })],
      ["no answer in time", () => Response.json({ Status: 2 })],
      ["no answer in time", (resolver) => (resolver === "dns.google" ? Response.json(right) : new Response("", { status: 500 }))],
      ["no answer in time", () => new Response("<html>", { status: 200 })],
      ["no answer in time", () => Response.json({ ...right, Answer: "no list" })],
      // A DNS response whose record is for a different name than the query.
      ["not found", () => Response.json({ Status: 0, Answer: [{ ...right.Answer[0], name: "elsewhere.com" }] })],
    ];
    for (const [words, respond] of cases) {
      publish(respond);
      expect(getErrorMessage(await verify(id, { method: "dns" })), words).toBe(`DNS record: ${words}.`);
    }
  });

  test("reports meta tags in the wrong place, redirects, error pages, endless pages and private addresses", async () => {
    const { id, token } = await createClaim();
    const tag = `<meta name="svc-site-verification" content="${token}">`;
    const url = `https://${domain}/`;
    const cases: readonly (readonly [string, () => Response | Promise<Response>])[] = [
      ["not found", () => createHtmlResponse(`<html><head></head><body>${tag}</body></html>`)],
      ["not found", () => createHtmlResponse(`<p>comment</p>${tag}`)],
      ["not found", () => createHtmlResponse(`<template>${tag}</template><noscript>${tag}</noscript>`)],
      ["not found", () => createHtmlResponse(`<script>"${tag}"</script><!-- ${tag} -->`)],
      ["not found", () => createHtmlResponse(`${"<template>".repeat(200)}${tag}`)],
      ["redirects to another host or redirects too often", () => redirectResponse("https://evil-roofs.com/")],
      ["redirects to another host or redirects too often", () => redirectResponse(url)],
      ["server returned an error page", () => createHtmlResponse(tag, { status: 404 })],
      ["response is neither HTML nor plain text", () => new Response(tag, { headers: { "content-type": "application/json" } })],
      ["response is too large", () => createHtmlResponse("x".repeat(1_048_577))],
      ["no answer in time", () => createHtmlResponse(tag, { status: 503 })],
    ];
    for (const [words, respond] of cases) {
      web.serve(url, respond);
      expect(getErrorMessage(await verify(id, { method: "meta" }))).toBe(`Meta tag: ${words}.`);
    }
    for (const addresses of [["127.0.0.1"], ["10.0.0.7"], ["169.254.169.254"], ["93.184.216.34", "192.168.1.1"]]) {
      web.resolve(domain, addresses);
      const calls = web.calls.length;
      expect(getErrorMessage(await verify(id, { method: "meta" }))).toBe("Meta tag: host has no public IP address.");
      expect(web.calls.length).toBe(calls);
    }
  });

  test("reports a different token and an HTML page for the file, and follows a redirect to www", async () => {
    const { id, token } = await createClaim();
    publishWellKnown("svc-verify=0123");
    expect(getErrorMessage(await verify(id, { method: "well_known" }))).toBe("File: found, but with a different token.");
    publishWellKnown(`<html>svc-verify=${token}</html>`, { headers: { "content-type": "text/html" } });
    expect(getErrorMessage(await verify(id, { method: "well_known" }))).toBe("File: not found.");
    web.serve(`https://${domain}/.well-known/svc-verification.txt`, () =>
      redirectResponse(`https://www.${domain}/.well-known/svc-verification.txt`),
    );
    publishWellKnown(`svc-verify=${token}`, undefined, `www.${domain}`);
    expect((await verify(id, { method: "well_known" })).body.data.status).toBe("verified");
  });

  test("keeps a verified domain verified", async () => {
    const { id, token } = await createClaim();
    publish([`svc-verify=${token}`]);
    await verify(id);
    publish([]);
    expect(describeOutcome(await verify(id))).toBe("409 domain_unverified");
    expect((await list())[0]).toMatchObject({ status: "verified", method: "dns" });
  });

  test("does not check a domain that has no token", async () => {
    await clearCodes();
    const acme = await signIn(world.ownerEmail);
    const seeded = (await list(acme)).find((candidate) => candidate.domain === "demo.example");
    expect(seeded).toMatchObject({ token: null, methods: null, status: "verified" });
    expect(describeOutcome(await verify(String(seeded?.id), undefined, acme))).toBe("409 domain_unverified");
    expect(web.calls).toEqual([]);
  });

  test("returns 429 rate_limited past the hourly limit of checks", async () => {
    const { id } = await createClaim();
    const strict = createServiceCall({ LIMIT_DOMAIN_CHECKS_PER_BUSINESS: "2/3600" });
    const outcomes = [];
    for (let at = 0; at < 3; at += 1)
      outcomes.push(describeOutcome(await callPortal(owner, "POST", `/domains/${id}/verify`, { method: "dns" }, {}, strict)));
    expect(outcomes).toEqual(["409 domain_unverified", "409 domain_unverified", "429 rate_limited"]);
  });

  test("returns 400 invalid_request for an unknown method", async () => {
    const { id } = await createClaim();
    expect(describeOutcome(await verify(id, { method: "file" }))).toBe("400 invalid_request");
    expect(web.calls).toEqual([]);
  });
});

/** Runs the 15-minute cron job and the every-minute cron job at the current fake time. */
const runJobs = async (): Promise<void> => {
  await worker.scheduled(createScheduledController({ scheduledTime: Date.now(), cron: "*/15 * * * *" }), env);
  await worker.scheduled(createScheduledController({ scheduledTime: Date.now(), cron: "* * * * *" }), env);
};
const readRow = () =>
  env.DB.prepare("SELECT status, misses, lapses_at, next_check_at FROM domains WHERE business_id = ?").bind(owner.id).first<{
    status: string;
    misses: number;
    lapses_at: number | null;
    next_check_at: number | null;
  }>();

describe("a verified domain", () => {
  const createVerifiedDomain = async (): Promise<string> => {
    const { id, token } = await createClaim();
    publish([`svc-verify=${token}`]);
    await verify(id);
    await env.DB.prepare("UPDATE domains SET next_check_at = NULL WHERE business_id <> ?").bind(owner.id).run();
    return token;
  };

  test("is checked again each week and stays verified while the token is there", async () => {
    await createVerifiedDomain();
    for (const week of [1, 2, 3]) {
      vi.setSystemTime(start + week * 7 * day);
      await runJobs();
      expect(await readRow()).toMatchObject({ status: "verified", misses: 0, next_check_at: start + (week + 1) * 7 * day });
    }
    expect(await listMailTo(ownerEmail)).toHaveLength(1); // only the sign-up email was sent
  });

  test("lapses after three misses, two weeks after its owners are notified", async () => {
    await createVerifiedDomain();
    await clearCodes();
    publish(() => Response.json({ Status: 3 }));
    vi.setSystemTime(start + 7 * day);
    await runJobs();
    await runJobs();
    expect(await readRow()).toMatchObject({ status: "verified", misses: 1, lapses_at: start + 21 * day });
    const warned = await listMailTo(ownerEmail);
    expect(warned).toHaveLength(1);
    expect(warned[0]?.text).toContain(domain);
    vi.setSystemTime(start + 14 * day);
    await runJobs();
    expect(await readRow()).toMatchObject({ status: "verified", misses: 2 });
    vi.setSystemTime(start + 21 * day);
    await runJobs();
    expect(await readRow()).toMatchObject({ status: "lapsed", misses: 3, next_check_at: null });
    expect(await listMailTo(ownerEmail)).toHaveLength(2);
    expect((await listAuditEntryTypes(owner.id)).at(-1)).toBe("domain.lapsed");
  });

  test("recovers if the token returns in time, and can be verified again after it lapsed", async () => {
    const token = await createVerifiedDomain();
    publish([]);
    vi.setSystemTime(start + 7 * day);
    await runJobs();
    publish([`svc-verify=${token}`]);
    vi.setSystemTime(start + 14 * day);
    await runJobs();
    expect(await readRow()).toMatchObject({ status: "verified", misses: 0, lapses_at: null });
    await env.DB.prepare("UPDATE domains SET status = 'lapsed', next_check_at = NULL WHERE business_id = ?").bind(owner.id).run();
    await clearCodes();
    owner = { ...owner, ...(await signIn(ownerEmail)) };
    const [lapsed] = await list();
    expect(lapsed).toMatchObject({ status: "lapsed", covers_subdomains: false });
    expect((await verify(String(lapsed?.id))).body.data.status).toBe("verified");
  });

  test("is not affected if resolvers fail for hours, but is affected if they keep failing", async () => {
    await createVerifiedDomain();
    publish(() => new Response("", { status: 500 }));
    vi.setSystemTime(start + 7 * day);
    await runJobs();
    expect(await readRow()).toMatchObject({ misses: 0, lapses_at: null, next_check_at: start + 7 * day + 6 * 3_600_000 });
    vi.setSystemTime(start + 8 * day);
    await runJobs();
    expect(await readRow()).toMatchObject({ status: "verified", misses: 1, lapses_at: start + 22 * day });
  });
});

describe("permissions on domains", () => {
  test("let members read and owners change; another business's owner gets 404, a consumer 403", async () => {
    const { id } = await createClaim();
    await clearCodes();
    const other = await signIn(world.otherOwnerEmail);
    const member = await signIn(world.memberEmail);
    const consumer = await signIn(world.consumerEmail, "consumer");
    const before = await readDatabaseContents();
    for (const [method, path, body] of [
      ["POST", "/domains", { domain }],
      ["POST", `/domains/${id}/verify`, undefined],
      ["DELETE", `/domains/${id}`, undefined],
    ] as const) {
      expect(describeOutcome(await callPortal(member, method, path, body)), path).toBe("403 owner_required");
      expect(describeOutcome(await callPortal(consumer, method, path, body)), path).toBe("403 forbidden");
      expect(describeOutcome(await callPortal(null, method, path, body)), path).toBe("401 unauthorized");
      expect(describeOutcome(await callPortal(owner, method, path, body, { origin: "https://evil.example" })), path).toBe(
        "403 csrf_failed",
      );
      if (path !== "/domains") expect(describeOutcome(await callPortal(other, method, path, body)), path).toBe("404 not_found");
    }
    expect(describeOutcome(await callPortal(member, "GET", "/domains"))).toBe("200 ok");
    expect(JSON.stringify(await list(other))).not.toContain(domain);
    expect(await readDatabaseContents()).toEqual(before);
  });
});
