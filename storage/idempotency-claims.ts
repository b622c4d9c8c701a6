// Work under an idempotency key that does not end in one batch of this database: claimed before it begins, its answer kept
// when it is done. One request holds a claim; when it has died, the next equal one takes over and finds its draft.
import { minuteMs, type Instant } from "../core/time.ts";
import { keptMs, responsePlace } from "./idempotency.ts";
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
export const claimWork = async (db: D1Database, vault: Vault, claim: Claim, now: Instant): Promise<Claimed> => {
  const { keyHash, bodyHash, holder } = claim;
  const [, , answers, claims] = await db.batch<{ body_hash: string; status: number; response_sealed: string }>([
    db.prepare("DELETE FROM idempotency WHERE key_hash = ? AND expires_at <= ?").bind(keyHash, now),
    db.prepare("DELETE FROM idempotency_claims WHERE key_hash = ? AND expires_at <= ?").bind(keyHash, now),
    db.prepare("SELECT body_hash, status, response_sealed FROM idempotency WHERE key_hash = ?").bind(keyHash),
    db
      .prepare(
        `INSERT INTO idempotency_claims (key_hash, body_hash, holder, leased_until, expires_at)
         SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS (SELECT 1 FROM idempotency WHERE key_hash = ?1)
         ON CONFLICT (key_hash) DO UPDATE SET holder = excluded.holder, leased_until = excluded.leased_until
           WHERE leased_until <= ?6 AND body_hash = excluded.body_hash
         RETURNING key_hash`,
      )
      .bind(keyHash, bodyHash, holder, now + leaseMs, now + keptMs, now),
  ]);
  const kept = answers?.results[0];
  if (kept !== undefined)
    return {
      kind: "kept",
      bodyHash: kept.body_hash,
      status: kept.status,
      response: await vault.open(responsePlace(keyHash), kept.response_sealed),
    };
  return { kind: claims?.results.length === 1 ? "mine" : "taken" };
};

/** The work is done: its answer is kept in place of the claim, unless somebody else holds that by now. */
export const keepAnswer = async (
  db: D1Database,
  vault: Vault,
  { keyHash, bodyHash, holder }: Claim,
  answer: { readonly status: number; readonly response: string; readonly now: Instant },
): Promise<void> => {
  const sealed = await vault.seal(responsePlace(keyHash), answer.response);
  await db.batch([
    db
      .prepare(
        `INSERT INTO idempotency (key_hash, body_hash, status, response_sealed, expires_at)
         SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM idempotency_claims WHERE key_hash = ?1 AND holder = ?6)`,
      )
      .bind(keyHash, bodyHash, answer.status, sealed, answer.now + keptMs, holder),
    dropClaim(db, { keyHash, holder }),
  ]);
};

/** Nothing was done: the key is as if it had never been used. */
export const dropClaim = (db: D1Database, { keyHash, holder }: Pick<Claim, "keyHash" | "holder">): D1PreparedStatement =>
  db.prepare("DELETE FROM idempotency_claims WHERE key_hash = ? AND holder = ?").bind(keyHash, holder);

/** Nobody knows how far the work came: the same request may take over at once, and finds the draft. */
export const yieldClaim = (db: D1Database, { keyHash, holder }: Claim): D1PreparedStatement =>
  db.prepare("UPDATE idempotency_claims SET leased_until = 0 WHERE key_hash = ? AND holder = ?").bind(keyHash, holder);

/** The draft of this work, sealed as it is given: the first that was ever kept, else this one. Throws when the claim is lost. */
export const keepDraft = async (db: D1Database, { keyHash, holder }: Claim, sealed: string): Promise<string> => {
  const row = await db
    .prepare(
      "UPDATE idempotency_claims SET draft_sealed = COALESCE(draft_sealed, ?) WHERE key_hash = ? AND holder = ? RETURNING draft_sealed",
    )
    .bind(sealed, keyHash, holder)
    .first<{ draft_sealed: string }>();
  if (row === null) throw new Error("idempotency: another request has taken this work over");
  return row.draft_sealed;
};

/** At most 1,000 a call, so that the sweep stays short however many there are. */
export const deleteExpiredClaims = (db: D1Database, now: Instant): D1PreparedStatement =>
  db
    .prepare("DELETE FROM idempotency_claims WHERE key_hash IN (SELECT key_hash FROM idempotency_claims WHERE expires_at <= ? LIMIT 1000)")
    .bind(now);
