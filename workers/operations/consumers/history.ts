// The page of a person's history: their audit trail, and the shares by which its entries are told and chosen.
import { personOf, type ConsumerSession } from "../../../core/access/session.ts";
import type { AuditTrail } from "../../../core/audit/trail.ts";
import type { BusinessId } from "../../../core/ids.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Database } from "../../../storage/database.ts";
import { sharesOfPerson } from "../../../storage/shares.ts";
import type { Proofs, Runtime, Stores } from "../../services.ts";
import { auditTrailIn, type TrailQuery } from "../audit/trail.ts";
import { inHomes, inOwnHome } from "./homes.ts";
import { oneList } from "./profile.ts";

export interface History {
  /** Null while the log does not answer. */
  readonly trail: AuditTrail | null;
  readonly shares: readonly Share[];
}

/** Entries about the shares with one business, or every entry. */
export const readHistory = async (
  services: Runtime & Stores & Proofs,
  session: ConsumerSession,
  { of, ...query }: Omit<TrailQuery, "about"> & { readonly of: BusinessId | null | "everybody" },
): Promise<History> => {
  const { id, chain } = personOf(session);
  const now = services.clock();
  const ask = (db: Database) => sharesOfPerson(db, id, now);
  const { found, others } = await inOwnHome(services, id, ask);
  const listed = inHomes(services, others, ask).then((there) => oneList([found, ...there]).shares);
  const about = of === "everybody" ? {} : { about: (await listed).filter(({ business }) => business.id === of).map((share) => share.id) };
  const [trail, shares] = await Promise.all([auditTrailIn(services, { id, chain }, others, { ...query, ...about }), listed]);
  return { trail: trail.ok ? trail.value : null, shares };
};
