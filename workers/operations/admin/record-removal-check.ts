// Records that an operator has rechecked the data brokers of a completed removal.
import type { RemovalId } from "../../../core/ids.ts";
import { getNextRemovalCheck } from "../../../core/removals/removal.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { toIso, type Instant } from "../../../core/time.ts";
import { findRemovalCheck, updateRemovalCheck } from "../../../storage/removals.ts";
import type { ReadDependencies } from "../dependencies.ts";

/**
 * Records the check, and returns when the next one is due (in 90 days). Returns `not_found` if the removal is unknown. Returns
 * `invalid_request` if the removal is not completed, or if its check is not due yet. In the second case, the message contains the due time.
 */
export const recordRemovalCheck = async (
  services: ReadDependencies,
  id: RemovalId | null,
): Promise<Result<Instant, "not_found" | "invalid_request">> => {
  if (id === null) return refuse("not_found");
  const db = services.shards.forId(id);
  const now = services.clock();
  const nextAt = getNextRemovalCheck(now);
  if (await updateRemovalCheck(db, id, now, nextAt)) return ok(nextAt);
  const check = await findRemovalCheck(db, id);
  if (check === null) return refuse("not_found");
  const { recheckAt } = check;
  return recheckAt === null
    ? refuse("invalid_request", "The removal is not completed, so there is nothing to check again.")
    : refuse("invalid_request", `The next check of this removal is due at ${toIso(recheckAt)}.`);
};
