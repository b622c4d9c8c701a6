// A change by the people of a business: its rows, its entry in the audit chain and, under an idempotency key, its answer, in one batch.
import type { MemberSession } from "../../../core/access/session.ts";
import { canonicalJson, type Json } from "../../../core/canonical-json.ts";
import { factOf, type Act } from "../../../core/facts.ts";
import type { BusinessId } from "../../../core/ids.ts";
import type { RefusalCode } from "../../../core/refusals.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { idempotencyKeyHash, insertAnswer, isTakenKey, keptAnswer } from "../../../storage/idempotency.ts";
import type { Condition } from "../../../storage/query.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";

type Services = Runtime & Stores & Schedules;

export const homeOf = ({ homes }: Stores, { business }: { readonly business: { readonly id: BusinessId } }): Database =>
  homes.of(business.id);

/** Rows and entry together; `onlyIf` is what must hold after the rows for the entry to be written. */
export const commitAct = async (
  services: Services,
  member: MemberSession,
  rows: readonly Statement[],
  act: Act,
  { at = services.clock(), onlyIf }: { readonly at?: Instant; readonly onlyIf?: Condition } = {},
): Promise<void> => {
  const by = { chain: member.business.chain, actor: { kind: "member", id: member.userId } } as const;
  await commit(homeOf(services, member), services, rows, [factOf(by, act, at)], onlyIf);
};

/** How a route is told apart under a caller's keys, and what makes two of its requests the same. */
export interface Repeatable {
  readonly route: string;
  readonly key: string | null;
  readonly wanted: Json;
}

export interface Made<T> {
  readonly value: T;
  readonly replayed: boolean;
}

/** Something as it is about to be made. */
interface Draft<T> {
  readonly value: T;
  readonly rows: readonly Statement[];
  readonly act: Act;
}

/**
 * Makes something once under an idempotency key. The answer is kept sealed in the batch of the change, so there is never one without
 * the other, and a secret in it stands nowhere in the clear.
 */
export const makeOnce = async <T extends object, C extends RefusalCode = never>(
  services: Services,
  member: MemberSession,
  { route, key, wanted }: Repeatable,
  make: (now: Instant) => Promise<Result<Draft<T>, C>>,
): Promise<Result<Made<T>, C | "idempotency_conflict">> => {
  const db = homeOf(services, member);
  const { vault } = services;
  const keyHash = key === null ? null : idempotencyKeyHash(member.userId, route, key);
  // What is wanted can hold somebody's address, so its hash is one that nobody can try out.
  const bodyHash = keyHash === null ? "" : await vault.sentHash(keyHash, canonicalJson(wanted));
  const kept = async (): Promise<Result<Made<T>, "idempotency_conflict"> | null> => {
    const answer = keyHash === null ? null : await keptAnswer(db, vault, keyHash, services.clock());
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
    keyHash === null ? [] : await insertAnswer(db, vault, { keyHash, bodyHash, status: 201, response: JSON.stringify(value), now });
  try {
    await commitAct(services, member, [...answer, ...rows], act, { at: now });
  } catch (error) {
    const first = isTakenKey(error) ? await kept() : null; // the same request, twice at once: the other one made it
    if (first !== null) return first;
    throw error;
  }
  return ok({ value, replayed: false });
};
