// Tokens for assistants, made, listed and ended by the person whose they are; an owner also ends those of the others in the business.
import { chosenName, tokenFact, tokenHolder, tokenLifeMs, type AgentToken } from "../../../core/agents/token.ts";
import type { Session } from "../../../core/access/session.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { homeOfId, newId, newSecret } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { insertToken, isMinted, liveTokens, principalOfToken, revokeToken, wasRevoked, type TokenScope } from "../../../storage/agents.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database } from "../../../storage/database.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import type { Keeping } from "../access/idempotency.ts";

export interface MintedToken extends AgentToken {
  /** Shown now and never again. */
  readonly secret: string;
}

const storeOf = (services: Runtime & Stores, session: Session) => ({
  db: services.homes.of(session.userId) as Database,
  vault: services.vault,
  ledgerId: services.config.ledger.id,
});

const scopeOf = (session: Session): TokenScope =>
  session.realm === "consumer" ? { principalId: session.userId } : { businessId: session.business.id };

/** Of any number at once, as many are made as there is room for. */
export const mintToken = async (
  services: Runtime & Stores & Schedules,
  session: Session,
  request: { readonly name: string | null },
  keep: Keeping<MintedToken> | undefined,
): Promise<Result<MintedToken, "invalid_request" | "token_limit">> => {
  const name = chosenName(request.name);
  if (!name.ok) return name;
  const holder = tokenHolder(session);
  const { realm, principalId, businessId } = holder;
  const home = homeOfId(principalId);
  const now = services.clock();
  const id = newId("tok_", home, services.random);
  const secret = newSecret("pat_", home, services.random);
  const token = { id, realm, principalId, name: name.value, createdAt: now, expiresAt: now + tokenLifeMs };
  const store = storeOf(services, session);
  const rows = await insertToken(store.db, store.vault, { ...token, businessId, tokenHash: sha256Hex(secret) });
  const fact = tokenFact(holder, { type: "agent_token.minted", id, at: now, expiresAt: token.expiresAt });
  const minted: MintedToken = { ...token, secret, lastUsedDay: null, client: null };
  const [inserted] = await commit(store, [...rows, ...((await keep?.(minted, isMinted(id))) ?? [])], [fact], isMinted(id));
  if (inserted.meta.changes === 0) return refuse("token_limit");
  services.scheduleFollowUp();
  return ok(minted);
};

/** The live ones, newest first: a consumer's own, or all of a business. */
export const listTokens = (services: Runtime & Stores, session: Session): Promise<readonly AgentToken[]> => {
  const { db, vault } = storeOf(services, session);
  return liveTokens(db, vault, scopeOf(session), services.clock());
};

/** Ends a token at once. Refuses `not_found` for one that is unknown, ended or somebody else's alike. */
export const endToken = async (
  services: Runtime & Stores & Schedules,
  session: Session,
  id: string,
): Promise<Result<true, "not_found" | "owner_required">> => {
  const store = storeOf(services, session);
  const now = services.clock();
  const principalId = await principalOfToken(store.db, scopeOf(session), id, now);
  if (principalId === null) return refuse("not_found");
  if (principalId !== session.userId && session.realm === "business" && session.role !== "owner") return refuse("owner_required");
  const fact = tokenFact(tokenHolder(session), { type: "agent_token.revoked", id, at: now });
  await commit(store, [revokeToken(store.db, id, now)], [fact], wasRevoked);
  services.scheduleFollowUp();
  return ok(true);
};
