// A principal's audit trail, proven: what was committed before the question is in the answer, unless the log is frozen; then it
// is told as waiting.
import type { AuditTrail } from "../../../core/audit/trail.ts";
import type { AuditChain } from "../../../core/domain-events.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { firstShard, shardOfId, type ConsumerId, type ShardId } from "../../../core/ids.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import { findNewestCheckpointAnchor } from "../../../storage/outboxes/anchors.ts";
import { listCommittedPayloads, listWaitingEntries } from "../../../storage/outboxes/audit.ts";
import { listPersonShards } from "../../../storage/people.ts";
import { runIsolated } from "../../log.ts";
import type { Proofs, Stores } from "../dependencies.ts";
import type { AuditDependencies } from "./dependencies.ts";

const maxPending = 200;

/** Whose trail it is. */
export interface TrailOwner {
  readonly id: string;
  readonly chain: AuditChain;
}

export interface TrailQuery {
  /** How many entries at most. */
  readonly limit: number;
  /** Entries before this one; null for the newest. */
  readonly beforeSeq: number | null;
  /** Only entries about these entities. Absent: all entries. */
  readonly entityIds?: readonly string[];
}

/** A page of the chain with its proof, once the log has taken what waited in the homes; null before the first entry. */
const loadLogPage = async (services: Proofs, { chain }: TrailOwner, homes: ReadonlySet<ShardId>, query: TrailQuery) => {
  const log = services.auditLogStub(chain.auditLog);
  for (const home of homes) await log.drainNow(home);
  const proven = await log.proveChainHead(chain.tag);
  const page =
    proven === null ? null : await log.getChainPage(chain.tag, query.limit, query.beforeSeq, proven.size, query.entityIds ?? null);
  return proven === null || page === null ? null : { ...page, proof: proven.proof };
};

type LoggedPage = NonNullable<Awaited<ReturnType<typeof loadLogPage>>>;

/** What a home knows of the chain: what these entries of it committed to, in the rows that carried them to the log, and what waits there. */
const loadShardEntries = async (services: Stores, { chain }: TrailOwner, home: ShardId, page: LoggedPage | null) => {
  const db = services.shards.get(home);
  const carried = page === null ? [] : page.entries.filter((entry) => entry.shard === home).map(({ outbox_id }) => outbox_id);
  const [payloads, waiting, anchor = null] = await combineLookups(db, [
    listCommittedPayloads(db, services.vault, chain.tag, carried),
    listWaitingEntries(db, { auditLog: chain.auditLog, chainTag: chain.tag, max: maxPending }),
    ...(page === null ? [] : [findNewestCheckpointAnchor(db, services.ledgerId, page.proof.origin)]),
  ]);
  return { payloads, waiting, anchor };
};

/** Of somebody of whom it is known in which homes besides their own there may be something. Refuses as `auditTrail`. */
export const getAuditTrailInShards = async (
  services: AuditDependencies,
  owner: TrailOwner,
  others: readonly ShardId[],
  query: TrailQuery,
): Promise<Result<AuditTrail, "storage_unavailable">> => {
  if (query.entityIds?.length === 0) return ok({ chain: owner.chain.tag, page: null, pending: [], anchor: null }); // however long the chain is
  const homes = new Set([shardOfId(owner.id), ...others]);
  const trail = await runIsolated(services, "audit", async (): Promise<AuditTrail> => {
    const page = await loadLogPage(services, owner, homes, query);
    // The statements of checkpoints are kept in the first home.
    const asked = page === null ? homes : new Set([...homes, ...page.entries.map(({ shard }) => shard as ShardId), firstShard]);
    const found = await Promise.all([...asked].map((home) => loadShardEntries(services, owner, home, page)));
    const payloads = new Map(found.flatMap((one) => [...one.payloads]));
    return {
      chain: owner.chain.tag,
      page: page && { ...page, entries: page.entries.map((entry) => ({ ...entry, committed: payloads.get(entry.outbox_id) ?? null })) },
      pending: found.flatMap(({ waiting }) => waiting).filter(({ entityId }) => query.entityIds?.includes(entityId) ?? true),
      anchor: found.find(({ anchor }) => anchor !== null)?.anchor ?? null,
    };
  });
  return trail === undefined ? refuse("storage_unavailable") : ok(trail);
};

/** Refuses `storage_unavailable` when the log or a home cannot be asked. */
export const getAuditTrail = async (
  services: AuditDependencies,
  owner: TrailOwner,
  query: TrailQuery,
): Promise<Result<AuditTrail, "storage_unavailable">> => {
  const { id } = owner;
  // A person's chain tells of their shares too, which lie in the homes of the businesses.
  const others = id.startsWith("con_") ? await listPersonShards(services.shards.forId(id), id as ConsumerId) : [];
  return getAuditTrailInShards(services, owner, others, query);
};
