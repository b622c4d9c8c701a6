// A request to be connected (RFC 6749 4.1.1, RFC 7636, RFC 8707), and the words of its refusals.
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
  /** Null where it was left out. */
  readonly redirectUri: string | null;
  readonly state: string | null;
  /** Null where the rest of the request is as it must be. */
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

/** The letter case of scheme and host means nothing, nor does one slash at the end. */
const normalizeResource = (text: string): string => text.replace(schemeAndHostPattern, (start) => start.toLowerCase()).replace(/\/$/, "");

/** Whether a request for these resources is one for ours; none is for ours too. */
export const isForResource = (asked: readonly string[], resource: string): boolean =>
  asked.every((one) => normalizeResource(one) === normalizeResource(resource));

const createOAuthFault = (error: OAuthError, detail: string) => ({ error, detail });

/** Null without a client id that could be one: nobody can be told then. */
export const parseAuthorizationRequest = (
  query: Readonly<Record<string, readonly string[]>>,
  resource: string,
): AuthorizationRequest | null => {
  const only = (name: (typeof supportedParameters)[number]): string | null => query[name]?.[0] ?? null;
  const clientId = only("client_id");
  const redirectUri = only("redirect_uri");
  const isTwice = (name: string): boolean => (query[name]?.length ?? 0) > 1;
  if (clientId === null || clientId === "" || isTwice("client_id") || isTwice("redirect_uri")) return null;
  const state = only("state");
  const challenge = only("code_challenge") ?? "";
  const faultOf = () => {
    if (supportedParameters.some(isTwice)) return createOAuthFault("invalid_request", "a parameter is there twice");
    if (unsupportedParameters.some((name) => query[name] !== undefined))
      return createOAuthFault("invalid_request", "request objects are not taken");
    if (state !== null && state.length > maxStateLength) return createOAuthFault("invalid_request", "state is too long");
    if (Object.values(query).some((values) => values.some((value) => value.length > maxValueLength)))
      return createOAuthFault("invalid_request", "a parameter is too long");
    if (only("response_type") !== "code") return createOAuthFault("unsupported_response_type", "response_type must be code");
    if ((only("response_mode") ?? "query") !== "query") return createOAuthFault("invalid_request", "response_mode must be query");
    if (only("code_challenge_method") !== "S256" || !isCodeChallenge(challenge))
      return createOAuthFault("invalid_request", "PKCE with code_challenge_method=S256 is required");
    if (!isForResource(query.resource ?? [], resource))
      return createOAuthFault("invalid_target", "resource is not the address of this server");
    return null;
  };
  return {
    clientId,
    redirectUri,
    state: isTwice("state") || (state?.length ?? 0) > maxStateLength ? null : state,
    fault: faultOf(),
    codeChallenge: challenge,
  };
};
