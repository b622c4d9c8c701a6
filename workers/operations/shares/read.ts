// Shares as a business reads them: its list, one of them, and the values of an active one. Every reading of values is in both audit
// chains before it is answered. And one share as its person reads it: in full, with what both sides wrote.
import type { Person, Principal } from "../../../core/access/principal.ts";
import type { AuditChain } from "../../../core/facts.ts";
import type { ShareId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { ContactFields, ContactKey } from "../../../core/shares/fields.ts";
import { statusAt, type ShareStatus } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import type { Found } from "../../../storage/database.ts";
import { openNote, openReason } from "../../../storage/share-changes.ts";
import { openCopy, readCurrent } from "../../../storage/share-values.ts";
import { detailedShare, ownShares, shareOfPerson, type SharePage } from "../../../storage/shares.ts";
import { failingAlone } from "../../log.ts";
import type { Proofs, Runtime, Schedules, Stores } from "../../services.ts";

export type { SharePage };

export type ShareReader = Pick<Principal, "business" | "environment">;

export interface SharesQuery {
  readonly status: ShareStatus | null;
  readonly limit: number;
  /** The last share of the page before. */
  readonly startingAfter: ShareId | null;
}

/** Newest first. Refuses a place to start that is none of the business's shares. */
export const listShares = async (
  services: Runtime & Stores,
  { business, environment }: ShareReader,
  query: SharesQuery,
): Promise<Result<SharePage, "invalid_request">> => {
  const db = services.homes.of(business.id);
  const page = await ownShares(db, { businessId: business.id, environment }, query, services.clock());
  return page === null ? refuse("invalid_request", "starting_after: must be the id of a share of yours.") : ok(page);
};

export interface ShareHistoryEntry {
  readonly at: Instant;
  readonly type: string;
  /** Decimal; null until the log has taken it, and while the log does not answer. */
  readonly auditSeq: string | null;
}

export interface ShareDetail extends Pick<Found<typeof detailedShare>, "share" | "disclosureText" | "anchor"> {
  readonly history: readonly ShareHistoryEntry[];
  /** Why the person stopped, in their words. */
  readonly reason: string | null;
}

const seqsOf = async (services: Runtime & Proofs, chain: AuditChain, entryIds: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  if (entryIds.length === 0) return new Map();
  const entries = await failingAlone(services, "audit", () => services.auditLog(chain.shard).entriesOf(chain.tag, [...entryIds]));
  return new Map(entries?.map(({ outbox_id, seq }) => [outbox_id, seq]));
};

/** Refuses `not_found` for unknown and foreign shares alike. */
export const readShare = async (
  services: Runtime & Stores & Proofs,
  { business, environment }: ShareReader,
  id: ShareId | null,
): Promise<Result<ShareDetail, "not_found">> => {
  if (id === null) return refuse("not_found");
  const found = await detailedShare(services.homes.of(id), id, { businessId: business.id, environment }, services.clock());
  if (found === null) return refuse("not_found");
  const { history, chain, reasonSealed, ...rest } = found;
  const seqs = await seqsOf(
    services,
    chain,
    history.filter(({ isDrained }) => isDrained).map(({ entryId }) => entryId),
  );
  return ok({
    ...rest,
    history: history.map(({ at, type, entryId }) => ({ at, type, auditSeq: seqs.get(entryId) ?? null })),
    reason: await openReason(services.vault, rest.share, reasonSealed),
  });
};

export interface CurrentValues {
  readonly shareId: ShareId;
  readonly scope: readonly ContactKey[];
  /** Those of the scope that have a value. */
  readonly fields: ContactFields;
  readonly asOf: Instant;
}

/** The values of an active share as they are now. Refuses `not_found`, then `share_inactive`. */
export const readCurrentValues = async (
  services: Runtime & Stores & Schedules,
  principal: Principal,
  id: ShareId | null,
): Promise<Result<CurrentValues, "not_found" | "share_inactive">> => {
  if (id === null) return refuse("not_found");
  const { business, environment, keyId } = principal;
  const now = services.clock();
  const row = await readCurrent(services.homes.of(id), { id, businessId: business.id, environment, keyId, now });
  if (row === null) return refuse("not_found");
  const asOf = now + row.clockOffsetMs;
  const isActive = statusAt(row.state, row.expiresAt, asOf) === "active";
  const fields = isActive ? await openCopy(services.vault, { id, businessId: business.id }, row) : null;
  if (fields === null) return refuse("share_inactive");
  services.scheduleFollowUp();
  return ok({ shareId: id, scope: row.scope, fields, asOf });
};

export interface OwnShare extends Omit<Found<typeof shareOfPerson>, "reasonSealed" | "acknowledgementSealed"> {
  readonly reason: string | null;
  /** What the business wrote when it acknowledged. */
  readonly note: string | null;
}

/** Refuses `not_found` for unknown shares and somebody else's alike. */
export const readOwnShare = async (
  { homes, vault, clock }: Runtime & Stores,
  { id: consumerId }: Person,
  id: ShareId | null,
): Promise<Result<OwnShare, "not_found">> => {
  const found = id === null ? null : await shareOfPerson(homes.of(id), id, consumerId, clock());
  if (found === null) return refuse("not_found");
  const { reasonSealed, acknowledgementSealed, ...rest } = found;
  const [reason, note] = await Promise.all([
    openReason(vault, rest.share, reasonSealed),
    openNote(vault, rest.share, acknowledgementSealed),
  ]);
  return ok({ ...rest, reason, note });
};
