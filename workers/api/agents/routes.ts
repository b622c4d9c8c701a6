// Tokens for assistants (CONTRACT 7 and 10): a person makes, lists and ends their own; an owner also ends those of the others.
import { optionalJsonBody } from "../../http/body.ts";
import { answer, success } from "../../http/envelope.ts";
import { idempotent, keeping } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindConsumer, behindPortal } from "../../http/session-guards.ts";
import { answerOf, optionalBodyOf } from "../../http/wire.ts";
import { endToken, listTokens, mintToken } from "../../operations/agents/tokens.ts";
import {
  businessListedExample,
  businessTokensSchema,
  businessTokensToWire,
  consumerTokensSchema,
  consumerTokensToWire,
  endedSchema,
  endedToWire,
  exampleTokenId,
  listedExample,
  mintedExample,
  mintedSchema,
  mintedToWire,
  mintSchema,
  tokenParam,
} from "./schema.ts";

const createRoute = routesOf("agents");

const minted = (name: string, realm: "consumer" | "business") =>
  answerOf("The token. Keep it: it is shown once.", name, mintedSchema, mintedExample(realm));
const ended = (name: string) => answerOf("It opens nothing any more.", name, endedSchema, endedToWire(exampleTokenId));
const mintRequest = { body: optionalBodyOf(mintSchema, { name: "Claude on my laptop" }) };
const tooMany = { token_limit: "There are ten of yours that work already." } as const;
const noSuch = { not_found: "There is no such token, it has ended, or it is not yours." } as const;
const whatItIs = "An assistant calls the agent server with it as `Authorization: Bearer pat_…` (docs/agents.md). It works for 90 days.";

const consumerMint = createRoute({
  method: "post",
  path: "/v1/me/agent-token",
  operationId: "mintAgentToken",
  summary: "Make a token for your assistant",
  description: `${whatItIs} It reads your shares and your history, changes a contact field and revokes shares; it can agree to nothing. At most ten of yours work at one time.`,
  middleware: behindConsumer(optionalJsonBody, idempotent),
  request: mintRequest,
  responses: { 201: minted("MintedAgentTokenAnswer", "consumer") },
  when: tooMany,
});

const consumerList = createRoute({
  method: "get",
  path: "/v1/me/agent-tokens",
  operationId: "listAgentTokens",
  summary: "List your agent tokens",
  description: "Those that work. What they were used for is in your audit history.",
  middleware: behindConsumer(),
  responses: { 200: answerOf("The tokens.", "AgentTokensAnswer", consumerTokensSchema, { agent_tokens: [listedExample] }) },
});

const consumerEnd = createRoute({
  method: "delete",
  path: "/v1/me/agent-tokens/{token_id}",
  operationId: "revokeAgentToken",
  summary: "End an agent token",
  description: "It opens nothing from the next request on.",
  middleware: behindConsumer(),
  request: { params: tokenParam },
  responses: { 200: ended("RevokedAgentTokenAnswer") },
  when: noSuch,
});

const businessMint = createRoute({
  method: "post",
  path: "/v1/business/portal/agent-token",
  operationId: "mintBusinessAgentToken",
  summary: "Make a token for a business's assistant",
  description: `${whatItIs} It reads the live shares, events and history of the business and changes nothing. It is yours: it ends with your seat, and opens nothing while the account is suspended. At most ten of yours work at one time.`,
  middleware: behindPortal(optionalJsonBody, idempotent),
  request: mintRequest,
  responses: { 201: minted("MintedBusinessAgentTokenAnswer", "business") },
  when: tooMany,
});

const businessList = createRoute({
  method: "get",
  path: "/v1/business/portal/agent-tokens",
  operationId: "listBusinessAgentTokens",
  summary: "List a business's agent tokens",
  description: "Those of everybody in the business that work. What they were used for is in the audit trail.",
  middleware: behindPortal(),
  responses: {
    200: answerOf("The tokens.", "BusinessAgentTokensAnswer", businessTokensSchema, { agent_tokens: [businessListedExample] }),
  },
});

const businessEnd = createRoute({
  method: "delete",
  path: "/v1/business/portal/agent-tokens/{token_id}",
  operationId: "revokeBusinessAgentToken",
  summary: "End a business's agent token",
  description: "It opens nothing from the next request on. Members end their own; an owner ends anybody's in the business.",
  middleware: behindPortal(),
  request: { params: tokenParam },
  responses: { 200: ended("RevokedBusinessAgentTokenAnswer") },
  when: { ...noSuch, owner_required: "It is another member's, and you are not an owner." },
});

export const agents = newApi();

agents.openapi(consumerMint, async (c) => {
  const token = await mintToken(c.var.services, c.var.consumer, { name: c.req.valid("json").name ?? null }, keeping(c, 201, mintedToWire));
  return answer(c, 201, token, mintedToWire);
});

agents.openapi(consumerList, async (c) => success(c, 200, consumerTokensToWire(await listTokens(c.var.services, c.var.consumer))));

agents.openapi(consumerEnd, async (c) => {
  const { token_id: id } = c.req.valid("param");
  return answer(c, 200, await endToken(c.var.services, c.var.consumer, id), () => endedToWire(id));
});

agents.openapi(businessMint, async (c) => {
  const token = await mintToken(c.var.services, c.var.member, { name: c.req.valid("json").name ?? null }, keeping(c, 201, mintedToWire));
  return answer(c, 201, token, mintedToWire);
});

agents.openapi(businessList, async (c) => success(c, 200, businessTokensToWire(await listTokens(c.var.services, c.var.member))));

agents.openapi(businessEnd, async (c) => {
  const { token_id: id } = c.req.valid("param");
  return answer(c, 200, await endToken(c.var.services, c.var.member, id), () => endedToWire(id));
});
