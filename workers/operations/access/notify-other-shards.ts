// Tells sessions in other shards that their address has an invitation here.
import type { ShardId } from "../../../core/ids.ts";
import { markOtherShards } from "../../../storage/sessions.ts";
import { runIsolated } from "../../log.ts";
import type { ReadDependencies } from "../dependencies.ts";

/**
 * Marks the sessions of an invited address in all other shards, so that their next page also looks in this shard. Runs after the response
 * and for every address, so inviting does not reveal whether an address is known. If it fails, the next sign-in finds the invitation.
 */
export const notifyOtherShards = (services: ReadDependencies, shardId: ShardId, emailIndex: string): void =>
  services.waitUntil(async () => {
    const others = services.shards.all().filter(([otherId]) => otherId !== shardId);
    await Promise.all(others.map(([, db]) => runIsolated(services, "memberships", () => markOtherShards(db, emailIndex).run())));
  });
