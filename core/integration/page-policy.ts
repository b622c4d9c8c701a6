// What a page's Content-Security-Policy says of our script: whether a browser would load it, and let it call us. Decided as browsers
// do (CSP Level 3): every policy has to allow it, a directive that is not there falls back to the next, and what is not said is allowed.

/** What has to change for the script to run, by the name of the directive. */
export type Blocking = "sandbox" | "script-src" | "connect-src";

export interface PageScript {
  readonly pageUrl: string;
  readonly scriptUrls: readonly string[];
  /** What it calls. */
  readonly calls: readonly string[];
  /** Of the tag on the page, where it has one. */
  readonly nonce: string | null;
}

type Policy = ReadonlyMap<string, readonly string[]>;

/** The first of two directives of one name counts. */
const policyOf = (text: string): Policy => {
  const policy = new Map<string, readonly string[]>();
  for (const directive of text.split(";")) {
    const [name, ...values] = directive.trim().split(/\s+/);
    if (name !== undefined && name !== "" && !policy.has(name.toLowerCase())) policy.set(name.toLowerCase(), values);
  }
  return policy;
};

const firstOf = (policy: Policy, names: readonly string[]): readonly string[] | null => {
  const name = names.find((one) => policy.has(one));
  return name === undefined ? null : (policy.get(name) as readonly string[]);
};

const sourcePattern = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\*|(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::(\d+|\*))?(\/[^?#]*)?$/i;
const schemePattern = /^([a-z][a-z0-9+.-]*):$/i;

/** https is as good where http is allowed. */
const fitsScheme = (allowed: string, url: URL): boolean => {
  const scheme = `${allowed.toLowerCase()}:`;
  return url.protocol === scheme || (scheme === "http:" && url.protocol === "https:");
};

const defaultPorts: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

const fitsPort = (allowed: string | undefined, url: URL): boolean => {
  const port = url.port === "" ? defaultPorts[url.protocol] : url.port;
  if (allowed === undefined) return url.port === "";
  return allowed === "*" || allowed === port || (allowed === "80" && port === "443");
};

const fitsHost = (allowed: string, host: string): boolean => {
  const name = allowed.toLowerCase();
  return name === "*" || (name.startsWith("*.") ? host.endsWith(name.slice(1)) : host === name);
};

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
};
const fitsPath = (allowed: string | undefined, path: string): boolean =>
  allowed === undefined || (allowed.endsWith("/") ? decoded(path).startsWith(decoded(allowed)) : decoded(path) === decoded(allowed));

const fitsSource = (source: string, url: URL, page: URL): boolean => {
  if (source === "*") return url.protocol === "https:" || url.protocol === "http:";
  if (source.toLowerCase() === "'self'") return url.origin === page.origin;
  const scheme = schemePattern.exec(source)?.[1];
  if (scheme !== undefined) return fitsScheme(scheme, url);
  const [, named, host, port, path] = sourcePattern.exec(source) ?? [];
  if (host === undefined) return false;
  return (
    fitsScheme(named ?? page.protocol.slice(0, -1), url) &&
    fitsHost(host, url.hostname) &&
    fitsPort(port, url) &&
    fitsPath(path, url.pathname)
  );
};

const isAllowed = (sources: readonly string[], url: string, page: URL): boolean =>
  sources.some((source) => fitsSource(source, new URL(url), page));

const blockedIn = (policy: Policy, { pageUrl, scriptUrls, calls, nonce }: PageScript): readonly Blocking[] => {
  const page = new URL(pageUrl);
  const sandbox = policy.get("sandbox");
  const scripts = firstOf(policy, ["script-src-elem", "script-src", "default-src"]);
  const connections = firstOf(policy, ["connect-src", "default-src"]);
  const hasNonce = nonce !== null && nonce !== "" && scripts?.includes(`'nonce-${nonce}'`) === true;
  // With 'strict-dynamic' hosts do not count: only what has a nonce, and what that loads.
  const isStrict = scripts?.some((source) => source.toLowerCase() === "'strict-dynamic'") === true;
  const mayLoad = scripts === null || hasNonce || (!isStrict && scriptUrls.every((url) => isAllowed(scripts, url, page)));
  return [
    ...(sandbox !== undefined && !sandbox.some((value) => value.toLowerCase() === "allow-scripts") ? (["sandbox"] as const) : []),
    ...(mayLoad ? [] : (["script-src"] as const)),
    ...(connections === null || calls.every((url) => isAllowed(connections, url, page)) ? [] : (["connect-src"] as const)),
  ];
};

/** Nothing where every policy lets the script run. A header can hold several, with commas between them. */
export const blockedBy = (policies: readonly string[], script: PageScript): readonly Blocking[] => {
  const blocked = new Set(policies.flatMap((text) => text.split(",")).flatMap((text) => blockedIn(policyOf(text), script)));
  return (["sandbox", "script-src", "connect-src"] as const).filter((name) => blocked.has(name));
};
