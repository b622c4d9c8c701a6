// Implements GET /v1/shares/{id}. Reads a share for the business.
import type { BusinessScope } from "../../../core/access/principal.ts";
import type { AuditChain } from "../../../core/domain-events.ts";
import type { ShareId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import type { Found } from "../../../storage/database.ts";
import { openRevocationReason } from "../../../storage/share-changes.ts";
import { findShareDetail } from "../../../storage/shares.ts";
import { runIsolated } from "../../log.ts";
import type { ShareDependencies } from "./dependencies.ts";

export interface ShareHistoryEntry {
  readonly at: Instant;
  readonly type: string;
  /** The entry's sequence number in the audit chain, as a string; null if the audit log does not have the entry yet or is unavailable. */
  readonly auditSeq: string | null;
}

export interface ShareDetail extends Pick<Found<typeof findShareDetail>, "share" | "disclosureText" | "anchor"> {
  readonly history: readonly ShareHistoryEntry[];
  /** The person's reason for revoking; null if the person gave none. */
  readonly reason: string | null;
}

const findAuditSeqs = async (
  services: ShareDependencies,
  chain: AuditChain,
  entryIds: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  if (entryIds.length === 0) return new Map();
  const entries = await runIsolated(services, "audit", () => services.auditLogStub(chain.auditLog).listEntries(chain.tag, [...entryIds]));
  return new Map(entries?.map(({ change_id, seq }) => [change_id, seq]));
};

/** Returns the share with its history, or `not_found` for unknown shares and other businesses' shares. */
export const getBusinessShare = async (
  services: ShareDependencies,
  { business, environment }: BusinessScope,
  id: ShareId | null,
): Promise<Result<ShareDetail, "not_found">> => {
  if (id === null) return refuse("not_found");
  const found = await findShareDetail(services.shards.forId(id), id, { businessId: business.id, environment }, services.clock());
  if (found === null) return refuse("not_found");
  const { history, chain, reasonSealed, ...rest } = found;
  const seqs = await findAuditSeqs(
    services,
    chain,
    history.filter(({ isDrained }) => isDrained).map(({ entryId }) => entryId),
  );
  return ok({
    ...rest,
    history: history.map(({ at, type, entryId }) => ({ at, type, auditSeq: seqs.get(entryId) ?? null })),
    reason: await openRevocationReason(services.vault, rest.share, reasonSealed),
  });
};
