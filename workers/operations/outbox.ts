// Does what the outboxes hold. Called right after an answer and by the minute cron; safe to call at any time, from
// anywhere, twice at once.
import { kindOfError } from "../log.ts";
import type { Platform } from "../services.ts";
import { capturePolicies } from "./policies.ts";

/** Every home in turn; a home that fails does not keep the others waiting. */
export const relayOutbox = async (platform: Platform): Promise<void> => {
  for (const [, db] of platform.homes.all()) {
    try {
      await capturePolicies(platform, db);
    } catch (error) {
      platform.log.fault({ at: "outbox", error: kindOfError(error) }); // the rows stay, the next minute tries again
    }
  }
};
