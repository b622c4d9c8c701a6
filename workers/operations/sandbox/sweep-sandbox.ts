import type { BusinessId } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import { listDueSandboxShares, sweepShares, maxSweptInRequest } from "../../../storage/share-sweep.ts";
import type { SandboxWriteDependencies } from "./dependencies.ts";

export type ClockServices = SandboxWriteDependencies;

export interface SweepResult {
  readonly swept: number;
  /** More is due than one call works through; the next one, or the next minute, goes on. */
  readonly hasMore: boolean;
}

/** What is due in the sandbox, a thousand shares at most. */
export const sweepSandbox = async (services: ClockServices, db: Database, businessId: BusinessId): Promise<SweepResult> => {
  const now = services.clock();
  const due = await listDueSandboxShares(db, businessId, now);
  if (due.length === 0) return { swept: 0, hasMore: false };
  await sweepShares(db, "sandbox", due, now);
  await services.eventSequence(businessId, "sandbox").drain();
  services.scheduleFollowUp();
  return { swept: due.length, hasMore: due.length === maxSweptInRequest };
};
