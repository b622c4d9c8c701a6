// Tells event sequences to read their events from the change log: one business's sequence after a response, and all sequences with unread
// events every minute.
import type { Environment } from "../../core/access/entitlement.ts";
import { getEventSequenceName, parseEventSequenceName } from "../../core/events/event-sequence-name.ts";
import { secondMs } from "../../core/time.ts";
import { runReader } from "../../storage/change-reader.ts";
import { withDeadline } from "../../storage/database.ts";
import { createEventReader } from "../../storage/public-events.ts";
import { runIsolated } from "../log.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachConcurrently, maxConcurrentConnections } from "./for-each-concurrently.ts";
import { forEachShard } from "./for-each-shard.ts";

// A healthy sequence reads 500 events in a few milliseconds. After this time, the sweep continues with the next sequence.
const drainTimeoutMs = 5 * secondMs;

/** Returns false if the sequence did not read its events in time. */
const drainSequence = async (platform: Platform, name: string): Promise<boolean> => {
  const { businessId, environment } = parseEventSequenceName(name);
  const drain = (): Promise<boolean> => platform.eventSequence(businessId, environment).drain();
  return (await runIsolated(platform, "events", () => withDeadline(drain, drainTimeoutMs))) === true;
};

/** Tells a business's event sequence to read its events. If that fails, the sweep tries again within a minute. */
export const drainEvents = async (platform: Platform, businessId: string, environment: Environment): Promise<void> => {
  await drainSequence(platform, getEventSequenceName(businessId, environment));
};

/** Tells every event sequence with unread events to read them. A sequence that fails does not delay the others. */
export const sweepEvents = (platform: Platform): Promise<void> => {
  const reader = createEventReader(async (sequences) => {
    const failed = new Set<string>();
    await forEachConcurrently(maxConcurrentConnections, sequences, async (name) => {
      if (!(await drainSequence(platform, name))) failed.add(name);
    });
    return failed;
  });
  return forEachShard(platform, "events", (db) => runReader(db, reader, { clock: platform.clock, canContinue: platform.hasBudget }));
};
