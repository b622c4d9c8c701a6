// Copies of issuing accounts in KV, so that a new isolate can accept submissions while the database is silent. An account contains names,
// domains and the plan, and nothing personal. A copy can be outdated, so it can only help to accept a submission, never to refuse one.
import type { ClientId } from "../core/ids.ts";
import { hourMs, secondMs, type Instant } from "../core/time.ts";
import type { IssuingClient } from "./accounts.ts";

/** An account older than this is not used without its database. */
const snapshotMaxAgeMs = 2 * hourMs;

export interface AccountSnapshot {
  readonly account: IssuingClient;
  /** When the database last confirmed the account. */
  readonly confirmedAt: Instant;
}

const keyOf = (clientId: ClientId): string => `issuing-client:${clientId}`;

/** Whether a submission can be accepted with this snapshot while the database is silent. */
export const isSnapshotCurrent = ({ confirmedAt }: Pick<AccountSnapshot, "confirmedAt">, now: Instant): boolean =>
  now - confirmedAt < snapshotMaxAgeMs;

export const saveAccountSnapshot = (kv: KVNamespace, clientId: ClientId, snapshot: AccountSnapshot): Promise<void> =>
  kv.put(keyOf(clientId), JSON.stringify(snapshot), { expirationTtl: snapshotMaxAgeMs / secondMs });

/** Returns null if there is no current copy. */
export const findAccountSnapshot = async (kv: KVNamespace, clientId: ClientId, now: Instant): Promise<AccountSnapshot | null> => {
  const snapshot = await kv.get<AccountSnapshot>(keyOf(clientId), "json");
  return snapshot !== null && isSnapshotCurrent(snapshot, now) ? snapshot : null;
};
