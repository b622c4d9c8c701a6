// Where the pages of the portal are: those that need no id, for its menus and for whatever goes through all of them, and how an address
// is written.
import type { Environment } from "../../../core/access/entitlement.ts";

export const liveRootPath = "/portal";
export const testRootPath = "/portal/test";

const isTestPath = (path: string): boolean => path === testRootPath || path.startsWith(`${testRootPath}/`);

/** Which records an address of the portal is of. */
export const environmentFromPath = (path: string): Environment => (isTestPath(path) ? "sandbox" : "live");

/** The same page in test mode. Signing in and out is of no mode. */
export const pathInEnvironment = (environment: Environment, path: string): string =>
  environment === "live" || path.startsWith("/portal/sign-") || isTestPath(path)
    ? path
    : `${testRootPath}${path.slice(liveRootPath.length)}`;

/** Only what is filled in, so that the same list has one address. */
export const pathWithQuery = (path: string, query: Readonly<Record<string, string | number | null>>): string => {
  const given = Object.entries(query).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
};

/** In the order of the menu. */
export const tabs = [
  ["home", "/portal"],
  ["sandbox", "/portal/sandbox"],
  ["certificates", "/portal/certificates"],
  ["deadlines", "/portal/deadlines"],
  ["shares", "/portal/shares"],
  ["domains", "/portal/domains"],
  ["snippet", "/portal/snippet"],
  ["webhooks", "/portal/webhooks"],
  ["events", "/portal/events"],
  ["keys", "/portal/keys"],
  ["requests", "/portal/requests"],
  ["team", "/portal/team"],
  ["audit", "/portal/audit"],
  ["billing", "/portal/billing"],
  ["settings", "/portal/settings"],
] as const;

/** Those that stand in no menu among them. The clock is of test mode alone. */
export const livePaths: readonly string[] = [
  ...tabs.filter(([name]) => name !== "sandbox").map(([, path]) => path),
  "/portal/steps",
  "/portal/businesses",
];
export const testPaths: readonly string[] = ["/portal/sandbox", ...livePaths].map((path) => pathInEnvironment("sandbox", path));
