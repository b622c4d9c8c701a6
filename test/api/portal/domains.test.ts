// Domains: which can be claimed, how they are proved, what is said when the proof is not there, and how they lapse.
import { env } from "cloudflare:workers";
import { createScheduledController } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { clearCodes, listMailTo, signIn } from "../../support/people.ts";
import { callPortal, listAuditEntryTypes, signUpBusiness, describeOutcome, type Person } from "../../support/portal.ts";
import { htmlResponse, redirectResponse, createStubWeb, type StubWeb } from "../../support/stub-web.ts";
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
const claimed = async (name: string = domain): Promise<{ id: string; token: string }> => (await claim(name)).body.data;
const prove = (id: string, body?: object, person: Person = owner) => callPortal(person, "POST", `/domains/${id}/verify`, body);
const list = async (person: Person = owner) => (await callPortal(person, "GET", "/domains")).body.data.domains as Record<string, unknown>[];
const seen = (answer: Awaited<ReturnType<typeof prove>>): string => answer.body.error?.message;

/** What both resolvers, or each of them, say about the TXT records of the domain. */
const publish = (values: readonly string[] | ((resolver: string) => Response | Promise<Response>), of = domain): void =>
  web.resolve(`_svc-challenge.${of}`, (resolver) => {
    if (typeof values === "function") return values(resolver);
    const name = `_svc-challenge.${of}`;
    return Response.json({ Status: 0, Answer: values.map((value) => ({ name, type: 16, TTL: 60, data: `"${value}"` })) });
  });
const wellKnown = (text: string, init: ResponseInit = { headers: { "content-type": "text/plain" } }, of = domain): void =>
  web.serve(`https://${of}/.well-known/svc-verification.txt`, () => new Response(text, init));
const page = (head: string): void =>
  web.serve(`https://${domain}/`, `<!doctype html><html><head>${head}</head><body><p>Hi</p></body></html>`);

describe("a claim", () => {
  test("says three ways to prove the domain", async () => {
    const answer = await claim(` ${domain.toUpperCase()} `);
    expect(answer.status).toBe(201);
    const { id, token, ...rest } = answer.body.data;
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
    expect(await list()).toEqual([answer.body.data]);
    expect(await listAuditEntryTypes(owner.id)).toContain("domain.added");
    expect(describeOutcome(await claim())).toBe("409 domain_taken");
  });

  test("of a domain in other letters is of its punycode", async () => {
    expect((await claim("dächer.de")).body.data.domain).toBe("xn--dcher-gra.de");
    expect(describeOutcome(await claim("xn--dcher-gra.de"))).toBe("409 domain_taken");
  });

  test.each([
    ...["com", "co.uk", "github.io", "s3.amazonaws.com", "localhost", "10.0.0.1", "2130706433", "0x7f.1", "[::1]", "::1"],
    ...["https://roofs.com", "roofs.com/path", "roofs.com:443", "user@roofs.com", "roofs.com.", ".roofs.com", "roofs..com", "*.roofs.com"],
    ...["roofs_1.com", "roofs .com", "roofs.com#x", "①②⑦.com", `${"x".repeat(64)}.com`, "", "roofs.com\u0000", "roofs\u2024com"],
  ])("of %j is refused", async (name) => {
    const before = await readDatabaseContents();
    expect(describeOutcome(await claim(name))).toBe("400 invalid_request");
    expect(await readDatabaseContents()).toEqual(before);
  });

  test("of one's own part of a shared suffix is possible", async () => {
    expect((await claim("acme.github.io")).status).toBe(201);
    expect((await claim("a.b.roofs.co.uk")).status).toBe(201);
  });

  test("is one of a hundred, and one under one idempotency key", async () => {
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

  test("that nobody proved in two weeks proves nothing, goes, and can be made anew", async () => {
    const { id, token } = await claimed();
    publish([`svc-verify=${token}`]);
    vi.setSystemTime(start + 14 * day);
    await clearCodes();
    owner = { ...owner, ...(await signIn(ownerEmail)) };
    expect(describeOutcome(await prove(id))).toBe("409 domain_unverified");
    const anew = await claim();
    expect(anew.status).toBe(201);
    expect([anew.body.data.id === id, anew.body.data.token === token]).toEqual([false, false]);
    vi.setSystemTime(start + 28 * day);
    await tick();
    await clearCodes();
    owner = { ...owner, ...(await signIn(ownerEmail)) };
    expect(await list()).toEqual([]);
  });
});

describe("a proof", () => {
  test("by DNS that both resolvers see verifies the domain and what is below it", async () => {
    const { id, token } = await claimed();
    publish(["something else", `svc-verify=${token}`]);
    const answer = await prove(id);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toMatchObject({
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

  test("by DNS may stand at the end of an alias, and in pieces", async () => {
    const { id, token } = await claimed();
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
    expect((await prove(id, { method: "dns" })).body.data.status).toBe("verified");
  });

  test("by tag or by file verifies the very host and its www", async () => {
    for (const [method, put] of [
      ["meta", (token: string) => page(`<META NAME="Svc-Site-Verification" content=" ${token} ">`)],
      ["well_known", (token: string) => wellKnown(`svc-verify=other\r\nsvc-verify=${token}\n`)],
    ] as const) {
      const { id, token } = await claimed();
      put(token);
      const answer = await prove(id, { method });
      expect(answer.body.data).toMatchObject({ status: "verified", method, covers_subdomains: false });
      await callPortal(owner, "DELETE", `/domains/${id}`);
    }
  });

  test("opens the form of that host at once, and removing the domain closes it", async () => {
    const { client_id } = (await callPortal(owner, "POST", "/clients", { name: "t", environment: "live" })).body.data;
    await env.DB.prepare("UPDATE businesses SET plan = 'enterprise' WHERE id = ?").bind(owner.id).run();
    const send = (host: string) =>
      submitConsent({ ...buildSubmission(), client_id, page_url: `https://${host}/form` }, { origin: `https://${host}` }).then(
        describeOutcome,
      );
    const { id, token } = await claimed();
    expect(await send(domain)).toBe("403 origin_not_verified");
    publish([`svc-verify=${token}`]);
    await prove(id);
    expect(await send(`www.${domain}`)).toBe("201 ok");
    expect((await callPortal(owner, "DELETE", `/domains/${id}`)).body.data).toEqual({ deleted: true, id });
    expect(await send(`www.${domain}`)).toBe("403 origin_not_verified");
    expect(await listAuditEntryTypes(owner.id)).toContain("domain.removed");
  });

  test("is each business's own: agency and customer prove one domain, and neither by the other's token", async () => {
    const mine = await claimed();
    await clearCodes();
    const other = await signUpBusiness(`agency-${round}@domains.example`);
    const theirs = (await callPortal(other, "POST", "/domains", { domain })).body.data;
    publish([`svc-verify=${mine.token}`]);
    expect(describeOutcome(await prove(theirs.id, undefined, other))).toBe("409 domain_unverified");
    publish([`svc-verify=${mine.token}`, `svc-verify=${theirs.token}`]);
    expect((await prove(mine.id)).body.data.status).toBe("verified");
    expect((await prove(theirs.id, undefined, other)).body.data.status).toBe("verified");
  });

  test("is looked for with our own words only: no cookie, no credential", async () => {
    const { id, token } = await claimed();
    wellKnown(`svc-verify=${token}`);
    await prove(id, { method: "well_known" });
    const [call] = web.calls;
    expect(call?.headers.get("cookie")).toBeNull();
    expect(call?.headers.get("user-agent")).toMatch(/^svc-domain-check/);
    expect(call?.redirect).toBe("manual");
  });
});

describe("a proof that is not there", () => {
  const secretText = "Internal build 4711, password hunter2";

  test("is told of in our words, never the stranger's", async () => {
    const { id } = await claimed();
    page(`<title>${secretText}</title><meta name="svc-site-verification" content="${secretText}">`);
    wellKnown(secretText);
    publish([secretText]);
    const answer = await prove(id);
    expect(describeOutcome(answer)).toBe("409 domain_unverified");
    expect(seen(answer)).toBe(
      "TXT record: found, but with a different token. Well-known file: not found. Meta tag: found, but with a different token.",
    );
    expect(answer.text).not.toContain("hunter2");
    expect((await list())[0]).toMatchObject({ status: "pending" });
  });

  test("by DNS: nothing there, resolvers that disagree, fail, are silent or talk nonsense", async () => {
    const { id, token } = await claimed();
    const right = { Status: 0, Answer: [{ name: `_svc-challenge.${domain}`, type: 16, TTL: 60, data: `svc-verify=${token}` }] };
    const cases: readonly (readonly [string, (resolver: string) => Response])[] = [
      ["not found", () => Response.json({ Status: 3 })],
      ["not found", () => Response.json({ Status: 0 })],
      ["not visible to every resolver yet", (resolver) => Response.json(resolver === "dns.google" ? right : { Status: 3 })],
      ["no answer in time", () => Response.json({ Status: 2 })],
      ["no answer in time", (resolver) => (resolver === "dns.google" ? Response.json(right) : new Response("", { status: 500 }))],
      ["no answer in time", () => new Response("<html>", { status: 200 })],
      ["no answer in time", () => Response.json({ ...right, Answer: "no list" })],
      // a record under a name that the question does not lead to
      ["not found", () => Response.json({ Status: 0, Answer: [{ ...right.Answer[0], name: "elsewhere.com" }] })],
    ];
    for (const [words, answer] of cases) {
      publish(answer);
      expect(seen(await prove(id, { method: "dns" })), words).toBe(`TXT record: ${words}.`);
    }
  });

  test("by tag: in the body, in a template, behind a redirect elsewhere, on an error page, in an endless page, at an inner address", async () => {
    const { id, token } = await claimed();
    const tag = `<meta name="svc-site-verification" content="${token}">`;
    const url = `https://${domain}/`;
    const cases: readonly (readonly [string, () => Response | Promise<Response>])[] = [
      ["not found", () => htmlResponse(`<html><head></head><body>${tag}</body></html>`)],
      ["not found", () => htmlResponse(`<p>comment</p>${tag}`)],
      ["not found", () => htmlResponse(`<template>${tag}</template><noscript>${tag}</noscript>`)],
      ["not found", () => htmlResponse(`<script>"${tag}"</script><!-- ${tag} -->`)],
      ["not found", () => htmlResponse(`${"<template>".repeat(200)}${tag}`)],
      ["redirects to another host or redirects too often", () => redirectResponse("https://evil-roofs.com/")],
      ["redirects to another host or redirects too often", () => redirectResponse(url)],
      ["server returned an error page", () => htmlResponse(tag, { status: 404 })],
      ["response is neither HTML nor plain text", () => new Response(tag, { headers: { "content-type": "application/json" } })],
      ["response is too large", () => htmlResponse("x".repeat(1_048_577))],
      ["no answer in time", () => htmlResponse(tag, { status: 503 })],
    ];
    for (const [words, answer] of cases) {
      web.serve(url, answer);
      expect(seen(await prove(id, { method: "meta" }))).toBe(`Meta tag: ${words}.`);
    }
    for (const addresses of [["127.0.0.1"], ["10.0.0.7"], ["169.254.169.254"], ["93.184.216.34", "192.168.1.1"]]) {
      web.resolve(domain, addresses);
      const calls = web.calls.length;
      expect(seen(await prove(id, { method: "meta" }))).toBe("Meta tag: host has no public IP address.");
      expect(web.calls.length).toBe(calls);
    }
  });

  test("by file: another token, a page that answers everything, a redirect to www is followed", async () => {
    const { id, token } = await claimed();
    wellKnown("svc-verify=0123");
    expect(seen(await prove(id, { method: "well_known" }))).toBe("Well-known file: found, but with a different token.");
    wellKnown(`<html>svc-verify=${token}</html>`, { headers: { "content-type": "text/html" } });
    expect(seen(await prove(id, { method: "well_known" }))).toBe("Well-known file: not found.");
    web.serve(`https://${domain}/.well-known/svc-verification.txt`, () =>
      redirectResponse(`https://www.${domain}/.well-known/svc-verification.txt`),
    );
    wellKnown(`svc-verify=${token}`, undefined, `www.${domain}`);
    expect((await prove(id, { method: "well_known" })).body.data.status).toBe("verified");
  });

  test("takes nothing from a domain that is verified already", async () => {
    const { id, token } = await claimed();
    publish([`svc-verify=${token}`]);
    await prove(id);
    publish([]);
    expect(describeOutcome(await prove(id))).toBe("409 domain_unverified");
    expect((await list())[0]).toMatchObject({ status: "verified", method: "dns" });
  });

  test("of a domain that was proved otherwise is not looked for", async () => {
    await clearCodes();
    const acme = await signIn(world.ownerEmail);
    const seeded = (await list(acme)).find((one) => one.domain === "demo.example");
    expect(seeded).toMatchObject({ token: null, methods: null, status: "verified" });
    expect(describeOutcome(await prove(String(seeded?.id), undefined, acme))).toBe("409 domain_unverified");
    expect(web.calls).toEqual([]);
  });

  test("is not looked for more than sixty times an hour", async () => {
    const { id } = await claimed();
    const strict = createServiceCall({ LIMIT_DOMAIN_CHECKS_PER_BUSINESS: "2/3600" });
    const outcomes = [];
    for (let at = 0; at < 3; at += 1)
      outcomes.push(describeOutcome(await callPortal(owner, "POST", `/domains/${id}/verify`, { method: "dns" }, {}, strict)));
    expect(outcomes).toEqual(["409 domain_unverified", "409 domain_unverified", "429 rate_limited"]);
  });

  test("with a method that is none is refused", async () => {
    const { id } = await claimed();
    expect(describeOutcome(await prove(id, { method: "file" }))).toBe("400 invalid_request");
    expect(web.calls).toEqual([]);
  });
});

/** One run of the jobs of the quarter of an hour, by the clock as it is set. */
const tick = async (): Promise<void> => {
  await worker.scheduled(createScheduledController({ scheduledTime: Date.now(), cron: "*/15 * * * *" }), env as never);
  await worker.scheduled(createScheduledController({ scheduledTime: Date.now(), cron: "* * * * *" }), env as never);
};
const row = () =>
  env.DB.prepare("SELECT status, misses, lapses_at, next_check_at FROM domains WHERE business_id = ?").bind(owner.id).first<{
    status: string;
    misses: number;
    lapses_at: number | null;
    next_check_at: number | null;
  }>();

describe("a verified domain", () => {
  const verified = async (): Promise<string> => {
    const { id, token } = await claimed();
    publish([`svc-verify=${token}`]);
    await prove(id);
    await env.DB.prepare("UPDATE domains SET next_check_at = NULL WHERE business_id <> ?").bind(owner.id).run();
    return token;
  };

  test("is looked at again each week and stays while the proof does", async () => {
    await verified();
    for (const week of [1, 2, 3]) {
      vi.setSystemTime(start + week * 7 * day);
      await tick();
      expect(await row()).toMatchObject({ status: "verified", misses: 0, next_check_at: start + (week + 1) * 7 * day });
    }
    expect(await listMailTo(ownerEmail)).toHaveLength(1); // the sign-up
  });

  test("lapses after three misses, two weeks after its owners were told", async () => {
    await verified();
    await clearCodes();
    publish(() => Response.json({ Status: 3 }));
    vi.setSystemTime(start + 7 * day);
    await tick();
    await tick();
    expect(await row()).toMatchObject({ status: "verified", misses: 1, lapses_at: start + 21 * day });
    const warned = await listMailTo(ownerEmail);
    expect(warned).toHaveLength(1);
    expect(warned[0]?.text).toContain(domain);
    vi.setSystemTime(start + 14 * day);
    await tick();
    expect(await row()).toMatchObject({ status: "verified", misses: 2 });
    vi.setSystemTime(start + 21 * day);
    await tick();
    expect(await row()).toMatchObject({ status: "lapsed", misses: 3, next_check_at: null });
    expect(await listMailTo(ownerEmail)).toHaveLength(2);
    expect((await listAuditEntryTypes(owner.id)).at(-1)).toBe("domain.lapsed");
  });

  test("whose proof comes back in time is as it was, and one that lapsed can be proved again", async () => {
    const token = await verified();
    publish([]);
    vi.setSystemTime(start + 7 * day);
    await tick();
    publish([`svc-verify=${token}`]);
    vi.setSystemTime(start + 14 * day);
    await tick();
    expect(await row()).toMatchObject({ status: "verified", misses: 0, lapses_at: null });
    await env.DB.prepare("UPDATE domains SET status = 'lapsed', next_check_at = NULL WHERE business_id = ?").bind(owner.id).run();
    await clearCodes();
    owner = { ...owner, ...(await signIn(ownerEmail)) };
    const [lapsed] = await list();
    expect(lapsed).toMatchObject({ status: "lapsed", covers_subdomains: false });
    expect((await prove(String(lapsed?.id))).body.data.status).toBe("verified");
  });

  test("loses nothing to resolvers that are silent for hours, but does to silence that lasts", async () => {
    await verified();
    publish(() => new Response("", { status: 500 }));
    vi.setSystemTime(start + 7 * day);
    await tick();
    expect(await row()).toMatchObject({ misses: 0, lapses_at: null, next_check_at: start + 7 * day + 6 * 3_600_000 });
    vi.setSystemTime(start + 8 * day);
    await tick();
    expect(await row()).toMatchObject({ status: "verified", misses: 1, lapses_at: start + 22 * day });
  });
});

describe("who may do it", () => {
  test("members read, owners change; another business's owner finds nothing, a consumer is nobody here", async () => {
    const { id } = await claimed();
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
