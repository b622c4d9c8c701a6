// Protects against server-side request forgery (SSRF): decides which third-party URLs the service may call (webhooks, policy pages). A
// URL's host must be spelled exactly as the URL parser would write it, because the parser turns `2130706433`, `0x7f.1` and `①②⑦.1` into
// 127.0.0.1. The IP addresses of host names are checked later (dns-answer.ts).
import { fail, type Verdict } from "../result.ts";

export type OutboundUrlFault =
  | "spelling" // not a plain URL: it has forbidden characters, is too long, or has a host that the parser rewrote
  | "not_https"
  | "credentials"
  | "fragment"
  | "ip_address"
  | "port"
  | "host_name"
  | "internal_name"
  | "own_host";

export interface OutboundUrlRules {
  readonly ports: readonly number[];
  /**
   * The `host` or `host:port` of each of the service's own URLs. URLs with these hosts are refused, because the service must never call
   * itself.
   */
  readonly ownHosts: readonly string[];
  /**
   * In development only: the hosts, as `host:port`, that may be local and use plain http. A URL must contain the host exactly as written
   * here.
   */
  readonly developmentHosts: readonly string[];
}

export interface OutboundUrl {
  readonly href: string;
  readonly hostname: string;
  /** True for a development host, which is not checked with public resolvers. */
  readonly isDevelopmentHost: boolean;
}

export type OutboundUrlVerdict = Verdict<{ url: OutboundUrl }, OutboundUrlFault>;

const maxUrlLength = 2_048;
const maxNameLength = 253; // RFC 1035 2.3.4, without the trailing dot
const printableAsciiPattern = /^[\x21-\x7e]+$/;
const ambiguousCharacterPattern = /[\\<>"{}|^`]/;
const labelPattern = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/; // CNAMEs can have underscores; `checkOutboundUrl` refuses them in URLs
const topLevelLabelPattern = /^(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/; // a top-level label is never numeric, so a name cannot be read as an IP address

// Names of internal machines, and public names that can resolve to them. Each name covers its subdomains. Reserved names (RFC 2606, 6761,
// 6762, 7686, 8375, 9476) never have a public IP address.
const internalNames: ReadonlySet<string> = new Set([
  ...["localhost", "localdomain", "local", "internal", "intranet", "lan", "corp", "home", "private", "domain", "workgroup"],
  ...["test", "example", "invalid", "onion", "alt", "arpa", "svc", "cluster", "consul", "docker", "kube"],
  // Public names that encode their IP address, change it between responses, or always point to the local machine.
  ...["nip.io", "sslip.io", "xip.io", "traefik.me", "localtest.me", "lvh.me", "vcap.me", "lacolhost.com", "fuf.me", "local.gd"],
  ...["127-0-0-1.org.uk", "1u.ms", "rbndr.us"],
  // Cloud metadata services with a public name.
  ...["metadata.goog", "metadata.packet.net", "metadata.platformequinix.com", "metadata.tencentyun.com"],
]);

const stripHostPort = (host: string): string => host.replace(/:\d+$/, "");

/** Lists the hosts of this service, which the service must never call on behalf of a third party. */
export const listOwnHosts = (config: Readonly<Record<"baseUrl" | "verifyUrl" | "cdnUrl" | "mcpUrl" | "appUrl", string>>) =>
  [config.baseUrl, config.verifyUrl, config.cdnUrl, config.mcpUrl, config.appUrl].map((url) => new URL(url).host);

/**
 * Returns why the service must not call a host name that a third party supplied, or null if it may. Callers must also check every alias
 * that a resolver returns.
 */
export const findHostNameFault = (name: string, ownHosts: readonly string[]): OutboundUrlFault | null => {
  const labels = name.split(".");
  if (/^[\d.]+$/.test(name)) return "ip_address";
  if (name.length > maxNameLength || labels.length < 2 || !labels.every((part) => labelPattern.test(part))) {
    return labels.length === 1 && internalNames.has(name) ? "internal_name" : "host_name";
  }
  if (labels.some((_, at) => internalNames.has(labels.slice(at).join(".")))) return "internal_name";
  if (!topLevelLabelPattern.test(labels.at(-1) as string)) return "host_name";
  return ownHosts.some((ownHost) => stripHostPort(ownHost) === name) ? "own_host" : null;
};

const typedUrlPattern = /^(https?:\/\/)([\p{L}\p{N}\p{M}._-]+)((?::\d{1,5})?)((?:[/?#].*)?)$/iu;
const hiddenCharacterPattern = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\]/u;

/**
 * Rewrites a URL that a person typed or pasted into a form: converts an international domain to punycode, and encodes spaces, braces and
 * non-ASCII letters in the path and query. Any other text is only trimmed, so that `checkOutboundUrl` can report what is wrong with it.
 * Store and show the result, so that the person sees which host will be called.
 */
export const toPlainUrl = (typed: string): string => {
  const text = typed.trim();
  const [, scheme, host, port, rest = ""] = typedUrlPattern.exec(text) ?? [];
  if (scheme === undefined || host === undefined || hiddenCharacterPattern.test(text) || !URL.canParse(text)) return text;
  const { hostname, pathname, search, hash } = new URL(text);
  const plainHost = printableAsciiPattern.test(host) ? host : hostname;
  const isPlain = printableAsciiPattern.test(rest || "/") && !ambiguousCharacterPattern.test(rest);
  const pathAndQuery = `${pathname}${search}`.replace(/[{}|^`]/g, (character) => encodeURIComponent(character));
  const plainRest = isPlain ? rest : `${pathAndQuery}${hash}`;
  return `${scheme}${plainHost}${port}${plainRest}`;
};

/** Checks a URL that a third party supplied. Returns the URL, or the first fault found. */
export const checkOutboundUrl = (text: unknown, rules: OutboundUrlRules): OutboundUrlVerdict => {
  if (typeof text !== "string" || text.length < 1 || text.length > maxUrlLength) return fail("spelling");
  if (!printableAsciiPattern.test(text) || ambiguousCharacterPattern.test(text)) return fail("spelling");

  const [, scheme = "", authority = ""] = /^([a-z]+):\/\/([^/?#]*)/i.exec(text) ?? [];
  const isDevelopmentHost = rules.developmentHosts.includes(authority) && /^https?$/i.test(scheme);
  if (scheme.toLowerCase() !== "https" && !isDevelopmentHost) return fail("not_https");
  if (authority.includes("@")) return fail("credentials");
  if (text.includes("#")) return fail("fragment");
  if (authority === "" || !URL.canParse(text)) return fail("spelling");

  const url = new URL(text);
  if (isDevelopmentHost) {
    if (rules.ownHosts.includes(url.host)) return fail("own_host");
    return {
      ok: true,
      url: { href: `${url.protocol}//${authority}${url.pathname}${url.search}`, hostname: url.hostname, isDevelopmentHost },
    };
  }
  const writtenHost = authority.toLowerCase().replace(/:443$/, "");
  if (url.hostname.startsWith("[") || /^[\d.]+$/.test(url.hostname)) return fail("ip_address");
  if (writtenHost !== url.host) return fail("spelling");
  if (!rules.ports.includes(url.port === "" ? 443 : Number(url.port))) return fail("port");
  if (url.hostname.includes("_")) return fail("host_name");
  const fault = findHostNameFault(url.hostname, rules.ownHosts);
  return fault === null ? { ok: true, url: { href: url.href, hostname: url.hostname, isDevelopmentHost } } : fail(fault);
};

/** Returns whether a reference resolves to a URL that is too long. */
export const isTooLongReference = (reference: string, base: string): boolean =>
  URL.canParse(reference, base) && new URL(reference, base).href.length > maxUrlLength;

/**
 * Resolves a reference from a page or a Location header against `base`. Keeps the host's original spelling, so that `checkOutboundUrl`
 * checks it. Returns null if the result is not a valid URL or is too long. Without the length limit, a page with a long base URL and
 * thousands of relative links could exhaust memory.
 */
export const resolveReference = (reference: string, base: string): string | null => {
  const text = reference.trim();
  if (text === "" || text.length > maxUrlLength || /[\\\u0000-\u001f\u007f]/.test(text) || !URL.canParse(text, base)) return null;
  const url = new URL(text, base);
  const [, authority] = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#]*)/i.exec(text) ?? [];
  // Refuses a scheme without an authority, for example mailto:, javascript: or https:name.
  if (authority === undefined && /^[a-z][a-z0-9+.-]*:/i.test(text)) return null;
  const [, baseAuthority = ""] = /^[a-z]+:\/\/([^/?#]*)/i.exec(base) ?? [];
  const address = `${url.protocol}//${authority ?? baseAuthority}${url.pathname}${url.search}`;
  return address.length > maxUrlLength ? null : address;
};
