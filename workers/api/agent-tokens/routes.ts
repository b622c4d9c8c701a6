// Agent token routes (SPEC Agent server). People create, list and revoke their own tokens; owners can also revoke other members' tokens.
import { z } from "@hono/zod-openapi";
import type { AgentToken } from "../../../core/agents/agent-token.ts";
import { realms } from "../../../core/access/session.ts";
import { once } from "../../../core/once.ts";
import { optionalJsonBody } from "../../http/body.ts";
import { respond, success } from "../../http/envelope.ts";
import { idempotencyGuard, respondAndSave } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { consumerGuard } from "../../http/guards/consumer.ts";
import { portalGuard } from "../../http/guards/portal.ts";
import { dayToWire, successResponse, optionalRequestBody, timeSchema, toWire } from "../../http/wire.ts";
import { createAgentToken, type CreatedAgentToken } from "../../operations/agents/create-agent-token.ts";
import { listAgentTokens } from "../../operations/agents/list-agent-tokens.ts";
import { revokeAgentToken } from "../../operations/agents/revoke-agent-token.ts";

const agentTokenRequestSchema = z
  .object({
    name: z.string().nullish().meta({ description: "Label for the token, at most 80 characters.", example: "Claude on my laptop" }),
  })
  .openapi("AgentTokenRequest");

const exampleTokenId = "tok_00k3v9d2m4q8x1c7b5n0t6w2h9";

const tokenParam = z.object({
  token_id: z.string().meta({ description: "ID of the token. Starts with `tok_`.", example: exampleTokenId }),
});

const realmSchema = z
  .enum(realms)
  .meta({ description: "`consumer`: the token can access a person's own records. `business`: those of a business." });
const commonFields = {
  id: z.string().meta({ description: "ID of the token. Starts with `tok_`. Audit entries refer to the token by this ID." }),
  realm: realmSchema,
  name: z.string().nullable().meta({ description: "Label of the token, or `null`." }),
  created_at: timeSchema,
  expires_at: timeSchema.meta({ description: "When the token expires: 90 days after it was created." }),
};

const createdTokenSchema = z
  .object({ ...commonFields, token: z.string().meta({ description: "Starts with `pat_`. Shown only once, so save it now." }) })
  .openapi("MintedAgentToken");

/** Returns the schemas that only describe responses. They are created when the OpenAPI document is built. */
export const getAgentTokenSchemas = once(() => {
  const connectedClientSchema = z
    .object({
      name: z
        .string()
        .nullable()
        .meta({ description: "Name that the client gave itself; `null` if it has none or the name is not safe to display." }),
      host: z.string().nullable().meta({ description: "Host of the client's metadata document; `null` if the client registered itself." }),
      verified: z
        .boolean()
        .meta({ description: "Whether `host` confirms the client's identity. `false` if the client registered itself." }),
    })
    .openapi("ConnectedClient");

  const listedTokenFields = {
    ...commonFields,
    source: z
      .enum(["minted", "oauth"])
      .meta({ description: "`minted`: a person created the token. `oauth`: a client got it through OAuth." }),
    client: connectedClientSchema.nullable().meta({ description: "The connected client; `null` if `source` is `minted`." }),
    redirect_host: z.string().nullable().meta({
      description:
        "Where the authorization code was sent: the host name of a website, a loopback host such as `127.0.0.1` or `localhost` for a program on the person's own machine, or the name of an app. `null` if `source` is `minted`.",
    }),
    last_used_at: z
      .string()
      .nullable()
      .meta({ format: "date", description: "Date (UTC) on which an assistant last called a tool with this token; `null` if never." }),
  };

  const consumerTokensSchema = z
    .object({ agent_tokens: z.array(z.object(listedTokenFields)).meta({ description: "Active tokens, newest first." }) })
    .openapi("AgentTokens");

  const businessTokensSchema = z
    .object({
      agent_tokens: z
        .array(
          z.object({
            ...listedTokenFields,
            member_id: z.string().meta({ description: "ID of the member who owns the token. Starts with `mem_`." }),
          }),
        )
        .meta({ description: "Active tokens of all members, newest first." }),
    })
    .openapi("BusinessAgentTokens");

  const revokedTokenSchema = z
    .object({ revoked: z.literal(true), id: z.string().meta({ description: "ID of the revoked token." }) })
    .openapi("RevokedAgentToken");

  return { consumerTokensSchema, businessTokensSchema, revokedTokenSchema };
});

type AgentTokenSchemas = ReturnType<typeof getAgentTokenSchemas>;

const revokedTokenToWire = (id: string): z.input<AgentTokenSchemas["revokedTokenSchema"]> => ({ revoked: true, id });

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

const createdTokenToWire = (token: CreatedAgentToken): z.input<typeof createdTokenSchema> =>
  toWire(createdTokenSchema, { ...token, token: token.secret });

const listedTokenToWire = (token: AgentToken) => ({
  ...toWire({ shape: commonFields }, token),
  source: token.client === null ? ("minted" as const) : ("oauth" as const),
  client: token.client === null ? null : { name: token.name, host: token.client.host, verified: token.client.host !== null },
  redirect_host: token.client?.redirectHost ?? null,
  last_used_at: dayToWire(token.lastUsedDay),
});

export const consumerTokensToWire = (tokens: readonly AgentToken[]): z.input<AgentTokenSchemas["consumerTokensSchema"]> => ({
  agent_tokens: tokens.map(listedTokenToWire),
});

const businessTokensToWire = (tokens: readonly AgentToken[]): z.input<AgentTokenSchemas["businessTokensSchema"]> => ({
  agent_tokens: tokens.map((token) => ({ ...listedTokenToWire(token), member_id: token.principalId })),
});

const createRoute = createRouteFactory("agents");

const createdTokenResponse = (name: string, realm: "consumer" | "business") =>
  successResponse("The token. Store it now: it is shown only once.", name, createdTokenSchema, createdTokenExample(realm));
const revokedTokenResponse = (name: string) =>
  successResponse("The token was revoked.", name, () => getAgentTokenSchemas().revokedTokenSchema, revokedTokenToWire(exampleTokenId));
const createTokenRequest = { body: optionalRequestBody(agentTokenRequestSchema, { name: "Claude on my laptop" }) };
const tokenLimitRefusal = { token_limit: "You already have 10 active tokens. Revoke one first." } as const;
const tokenNotFoundRefusal = { not_found: "The token does not exist, is no longer active, or is not yours." } as const;
const agentTokenDescription =
  "Creates a token for our MCP server. The AI assistant sends it in the header `Authorization: Bearer pat_…` (see `/docs/agents`). The token expires after 90 days.";

const createConsumerTokenRoute = createRoute({
  method: "post",
  path: "/v1/me/agent-token",
  operationId: "mintAgentToken",
  summary: "Create an agent token",
  description: `${agentTokenDescription} With the token, the assistant can read your shares and audit trail, change contact fields and revoke shares. It cannot give consent. You can have up to 10 active tokens.`,
  middleware: consumerGuard(optionalJsonBody, idempotencyGuard),
  request: createTokenRequest,
  responses: { 201: createdTokenResponse("MintedAgentTokenResponse", "consumer") },
  when: tokenLimitRefusal,
});

const listConsumerTokensRoute = createRoute({
  method: "get",
  path: "/v1/me/agent-tokens",
  operationId: "listAgentTokens",
  summary: "List your agent tokens",
  description: "Returns your active tokens. Your audit trail shows how they were used.",
  middleware: consumerGuard(),
  responses: {
    200: successResponse("The tokens.", "AgentTokensResponse", () => getAgentTokenSchemas().consumerTokensSchema, {
      agent_tokens: [listedTokenExample],
    }),
  },
});

const revokeConsumerTokenRoute = createRoute({
  method: "delete",
  path: "/v1/me/agent-tokens/{token_id}",
  operationId: "revokeAgentToken",
  summary: "Revoke an agent token",
  description: "The token stops working immediately.",
  middleware: consumerGuard(),
  request: { params: tokenParam },
  responses: { 200: revokedTokenResponse("RevokedAgentTokenResponse") },
  when: tokenNotFoundRefusal,
});

const createBusinessTokenRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/agent-token",
  operationId: "mintBusinessAgentToken",
  summary: "Create an agent token for a business",
  description: `${agentTokenDescription} With the token, the assistant can read the live shares, events and audit trail of the business, but cannot change anything. The token stops working when your membership ends. It does not work while the account is suspended. You can have up to 10 active tokens.`,
  middleware: portalGuard(optionalJsonBody, idempotencyGuard),
  request: createTokenRequest,
  responses: { 201: createdTokenResponse("MintedBusinessAgentTokenResponse", "business") },
  when: tokenLimitRefusal,
});

const listBusinessTokensRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/agent-tokens",
  operationId: "listBusinessAgentTokens",
  summary: "List agent tokens for a business",
  description: "Returns the active tokens of all members. The audit trail shows how they were used.",
  middleware: portalGuard(),
  responses: {
    200: successResponse("The tokens.", "BusinessAgentTokensResponse", () => getAgentTokenSchemas().businessTokensSchema, {
      agent_tokens: [businessListedTokenExample],
    }),
  },
});

const revokeBusinessTokenRoute = createRoute({
  method: "delete",
  path: "/v1/business/portal/agent-tokens/{token_id}",
  operationId: "revokeBusinessAgentToken",
  summary: "Revoke an agent token for a business",
  description: "The token stops working immediately. Members can revoke their own tokens. Owners can revoke any token of the business.",
  middleware: portalGuard(),
  request: { params: tokenParam },
  responses: { 200: revokedTokenResponse("RevokedBusinessAgentTokenResponse") },
  when: { ...tokenNotFoundRefusal, owner_required: "The token belongs to another member and you are not an owner." },
});

export const agentTokenRoutes = createApi();

agentTokenRoutes.openapi(createConsumerTokenRoute, async (c) => {
  const { services, consumer, language } = c.var;
  const request = { name: c.req.valid("json").name ?? null, language };
  return respondAndSave(c, 201, createdTokenToWire, (save) => createAgentToken(services, consumer, request, save));
});

agentTokenRoutes.openapi(listConsumerTokensRoute, async (c) =>
  success(c, 200, consumerTokensToWire(await listAgentTokens(c.var.services, c.var.consumer))),
);

agentTokenRoutes.openapi(revokeConsumerTokenRoute, async (c) => {
  const { token_id: id } = c.req.valid("param");
  return respond(c, 200, await revokeAgentToken(c.var.services, c.var.consumer, id), () => revokedTokenToWire(id));
});

agentTokenRoutes.openapi(createBusinessTokenRoute, async (c) => {
  const { services, member, language } = c.var;
  const request = { name: c.req.valid("json").name ?? null, language };
  return respondAndSave(c, 201, createdTokenToWire, (save) => createAgentToken(services, member, request, save));
});

agentTokenRoutes.openapi(listBusinessTokensRoute, async (c) =>
  success(c, 200, businessTokensToWire(await listAgentTokens(c.var.services, c.var.member))),
);

agentTokenRoutes.openapi(revokeBusinessTokenRoute, async (c) => {
  const { token_id: id } = c.req.valid("param");
  return respond(c, 200, await revokeAgentToken(c.var.services, c.var.member, id), () => revokedTokenToWire(id));
});
