// Records that an operator has rechecked the data brokers of a completed removal.
import type { RemovalId } from "../../../core/ids.ts";
import { getNextRemovalCheck } from "../../../core/removals/removal.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { updateRemovalCheck } from "../../../storage/removals.ts";
import type { ReadDependencies } from "../dependencies.ts";

/**
 * Returns when the next check is due, 90 days later. Returns `not_found` if the removal is unknown, is not completed, or is not due for a
 * check.
 */
export const recordRemovalCheck = async (services: ReadDependencies, id: RemovalId | null): Promise<Result<Instant, "not_found">> => {
  if (id === null) return refuse("not_found");
  const now = services.clock();
  const nextAt = getNextRemovalCheck(now);
  return (await updateRemovalCheck(services.shards.forId(id), id, now, nextAt)) ? ok(nextAt) : refuse("not_found");
};
