import type { ShardId } from "../../../core/ids.ts";
import { markOtherShards } from "../../../storage/sessions.ts";
import { runIsolated } from "../../log.ts";
import type { ReadDependencies } from "../dependencies.ts";

/**
 * An address was invited in this home: its sessions in others look here from their next page on. After the answer and of every address
 * alike, so that inviting one does not tell whether it is known; where it fails, the next sign-in finds it.
 */
export const notifyOtherShards = (services: ReadDependencies, home: ShardId, emailIndex: string): void =>
  services.waitUntil(async () => {
    const others = services.shards.all().filter(([other]) => other !== home);
    await Promise.all(others.map(([, db]) => runIsolated(services, "seats", () => markOtherShards(db, emailIndex).run())));
  });
