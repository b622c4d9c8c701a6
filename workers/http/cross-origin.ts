// The CORS rules by path. They also apply to error responses, so that page scripts can read the errors. If a path has no rule, pages on
// other origins cannot read its responses.
import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "./context.ts";
import { isAppOrigin } from "./guards/app-origin.ts";

const corsOptions = {
  exposeHeaders: [
    "X-Request-Id",
    "Retry-After",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "Idempotency-Replayed",
    "ETag",
  ],
  allowHeaders: ["Content-Type", "Idempotency-Key"],
  maxAge: 7_200, // two hours, the longest time for which Chrome caches a preflight
};

/** Lets any page read the response, without credentials. */
const allowAnyOrigin = (allowMethods: string[], allowHeaders: string[]) =>
  cors({ ...corsOptions, origin: "*", allowMethods, allowHeaders });

/** Lets the calling page read the response, without credentials. The response names the page's origin instead of `*`. */
const allowCallerOrigin = cors({ ...corsOptions, origin: (origin) => origin || null, allowMethods: ["GET", "POST"] });

const appCors = cors({
  ...corsOptions,
  origin: (origin) => origin,
  credentials: true,
  allowMethods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
});
const deniedCors = cors({ ...corsOptions, origin: () => null });

/** Lets only the app's pages read the response. These pages can send the session cookie. */
const allowAppOrigin = createMiddleware<AppEnv>((c, next) =>
  isAppOrigin(c, c.req.header("origin") ?? "") ? appCors(c, next) : deniedCors(c, next),
);

export const corsRules: readonly (readonly [corsRule: MiddlewareHandler<AppEnv>, paths: readonly string[]])[] = [
  [allowAnyOrigin(["POST"], corsOptions.allowHeaders), ["/v1/consent"]],
  [allowAnyOrigin(["GET"], ["If-None-Match"]), ["/v1/certs/:cert_id/verify"]],
  [
    allowAnyOrigin(["GET"], []),
    ["/v1/certs/:cert_id/receipt", "/.well-known/jwks.json", "/.well-known/svc-trust.json", "/v1/openapi.json"],
  ],
  [allowCallerOrigin, ["/v1/authorize", "/v1/share/redeem", "/v1/share/sandbox-consent", "/v1/certs/:cert_id/opt-out/*"]],
  [
    allowAppOrigin,
    [
      "/v1/auth/*",
      "/v1/me/*", // also matches "/v1/me"
      "/v1/share/consent",
      "/v1/shares/:share_id/revoke",
      "/v1/business/signup",
      "/v1/business/portal/*", // also matches "/v1/business/portal"
      "/v1/webhooks/*",
      "/v1/certs/:cert_id/erase-subject",
      "/v1/billing/*",
    ],
  ],
];
