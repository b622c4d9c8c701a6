// Fetches a third-party page. Checks the URL, and the target of each redirect before following it. Sends no cookies, credentials or
// referrer. Limits the response size while reading.
import type { FetchPage, FetchedPage, PageFetchResult, PageRequest } from "../../core/access/outbound-page.ts";
import { checkOutboundUrl, resolveReference } from "../../core/access/outbound-url.ts";
import { readBytesUpTo } from "../../core/bytes.ts";
import type { OutboundRules } from "./public-hosts.ts";
import { withTimeout } from "./timeout.ts";

const maxRedirects = 3;
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const retryableStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

const noPage = (reason: Extract<PageFetchResult, { outcome: "nothing" }>["reason"]): PageFetchResult => ({ outcome: "nothing", reason });
const unreachedPage = (reason: Extract<PageFetchResult, { outcome: "unreached" }>["reason"]): PageFetchResult => ({
  outcome: "unreached",
  reason,
});

const parsePageType = (header: string | null, accept: PageRequest["accept"]): FetchedPage["type"] | null => {
  const type = header?.split(";")[0]?.trim().toLowerCase();
  if (accept === "json") return /^application\/(?:[a-z0-9.-]+\+)?json$/.test(type ?? "") ? "application/json" : null;
  return type === "text/html" || type === "text/plain" ? type : null;
};

const prescanBytes = 1_024; // a page must declare its charset within this many bytes (HTML standard)
const declaredCharset = /<meta[^>]+charset\s*=\s*["']?\s*([a-z0-9_:.-]+)/i;
const utf16Labels = /^(?:utf-16|(?:cs)?unicode|(?:iso-10646-)?ucs-2)/i;

/**
 * Returns the charset from the first of these that is present: byte order mark, header, declaration in the document. The default is UTF-8.
 * If the document declares UTF-16, the result is UTF-8, as in browsers: if the page really were UTF-16, this function could not have read
 * the declaration.
 */
const detectCharset = (bytes: Uint8Array, contentType: string, type: FetchedPage["type"]): string => {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8";
  const fromHeader = /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(contentType)?.[1];
  if (fromHeader !== undefined || type !== "text/html") return fromHeader ?? "utf-8";
  const declared = declaredCharset.exec(new TextDecoder("latin1").decode(bytes.subarray(0, prescanBytes)))?.[1] ?? "utf-8";
  return utf16Labels.test(declared) ? "utf-8" : declared;
};

const decodeBody = (bytes: Uint8Array, charset: string): string => {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // the declared charset is unknown, so fall back to UTF-8
  }
};

const parsePageResponse = async (response: Response, url: string, { maxBytes, accept }: PageRequest): Promise<PageFetchResult> => {
  const contentType = response.headers.get("content-type") ?? "";
  const type = parsePageType(contentType, accept);
  if (type === null || response.status !== 200) {
    await response.body?.cancel();
    if (response.status === 200) return noPage("type");
    return response.status >= 500 || retryableStatuses.has(response.status) ? unreachedPage("status") : noPage("status");
  }
  const bytes = await readBytesUpTo(response.body, maxBytes);
  if (bytes === null) return noPage("too_large");
  const maxAge = /(?:^|[\s,])max-age=(\d{1,9})(?:$|[\s,])/i.exec(response.headers.get("cache-control") ?? "")?.[1];
  const body = decodeBody(bytes, detectCharset(bytes, contentType, type));
  const policy = response.headers.get("content-security-policy");
  return {
    outcome: "page",
    page: {
      url,
      type,
      body,
      ...(maxAge !== undefined && { maxAgeSeconds: Number(maxAge) }),
      ...(policy !== null && { contentSecurityPolicy: policy }),
    },
  };
};

const followRedirects = async (settings: OutboundRules, request: PageRequest, signal: AbortSignal): Promise<PageFetchResult> => {
  let address = request.url;
  for (let redirects = 0; redirects <= (request.maxRedirects ?? maxRedirects); redirects += 1) {
    const checked = checkOutboundUrl(address, { ...settings, ports: request.ports });
    if (!checked.ok) return noPage("address");
    const { href, hostname, isDevelopmentHost } = checked.url;
    if (!request.isAllowedHost(hostname)) return noPage("left_site");
    const verdict = isDevelopmentHost ? "public" : await settings.checkHost(hostname, signal);
    if (verdict !== "public") return verdict === "unanswered" ? unreachedPage("dns") : noPage("not_public");
    const response = await fetch(href, {
      redirect: "manual",
      cache: "no-store",
      headers: { "user-agent": request.userAgent, accept: request.accept === "json" ? "application/json" : "text/html, text/plain;q=0.5" },
      signal,
    });
    if (!redirectStatuses.has(response.status)) return parsePageResponse(response, href, request);
    const location = response.headers.get("location");
    await response.body?.cancel();
    const next = location === null ? null : resolveReference(location, href);
    if (next === null) return noPage("status");
    address = next;
  }
  return noPage("redirects");
};

export const createPageFetcher =
  (settings: OutboundRules): FetchPage =>
  (request) =>
    withTimeout(request.timeoutMs, async (signal) => {
      try {
        return await followRedirects(settings, request, signal);
      } catch {
        return unreachedPage(signal.aborted ? "timeout" : "network");
      }
    });
