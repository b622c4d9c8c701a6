// Redirect URIs of assistants (RFC 8252, RFC 9700). Invalid URIs are refused and never repaired. A URI that the parser would change is also
// invalid, because two programs may interpret it differently.

export interface RedirectUri {
  readonly kind: "https" | "loopback" | "app";
  /** The name shown to people: a host, or the name of the app. */
  readonly host: string;
}

/**
 * Cursor's URI is the only private-use URI that is accepted, because Cursor registers no other URI that works on every device. PKCE limits
 * the risk that another app receives the response.
 */
const cursorUri = "cursor://anysphere.cursor-mcp/oauth/callback";

const maxLength = 2_048;
const printableAsciiPattern = /^[\x21-\x7e]+$/;
const ambiguousCharacterPattern = /[\\<>"{}|^`#*]/;
const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);
const publicHostPattern = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/;

/** Splits a URI into scheme, authority and the rest, exactly as written. */
const splitUri = (text: string) => /^(https?):\/\/([^/?#]+)(.*)$/.exec(text);

/** Parses a redirect URI. Returns null if authorization responses must not be sent to it. */
export const parseRedirectUri = (text: string): RedirectUri | null => {
  if (text === cursorUri) return { kind: "app", host: "Cursor" };
  if (text.length > maxLength || !printableAsciiPattern.test(text) || ambiguousCharacterPattern.test(text)) return null;
  const [, scheme, authority = "", rest = ""] = splitUri(text) ?? [];
  if (scheme === undefined || !URL.canParse(text)) return null;
  const url = new URL(text);
  const isUnchanged = `${url.pathname}${url.search}` === (rest.startsWith("/") ? rest : `/${rest}`) && !/%2f|%5c|%2e/i.test(url.pathname);
  if (!isUnchanged) return null;
  if (scheme === "http") {
    const isPlainPort = authority.replace(/:[1-9]\d{0,4}$/, "") === url.hostname;
    return loopbackHosts.has(url.hostname) && isPlainPort ? { kind: "loopback", host: url.hostname } : null;
  }
  return authority === url.hostname && publicHostPattern.test(authority) ? { kind: "https", host: authority } : null;
};

/**
 * Returns the form that is used to compare two URIs. All loopback hosts count as equal (RFC 8252 7.3), and a missing path counts as `/`.
 */
const toComparableUri = (text: string, { ignoresPort }: { readonly ignoresPort: boolean }): string => {
  const kind = parseRedirectUri(text)?.kind;
  if (kind === undefined || kind === "app") return text;
  const [, scheme = "", authority = "", rest = ""] = splitUri(text) ?? [];
  const path = rest.startsWith("/") ? rest : `/${rest}`;
  if (kind === "https") return `${scheme}://${authority}${path}`;
  const port = ignoresPort ? "" : (/:\d+$/.exec(authority)?.[0] ?? "");
  return `loopback${port}${path}`; // not a URI, so it never equals an https URI
};

/**
 * Returns whether both URIs lead to the same recipient. For loopback hosts, the port must match too, because the authorization response was
 * sent to only one port.
 */
export const isSameRedirectUri = (first: string, second: string): boolean =>
  toComparableUri(first, { ignoresPort: false }) === toComparableUri(second, { ignoresPort: false });

/**
 * Returns whether a requested URI is registered. On loopback hosts, any port matches, because a program uses whichever port is free (RFC
 * 8252 7.3). URIs on other hosts must be equal.
 */
export const isRegisteredRedirectUri = (registered: readonly string[], requested: string): boolean => {
  if (parseRedirectUri(requested) === null) return false;
  const wanted = toComparableUri(requested, { ignoresPort: true });
  return registered.some((uri) => toComparableUri(uri, { ignoresPort: true }) === wanted);
};

/** Appends the response parameters to the query. Does not change the rest of the URI. */
export const addQueryParameters = (uri: string, parameters: Readonly<Record<string, string | null>>): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== null) query.set(name, value);
  return `${uri}${uri.includes("?") ? "&" : "?"}${query}`;
};
