import type { MemberSession } from "../../../core/access/session.ts";
import { toCanonicalJson, type Json } from "../../../core/canonical-json.ts";
import type { AuditedAction } from "../../../core/domain-events.ts";
import type { RefusalCode } from "../../../core/refusals.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import type { Statement } from "../../../storage/database.ts";
import {
  idempotencyKeyHash,
  findIdempotentResponse,
  insertIdempotentResponse,
  isIdempotencyKeyTaken,
} from "../../../storage/idempotency.ts";
import { getBusinessDatabase, commitWithAudit, type Services } from "./commit-with-audit.ts";

/** How a route is told apart under a caller's keys, and what makes two of its requests the same. */
export interface IdempotentOperation {
  readonly route: string;
  readonly key: string | null;
  readonly wanted: Json;
}

export interface IdempotentResult<T> {
  readonly value: T;
  readonly replayed: boolean;
}

/** Something as it is about to be made. */
interface Draft<T> {
  readonly value: T;
  readonly rows: readonly Statement[];
  readonly act: AuditedAction;
}

/**
 * Makes something once under an idempotency key. The answer is kept sealed in the batch of the change, so there is never one without
 * the other, and a secret in it stands nowhere in the clear.
 */
export const createOnce = async <T extends object, C extends RefusalCode = never>(
  services: Services,
  member: MemberSession,
  { route, key, wanted }: IdempotentOperation,
  make: (now: Instant) => Promise<Result<Draft<T>, C>>,
): Promise<Result<IdempotentResult<T>, C | "idempotency_conflict">> => {
  const db = getBusinessDatabase(services, member);
  const { vault } = services;
  const keyHash = key === null ? null : idempotencyKeyHash(member.userId, route, key);
  // What is wanted can hold somebody's address, so its hash is one that nobody can try out.
  const bodyHash = keyHash === null ? "" : await vault.sentHash(keyHash, toCanonicalJson(wanted));
  const kept = async (): Promise<Result<IdempotentResult<T>, "idempotency_conflict"> | null> => {
    const answer = keyHash === null ? null : await findIdempotentResponse(db, vault, keyHash, services.clock());
    if (answer === null) return null;
    return answer.bodyHash === bodyHash ? ok({ value: JSON.parse(answer.response) as T, replayed: true }) : refuse("idempotency_conflict");
  };
  const earlier = await kept();
  if (earlier !== null) return earlier;
  const now = services.clock();
  const made = await make(now);
  if (!made.ok) return made;
  const { value, rows, act } = made.value;
  const answer =
    keyHash === null
      ? []
      : await insertIdempotentResponse(db, vault, { keyHash, bodyHash, status: 201, response: JSON.stringify(value), now });
  try {
    await commitWithAudit(services, member, [...answer, ...rows], act, { at: now });
  } catch (error) {
    const first = isIdempotencyKeyTaken(error) ? await kept() : null; // the same request, twice at once: the other one made it
    if (first !== null) return first;
    throw error;
  }
  return ok({ value, replayed: false });
};
