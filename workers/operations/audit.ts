// A principal's audit trail, proven: what was committed before the question is in the answer, unless the log is frozen; then it
// is told as waiting.
import { auditTrailView, type AuditTrail } from "../../core/audit/trail.ts";
import type { Json } from "../../core/canonical-json.ts";
import { anchorView } from "../../core/certificates/views.ts";
import type { AuditChain } from "../../core/facts.ts";
import { homeOfId, type BusinessId, type Home } from "../../core/ids.ts";
import { ok, refuse, type Result } from "../../core/result.ts";
import type { Database } from "../../storage/database.ts";
import { committedPayloads } from "../../storage/audit.ts";
import { waitingEntries } from "../../storage/outboxes/audit.ts";
import { newestCheckpointAnchor } from "../../storage/outboxes/anchors.ts";
import { kindOfError } from "../log.ts";
import type { Services } from "../services.ts";

const mostWaiting = 200;

export interface TrailQuery {
  /** How many entries at most. */
  readonly limit: number;
  /** Entries before this one; null for the newest. */
  readonly beforeSeq: number | null;
}

const readTrail = async (
  services: Services,
  db: Database,
  home: Home,
  chain: AuditChain,
  query: TrailQuery,
): Promise<AuditTrail | null> => {
  const log = services.auditLog(chain.shard);
  await log.drainNow(home);
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
    chain: page.chain,
    chainIndex: page.chainIndex,
    entries: page.entries.map((entry) => ({ ...entry, committed: payloads.get(entry.outbox_id) ?? null })),
    head: page.head,
    nextBeforeSeq: page.nextBeforeSeq,
    proof: proven.proof,
  };
};

/** The trail of the chain of `owner`. Refuses `storage_unavailable` when the log cannot be asked. */
export const auditTrail = async (
  services: Services,
  owner: BusinessId,
  chain: AuditChain,
  query: TrailQuery,
): Promise<Result<{ readonly [key: string]: Json }, "storage_unavailable">> => {
  const db = services.homes.of(owner);
  if (db === null) throw new Error("audit: the owner has no home");
  let trail: AuditTrail | null;
  try {
    trail = await readTrail(services, db, homeOfId(owner), chain, query);
  } catch (error) {
    services.log.fault({ at: "audit", error: kindOfError(error) });
    return refuse("storage_unavailable");
  }
  const [first] = services.homes.all();
  const [pending, anchor] = await Promise.all([
    waitingEntries(db, { shard: chain.shard, chainTag: chain.tag, max: mostWaiting }),
    trail === null || first === undefined ? null : newestCheckpointAnchor(first[1], services.config.ledger.id, trail.proof.origin),
  ]);
  return ok(auditTrailView(chain.tag, trail, pending, anchorView(anchor)));
};
