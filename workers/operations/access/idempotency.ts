// A request sent again under its Idempotency-Key: the key is claimed, the work is done, its answer is kept. Where the work is one batch
// the answer is kept in it, so that there is never a change without its answer. Other work is kept after it is done: dying in between
// leaves a change without an answer, so that work is such as may be repeated (docs/consistency.md, "A request sent again").
import { canonicalJson, type Json } from "../../../core/canonical-json.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import {
  answerRows,
  claimWork,
  dropClaim,
  idempotencyKeyHash,
  keepAnswer,
  keepDraft,
  yieldClaim,
  type Claim,
} from "../../../storage/idempotency.ts";
import type { Condition } from "../../../storage/query.ts";
import type { Runtime, Stores } from "../../services.ts";

export interface KeyedRequest {
  /** Who sends it: the key is theirs, and the same key of another caller is another key. */
  readonly caller: string;
  /** An id of the home where it is remembered. */
  readonly home: string;
  /** Method and whole path: the same key on another record is another key. */
  readonly route: string;
  readonly key: string;
  readonly body: Json;
  readonly requestId: string;
}

export interface KeptAnswer {
  readonly status: number;
  readonly data: object;
  /** The cookie that was set with it. */
  readonly cookie: string | null;
}

/**
 * The rows that keep the answer of a change, for the end of its batch; absent where the request has no key. `onlyIf` is what must hold
 * after the rows before for the change to have happened.
 */
export type Keeping<T> = (value: T, onlyIf?: Condition) => Promise<readonly Statement[]>;

/** What a request that does the work does with its claim in the end, one of the three; nothing where `rows` kept the answer. */
const workOf = ({ vault, clock }: Runtime & Stores, db: Database, claim: Claim) => {
  const answer = ({ status, ...response }: KeptAnswer) => ({ status, response: JSON.stringify(response), now: clock() });
  return {
    /** Of `keep`, for the batch of the change itself. It is a batch of the home that the claim is in. */
    rows: (kept: KeptAnswer, onlyIf?: Condition) => answerRows(db, vault, claim, answer(kept), onlyIf),
    keep: (kept: KeptAnswer) => keepAnswer(db, vault, claim, answer(kept)),
    /** It was refused, so nothing was done. */
    forget: async (): Promise<void> => {
      await dropClaim(db, claim).run();
    },
    /** It failed, and nobody knows how far it came. */
    yield: async (): Promise<void> => {
      await yieldClaim(db, claim).run();
    },
    /** What was settled when this work was first begun, sealed where it is secret: going on with it settles nothing anew. */
    draft: (text: string) => keepDraft(db, claim, text),
  };
};

export type Work = ReturnType<typeof workOf>;

export type Begun = { readonly kept: KeptAnswer } | { readonly kept: null; readonly work: Work };

/** Refuses the key of another body, and one whose request is still being answered. */
export const beginKeyed = async (services: Runtime & Stores, request: KeyedRequest): Promise<Result<Begun, "idempotency_conflict">> => {
  const { vault } = services;
  const db = services.homes.of(request.home);
  const keyHash = idempotencyKeyHash(request.caller, request.route, request.key);
  // A body can be an address and six digits, so its hash is one that nobody can try out.
  const bodyHash = await vault.sentHash(keyHash, canonicalJson(request.body));
  const claim = { keyHash, bodyHash, holder: request.requestId };
  const claimed = await claimWork(db, vault, claim, services.clock());
  if (claimed.kind === "taken")
    return refuse("idempotency_conflict", "Idempotency-Key: its first request had another body, or is still being answered.");
  if (claimed.kind === "kept") {
    if (claimed.bodyHash !== bodyHash) return refuse("idempotency_conflict");
    return ok({ kept: { ...(JSON.parse(claimed.response) as Pick<KeptAnswer, "data" | "cookie">), status: claimed.status } });
  }
  return ok({ kept: null, work: workOf(services, db, claim) });
};

/** The caller of a route that knows no credential, by network address, as its limit is counted. */
export const callerAt = (services: Stores, address: string): Promise<string> => services.vault.sentHash("caller", address);
