// Loads the data for the removals page: the person's removals, and their plan, which determines whether they can request more removals.
import type { Person } from "../../../core/access/principal.ts";
import type { ConsumerPlan } from "../../../core/billing/plans.ts";
import type { Removal } from "../../../core/removals/removal.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import { findPersonRecord } from "../../../storage/people.ts";
import type { Stores } from "../dependencies.ts";
import { listRemovals } from "./list-removals.ts";

/** Returns the removals and the plan. The plan is null if the account no longer exists. */
export const getRemovalsAndPlan = async (
  services: Stores,
  { id }: Pick<Person, "id">,
): Promise<{ readonly list: readonly Removal[]; readonly plan: ConsumerPlan | null }> => {
  const db = services.shards.forId(id);
  const [list, record] = await combineLookups(db, [listRemovals(services, { id }), findPersonRecord(db, id)]);
  return { list, plan: record === null ? null : record.plan };
};
