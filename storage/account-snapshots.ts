// Copies of business accounts in KV. A new isolate uses a copy to accept submissions while the database does not respond. A copy can be
// outdated, so a submission is never refused because of it. It contains no personal data.
import type { ClientId } from "../core/ids.ts";
import { hourMs, secondMs, type Instant } from "../core/time.ts";
import type { IssuingClient } from "./accounts.ts";

const snapshotMaxAgeMs = 2 * hourMs;

export interface AccountSnapshot {
  readonly account: IssuingClient;
  /** The time at which the account was last read from the database. */
  readonly confirmedAt: Instant;
}

const keyOf = (clientId: ClientId): string => `issuing-client:${clientId}`;

export const isSnapshotCurrent = ({ confirmedAt }: Pick<AccountSnapshot, "confirmedAt">, now: Instant): boolean =>
  now - confirmedAt < snapshotMaxAgeMs;

export const saveAccountSnapshot = (kv: KVNamespace, clientId: ClientId, snapshot: AccountSnapshot): Promise<void> =>
  kv.put(keyOf(clientId), JSON.stringify(snapshot), { expirationTtl: snapshotMaxAgeMs / secondMs });

export const findAccountSnapshot = async (kv: KVNamespace, clientId: ClientId, now: Instant): Promise<AccountSnapshot | null> => {
  const snapshot = await kv.get<AccountSnapshot>(keyOf(clientId), "json");
  return snapshot !== null && isSnapshotCurrent(snapshot, now) ? snapshot : null;
};
