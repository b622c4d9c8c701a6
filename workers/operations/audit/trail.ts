// A principal's audit trail, proven: what was committed before the question is in the answer, unless the log is frozen; then it
// is told as waiting.
import type { AuditTrail, ProvenPage } from "../../../core/audit/trail.ts";
import type { AuditChain } from "../../../core/facts.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { homeOfId } from "../../../core/ids.ts";
import { committedPayloads } from "../../../storage/audit.ts";
import type { Database } from "../../../storage/database.ts";
import { newestCheckpointAnchor } from "../../../storage/outboxes/anchors.ts";
import { waitingEntries } from "../../../storage/outboxes/audit.ts";
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
}

const readPage = async (
  services: Stores & Proofs,
  db: Database,
  { id, chain }: TrailOwner,
  query: TrailQuery,
): Promise<ProvenPage | null> => {
  const log = services.auditLog(chain.shard);
  await log.drainNow(homeOfId(id));
  const proven = await log.proofFor(chain.tag);
  const page = proven === null ? null : await log.readChain(chain.tag, query.limit, query.beforeSeq, proven.size);
  if (proven === null || page === null) return null;
  const payloads = await committedPayloads(
    db,
    services.vault,
    chain.tag,
    page.entries.map(({ outbox_id }) => outbox_id),
  );
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
  const { id, chain } = owner;
  const db = services.homes.of(id) as Database;
  let page: ProvenPage | null;
  try {
    page = await readPage(services, db, owner, query);
  } catch (error) {
    services.log.fault({ at: "audit", error: kindOfError(error) });
    return refuse("storage_unavailable");
  }
  const [first] = services.homes.all();
  const [pending, anchor] = await Promise.all([
    waitingEntries(db, { shard: chain.shard, chainTag: chain.tag, max: maxWaiting }),
    page === null || first === undefined ? null : newestCheckpointAnchor(first[1], services.config.ledger.id, page.proof.origin),
  ]);
  return ok({ chain: chain.tag, page, pending, anchor });
};
