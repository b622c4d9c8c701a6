// Idempotent responses: the response to a request is saved for 24 hours under the caller's idempotency key, so that a repeated request gets
// the same response and changes nothing. SPEC Limits. An issuance saves no response, because the response can be rebuilt from the
// certificate, whose ID is derived from the key.
//
// There are two ways to save a response:
// - A change that is a single batch inserts the response in that batch (`insertIdempotentResponse`). If two requests use the same key, the
//   second violates the unique key, and its whole batch is rolled back.
// - Work that takes more than one batch first claims the key (`claimIdempotencyKey`) and saves the response when it is done. Only one
//   request holds a claim at a time. If that request dies, the next identical request takes over after the lease expires and finds the
//   draft.
import { eq, lte, sql } from "drizzle-orm";
import { sha256Hex } from "../core/hash.ts";
import type { CertId } from "../core/ids.ts";
import { dayMs, minuteMs, type Instant } from "../core/time.ts";
import { batch, type Database, type Statement } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { excluded, insertIf } from "./inserts.ts";
import { allOf, existsIn, notExistsIn, type Condition } from "./query.ts";
import { idempotentResponses, idempotencyClaims as claims } from "./schema.ts";
import { selfOwnedContext, type Vault } from "./vault.ts";

const retentionMs = dayMs;

/**
 * Returns the hash that identifies an idempotency key. Keys for different principals or routes never collide. The key itself is not stored.
 */
export const idempotencyKeyHash = (principal: string, route: string, key: string): string =>
  sha256Hex(["idempotency", principal, route, key].join("\n"));

const responseContext = selfOwnedContext("idempotency", "response");

interface IdempotentRequest {
  readonly keyHash: string;
  readonly bodyHash: string;
}

interface IdempotentResponse {
  readonly status: number;
  readonly response: string;
  /** The certificate that the response contains. When that certificate's personal data is erased, the response is deleted. */
  readonly certId?: CertId;
  readonly now: Instant;
}

/** Seals a response for the request with this key. `openIdempotentResponse` opens it. */
export const sealResponse = (vault: Vault, keyHash: string, response: string): Promise<string> =>
  vault.seal(responseContext(keyHash), response);

export const openIdempotentResponse = (vault: Vault, keyHash: string, responseSealed: string): Promise<string> =>
  vault.open(responseContext(keyHash), responseSealed);

const sealIdempotentResponse = async (
  vault: Vault,
  { keyHash, bodyHash }: IdempotentRequest,
  { status, response, certId, now }: IdempotentResponse,
) => {
  const responseSealed = await sealResponse(vault, keyHash, response);
  return { keyHash, bodyHash, status, responseSealed, expiresAt: now + retentionMs, certId: certId ?? null };
};

/**
 * Seals the response and returns the insert to add to the change's batch. The batch fails if the key already has a response.
 * `isIdempotencyKeyTaken` recognizes the error.
 */
export const insertIdempotentResponse = async (db: Database, vault: Vault, given: IdempotentRequest & IdempotentResponse) =>
  [db.insert(idempotentResponses).values(await sealIdempotentResponse(vault, given, given))] as const;

/** Returns true if the batch failed because another request with the same key committed first. */
export const isIdempotencyKeyTaken = (error: unknown): boolean => isConstraintViolation(error, "UNIQUE", idempotentResponses.keyHash);

const deleteExpiredResponse = (db: Database, keyHash: string, now: Instant) =>
  db.delete(idempotentResponses).where(allOf(eq(idempotentResponses.keyHash, keyHash), lte(idempotentResponses.expiresAt, now)));

/**
 * Returns the decrypted response saved under a key, or null if there is none. Deletes an expired response, so that the key can be used
 * again.
 */
export const findIdempotentResponse = async (
  db: Database,
  vault: Vault,
  keyHash: string,
  now: Instant,
): Promise<{ readonly bodyHash: string; readonly response: string } | null> => {
  const { bodyHash, responseSealed } = idempotentResponses;
  const { saved } = await batch(db, {
    expired: deleteExpiredResponse(db, keyHash, now),
    saved: db.select({ bodyHash, responseSealed }).from(idempotentResponses).where(eq(idempotentResponses.keyHash, keyHash)),
  });
  const [row] = saved;
  if (row === undefined) return null;
  return { bodyHash: row.bodyHash, response: await openIdempotentResponse(vault, keyHash, row.responseSealed) };
};

// The longest operation is a webhook test that a person waits for: 5 s to check the host and 10 s for the receiver. The lease is four times
// that.
const leaseMs = minuteMs;

export interface IdempotencyClaim extends IdempotentRequest {
  /** The ID of the request that is doing the work. */
  readonly holder: string;
}

type ClaimResult =
  | { readonly kind: "mine" }
  /** Another request holds the claim or has claimed the key with a different body. */
  | { readonly kind: "taken" }
  | { readonly kind: "kept"; readonly bodyHash: string; readonly status: number; readonly response: string };

/**
 * Claims a key for a request, unless the key has a response or another live holder. This is a single batch, so exactly one of several
 * concurrent requests gets the claim. After the lease expires, the next request with the same body gets it.
 */
export const claimIdempotencyKey = async (db: Database, vault: Vault, claim: IdempotencyClaim, now: Instant): Promise<ClaimResult> => {
  const { keyHash } = claim;
  const isSaved = eq(idempotentResponses.keyHash, keyHash);
  const { saved, claimed } = await batch(db, {
    expiredResponse: deleteExpiredResponse(db, keyHash, now),
    expiredClaim: db.delete(claims).where(allOf(eq(claims.keyHash, keyHash), lte(claims.expiresAt, now))),
    saved: db.select().from(idempotentResponses).where(isSaved),
    claimed: insertIf(
      db,
      claims,
      { ...claim, leasedUntil: now + leaseMs, expiresAt: now + retentionMs },
      notExistsIn(idempotentResponses, isSaved),
    )
      .onConflictDoUpdate({
        target: claims.keyHash,
        set: { holder: excluded(claims.holder), leasedUntil: excluded(claims.leasedUntil) },
        setWhere: allOf(lte(claims.leasedUntil, now), eq(claims.bodyHash, excluded(claims.bodyHash))),
      })
      .returning({ keyHash: claims.keyHash }),
  });
  const [row] = saved;
  if (row === undefined) return { kind: claimed.length === 1 ? "mine" : "taken" };
  const { bodyHash, status, responseSealed } = row;
  return { kind: "kept", bodyHash, status, response: await openIdempotentResponse(vault, keyHash, responseSealed) };
};

const isClaimOfHolder = ({ keyHash, holder }: Pick<IdempotencyClaim, "keyHash" | "holder">) =>
  allOf(eq(claims.keyHash, keyHash), eq(claims.holder, holder));

const hasClaim = (claim: IdempotencyClaim) => existsIn(claims, isClaimOfHolder(claim));

/** Replaces a claim with the response in a separate batch. Does nothing if another request holds the claim. */
export const completeIdempotencyClaim = async (
  db: Database,
  vault: Vault,
  claim: IdempotencyClaim,
  response: IdempotentResponse,
): Promise<void> => {
  await batch(db, [
    insertIf(db, idempotentResponses, await sealIdempotentResponse(vault, claim, response), hasClaim(claim)),
    deleteIdempotencyClaim(db, claim),
  ]);
};

/**
 * Returns the statements that replace a claim with the response. They must come last in the change's batch, which fails if another request
 * holds the claim. `onlyIf` is evaluated after the earlier statements and must be true only if the change happened.
 */
export const insertClaimedResponse = async (
  db: Database,
  vault: Vault,
  claim: IdempotencyClaim,
  response: IdempotentResponse,
  onlyIf: Condition = sql`true`,
): Promise<readonly Statement[]> => {
  const row = await sealIdempotentResponse(vault, claim, response);
  const bodyHash = sql`case when ${hasClaim(claim)} then ${claim.bodyHash} end`;
  return [insertIf(db, idempotentResponses, { ...row, bodyHash }, onlyIf), deleteIdempotencyClaim(db, claim)];
};

/** Releases a claim if nothing was done. The key can then be used again as if no request had used it. */
export const deleteIdempotencyClaim = (db: Database, claim: Pick<IdempotencyClaim, "keyHash" | "holder">) =>
  db.delete(claims).where(isClaimOfHolder(claim));

/**
 * Ends the lease if it is unknown how much of the work was done. An identical request can then take over immediately and finds the draft.
 */
export const releaseIdempotencyClaim = (db: Database, claim: IdempotencyClaim) =>
  db.update(claims).set({ leasedUntil: 0 }).where(isClaimOfHolder(claim));

/**
 * Saves a sealed draft with the claim and returns the draft to use: the first one that was saved, even by an earlier holder. Throws if
 * another request holds the claim.
 */
export const saveClaimDraft = async (db: Database, claim: IdempotencyClaim, sealed: string): Promise<string> => {
  const row = await db
    .update(claims)
    .set({ draftSealed: sql`coalesce(${claims.draftSealed}, ${sealed})` })
    .where(isClaimOfHolder(claim))
    .returning({ draft: claims.draftSealed })
    .get();
  if (row?.draft == null) throw new Error("idempotency: another request has taken over the claim");
  return row.draft;
};
