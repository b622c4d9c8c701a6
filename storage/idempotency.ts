// Answers kept for 24 hours under the caller's key, so that a request sent twice is done once. Written in the batch of
// the change itself: a second writer of the same key breaks the unique key and takes the whole batch with it. Work that
// is not one batch claims its key first, before it begins, and its answer is kept when it is done. One request holds a claim; when it has
// died, the next equal one takes over and finds its draft.
import { eq, lte, sql } from "drizzle-orm";
import { sha256Hex } from "../core/hash.ts";
import type { CertId } from "../core/ids.ts";
import { dayMs, minuteMs, type Instant } from "../core/time.ts";
import { batch, type Database, type Statement } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { excluded, insertIf } from "./inserts.ts";
import { prepareOnce } from "./prepared.ts";
import { allOf, existsIn, notExistsIn, type Condition } from "./query.ts";
import { idempotentResponses, idempotencyClaims as claims } from "./schema.ts";
import { selfOwnedContext, type Vault } from "./vault.ts";

const retentionMs = dayMs;

/** The key belongs to a principal and a route; only its hash is stored. */
export const idempotencyKeyHash = (principal: string, route: string, key: string): string =>
  sha256Hex(["idempotency", principal, route, key].join("\n"));

const responseContext = selfOwnedContext("idempotency", "response");

const insertResponseRow = prepareOnce<typeof idempotentResponses.$inferSelect>()((db, row) =>
  db.insert(idempotentResponses).values(row).prepare(),
);

interface IdempotentRequest {
  readonly keyHash: string;
  readonly bodyHash: string;
}

interface IdempotentResponse {
  readonly status: number;
  readonly response: string;
  /** The certificate it is about, with whose person it ends. */
  readonly certId?: CertId;
  readonly now: Instant;
}

const toResponseRow = async (
  vault: Vault,
  { keyHash, bodyHash }: IdempotentRequest,
  { status, response, certId, now }: IdempotentResponse,
) => {
  const responseSealed = await vault.seal(responseContext(keyHash), response);
  return { keyHash, bodyHash, status, responseSealed, expiresAt: now + retentionMs, certId: certId ?? null };
};

/** The row for the batch of the change; it fails, and takes the batch with it, when an answer is kept under the key. */
export const insertIdempotentResponse = async (db: Database, vault: Vault, answer: IdempotentRequest & IdempotentResponse) =>
  [insertResponseRow(db, await toResponseRow(vault, answer, answer))] as const;

const deleteExpiredResponse = (db: Database, keyHash: string, now: Instant) =>
  db.delete(idempotentResponses).where(allOf(eq(idempotentResponses.keyHash, keyHash), lte(idempotentResponses.expiresAt, now)));

/** The kept answer under a key, opened; null when there is none. One that has expired makes room for the next. */
export const findIdempotentResponse = async (
  db: Database,
  vault: Vault,
  keyHash: string,
  now: Instant,
): Promise<{ readonly bodyHash: string; readonly response: string } | null> => {
  const { bodyHash, responseSealed } = idempotentResponses;
  const [, [kept]] = await batch(db, [
    deleteExpiredResponse(db, keyHash, now),
    db.select({ bodyHash, responseSealed }).from(idempotentResponses).where(eq(idempotentResponses.keyHash, keyHash)),
  ]);
  if (kept === undefined) return null;
  return { bodyHash: kept.bodyHash, response: await vault.open(responseContext(keyHash), kept.responseSealed) };
};

/** True when the batch failed because another request with the same key was first. */
export const isIdempotencyKeyTaken = (error: unknown): boolean => isConstraintViolation(error, "UNIQUE", idempotentResponses.keyHash);

// The longest work is a delivery that a person waits for: 5 s to judge its host, 10 s for the receiver. Four times that.
const leaseMs = minuteMs;

export interface IdempotencyClaim extends IdempotentRequest {
  /** Who does the work: a request's id. */
  readonly holder: string;
}

type ClaimResult =
  | { readonly kind: "mine" }
  /** Another request holds it, or began it with another body. */
  | { readonly kind: "taken" }
  | { readonly kind: "kept"; readonly bodyHash: string; readonly status: number; readonly response: string };

/** Takes the claim, unless there is an answer or a living holder; all of it one batch, so that of many at once one takes it. */
export const claimIdempotencyKey = async (db: Database, vault: Vault, claim: IdempotencyClaim, now: Instant): Promise<ClaimResult> => {
  const { keyHash } = claim;
  const isKept = eq(idempotentResponses.keyHash, keyHash);
  const [, , [kept], claimed] = await batch(db, [
    deleteExpiredResponse(db, keyHash, now),
    db.delete(claims).where(allOf(eq(claims.keyHash, keyHash), lte(claims.expiresAt, now))),
    db.select().from(idempotentResponses).where(isKept),
    insertIf(db, claims, { ...claim, leasedUntil: now + leaseMs, expiresAt: now + retentionMs }, notExistsIn(idempotentResponses, isKept))
      .onConflictDoUpdate({
        target: claims.keyHash,
        set: { holder: excluded(claims.holder), leasedUntil: excluded(claims.leasedUntil) },
        setWhere: allOf(lte(claims.leasedUntil, now), eq(claims.bodyHash, excluded(claims.bodyHash))),
      })
      .returning({ keyHash: claims.keyHash }),
  ]);
  if (kept === undefined) return { kind: claimed.length === 1 ? "mine" : "taken" };
  const { bodyHash, status, responseSealed } = kept;
  return { kind: "kept", bodyHash, status, response: await vault.open(responseContext(keyHash), responseSealed) };
};

const isClaimOfHolder = ({ keyHash, holder }: Pick<IdempotencyClaim, "keyHash" | "holder">) =>
  allOf(eq(claims.keyHash, keyHash), eq(claims.holder, holder));

const hasClaim = (claim: IdempotencyClaim) => existsIn(claims, isClaimOfHolder(claim));

/** The work is done: its answer is kept in place of the claim, unless somebody else holds that by now. */
export const completeIdempotencyClaim = async (
  db: Database,
  vault: Vault,
  claim: IdempotencyClaim,
  answer: IdempotentResponse,
): Promise<void> => {
  await batch(db, [
    insertIf(db, idempotentResponses, await toResponseRow(vault, claim, answer), hasClaim(claim)),
    deleteIdempotencyClaim(db, claim),
  ]);
};

/**
 * The same as the last rows of the batch of the change, which fails, and takes the change with it, where somebody else holds the claim
 * by now. `onlyIf` is what must hold after the rows before for the change to have happened.
 */
export const insertClaimedResponse = async (
  db: Database,
  vault: Vault,
  claim: IdempotencyClaim,
  answer: IdempotentResponse,
  onlyIf: Condition = sql`true`,
): Promise<readonly Statement[]> => {
  const row = await toResponseRow(vault, claim, answer);
  const bodyHash = sql`case when ${hasClaim(claim)} then ${claim.bodyHash} end`;
  return [insertIf(db, idempotentResponses, { ...row, bodyHash }, onlyIf), deleteIdempotencyClaim(db, claim)];
};

/** Nothing was done: the key is as if it had never been used. */
export const deleteIdempotencyClaim = (db: Database, claim: Pick<IdempotencyClaim, "keyHash" | "holder">) =>
  db.delete(claims).where(isClaimOfHolder(claim));

/** Nobody knows how far the work came: the same request may take over at once, and finds the draft. */
export const releaseIdempotencyClaim = (db: Database, claim: IdempotencyClaim) =>
  db.update(claims).set({ leasedUntil: 0 }).where(isClaimOfHolder(claim));

/** The draft of this work, sealed as it is given: the first that was ever kept, else this one. Throws when the claim is lost. */
export const saveClaimDraft = async (db: Database, claim: IdempotencyClaim, sealed: string): Promise<string> => {
  const row = await db
    .update(claims)
    .set({ draftSealed: sql`coalesce(${claims.draftSealed}, ${sealed})` })
    .where(isClaimOfHolder(claim))
    .returning({ draft: claims.draftSealed })
    .get();
  if (row?.draft == null) throw new Error("idempotency: another request has taken this work over");
  return row.draft;
};
