// Tokens for assistants, made, listed and ended by the person whose they are; an owner also ends those of the others in the business.
import { tokenFact, tokenHolder, tokenLifeMs, type AgentToken } from "../../../core/agents/token.ts";
import type { Session } from "../../../core/access/session.ts";
import { sha256, sha256Hex } from "../../../core/hash.ts";
import { homeOfId, newId, newSecret, type RandomBytes } from "../../../core/ids.ts";
import { ok, refuse, refusedWhere, type Result } from "../../../core/result.ts";
import { chosenLine } from "../../../core/text.ts";
import {
  insertToken,
  isMinted,
  isMintedAlready,
  liveTokens,
  principalOfToken,
  revokeToken,
  type TokenScope,
} from "../../../storage/agents.ts";
import { changedBefore } from "../../../storage/query.ts";
import { commit } from "../../../storage/commit.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import type { Keeping } from "../access/idempotency.ts";

const maxNameLength = 80;

export interface MintedToken extends AgentToken {
  /** Shown now and never again. */
  readonly secret: string;
}

const scopeOf = (session: Session): TokenScope =>
  session.realm === "consumer" ? { principalId: session.userId } : { businessId: session.business.id };

/** The same bytes for the same word of the same person: an id that can be made once. */
const derivedFrom = async ({ vault }: Stores, principalId: string, once: string): Promise<RandomBytes> => {
  const derived = sha256(await vault.linkToken(`agent token\n${principalId}\n${once}`));
  return (length) => derived.slice(0, length);
};

/**
 * Of any number at once, as many are made as there is room for. `once`: a word of the form that asks; sent again with it, nothing is
 * made, and it is refused as `idempotency_conflict`.
 */
export const mintToken = async (
  services: Runtime & Stores & Schedules,
  session: Session,
  request: { readonly name: string | null; readonly once?: string },
  keep?: Keeping<MintedToken>,
): Promise<Result<MintedToken, "invalid_request" | "token_limit" | "idempotency_conflict">> => {
  const name = chosenLine("name", request.name, maxNameLength);
  if (!name.ok) return name;
  const holder = tokenHolder(session);
  const { realm, principalId, businessId } = holder;
  const home = homeOfId(principalId);
  const now = services.clock();
  const id = newId("tok_", home, request.once === undefined ? services.random : await derivedFrom(services, principalId, request.once));
  const secret = newSecret("pat_", home, services.random);
  const token = { id, realm, principalId, name: name.value, createdAt: now, expiresAt: now + tokenLifeMs };
  const db = services.homes.of(session.userId);
  const rows = await insertToken(db, services.vault, { ...token, businessId, tokenHash: sha256Hex(secret) });
  const fact = tokenFact(holder, { type: "agent_token.minted", id, at: now, expiresAt: token.expiresAt });
  const minted: MintedToken = { ...token, secret, lastUsedDay: null, client: null };
  const kept = (await keep?.(minted, isMinted(id))) ?? [];
  return commit(db, services, [...rows, ...kept], [fact], isMinted(id)).then(
    ([inserted]) => (inserted.meta.changes === 0 ? refuse("token_limit") : ok(minted)),
    refusedWhere(isMintedAlready, "idempotency_conflict"),
  );
};

/** The live ones, newest first: a consumer's own, or all of a business. */
export const listTokens = (services: Runtime & Stores, session: Session): Promise<readonly AgentToken[]> => {
  return liveTokens(services.homes.of(session.userId), services.vault, scopeOf(session), services.clock());
};

/** Ends a token at once. Refuses `not_found` for one that is unknown, ended or somebody else's alike. */
export const endToken = async (
  services: Runtime & Stores & Schedules,
  session: Session,
  id: string,
): Promise<Result<true, "not_found" | "owner_required">> => {
  const db = services.homes.of(session.userId);
  const now = services.clock();
  const principalId = await principalOfToken(db, scopeOf(session), id, now);
  if (principalId === null) return refuse("not_found");
  if (principalId !== session.userId && session.realm === "business" && session.role !== "owner") return refuse("owner_required");
  const fact = tokenFact(tokenHolder(session), { type: "agent_token.revoked", id, at: now });
  await commit(db, services, [revokeToken(db, id, now)], [fact], changedBefore());
  return ok(true);
};
