// Creates at most one record per idempotency key. One batch writes the record and the saved response.
import type { MemberSession } from "../../../core/access/session.ts";
import { toCanonicalJson, type Json } from "../../../core/canonical-json.ts";
import type { AuditedAction } from "../../../core/domain-events.ts";
import type { RefusalCode } from "../../../core/refusals.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import {
  idempotencyKeyHash,
  findIdempotentResponse,
  insertIdempotentResponse,
  isIdempotencyKeyTaken,
} from "../../../storage/idempotency.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { getBusinessDatabase, commitWithAudit } from "./commit-with-audit.ts";

/** A request and its idempotency key. A request that repeats the key must have the same input. */
export interface IdempotentOperation {
  readonly route: string;
  readonly key: string | null;
  readonly input: Json;
}

export interface IdempotentResult<T> {
  readonly value: T;
  /** True if an earlier request with this key created the record. */
  readonly isReplayed: boolean;
}

/** A record that is not committed yet. */
interface Draft<T> {
  readonly value: T;
  readonly statements: readonly Statement[];
  readonly action: AuditedAction;
}

/**
 * Returns the record that an earlier request with this key created, or null if there is none. Returns `idempotency_conflict` if that
 * request had different input.
 */
export const findEarlierResult = async <T extends object>(
  { vault, clock }: WriteDependencies,
  db: Database,
  keyHash: string | null,
  bodyHash: string,
): Promise<Result<IdempotentResult<T>, "idempotency_conflict"> | null> => {
  const saved = keyHash === null ? null : await findIdempotentResponse(db, vault, keyHash, clock());
  if (saved === null) return null;
  return saved.bodyHash === bodyHash ? ok({ value: JSON.parse(saved.response) as T, isReplayed: true }) : refuse("idempotency_conflict");
};

/**
 * Commits the draft with its audit entry, or returns the record that an earlier request with the key created. If there is a key, the batch
 * also saves the result, so that the record never exists without its saved result. The result is sealed because it can contain a secret.
 * Returns the same errors as `makeDraft`, and `idempotency_conflict` if the key was used with different input.
 */
export const createOnce = async <T extends object, C extends RefusalCode = never>(
  services: WriteDependencies,
  member: MemberSession,
  { route, key, input }: IdempotentOperation,
  makeDraft: (now: Instant) => Promise<Result<Draft<T>, C>>,
): Promise<Result<IdempotentResult<T>, C | "idempotency_conflict">> => {
  const db = getBusinessDatabase(services, member);
  const { vault } = services;
  const keyHash = key === null ? null : idempotencyKeyHash(member.userId, route, key);
  // Use a keyed hash. The input can contain an email address, so a plain hash could be brute-forced.
  const bodyHash = keyHash === null ? "" : await vault.sentHash(keyHash, toCanonicalJson(input));
  const findEarlier = () => findEarlierResult<T>(services, db, keyHash, bodyHash);
  const earlier = await findEarlier();
  if (earlier !== null) return earlier;
  const now = services.clock();
  const draft = await makeDraft(now);
  if (!draft.ok) return draft;
  const { value, statements, action } = draft.value;
  const savedResponse =
    keyHash === null
      ? []
      : await insertIdempotentResponse(db, vault, { keyHash, bodyHash, status: 201, response: JSON.stringify(value), now });
  try {
    await commitWithAudit(services, member, [...savedResponse, ...statements], action, { at: now });
  } catch (error) {
    const first = isIdempotencyKeyTaken(error) ? await findEarlier() : null; // a concurrent request with the same key was committed first
    if (first !== null) return first;
    throw error;
  }
  return ok({ value, isReplayed: false });
};
