// Answers kept for 24 hours under the caller's key, so that a request sent twice is done once. Written in the batch of
// the change itself: a second writer of the same key breaks the unique key and takes the whole batch with it.
import { sha256Hex } from "../core/hash.ts";
import { dayMs, type Instant } from "../core/time.ts";
import type { SealedPlace, Vault } from "./vault.ts";

const keptMs = dayMs;

/** The key belongs to a principal and a route; only its hash is stored. */
export const idempotencyKeyHash = (principal: string, route: string, key: string): string =>
  sha256Hex(["idempotency", principal, route, key].join("\n"));

const responsePlace = (keyHash: string): SealedPlace => ({ table: "idempotency", record: keyHash, field: "response", owner: keyHash });

/** Rows for the batch: an expired answer makes room, a live one makes the insert (and so the batch) fail. */
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
): Promise<D1PreparedStatement[]> => [
  db.prepare("DELETE FROM idempotency WHERE key_hash = ? AND expires_at <= ?").bind(answer.keyHash, answer.now),
  db
    .prepare("INSERT INTO idempotency (key_hash, body_hash, status, response_sealed, expires_at) VALUES (?, ?, ?, ?, ?)")
    .bind(
      answer.keyHash,
      answer.bodyHash,
      answer.status,
      await vault.seal(responsePlace(answer.keyHash), answer.response),
      answer.now + keptMs,
    ),
];

export const openAnswer = (vault: Vault, keyHash: string, responseSealed: string): Promise<string> =>
  vault.open(responsePlace(keyHash), responseSealed);

/** True when the batch failed because another request with the same key was first. */
export const isTakenKey = (error: unknown): boolean =>
  error instanceof Error && error.message.includes("UNIQUE constraint failed: idempotency.key_hash");

/** At most 1,000 a call, so that the sweep stays short however many there are. */
export const deleteExpiredAnswers = (db: D1Database, now: Instant): D1PreparedStatement =>
  db.prepare("DELETE FROM idempotency WHERE key_hash IN (SELECT key_hash FROM idempotency WHERE expires_at <= ? LIMIT 1000)").bind(now);
