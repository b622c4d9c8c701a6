// Paths of the portal, and functions that build paths. Test mode has the same pages under /portal/test.
import type { Environment } from "../../../core/access/entitlement.ts";

export const liveRootPath = "/portal";
export const testRootPath = "/portal/test";

/** The page where a person who does not belong to a business responds to invitations. */
export const invitationsPath = "/portal/invitations";

export const accountPath = "/portal/account";
/** The page that asks a member to sign in again before an action that requires a recent sign-in. */
export const reauthenticatePath = `${accountPath}/reauthenticate`;

export const passkeyPath = "/portal/sign-in/passkey";

const isTestPath = (path: string): boolean => path === testRootPath || path.startsWith(`${testRootPath}/`);

export const environmentFromPath = (path: string): Environment => (isTestPath(path) ? "sandbox" : "live");

/** Returns a page's path in the given environment. The sign-in and sign-out paths are the same in both environments. */
export const pathInEnvironment = (environment: Environment, path: string): string =>
  environment === "live" || path.startsWith("/portal/sign-") || isTestPath(path)
    ? path
    : `${testRootPath}${path.slice(liveRootPath.length)}`;

/** Builds a path with a query that leaves out null values. */
export const pathWithQuery = (path: string, query: Readonly<Record<string, string | number | null>>): string => {
  const parameters = Object.entries(query).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]));
  return parameters.length === 0 ? path : `${path}?${new URLSearchParams(parameters)}`;
};
