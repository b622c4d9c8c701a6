// Every quarter of an hour the audit log closes a period, signs over it, and the statement of that goes to every ledger
// (SPEC, What the service does 5). A window that was missed is simply absent; the next one covers it.
import { isoOf, minuteMs, type Instant } from "../../core/time.ts";
import { highwater, keepCheckpoint } from "../../storage/checkpoints.ts";
import { kindOfError } from "../log.ts";
import type { Platform } from "../services.ts";

const windowMs = 15 * minuteMs;

const checkpointShard = async (platform: Platform, db: D1Database, shard: number, window: number): Promise<void> => {
  const log = platform.auditLog(shard);
  const known = await highwater(db, shard);
  // A log whose storage was set back must not sign a second history: it freezes itself and says so.
  if (known !== null && !(await log.assertHighwater(known.size, known.root))) {
    platform.log.fault({ at: "audit", error: "the log is behind what it signed: frozen" });
    return;
  }
  const closed = await log.checkpoint(window, isoOf(window * windowMs));
  if (closed === null) return;
  const { origin, size, root, note, headsRoot, headsSize, at } = closed;
  const ledgerIds = platform.ledgers.map(({ id }) => id);
  await keepCheckpoint(
    db,
    { origin, shard, window, at: Date.parse(at), size, root, note, headsRoot, headsSize },
    ledgerIds,
    platform.clock(),
  );
};

/** Soon after a commit, and each minute: what the outboxes hold goes into the chains. */
export const kickAudit = async (platform: Platform): Promise<void> => {
  for (const shard of platform.config.auditKeys.keys()) {
    try {
      await platform.auditLog(shard).kick();
    } catch (error) {
      platform.log.fault({ at: "audit", error: kindOfError(error) }); // the rows stay; the next minute kicks again
    }
  }
};

/** One checkpoint a shard for the window that `now` lies in; a second call in the same window changes nothing. */
export const checkpointAudit = async (platform: Platform, now: Instant): Promise<void> => {
  const [first] = platform.homes.all();
  if (first === undefined) return;
  for (const shard of platform.config.auditKeys.keys()) {
    try {
      await checkpointShard(platform, first[1], shard, Math.floor(now / windowMs));
    } catch (error) {
      platform.log.fault({ at: "audit", error: kindOfError(error) }); // the next window covers what this one missed
    }
  }
};
