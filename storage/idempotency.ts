// Answers kept for 24 hours under the caller's key, so that a request sent twice is done once. Written in the batch of
// the change itself: a second writer of the same key breaks the unique key and takes the whole batch with it. Work that
// is not one batch claims its key first: idempotency-claims.ts.
import { sha256Hex } from "../core/hash.ts";
import { dayMs, type Instant } from "../core/time.ts";
import type { SealedPlace, Vault } from "./vault.ts";

export const keptMs = dayMs;

/** The key belongs to a principal and a route; only its hash is stored. */
export const idempotencyKeyHash = (principal: string, route: string, key: string): string =>
  sha256Hex(["idempotency", principal, route, key].join("\n"));

export const responsePlace = (keyHash: string): SealedPlace => ({
  table: "idempotency",
  record: keyHash,
  field: "response",
  owner: keyHash,
});

/** The row for the batch of the change; it fails, and takes the batch with it, when an answer is kept under the key. */
export const insertAnswer = async (
  db: D1Database,
  vault: Vault,
  answer: {
    readonly keyHash: string;
    readonly bodyHash: string;
    readonly status: number;
    readonly response: string;
    readonly now: Instant;
  },
): Promise<D1PreparedStatement> =>
  db
    .prepare("INSERT INTO idempotency (key_hash, body_hash, status, response_sealed, expires_at) VALUES (?, ?, ?, ?, ?)")
    .bind(
      answer.keyHash,
      answer.bodyHash,
      answer.status,
      await vault.seal(responsePlace(answer.keyHash), answer.response),
      answer.now + keptMs,
    );

/** The kept answer under a key, opened; null when there is none. One that has expired makes room for the next. */
export const keptAnswer = async (
  db: D1Database,
  vault: Vault,
  keyHash: string,
  now: Instant,
): Promise<{ readonly bodyHash: string; readonly response: string } | null> => {
  const [, kept] = await db.batch<{ body_hash: string; response_sealed: string }>([
    db.prepare("DELETE FROM idempotency WHERE key_hash = ? AND expires_at <= ?").bind(keyHash, now),
    db.prepare("SELECT body_hash, response_sealed FROM idempotency WHERE key_hash = ?").bind(keyHash),
  ]);
  const row = kept?.results[0];
  if (row === undefined) return null;
  return { bodyHash: row.body_hash, response: await vault.open(responsePlace(keyHash), row.response_sealed) };
};

/** True when the batch failed because another request with the same key was first. */
export const isTakenKey = (error: unknown): boolean =>
  error instanceof Error && error.message.includes("UNIQUE constraint failed: idempotency.key_hash");

/** At most 1,000 a call, so that the sweep stays short however many there are. */
export const deleteExpiredAnswers = (db: D1Database, now: Instant): D1PreparedStatement =>
  db.prepare("DELETE FROM idempotency WHERE key_hash IN (SELECT key_hash FROM idempotency WHERE expires_at <= ? LIMIT 1000)").bind(now);
