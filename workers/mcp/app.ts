// POST /mcp: the agent server (SPEC, Agent server). What stands before a message is asked in this order: where it comes from, the
// method, the token, the body, the shape, the limit. Every answer with a body is JSON-RPC, never a stream; there is no session.
import { Hono, type Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { addressKey } from "../../core/access/address.ts";
import { oauthScope } from "../../core/agents/authorization.ts";
import { errorOf, idIn, messageOf, rpcErrors, type Message, type Reply, type RpcError } from "../../core/agents/json-rpc.ts";
import { isModern, missingClaim, modernVersion } from "../../core/agents/modern-era.ts";
import type { Agent } from "../../core/agents/token.ts";
import type { Json } from "../../core/canonical-json.ts";
import { parseIJson } from "../../core/i-json.ts";
import type { RefusalCode } from "../../core/refusals.ts";
import { secondMs } from "../../core/time.ts";
import { mcpPath } from "../env.ts";
import { maxBodyBytes, readCapped } from "../http/body.ts";
import type { Api } from "../http/context.ts";
import { limited } from "../http/guards.ts";
import { oauthNames } from "../http/oauth-names.ts";
import { statuses } from "../http/statuses.ts";
import { kindOfError } from "../log.ts";
import { agentOf, isKnownToken, isNoToken } from "../operations/agents/authenticate.ts";
import { answerModern } from "./modern-era.ts";
import { mayCall } from "./origin.ts";
import { answerTo } from "./spec-era.ts";
import { isAway } from "./tool.ts";

const maxBatch = 20; // CONTRACT 12
const deepest = 32; // capabilities that clients send nest deeper than a body of the API

/** `refused` is for the log. */
const refusedWith = (c: Context<Api>, refused: RefusalCode, error: RpcError, id: string | number | null = null, status?: number) => {
  c.set("refused", refused);
  return c.json(errorOf(id, error), (status ?? statuses[refused]) as ContentfulStatusCode);
};

const storageAway = (c: Context<Api>, id: string | number | null) => {
  c.header("Retry-After", "1");
  return refusedWith(c, "storage_unavailable", rpcErrors.storage, id, 500); // SPEC gives the status
};

const ownOrigin = createMiddleware<Api>(async (c, next) => {
  if (!mayCall(c)) return refusedWith(c, "forbidden", { ...rpcErrors.malformed, message: "this origin may not call" });
  await next();
});

/** Neither a stream nor a session is offered, so there is nothing to GET and nothing to DELETE. */
const postOnly = createMiddleware<Api>(async (c, next) => {
  if (c.req.method === "POST") return next();
  c.header("Allow", "POST");
  return refusedWith(c, "method_not_allowed", { ...rpcErrors.malformed, message: "only POST is possible here" });
});

/** What was sent, or which refusal its form gets. */
type Body = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly refused: "payload_too_large" | "invalid_request" };

const bodyOf = async (request: Request): Promise<Body> => {
  const bytes = await readCapped(request, maxBodyBytes);
  if (bytes === null) return { ok: false, refused: "payload_too_large" };
  const parsed = request.headers.has("content-encoding") ? null : parseIJson(bytes, deepest);
  return parsed?.ok === true ? parsed : { ok: false, refused: "invalid_request" };
};

/** One space, the scheme in any case. Two headers arrive joined, which is no token. */
const tokenOf = (c: Context<Api>): string | null => /^bearer (\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? null;

const unauthorized = (c: Context<Api>, id: string | number | null) => {
  const wasTried = c.req.header("authorization") !== undefined;
  const metadata = `${oauthNames(c).issuer}/.well-known/oauth-protected-resource${mcpPath}`; // from here a program finds the way to sign in
  const challenge = `Bearer resource_metadata="${metadata}", scope="${oauthScope}"`;
  c.header("WWW-Authenticate", wasTried ? `${challenge}, error="invalid_token"` : challenge);
  return refusedWith(c, "unauthorized", rpcErrors.unauthorized, id);
};

/** Null for whatever is no token; the refusal where its caller tries out too many. Nothing is asked about a token that none can be. */
const callerOf = async (c: Context<Api>, id: string | number | null): Promise<Agent | Response> => {
  const { services, ip } = c.var;
  const token = tokenOf(c);
  if (token === null || isNoToken(token)) return unauthorized(c, id);
  if (!isKnownToken(services, token)) {
    const state = await services.takeByAddress("UNKNOWN_KEYS_PER_IP", addressKey(ip));
    if (!state.allowed && limited(c, "UNKNOWN_KEYS_PER_IP", state) !== null) return refusedWith(c, "rate_limited", rpcErrors.limited, id);
  }
  return (await agentOf(services, token)) ?? unauthorized(c, id);
};

interface Call {
  readonly c: Context<Api>;
  readonly agent: Agent;
}

/** All calls of a request count, or none. The later revision has no code of its own for it, and lends none of its range. */
const overLimit = async ({ c, agent }: Call, calls: number, id: string | number | null, modern = false): Promise<Response | null> => {
  const state = await c.var.services.takeExactly("AGENT_TOKEN", agent.tokenHash, calls);
  if (limited(c, "AGENT_TOKEN", state) === null) return null;
  const retryAfter = Math.max(1, Math.ceil(state.resetMs / secondMs));
  const { message } = rpcErrors.limited;
  return refusedWith(c, "rate_limited", modern ? { code: 429, message, data: { retry_after: retryAfter } } : rpcErrors.limited, id);
};

const contextOf = ({ c, agent }: Call) => ({ services: c.var.services, agent, requestId: c.var.requestId });

/** Null for a notification: nothing is run for it. */
const replyTo = async (call: Call, { id, ...message }: Message): Promise<Reply | null> =>
  id === undefined ? null : answerTo(contextOf(call), { id, ...message });

/** Whether a message is of the later revision. The body alone says so, and only where that revision is spoken. */
const isOfLater = ({ c }: Call, message: Message): boolean => c.var.services.config.mcpModern && isModern(message);

const answerLater = async (call: Call, { id, ...message }: Message): Promise<Response> => {
  const { c } = call;
  if (id === undefined) return c.body(null, 202);
  const { status, reply } = await answerModern(contextOf(call), { id, ...message }, (name) => c.req.header(name));
  if (status !== 200) c.set("refused", status === 404 ? "not_found" : "invalid_request");
  return c.json(reply, status);
};

/** A method of the later revision alone, asked in its name and without its claim: the only place where a header counts. */
const lacksClaim = ({ c }: Call, { method }: Message): boolean =>
  c.var.services.config.mcpModern && method === "server/discover" && c.req.header("mcp-protocol-version") === modernVersion;

const answerSingle = async (call: Call, value: Json): Promise<Response> => {
  const { c } = call;
  const message = messageOf(value);
  if (message === null) return refusedWith(c, "invalid_request", rpcErrors.malformed, idIn(value));
  const isLater = isOfLater(call, message);
  const refused = await overLimit(call, 1, idIn(value), isLater);
  if (refused !== null) return refused;
  if (isLater) return answerLater(call, message);
  if (message.id !== undefined && lacksClaim(call, message)) return refusedWith(c, "invalid_request", missingClaim, message.id);
  const reply = await replyTo(call, message);
  return reply === null ? c.body(null, 202) : c.json(reply);
};

/** The answer to one message among several. Only one that begins a session has to be alone. */
const replyAmongMany = async (call: Call, value: Json): Promise<Reply | "away" | null> => {
  const message = messageOf(value);
  if (message === null || message.method === "initialize") return errorOf(idIn(value), rpcErrors.malformed);
  try {
    return await replyTo(call, message);
  } catch (error) {
    if (!isAway(error)) throw error;
    return "away";
  }
};

/** In their order, one after the other, so that a batch reads as it was written. */
const answerBatch = async (call: Call, values: readonly Json[]): Promise<Response> => {
  const { c } = call;
  const messages = values.map(messageOf);
  const hasLater = messages.some((message) => message !== null && isOfLater(call, message)); // it knows no batches
  if (values.length === 0 || values.length > maxBatch || hasLater) return refusedWith(c, "invalid_request", rpcErrors.malformed);
  if (messages.every((message) => message === null)) {
    c.set("refused", "invalid_request");
    return c.json(
      values.map((value) => errorOf(idIn(value), rpcErrors.malformed)),
      400,
    );
  }
  const refused = await overLimit(call, values.length, null);
  if (refused !== null) return refused;
  const replies: Reply[] = [];
  let isWhole = true;
  for (const value of values) {
    const reply = await replyAmongMany(call, value);
    if (reply === "away") isWhole = false;
    if (reply !== null) replies.push(reply === "away" ? errorOf(idIn(value), rpcErrors.storage) : reply);
  }
  if (!isWhole) c.set("refused", "storage_unavailable");
  return replies.length === 0 ? c.body(null, 202) : c.json(replies, isWhole ? 200 : 500);
};

const handle = async (c: Context<Api>): Promise<Response> => {
  const body = await bodyOf(c.req.raw);
  const id = body.ok ? idIn(body.value) : null;
  try {
    const agent = await callerOf(c, id);
    if (agent instanceof Response) return agent;
    c.set("caller", { kind: "agent_token", id: agent.tokenId, businessId: agent.realm === "business" ? agent.business.id : null });
    if (!body.ok) return refusedWith(c, body.refused, rpcErrors.malformed);
    const { value } = body;
    return await (Array.isArray(value) ? answerBatch({ c, agent }, value) : answerSingle({ c, agent }, value));
  } catch (error) {
    c.var.services.log.fault({ request_id: c.var.requestId, at: "mcp", error: kindOfError(error) });
    return isAway(error) ? storageAway(c, id) : refusedWith(c, "internal_error", rpcErrors.internal, id);
  }
};

export const agentServer = new Hono<Api>();
agentServer.all(mcpPath, ownOrigin, postOnly, handle);
