// OAuth endpoints for the agent server: metadata (RFC 9728, RFC 8414), client registration (RFC 7591), token (RFC 6749) and revocation (RFC
// 7009). Responses follow these standards and have no envelope.
import { Hono, type Context } from "hono";
import { cors } from "hono/cors";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { describeResourceFault, isForResource, oauthScope, type OAuthError } from "../../../core/agents/authorization-request.ts";
import { maxActiveTokens, tokenLifetimeMs } from "../../../core/agents/agent-token.ts";
import { parseIJson } from "../../../core/i-json.ts";
import { isCodeVerifier } from "../../../core/shares/pkce.ts";
import { refusals, type RefusalCode } from "../../../core/refusals.ts";
import { secondMs } from "../../../core/time.ts";
import { requestMediaType, readBodyUpTo } from "../../http/body.ts";
import type { AppEnv } from "../../http/context.ts";
import { failure } from "../../http/envelope.ts";
import { isTemporaryFault } from "../../http/error-handler.ts";
import { isPlainHttp } from "../../http/guards/app-origin.ts";
import { enforceLimitByAddress, limitPublicReads } from "../../http/guards/rate-limits.ts";
import { getOAuthUrls } from "../../http/oauth-urls.ts";
import type { LimitName } from "../../limits.ts";
import { getErrorKind } from "../../log.ts";
import { exchangeOAuthCode } from "../../operations/agents/exchange-oauth-code.ts";
import { revokeTokenByPossession } from "../../operations/agents/revoke-token-by-possession.ts";
import { isValidClientSecret } from "../../operations/agents/is-valid-client-secret.ts";
import { registerOAuthClient } from "../../operations/agents/register-oauth-client.ts";

const maxBodyBytes = 8 * 1_024;

type OAuthErrorCode = OAuthError | "invalid_redirect_uri" | "invalid_client_metadata";

const respondWithError = (
  c: Context<AppEnv>,
  error: OAuthErrorCode,
  description: string,
  status: ContentfulStatusCode = 400,
  code: RefusalCode = "invalid_request",
) => {
  c.set("refused", code);
  return c.json({ error, error_description: description }, status);
};

const checkIpLimit = async (c: Context<AppEnv>, name: LimitName): Promise<Response | null> => {
  if ((await enforceLimitByAddress(c, name)) === null) return null;
  return respondWithError(c, "temporarily_unavailable", refusals.rate_limited, 429, "rate_limited");
};

/** Parses a form. Returns null if the body is not a form or is too large, or if it repeats a field other than `resource`. */
const parseForm = async (c: Context<AppEnv>): Promise<ReadonlyMap<string, readonly string[]> | null> => {
  const bytes = await readBodyUpTo(c.req.raw, maxBodyBytes);
  if (bytes === null || requestMediaType(c.req.raw) !== "application/x-www-form-urlencoded") return null;
  const fields = new Map<string, readonly string[]>();
  for (const [name, value] of new URLSearchParams(new TextDecoder().decode(bytes))) {
    if (fields.has(name) && name !== "resource") return null;
    fields.set(name, [...(fields.get(name) ?? []), value]);
  }
  return fields;
};

const decodeFormComponent = (text: string): string | null => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
};

/** Parses `Authorization: Basic`. Both parts are form-encoded (RFC 6749 section 2.3.1). Returns null if the header is malformed. */
const parseBasicCredentials = (header: string): readonly [id: string, secret: string] | null => {
  const [, encoded] = /^basic ([A-Za-z0-9+/]+=*)$/i.exec(header) ?? [];
  if (encoded === undefined) return null;
  try {
    const [id, secret, more] = atob(encoded).split(":").map(decodeFormComponent);
    return typeof id === "string" && typeof secret === "string" && more === undefined ? [id, secret] : null;
  } catch {
    return null;
  }
};

/** Returns the client ID, or the error response if client authentication fails. */
const authenticateClient = async (c: Context<AppEnv>, form: ReadonlyMap<string, readonly string[]>): Promise<string | Response> => {
  const header = c.req.header("authorization");
  const respondUnknownClient = () => {
    if (header !== undefined) c.header("WWW-Authenticate", 'Basic realm="svc"');
    return respondWithError(c, "invalid_client", "client_id is unknown, or client_secret is wrong. Check both.", 401, "unauthorized");
  };
  const posted = { id: form.get("client_id")?.[0], secret: form.get("client_secret")?.[0] ?? null };
  const basic = header === undefined ? null : parseBasicCredentials(header);
  if (header !== undefined && (basic === null || posted.secret !== null || (posted.id !== undefined && posted.id !== basic[0])))
    return respondUnknownClient();
  const [id, secret] = basic ?? [posted.id, posted.secret];
  if (id === undefined || id === "") return respondWithError(c, "invalid_request", "client_id is required.");
  return (await isValidClientSecret(c.var.services, id, secret)) ? id : respondUnknownClient();
};

const handleToken = async (c: Context<AppEnv>): Promise<Response> => {
  const form = await parseForm(c);
  if (form === null)
    return respondWithError(
      c,
      "invalid_request",
      "The body must be application/x-www-form-urlencoded, with at most 8 KiB. Only resource can be repeated.",
    );
  const grant = form.get("grant_type")?.[0];
  if (grant === undefined) return respondWithError(c, "invalid_request", "grant_type is required.");
  if (grant !== "authorization_code") return respondWithError(c, "unsupported_grant_type", "grant_type must be authorization_code.");
  const clientId = await authenticateClient(c, form);
  if (clientId instanceof Response) return clientId;
  const [code, redirectUri, verifier] = ["code", "redirect_uri", "code_verifier"].map((name) => form.get(name)?.[0] ?? "");
  if (!code || !redirectUri || !verifier)
    return respondWithError(c, "invalid_request", "code, redirect_uri and code_verifier are required.");
  const { resource } = getOAuthUrls(c);
  if (!isForResource(form.get("resource") ?? [], resource)) return respondWithError(c, "invalid_target", describeResourceFault(resource));
  const token = isCodeVerifier(verifier) ? await exchangeOAuthCode(c.var.services, { code, clientId, redirectUri, verifier }) : "refused";
  if (token === "full")
    return respondWithError(
      c,
      "invalid_grant",
      `This person already has ${maxActiveTokens} active agent tokens. The person must disconnect or revoke one first.`,
    );
  if (token === "refused")
    return respondWithError(
      c,
      "invalid_grant",
      "The code has expired or was already used, or it does not match client_id, redirect_uri and code_verifier. Authorize again.",
    );
  return c.json({ access_token: token, token_type: "Bearer", expires_in: tokenLifetimeMs / secondMs, scope: oauthScope });
};

const handleRegister = async (c: Context<AppEnv>): Promise<Response> => {
  const bytes = await readBodyUpTo(c.req.raw, maxBodyBytes);
  const parsed = bytes === null || requestMediaType(c.req.raw) !== "application/json" ? null : parseIJson(bytes);
  if (parsed?.ok !== true) return respondWithError(c, "invalid_client_metadata", "The body must be a JSON object of at most 8 KiB.");
  const { services } = c.var;
  const client = await registerOAuthClient(services, parsed.value);
  if (client === "invalid_redirect_uri")
    return respondWithError(
      c,
      client,
      "redirect_uris must contain 1 to 20 URIs, at least one of them allowed. See /docs/agents on the API host.",
    );
  if (client === "invalid_client_metadata")
    return respondWithError(
      c,
      client,
      "The client metadata must be a JSON object, and small enough for a client ID of 1,024 characters. See /docs/agents on the API host.",
    );
  return c.json(
    {
      client_id: client.id,
      client_id_issued_at: Math.floor(services.clock() / secondMs),
      ...(client.name !== null && { client_name: client.name }),
      redirect_uris: client.redirectUris,
      grant_types: ["authorization_code"],
      response_types: ["code"],
      token_endpoint_auth_method: client.authentication,
      scope: oauthScope,
      ...(client.secret !== null && { client_secret: client.secret, client_secret_expires_at: 0 }),
    },
    201,
  );
};

const handleRevoke = async (c: Context<AppEnv>): Promise<Response> => {
  const token = (await parseForm(c))?.get("token")?.[0] ?? "";
  if (token === "") return respondWithError(c, "invalid_request", "The body must be application/x-www-form-urlencoded and contain token.");
  await revokeTokenByPossession(c.var.services, token);
  return c.body(null, 200);
};

/** Returns true if the request was sent to the issuer's origin. On another origin, the metadata would describe another issuer. */
const isIssuerOrigin = (c: Context<AppEnv>): boolean => isPlainHttp(c) || new URL(c.req.url).origin === getOAuthUrls(c).issuer;

const respondWithMetadata = (c: Context<AppEnv>, body: object): Response => {
  if (!isIssuerOrigin(c)) return failure(c, "not_found");
  c.header("Cache-Control", "public, max-age=3600");
  return c.json(body);
};

const handleResourceMetadata = (c: Context<AppEnv>): Response => {
  const { issuer, resource } = getOAuthUrls(c);
  return respondWithMetadata(c, {
    resource,
    authorization_servers: [issuer],
    scopes_supported: [oauthScope],
    bearer_methods_supported: ["header"],
    resource_name: "svc",
  });
};

const handleIssuerMetadata = (c: Context<AppEnv>): Response => {
  const { issuer, authorize } = getOAuthUrls(c);
  return respondWithMetadata(c, {
    issuer,
    authorization_endpoint: authorize,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code"],
    code_challenge_methods_supported: ["S256"],
    // Some clients register dynamically unless the metadata lists both "none" and client ID metadata documents.
    token_endpoint_auth_methods_supported: ["none", "client_secret_post", "client_secret_basic"],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
    scopes_supported: [oauthScope],
  });
};

export const oauthRoutes = new Hono<AppEnv>();
oauthRoutes.use(
  "/.well-known/oauth-*",
  cors({ origin: "*", allowMethods: ["GET"], allowHeaders: ["MCP-Protocol-Version"] }),
  limitPublicReads,
);
oauthRoutes.get("/.well-known/oauth-protected-resource", handleResourceMetadata);
oauthRoutes.get("/.well-known/oauth-protected-resource/mcp", handleResourceMetadata);
oauthRoutes.get("/.well-known/oauth-authorization-server", handleIssuerMetadata);

/** Applies the limit, and returns errors in the OAuth error format. */
const withErrorHandling = (limit: LimitName, handler: (c: Context<AppEnv>) => Promise<Response>) => async (c: Context<AppEnv>) => {
  try {
    return (await checkIpLimit(c, limit)) ?? (await handler(c));
  } catch (error) {
    c.var.services.log.error({ request_id: c.var.requestId, at: "oauth", error: getErrorKind(error) });
    if (!isTemporaryFault(error)) return respondWithError(c, "server_error", refusals.internal_error, 500, "internal_error");
    c.header("Retry-After", "1");
    return respondWithError(
      c,
      "temporarily_unavailable",
      "Storage is temporarily unavailable. Retry the same request.",
      503,
      "storage_unavailable",
    );
  }
};

oauthRoutes.post("/oauth/token", withErrorHandling("OAUTH_TOKEN_PER_IP", handleToken));
oauthRoutes.post("/oauth/register", withErrorHandling("OAUTH_REGISTER_PER_IP", handleRegister));
oauthRoutes.post("/oauth/revoke", withErrorHandling("OAUTH_TOKEN_PER_IP", handleRevoke));
