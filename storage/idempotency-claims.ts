// Work under an idempotency key that does not end in one batch of this database: claimed before it begins, its answer kept
// when it is done. One request holds a claim; when it has died, the next equal one takes over and finds its draft.
import { eq, exists, inArray, lte, notExists, sql } from "drizzle-orm";
import { minuteMs, type Instant } from "../core/time.ts";
import { batch, type Database } from "./database.ts";
import { dropExpiredAnswer, keptMs, responseContext } from "./idempotency.ts";
import { idempotency, idempotencyClaims as claims } from "./schema.ts";
import { excluded, insertIf } from "./inserts.ts";
import { allOf, query } from "./query.ts";
import type { Vault } from "./vault.ts";

// The longest work is a delivery that a person waits for: 5 s to judge its host, 10 s for the receiver. Four times that.
const leaseMs = minuteMs;

export interface Claim {
  readonly keyHash: string;
  readonly bodyHash: string;
  /** Who does the work: a request's id. */
  readonly holder: string;
}

export type Claimed =
  | { readonly kind: "mine" }
  /** Another request holds it, or began it with another body. */
  | { readonly kind: "taken" }
  | { readonly kind: "kept"; readonly bodyHash: string; readonly status: number; readonly response: string };

/** Takes the claim, unless there is an answer or a living holder; all of it one batch, so that of many at once one takes it. */
export const claimWork = async (db: Database, vault: Vault, claim: Claim, now: Instant): Promise<Claimed> => {
  const { keyHash } = claim;
  const answer = db.select().from(idempotency).where(eq(idempotency.keyHash, keyHash));
  const [, , [kept], claimed] = await batch(db, [
    dropExpiredAnswer(db, keyHash, now),
    db.delete(claims).where(allOf(eq(claims.keyHash, keyHash), lte(claims.expiresAt, now))),
    answer,
    insertIf(db, claims, { ...claim, leasedUntil: now + leaseMs, expiresAt: now + keptMs }, notExists(answer))
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

const isHeldBy = ({ keyHash, holder }: Pick<Claim, "keyHash" | "holder">) => allOf(eq(claims.keyHash, keyHash), eq(claims.holder, holder));

/** The work is done: its answer is kept in place of the claim, unless somebody else holds that by now. */
export const keepAnswer = async (
  db: Database,
  vault: Vault,
  claim: Claim,
  answer: { readonly status: number; readonly response: string; readonly now: Instant },
): Promise<void> => {
  const { keyHash, bodyHash } = claim;
  const responseSealed = await vault.seal(responseContext(keyHash), answer.response);
  await batch(db, [
    insertIf(
      db,
      idempotency,
      { keyHash, bodyHash, status: answer.status, responseSealed, expiresAt: answer.now + keptMs },
      exists(query.select().from(claims).where(isHeldBy(claim))),
    ),
    dropClaim(db, claim),
  ]);
};

/** Nothing was done: the key is as if it had never been used. */
export const dropClaim = (db: Database, claim: Pick<Claim, "keyHash" | "holder">) => db.delete(claims).where(isHeldBy(claim));

/** Nobody knows how far the work came: the same request may take over at once, and finds the draft. */
export const yieldClaim = (db: Database, claim: Claim) => db.update(claims).set({ leasedUntil: 0 }).where(isHeldBy(claim));

/** The draft of this work, sealed as it is given: the first that was ever kept, else this one. Throws when the claim is lost. */
export const keepDraft = async (db: Database, claim: Claim, sealed: string): Promise<string> => {
  const row = await db
    .update(claims)
    .set({ draftSealed: sql`coalesce(${claims.draftSealed}, ${sealed})` })
    .where(isHeldBy(claim))
    .returning({ draft: claims.draftSealed })
    .get();
  if (row?.draft == null) throw new Error("idempotency: another request has taken this work over");
  return row.draft;
};

/** At most 1,000 a call, so that the sweep stays short however many there are. */
export const deleteExpiredClaims = (db: Database, now: Instant) => {
  const expired = query.select({ keyHash: claims.keyHash }).from(claims).where(lte(claims.expiresAt, now)).limit(1_000);
  return db.delete(claims).where(inArray(claims.keyHash, expired));
};
