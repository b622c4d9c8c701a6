// Work under an idempotency key: claimed before it begins, its answer kept in the batch of the change, or when it is done where the work
// is more than one batch. One request holds a claim; when it has died, the next equal one takes over and finds its draft.
import { eq, lte, sql } from "drizzle-orm";
import { minuteMs, type Instant } from "../core/time.ts";
import { batch, type Database, type Statement } from "./database.ts";
import { dropExpiredAnswer, keptMs, responseContext } from "./idempotency.ts";
import { idempotency, idempotencyClaims as claims } from "./schema.ts";
import { excluded, insertIf } from "./inserts.ts";
import { allOf, existsIn, noneIn, type Condition } from "./query.ts";
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
  const isKept = eq(idempotency.keyHash, keyHash);
  const [, , [kept], claimed] = await batch(db, [
    dropExpiredAnswer(db, keyHash, now),
    db.delete(claims).where(allOf(eq(claims.keyHash, keyHash), lte(claims.expiresAt, now))),
    db.select().from(idempotency).where(isKept),
    insertIf(db, claims, { ...claim, leasedUntil: now + leaseMs, expiresAt: now + keptMs }, noneIn(idempotency, isKept))
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

interface Answer {
  readonly status: number;
  readonly response: string;
  readonly now: Instant;
}

const answerRow = async (vault: Vault, { keyHash, bodyHash }: Claim, { status, response, now }: Answer) => {
  const responseSealed = await vault.seal(responseContext(keyHash), response);
  return { keyHash, bodyHash, status, responseSealed, expiresAt: now + keptMs };
};

const isStillHeld = (claim: Claim) => existsIn(claims, isHeldBy(claim));

/** The work is done: its answer is kept in place of the claim, unless somebody else holds that by now. */
export const keepAnswer = async (db: Database, vault: Vault, claim: Claim, answer: Answer): Promise<void> => {
  await batch(db, [insertIf(db, idempotency, await answerRow(vault, claim, answer), isStillHeld(claim)), dropClaim(db, claim)]);
};

/**
 * The same as the last rows of the batch of the change, which fails, and takes the change with it, where somebody else holds the claim
 * by now. `onlyIf` is what must hold after the rows before for the change to have happened.
 */
export const answerRows = async (
  db: Database,
  vault: Vault,
  claim: Claim,
  answer: Answer,
  onlyIf: Condition = sql`true`,
): Promise<readonly Statement[]> => {
  const row = await answerRow(vault, claim, answer);
  const bodyHash = sql`case when ${isStillHeld(claim)} then ${claim.bodyHash} end`;
  return [insertIf(db, idempotency, { ...row, bodyHash }, onlyIf), dropClaim(db, claim)];
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
