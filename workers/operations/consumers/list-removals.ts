// Lists the person's removals.
import type { Person } from "../../../core/access/principal.ts";
import type { Removal } from "../../../core/removals/removal.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import { listRemovalsByConsumer, maxListedRemovals } from "../../../storage/removals.ts";
import type { Stores } from "../dependencies.ts";

/** Lists up to 200 removals, newest first, regardless of the person's plan. */
export const listRemovals = (services: Stores, { id }: Pick<Person, "id">): Lookup<readonly Removal[]> =>
  listRemovalsByConsumer(services.shards.forId(id), services.vault, id);

/** Lists all removals, newest first. */
export const listAllRemovals = async ({ shards, vault }: Stores, { id }: Pick<Person, "id">): Promise<readonly Removal[]> => {
  const removals: Removal[] = [];
  for (;;) {
    const page = await listRemovalsByConsumer(shards.forId(id), vault, id, removals.at(-1)?.id);
    removals.push(...page);
    if (page.length < maxListedRemovals) return removals;
  }
};
