// A request sent again under its Idempotency-Key: the key is claimed, the work is done, its answer is kept. Where the work is one batch
// the answer is kept in it, so that there is never a change without its answer. Other work is kept after it is done: dying in between
// leaves a change without an answer, so that work is such as may be repeated (docs/internals/consistency.md, "A request sent again").
import { toCanonicalJson, type Json } from "../../../core/canonical-json.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import {
  insertClaimedResponse,
  claimIdempotencyKey,
  deleteIdempotencyClaim,
  idempotencyKeyHash,
  completeIdempotencyClaim,
  saveClaimDraft,
  releaseIdempotencyClaim,
  type IdempotencyClaim,
} from "../../../storage/idempotency.ts";
import type { Condition } from "../../../storage/query.ts";
import type { ReadDependencies, Stores } from "../dependencies.ts";

export interface IdempotentRequest {
  /** Who sends it: the key is theirs, and the same key of another caller is another key. */
  readonly caller: string;
  /** An id of the home where it is remembered. */
  readonly ownerId: string;
  /** Method and whole path: the same key on another record is another key. */
  readonly route: string;
  readonly key: string;
  readonly body: Json;
  readonly requestId: string;
}

export interface IdempotentResponse {
  readonly status: number;
  readonly data: object;
  /** The cookie that was set with it. */
  readonly cookie: string | null;
}

/**
 * The rows that keep the answer of a change, for the end of its batch; absent where the request has no key. `onlyIf` is what must hold
 * after the rows before for the change to have happened.
 */
export type SaveIdempotentResponse<T> = (value: T, onlyIf?: Condition) => Promise<readonly Statement[]>;

/** What a request that does the work does with its claim in the end, one of the three; nothing where `rows` kept the answer. */
const createClaimedRequest = ({ vault, clock }: ReadDependencies, db: Database, claim: IdempotencyClaim) => {
  const answer = ({ status, ...response }: IdempotentResponse) => ({ status, response: JSON.stringify(response), now: clock() });
  return {
    /** Of `keep`, for the batch of the change itself. It is a batch of the home that the claim is in. */
    toStatements: (kept: IdempotentResponse, onlyIf?: Condition) => insertClaimedResponse(db, vault, claim, answer(kept), onlyIf),
    saveResponse: (kept: IdempotentResponse) => completeIdempotencyClaim(db, vault, claim, answer(kept)),
    /** It was refused, so nothing was done. */
    release: async (): Promise<void> => {
      await deleteIdempotencyClaim(db, claim).run();
    },
    /** It failed, and nobody knows how far it came. */
    suspend: async (): Promise<void> => {
      await releaseIdempotencyClaim(db, claim).run();
    },
    /** What was settled when this work was first begun, sealed where it is secret: going on with it settles nothing anew. */
    saveDraft: (text: string) => saveClaimDraft(db, claim, text),
  };
};

export type ClaimedRequest = ReturnType<typeof createClaimedRequest>;

export type ClaimResult = { readonly kept: IdempotentResponse } | { readonly kept: null; readonly work: ClaimedRequest };

/** Refuses the key of another body, and one whose request is still being answered. */
export const claimIdempotentRequest = async (
  services: ReadDependencies,
  request: IdempotentRequest,
): Promise<Result<ClaimResult, "idempotency_conflict">> => {
  const { vault } = services;
  const db = services.shards.forId(request.ownerId);
  const keyHash = idempotencyKeyHash(request.caller, request.route, request.key);
  // A body can be an address and six digits, so its hash is one that nobody can try out.
  const bodyHash = await vault.sentHash(keyHash, toCanonicalJson(request.body));
  const claim = { keyHash, bodyHash, holder: request.requestId };
  const claimed = await claimIdempotencyKey(db, vault, claim, services.clock());
  if (claimed.kind === "taken")
    return refuse("idempotency_conflict", "Idempotency-Key: its first request had another body, or is still being answered.");
  if (claimed.kind === "kept") {
    if (claimed.bodyHash !== bodyHash) return refuse("idempotency_conflict");
    return ok({ kept: { ...(JSON.parse(claimed.response) as Pick<IdempotentResponse, "data" | "cookie">), status: claimed.status } });
  }
  return ok({ kept: null, work: createClaimedRequest(services, db, claim) });
};

/** The caller of a route that knows no credential, by network address, as its limit is counted. */
export const hashCallerAddress = (services: Stores, address: string): Promise<string> => services.vault.sentHash("caller", address);
