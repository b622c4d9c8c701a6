import type { Person } from "../../../core/access/principal.ts";
import { toCanonicalJson } from "../../../core/canonical-json.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { shardOfId, type ShardId, type ClientId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { codeLifetimeMs } from "../../../core/shares/request.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import type { Database } from "../../../storage/database.ts";
import { findDecidedRequest, canReissueCode, reissueCode } from "../../../storage/share-codes.ts";
import { findChangeableShare } from "../../../storage/shares.ts";
import type { ReadDependencies, Stores } from "../dependencies.ts";
import type { GrantResult } from "./grant-share.ts";

/** Made again from the key whenever the same request asks, so that it is stored nowhere. */
export const deriveShareCode = async ({ vault }: Stores, home: ShardId, requestHash: string, generation: number): Promise<string> =>
  `ac_${home}${await vault.linkToken(`code\n${requestHash}\n${generation}`)}`;

export const hashDecisionRequest = (person: Pick<Person, "id"> | null, decisionKey: string): string =>
  sha256Hex(toCanonicalJson([person?.id ?? null, decisionKey]));

/** How a request stands that was decided before. `late`: its code was never redeemed, and can be given anew. */
export type EarlierDecision =
  | { readonly kind: "open"; readonly code: string; readonly share: Share }
  | { readonly kind: "late" | "over"; readonly share: Share };

/** For a page that is loaded again. Changes nothing; null for a request that nobody has decided on. */
export const findEarlierDecision = async (
  services: ReadDependencies,
  person: Pick<Person, "id"> | null,
  clientId: ClientId,
  decisionKey: string,
): Promise<EarlierDecision | null> => {
  const db = services.shards.forId(clientId);
  const requestHash = hashDecisionRequest(person, decisionKey);
  const decided = await findDecidedRequest(db, requestHash);
  const now = services.clock();
  const found = decided === null ? null : await findChangeableShare(db, decided.shareId, "link", now);
  if (decided === null || found === null) return null;
  const { share } = found;
  if (decided.usedAt !== null || share.status !== "active") return { kind: "over", share };
  if (decided.expiresAt > now)
    return { kind: "open", code: await deriveShareCode(services, shardOfId(clientId), requestHash, decided.generation), share };
  return { kind: canReissueCode(decided, now) ? "late" : "over", share };
};

/** What was decided on this request before. */
export const resolveEarlierDecision = async (
  services: ReadDependencies,
  db: Database,
  home: ShardId,
  requestHash: string,
): Promise<Result<GrantResult> | null> => {
  const decided = await findDecidedRequest(db, requestHash);
  if (decided === null) return null;
  const now = services.clock();
  const found = await findChangeableShare(db, decided.shareId, "link", now);
  if (found === null) throw new Error("shares: a code belongs to no share");
  const { share } = found;
  if (decided.usedAt !== null) return refuse("code_used");
  if (share.status !== "active") return refuse("share_inactive");
  const given = async (generation: number, codeExpiresAt: Instant): Promise<Result<GrantResult>> =>
    ok({ code: await deriveShareCode(services, home, requestHash, generation), codeExpiresAt, share, isRepeated: true });
  if (decided.expiresAt > now) return given(decided.generation, decided.expiresAt);
  if (!canReissueCode(decided, now)) return refuse("code_expired");
  const next = decided.generation + 1;
  const nextHash = sha256Hex(await deriveShareCode(services, home, requestHash, next));
  return (await reissueCode(db, decided, nextHash, now))
    ? given(next, now + codeLifetimeMs)
    : resolveEarlierDecision(services, db, home, requestHash);
};
