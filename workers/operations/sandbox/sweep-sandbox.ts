// Expires test shares and sends their expiry warnings, according to the sandbox's clock.
import type { BusinessId } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import { listDueSandboxShares, sweepShares, maxSweptInRequest } from "../../../storage/share-sweep.ts";
import type { SandboxWriteDependencies } from "./dependencies.ts";

export interface SweepResult {
  readonly swept: number;
  /** True if more shares may be due. The next call, or the background job that runs every minute, sweeps them. */
  readonly hasMore: boolean;
}

/** Sweeps at most 1,000 shares. Their events are in the event sequence before this function returns. */
export const sweepSandbox = async (services: SandboxWriteDependencies, db: Database, businessId: BusinessId): Promise<SweepResult> => {
  const now = services.clock();
  const due = await listDueSandboxShares(db, businessId, now);
  if (due.length === 0) return { swept: 0, hasMore: false };
  await sweepShares(db, "sandbox", due, now);
  await services.eventSequence(businessId, "sandbox").drain();
  services.scheduleFollowUp();
  return { swept: due.length, hasMore: due.length === maxSweptInRequest };
};
