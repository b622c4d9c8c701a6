// Replaces fetch with a scripted web: DNS responses by host and pages by URL. No other hosts or pages exist. Calls are recorded.
import { vi } from "vitest";

export interface Call {
  readonly url: string;
  readonly headers: Headers;
  readonly redirect: string | undefined;
}

type Handler = () => Response | Promise<Response>;

export interface StubWeb {
  /** Page requests in order, without DNS requests. */
  readonly calls: Call[];
  readonly urls: () => string[];
  readonly serve: (url: string, page: string | Handler) => void;
  /** Sets every DNS resolver's response for a host. Other hosts have no address. */
  readonly resolve: (host: string, addresses: readonly string[] | ((resolver: string) => Response | Promise<Response>)) => void;
}

export const createHtmlResponse = (body: string, init: ResponseInit = {}): Response =>
  new Response(body, { ...init, headers: { "content-type": "text/html; charset=utf-8", ...(init.headers as Record<string, string>) } });

export const redirectResponse = (location: string, status = 302): Response => new Response(null, { status, headers: { location } });

/** Represents a host that accepts the request and never responds. */
export const neverRespond: Handler = () => new Promise(() => {});

/** Rejects as soon as the signal is aborted, as fetch does. */
const rejectOnAbort = (signal: AbortSignal | null | undefined, response: Response | Promise<Response>): Promise<Response> =>
  new Promise((resolve, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason as Error));
    Promise.resolve(response).then(resolve, reject);
  });

const resolverHosts: ReadonlySet<string> = new Set(["cloudflare-dns.com", "dns.google"]);

const createDnsResponse = (name: string, type: string | null, addresses: readonly string[]): Response => {
  const wanted = addresses.filter((address) => address.includes(":") === (type === "AAAA"));
  const records = wanted.map((data) => ({ name, type: type === "AAAA" ? 28 : 1, TTL: 60, data }));
  return Response.json({ Status: addresses.length === 0 ? 3 : 0, ...(records.length > 0 && { Answer: records }) });
};

/** Replaces fetch until `vi.restoreAllMocks()`. */
export const createStubWeb = (): StubWeb => {
  const pages = new Map<string, string | Handler>();
  const hosts = new Map<string, Parameters<StubWeb["resolve"]>[1]>();
  const calls: Call[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const signal = init?.signal;
    signal?.throwIfAborted();
    if (resolverHosts.has(url.hostname)) {
      const name = url.searchParams.get("name") as string;
      const addresses = hosts.get(name) ?? [];
      return typeof addresses === "function"
        ? rejectOnAbort(signal, addresses(url.hostname))
        : createDnsResponse(name, url.searchParams.get("type"), addresses);
    }
    const open = async (address: string): Promise<Response> => {
      calls.push({ url: address, headers: request.headers, redirect: init?.redirect });
      const page = pages.get(address);
      if (page === undefined) return createHtmlResponse("<h1>Not found</h1>", { status: 404 });
      const response = typeof page === "string" ? createHtmlResponse(page) : await rejectOnAbort(signal, page());
      const location = response.headers.get("location");
      // Follows redirects, as the runtime does by default.
      return location !== null && request.redirect === "follow" ? open(new URL(location, address).href) : response;
    };
    return open(request.url);
  });
  return {
    calls,
    urls: () => calls.map(({ url }) => url),
    serve: (url, page) => pages.set(url, page),
    resolve: (host, addresses) => hosts.set(host, addresses),
  };
};
