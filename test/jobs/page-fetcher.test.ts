// Tests the page fetcher: which hosts it calls, how much of a response it reads, and when it stops.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { PageFetchResult, PageRequest } from "../../core/access/outbound-page.ts";
import { createPageFetcher } from "../../workers/adapters/page-fetcher.ts";
import { createHostCheck } from "../../workers/adapters/public-hosts.ts";
import { getSite } from "../../workers/adapters/site.ts";
import { neverRespond, createHtmlResponse, redirectResponse, createStubWeb, type StubWeb } from "../support/stub-web.ts";

const url = "https://www.shop.com/privacy";
let web: StubWeb;
beforeEach(() => {
  web = createStubWeb();
  web.resolve("www.shop.com", ["93.184.216.34"]);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const dohUrls = ["https://cloudflare-dns.com/dns-query", "https://dns.google/resolve"];
const ownHosts = ["api.svc-host.com", "localhost:8787"];
const developmentHosts = ["localhost:8788", "127.0.0.1:8788"];
const get = (address: string, changes: Partial<PageRequest> = {}): Promise<PageFetchResult> => {
  const site = getSite(new URL(address).hostname);
  const fetchPage = createPageFetcher({ ownHosts, developmentHosts, checkHost: createHostCheck({ dohUrls, ownHosts }) });
  return fetchPage({
    url: address,
    userAgent: "Test/1",
    isAllowedHost: (host) => getSite(host) === site,
    ports: [443],
    timeoutMs: 1_000,
    maxBytes: 1_000,
    ...changes,
  });
};
const fetchBody = async (address = url): Promise<string | null> => {
  const result = await get(address);
  return result.outcome === "page" ? result.page.body : null;
};

/** Creates a body that never ends and counts the chunks read from it. */
const createEndlessResponse = (
  contentType: string,
  status = 200,
): { readonly response: () => Response; readonly taken: () => number; readonly cancelled: () => boolean } => {
  let taken = 0;
  let cancelled = false;
  const createStream = (): ReadableStream =>
    new ReadableStream({
      pull: (controller) => {
        taken += 1;
        controller.enqueue(new Uint8Array(400).fill(0x61));
      },
      cancel: () => {
        cancelled = true;
      },
    });
  return {
    response: () => new Response(createStream(), { status, headers: { "content-type": contentType } }),
    taken: () => taken,
    cancelled: () => cancelled,
  };
};

describe("a response body", () => {
  test("is discarded as soon as it exceeds the size limit", async () => {
    const bomb = createEndlessResponse("text/html");
    web.serve(url, bomb.response);
    expect(await get(url)).toEqual({ outcome: "nothing", reason: "too_large" });
    expect(bomb.taken()).toBeLessThan(6); // three chunks exceed 1,000 bytes; the stream reads one or two ahead
    expect(bomb.cancelled()).toBe(true);
  });

  test.each<[string, number, object]>([
    ["application/pdf", 200, { outcome: "nothing", reason: "type" }],
    ["application/xhtml+xml", 200, { outcome: "nothing", reason: "type" }],
    ["", 200, { outcome: "nothing", reason: "type" }],
    ["text/html", 404, { outcome: "nothing", reason: "status" }],
    ["text/html", 403, { outcome: "nothing", reason: "status" }],
    ["text/html", 202, { outcome: "nothing", reason: "status" }],
    ["text/html", 429, { outcome: "unreached", reason: "status" }],
    ["text/html", 500, { outcome: "unreached", reason: "status" }],
    ["text/html", 503, { outcome: "unreached", reason: "status" }],
  ])("of type %j and status %i is not read", async (type, status, expected) => {
    const endlessResponse = createEndlessResponse(type, status);
    web.serve(url, endlessResponse.response);
    expect(await get(url)).toEqual(expected);
    expect(endlessResponse.taken()).toBeLessThan(3);
    expect(endlessResponse.cancelled()).toBe(true);
  });

  test("is not accepted as a page if it ends halfway", async () => {
    const broken = new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode("Privacy"));
        controller.error(new Error("connection lost"));
      },
    });
    web.serve(url, () => new Response(broken, { headers: { "content-type": "text/html" } }));
    expect(await get(url)).toEqual({ outcome: "unreached", reason: "network" });
  });

  const encodeLatin1 = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array([...text].map((character) => character.charCodeAt(0)));
  const latin = encodeLatin1("Datenschutzerkl\xe4rung");
  const page = (bytes: Uint8Array, type: string) => () => new Response(bytes.slice(), { headers: { "content-type": type } });
  test("is decoded by its header, then by the document, then as UTF-8", async () => {
    web.serve(url, page(latin, "text/html; Charset=ISO-8859-1"));
    expect(await fetchBody()).toBe("Datenschutzerklärung");
    const declared = encodeLatin1('<meta charset="windows-1252">Datenschutzerkl\xe4rung');
    web.serve(url, page(declared, "text/html"));
    expect(await fetchBody()).toContain("Datenschutzerklärung");
    web.serve(url, page(new TextEncoder().encode("Datenschutzerklärung"), "text/html"));
    expect(await fetchBody()).toBe("Datenschutzerklärung");
    web.serve(url, page(new TextEncoder().encode("\ufeffDatenschutz"), "text/plain;charset=latin1"));
    expect(await fetchBody()).toBe("Datenschutz");
    for (const charset of ["utf-16", "UTF-16LE", "unicode"]) {
      web.serve(url, page(new TextEncoder().encode(`<meta charset="${charset}">Datenschutzerklärung`), "text/html"));
      expect(await fetchBody()).toContain("Datenschutzerklärung");
    }
    web.serve(url, page(new TextEncoder().encode("ä"), "text/html; charset=klingon"));
    expect(await fetchBody()).toBe("ä");
  });
});

describe("the time limit", () => {
  test("ends a request to a silent host", async () => {
    web.serve(url, neverRespond);
    expect(await get(url, { timeoutMs: 50 })).toEqual({ outcome: "unreached", reason: "timeout" });
  });

  test("covers redirects and resolvers together", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    web.serve(url, () => redirectResponse("/a"));
    web.serve("https://www.shop.com/a", async () => {
      const slow = new Promise((resolve) => setTimeout(resolve, 60));
      first.resolve();
      await slow;
      return redirectResponse("/b");
    });
    web.serve("https://www.shop.com/b", () => {
      second.resolve();
      return new Promise(() => {});
    });
    let isOver = false;
    const got = get(url, { timeoutMs: 100 }).finally(() => {
      isOver = true;
    });
    await first.promise;
    await vi.advanceTimersByTimeAsync(60);
    await second.promise;
    await vi.advanceTimersByTimeAsync(39);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect((await got).outcome).toBe("unreached");
    vi.useRealTimers();
    web.resolve("www.shop.com", () => new Promise(() => {}));
    expect((await get(url, { timeoutMs: 100 })).outcome).toBe("unreached");
  });

  test("leaves no timer behind", async () => {
    const set = vi.spyOn(globalThis, "setTimeout");
    const clear = vi.spyOn(globalThis, "clearTimeout");
    web.serve(url, "Privacy");
    await get(url);
    web.serve(url, () => Promise.reject(new TypeError("network")));
    await get(url);
    const started = set.mock.results.map(({ value }) => value);
    const ended = clear.mock.calls.map(([timer]) => timer);
    expect(started.length).toBe(6); // two fetches with three timers each: one for the page and two for the resolvers
    expect(started.filter((timer) => !ended.includes(timer))).toEqual([]);
  });
});

describe("development hosts", () => {
  test("are called over plain HTTP without asking resolvers", async () => {
    web.serve("http://localhost:8788/privacy", "Privacy");
    expect(await fetchBody("http://localhost:8788/privacy")).toBe("Privacy");
  });

  test.each([
    "http://LOCALHOST:8788/",
    "http://localhost.:8788/",
    "http://localhost:8789/",
    "http://2130706433:8788/",
    "http://[::1]:8788/",
    "http://a@localhost:8788/",
  ])("are not called if spelled %s", async (address) => {
    expect(await get(address)).toEqual({ outcome: "nothing", reason: "address" });
    expect(web.calls).toEqual([]);
  });

  test.each([
    "http://localhost:8789/",
    "http://LOCALHOST:8788/x",
    "//0x7f.1:8788/x",
    "http://127.0.0.1:8788/x",
    "http://localhost:8788@127.0.0.1:8788/",
    "https://www.shop.com/privacy",
  ])("do not redirect to %s", async (location) => {
    web.serve("http://localhost:8788/privacy", () => redirectResponse(location));
    expect((await get("http://localhost:8788/privacy")).outcome).toBe("nothing");
    expect(web.urls()).toEqual(["http://localhost:8788/privacy"]);
  });

  test("are not reached by redirects from a public page", async () => {
    web.serve(url, () => redirectResponse("http://localhost:8788/admin"));
    expect(await get(url)).toEqual({ outcome: "nothing", reason: "left_site" });
    expect(web.urls()).toEqual([url]);
  });
});

test("a redirect without a location is not accepted as a page", async () => {
  web.serve(url, () => new Response(null, { status: 302 }));
  expect(await get(url)).toEqual({ outcome: "nothing", reason: "status" });
});

test("cookies of one page are not sent to the next", async () => {
  web.serve(url, () => new Response(null, { status: 302, headers: { location: "/b", "set-cookie": "id=1" } }));
  web.serve("https://www.shop.com/b", () => createHtmlResponse("Privacy", { headers: { "set-cookie": "id=2" } }));
  await get(url);
  expect(web.calls.map(({ headers }) => headers.get("cookie"))).toEqual([null, null]);
});

test("the cache lifetime is returned when the host sends it", async () => {
  for (const [header, maxAge] of [
    ["max-age=60", 60],
    ["public, max-age=86400, immutable", 86_400],
    ["Max-Age=0", 0],
    ["s-maxage=60", undefined],
    ["max-age=1234567890123", undefined],
    ["max-age=a", undefined],
    ["no-store", undefined],
  ] as const) {
    web.serve(url, () => createHtmlResponse("x", { headers: { "cache-control": header } }));
    const result = await get(url);
    expect(result.outcome === "page" ? [header, result.page.maxAgeSeconds] : result).toEqual([header, maxAge]);
  }
});
