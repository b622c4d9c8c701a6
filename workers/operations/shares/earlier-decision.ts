// Finds an earlier decision on the same share request, with its code.
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

/** The result of granting a share, either now or by an earlier decision on the same request. */
export interface GrantResult {
  readonly code: string;
  readonly codeExpiresAt: Instant;
  readonly share: Share;
  /** True if this is the result of an earlier decision on the same request. */
  readonly isRepeated: boolean;
}

const toCodePurpose = (requestHash: string, generation: number): string => `code\n${requestHash}\n${generation}`;

/** Derives a code from a secret key. Only the code's hash is stored, but a repeated request can still get the same code. */
export const deriveShareCode = async ({ vault }: Stores, shard: ShardId, requestHash: string, generation: number): Promise<string> =>
  `ac_${shard}${await vault.linkToken(toCodePurpose(requestHash, generation))}`;

/**
 * Derives a decision's code with every link key, and returns the code whose hash is stored. Throws if none matches. This cannot happen
 * while a code is valid: after a key rotation, the earlier key is kept for much longer than a code's lifetime.
 */
const rederiveShareCode = async (
  { vault }: Stores,
  shard: ShardId,
  { requestHash, generation, codeHash }: { readonly requestHash: string; readonly generation: number; readonly codeHash: string },
): Promise<string> => {
  const tokens = await vault.listLinkTokens(toCodePurpose(requestHash, generation));
  const codes = tokens.map((token) => `ac_${shard}${token}`);
  const code = codes.find((each) => sha256Hex(each) === codeHash);
  if (code === undefined) throw new Error("shares: no link key derives the code of the decision");
  return code;
};

/** Returns the hash that identifies a request by person and decision key. All test people count as the same person (null). */
export const hashDecisionRequest = (person: Pick<Person, "id"> | null, decisionKey: string): string =>
  sha256Hex(toCanonicalJson([person?.id ?? null, decisionKey]));

/**
 * The state of an earlier decision:
 * - `open`: its code can be redeemed.
 * - `late`: its code expired unused, and another code can be issued.
 * - `over`: no code can be redeemed or issued, because the code was used, the decision is too old or the share has ended.
 */
export type EarlierDecision =
  | { readonly kind: "open"; readonly code: string; readonly share: Share }
  | { readonly kind: "late" | "over"; readonly share: Share };

/** Returns the state of an earlier decision, or null if there is none. Used when a page is reloaded, so it writes nothing. */
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
  if (decided.expiresAt > now) return { kind: "open", code: await rederiveShareCode(services, shardOfId(clientId), decided), share };
  return { kind: canReissueCode(decided, now) ? "late" : "over", share };
};

/**
 * Returns the earlier decision with its code. If the code expired unused and the decision is less than ten minutes old, issues a new code.
 * Returns null if there is no decision. Returns the first of these errors that applies: `code_used`, `share_inactive`, `code_expired`.
 */
export const resolveEarlierDecision = async (
  services: ReadDependencies,
  db: Database,
  shard: ShardId,
  requestHash: string,
): Promise<Result<GrantResult> | null> => {
  const decided = await findDecidedRequest(db, requestHash);
  if (decided === null) return null;
  const now = services.clock();
  const found = await findChangeableShare(db, decided.shareId, "link", now);
  if (found === null) throw new Error("shares: the share of a code is missing");
  const { share } = found;
  if (decided.usedAt !== null) return refuse("code_used");
  if (share.status !== "active") return refuse("share_inactive");
  const toResult = (code: string, codeExpiresAt: Instant): Result<GrantResult> => ok({ code, codeExpiresAt, share, isRepeated: true });
  if (decided.expiresAt > now) return toResult(await rederiveShareCode(services, shard, decided), decided.expiresAt);
  if (!canReissueCode(decided, now)) return refuse("code_expired");
  const nextCode = await deriveShareCode(services, shard, requestHash, decided.generation + 1);
  return (await reissueCode(db, decided, sha256Hex(nextCode), now))
    ? toResult(nextCode, now + codeLifetimeMs)
    : resolveEarlierDecision(services, db, shard, requestHash);
};
