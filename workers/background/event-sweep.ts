// Sees to it that committed events are placed in their business's sequence: right after an answer, and each minute for
// whatever is left.
import type { Environment } from "../../core/access/entitlement.ts";
import { listBusinessesWithEvents } from "../../storage/outboxes/events.ts";
import { runIsolated } from "../log.ts";
import type { Platform } from "../services.ts";
import { forEachShard } from "./each-shard.ts";
import { forEachConcurrently } from "./in-parallel.ts";

const maxBusinesses = 1_000;
const maxConcurrent = 5; // a Worker may wait for six connections; one stays free

/** Where it fails the rows stay, and the next minute tries again. */
export const placeEvents = async (platform: Platform, businessId: string, environment: Environment): Promise<void> => {
  await runIsolated(platform, "events", () => platform.eventSequence(businessId, environment).drain());
};

/** What no request has seen to: every business whose events wait. */
export const sweepEvents = (platform: Platform): Promise<void> =>
  forEachShard(platform, "events", async (db) => {
    for (const environment of ["live", "sandbox"] as const) {
      const waiting = await listBusinessesWithEvents(db, environment, maxBusinesses);
      await forEachConcurrently(maxConcurrent, waiting, (businessId) => placeEvents(platform, businessId, environment));
    }
  });
