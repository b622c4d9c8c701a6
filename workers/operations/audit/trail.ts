// A principal's audit trail, proven: what was committed before the question is in the answer, unless the log is frozen; then it
// is told as waiting.
import type { AuditTrail, ProvenPage } from "../../../core/audit/trail.ts";
import type { AuditChain } from "../../../core/facts.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { homeOfId, type ConsumerId, type Home } from "../../../core/ids.ts";
import { committedPayloads } from "../../../storage/audit.ts";
import type { Database } from "../../../storage/database.ts";
import { newestCheckpointAnchor } from "../../../storage/outboxes/anchors.ts";
import { waitingEntries } from "../../../storage/outboxes/audit.ts";
import { homesOfPerson } from "../../../storage/person-records.ts";
import { kindOfError } from "../../log.ts";
import type { Proofs, Runtime, Stores } from "../../services.ts";

const maxWaiting = 200;

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
  /** Entries about these entities alone; without it every entry. */
  readonly about?: readonly string[];
}

/** A person's chain tells of their shares too, which lie in the homes of the businesses. */
const homesOf = async (services: Stores, { id }: TrailOwner): Promise<readonly Home[]> => {
  const own = homeOfId(id);
  const others = id.startsWith("con_") ? await homesOfPerson(services.homes.of(id) as Database, id as ConsumerId) : [];
  return [...new Set([own, ...others])];
};
const databaseOf = (services: Stores, home: Home): Database => services.homes.of(`con_${home}`) as Database;

/** What entries committed to lies in the home of each: the rows that carried them to the log. */
const payloadsOf = async (
  services: Stores,
  chainTag: string,
  entries: readonly { readonly outbox_id: string; readonly home: string }[],
) => {
  const byHome = Map.groupBy(entries, ({ home }) => home as Home);
  const found = await Promise.all(
    [...byHome].map(([home, of]) =>
      committedPayloads(
        databaseOf(services, home),
        services.vault,
        chainTag,
        of.map(({ outbox_id }) => outbox_id),
      ),
    ),
  );
  return new Map(found.flatMap((payloads) => [...payloads]));
};

const readPage = async (
  services: Stores & Proofs,
  { chain }: TrailOwner,
  homes: readonly Home[],
  query: TrailQuery,
): Promise<ProvenPage | null> => {
  const log = services.auditLog(chain.shard);
  for (const home of homes) await log.drainNow(home);
  const proven = await log.proofFor(chain.tag);
  const page = proven === null ? null : await log.readChain(chain.tag, query.limit, query.beforeSeq, proven.size, query.about ?? null);
  if (proven === null || page === null) return null;
  const payloads = await payloadsOf(services, chain.tag, page.entries);
  return {
    chainIndex: page.chainIndex,
    entries: page.entries.map((entry) => ({ ...entry, committed: payloads.get(entry.outbox_id) ?? null })),
    head: page.head,
    nextBeforeSeq: page.nextBeforeSeq,
    proof: proven.proof,
  };
};

/** Refuses `storage_unavailable` when the log cannot be asked. */
export const auditTrail = async (
  services: Runtime & Stores & Proofs,
  owner: TrailOwner,
  query: TrailQuery,
): Promise<Result<AuditTrail, "storage_unavailable">> => {
  const { chain } = owner;
  const homes = await homesOf(services, owner);
  let page: ProvenPage | null;
  try {
    page = await readPage(services, owner, homes, query);
  } catch (error) {
    services.log.fault({ at: "audit", error: kindOfError(error) });
    return refuse("storage_unavailable");
  }
  const [first] = services.homes.all();
  const [pending, anchor] = await Promise.all([
    Promise.all(
      homes.map((home) => waitingEntries(databaseOf(services, home), { shard: chain.shard, chainTag: chain.tag, max: maxWaiting })),
    ),
    page === null || first === undefined ? null : newestCheckpointAnchor(first[1], services.config.ledger.id, page.proof.origin),
  ]);
  const waiting = pending.flat().filter(({ entityId }) => query.about?.includes(entityId) ?? true);
  return ok({ chain: chain.tag, page, pending: waiting, anchor });
};
