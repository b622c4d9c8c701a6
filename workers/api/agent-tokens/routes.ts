// Tokens for assistants (CONTRACT 7 and 10): a person makes, lists and ends their own; an owner also ends those of the others.
import { z } from "@hono/zod-openapi";
import type { AgentToken } from "../../../core/agents/agent-token.ts";
import { realms } from "../../../core/access/session.ts";
import { dayMs, toIso } from "../../../core/time.ts";
import { optionalJsonBody } from "../../http/body.ts";
import { respond, success } from "../../http/envelope.ts";
import { idempotencyGuard, saveIdempotentResponse } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { consumerGuard } from "../../http/guards/consumer.ts";
import { portalGuard } from "../../http/guards/portal.ts";
import { successResponse, optionalRequestBody, timeSchema } from "../../http/wire.ts";
import { createAgentToken, type CreatedAgentToken } from "../../operations/agents/create-agent-token.ts";
import { listAgentTokens } from "../../operations/agents/list-agent-tokens.ts";
import { revokeAgentToken } from "../../operations/agents/revoke-agent-token.ts";

const agentTokenRequestSchema = z
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
const commonFields = {
  id: z.string().openapi({ description: "`tok_…`; audit entries name the token by it." }),
  realm: realmSchema,
  name: z.string().nullable().openapi({ description: "As it was given; null where none was." }),
  created_at: timeSchema,
  expires_at: timeSchema.openapi({ description: "90 days after it was made." }),
};

const createdTokenSchema = z
  .object({ ...commonFields, token: z.string().openapi({ description: "`pat_…`. Shown in this answer and never again." }) })
  .openapi("MintedAgentToken");

const connectedClientSchema = z
  .object({
    name: z.string().nullable().openapi({ description: "As it calls itself; null where that may not be shown." }),
    host: z.string().nullable().openapi({ description: "Whose server vouches for the program; null for one that only says who it is." }),
    verified: z.boolean().openapi({ description: "Whether a server vouches for it." }),
  })
  .openapi("ConnectedClient");

const listedTokenFields = {
  ...commonFields,
  source: z.enum(["minted", "oauth"]).openapi({ description: "`minted` and pasted by its person, or made when a program was connected." }),
  client: connectedClientSchema.nullable().openapi({ description: "The program that was connected; null for a token that was minted." }),
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
  .object({ agent_tokens: z.array(z.object(listedTokenFields)).openapi({ description: "Those that work, newest first." }) })
  .openapi("AgentTokens");
const businessTokensSchema = z
  .object({
    agent_tokens: z
      .array(z.object({ ...listedTokenFields, member_id: z.string().openapi({ description: "Whose it is, `mem_…`." }) }))
      .openapi({ description: "Those of everybody in the business that work, newest first." }),
  })
  .openapi("BusinessAgentTokens");

const revokedTokenSchema = z
  .object({ revoked: z.literal(true), id: z.string().openapi({ description: "The token that works no more." }) })
  .openapi("RevokedAgentToken");
const revokedTokenToWire = (id: string): z.input<typeof revokedTokenSchema> => ({ revoked: true, id });

const commonExample = {
  id: exampleTokenId,
  name: "Claude on my laptop",
  created_at: "2026-03-04T05:06:07.089Z",
  expires_at: "2026-06-02T05:06:07.089Z",
};
const createdTokenExample = (realm: "consumer" | "business") => ({
  ...commonExample,
  realm,
  token: "pat_00Q2F0cyBhcmUgbm90IGhlcmUgYnkgYWNjaWRlbnQuIE1pYW",
});
const listedTokenExample = {
  ...commonExample,
  realm: "consumer",
  source: "minted",
  client: null,
  redirect_host: null,
  last_used_at: "2026-03-05",
};
const businessListedTokenExample = { ...listedTokenExample, realm: "business", member_id: "mem_00f7m2k9x4c1v8b5n3q6t0w2h7" };

const isoDateOrNull = (day: number | null): string | null => (day === null ? null : toIso(day * dayMs).slice(0, 10));

const commonFieldsToWire = ({ id, realm, name, createdAt, expiresAt }: AgentToken) => ({
  id,
  realm,
  name,
  created_at: toIso(createdAt),
  expires_at: toIso(expiresAt),
});

const createdTokenToWire = (token: CreatedAgentToken): z.input<typeof createdTokenSchema> => ({
  ...commonFieldsToWire(token),
  token: token.secret,
});

const listedTokenToWire = (token: AgentToken) => ({
  ...commonFieldsToWire(token),
  source: token.client === null ? ("minted" as const) : ("oauth" as const),
  client: token.client === null ? null : { name: token.name, host: token.client.host, verified: token.client.host !== null },
  redirect_host: token.client?.redirectHost ?? null,
  last_used_at: isoDateOrNull(token.lastUsedDay),
});

export const consumerTokensToWire = (tokens: readonly AgentToken[]): z.input<typeof consumerTokensSchema> => ({
  agent_tokens: tokens.map(listedTokenToWire),
});

const businessTokensToWire = (tokens: readonly AgentToken[]): z.input<typeof businessTokensSchema> => ({
  agent_tokens: tokens.map((token) => ({ ...listedTokenToWire(token), member_id: token.principalId })),
});

const createRoute = createRouteFactory("agents");

const createdTokenResponse = (name: string, realm: "consumer" | "business") =>
  successResponse("The token. Keep it: it is shown once.", name, createdTokenSchema, createdTokenExample(realm));
const revokedTokenResponse = (name: string) =>
  successResponse("It opens nothing any more.", name, revokedTokenSchema, revokedTokenToWire(exampleTokenId));
const createTokenRequest = { body: optionalRequestBody(agentTokenRequestSchema, { name: "Claude on my laptop" }) };
const tokenLimitRefusal = { token_limit: "There are ten of yours that work already." } as const;
const tokenNotFoundRefusal = { not_found: "There is no such token, it has ended, or it is not yours." } as const;
const agentTokenDescription =
  "An assistant calls the agent server with it as `Authorization: Bearer pat_…` (docs/guides/agents.md). It works for 90 days.";

const createConsumerTokenRoute = createRoute({
  method: "post",
  path: "/v1/me/agent-token",
  operationId: "mintAgentToken",
  summary: "Make a token for your assistant",
  description: `${agentTokenDescription} It reads your shares and your history, changes a contact field and revokes shares; it can agree to nothing. At most ten of yours work at one time.`,
  middleware: consumerGuard(optionalJsonBody, idempotencyGuard),
  request: createTokenRequest,
  responses: { 201: createdTokenResponse("MintedAgentTokenAnswer", "consumer") },
  when: tokenLimitRefusal,
});

const listConsumerTokensRoute = createRoute({
  method: "get",
  path: "/v1/me/agent-tokens",
  operationId: "listAgentTokens",
  summary: "List your agent tokens",
  description: "Those that work. What they were used for is in your audit history.",
  middleware: consumerGuard(),
  responses: { 200: successResponse("The tokens.", "AgentTokensAnswer", consumerTokensSchema, { agent_tokens: [listedTokenExample] }) },
});

const revokeConsumerTokenRoute = createRoute({
  method: "delete",
  path: "/v1/me/agent-tokens/{token_id}",
  operationId: "revokeAgentToken",
  summary: "End an agent token",
  description: "It opens nothing from the next request on.",
  middleware: consumerGuard(),
  request: { params: tokenParam },
  responses: { 200: revokedTokenResponse("RevokedAgentTokenAnswer") },
  when: tokenNotFoundRefusal,
});

const createBusinessTokenRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/agent-token",
  operationId: "mintBusinessAgentToken",
  summary: "Make a token for a business's assistant",
  description: `${agentTokenDescription} It reads the live shares, events and history of the business and changes nothing. It is yours: it ends with your seat, and opens nothing while the account is suspended. At most ten of yours work at one time.`,
  middleware: portalGuard(optionalJsonBody, idempotencyGuard),
  request: createTokenRequest,
  responses: { 201: createdTokenResponse("MintedBusinessAgentTokenAnswer", "business") },
  when: tokenLimitRefusal,
});

const listBusinessTokensRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/agent-tokens",
  operationId: "listBusinessAgentTokens",
  summary: "List a business's agent tokens",
  description: "Those of everybody in the business that work. What they were used for is in the audit trail.",
  middleware: portalGuard(),
  responses: {
    200: successResponse("The tokens.", "BusinessAgentTokensAnswer", businessTokensSchema, { agent_tokens: [businessListedTokenExample] }),
  },
});

const revokeBusinessTokenRoute = createRoute({
  method: "delete",
  path: "/v1/business/portal/agent-tokens/{token_id}",
  operationId: "revokeBusinessAgentToken",
  summary: "End a business's agent token",
  description: "It opens nothing from the next request on. Members end their own; an owner ends anybody's in the business.",
  middleware: portalGuard(),
  request: { params: tokenParam },
  responses: { 200: revokedTokenResponse("RevokedBusinessAgentTokenAnswer") },
  when: { ...tokenNotFoundRefusal, owner_required: "It is another member's, and you are not an owner." },
});

export const agentTokenRoutes = createApi();

agentTokenRoutes.openapi(createConsumerTokenRoute, async (c) => {
  const token = await createAgentToken(
    c.var.services,
    c.var.consumer,
    { name: c.req.valid("json").name ?? null },
    saveIdempotentResponse(c, 201, createdTokenToWire),
  );
  return respond(c, 201, token, createdTokenToWire);
});

agentTokenRoutes.openapi(listConsumerTokensRoute, async (c) =>
  success(c, 200, consumerTokensToWire(await listAgentTokens(c.var.services, c.var.consumer))),
);

agentTokenRoutes.openapi(revokeConsumerTokenRoute, async (c) => {
  const { token_id: id } = c.req.valid("param");
  return respond(c, 200, await revokeAgentToken(c.var.services, c.var.consumer, id), () => revokedTokenToWire(id));
});

agentTokenRoutes.openapi(createBusinessTokenRoute, async (c) => {
  const token = await createAgentToken(
    c.var.services,
    c.var.member,
    { name: c.req.valid("json").name ?? null },
    saveIdempotentResponse(c, 201, createdTokenToWire),
  );
  return respond(c, 201, token, createdTokenToWire);
});

agentTokenRoutes.openapi(listBusinessTokensRoute, async (c) =>
  success(c, 200, businessTokensToWire(await listAgentTokens(c.var.services, c.var.member))),
);

agentTokenRoutes.openapi(revokeBusinessTokenRoute, async (c) => {
  const { token_id: id } = c.req.valid("param");
  return respond(c, 200, await revokeAgentToken(c.var.services, c.var.member, id), () => revokedTokenToWire(id));
});
