// Decides when a shard is full, and in which shard a new account is created. An account never moves, so it is created where there is the
// most room.
import type { ShardId } from "../ids.ts";

/** `open`: new accounts are created in the shard. `closed`: only existing accounts use the shard. */
export const shardStates = ["open", "closed"] as const;
export type ShardState = (typeof shardStates)[number];

export interface ShardFill {
  readonly shard: ShardId;
  readonly state: ShardState;
  /** The size in bytes at the last measurement; 0 if the shard has not been measured yet. */
  readonly bytes: number;
}

/**
 * The fraction of its size limit from which a shard gets no new accounts. The remaining space is for the certificates, withdrawals and
 * email of its existing accounts.
 */
const fullRatio = 0.7;

/**
 * The fraction of its size limit from which a shard issues no certificates. The last tenth is for withdrawals, which must always be
 * possible. It has space for one withdrawal for about every fifth certificate of a full shard.
 */
export const issuingRatio = 0.9;

/** Returns how full a shard is, in whole percent. */
const getFillPercent = (bytes: number, maxBytes: number): number => Math.floor((100 * bytes) / maxBytes);

const takesAccounts = ({ state, bytes }: ShardFill, maxBytes: number): boolean => state === "open" && bytes < fullRatio * maxBytes;

/**
 * Returns the emptiest shard that takes new accounts. Shards that are equally full in whole percent count as equally empty, and the first
 * of them is chosen. If every shard is closed or full, all of them are considered, so that sign-ups still succeed.
 */
export const choosePlacement = (shards: readonly ShardFill[], maxBytes: number): ShardId => {
  const available = shards.filter((shard) => takesAccounts(shard, maxBytes));
  const byFill = (available.length > 0 ? available : shards).toSorted(
    (a, b) => getFillPercent(a.bytes, maxBytes) - getFillPercent(b.bytes, maxBytes) || (a.shard < b.shard ? -1 : 1),
  );
  const [emptiest] = byFill;
  if (emptiest === undefined) throw new Error("shards: no database is bound");
  return emptiest.shard;
};
