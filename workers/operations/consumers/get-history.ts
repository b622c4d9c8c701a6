// Loads data for the history page: the person's audit trail, and the shares for labeling and filtering its entries.
import { personFromSession, type ConsumerSession } from "../../../core/access/session.ts";
import type { AuditTrail } from "../../../core/audit/trail.ts";
import type { BusinessId } from "../../../core/ids.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Database } from "../../../storage/database.ts";
import { listSharesByPerson } from "../../../storage/shares.ts";
import type { CertificateDependencies } from "../certificates/dependencies.ts";
import { getAuditTrailInShards, type TrailQuery } from "../audit/get-audit-trail.ts";
import { queryShards, queryOwnShard } from "./query-shards.ts";
import { mergeSharePages } from "./list-own-shares.ts";

export interface History {
  /** The person's audit trail; null if the audit log is unavailable. */
  readonly trail: AuditTrail | null;
  readonly shares: readonly Share[];
}

/**
 * Returns up to 500 of the person's shares, and one page of the audit trail. `businessFilter` selects the entries: `everybody` for all
 * entries, the ID of a business for entries about shares with it, or null for none.
 */
export const getHistory = async (
  services: CertificateDependencies,
  session: ConsumerSession,
  { businessFilter, ...query }: Omit<TrailQuery, "entityIds"> & { readonly businessFilter: BusinessId | null | "everybody" },
): Promise<History> => {
  const { id, chain } = personFromSession(session);
  const now = services.clock();
  const listShares = (db: Database) => listSharesByPerson(db, id, now);
  const { found, others } = await queryOwnShard(services, id, listShares);
  const listed = queryShards(services, others, listShares).then((pages) => mergeSharePages([found, ...pages]).shares);
  const filter =
    businessFilter === "everybody"
      ? {}
      : { entityIds: (await listed).filter(({ business }) => business.id === businessFilter).map((share) => share.id) };
  const [trail, shares] = await Promise.all([getAuditTrailInShards(services, { id, chain }, others, { ...query, ...filter }), listed]);
  return { trail: trail.ok ? trail.value : null, shares };
};
