// Runs background work in every shard's database.
import type { ShardId } from "../../core/ids.ts";
import { minuteMs } from "../../core/time.ts";
import type { Database } from "../../storage/database.ts";
import { runIsolated } from "../log.ts";
import type { Platform } from "../platform/platform.ts";

/**
 * Rotates the shards so that each minute starts with a different one, so a shard with more work than the budget allows does not starve the
 * others.
 */
const rotateShards = ({ shards, clock }: Pick<Platform, "shards" | "clock">): readonly (readonly [ShardId, Database])[] => {
  const all = shards.all();
  const first = Math.floor(clock() / minuteMs) % Math.max(1, all.length);
  return [...all.slice(first), ...all.slice(0, first)];
};

/** Runs `work` for each shard in turn. A failure is logged under `at` and does not delay the other shards. */
export const forEachShard = async (
  platform: Pick<Platform, "shards" | "log" | "clock">,
  at: string,
  work: (db: Database, shard: ShardId) => Promise<unknown>,
): Promise<void> => {
  for (const [shard, db] of rotateShards(platform)) await runIsolated(platform, at, () => work(db, shard));
};
