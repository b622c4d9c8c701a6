// Creates an agent token for the signed-in person.
import type { Session } from "../../../core/access/session.ts";
import {
  maxActiveTokens,
  tokenOwnerFromSession,
  tokenLifetimeMs,
  createTokenEvent,
  type AgentToken,
} from "../../../core/agents/agent-token.ts";
import { sha256, sha256Hex } from "../../../core/hash.ts";
import { shardOfId, generateId, generateSecret, type RandomBytes } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import { refuse, ok, refuseWhen, type Result } from "../../../core/result.ts";
import { parseLine } from "../../../core/text.ts";
import { insertAgentToken, hasAgentToken, isDuplicateToken } from "../../../storage/agent-tokens.ts";
import { commit } from "../../../storage/commit.ts";
import type { Stores, WriteDependencies } from "../dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { listAgentTokens } from "./list-agent-tokens.ts";

const maxNameLength = 80;

export interface CreatedAgentToken extends AgentToken {
  /** The token itself. It is returned only here, and only its hash is stored. */
  readonly secret: string;
}

/**
 * Derives the bytes of the token's ID from the person and `formId`. Submitting a form twice leads to the same ID, so it creates at most one
 * token.
 */
const deriveRandomBytes = async ({ vault }: Stores, principalId: string, formId: string): Promise<RandomBytes> => {
  const derived = sha256(await vault.permanentToken(`agent token\n${principalId}\n${formId}`));
  return (length) => derived.slice(0, length);
};

/**
 * Creates a token. Concurrent calls cannot exceed the limit on active tokens. `formId` is a random value in the form. Submitting the same
 * form again creates no token and returns `idempotency_conflict`. Can also return `token_limit`, `invalid_request` for an invalid name, and
 * `unauthorized` if the account or membership no longer exists.
 */
export const createAgentToken = async (
  services: WriteDependencies,
  session: Session,
  request: { readonly name: string | null; readonly language: Language; readonly formId?: string },
  saveIdempotentResponse: SaveIdempotentResponse<CreatedAgentToken> = async () => [],
): Promise<Result<CreatedAgentToken, "invalid_request" | "token_limit" | "idempotency_conflict" | "unauthorized">> => {
  const name = parseLine("name", request.name, maxNameLength);
  if (!name.ok) return name;
  const holder = tokenOwnerFromSession(session);
  const { realm, principalId, businessId } = holder;
  const shard = shardOfId(principalId);
  const now = services.clock();
  const id = generateId(
    "tok_",
    shard,
    request.formId === undefined ? services.random : await deriveRandomBytes(services, principalId, request.formId),
  );
  const secret = generateSecret("pat_", shard, services.random);
  const token = { id, realm, principalId, name: name.value, createdAt: now, expiresAt: now + tokenLifetimeMs };
  const db = services.shards.forId(session.userId);
  const statements = await insertAgentToken(db, services.vault, {
    ...token,
    businessId,
    language: request.language,
    tokenHash: sha256Hex(secret),
  });
  const domainEvent = createTokenEvent(holder, { type: "agent_token.minted", id, at: now, expiresAt: token.expiresAt });
  const created: CreatedAgentToken = { ...token, secret, lastUsedDay: null, client: null };
  const savedResponse = await saveIdempotentResponse(created, hasAgentToken(id));
  return commit(db, services, [...statements, ...savedResponse], [domainEvent], hasAgentToken(id)).then(
    async ([inserted]) => {
      if (inserted.meta.changes > 0) return ok(created);
      const tokens = (await listAgentTokens(services, session)).filter((live) => live.principalId === principalId);
      return refuse(tokens.length >= maxActiveTokens ? "token_limit" : "unauthorized");
    },
    refuseWhen(isDuplicateToken, "idempotency_conflict"),
  );
};
