// Lists the person's removals.
import type { Person } from "../../../core/access/principal.ts";
import type { Removal } from "../../../core/removals/removal.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import { listRemovalsByConsumer } from "../../../storage/removals.ts";
import type { Stores } from "../dependencies.ts";

/** Lists up to 200 removals, newest first, regardless of the person's plan. */
export const listRemovals = (services: Stores, { id }: Pick<Person, "id">): Lookup<readonly Removal[]> =>
  listRemovalsByConsumer(services.shards.forId(id), services.vault, id);
