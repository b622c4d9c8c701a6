// Tokens for assistants (CONTRACT 7 and 10): a person makes, lists and ends their own; an owner also ends those of the others.
import type { RefusalCode } from "../../../core/refusals.ts";
import { optionalJsonBody } from "../../http/body.ts";
import { refusal, success } from "../../http/envelope.ts";
import { appOrigin } from "../../http/guards.ts";
import { idempotent, keeping } from "../../http/idempotency.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { behindConsumer, behindPortal, sameOrigin } from "../../http/session-guards.ts";
import {
  answerOf,
  badBody,
  bodyRefusals,
  failures,
  idempotencyHeaders,
  rateHeaders,
  repeatHeaders,
  sessionRefusals,
} from "../../http/wire.ts";
import { endToken, listTokens, mintToken } from "../../operations/agents/tokens.ts";
import {
  businessListedExample,
  businessTokensSchema,
  businessTokensToWire,
  consumerTokensSchema,
  consumerTokensToWire,
  endedSchema,
  exampleTokenId,
  listedExample,
  mintedExample,
  mintedSchema,
  mintedToWire,
  mintSchema,
  tokenParam,
} from "./schema.ts";

// What the descriptions share

const write = [...sessionRefusals, "csrf_failed"] as const;
const account = ["business_suspended", "business_inactive"] as const;
const made = [...bodyRefusals, "token_limit", "idempotency_conflict"] as const;

type Reasons = Partial<Record<RefusalCode, string>>;
const reasons: Reasons = {
  unauthorized: "No session, or it has ended.",
  ...badBody,
  token_limit: "There are ten of yours that work already.",
  not_found: "There is no such token, it has ended, or it is not yours.",
  rate_limited: "More than 120 a minute by one person.",
};
const ofConsumers: Reasons = { ...reasons, forbidden: "A member of a business is signed in, not a consumer." };
const ofMembers: Reasons = { ...reasons, forbidden: "A consumer is signed in, not a member of a business." };

const minted = (name: string, realm: "consumer" | "business") => ({
  description: "The token. Keep it: it is shown once.",
  headers: repeatHeaders,
  content: answerOf(name, mintedSchema, mintedExample(realm)),
});
const ended = (name: string) => ({
  description: "It opens nothing any more.",
  headers: rateHeaders,
  content: answerOf(name, endedSchema, { revoked: true, id: exampleTokenId }),
});
const mintRequest = {
  headers: idempotencyHeaders,
  body: { content: { "application/json": { schema: mintSchema, example: { name: "Claude on my laptop" } } } },
};

const common = { tags: ["agents"], security: [{ session: [] }] };
const whatItIs = "An assistant calls the agent server with it as `Authorization: Bearer pat_…` (docs/agents.md). It works for 90 days.";

// Routes

const consumerMint = createRoute({
  ...common,
  method: "post",
  path: "/v1/me/agent-token",
  operationId: "mintAgentToken",
  summary: "Make a token for your assistant",
  description: `${whatItIs} It reads your shares and your history, changes a contact field and revokes shares; it can agree to nothing. At most ten of yours work at one time.`,
  middleware: behindConsumer(optionalJsonBody, idempotent),
  request: mintRequest,
  responses: { 201: minted("MintedAgentTokenAnswer", "consumer"), ...failures([...write, ...made], ofConsumers) },
});

const consumerList = createRoute({
  ...common,
  method: "get",
  path: "/v1/me/agent-tokens",
  operationId: "listAgentTokens",
  summary: "List your agent tokens",
  description: "Those that work. What they were used for is in your audit history.",
  middleware: behindConsumer(),
  responses: {
    200: {
      description: "The tokens.",
      headers: rateHeaders,
      content: answerOf("AgentTokensAnswer", consumerTokensSchema, { agent_tokens: [listedExample] }),
    },
    ...failures(sessionRefusals, ofConsumers),
  },
});

const consumerEnd = createRoute({
  ...common,
  method: "delete",
  path: "/v1/me/agent-tokens/{token_id}",
  operationId: "revokeAgentToken",
  summary: "End an agent token",
  description: "It opens nothing from the next request on.",
  middleware: behindConsumer(),
  request: { params: tokenParam },
  responses: { 200: ended("RevokedAgentTokenAnswer"), ...failures([...write, "not_found"], ofConsumers) },
});

const businessMint = createRoute({
  ...common,
  method: "post",
  path: "/v1/business/portal/agent-token",
  operationId: "mintBusinessAgentToken",
  summary: "Make a token for a business's assistant",
  description: `${whatItIs} It reads the live shares, events and history of the business and changes nothing. It is yours: it ends with your seat, and opens nothing while the account is suspended. At most ten of yours work at one time.`,
  middleware: behindPortal(optionalJsonBody, idempotent),
  request: mintRequest,
  responses: {
    201: minted("MintedBusinessAgentTokenAnswer", "business"),
    ...failures([...write, ...account, "subscription_past_due", ...made], ofMembers),
  },
});

const businessList = createRoute({
  ...common,
  method: "get",
  path: "/v1/business/portal/agent-tokens",
  operationId: "listBusinessAgentTokens",
  summary: "List a business's agent tokens",
  description: "Those of everybody in the business that work. What they were used for is in the audit trail.",
  middleware: behindPortal(),
  responses: {
    200: {
      description: "The tokens.",
      headers: rateHeaders,
      content: answerOf("BusinessAgentTokensAnswer", businessTokensSchema, { agent_tokens: [businessListedExample] }),
    },
    ...failures([...sessionRefusals, ...account], ofMembers),
  },
});

const businessEnd = createRoute({
  ...common,
  method: "delete",
  path: "/v1/business/portal/agent-tokens/{token_id}",
  operationId: "revokeBusinessAgentToken",
  summary: "End a business's agent token",
  description: "It opens nothing from the next request on. Members end their own; an owner ends anybody's in the business.",
  middleware: behindPortal(),
  request: { params: tokenParam },
  responses: {
    200: ended("RevokedBusinessAgentTokenAnswer"),
    ...failures([...write, ...account, "subscription_past_due", "owner_required", "not_found"], {
      ...ofMembers,
      owner_required: "It is another member's, and you are not an owner.",
    }),
  },
});

export const agents = newApi();

for (const path of [
  "/v1/me/agent-token",
  "/v1/me/agent-tokens",
  "/v1/me/agent-tokens/*",
  "/v1/business/portal/agent-token",
  "/v1/business/portal/agent-tokens",
  "/v1/business/portal/agent-tokens/*",
])
  agents.use(path, appOrigin({ methods: ["GET", "POST", "DELETE"], headers: ["Content-Type", "Idempotency-Key"] }), sameOrigin);

agents.openapi(consumerMint, async (c) => {
  const token = await mintToken(c.var.services, c.var.consumer, { name: c.req.valid("json").name ?? null }, keeping(c, 201, mintedToWire));
  return token.ok ? success(c, 201, mintedToWire(token.value)) : refusal(c, token);
});

agents.openapi(consumerList, async (c) => success(c, 200, consumerTokensToWire(await listTokens(c.var.services, c.var.consumer))));

agents.openapi(consumerEnd, async (c) => {
  const { token_id: id } = c.req.valid("param");
  const end = await endToken(c.var.services, c.var.consumer, id);
  return end.ok ? success(c, 200, { revoked: true as const, id }) : refusal(c, end);
});

agents.openapi(businessMint, async (c) => {
  const token = await mintToken(c.var.services, c.var.member, { name: c.req.valid("json").name ?? null }, keeping(c, 201, mintedToWire));
  return token.ok ? success(c, 201, mintedToWire(token.value)) : refusal(c, token);
});

agents.openapi(businessList, async (c) => success(c, 200, businessTokensToWire(await listTokens(c.var.services, c.var.member))));

agents.openapi(businessEnd, async (c) => {
  const { token_id: id } = c.req.valid("param");
  const end = await endToken(c.var.services, c.var.member, id);
  return end.ok ? success(c, 200, { revoked: true as const, id }) : refusal(c, end);
});
