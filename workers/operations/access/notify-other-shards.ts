// Lets a person who is signed in to a business in another shard see an invitation in this shard.
import type { AddressIndex } from "../../../core/access/address-index.ts";
import type { ShardId } from "../../../core/ids.ts";
import { markOtherShards } from "../../../storage/sessions.ts";
import { runIsolated } from "../../log.ts";
import type { ReadDependencies } from "../dependencies.ts";

/**
 * Marks the invited person's sessions in all other shards, so that the person's next page also searches this shard. Runs for every address,
 * and after the response, so that inviting an address does not reveal whether it is known. If this fails, the person sees the invitation
 * after their next sign-in.
 */
export const notifyOtherShards = (services: ReadDependencies, shardId: ShardId, emailIndex: AddressIndex): void =>
  services.waitUntil(async () => {
    const others = services.shards.all().filter(([otherId]) => otherId !== shardId);
    await Promise.all(others.map(([, db]) => runIsolated(services, "memberships", () => markOtherShards(db, emailIndex).run())));
  });
