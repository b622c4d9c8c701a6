// Idempotent responses. The service saves the response to a request for 24 hours under the caller's idempotency key. A repeated request
// gets the same response and changes nothing. The response to an issuance is not saved, because it can be rebuilt from the certificate,
// whose ID is derived from the key. SPEC Limits.
//
// There are two ways to save a response:
// - A change that is a single batch inserts the response in that batch (`insertIdempotentResponse`). If two requests use the same key, the
//   second insert fails, and the whole second batch is rolled back.
// - Work that takes several batches first claims the key (`claimIdempotencyKey`), and saves the response at the end. Only one request holds
//   the claim at a time. If the process of that request dies, an identical request can take over the claim and its draft after the lease
//   expires.
import { eq, lte, sql } from "drizzle-orm";
import { sha256Hex } from "../core/hash.ts";
import type { CertId, ConsumerId } from "../core/ids.ts";
import { dayMs, minuteMs, type Instant } from "../core/time.ts";
import { batch, type Database, type Statement } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { excluded, insertIf } from "./inserts.ts";
import { allOf, existsIn, hasPreviousChange, notExistsIn, type Condition } from "./query.ts";
import { idempotentResponses, idempotencyClaims as claims } from "./schema.ts";
import { selfOwnedContext, type Vault } from "./vault.ts";

const retentionMs = dayMs;

/** Returns the hash under which a key is stored. The hash differs for each principal and route. */
export const idempotencyKeyHash = (principal: string, route: string, key: string): string =>
  sha256Hex(["idempotency", principal, route, key].join("\n"));

const responseContext = selfOwnedContext("idempotency", "response");

export interface IdempotencyHashes {
  readonly keyHash: string;
  readonly bodyHash: string;
}

interface IdempotentResponse {
  readonly status: number;
  readonly response: string;
  /** The certificate that the response is about. Erasing its personal data deletes the response. */
  readonly certId?: CertId;
  /** The consumer who sent the request. Erasing the account deletes the response. */
  readonly consumerId?: ConsumerId | null;
  readonly now: Instant;
}

export const sealResponse = (vault: Vault, keyHash: string, response: string): Promise<string> =>
  vault.seal(responseContext(keyHash), response);

export const openIdempotentResponse = (vault: Vault, keyHash: string, responseSealed: string): Promise<string> =>
  vault.open(responseContext(keyHash), responseSealed);

const sealIdempotentResponse = async (
  vault: Vault,
  { keyHash, bodyHash }: IdempotencyHashes,
  { status, response, certId, consumerId, now }: IdempotentResponse,
) => {
  const responseSealed = await sealResponse(vault, keyHash, response);
  return {
    keyHash,
    bodyHash,
    status,
    responseSealed,
    expiresAt: now + retentionMs,
    certId: certId ?? null,
    consumerId: consumerId ?? null,
  };
};

/**
 * Returns the statements that save a response. Add them to the batch of the change. The batch fails if the key already has a response
 * (`isIdempotencyKeyTaken`).
 */
export const insertIdempotentResponse = async (db: Database, vault: Vault, entry: IdempotencyHashes & IdempotentResponse) =>
  [db.insert(idempotentResponses).values(await sealIdempotentResponse(vault, entry, entry))] as const;

export const isIdempotencyKeyTaken = (error: unknown): boolean => isConstraintViolation(error, "UNIQUE", idempotentResponses.keyHash);

const deleteExpiredResponse = (db: Database, keyHash: string, now: Instant) =>
  db.delete(idempotentResponses).where(allOf(eq(idempotentResponses.keyHash, keyHash), lte(idempotentResponses.expiresAt, now)));

/** Returns the response saved under a key, or null. Deletes an expired response, so that the key can be used again. */
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

// More than four times as long as the longest operation, a webhook test. It takes up to 3 s to check the host and 10 s for the receiver.
const leaseMs = minuteMs;

export interface IdempotencyClaim extends IdempotencyHashes {
  /** The ID of the request that holds the claim. */
  readonly holder: string;
}

type ClaimResult =
  /** This request holds the claim now. */
  | { readonly kind: "claimed" }
  /** An identical request holds the claim. */
  | { readonly kind: "inProgress" }
  /** The key was claimed with a different body. */
  | { readonly kind: "conflict" }
  | { readonly kind: "saved"; readonly bodyHash: string; readonly status: number; readonly response: string };

/**
 * Claims a key for a request, unless the key has a response or another request holds the claim. If several requests run concurrently, only
 * one gets the claim. After the lease expires, the next request with the same body can take over the claim.
 */
export const claimIdempotencyKey = async (db: Database, vault: Vault, claim: IdempotencyClaim, now: Instant): Promise<ClaimResult> => {
  const { keyHash } = claim;
  const isSaved = eq(idempotentResponses.keyHash, keyHash);
  const { saved, claimed, held } = await batch(db, {
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
    held: db.select({ bodyHash: claims.bodyHash }).from(claims).where(eq(claims.keyHash, keyHash)),
  });
  const [row] = saved;
  if (row === undefined) {
    if (claimed.length === 1) return { kind: "claimed" };
    return { kind: held[0]?.bodyHash === claim.bodyHash ? "inProgress" : "conflict" };
  }
  const { bodyHash, status, responseSealed } = row;
  return { kind: "saved", bodyHash, status, response: await openIdempotentResponse(vault, keyHash, responseSealed) };
};

const isClaimOfHolder = ({ keyHash, holder }: Pick<IdempotencyClaim, "keyHash" | "holder">) =>
  allOf(eq(claims.keyHash, keyHash), eq(claims.holder, holder));

const hasClaim = (claim: IdempotencyClaim) => existsIn(claims, isClaimOfHolder(claim));

/** Replaces a claim with the response. Does nothing if another request has taken over the claim. */
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
 * Returns the statements that replace a claim with the response. They must come last in the batch of the change. The batch fails if another
 * request has taken over the claim. The response is saved only if `onlyIf` is true. Use it to check that the earlier statements have made
 * the change.
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

/** Deletes a claim, so that the key can be used again. Does nothing if another request has taken over the claim. */
export const deleteIdempotencyClaim = (db: Database, claim: Pick<IdempotencyClaim, "keyHash" | "holder">) =>
  db.delete(claims).where(isClaimOfHolder(claim));

/** Ends the lease of a request that failed before it was complete, so that an identical request can take over immediately. */
export const releaseIdempotencyClaim = (db: Database, claim: IdempotencyClaim) =>
  db.update(claims).set({ leasedUntil: 0 }).where(isClaimOfHolder(claim));

/**
 * Saves a draft: a text that must stay the same if another request takes over the claim. Seal the draft if it is secret. If a draft is
 * already saved, keeps and returns it. Throws if another request has taken over the claim.
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

/** Returns the draft that an earlier request saved, or null. Throws if another request has taken over the claim. */
export const findClaimDraft = async (db: Database, claim: IdempotencyClaim): Promise<string | null> => {
  const row = await db.select({ draft: claims.draftSealed }).from(claims).where(isClaimOfHolder(claim)).get();
  if (row === undefined) throw new Error("idempotency: another request has taken over the claim");
  return row.draft;
};

/**
 * Saves `done` as the draft if the previous statement in the batch changed a row. The batch fails if another request has taken over the
 * claim.
 */
export const markStepDoneIfChanged = (db: Database, claim: IdempotencyClaim) =>
  db
    .update(claims)
    .set({ draftSealed: "done", bodyHash: sql`case when ${claims.holder} = ${claim.holder} then ${claims.bodyHash} end` })
    .where(allOf(eq(claims.keyHash, claim.keyHash), hasPreviousChange()));
