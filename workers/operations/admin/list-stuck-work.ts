import { listStuckWork, type StuckWork } from "../../../storage/stuck-work.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** By the code of the home. */
export const listStuckWorkByShard = (services: ReadDependencies): Promise<readonly (StuckWork & { readonly home: string })[]> =>
  Promise.all(
    services.shards.all().map(async ([home, db]) => (await listStuckWork(db, services.clock())).map((stuck) => ({ ...stuck, home }))),
  ).then((lists) => lists.flat());
