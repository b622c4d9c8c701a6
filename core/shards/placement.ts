// Decides when a shard is full, in which shard a new account is created, and in which shard a business issues certificates when its current
// shard is full. Accounts never move, so a new account is created in the shard with the most space.
import type { ShardId } from "../ids.ts";

/** `open`: the shard accepts new accounts and certificates. `closed`: it accepts neither, and only keeps those that it already contains. */
export const shardStates = ["open", "closed"] as const;
export type ShardState = (typeof shardStates)[number];

export interface ShardFill {
  readonly shard: ShardId;
  readonly state: ShardState;
  /** The size in bytes at the last measurement; 0 if the shard has not been measured yet. */
  readonly bytes: number;
}

/**
 * A shard that is filled to this fraction of its size limit gets no new accounts, and new certificates are issued in another shard. The
 * remaining space is for data that existing accounts and certificates still produce: withdrawals, page views and email.
 */
const fullRatio = 0.7;

/**
 * A shard that is filled to this fraction of its size limit issues no certificates, even if no other shard has space. The last tenth is
 * reserved for withdrawals, which must always be possible. It has space to withdraw about one in five of the shard's certificates.
 */
export const issuingRatio = 0.9;

/** Returns how full a shard is, as a percentage rounded down. */
const getFillPercent = (bytes: number, maxBytes: number): number => Math.floor((100 * bytes) / maxBytes);

/** Returns whether the shard accepts new accounts and certificates. */
export const hasRoom = ({ state, bytes }: ShardFill, maxBytes: number): boolean => state === "open" && bytes < fullRatio * maxBytes;

const sortByFill = (shards: readonly ShardFill[], maxBytes: number): readonly ShardFill[] =>
  shards.toSorted((a, b) => getFillPercent(a.bytes, maxBytes) - getFillPercent(b.bytes, maxBytes) || (a.shard < b.shard ? -1 : 1));

/** Returns the emptiest shard that accepts certificates of accounts in other shards, or null if there is none. */
export const chooseOverflow = (shards: readonly ShardFill[], maxBytes: number): ShardId | null =>
  sortByFill(
    shards.filter((shard) => hasRoom(shard, maxBytes)),
    maxBytes,
  )[0]?.shard ?? null;

/**
 * Returns the emptiest shard that accepts new accounts. Fill levels are compared as whole percentages, and equally full shards by name. If
 * every shard is closed or full, all shards are considered, so that sign-ups still succeed. Throws if there are no shards.
 */
export const choosePlacement = (shards: readonly ShardFill[], maxBytes: number): ShardId => {
  const available = shards.filter((shard) => hasRoom(shard, maxBytes));
  const [emptiest] = sortByFill(available.length > 0 ? available : shards, maxBytes);
  if (emptiest === undefined) throw new Error("shards: no database is bound");
  return emptiest.shard;
};
