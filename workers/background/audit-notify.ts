// Tells the audit log that outboxes hold something for its chains: it reads them itself.
import { kindOfError } from "../log.ts";
import type { Platform } from "../services.ts";

/** Soon after a commit, and each minute. A shard that cannot be told keeps no other waiting. */
export const notifyAudit = async (platform: Platform): Promise<void> => {
  for (const shard of platform.config.auditKeys.keys()) {
    try {
      await platform.auditLog(shard).notify();
    } catch (error) {
      platform.log.fault({ at: "audit", error: kindOfError(error) }); // the rows stay; the next minute tells it again
    }
  }
};
