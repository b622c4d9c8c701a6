// A person's shares lie in the homes of the businesses. Each home that may hold some is asked; one that does not answer fails the whole
// request, because a share that is hidden is worse than none shown.
import type { ConsumerId } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import { homesOfPerson } from "../../../storage/person-records.ts";
import type { Stores } from "../../services.ts";

export const inHomesOf = async <T>(services: Stores, id: ConsumerId, ask: (db: Database) => Promise<T>): Promise<readonly T[]> => {
  const homes = await homesOfPerson(services.homes.of(id) as Database, id);
  return Promise.all(homes.map((home) => ask(services.homes.of(`con_${home}`) as Database)));
};
