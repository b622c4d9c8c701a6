// Ends shares when a person withdraws all consent from one business or from all businesses: the person's own shares, and shares that other
// people made with the person's address. Anyone can enter another person's address as a contact field, so the owner of the address can end
// these shares too.
import type { Actor } from "../../../core/actor.ts";
import type { Database } from "../../../storage/database.ts";
import type { AccountWithdrawal } from "../../../storage/person-certificates.ts";
import { isOutdatedShare } from "../../../storage/share-changes.ts";
import { findChangeableShare, listSharesToEnd } from "../../../storage/shares.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { commitRevocation } from "../shares/commit-revocation.ts";
import { accountWithdrawalChange } from "./account-withdrawal-change.ts";

const maxAtOnce = 50; // ending one share takes about five round trips

export interface EndedShares {
  readonly ended: number;
  readonly isDone: boolean;
}

/**
 * Ends up to 50 shares, each in its own transaction, within the work budget. Skips shares that end in the meantime. `isDone` is true if all
 * shares have ended.
 */
export const endNamedShares = async (services: WriteDependencies, db: Database, work: AccountWithdrawal): Promise<EndedShares> => {
  const actor: Actor = work.consumerId === null ? { kind: "subject", verifiedBy: "email_code" } : accountWithdrawalChange.actor;
  const ids = await listSharesToEnd(db, work, services.clock(), maxAtOnce + 1);
  let ended = 0;
  for (const id of ids.slice(0, maxAtOnce)) {
    if (!(await services.hasBudget())) return { ended, isDone: false };
    const found = await findChangeableShare(db, id, "link", services.clock());
    if (found?.share.status !== "active") continue;
    try {
      const isOwn = found.consumerId === work.consumerId || found.emailProven;
      const stoppedBy = isOwn ? "person" : "address_owner";
      const revocation = { actor, stoppedBy, reason: null, requestId: crypto.randomUUID() } as const;
      await commitRevocation(services, db, found, revocation);
      ended += 1;
    } catch (error) {
      if (!isOutdatedShare(error)) throw error;
    }
  }
  return { ended, isDone: ids.length <= maxAtOnce };
};
