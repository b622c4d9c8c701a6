// Decides whether a page's Content-Security-Policy lets our script load and call our API. Follows CSP Level 3: every policy must allow it,
// a more general directive replaces a missing one, and everything that is not restricted is allowed.

/** The directives that can block the script. */
export type BlockingDirective = "sandbox" | "script-src" | "connect-src";

export interface PageScript {
  readonly pageUrl: string;
  readonly scriptUrls: readonly string[];
  readonly apiUrls: readonly string[];
  /** The nonce of the script tag on the page. */
  readonly nonce: string | null;
}

type Policy = ReadonlyMap<string, readonly string[]>;

/** Parses a policy. If a directive appears more than once, the first one counts. */
const parsePolicy = (text: string): Policy => {
  const policy = new Map<string, readonly string[]>();
  for (const directive of text.split(";")) {
    const [name, ...values] = directive.trim().split(/\s+/);
    if (name !== undefined && name !== "" && !policy.has(name.toLowerCase())) policy.set(name.toLowerCase(), values);
  }
  return policy;
};

const findDirectiveValues = (policy: Policy, names: readonly string[]): readonly string[] | null => {
  const name = names.find((candidate) => policy.has(candidate));
  return name === undefined ? null : (policy.get(name) as readonly string[]);
};

const sourcePattern = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\*|(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::(\d+|\*))?(\/[^?#]*)?$/i;
const schemePattern = /^([a-z][a-z0-9+.-]*):$/i;

/** Returns whether the scheme of the URL is allowed. A source with http also allows https. */
const matchesScheme = (allowed: string, url: URL): boolean => {
  const scheme = `${allowed.toLowerCase()}:`;
  return url.protocol === scheme || (scheme === "http:" && url.protocol === "https:");
};

const defaultPorts: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

const matchesPort = (allowed: string | undefined, url: URL): boolean => {
  const port = url.port === "" ? defaultPorts[url.protocol] : url.port;
  if (allowed === undefined) return url.port === "";
  return allowed === "*" || allowed === port || (allowed === "80" && port === "443");
};

const matchesHost = (allowed: string, host: string): boolean => {
  const name = allowed.toLowerCase();
  return name === "*" || (name.startsWith("*.") ? host.endsWith(name.slice(1)) : host === name);
};

const decodePath = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
};
const matchesPath = (allowed: string | undefined, path: string): boolean =>
  allowed === undefined ||
  (allowed.endsWith("/") ? decodePath(path).startsWith(decodePath(allowed)) : decodePath(path) === decodePath(allowed));

const matchesSource = (source: string, url: URL, page: URL): boolean => {
  if (source === "*") return url.protocol === "https:" || url.protocol === "http:";
  if (source.toLowerCase() === "'self'") return url.origin === page.origin;
  const scheme = schemePattern.exec(source)?.[1];
  if (scheme !== undefined) return matchesScheme(scheme, url);
  const [, named, host, port, path] = sourcePattern.exec(source) ?? [];
  if (host === undefined) return false;
  return (
    matchesScheme(named ?? page.protocol.slice(0, -1), url) &&
    matchesHost(host, url.hostname) &&
    matchesPort(port, url) &&
    matchesPath(path, url.pathname)
  );
};

const isUrlAllowed = (sources: readonly string[], url: string, page: URL): boolean =>
  sources.some((source) => matchesSource(source, new URL(url), page));

const findBlockingInPolicy = (policy: Policy, { pageUrl, scriptUrls, apiUrls, nonce }: PageScript): readonly BlockingDirective[] => {
  const page = new URL(pageUrl);
  const sandbox = policy.get("sandbox");
  const scripts = findDirectiveValues(policy, ["script-src-elem", "script-src", "default-src"]);
  const connections = findDirectiveValues(policy, ["connect-src", "default-src"]);
  const hasNonce = nonce !== null && nonce !== "" && scripts?.includes(`'nonce-${nonce}'`) === true;
  // With 'strict-dynamic', host sources are ignored, so the script tag needs a nonce.
  const isStrict = scripts?.some((source) => source.toLowerCase() === "'strict-dynamic'") === true;
  const mayLoad = scripts === null || hasNonce || (!isStrict && scriptUrls.every((url) => isUrlAllowed(scripts, url, page)));
  return [
    ...(sandbox !== undefined && !sandbox.some((value) => value.toLowerCase() === "allow-scripts") ? (["sandbox"] as const) : []),
    ...(mayLoad ? [] : (["script-src"] as const)),
    ...(connections === null || apiUrls.every((url) => isUrlAllowed(connections, url, page)) ? [] : (["connect-src"] as const)),
  ];
};

/**
 * Lists the directives that block the script or its API calls. The list is empty if every policy allows both. A header can contain several
 * policies, separated by commas.
 */
export const findBlockingDirectives = (policies: readonly string[], script: PageScript): readonly BlockingDirective[] => {
  const blocked = new Set(policies.flatMap((text) => text.split(",")).flatMap((text) => findBlockingInPolicy(parsePolicy(text), script)));
  return (["sandbox", "script-src", "connect-src"] as const).filter((name) => blocked.has(name));
};
