// Guards that authenticate requests with an API key (SPEC Authentication).
import type { Context } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { except } from "hono/combine";
import { HTTPException } from "hono/http-exception";
import { authorizeRead } from "../../../core/access/entitlement.ts";
import type { Principal } from "../../../core/access/principal.ts";
import { authenticateApiKey, isMalformedApiKey } from "../../operations/access/authenticate-api-key.ts";
import type { AppEnv, ApiKeyEnv } from "../context.ts";
import { failure, refusal } from "../envelope.ts";
import { rateHeaders } from "../wire.ts";
import { lookUpCredential } from "./credential-lookup.ts";
import { defineGuard, combineGuards, type Guard } from "./define-guard.ts";
import { enforceLimit } from "./rate-limits.ts";

const unauthorizedOptions = { message: (c: Context<AppEnv>) => failure(c, "unauthorized"), wwwAuthenticateHeader: "Bearer" };

/** Requires `Authorization: Bearer sk_…`. Missing, malformed, unknown and revoked keys get the same response. */
const requireApiKey = defineGuard<ApiKeyEnv>(
  { refuses: ["unauthorized", "storage_unavailable"], security: [{ apiKey: [] }] },
  bearerAuth<ApiKeyEnv>({
    verifyToken: async (token, c) => {
      if (isMalformedApiKey(token)) return false;
      const principal = await lookUpCredential(c, "UNKNOWN_KEYS_PER_IP", token, () => authenticateApiKey(c.var.services, token));
      if (principal instanceof Response) throw new HTTPException(429, { res: principal });
      if (principal === null) return false;
      c.set("principal", principal);
      c.set("caller", { kind: "api_key", id: principal.keyId, businessId: principal.business.id });
      return true;
    },
    noAuthenticationHeader: unauthorizedOptions,
    invalidAuthenticationHeader: unauthorizedOptions,
    invalidToken: unauthorizedOptions,
  }),
);

const limitByApiKey = defineGuard<ApiKeyEnv>({ refuses: ["rate_limited"], responseHeaders: rateHeaders }, async (c, next) => {
  return (await enforceLimit(c, "API_KEY", c.var.principal.keyHash)) ?? next();
});

const requireReadableBusiness = defineGuard<ApiKeyEnv>({ refuses: ["business_suspended", "business_inactive"] }, async (c, next) => {
  const readable = authorizeRead(c.var.principal.business.status);
  return readable.ok ? next() : refusal(c, readable);
});

/**
 * Responds with 401 without a valid key, 429 above a rate limit, and 402 if the business's status does not allow reading. The guards in
 * `more` run after these checks.
 */
export const apiKeyGuard = (...more: readonly Guard[]) =>
  combineGuards<ApiKeyEnv>(requireApiKey, limitByApiKey, requireReadableBusiness, ...more);

/** For routes that both browsers and servers call. The key is optional, but an invalid key is refused. */
export const optionalApiKeyGuard = defineGuard<{ Variables: AppEnv["Variables"] & { principal?: Principal } }>(
  { ...requireApiKey.terms, security: [{}, { apiKey: [] }] },
  except((c) => c.req.header("authorization") === undefined, requireApiKey),
);
