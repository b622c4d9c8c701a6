// Handles requests that are repeated with the same Idempotency-Key. The first request claims the key, runs the operation and saves its
// response. An operation that commits a single batch saves the response in that batch, so a committed change always has a saved response.
// Other operations save the response afterward. If the process dies in between, the response is missing, so these operations must be safe
// to repeat (docs/internals/consistency.md).
import { toCanonicalJson, type Json } from "../../../core/canonical-json.ts";
import type { ConsumerId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import {
  insertClaimedResponse,
  claimIdempotencyKey,
  deleteIdempotencyClaim,
  idempotencyKeyHash,
  completeIdempotencyClaim,
  findClaimDraft,
  saveClaimDraft,
  markStepDoneIfChanged,
  releaseIdempotencyClaim,
  type IdempotencyClaim,
} from "../../../storage/idempotency.ts";
import type { Condition } from "../../../storage/query.ts";
import type { ReadDependencies, Stores } from "../dependencies.ts";

export interface IdempotentRequest {
  /** Identifies the sender of the request. Different senders can use the same key. */
  readonly caller: string;
  /** The signed-in consumer who sent the request, if any. Erasing their account deletes the saved response. */
  readonly consumerId: ConsumerId | null;
  /** An ID in the shard that stores the key. */
  readonly ownerId: string;
  /** The method and full path. The same key can be used for different routes. */
  readonly route: string;
  readonly key: string;
  readonly body: Json;
  readonly requestId: string;
}

export interface IdempotentResponse {
  readonly status: number;
  readonly data: object;
  /** The Set-Cookie header of the response, if any. */
  readonly cookie: string | null;
}

/**
 * Returns the statements that save the response. Add them at the end of the batch that makes the change. `onlyIf` is evaluated after the
 * preceding statements, and must be true if and only if the change happened.
 */
export type SaveIdempotentResponse<T> = (value: T, onlyIf?: Condition) => Promise<readonly Statement[]>;

/**
 * Returns the functions for a request that holds a claim. After `saveResponse`, `release`, `suspend` or the statements from `toStatements`,
 * the request no longer holds the claim.
 */
const createClaimedRequest = ({ vault, clock }: ReadDependencies, db: Database, claim: IdempotencyClaim, consumerId: ConsumerId | null) => {
  const toStoredResponse = ({ status, ...response }: IdempotentResponse) => ({
    status,
    response: JSON.stringify(response),
    consumerId,
    now: clock(),
  });
  return {
    /** Returns the statements to add to the change's batch, which must run in the claim's shard. */
    toStatements: (response: IdempotentResponse, onlyIf?: Condition) =>
      insertClaimedResponse(db, vault, claim, toStoredResponse(response), onlyIf),
    saveResponse: (response: IdempotentResponse) => completeIdempotencyClaim(db, vault, claim, toStoredResponse(response)),
    /** Call this if the operation returned an error. Nothing was changed, so the key can be used again. */
    release: async (): Promise<void> => {
      await deleteIdempotencyClaim(db, claim).run();
    },
    /**
     * Call this after a server error, when it is unknown whether anything changed. A repeated request with the same body runs the operation
     * again.
     */
    suspend: async (): Promise<void> => {
      await releaseIdempotencyClaim(db, claim).run();
    },
    /**
     * Saves this run's decisions as a draft, unless an earlier run saved one. Returns the saved draft, so that a repeated request continues
     * with the same decisions. If the draft is secret, the caller must seal it.
     */
    saveDraft: (text: string) => saveClaimDraft(db, claim, text),
    /** Returns true if an earlier request with this key committed `toStepStatements`. */
    isStepDone: async (): Promise<boolean> => (await findClaimDraft(db, claim)) !== null,
    /**
     * Returns the statements that mark a step as done, so that a repeated request does not repeat it. They must come right after the
     * statement that makes the change, and do nothing if it changed no row. The batch must run in the claim's shard.
     */
    toStepStatements: (): readonly Statement[] => [markStepDoneIfChanged(db, claim)],
  };
};

export type ClaimedRequest = ReturnType<typeof createClaimedRequest>;

export type ClaimResult =
  /** The key already has a saved response. */
  | { readonly kind: "saved"; readonly response: IdempotentResponse }
  | { readonly kind: "claimed"; readonly request: ClaimedRequest }
  /** The first request with this key is still in progress. */
  | { readonly kind: "inProgress" };

/** Claims a request's key or returns its saved response. Returns `idempotency_conflict` if the key was used with another body. */
export const claimIdempotentRequest = async (
  services: ReadDependencies,
  request: IdempotentRequest,
): Promise<Result<ClaimResult, "idempotency_conflict">> => {
  const { vault } = services;
  const db = services.shards.forId(request.ownerId);
  const keyHash = idempotencyKeyHash(request.caller, request.route, request.key);
  // Use a keyed hash. A body can be as small as an email address and six digits, so a plain hash could be brute-forced.
  const bodyHash = await vault.sentHash(keyHash, toCanonicalJson(request.body));
  const claim = { keyHash, bodyHash, holder: request.requestId };
  const claimed = await claimIdempotencyKey(db, vault, claim, services.clock());
  if (claimed.kind === "inProgress") return ok({ kind: "inProgress" });
  if (claimed.kind === "conflict") return refuse("idempotency_conflict");
  if (claimed.kind === "saved") {
    if (claimed.bodyHash !== bodyHash) return refuse("idempotency_conflict");
    const saved = JSON.parse(claimed.response) as Pick<IdempotentResponse, "data" | "cookie">;
    return ok({ kind: "saved", response: { ...saved, status: claimed.status } });
  }
  return ok({ kind: "claimed", request: createClaimedRequest(services, db, claim, request.consumerId) });
};

/** Returns the `caller` for requests without credentials: a keyed hash of the IP address. */
export const hashCallerAddress = (services: Stores, address: string): Promise<string> => services.vault.sentHash("caller", address);
