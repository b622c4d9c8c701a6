import { firstShard } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import type { Stores } from "../dependencies.ts";

/** Whoever signs in has not said yet where they are kept. */
export const getChallengeDatabase = (services: Stores): Database => services.shards.get(firstShard);
