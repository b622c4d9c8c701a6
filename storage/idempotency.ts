// Answers kept for 24 hours under the caller's key, so that a request sent twice is done once. Written in the batch of
// the change itself: a second writer of the same key breaks the unique key and takes the whole batch with it. Work that
// is not one batch claims its key first, before it begins, and its answer is kept when it is done. One request holds a claim; when it has
// died, the next equal one takes over and finds its draft.
import { eq, lte, sql } from "drizzle-orm";
import { sha256Hex } from "../core/hash.ts";
import type { CertId } from "../core/ids.ts";
import { dayMs, minuteMs, type Instant } from "../core/time.ts";
import { batch, type Database, type Statement } from "./database.ts";
import { violates } from "./faults.ts";
import { excluded, insertIf } from "./inserts.ts";
import { prepared } from "./prepared.ts";
import { allOf, existsIn, noneIn, type Condition } from "./query.ts";
import { idempotency, idempotencyClaims as claims } from "./schema.ts";
import { ownContextIn, type Vault } from "./vault.ts";

const keptMs = dayMs;

/** The key belongs to a principal and a route; only its hash is stored. */
export const idempotencyKeyHash = (principal: string, route: string, key: string): string =>
  sha256Hex(["idempotency", principal, route, key].join("\n"));

const responseContext = ownContextIn("idempotency", "response");

const insertRow = prepared<typeof idempotency.$inferSelect>()((db, row) => db.insert(idempotency).values(row).prepare());

interface Keyed {
  readonly keyHash: string;
  readonly bodyHash: string;
}

interface Answer {
  readonly status: number;
  readonly response: string;
  /** The certificate it is about, with whose person it ends. */
  readonly certId?: CertId;
  readonly now: Instant;
}

const answerRow = async (vault: Vault, { keyHash, bodyHash }: Keyed, { status, response, certId, now }: Answer) => {
  const responseSealed = await vault.seal(responseContext(keyHash), response);
  return { keyHash, bodyHash, status, responseSealed, expiresAt: now + keptMs, certId: certId ?? null };
};

/** The row for the batch of the change; it fails, and takes the batch with it, when an answer is kept under the key. */
export const insertAnswer = async (db: Database, vault: Vault, answer: Keyed & Answer) =>
  [insertRow(db, await answerRow(vault, answer, answer))] as const;

const dropExpiredAnswer = (db: Database, keyHash: string, now: Instant) =>
  db.delete(idempotency).where(allOf(eq(idempotency.keyHash, keyHash), lte(idempotency.expiresAt, now)));

/** The kept answer under a key, opened; null when there is none. One that has expired makes room for the next. */
export const keptAnswer = async (
  db: Database,
  vault: Vault,
  keyHash: string,
  now: Instant,
): Promise<{ readonly bodyHash: string; readonly response: string } | null> => {
  const { bodyHash, responseSealed } = idempotency;
  const [, [kept]] = await batch(db, [
    dropExpiredAnswer(db, keyHash, now),
    db.select({ bodyHash, responseSealed }).from(idempotency).where(eq(idempotency.keyHash, keyHash)),
  ]);
  if (kept === undefined) return null;
  return { bodyHash: kept.bodyHash, response: await vault.open(responseContext(keyHash), kept.responseSealed) };
};

/** True when the batch failed because another request with the same key was first. */
export const isTakenKey = (error: unknown): boolean => violates(error, "UNIQUE", idempotency.keyHash);

// The longest work is a delivery that a person waits for: 5 s to judge its host, 10 s for the receiver. Four times that.
const leaseMs = minuteMs;

export interface Claim extends Keyed {
  /** Who does the work: a request's id. */
  readonly holder: string;
}

type Claimed =
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
