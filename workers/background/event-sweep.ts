// Moves committed events into the event sequences: right after a response, and every minute for any that are left.
import type { Environment } from "../../core/access/entitlement.ts";
import { listBusinessesWithEvents } from "../../storage/outboxes/events.ts";
import { runIsolated } from "../log.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachConcurrently, maxConcurrentConnections } from "./for-each-concurrently.ts";
import { forEachShard } from "./for-each-shard.ts";

const maxBusinesses = 1_000;

/** Makes a business's event sequence read its outbox. If that fails, the rows stay, and the job tries again the next minute. */
export const drainEvents = async (platform: Platform, businessId: string, environment: Environment): Promise<void> => {
  await runIsolated(platform, "events", () => platform.eventSequence(businessId, environment).drain());
};

/** Drains the events of every business with pending events. */
export const sweepEvents = (platform: Platform): Promise<void> =>
  forEachShard(platform, "events", async (db) => {
    for (const environment of ["live", "sandbox"] as const) {
      const businessIds = await listBusinessesWithEvents(db, environment, maxBusinesses);
      await forEachConcurrently(maxConcurrentConnections, businessIds, (businessId) => drainEvents(platform, businessId, environment));
    }
  });
