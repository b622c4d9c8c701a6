// Where an assistant may have its answer sent (RFC 8252, RFC 9700). An address is refused, never repaired: what the parser would have to
// change is not what was written, and two programs may read it in two ways.

export interface RedirectUri {
  readonly kind: "https" | "loopback" | "app";
  /** As people are shown it: a host, or the name of the app. */
  readonly host: string;
}

/** The one private-use address that is taken, since that app registers no other that works on every device. PKCE bears the risk. */
const cursorUri = "cursor://anysphere.cursor-mcp/oauth/callback";

const maxLength = 2_048;
const printableAsciiPattern = /^[\x21-\x7e]+$/;
const ambiguousCharacterPattern = /[\\<>"{}|^`#*]/;
const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);
const publicHostPattern = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/;

/** Scheme, authority and the rest, as they are written. */
const splitUri = (text: string) => /^(https?):\/\/([^/?#]+)(.*)$/.exec(text);

/** Null for what is no address that an answer may be sent to. */
export const parseRedirectUri = (text: string): RedirectUri | null => {
  if (text === cursorUri) return { kind: "app", host: "Cursor" };
  if (text.length > maxLength || !printableAsciiPattern.test(text) || ambiguousCharacterPattern.test(text)) return null;
  const [, scheme, authority = "", rest = ""] = splitUri(text) ?? [];
  if (scheme === undefined || !URL.canParse(text)) return null;
  const url = new URL(text);
  const isAsWritten = `${url.pathname}${url.search}` === (rest === "" ? "/" : rest) && !/%2f|%5c|%2e/i.test(url.pathname);
  if (!isAsWritten) return null;
  if (scheme === "http") {
    const isPlainPort = authority.replace(/:[1-9]\d{0,4}$/, "") === url.hostname;
    return loopbackHosts.has(url.hostname) && isPlainPort ? { kind: "loopback", host: url.hostname } : null;
  }
  return authority === url.hostname && publicHostPattern.test(authority) ? { kind: "https", host: authority } : null;
};

const stripUriPort = (text: string): string => {
  const [, scheme = "", authority = "", rest = ""] = splitUri(text) ?? [];
  return `${scheme}://${authority.replace(/:\d+$/, "")}${rest}`;
};

/** Character by character; on the caller's own machine with any port, since a program takes the one that is free (RFC 8252 7.3). */
export const isRegisteredRedirectUri = (registered: readonly string[], asked: string): boolean => {
  const kind = parseRedirectUri(asked)?.kind;
  if (kind === undefined) return false;
  return registered.some(
    (uri) =>
      uri === asked || (kind === "loopback" && parseRedirectUri(uri)?.kind === "loopback" && stripUriPort(uri) === stripUriPort(asked)),
  );
};

/** The address with the answer in its query; what was registered stays as it is written. */
export const addQueryParameters = (uri: string, answer: Readonly<Record<string, string | null>>): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(answer)) if (value !== null) query.set(name, value);
  return `${uri}${uri.includes("?") ? "&" : "?"}${query}`;
};
