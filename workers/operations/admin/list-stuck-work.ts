import { listStuckWork, type StuckWork } from "../../../storage/stuck-work.ts";
import type { Runtime, Stores } from "../../services.ts";

/** By the code of the home. */
export const listStuckWorkByShard = (services: Runtime & Stores): Promise<readonly (StuckWork & { readonly home: string })[]> =>
  Promise.all(
    services.shards.all().map(async ([home, db]) => (await listStuckWork(db, services.clock())).map((stuck) => ({ ...stuck, home }))),
  ).then((lists) => lists.flat());
