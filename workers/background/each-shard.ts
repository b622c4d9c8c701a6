// Work in the database of every home.
import type { ShardId } from "../../core/ids.ts";
import { minuteMs } from "../../core/time.ts";
import type { Database } from "../../storage/database.ts";
import { runIsolated } from "../log.ts";
import type { Platform } from "../services.ts";

/** Each minute begins with another home: one with work beyond every allowance leaves the others their turn. */
const rotateShards = ({ shards, clock }: Pick<Platform, "shards" | "clock">): readonly (readonly [ShardId, Database])[] => {
  const all = shards.all();
  const first = Math.floor(clock() / minuteMs) % Math.max(1, all.length);
  return [...all.slice(first), ...all.slice(0, first)];
};

/** One home after the other. One that fails keeps no other waiting: its rows stay, and the next run finds them. */
export const forEachShard = async (
  platform: Pick<Platform, "shards" | "log" | "clock">,
  at: string,
  work: (db: Database, home: ShardId) => Promise<unknown>,
): Promise<void> => {
  for (const [home, db] of rotateShards(platform)) await runIsolated(platform, at, () => work(db, home));
};
