// What making, listing and ending agent tokens takes and gives, with the worked examples of its description.
import { z } from "@hono/zod-openapi";
import type { AgentToken } from "../../../core/agents/token.ts";
import { realms } from "../../../core/access/session.ts";
import { dayMs, isoOf } from "../../../core/time.ts";
import type { MintedToken } from "../../operations/agents/tokens.ts";

export const mintSchema = z
  .object({
    name: z
      .string()
      .nullish()
      .openapi({ description: "What you call it, to tell it apart later: at most 80 characters.", example: "Claude on my laptop" }),
  })
  .openapi("AgentTokenRequest");

export const exampleTokenId = "tok_00k3v9d2m4q8x1c7b5n0t6w2h9";

export const tokenParam = z.object({
  token_id: z.string().openapi({ description: "`id` of the token, `tok_…`.", example: exampleTokenId }),
});

const realmSchema = z
  .enum(realms as ["consumer", "business"])
  .openapi({ description: "Whose records it opens. It never opens those of another realm." });
const shared = {
  id: z.string().openapi({ description: "`tok_…`; audit entries name the token by it." }),
  realm: realmSchema,
  name: z.string().nullable().openapi({ description: "As it was given; null where none was." }),
  created_at: z.string().openapi({ format: "date-time" }),
  expires_at: z.string().openapi({ format: "date-time", description: "90 days after it was made." }),
};

export const mintedSchema = z
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
export const businessTokensSchema = z
  .object({
    agent_tokens: z
      .array(z.object({ ...listedMembers, member_id: z.string().openapi({ description: "Whose it is, `mem_…`." }) }))
      .openapi({ description: "Those of everybody in the business that work, newest first." }),
  })
  .openapi("BusinessAgentTokens");

export const endedSchema = z
  .object({ revoked: z.literal(true), id: z.string().openapi({ description: "The token that works no more." }) })
  .openapi("RevokedAgentToken");
export const endedToWire = (id: string): z.input<typeof endedSchema> => ({ revoked: true, id });

const sharedExample = {
  id: exampleTokenId,
  name: "Claude on my laptop",
  created_at: "2026-03-04T05:06:07.089Z",
  expires_at: "2026-06-02T05:06:07.089Z",
};
export const mintedExample = (realm: "consumer" | "business") => ({
  ...sharedExample,
  realm,
  token: "pat_00Q2F0cyBhcmUgbm90IGhlcmUgYnkgYWNjaWRlbnQuIE1pYW",
});
export const listedExample = {
  ...sharedExample,
  realm: "consumer",
  source: "minted",
  client: null,
  redirect_host: null,
  last_used_at: "2026-03-05",
};
export const businessListedExample = { ...listedExample, realm: "business", member_id: "mem_00f7m2k9x4c1v8b5n3q6t0w2h7" };

const dayOf = (day: number | null): string | null => (day === null ? null : isoOf(day * dayMs).slice(0, 10));

const sharedToWire = ({ id, realm, name, createdAt, expiresAt }: AgentToken) => ({
  id,
  realm,
  name,
  created_at: isoOf(createdAt),
  expires_at: isoOf(expiresAt),
});

export const mintedToWire = (token: MintedToken): z.input<typeof mintedSchema> => ({ ...sharedToWire(token), token: token.secret });

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

export const businessTokensToWire = (tokens: readonly AgentToken[]): z.input<typeof businessTokensSchema> => ({
  agent_tokens: tokens.map((token) => ({ ...listedToWire(token), member_id: token.principalId })),
});
