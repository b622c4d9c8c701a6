// Tokens for assistants (CONTRACT 7 and 10): a person makes, lists and ends their own; an owner also ends those of the others.
import { z } from "@hono/zod-openapi";
import type { AgentToken } from "../../../core/agents/token.ts";
import { realms } from "../../../core/access/session.ts";
import { dayMs, isoOf } from "../../../core/time.ts";
import { optionalJsonBody } from "../../http/body.ts";
import { answer, success } from "../../http/envelope.ts";
import { idempotent, keeping } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindConsumer, behindPortal } from "../../http/session-guards.ts";
import { answerOf, optionalBodyOf, time } from "../../http/wire.ts";
import { endToken, listTokens, mintToken, type MintedToken } from "../../operations/agents/tokens.ts";

const mintSchema = z
  .object({
    name: z
      .string()
      .nullish()
      .openapi({ description: "What you call it, to tell it apart later: at most 80 characters.", example: "Claude on my laptop" }),
  })
  .openapi("AgentTokenRequest");

const exampleTokenId = "tok_00k3v9d2m4q8x1c7b5n0t6w2h9";

const tokenParam = z.object({
  token_id: z.string().openapi({ description: "`id` of the token, `tok_…`.", example: exampleTokenId }),
});

const realmSchema = z.enum(realms).openapi({ description: "Whose records it opens. It never opens those of another realm." });
const shared = {
  id: z.string().openapi({ description: "`tok_…`; audit entries name the token by it." }),
  realm: realmSchema,
  name: z.string().nullable().openapi({ description: "As it was given; null where none was." }),
  created_at: time,
  expires_at: time.openapi({ description: "90 days after it was made." }),
};

const mintedSchema = z
  .object({ ...shared, token: z.string().openapi({ description: "`pat_…`. Shown in this answer and never again." }) })
  .openapi("MintedAgentToken");

const clientSchema = z
  .object({
    name: z.string().nullable().openapi({ description: "As it calls itself; null where that may not be shown." }),
    host: z.string().nullable().openapi({ description: "Whose server vouches for the program; null for one that only says who it is." }),
    verified: z.boolean().openapi({ description: "Whether a server vouches for it." }),
  })
  .openapi("ConnectedClient");

const listedMembers = {
  ...shared,
  source: z.enum(["minted", "oauth"]).openapi({ description: "`minted` and pasted by its person, or made when a program was connected." }),
  client: clientSchema.nullable().openapi({ description: "The program that was connected; null for a token that was minted." }),
  redirect_host: z.string().nullable().openapi({
    description:
      "Where the program's access was sent: a host, `127.0.0.1` or `localhost` for the person's own machine, or an app; null for a token that was minted.",
  }),
  last_used_at: z
    .string()
    .nullable()
    .openapi({ format: "date", description: "The day (UTC) a tool was last called with it; null before." }),
};

export const consumerTokensSchema = z
  .object({ agent_tokens: z.array(z.object(listedMembers)).openapi({ description: "Those that work, newest first." }) })
  .openapi("AgentTokens");
const businessTokensSchema = z
  .object({
    agent_tokens: z
      .array(z.object({ ...listedMembers, member_id: z.string().openapi({ description: "Whose it is, `mem_…`." }) }))
      .openapi({ description: "Those of everybody in the business that work, newest first." }),
  })
  .openapi("BusinessAgentTokens");

const endedSchema = z
  .object({ revoked: z.literal(true), id: z.string().openapi({ description: "The token that works no more." }) })
  .openapi("RevokedAgentToken");
const endedToWire = (id: string): z.input<typeof endedSchema> => ({ revoked: true, id });

const sharedExample = {
  id: exampleTokenId,
  name: "Claude on my laptop",
  created_at: "2026-03-04T05:06:07.089Z",
  expires_at: "2026-06-02T05:06:07.089Z",
};
const mintedExample = (realm: "consumer" | "business") => ({
  ...sharedExample,
  realm,
  token: "pat_00Q2F0cyBhcmUgbm90IGhlcmUgYnkgYWNjaWRlbnQuIE1pYW",
});
const listedExample = {
  ...sharedExample,
  realm: "consumer",
  source: "minted",
  client: null,
  redirect_host: null,
  last_used_at: "2026-03-05",
};
const businessListedExample = { ...listedExample, realm: "business", member_id: "mem_00f7m2k9x4c1v8b5n3q6t0w2h7" };

const dayOf = (day: number | null): string | null => (day === null ? null : isoOf(day * dayMs).slice(0, 10));

const sharedToWire = ({ id, realm, name, createdAt, expiresAt }: AgentToken) => ({
  id,
  realm,
  name,
  created_at: isoOf(createdAt),
  expires_at: isoOf(expiresAt),
});

const mintedToWire = (token: MintedToken): z.input<typeof mintedSchema> => ({ ...sharedToWire(token), token: token.secret });

const listedToWire = (token: AgentToken) => ({
  ...sharedToWire(token),
  source: token.client === null ? ("minted" as const) : ("oauth" as const),
  client: token.client === null ? null : { name: token.name, host: token.client.host, verified: token.client.host !== null },
  redirect_host: token.client?.redirectHost ?? null,
  last_used_at: dayOf(token.lastUsedDay),
});

export const consumerTokensToWire = (tokens: readonly AgentToken[]): z.input<typeof consumerTokensSchema> => ({
  agent_tokens: tokens.map(listedToWire),
});

const businessTokensToWire = (tokens: readonly AgentToken[]): z.input<typeof businessTokensSchema> => ({
  agent_tokens: tokens.map((token) => ({ ...listedToWire(token), member_id: token.principalId })),
});

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
