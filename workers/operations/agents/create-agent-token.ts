import type { Session } from "../../../core/access/session.ts";
import { tokenOwnerFromSession, tokenLifetimeMs, createTokenEvent, type AgentToken } from "../../../core/agents/agent-token.ts";
import { sha256, sha256Hex } from "../../../core/hash.ts";
import { shardOfId, generateId, generateSecret, type RandomBytes } from "../../../core/ids.ts";
import { refuse, ok, refuseWhen, type Result } from "../../../core/result.ts";
import { parseLine } from "../../../core/text.ts";
import { insertAgentToken, hasAgentToken, isDuplicateToken } from "../../../storage/agent-tokens.ts";
import { commit } from "../../../storage/commit.ts";
import type { Stores, WriteDependencies } from "../dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";

const maxNameLength = 80;

export interface CreatedAgentToken extends AgentToken {
  /** Shown now and never again. */
  readonly secret: string;
}

/** The same bytes for the same word of the same person: an id that can be made once. */
const deriveRandomBytes = async ({ vault }: Stores, principalId: string, once: string): Promise<RandomBytes> => {
  const derived = sha256(await vault.linkToken(`agent token\n${principalId}\n${once}`));
  return (length) => derived.slice(0, length);
};

/**
 * Of any number at once, as many are made as there is room for. `once`: a word of the form that asks; sent again with it, nothing is
 * made, and it is refused as `idempotency_conflict`.
 */
export const createAgentToken = async (
  services: WriteDependencies,
  session: Session,
  request: { readonly name: string | null; readonly once?: string },
  keep?: SaveIdempotentResponse<CreatedAgentToken>,
): Promise<Result<CreatedAgentToken, "invalid_request" | "token_limit" | "idempotency_conflict">> => {
  const name = parseLine("name", request.name, maxNameLength);
  if (!name.ok) return name;
  const holder = tokenOwnerFromSession(session);
  const { realm, principalId, businessId } = holder;
  const home = shardOfId(principalId);
  const now = services.clock();
  const id = generateId(
    "tok_",
    home,
    request.once === undefined ? services.random : await deriveRandomBytes(services, principalId, request.once),
  );
  const secret = generateSecret("pat_", home, services.random);
  const token = { id, realm, principalId, name: name.value, createdAt: now, expiresAt: now + tokenLifetimeMs };
  const db = services.shards.forId(session.userId);
  const rows = await insertAgentToken(db, services.vault, { ...token, businessId, tokenHash: sha256Hex(secret) });
  const fact = createTokenEvent(holder, { type: "agent_token.minted", id, at: now, expiresAt: token.expiresAt });
  const minted: CreatedAgentToken = { ...token, secret, lastUsedDay: null, client: null };
  const kept = (await keep?.(minted, hasAgentToken(id))) ?? [];
  return commit(db, services, [...rows, ...kept], [fact], hasAgentToken(id)).then(
    ([inserted]) => (inserted.meta.changes === 0 ? refuse("token_limit") : ok(minted)),
    refuseWhen(isDuplicateToken, "idempotency_conflict"),
  );
};
