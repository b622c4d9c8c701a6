// Returns the audit trail of a business or person, with a proof. Entries that are committed in a shard but not in the audit log yet, for
// example because the log is frozen, are listed as pending.
import type { AuditTrail } from "../../../core/audit/trail.ts";
import type { AuditChain } from "../../../core/domain-events.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { firstShard, shardOfId, type BusinessId, type ConsumerId, type ShardId } from "../../../core/ids.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import { findNewestCheckpointAnchor } from "../../../storage/published-anchors.ts";
import { listCommittedPayloads, listWaitingEntries } from "../../../storage/audit-entries.ts";
import { listPersonShards } from "../../../storage/people.ts";
import { runIsolated } from "../../log.ts";
import type { Proofs, Stores } from "../dependencies.ts";
import { listOtherShards } from "../query-issuing-shards.ts";
import type { AuditDependencies } from "./dependencies.ts";

const maxPending = 200;

export interface TrailOwner {
  readonly id: string;
  readonly chain: AuditChain;
}

export interface TrailQuery {
  readonly limit: number;
  /** The trail contains only entries before this sequence number; null for the newest entries. */
  readonly beforeSeq: number | null;
  /** Limits the trail to entries about these entity IDs. */
  readonly entityIds?: readonly string[];
}

/**
 * Drains the shards' change logs into the audit log, then reads a page of the chain with its proof. Returns null if the chain has no
 * entries in the log, or if the log cannot prove them, for example because it is frozen.
 */
const loadLogPage = async (services: Proofs, { chain }: TrailOwner, shardIds: ReadonlySet<ShardId>, query: TrailQuery) => {
  const log = services.auditLogStub(chain.auditLog);
  for (const shardId of shardIds) await log.drainNow(shardId);
  const proven = await log.proveChainHead(chain.tag);
  const { limit, beforeSeq, entityIds: about = null } = query;
  const page = proven === null ? null : await log.getChainPage(chain.tag, { limit, beforeSeq, belowSize: proven.size, about });
  return proven === null || page === null ? null : { ...page, proof: proven.proof };
};

type LoggedPage = NonNullable<Awaited<ReturnType<typeof loadLogPage>>>;

/**
 * Reads from one shard: the payloads of the page's entries, the entries that the log has not read yet, and the anchor of the log's newest
 * checkpoint that has a ledger receipt.
 */
const loadShardEntries = async (services: Stores, { chain }: TrailOwner, shardId: ShardId, page: LoggedPage | null) => {
  const db = services.shards.get(shardId);
  const recorded = page === null ? [] : page.entries.filter((entry) => entry.shard === shardId);
  const [payloads, waiting, anchor = null] = await combineLookups(db, [
    listCommittedPayloads(db, services.vault, chain.tag, recorded),
    listWaitingEntries(db, { auditLog: chain.auditLog, chainTag: chain.tag, max: maxPending }),
    ...(page === null ? [] : [findNewestCheckpointAnchor(db, services.getLedgerId(firstShard), page.proof.origin)]),
  ]);
  return { payloads, waiting, anchor };
};

/** Like `getAuditTrail`, for a caller that already knows the owner's other shards. */
export const getAuditTrailInShards = async (
  services: AuditDependencies,
  owner: TrailOwner,
  otherShardIds: readonly ShardId[],
  query: TrailQuery,
): Promise<Result<AuditTrail, "storage_unavailable">> => {
  // An empty list of IDs matches no entry.
  if (query.entityIds?.length === 0) return ok({ chain: owner.chain.tag, page: null, pending: [], anchor: null });
  const shardIds = new Set([shardOfId(owner.id), ...otherShardIds]);
  const trail = await runIsolated(services, "audit", async (): Promise<AuditTrail> => {
    const page = await loadLogPage(services, owner, shardIds, query);
    // The first shard stores the anchor statements of checkpoints.
    const readShardIds =
      page === null ? shardIds : new Set([...shardIds, ...page.entries.map(({ shard }) => shard as ShardId), firstShard]);
    const found = await Promise.all([...readShardIds].map((shardId) => loadShardEntries(services, owner, shardId, page)));
    const payloads = new Map(found.flatMap((entries) => [...entries.payloads]));
    return {
      chain: owner.chain.tag,
      page: page && { ...page, entries: page.entries.map((entry) => ({ ...entry, committed: payloads.get(entry.change_id) ?? null })) },
      pending: found.flatMap(({ waiting }) => waiting).filter(({ entityId }) => query.entityIds?.includes(entityId) ?? true),
      anchor: found.find(({ anchor }) => anchor !== null)?.anchor ?? null,
    };
  });
  return trail === undefined ? refuse("storage_unavailable") : ok(trail);
};

/** Returns one page of the audit trail, newest entries first. Returns `storage_unavailable` if the log or a shard does not respond. */
export const getAuditTrail = async (
  services: AuditDependencies,
  owner: TrailOwner,
  query: TrailQuery,
): Promise<Result<AuditTrail, "storage_unavailable">> => {
  const { id } = owner;
  // A person's chain contains entries about their shares, which are in the businesses' shards. A business's chain contains entries about
  // certificates in other shards.
  const otherShardIds = id.startsWith("con_")
    ? await listPersonShards(services.shards.forId(id), id as ConsumerId)
    : await listOtherShards(services, id as BusinessId);
  return getAuditTrailInShards(services, owner, otherShardIds, query);
};
