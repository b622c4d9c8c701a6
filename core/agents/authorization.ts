// A request to be connected (RFC 6749 4.1.1, RFC 7636, RFC 8707), and the words of its refusals.
import { isChallenge } from "../shares/pkce.ts";

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

export interface Asked {
  readonly clientId: string;
  /** Null where it was left out. */
  readonly redirectUri: string | null;
  readonly state: string | null;
  /** Null where the rest of the request is as it must be. */
  readonly fault: { readonly error: OAuthError; readonly detail: string } | null;
  readonly challenge: string;
}

const maxStateLength = 2_048;
const maxValueLength = 4_096;

const own = [
  "response_type",
  "response_mode",
  "client_id",
  "redirect_uri",
  "code_challenge",
  "code_challenge_method",
  "state",
  "scope",
] as const;
const refusedWhole = ["request", "request_uri"] as const;

const schemeAndHost = /^[a-z]+:\/\/[^/?#]+/i;

/** The letter case of scheme and host means nothing, nor does one slash at the end. */
const plainResource = (text: string): string => text.replace(schemeAndHost, (start) => start.toLowerCase()).replace(/\/$/, "");

/** Whether a request for these resources is one for ours; none is for ours too. */
export const isForResource = (asked: readonly string[], resource: string): boolean =>
  asked.every((one) => plainResource(one) === plainResource(resource));

const fault = (error: OAuthError, detail: string) => ({ error, detail });

/** Null without a client id that could be one: nobody can be told then. */
export const askedOf = (query: Readonly<Record<string, readonly string[]>>, resource: string): Asked | null => {
  const only = (name: (typeof own)[number]): string | null => query[name]?.[0] ?? null;
  const clientId = only("client_id");
  const redirectUri = only("redirect_uri");
  const isTwice = (name: string): boolean => (query[name]?.length ?? 0) > 1;
  if (clientId === null || clientId === "" || isTwice("client_id") || isTwice("redirect_uri")) return null;
  const state = only("state");
  const challenge = only("code_challenge") ?? "";
  const faultOf = () => {
    if (own.some(isTwice)) return fault("invalid_request", "a parameter is there twice");
    if (refusedWhole.some((name) => query[name] !== undefined)) return fault("invalid_request", "request objects are not taken");
    if (state !== null && state.length > maxStateLength) return fault("invalid_request", "state is too long");
    if (Object.values(query).some((values) => values.some((value) => value.length > maxValueLength)))
      return fault("invalid_request", "a parameter is too long");
    if (only("response_type") !== "code") return fault("unsupported_response_type", "response_type must be code");
    if ((only("response_mode") ?? "query") !== "query") return fault("invalid_request", "response_mode must be query");
    if (only("code_challenge_method") !== "S256" || !isChallenge(challenge))
      return fault("invalid_request", "PKCE with code_challenge_method=S256 is required");
    if (!isForResource(query.resource ?? [], resource)) return fault("invalid_target", "resource is not the address of this server");
    return null;
  };
  return {
    clientId,
    redirectUri,
    state: isTwice("state") || (state?.length ?? 0) > maxStateLength ? null : state,
    fault: faultOf(),
    challenge,
  };
};
