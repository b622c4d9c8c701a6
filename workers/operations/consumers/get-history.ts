// The page of a person's history: their audit trail, and the shares by which its entries are told and chosen.
import { personFromSession, type ConsumerSession } from "../../../core/access/session.ts";
import type { AuditTrail } from "../../../core/audit/trail.ts";
import type { BusinessId } from "../../../core/ids.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Database } from "../../../storage/database.ts";
import { listSharesByPerson } from "../../../storage/shares.ts";
import type { ConsumerDependencies } from "./dependencies.ts";
import { getAuditTrailInShards, type TrailQuery } from "../audit/get-audit-trail.ts";
import { queryShards, queryOwnShard } from "./query-shards.ts";
import { mergeSharePages } from "./list-own-shares.ts";

export interface History {
  /** Null while the log does not answer. */
  readonly trail: AuditTrail | null;
  readonly shares: readonly Share[];
}

/** Entries about the shares with one business, or every entry. */
export const getHistory = async (
  services: ConsumerDependencies,
  session: ConsumerSession,
  { of, ...query }: Omit<TrailQuery, "about"> & { readonly of: BusinessId | null | "everybody" },
): Promise<History> => {
  const { id, chain } = personFromSession(session);
  const now = services.clock();
  const ask = (db: Database) => listSharesByPerson(db, id, now);
  const { found, others } = await queryOwnShard(services, id, ask);
  const listed = queryShards(services, others, ask).then((there) => mergeSharePages([found, ...there]).shares);
  const about = of === "everybody" ? {} : { about: (await listed).filter(({ business }) => business.id === of).map((share) => share.id) };
  const [trail, shares] = await Promise.all([getAuditTrailInShards(services, { id, chain }, others, { ...query, ...about }), listed]);
  return { trail: trail.ok ? trail.value : null, shares };
};
