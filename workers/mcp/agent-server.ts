// POST /mcp, the agent server (SPEC Agent server). The checks run in this order: origin, method, token, body, message format, rate limit.
// Every response body is JSON-RPC. The server does not support streams or sessions.
import { Hono, type Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { oauthScope } from "../../core/agents/authorization-request.ts";
import {
  toRpcError,
  getRpcMessageId,
  parseRpcMessage,
  rpcErrors,
  type RpcMessage,
  type RpcResponse,
  type RpcError,
} from "../../core/agents/json-rpc.ts";
import { isModernRequest, missingVersionError, modernProtocolVersion } from "../../core/agents/protocol-2026-07-28.ts";
import type { Agent } from "../../core/agents/agent-token.ts";
import type { Json } from "../../core/canonical-json.ts";
import { parseIJson } from "../../core/i-json.ts";
import type { RefusalCode } from "../../core/refusals.ts";
import { secondMs } from "../../core/time.ts";
import { mcpPath } from "../env.ts";
import { maxBodyBytes, readBodyUpTo } from "../http/body.ts";
import type { AppEnv } from "../http/context.ts";
import { lookUpCredential } from "../http/guards/credential-lookup.ts";
import { applyRateLimit } from "../http/guards/rate-limits.ts";
import { getOAuthUrls } from "../http/oauth-urls.ts";
import { statusByCode } from "../http/statuses.ts";
import { getErrorKind } from "../log.ts";
import { authenticateAgentToken, isMalformedAgentToken } from "../operations/agents/authenticate-agent-token.ts";
import { handleModernMessage } from "./protocol-2026-07-28.ts";
import { isAllowedOrigin } from "./origin.ts";
import { handleClassicMessage } from "./protocol-2025-03-26.ts";
import { isStorageUnavailable } from "./tool.ts";

const maxBatchSize = 20;
const maxJsonDepth = 32; // this is more than the API allows, because client capabilities can be deeply nested

/** Builds a response with a JSON-RPC error. `refused` is the code for the log. It also determines the status, unless `status` is given. */
const sendRpcError = (c: Context<AppEnv>, refused: RefusalCode, error: RpcError, id: string | number | null = null, status?: number) => {
  c.set("refused", refused);
  return c.json(toRpcError(id, error), (status ?? statusByCode[refused]) as ContentfulStatusCode);
};

const respondStorageUnavailable = (c: Context<AppEnv>, id: string | number | null) => {
  c.header("Retry-After", "1");
  return sendRpcError(c, "storage_unavailable", rpcErrors.storageUnavailable, id, 500); // SPEC Agent server requires status 500
};

const requireAllowedOrigin = createMiddleware<AppEnv>(async (c, next) => {
  if (!isAllowedOrigin(c))
    return sendRpcError(c, "forbidden", {
      ...rpcErrors.invalidRequest,
      message: "This origin is not allowed to call the agent server.",
    });
  await next();
});

/** The protocol uses GET and DELETE only for streams and sessions, which this server does not support. */
const requirePost = createMiddleware<AppEnv>(async (c, next) => {
  if (c.req.method === "POST") return next();
  c.header("Allow", "POST");
  return sendRpcError(c, "method_not_allowed", { ...rpcErrors.invalidRequest, message: "Only POST is supported." });
});

type ParsedBody =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly refused: "payload_too_large" | "invalid_request" };

const parseBody = async (request: Request): Promise<ParsedBody> => {
  const bytes = await readBodyUpTo(request, maxBodyBytes);
  if (bytes === null) return { ok: false, refused: "payload_too_large" };
  const parsed = request.headers.has("content-encoding") ? null : parseIJson(bytes, { maxDepth: maxJsonDepth });
  return parsed?.ok === true ? parsed : { ok: false, refused: "invalid_request" };
};

/** Parses the bearer token. Two Authorization headers never match, because the runtime joins their values. */
const parseBearerToken = (c: Context<AppEnv>): string | null => /^bearer (\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? null;

const respondUnauthorized = (c: Context<AppEnv>, id: string | number | null) => {
  const hasCredentials = c.req.header("authorization") !== undefined;
  // The document that tells clients where to find the authorization server.
  const metadata = `${getOAuthUrls(c).issuer}/.well-known/oauth-protected-resource${mcpPath}`;
  const challenge = `Bearer resource_metadata="${metadata}", scope="${oauthScope}"`;
  c.header("WWW-Authenticate", hasCredentials ? `${challenge}, error="invalid_token"` : challenge);
  return sendRpcError(c, "unauthorized", rpcErrors.unauthorized, id);
};

/** Returns the agent, or a 401 or 429 response. Malformed tokens are refused without a lookup. */
const authenticateAgent = async (c: Context<AppEnv>, id: string | number | null): Promise<Agent | Response> => {
  const token = parseBearerToken(c);
  if (token === null || isMalformedAgentToken(token)) return respondUnauthorized(c, id);
  const agent = await lookUpCredential(c, "UNKNOWN_KEYS_PER_IP", token, () => authenticateAgentToken(c.var.services, token));
  if (agent instanceof Response) return sendRpcError(c, "rate_limited", rpcErrors.rateLimited, id);
  return agent ?? respondUnauthorized(c, id);
};

interface AgentRequest {
  readonly c: Context<AppEnv>;
  readonly agent: Agent;
}

/**
 * Counts all calls of a request together. Returns null if the limit allows them. Otherwise, counts none of them and returns a response with
 * status 429. Revision 2026-07-28 has no JSON-RPC error code for rate limits and does not allow the code of earlier revisions, so with
 * `isModern`, the error code is 429 too.
 */
const checkCallLimit = async (
  { c, agent }: AgentRequest,
  calls: number,
  id: string | number | null,
  isModern = false,
): Promise<Response | null> => {
  const state = await c.var.services.takeExactly("AGENT_TOKEN", agent.tokenHash, calls);
  if (applyRateLimit(c, "AGENT_TOKEN", state) === null) return null;
  const retryAfter = Math.max(1, Math.ceil(state.resetMs / secondMs));
  const { message } = rpcErrors.rateLimited;
  return sendRpcError(c, "rate_limited", isModern ? { code: 429, message, data: { retry_after: retryAfter } } : rpcErrors.rateLimited, id);
};

const callContextFromRequest = ({ c, agent }: AgentRequest) => ({ services: c.var.services, agent, requestId: c.var.requestId });

/** Responds to a message. Ignores a notification and returns null. */
const handleMessage = async (call: AgentRequest, { id, ...message }: RpcMessage): Promise<RpcResponse | null> =>
  id === undefined ? null : handleClassicMessage(callContextFromRequest(call), { id, ...message });

/** Returns true if revision 2026-07-28 is enabled and the message has the version key, which earlier revisions do not use. */
const isModernMessage = ({ c }: AgentRequest, message: RpcMessage): boolean =>
  c.var.services.config.isMcpModernEnabled && isModernRequest(message);

const handleModernRequest = async (call: AgentRequest, { id, ...message }: RpcMessage): Promise<Response> => {
  const { c } = call;
  if (id === undefined) return c.body(null, 202);
  const { status, reply } = await handleModernMessage(callContextFromRequest(call), { id, ...message }, (name) => c.req.header(name));
  if (status !== 200) c.set("refused", status === 404 ? "not_found" : "invalid_request");
  return c.json(reply, status);
};

/**
 * Returns true if revision 2026-07-28 is enabled and the message is a `server/discover` call whose header names that revision. Call this
 * only if the body has no version key.
 */
const lacksBodyVersion = ({ c }: AgentRequest, { method }: RpcMessage): boolean =>
  c.var.services.config.isMcpModernEnabled &&
  method === "server/discover" &&
  c.req.header("mcp-protocol-version") === modernProtocolVersion;

const handleSingle = async (call: AgentRequest, value: Json): Promise<Response> => {
  const { c } = call;
  const message = parseRpcMessage(value);
  if (message === null) return sendRpcError(c, "invalid_request", rpcErrors.invalidRequest, getRpcMessageId(value));
  const isModern = isModernMessage(call, message);
  const refused = await checkCallLimit(call, 1, getRpcMessageId(value), isModern);
  if (refused !== null) return refused;
  if (isModern) return handleModernRequest(call, message);
  if (message.id !== undefined && lacksBodyVersion(call, message))
    return sendRpcError(c, "invalid_request", missingVersionError, message.id);
  const reply = await handleMessage(call, message);
  return reply === null ? c.body(null, 202) : c.json(reply);
};

/** Responds to one message of a batch. Refuses `initialize`, which the protocol does not allow in a batch. */
const handleBatchItem = async (call: AgentRequest, value: Json): Promise<RpcResponse | null> => {
  const message = parseRpcMessage(value);
  if (message === null || message.method === "initialize") return toRpcError(getRpcMessageId(value), rpcErrors.invalidRequest);
  try {
    return await handleMessage(call, message);
  } catch (error) {
    if (!isStorageUnavailable(error)) throw error;
    call.c.set("refused", "storage_unavailable");
    return toRpcError(getRpcMessageId(value), rpcErrors.storageUnavailable);
  }
};

/** Handles the messages one after another, so that later messages see the effects of earlier ones. */
const handleBatch = async (call: AgentRequest, values: readonly Json[]): Promise<Response> => {
  const { c } = call;
  const messages = values.map(parseRpcMessage);
  // Revision 2026-07-28 does not allow batches.
  const hasModern = messages.some((message) => message !== null && isModernMessage(call, message));
  if (values.length === 0 || values.length > maxBatchSize || hasModern) return sendRpcError(c, "invalid_request", rpcErrors.invalidBatch);
  if (messages.every((message) => message === null)) {
    c.set("refused", "invalid_request");
    return c.json(
      values.map((value) => toRpcError(getRpcMessageId(value), rpcErrors.invalidRequest)),
      400,
    );
  }
  const refused = await checkCallLimit(call, values.length, null);
  if (refused !== null) return refused;
  const replies: RpcResponse[] = [];
  for (const value of values) {
    const reply = await handleBatchItem(call, value);
    if (reply !== null) replies.push(reply);
  }
  return replies.length === 0 ? c.body(null, 202) : c.json(replies, c.var.refused === "storage_unavailable" ? 500 : 200);
};

const handleRequest = async (c: Context<AppEnv>): Promise<Response> => {
  const body = await parseBody(c.req.raw);
  const id = body.ok ? getRpcMessageId(body.value) : null;
  try {
    const agent = await authenticateAgent(c, id);
    if (agent instanceof Response) return agent;
    c.set("caller", { kind: "agent_token", id: agent.tokenId, businessId: agent.realm === "business" ? agent.business.id : null });
    if (!body.ok) return sendRpcError(c, body.refused, rpcErrors[body.refused === "payload_too_large" ? "tooLarge" : "invalidRequest"]);
    const { value } = body;
    return await (Array.isArray(value) ? handleBatch({ c, agent }, value) : handleSingle({ c, agent }, value));
  } catch (error) {
    c.var.services.log.error({ request_id: c.var.requestId, at: "mcp", error: getErrorKind(error) });
    return isStorageUnavailable(error) ? respondStorageUnavailable(c, id) : sendRpcError(c, "internal_error", rpcErrors.internalError, id);
  }
};

export const agentServer = new Hono<AppEnv>();
agentServer.all(mcpPath, requireAllowedOrigin, requirePost, handleRequest);
