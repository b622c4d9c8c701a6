// Parses OAuth authorization requests (RFC 6749 4.1.1, RFC 7636, RFC 8707) and defines their error messages.
import { isCodeChallenge } from "../shares/pkce.ts";

export const oauthScope = "svc:agent";

export type OAuthError =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "invalid_target"
  | "unsupported_grant_type"
  | "unsupported_response_type"
  | "access_denied"
  | "temporarily_unavailable"
  | "server_error";

export interface AuthorizationRequest {
  readonly clientId: string;
  /** The redirect URI; null if the request has none. */
  readonly redirectUri: string | null;
  readonly state: string | null;
  /** What is wrong with the request; null if it is valid. */
  readonly fault: { readonly error: OAuthError; readonly detail: string } | null;
  readonly codeChallenge: string;
}

const maxStateLength = 2_048;
const maxValueLength = 4_096;

const supportedParameters = [
  "response_type",
  "response_mode",
  "client_id",
  "redirect_uri",
  "code_challenge",
  "code_challenge_method",
  "state",
  "scope",
] as const;
const unsupportedParameters = ["request", "request_uri"] as const;

const schemeAndHostPattern = /^[a-z]+:\/\/[^/?#]+/i;

/** Normalizes the URL of a resource: converts the scheme and host to lowercase, and removes one trailing slash. */
const normalizeResource = (text: string): string => text.replace(schemeAndHostPattern, (start) => start.toLowerCase()).replace(/\/$/, "");

/**
 * Returns whether every requested resource is this server, identified by its URL or the URL's origin. Clients that read only the issuer's
 * metadata send the origin, because it is the issuer. Also returns true if the request contains no resource.
 */
export const isForResource = (requested: readonly string[], resource: string): boolean => {
  const names: readonly string[] = [normalizeResource(resource), new URL(resource).origin];
  return requested.every((name) => names.includes(normalizeResource(name)));
};

export const describeResourceFault = (resource: string): string => `resource must be ${resource}`;

const createOAuthFault = (error: OAuthError, detail: string) => ({ error, detail });

/**
 * Parses a request. Returns null if `client_id` is missing, or if `client_id` or `redirect_uri` is repeated. In these cases, no redirect
 * URI is reliable enough to receive the error.
 */
export const parseAuthorizationRequest = (
  query: Readonly<Record<string, readonly string[]>>,
  resource: string,
): AuthorizationRequest | null => {
  const getFirst = (name: (typeof supportedParameters)[number]): string | null => query[name]?.[0] ?? null;
  const clientId = getFirst("client_id");
  const redirectUri = getFirst("redirect_uri");
  const isRepeated = (name: string): boolean => (query[name]?.length ?? 0) > 1;
  if (clientId === null || clientId === "" || isRepeated("client_id") || isRepeated("redirect_uri")) return null;
  const state = getFirst("state");
  const challenge = getFirst("code_challenge") ?? "";
  const findFault = () => {
    if (supportedParameters.some(isRepeated)) return createOAuthFault("invalid_request", "Parameters must not be repeated.");
    if (unsupportedParameters.some((name) => query[name] !== undefined))
      return createOAuthFault("invalid_request", "request and request_uri are not supported.");
    if (state !== null && state.length > maxStateLength)
      return createOAuthFault("invalid_request", "state must be at most 2,048 characters.");
    if (Object.values(query).some((values) => values.some((value) => value.length > maxValueLength)))
      return createOAuthFault("invalid_request", "Each parameter must be at most 4,096 characters.");
    if (getFirst("response_type") !== "code") return createOAuthFault("unsupported_response_type", "response_type must be code.");
    if ((getFirst("response_mode") ?? "query") !== "query") return createOAuthFault("invalid_request", "response_mode must be query.");
    if (getFirst("code_challenge_method") !== "S256" || !isCodeChallenge(challenge))
      return createOAuthFault("invalid_request", "PKCE is required: send code_challenge and code_challenge_method=S256.");
    if (!isForResource(query.resource ?? [], resource)) return createOAuthFault("invalid_target", describeResourceFault(resource));
    return null;
  };
  return {
    clientId,
    redirectUri,
    state: isRepeated("state") || (state?.length ?? 0) > maxStateLength ? null : state,
    fault: findFault(),
    codeChallenge: challenge,
  };
};
