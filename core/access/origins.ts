// Checks Origin headers and page URLs against a business's verified domains. A host with an unusual spelling is refused, so that it cannot
// bypass the comparison.
import { ok, refuse, type Result } from "../result.ts";
import type { Environment } from "./entitlement.ts";

export type VerificationMethod = "dns" | "meta" | "well_known";

export interface VerifiedDomain {
  readonly id: string;
  readonly domain: string;
  readonly method: VerificationMethod;
}

export interface OriginRules {
  /** In development only: plain http is accepted for localhost and 127.0.0.1, on any port. */
  readonly allowsLocalHttp: boolean;
  /** Only for test clients: http://localhost needs no verification. */
  readonly allowsSandboxLocalhost: boolean;
}

/** Returns the rules for this deployment and for live or sandbox records. */
export const getOriginRules = (
  deployment: { readonly environment: string },
  records: { readonly environment: Environment },
): OriginRules => ({
  allowsLocalHttp: deployment.environment === "development",
  allowsSandboxLocalhost: records.environment === "sandbox",
});

const localHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1"]);
const maxPageUrlLength = 2_048;
// RFC 1035 2.3.4. No browser can open a page on a longer host, because DNS cannot resolve it.
const maxHostLength = 253;
const maxLabelLength = 63;
const printableAsciiPattern = /^[\x21-\x7e]+$/;
const hiddenCharacterPattern = /[\p{White_Space}\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/u;

/**
 * A domain verified by DNS covers its subdomains. A domain verified by a file or tag covers only the exact host and its `www.` subdomain.
 */
const coversHost = (verified: VerifiedDomain, host: string): boolean =>
  host === verified.domain || (verified.method === "dns" ? host.endsWith(`.${verified.domain}`) : host === `www.${verified.domain}`);

const findCoveringDomain = (domains: readonly VerifiedDomain[], host: string): VerifiedDomain | undefined =>
  domains.find((domain) => coversHost(domain, host));

const isLocalHttp = (url: URL, rules: OriginRules): boolean =>
  url.protocol === "http:" &&
  ((rules.allowsLocalHttp && localHosts.has(url.hostname)) || (rules.allowsSandboxLocalhost && url.hostname === "localhost"));

/**
 * Returns whether the URL's scheme, port and host are accepted. The URL must use https on its default port. A local host that the rules
 * allow can also use plain http or another port. Refuses some hosts that the URL parser accepts: names and labels that are too long, empty
 * labels (such as after a trailing dot), and `*`.
 */
const isAllowedUrl = (url: URL, rules: OriginRules): boolean => {
  const isLabel = (label: string): boolean => label !== "" && label.length <= maxLabelLength && !label.includes("*");
  if (url.hostname.length > maxHostLength || !url.hostname.split(".").every(isLabel)) return false;
  if (url.protocol === "https:") return url.port === "" || (rules.allowsLocalHttp && localHosts.has(url.hostname));
  return isLocalHttp(url, rules);
};

/**
 * A host that passed the checks. `domainId` is the ID of the verified domain that covers it. It is null for a test client on
 * http://localhost.
 */
export interface VerifiedHost {
  readonly host: string;
  readonly domainId: string | null;
}

const findVerifiedHost = (url: URL, domains: readonly VerifiedDomain[], rules: OriginRules): VerifiedHost | null => {
  if (!isAllowedUrl(url, rules)) return null;
  const domain = findCoveringDomain(domains, url.hostname);
  if (domain !== undefined) return { host: url.hostname, domainId: domain.id };
  return rules.allowsSandboxLocalhost && url.protocol === "http:" && url.hostname === "localhost"
    ? { host: "localhost", domainId: null }
    : null;
};

/** Returns the spellings of host and port to accept: with and without the scheme's default port. */
const getHostSpellings = (url: URL): readonly string[] =>
  url.port === "" ? [url.host, `${url.host}:${url.protocol === "https:" ? 443 : 80}`] : [url.host];

/**
 * Parses an Origin header. Returns null unless it consists of scheme, host and port as a browser spells them. Case is ignored, and the
 * default port may be present.
 */
const parseOrigin = (origin: string): URL | null => {
  if (!printableAsciiPattern.test(origin) || !URL.canParse(origin)) return null;
  const url = new URL(origin);
  return getHostSpellings(url).some((host) => origin.toLowerCase() === `${url.protocol}//${host}`) ? url : null;
};

/** Returns the origin as browsers spell it. Text that is not an origin, such as a URL with a path, is returned unchanged. */
export const normalizeOrigin = (origin: string): string => parseOrigin(origin)?.origin ?? origin;

/**
 * Verifies an Origin header. `parseOrigin` must accept it, and a verified domain must cover its host, unless `rules` exempt the host.
 * Refuses a missing Origin and `null`, which a sandboxed frame sends.
 */
export const verifyOrigin = (
  origin: string | null,
  domains: readonly VerifiedDomain[],
  rules: OriginRules,
): Result<VerifiedHost, "origin_not_verified"> => {
  const url = origin === null ? null : parseOrigin(origin);
  const found = url === null ? null : findVerifiedHost(url, domains, rules);
  return found === null ? refuse("origin_not_verified") : ok(found);
};

/**
 * Returns the rule that a page URL breaks, or null. Does not check whether the host is verified, because `verifyPageUrl` does that later.
 */
export const validatePageUrl = (pageUrl: string): string | null => {
  if (pageUrl.length > maxPageUrlLength) return "must be at most 2,048 characters";
  if (hiddenCharacterPattern.test(pageUrl) || !/^https?:\/\/[^/\\@?#]+(?:[/?#]|$)/i.test(pageUrl) || !URL.canParse(pageUrl))
    return "must be an absolute https URL";
  const { protocol, hostname } = new URL(pageUrl);
  if (protocol === "http:" && !localHosts.has(hostname)) return "must be an absolute https URL";
  return null;
};

/**
 * Returns whether the host is written in an ordinary way, in its own script or as punycode. The URL parser also accepts percent-encoding,
 * full-width letters, ideographic dots and numeric IP addresses, which are refused because people do not write their own site's URL that
 * way.
 */
const hasPlainSpelling = (pageUrl: string, url: URL): boolean => {
  const [authority = ""] = pageUrl.slice(pageUrl.indexOf("//") + 2).split(/[/?#]/, 1);
  if (printableAsciiPattern.test(authority)) return getHostSpellings(url).includes(authority.toLowerCase());
  return /^[\p{L}\p{N}\p{M}.-]+$/u.test(authority) && authority.normalize("NFKC") === authority.normalize("NFC");
};

/** Returns whether one of the domains covers the host. Used for fetched pages and their redirects. */
export const isHostOnDomains = (hostname: string, domains: readonly VerifiedDomain[]): boolean =>
  findCoveringDomain(domains, hostname) !== undefined;

/** Verifies the host of the page that contains the form. It may differ from the host in the Origin header, as long as both are verified. */
export const verifyPageUrl = (
  pageUrl: string,
  domains: readonly VerifiedDomain[],
  rules: OriginRules,
): Result<VerifiedHost, "page_url_not_verified"> => {
  const url = new URL(pageUrl);
  const found = hasPlainSpelling(pageUrl, url) ? findVerifiedHost(url, domains, rules) : null;
  return found === null ? refuse("page_url_not_verified") : ok(found);
};
