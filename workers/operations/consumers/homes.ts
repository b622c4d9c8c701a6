// A person's shares lie in the homes of the businesses. Each home that may hold some is asked; one that does not answer fails the whole
// request, because a share that is hidden is worse than none shown. The own home is asked first and once: it knows the others.
import { homeOfId, type ConsumerId, type Home } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import { together, type Lookup } from "../../../storage/lookups.ts";
import { homesOfPerson } from "../../../storage/people.ts";
import type { Stores } from "../../services.ts";

/** What is asked of the person's own home, and in which others they may have shares. */
export const inOwnHome = async <T>(
  services: Stores,
  id: ConsumerId,
  ask: (own: Database) => Lookup<T>,
): Promise<{ readonly found: T; readonly others: readonly Home[] }> => {
  const own = services.homes.of(id);
  const [homes, found] = await together(own, [homesOfPerson(own, id), ask(own)]);
  return { found, others: homes.filter((home) => home !== homeOfId(id)) };
};

export const inHomes = <T>(services: Stores, homes: readonly Home[], ask: (db: Database) => Promise<T>): Promise<readonly T[]> =>
  Promise.all(homes.map((home) => ask(services.homes.at(home))));
