// Guards for the operator's routes and page. The deployment stores only the hash of the operator token. Without a hash, the routes and the
// page respond with 404.
import { fromBase64 } from "../../../core/bytes.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { getIpRateLimitKey } from "../../../core/access/ip-address.ts";
import type { AppEnv, RequestContext } from "../context.ts";
import { failure, type FailureResponse } from "../envelope.ts";
import { defineGuard } from "./define-guard.ts";
import { applySecondaryRateLimit } from "./rate-limits.ts";

const tokenPattern = /^[\x21-\x7e]{32,200}$/;

/** Compares SHA-256 hashes, so that timing reveals nothing about the token. */
const isOperatorToken = (c: RequestContext, token: string | undefined): boolean =>
  token !== undefined && tokenPattern.test(token) && sha256Hex(token) === c.var.services.config.adminTokenHash;

/** Counts a failed attempt. Returns the 429 response after too many attempts from one IP address, otherwise null. */
const limitGuesses = async (c: RequestContext): Promise<FailureResponse | null> =>
  applySecondaryRateLimit(
    c,
    "UNKNOWN_KEYS_PER_IP",
    await c.var.services.takeApproximately("UNKNOWN_KEYS_PER_IP", getIpRateLimitKey(c.var.ip)),
  );

/** Accepts the operator token as a bearer token. Otherwise returns 401, 429 after too many attempts, or 404 if no token is set. */
export const requireOperator = defineGuard<AppEnv>({}, async (c, next) => {
  if (c.var.services.config.adminTokenHash === null) return failure(c, "not_found");
  const [, token] = /^Bearer (\S+)$/.exec(c.req.header("authorization") ?? "") ?? [];
  if (isOperatorToken(c, token)) return next();
  return (await limitGuesses(c)) ?? failure(c, "unauthorized");
});

/** Returns the HTTP Basic password; undefined if there is none. */
const readPassword = (header: string | undefined): string | undefined => {
  const [, encoded = ""] = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(header ?? "") ?? [];
  const bytes = fromBase64(encoded);
  const text = bytes === null ? "" : new TextDecoder().decode(bytes);
  return text.includes(":") ? text.slice(text.indexOf(":") + 1) : undefined;
};

/**
 * Checks the HTTP Basic password. Returns `accepted` if the password is the operator token, `closed` if no token is set, and `refused`
 * otherwise. After too many attempts, `refused` includes the 429 response.
 */
export const checkOperatorPassword = async (
  c: RequestContext,
): Promise<
  { readonly kind: "accepted" } | { readonly kind: "closed" } | { readonly kind: "refused"; readonly limited: FailureResponse | null }
> => {
  if (c.var.services.config.adminTokenHash === null) return { kind: "closed" };
  if (isOperatorToken(c, readPassword(c.req.header("authorization")))) return { kind: "accepted" };
  return { kind: "refused", limited: await limitGuesses(c) };
};
