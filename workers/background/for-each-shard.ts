// Runs background work in the database of every shard, or only in the shard of this invocation.
import type { ShardId } from "../../core/ids.ts";
import { minuteMs } from "../../core/time.ts";
import type { Database } from "../../storage/database.ts";
import { runIsolated } from "../log.ts";
import type { Platform } from "../platform/platform.ts";

type ShardDependencies = Pick<Platform, "shards" | "log" | "clock" | "jobShard">;

/**
 * Lists the shards to process. If one invocation processes all of them, starts with a different shard each minute. Therefore, a shard with
 * more work than the budget allows does not block the others.
 */
const listShardsToProcess = ({ shards, clock, jobShard }: ShardDependencies): readonly (readonly [ShardId, Database])[] => {
  if (jobShard !== null) return [[jobShard, shards.get(jobShard)]];
  const all = shards.all();
  const first = Math.floor(clock() / minuteMs) % Math.max(1, all.length);
  return [...all.slice(first), ...all.slice(0, first)];
};

/** Runs `work` for each shard in turn. Logs a failure under `at` and continues with the other shards. */
export const forEachShard = async (
  platform: ShardDependencies,
  at: string,
  work: (db: Database, shard: ShardId) => Promise<unknown>,
): Promise<void> => {
  for (const [shard, db] of listShardsToProcess(platform)) await runIsolated(platform, at, () => work(db, shard));
};
