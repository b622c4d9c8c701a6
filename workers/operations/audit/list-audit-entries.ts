// Lists a page of a business's audit trail for its members, with the actor of each entry. Use `getAuditTrail` to get proofs.
import type { Actor } from "../../../core/actor.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { matchesActor, type ActorFilter } from "../../../core/audit/actor-filter.ts";
import type { CommittedPayload } from "../../../core/audit/trail.ts";
import { getPayloadActor } from "../../../core/domain-events.ts";
import { shardOfId, type ShardId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { StoredEntry } from "../../../durable-objects/audit-log/tables.ts";
import type { ApiKey } from "../../../storage/api-keys.ts";
import { listOriginDomains } from "../../../storage/certificates.ts";
import type { Client } from "../../../storage/clients.ts";
import type { Domain } from "../../../storage/domains.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import type { Member } from "../../../storage/members.ts";
import { listCommittedPayloads, listWaitingEntries } from "../../../storage/audit-entries.ts";
import { runIsolated } from "../../log.ts";
import { listApiKeys } from "../portal/list-api-keys.ts";
import { listClients } from "../portal/list-clients.ts";
import { listDomains } from "../portal/list-domains.ts";
import { listMembers } from "../portal/list-members.ts";
import type { AuditDependencies } from "./dependencies.ts";

/**
 * The number of entries to read for one page if the list is filtered by actor. The actor is stored only in the encrypted payload, so each
 * of these entries must be decrypted.
 */
const maxPayloadsOpened = 200;

export interface AuditEntryQuery {
  readonly limit: number;
  /** The page contains only entries before this sequence number; null for the newest entries. */
  readonly beforeSeq: number | null;
  readonly type: string | null;
  readonly entityId: string | null;
  readonly actor: ActorFilter | null;
}

export interface AuditEntry {
  readonly seq: string;
  readonly at: string;
  readonly type: string;
  readonly entityType: string;
  readonly entityId: string;
  /** The person or program that made the change; null if the payload was erased. */
  readonly actor: Actor | null;
  /** For an issued certificate: true if a server, not a browser, sent the submission. */
  readonly isFromServer: boolean;
}

export interface AuditEntryPage {
  /** The entries, newest first. With a filter, the page can be short or empty even if older entries follow. */
  readonly entries: readonly AuditEntry[];
  readonly nextBeforeSeq: string | null;
  /** True if there are committed entries that are not in the log yet. */
  readonly hasPending: boolean;
  readonly members: readonly Member[];
  readonly keys: readonly ApiKey[];
  readonly clients: readonly Client[];
  readonly domains: readonly Domain[];
  /** The domain of each issued certificate's form, by certificate ID. */
  readonly originDomains: ReadonlyMap<string, string>;
}

/**
 * Looks up in one shard:
 * - the payloads of the page's entries that are from this shard
 * - for entries about issued certificates, the domain of the form
 * - one entry that the audit log has not recorded yet, if there is one
 */
const lookUpShardEntries = (services: AuditDependencies, member: MemberSession, shardId: ShardId, rows: readonly StoredEntry[]) => {
  const db = services.shards.get(shardId);
  const { id, chain } = member.business;
  const recorded = rows.filter(({ shard }) => shard === shardId);
  const issued = recorded.filter(({ type }) => type === "certificate.issued").map(({ entity_id }) => entity_id);
  return combineLookups(db, [
    listCommittedPayloads(db, services.vault, chain.tag, recorded),
    listWaitingEntries(db, { auditLog: chain.auditLog, chainTag: chain.tag, max: 1 }),
    listOriginDomains(db, id, issued),
  ]);
};

/** Returns one page, newest entries first. Returns `storage_unavailable` if the log or a shard does not respond. */
export const listAuditEntries = async (
  services: AuditDependencies,
  member: MemberSession,
  { limit, beforeSeq, type, entityId, actor }: AuditEntryQuery,
): Promise<Result<AuditEntryPage, "storage_unavailable">> => {
  const { id, chain, otherShards } = member.business;
  const ownShard = shardOfId(id);
  const found = await runIsolated(services, "audit", async (): Promise<AuditEntryPage> => {
    const log = services.auditLogStub(chain.auditLog);
    for (const shardId of [ownShard, ...otherShards]) await log.drainNow(shardId);
    const page = await log.getChainPage(chain.tag, {
      limit: actor === null ? limit : maxPayloadsOpened,
      beforeSeq,
      about: entityId === null ? null : [entityId],
      types: type === null ? null : [type],
    });
    const rows = page?.entries ?? [];
    const readShards = new Set([...otherShards, ...rows.map(({ shard }) => shard as ShardId)]);
    readShards.delete(ownShard);
    const [[ownPayloads, members, keys, clients, domains], ...others] = await Promise.all([
      combineLookups(services.shards.get(ownShard), [
        lookUpShardEntries(services, member, ownShard, rows),
        listMembers(services, member),
        listApiKeys(services, member),
        listClients(services, member),
        listDomains(services, member),
      ]),
      ...[...readShards].map((shardId) => lookUpShardEntries(services, member, shardId, rows)),
    ]);
    const inShards = [ownPayloads, ...others];
    const payloads = new Map<string, CommittedPayload | null>(inShards.flatMap(([part]) => [...part]));
    const entries = rows.map((row): AuditEntry => {
      const payload = payloads.get(row.change_id)?.payload;
      return {
        seq: row.seq,
        at: row.at,
        type: row.type,
        entityType: row.entity_type,
        entityId: row.entity_id,
        actor: payload === undefined ? null : getPayloadActor(payload),
        isFromServer: payload?.captured_via === "server",
      };
    });
    const matching = actor === null ? entries : entries.filter((entry) => matchesActor(entry.actor, actor));
    const shown = matching.slice(0, limit);
    return {
      entries: shown,
      nextBeforeSeq: matching.length > limit ? (shown.at(-1)?.seq ?? null) : (page?.nextBeforeSeq ?? null),
      hasPending: inShards.some(([, waiting]) => waiting.length > 0),
      members,
      keys,
      clients,
      domains,
      originDomains: new Map(inShards.flatMap(([, , origins]) => [...origins])),
    };
  });
  return found === undefined ? refuse("storage_unavailable") : ok(found);
};
