// Tests which origins and pages each client may use with POST /v1/consent, in development and in production.
// test/core/access/origins.test.ts covers the spellings of an origin.
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import type { DemoBusiness } from "../../scripts/demo-world.ts";
import {
  call,
  buildConsentRequest,
  getWithKey,
  productionSettings,
  countRows,
  createServiceCall,
  buildSubmission,
  world,
  type Call,
} from "../support/world.ts";

interface Row {
  readonly name: string;
  readonly origin: string | null;
  readonly page?: string;
  readonly clientId?: string;
  /** The host in the certificate, or the error code of the refusal. */
  readonly outcome: string;
}

const page = "https://www.example.com/quote";
const noOrigin = "origin_not_verified";
const noPage = "page_url_not_verified";
const live = world.acme.clients.live;
const sandbox = world.acme.clients.sandbox;

const buildOriginRows = (outcome: string, ...rows: readonly (readonly [name: string, origin: string | null])[]): Row[] =>
  rows.map(([name, origin]) => ({ name: `Origin ${name}`, origin, outcome }));
const buildPageRows = (outcome: string, ...rows: readonly (readonly [name: string, page: string])[]): Row[] =>
  rows.map(([name, url]) => ({ name: `page ${name}`, origin: "https://www.example.com", page: url, outcome }));

/** Cases with the same outcome in development and production. */
const everywhere: readonly Row[] = [
  ...buildOriginRows(
    "example.com",
    ["of the domain", "https://example.com"],
    ["with the default port of https", "https://example.com:443"],
    ["in upper case", "HTTPS://EXAMPLE.COM"],
  ),
  ...buildOriginRows("www.example.com", ["of www", "https://www.example.com"], ["of www in upper case", "https://WWW.Example.Com"]),
  ...buildOriginRows("deep.below.example.com", ["far below a domain verified by DNS", "https://deep.below.example.com"]),
  ...buildOriginRows("demo.example", ["of the exact host verified by tag", "https://demo.example"]),
  ...buildOriginRows("www.demo.example", ["of www of a host verified by tag", "https://www.demo.example"]),
  ...buildOriginRows(
    noOrigin,
    ["missing", null],
    ["empty", ""],
    ["null", "null"],
    ["star", "*"],
    ["over http", "http://www.example.com"],
    ["with another port", "https://www.example.com:8443"],
    ["with an empty port", "https://www.example.com:"],
    ["with a slash", "https://www.example.com/"],
    ["with a path", "https://www.example.com/quote"],
    ["with a query", "https://www.example.com?x"],
    ["with a fragment", "https://www.example.com#x"],
    ["with a trailing dot", "https://www.example.com."],
    ["with a leading dot", "https://.example.com"],
    ["with a user", "https://me@www.example.com"],
    ["with the host as a user", "https://www.example.com@evil.com"],
    ["with the host as a user and password", "https://www.example.com:x@evil.com"],
    ["whose host ends like ours", "https://notexample.com"],
    ["whose host begins like ours", "https://example.com.evil.com"],
    ["whose host ends like ours after a dash", "https://evil-example.com"],
    ["of the parent", "https://com"],
    ["below a host verified by tag", "https://shop.demo.example"],
    ["of www below www of a host verified by tag", "https://www.www.demo.example"],
    ["of a pending domain", "https://pending.example"],
    ["of a lapsed domain", "https://lapsed.example"],
    ["below a lapsed domain", "https://www.lapsed.example"],
    ["of another business", "https://other.example"],
    ["below a domain of another business", "https://www.other.example"],
    ["of an unknown business", "https://evil.com"],
    ["with a look-alike letter in punycode", "https://xn--exmple-cua.com"],
    ["with a percent sign", "https://ex%61mple.com"],
    ["with a backslash", "https:\\\\www.example.com"],
    ["without slashes", "https:www.example.com"],
    ["without a scheme", "www.example.com"],
    ["of two", "https://www.example.com https://www.example.com"],
    ["of two with a comma", "https://www.example.com, https://www.example.com"],
    ["of an extension", "chrome-extension://www.example.com"],
    ["of an app", "capacitor://localhost"],
    ["of a file", "file://"],
    ["of an address", "https://93.184.216.34"],
    ["of an IPv6 address", "https://[2001:db8::1]"],
    ["of a private address", "https://10.0.0.1"],
  ),
  ...buildPageRows(
    "www.example.com",
    ["on the same host", page],
    ["on the domain itself", "https://example.com/"],
    ["below the domain", "https://landing.example.com/a/b?c=d#e"],
    ["on another verified domain", "https://demo.example/"],
    ["in upper case", "HTTPS://WWW.EXAMPLE.COM/QUOTE"],
    ["with the default port of https", "https://www.example.com:443/"],
  ),
  ...buildPageRows(
    noPage,
    ["with another port", "https://www.example.com:8443/"],
    ["with a trailing dot", "https://www.example.com./"],
    ["whose host ends like ours", "https://notexample.com/"],
    ["whose host begins like ours", "https://example.com.evil.com/"],
    ["below a host verified by tag", "https://shop.demo.example/"],
    ["of a pending domain", "https://pending.example/"],
    ["of a lapsed domain", "https://lapsed.example/"],
    ["of another business", "https://other.example/"],
    ["of an unknown business", "https://evil.com/?https://www.example.com/"],
    ["with a percent sign in the host", "https://ex%61mple.com/"],
    ["with wide letters", "https://\uff45xample.com/"],
    ["with a look-alike letter", "https://ex\u0430mple.com/"],
    ["of an address", "https://93.184.216.34/"],
    ["of an IPv6 address", "https://[2001:db8::1]/"],
  ),
  ...buildPageRows(
    "invalid_request",
    ["over http", "http://www.example.com/"],
    ["with a user", "https://me@www.example.com/"],
    ["with the host as a user", "https://www.example.com@evil.com/"],
    ["with a backslash for a slash", "https://www.example.com\\@evil.com/"],
    ["over ftp", "ftp://www.example.com/"],
    ["as data", "data:text/html,x"],
    ["as a script", "javascript:location='https://www.example.com/'"],
    ["without a scheme", "//www.example.com/"],
  ),
  { name: "a foreign Origin is refused before a foreign page", origin: "https://evil.com", page: "https://evil.com/", outcome: noOrigin },
  { name: "the other client with my origin", origin: "https://www.example.com", clientId: world.other.clients.live, outcome: noOrigin },
  {
    name: "the other client with its origin and my page",
    origin: "https://other.example",
    clientId: world.other.clients.live,
    outcome: noPage,
  },
  {
    name: "the other client with its origin and page",
    origin: "https://other.example",
    page: "https://www.other.example/",
    clientId: world.other.clients.live,
    outcome: "other.example",
  },
  {
    name: "my client with the other's origin and page",
    origin: "https://other.example",
    page: "https://other.example/",
    outcome: noOrigin,
  },
  { name: "a test client on a verified domain", origin: "https://www.example.com", clientId: sandbox, outcome: "www.example.com" },
  { name: "a test client on a foreign domain", origin: "https://evil.com", clientId: sandbox, outcome: noOrigin },
  {
    name: "a test client on http://localhost",
    origin: "http://localhost:3000",
    page: "http://localhost:3000/",
    clientId: sandbox,
    outcome: "localhost",
  },
  {
    name: "a test client on http://localhost, page on another port",
    origin: "http://localhost",
    page: "http://localhost:8080/x",
    clientId: sandbox,
    outcome: "localhost",
  },
  { name: "a test client on a name like localhost", origin: "http://localhost.evil.com", clientId: sandbox, outcome: noOrigin },
  { name: "a test client below localhost", origin: "http://app.localhost:3000", clientId: sandbox, outcome: noOrigin },
  {
    name: "a test client on a local address of another network",
    origin: "http://192.168.0.1:3000",
    clientId: sandbox,
    outcome: noOrigin,
  },
];

const inDevelopment: readonly Row[] = [
  { name: "localhost with a port", origin: "http://localhost:8788", page: "http://localhost:8788/", outcome: "localhost" },
  { name: "localhost without a port", origin: "http://localhost", page: "http://localhost/", outcome: "localhost" },
  { name: "localhost over https", origin: "https://localhost:8443", page: "https://localhost:8443/", outcome: "localhost" },
  { name: "the loopback address", origin: "http://127.0.0.1:8788", page: "http://127.0.0.1:8788/", outcome: "127.0.0.1" },
  { name: "localhost with a page on a public host", origin: "http://localhost:8788", page, outcome: "localhost" },
  { name: "the loopback address shortened", origin: "http://127.1:8788", page: "http://localhost/", outcome: noOrigin },
  { name: "IPv6 loopback", origin: "http://[::1]:8788", page: "http://localhost/", outcome: noOrigin },
  { name: "a page on the loopback address shortened", origin: "http://localhost:8788", page: "http://127.1/", outcome: noPage },
  {
    name: "localhost of a business that has not verified it",
    origin: "http://localhost:8788",
    page: "http://localhost/",
    clientId: world.other.clients.live,
    outcome: noOrigin,
  },
];

const inProduction: readonly Row[] = [
  { name: "a live client on http://localhost, though verified", origin: "http://localhost:8788", page, outcome: noOrigin },
  { name: "a live client on https://localhost with a port", origin: "https://localhost:8443", page, outcome: noOrigin },
  { name: "a live client on the loopback address", origin: "http://127.0.0.1:8788", page, outcome: noOrigin },
  { name: "a live client with a page on localhost", origin: "https://www.example.com", page: "http://localhost:8788/", outcome: noPage },
  { name: "a test client on the loopback address", origin: "http://127.0.0.1:3000", page, clientId: sandbox, outcome: noOrigin },
];

const listFaults = async (service: Call, rows: readonly Row[]): Promise<string[]> => {
  const faults: string[] = [];
  for (const row of rows) {
    const body = { ...buildSubmission(), client_id: row.clientId ?? live, page_url: row.page ?? page };
    const before = await countRows();
    const { status, body: responseBody } = await service("/v1/consent", buildConsentRequest(body, { origin: row.origin }));
    const isIssued = status === 201;
    const outcome = isIssued
      ? (await getWithKey(`/v1/certs/${responseBody.data.cert_id}/verify`)).body.data.origin_domain
      : responseBody.error.code;
    if (outcome !== row.outcome) faults.push(`${row.name}: ${outcome} instead of ${row.outcome}`);
    if (!isIssued && status !== (responseBody.error.code === "invalid_request" ? 400 : 403)) faults.push(`${row.name}: answered ${status}`);
    if (!isIssued && JSON.stringify(await countRows()) !== JSON.stringify(before))
      faults.push(`${row.name}: was refused and changed the database`);
  }
  return faults;
};

describe("Origin and page_url of POST /v1/consent", () => {
  test("are accepted and refused as listed in development", { timeout: 60_000 }, async () => {
    const rows = [...everywhere, ...inDevelopment];
    expect(rows.length).toBeGreaterThan(90);
    expect(await listFaults(call, rows)).toEqual([]);
  });

  test("are accepted and refused as listed in production", { timeout: 60_000 }, async () => {
    const production = createServiceCall({ ...productionSettings, LIMIT_CONSENT_PER_IP: "1000/60" }, "https://api.svc.test");
    expect(await listFaults(production, [...everywhere, ...inProduction])).toEqual([]);
  });

  test("are accepted for each business from its own domains only", async () => {
    const addresses: readonly (readonly [DemoBusiness, string])[] = [
      [world.acme, "https://www.example.com"],
      [world.other, "https://other.example"],
    ];
    for (const [business] of addresses) {
      for (const [owner, origin] of addresses) {
        const { status } = await call(
          "/v1/consent",
          buildConsentRequest({ ...buildSubmission(business), page_url: `${origin}/` }, { origin }),
        );
        expect(status, `${business.name} from ${origin}`).toBe(business === owner ? 201 : 403);
      }
    }
  });

  test("are accepted from the moment a domain is verified until it lapses", async () => {
    const from = (): Promise<number> =>
      call(
        "/v1/consent",
        buildConsentRequest({ ...buildSubmission(), page_url: "https://new.example/" }, { origin: "https://new.example" }),
      ).then(({ status }) => status);
    const set = (status: string): Promise<unknown> =>
      env.DB.prepare("UPDATE domains SET status = ? WHERE domain = 'new.example'").bind(status).run();
    await env.DB.prepare(
      "INSERT INTO domains (id, business_id, domain, status, method, verified_at, created_at) VALUES ('dom_new', ?, 'new.example', 'pending', 'dns', 0, 0)",
    )
      .bind(world.acme.id)
      .run();
    expect(await from()).toBe(403);
    await set("verified");
    expect(await from()).toBe(201);
    await set("lapsed");
    expect(await from()).toBe(403);
    await set("verified");
    expect(await from()).toBe(201);
    await env.DB.prepare("DELETE FROM domains WHERE domain = 'new.example'").run();
    expect(await from()).toBe(403);
  });
});
