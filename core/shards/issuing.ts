// The shards in which a business issues certificates. The first one is the shard of the business's account. When the current shard is full,
// the business starts to issue in another one.
import { shardOfId, type BusinessId, type ShardId } from "../ids.ts";
import type { Instant } from "../time.ts";

/** A shard other than the account's own shard, and when the business started to issue certificates there. */
export interface IssuingShard {
  readonly shard: ShardId;
  readonly startedAt: Instant;
}

interface Issuer {
  readonly id: BusinessId;
  readonly issuingShards: readonly IssuingShard[];
}

const listInOrder = ({ id, issuingShards }: Issuer): readonly IssuingShard[] => [
  { shard: shardOfId(id), startedAt: 0 },
  ...issuingShards.toSorted((a, b) => a.startedAt - b.startedAt),
];

/** Returns the shard in which new certificates are issued. */
export const getCurrentShard = (issuer: Issuer): ShardId => (listInOrder(issuer).at(-1) as IssuingShard).shard;

/** Lists the earlier shards that can contain certificates issued after `since`. */
export const listEarlierShards = (issuer: Issuer, since: Instant): readonly ShardId[] => {
  const inOrder = listInOrder(issuer);
  return inOrder.slice(0, -1).flatMap(({ shard }, at) => ((inOrder[at + 1]?.startedAt ?? 0) > since ? [shard] : []));
};
