// Sees to it that committed events are placed in their business's sequence: right after an answer, and each minute for
// whatever is left.
import type { Environment } from "../../core/access/entitlement.ts";
import { businessesWithEvents } from "../../storage/outboxes/events.ts";
import { failingAlone } from "../log.ts";
import type { Platform } from "../services.ts";
import { inEachHome } from "./each-home.ts";
import { inParallel } from "./in-parallel.ts";

const maxBusinesses = 1_000;
const atOnce = 5; // a Worker may wait for six connections; one stays free

/** Where it fails the rows stay, and the next minute tries again. */
export const placeEvents = async (platform: Platform, businessId: string, environment: Environment): Promise<void> => {
  await failingAlone(platform, "events", () => platform.businessLog(businessId, environment).drain());
};

/** What no request has seen to: every business whose events wait. */
export const sweepEvents = (platform: Platform): Promise<void> =>
  inEachHome(platform, "events", async (db) => {
    for (const environment of ["live", "sandbox"] as const) {
      const waiting = await businessesWithEvents(db, environment, maxBusinesses);
      await inParallel(atOnce, waiting, (businessId) => placeEvents(platform, businessId, environment));
    }
  });
