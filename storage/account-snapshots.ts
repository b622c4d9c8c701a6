// Copies of issuing accounts in KV, so that a new isolate can accept submissions while the database does not respond. A copy contains
// names, domains and the plan, but no personal data. It can be outdated, so it is used only to accept a submission, never to refuse one.
import type { ClientId } from "../core/ids.ts";
import { hourMs, secondMs, type Instant } from "../core/time.ts";
import type { IssuingClient } from "./accounts.ts";

/** A copy older than this is not used, even if the database does not respond. */
const snapshotMaxAgeMs = 2 * hourMs;

export interface AccountSnapshot {
  readonly account: IssuingClient;
  /** When the database last confirmed the account. */
  readonly confirmedAt: Instant;
}

const keyOf = (clientId: ClientId): string => `issuing-client:${clientId}`;

/** Returns whether a submission can be accepted with this snapshot while the database does not respond. */
export const isSnapshotCurrent = ({ confirmedAt }: Pick<AccountSnapshot, "confirmedAt">, now: Instant): boolean =>
  now - confirmedAt < snapshotMaxAgeMs;

export const saveAccountSnapshot = (kv: KVNamespace, clientId: ClientId, snapshot: AccountSnapshot): Promise<void> =>
  kv.put(keyOf(clientId), JSON.stringify(snapshot), { expirationTtl: snapshotMaxAgeMs / secondMs });

/** Returns the client's account as it was copied to KV, or null if there is no copy or the copy is too old. */
export const findAccountSnapshot = async (kv: KVNamespace, clientId: ClientId, now: Instant): Promise<AccountSnapshot | null> => {
  const snapshot = await kv.get<AccountSnapshot>(keyOf(clientId), "json");
  return snapshot !== null && isSnapshotCurrent(snapshot, now) ? snapshot : null;
};
