// A guarded GET of a stranger's page: every address and every redirect is judged before it is called, nothing of ours
// goes along (no cookies, no credentials, no referrer), and what comes back is capped while it streams.
import type { FetchPage, Page, PageAnswer, PageRequest } from "../../core/access/outbound-page.ts";
import { checkOutboundUrl, referenceAsWritten } from "../../core/access/outbound-url.ts";
import { bytesUpTo } from "../../core/bytes.ts";
import type { OutboundRules } from "./public-hosts.ts";
import { within } from "./time-limit.ts";

const maxRedirects = 3;
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const askAgainStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

const nothing = (reason: Extract<PageAnswer, { outcome: "nothing" }>["reason"]): PageAnswer => ({ outcome: "nothing", reason });
const unreached = (reason: Extract<PageAnswer, { outcome: "unreached" }>["reason"]): PageAnswer => ({ outcome: "unreached", reason });

const typeOf = (header: string | null, wants: PageRequest["wants"]): Page["type"] | null => {
  const type = header?.split(";")[0]?.trim().toLowerCase();
  if (wants === "json") return /^application\/(?:[a-z0-9.-]+\+)?json$/.test(type ?? "") ? "application/json" : null;
  return type === "text/html" || type === "text/plain" ? type : null;
};

const prescanBytes = 1_024; // as browsers do: a declaration further down does not count
const declaredCharset = /<meta[^>]+charset\s*=\s*["']?\s*([a-z0-9_:.-]+)/i;

/** What the text was written in: byte order mark, header, the document's own declaration, else UTF-8. */
const charsetOf = (bytes: Uint8Array, contentType: string, type: Page["type"]): string => {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8";
  const fromHeader = /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(contentType)?.[1];
  if (fromHeader !== undefined || type !== "text/html") return fromHeader ?? "utf-8";
  return declaredCharset.exec(new TextDecoder("latin1").decode(bytes.subarray(0, prescanBytes)))?.[1] ?? "utf-8";
};

const decoded = (bytes: Uint8Array, charset: string): string => {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // a charset nobody knows: what is left is the default
  }
};

const readPage = async (response: Response, url: string, { maxBytes, wants }: PageRequest): Promise<PageAnswer> => {
  const contentType = response.headers.get("content-type") ?? "";
  const type = typeOf(contentType, wants);
  if (type === null || response.status !== 200) {
    await response.body?.cancel();
    if (response.status === 200) return nothing("type");
    return response.status >= 500 || askAgainStatuses.has(response.status) ? unreached("status") : nothing("status");
  }
  const bytes = await bytesUpTo(response.body, maxBytes);
  if (bytes === null) return nothing("too_large");
  const maxAge = /(?:^|[\s,])max-age=(\d{1,9})(?:$|[\s,])/i.exec(response.headers.get("cache-control") ?? "")?.[1];
  const body = decoded(bytes, charsetOf(bytes, contentType, type));
  const policy = response.headers.get("content-security-policy");
  return {
    outcome: "page",
    page: { url, type, body, ...(maxAge !== undefined && { maxAge: Number(maxAge) }), ...(policy !== null && { policy }) },
  };
};

const follow = async (settings: OutboundRules, request: PageRequest, signal: AbortSignal): Promise<PageAnswer> => {
  let address = request.url;
  for (let redirects = 0; redirects <= (request.maxRedirects ?? maxRedirects); redirects += 1) {
    const checked = checkOutboundUrl(address, { ...settings, ports: request.ports });
    if (!checked.ok) return nothing("address");
    const { href, hostname, local } = checked.url;
    if (!request.isWithin(hostname)) return nothing("left_site");
    const verdict = local ? "public" : await settings.checkHost(hostname, signal);
    if (verdict !== "public") return verdict === "unanswered" ? unreached("dns") : nothing("not_public");
    const response = await fetch(href, {
      redirect: "manual",
      cache: "no-store",
      headers: { "user-agent": request.userAgent, accept: request.wants === "json" ? "application/json" : "text/html, text/plain;q=0.5" },
      signal,
    });
    if (!redirectStatuses.has(response.status)) return readPage(response, href, request);
    const location = response.headers.get("location");
    await response.body?.cancel();
    const next = location === null ? null : referenceAsWritten(location, href);
    if (next === null) return nothing("status");
    address = next;
  }
  return nothing("redirects");
};

export const openPageFetcher =
  (settings: OutboundRules): FetchPage =>
  (request) =>
    within(request.totalMs, async (signal) => {
      try {
        return await follow(settings, request, signal);
      } catch {
        return unreached(signal.aborted ? "timeout" : "network");
      }
    });
