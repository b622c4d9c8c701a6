// POST /mcp: the agent server (SPEC, Agent server). What stands before a message is asked in this order: where it comes from, the
// method, the token, the body, the shape, the limit. Every answer with a body is JSON-RPC, never a stream; there is no session.
import { Hono, type Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { getIpRateLimitKey } from "../../core/access/ip-address.ts";
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
import { applyRateLimit } from "../http/guards/rate-limits.ts";
import { getOAuthUrls } from "../http/oauth-urls.ts";
import { statusByCode } from "../http/statuses.ts";
import { getErrorKind } from "../log.ts";
import { authenticateAgentToken, isKnownAgentToken, isMalformedAgentToken } from "../operations/agents/authenticate-agent-token.ts";
import { handleModernMessage } from "./protocol-2026-07-28.ts";
import { isAllowedOrigin } from "./origin.ts";
import { handleClassicMessage } from "./protocol-2025-03-26.ts";
import { isStorageUnavailable } from "./tool.ts";

const maxBatchSize = 20; // CONTRACT 12
const maxJsonDepth = 32; // capabilities that clients send nest deeper than a body of the API

/** `refused` is for the log. */
const respondWithError = (
  c: Context<AppEnv>,
  refused: RefusalCode,
  error: RpcError,
  id: string | number | null = null,
  status?: number,
) => {
  c.set("refused", refused);
  return c.json(toRpcError(id, error), (status ?? statusByCode[refused]) as ContentfulStatusCode);
};

const respondStorageUnavailable = (c: Context<AppEnv>, id: string | number | null) => {
  c.header("Retry-After", "1");
  return respondWithError(c, "storage_unavailable", rpcErrors.storageUnavailable, id, 500); // SPEC gives the status
};

const requireAllowedOrigin = createMiddleware<AppEnv>(async (c, next) => {
  if (!isAllowedOrigin(c)) return respondWithError(c, "forbidden", { ...rpcErrors.invalidRequest, message: "this origin may not call" });
  await next();
});

/** Neither a stream nor a session is offered, so there is nothing to GET and nothing to DELETE. */
const requirePost = createMiddleware<AppEnv>(async (c, next) => {
  if (c.req.method === "POST") return next();
  c.header("Allow", "POST");
  return respondWithError(c, "method_not_allowed", { ...rpcErrors.invalidRequest, message: "only POST is possible here" });
});

/** What was sent, or which refusal its form gets. */
type ParsedBody =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly refused: "payload_too_large" | "invalid_request" };

const parseBody = async (request: Request): Promise<ParsedBody> => {
  const bytes = await readBodyUpTo(request, maxBodyBytes);
  if (bytes === null) return { ok: false, refused: "payload_too_large" };
  const parsed = request.headers.has("content-encoding") ? null : parseIJson(bytes, maxJsonDepth);
  return parsed?.ok === true ? parsed : { ok: false, refused: "invalid_request" };
};

/** One space, the scheme in any case. Two headers arrive joined, which is no token. */
const parseBearerToken = (c: Context<AppEnv>): string | null => /^bearer (\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? null;

const respondUnauthorized = (c: Context<AppEnv>, id: string | number | null) => {
  const wasTried = c.req.header("authorization") !== undefined;
  const metadata = `${getOAuthUrls(c).issuer}/.well-known/oauth-protected-resource${mcpPath}`; // from here a program finds the way to sign in
  const challenge = `Bearer resource_metadata="${metadata}", scope="${oauthScope}"`;
  c.header("WWW-Authenticate", wasTried ? `${challenge}, error="invalid_token"` : challenge);
  return respondWithError(c, "unauthorized", rpcErrors.unauthorized, id);
};

/** Null for whatever is no token; the refusal where its caller tries out too many. Nothing is asked about a token that none can be. */
const authenticateAgent = async (c: Context<AppEnv>, id: string | number | null): Promise<Agent | Response> => {
  const { services, ip } = c.var;
  const token = parseBearerToken(c);
  if (token === null || isMalformedAgentToken(token)) return respondUnauthorized(c, id);
  if (!isKnownAgentToken(services, token)) {
    const state = await services.takeByAddress("UNKNOWN_KEYS_PER_IP", getIpRateLimitKey(ip));
    if (!state.isAllowed && applyRateLimit(c, "UNKNOWN_KEYS_PER_IP", state) !== null)
      return respondWithError(c, "rate_limited", rpcErrors.rateLimited, id);
  }
  return (await authenticateAgentToken(services, token)) ?? respondUnauthorized(c, id);
};

interface AgentRequest {
  readonly c: Context<AppEnv>;
  readonly agent: Agent;
}

/** All calls of a request count, or none. The later revision has no code of its own for it, and lends none of its range. */
const checkCallLimit = async (
  { c, agent }: AgentRequest,
  calls: number,
  id: string | number | null,
  modern = false,
): Promise<Response | null> => {
  const state = await c.var.services.takeExactly("AGENT_TOKEN", agent.tokenHash, calls);
  if (applyRateLimit(c, "AGENT_TOKEN", state) === null) return null;
  const retryAfter = Math.max(1, Math.ceil(state.resetMs / secondMs));
  const { message } = rpcErrors.rateLimited;
  return respondWithError(
    c,
    "rate_limited",
    modern ? { code: 429, message, data: { retry_after: retryAfter } } : rpcErrors.rateLimited,
    id,
  );
};

const callContextFromRequest = ({ c, agent }: AgentRequest) => ({ services: c.var.services, agent, requestId: c.var.requestId });

/** Null for a notification: nothing is run for it. */
const handleMessage = async (call: AgentRequest, { id, ...message }: RpcMessage): Promise<RpcResponse | null> =>
  id === undefined ? null : handleClassicMessage(callContextFromRequest(call), { id, ...message });

/** Whether a message is of the later revision. The body alone says so, and only where that revision is spoken. */
const isModernMessage = ({ c }: AgentRequest, message: RpcMessage): boolean =>
  c.var.services.config.isMcpModernEnabled && isModernRequest(message);

const handleModernRequest = async (call: AgentRequest, { id, ...message }: RpcMessage): Promise<Response> => {
  const { c } = call;
  if (id === undefined) return c.body(null, 202);
  const { status, reply } = await handleModernMessage(callContextFromRequest(call), { id, ...message }, (name) => c.req.header(name));
  if (status !== 200) c.set("refused", status === 404 ? "not_found" : "invalid_request");
  return c.json(reply, status);
};

/** A method of the later revision alone, asked in its name and without its claim: the only place where a header counts. */
const isMissingVersionClaim = ({ c }: AgentRequest, { method }: RpcMessage): boolean =>
  c.var.services.config.isMcpModernEnabled &&
  method === "server/discover" &&
  c.req.header("mcp-protocol-version") === modernProtocolVersion;

const handleSingle = async (call: AgentRequest, value: Json): Promise<Response> => {
  const { c } = call;
  const message = parseRpcMessage(value);
  if (message === null) return respondWithError(c, "invalid_request", rpcErrors.invalidRequest, getRpcMessageId(value));
  const isLater = isModernMessage(call, message);
  const refused = await checkCallLimit(call, 1, getRpcMessageId(value), isLater);
  if (refused !== null) return refused;
  if (isLater) return handleModernRequest(call, message);
  if (message.id !== undefined && isMissingVersionClaim(call, message))
    return respondWithError(c, "invalid_request", missingVersionError, message.id);
  const reply = await handleMessage(call, message);
  return reply === null ? c.body(null, 202) : c.json(reply);
};

/** The answer to one message among several. Only one that begins a session has to be alone. */
const handleBatchItem = async (call: AgentRequest, value: Json): Promise<RpcResponse | "away" | null> => {
  const message = parseRpcMessage(value);
  if (message === null || message.method === "initialize") return toRpcError(getRpcMessageId(value), rpcErrors.invalidRequest);
  try {
    return await handleMessage(call, message);
  } catch (error) {
    if (!isStorageUnavailable(error)) throw error;
    return "away";
  }
};

/** In their order, one after the other, so that a batch reads as it was written. */
const handleBatch = async (call: AgentRequest, values: readonly Json[]): Promise<Response> => {
  const { c } = call;
  const messages = values.map(parseRpcMessage);
  const hasLater = messages.some((message) => message !== null && isModernMessage(call, message)); // it knows no batches
  if (values.length === 0 || values.length > maxBatchSize || hasLater)
    return respondWithError(c, "invalid_request", rpcErrors.invalidRequest);
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
  let isWhole = true;
  for (const value of values) {
    const reply = await handleBatchItem(call, value);
    if (reply === "away") isWhole = false;
    if (reply !== null) replies.push(reply === "away" ? toRpcError(getRpcMessageId(value), rpcErrors.storageUnavailable) : reply);
  }
  if (!isWhole) c.set("refused", "storage_unavailable");
  return replies.length === 0 ? c.body(null, 202) : c.json(replies, isWhole ? 200 : 500);
};

const handleRequest = async (c: Context<AppEnv>): Promise<Response> => {
  const body = await parseBody(c.req.raw);
  const id = body.ok ? getRpcMessageId(body.value) : null;
  try {
    const agent = await authenticateAgent(c, id);
    if (agent instanceof Response) return agent;
    c.set("caller", { kind: "agent_token", id: agent.tokenId, businessId: agent.realm === "business" ? agent.business.id : null });
    if (!body.ok) return respondWithError(c, body.refused, rpcErrors.invalidRequest);
    const { value } = body;
    return await (Array.isArray(value) ? handleBatch({ c, agent }, value) : handleSingle({ c, agent }, value));
  } catch (error) {
    c.var.services.log.error({ request_id: c.var.requestId, at: "mcp", error: getErrorKind(error) });
    return isStorageUnavailable(error)
      ? respondStorageUnavailable(c, id)
      : respondWithError(c, "internal_error", rpcErrors.internalError, id);
  }
};

export const agentServer = new Hono<AppEnv>();
agentServer.all(mcpPath, requireAllowedOrigin, requirePost, handleRequest);
