// What programs ask of the agent server to be connected: where to go (RFC 9728, RFC 8414), who they are (RFC 7591), a token for a code
// (RFC 6749), the end of a token (RFC 7009). Answers have the shapes of those documents and not the envelope of the API.
import { Hono, type Context } from "hono";
import { cors } from "hono/cors";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { isForResource, oauthScope, type OAuthError } from "../../../core/agents/authorization.ts";
import { tokenLifeMs } from "../../../core/agents/token.ts";
import { parseIJson } from "../../../core/i-json.ts";
import { isVerifier } from "../../../core/shares/pkce.ts";
import type { RefusalCode } from "../../../core/refusals.ts";
import { secondMs } from "../../../core/time.ts";
import { mediaType, readCapped } from "../../http/body.ts";
import type { Api } from "../../http/context.ts";
import { failure } from "../../http/envelope.ts";
import { isOutage } from "../../http/faults.ts";
import { countedByAddress, isPlainHttp, publicRead } from "../../http/guards.ts";
import { oauthNames } from "../../http/oauth-names.ts";
import type { LimitName } from "../../limits.ts";
import { kindOfError } from "../../log.ts";
import { endByPossession, exchangeCode } from "../../operations/agents/exchange.ts";
import { isRightClient, registerClient } from "../../operations/agents/oauth-clients.ts";

const maxBytes = 8 * 1_024;

type Refusal = OAuthError | "invalid_redirect_uri" | "invalid_client_metadata";

const refused = (
  c: Context<Api>,
  error: Refusal,
  description: string,
  status: ContentfulStatusCode = 400,
  code: RefusalCode = "invalid_request",
) => {
  c.set("refused", code);
  return c.json({ error, error_description: description }, status);
};

const crowded = async (c: Context<Api>, name: LimitName): Promise<Response | null> => {
  if ((await countedByAddress(c, name)) === null) return null;
  return refused(c, "temporarily_unavailable", "too many requests; Retry-After says when to come back", 429, "rate_limited");
};

/** Each field once, but for `resource`; null for anything that is no form. */
const formOf = async (c: Context<Api>): Promise<ReadonlyMap<string, readonly string[]> | null> => {
  const bytes = await readCapped(c.req.raw, maxBytes);
  if (bytes === null || mediaType(c.req.raw) !== "application/x-www-form-urlencoded") return null;
  const fields = new Map<string, readonly string[]>();
  for (const [name, value] of new URLSearchParams(new TextDecoder().decode(bytes))) {
    if (fields.has(name) && name !== "resource") return null;
    fields.set(name, [...(fields.get(name) ?? []), value]);
  }
  return fields;
};

const decodedPart = (text: string): string | null => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
};

/** `Authorization: Basic`, whose two halves are form-encoded (RFC 6749 2.3.1). Null for one that is none. */
const basicOf = (header: string): readonly [id: string, secret: string] | null => {
  const [, encoded] = /^basic ([A-Za-z0-9+/]+=*)$/i.exec(header) ?? [];
  if (encoded === undefined) return null;
  try {
    const [id, secret, more] = atob(encoded).split(":").map(decodedPart);
    return typeof id === "string" && typeof secret === "string" && more === undefined ? [id, secret] : null;
  } catch {
    return null;
  }
};

/** The program, or what is wrong with how it says who it is. */
const callerOf = async (c: Context<Api>, form: ReadonlyMap<string, readonly string[]>): Promise<string | Response> => {
  const header = c.req.header("authorization");
  const unknown = () => {
    if (header !== undefined) c.header("WWW-Authenticate", 'Basic realm="svc"');
    return refused(c, "invalid_client", "the client is not known, or its secret is wrong", 401, "unauthorized");
  };
  const posted = { id: form.get("client_id")?.[0], secret: form.get("client_secret")?.[0] ?? null };
  const basic = header === undefined ? null : basicOf(header);
  if (header !== undefined && (basic === null || posted.secret !== null || (posted.id !== undefined && posted.id !== basic[0])))
    return unknown();
  const [id, secret] = basic ?? [posted.id, posted.secret];
  if (id === undefined || id === "") return refused(c, "invalid_request", "client_id is missing");
  return (await isRightClient(c.var.services, id, secret)) ? id : unknown();
};

const giveToken = async (c: Context<Api>): Promise<Response> => {
  const form = await formOf(c);
  if (form === null) return refused(c, "invalid_request", "the body must be a form with each parameter once");
  const grant = form.get("grant_type")?.[0];
  if (grant === undefined) return refused(c, "invalid_request", "grant_type is missing");
  if (grant !== "authorization_code") return refused(c, "unsupported_grant_type", "only authorization_code is given");
  const clientId = await callerOf(c, form);
  if (clientId instanceof Response) return clientId;
  const [code, redirectUri, verifier] = ["code", "redirect_uri", "code_verifier"].map((name) => form.get(name)?.[0] ?? "");
  if (!code || !redirectUri || !verifier) return refused(c, "invalid_request", "code, redirect_uri and code_verifier are needed");
  if (!isForResource(form.get("resource") ?? [], oauthNames(c).resource))
    return refused(c, "invalid_target", "resource is not the address of this server");
  const isPossible = isVerifier(verifier);
  const token = isPossible ? await exchangeCode(c.var.services, { code, clientId, redirectUri, verifier }) : "refused";
  if (token === "full") return refused(c, "invalid_grant", "10 connections of this person work already: one has to be ended first");
  if (token === "refused") return refused(c, "invalid_grant", "the code is not valid for this client, redirect and verifier, or was used");
  return c.json({ access_token: token, token_type: "Bearer", expires_in: tokenLifeMs / secondMs, scope: oauthScope });
};

const register = async (c: Context<Api>): Promise<Response> => {
  const bytes = await readCapped(c.req.raw, maxBytes);
  const parsed = bytes === null || mediaType(c.req.raw) !== "application/json" ? null : parseIJson(bytes);
  if (parsed?.ok !== true) return refused(c, "invalid_client_metadata", "the body must be a JSON object of at most 8 KiB");
  const { services } = c.var;
  const client = await registerClient(services, parsed.value);
  if (client === "invalid_redirect_uri") return refused(c, client, "no redirect URI that may be used; see docs/agents.md");
  if (client === "invalid_client_metadata") return refused(c, client, "this cannot be registered");
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

const revoke = async (c: Context<Api>): Promise<Response> => {
  const token = (await formOf(c))?.get("token")?.[0] ?? "";
  if (token === "") return refused(c, "invalid_request", "token is missing");
  await endByPossession(c.var.services, token);
  return c.body(null, 200);
};

/** Only under the issuer's own name: elsewhere the same words would be somebody else's. */
const isIssuer = (c: Context<Api>): boolean => isPlainHttp(c) || new URL(c.req.url).origin === oauthNames(c).issuer;

const metadata = (c: Context<Api>, body: object): Response => {
  if (!isIssuer(c)) return failure(c, "not_found");
  c.header("Cache-Control", "public, max-age=3600");
  return c.json(body);
};

const describeResource = (c: Context<Api>): Response => {
  const { issuer, resource } = oauthNames(c);
  return metadata(c, {
    resource,
    authorization_servers: [issuer],
    scopes_supported: [oauthScope],
    bearer_methods_supported: ["header"],
    resource_name: "svc",
  });
};

const describeIssuer = (c: Context<Api>): Response => {
  const { issuer, authorize } = oauthNames(c);
  return metadata(c, {
    issuer,
    authorization_endpoint: authorize,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code"],
    code_challenge_methods_supported: ["S256"],
    // "none" and the documents together: without either, some programs register themselves instead.
    token_endpoint_auth_methods_supported: ["none", "client_secret_post", "client_secret_basic"],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
    scopes_supported: [oauthScope],
  });
};

export const oauth = new Hono<Api>();
oauth.use("/.well-known/oauth-*", cors({ origin: "*", allowMethods: ["GET"], allowHeaders: ["MCP-Protocol-Version"] }), publicRead);
oauth.get("/.well-known/oauth-protected-resource", describeResource);
oauth.get("/.well-known/oauth-protected-resource/mcp", describeResource);
oauth.get("/.well-known/oauth-authorization-server", describeIssuer);

/** Faults speak as these answers do. */
const asked = (limit: LimitName, answer: (c: Context<Api>) => Promise<Response>) => async (c: Context<Api>) => {
  try {
    return (await crowded(c, limit)) ?? (await answer(c));
  } catch (error) {
    c.var.services.log.fault({ request_id: c.var.requestId, at: "oauth", error: kindOfError(error) });
    if (!isOutage(error)) return refused(c, "server_error", "something went wrong on our side", 500, "internal_error");
    c.header("Retry-After", "1");
    return refused(c, "temporarily_unavailable", "storage cannot be reached; ask again", 503, "storage_unavailable");
  }
};

oauth.post("/oauth/token", asked("OAUTH_TOKEN_PER_IP", giveToken));
oauth.post("/oauth/register", asked("OAUTH_REGISTER_PER_IP", register));
oauth.post("/oauth/revoke", asked("OAUTH_TOKEN_PER_IP", revoke));
