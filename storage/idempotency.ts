// Answers kept for 24 hours under the caller's key, so that a request sent twice is done once. Written in the batch of
// the change itself: a second writer of the same key breaks the unique key and takes the whole batch with it. Work that
// is not one batch claims its key first: idempotency-claims.ts.
import { eq, lte } from "drizzle-orm";
import { sha256Hex } from "../core/hash.ts";
import type { CertId } from "../core/ids.ts";
import { dayMs, type Instant } from "../core/time.ts";
import { batch, type Database } from "./database.ts";
import { violates } from "./faults.ts";
import { prepared } from "./prepared.ts";
import { idempotency } from "./schema.ts";
import { allOf } from "./query.ts";
import { ownContextIn, type Vault } from "./vault.ts";

export const keptMs = dayMs;

/** The key belongs to a principal and a route; only its hash is stored. */
export const idempotencyKeyHash = (principal: string, route: string, key: string): string =>
  sha256Hex(["idempotency", principal, route, key].join("\n"));

export const responseContext = ownContextIn("idempotency", "response");

const insertRow = prepared<typeof idempotency.$inferSelect>()((db, row) => db.insert(idempotency).values(row).prepare());

/** The row for the batch of the change; it fails, and takes the batch with it, when an answer is kept under the key. */
export const insertAnswer = async (
  db: Database,
  vault: Vault,
  answer: {
    readonly keyHash: string;
    readonly bodyHash: string;
    readonly status: number;
    readonly response: string;
    /** The certificate it is about, with whose person it ends. */
    readonly certId?: CertId;
    readonly now: Instant;
  },
) => {
  const { keyHash, bodyHash, status, response, certId = null, now } = answer;
  const responseSealed = await vault.seal(responseContext(keyHash), response);
  return [insertRow(db, { keyHash, bodyHash, status, responseSealed, expiresAt: now + keptMs, certId })] as const;
};

export const dropExpiredAnswer = (db: Database, keyHash: string, now: Instant) =>
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
