// Locates the database that stores passkey challenges for sign-in.
import { firstShard } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import type { Stores } from "../dependencies.ts";

/** Sign-in challenges are in the first shard because the account is not known yet. */
export const getChallengeDatabase = (services: Stores): Database => services.shards.get(firstShard);
