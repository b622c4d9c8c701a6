// Shares as a business reads them, and as a change of them is decided. The home of a share is its business's, and it is the truth about
// the share: nothing of it is kept anywhere else. What is told as the status is computed with the time at hand.
import { and, desc, eq, gt, inArray, lt, lte, sql, type SQL } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { PublishedAnchor } from "../core/certificates/published.ts";
import type { FactType } from "../core/facts.ts";
import type { MailLanguage } from "../core/mail/templates.ts";
import type { BusinessId, ConsumerId, ShareId } from "../core/ids.ts";
import type { ShareChains } from "../core/shares/grant.ts";
import { scopeOfBits } from "../core/shares/fields.ts";
import { statusAt, type Share, type ShareStatus } from "../core/shares/share.ts";
import type { Instant } from "../core/time.ts";
import { chainOfBusiness } from "./accounts.ts";
import { anchorFields } from "./certificates.ts";
import { batch, type Database } from "./database.ts";
import { jsonRow } from "./json-rows.ts";
import { allOf, listed, query } from "./query.ts";
import { shareClockOffset, timeOfOwner } from "./sandbox-clocks.ts";
import { anchors, auditOutbox, businesses, disclosures, shareAcknowledgements, shares } from "./schema.ts";

const acknowledgedAt = sql<Instant | null>`${query
  .select({ at: shareAcknowledgements.acknowledgedAt })
  .from(shareAcknowledgements)
  .where(eq(shareAcknowledgements.shareId, shares.id))}`.as("acknowledged_at");

export const shareFields = {
  ord: shares.ord,
  id: shares.id,
  state: shares.state,
  fingerprint: shares.fingerprint,
  businessId: shares.businessId,
  businessName: shares.businessName,
  clientId: shares.clientId,
  environment: shares.environment,
  origin: shares.origin,
  purpose: shares.purpose,
  scope: shares.scope,
  disclosureHash: shares.disclosureHash,
  createdAt: shares.createdAt,
  expiresAt: shares.expiresAt,
  durationDays: shares.durationDays,
  revokedAt: shares.revokedAt,
  ceaseBy: shares.ceaseBy,
  supersedes: shares.supersedes,
  supersededBy: shares.supersededBy,
  acknowledgedAt,
  clockOffsetMs: shareClockOffset.as("clock_offset_ms"),
};

export const sharesOf = (db: Database) => db.select(shareFields).from(shares);
type ShareRow = Awaited<ReturnType<ReturnType<typeof sharesOf>["all"]>>[number];

export const toShare = (
  { ord: _, state, businessId, businessName, scope, ...rest }: ShareRow & Pick<Share, "lastDeliveredAt">,
  now: Instant,
): Share => ({
  ...rest,
  status: statusAt(state, rest.expiresAt, now + rest.clockOffsetMs),
  business: { id: businessId, name: businessName },
  scope: scopeOfBits(scope),
});

/** Whose shares a business may read. */
export interface ShareOwner {
  readonly businessId: BusinessId;
  readonly environment: Environment;
}

const isOwn = ({ businessId, environment }: ShareOwner): SQL =>
  allOf(eq(shares.businessId, businessId), eq(shares.environment, environment));

export interface SharePage {
  readonly shares: readonly Share[];
  readonly hasMore: boolean;
}

/**
 * Newest first, from behind `startingAfter`; null when that is none of the owner's. The few that have expired and that the sweep has
 * not come to are found by the index of what is due: the planner would read every active share instead.
 */
export const ownShares = async (
  db: Database,
  owner: ShareOwner,
  asked: { readonly status: ShareStatus | null; readonly limit: number; readonly startingAfter: ShareId | null },
  now: Instant,
): Promise<SharePage | null> => {
  const { status, limit, startingAfter } = asked;
  const start = query
    .select({ ord: shares.ord })
    .from(shares)
    .where(allOf(eq(shares.id, startingAfter ?? ("" as ShareId)), isOwn(owner)));
  const behind = startingAfter === null ? undefined : lt(shares.ord, sql`(${start})`);
  const time = timeOfOwner(owner, now);
  const page = (more: SQL | undefined) =>
    sharesOf(db)
      .where(and(isOwn(owner), behind, more))
      .orderBy(desc(shares.ord))
      .limit(limit + 1);
  // With the plus signs only the index of what is due serves.
  const overdue = sharesOf(db)
    .where(
      and(
        eq(shares.environment, owner.environment),
        sql`+${shares.businessId} = ${owner.businessId}`,
        lte(shares.nextDueAt, time),
        lte(shares.expiresAt, time),
        startingAfter === null ? undefined : sql`+${shares.ord} < (${start})`,
      ),
    )
    .orderBy(sql`+${shares.ord} desc`)
    .limit(limit + 1);
  const state = status === null ? undefined : eq(shares.state, status);
  const first = db
    .select({ ord: shares.ord })
    .from(shares)
    .where(eq(shares.ord, sql`(${start})`));
  const read = page(status === "active" ? and(state, gt(shares.expiresAt, time)) : state);
  const [found, rows, more = []] = await (status === "expired" ? batch(db, [first, read, overdue]) : batch(db, [first, read]));
  if (startingAfter !== null && found.length === 0) return null;
  const merged = [...rows, ...more].sort((a, b) => b.ord - a.ord);
  return { shares: merged.slice(0, limit).map((row) => toShare(row, now)), hasMore: merged.length > limit };
};

/** The chains that tell of a share: its business's, and its person's where that is somebody with an account. */
export const chainFields = { business: chainOfBusiness, person: { tag: shares.consumerChain, shard: shares.consumerShard } };

interface ChainRow extends Pick<ShareChains, "business"> {
  readonly person: { readonly tag: string | null; readonly shard: number | null };
}

export const chainsOf = ({ business, person: { tag, shard } }: ChainRow): ShareChains => ({
  business,
  person: tag === null || shard === null ? null : { tag, shard },
});

/** A share with what a change of it needs. */
export interface ChangeableShare {
  readonly share: Share;
  readonly chains: ShareChains;
  /** Null for a test person, and once the account is erased. */
  readonly consumerId: ConsumerId | null;
  readonly language: MailLanguage;
  readonly disclosureText: string;
}

/** By its id, for whoever may: a business for its own, the person for theirs, or whoever holds the link that was mailed for it. */
export const changeableShare = async (
  db: Database,
  id: ShareId,
  whose: ShareOwner | { readonly consumerId: ConsumerId } | "link",
  now: Instant,
): Promise<ChangeableShare | null> => {
  const isTheirs = whose === "link" ? undefined : "consumerId" in whose ? eq(shares.consumerId, whose.consumerId) : isOwn(whose);
  const row = await db
    .select({
      share: shareFields,
      ...chainFields,
      consumerId: shares.consumerId,
      language: shares.language,
      disclosureText: disclosures.text,
    })
    .from(shares)
    .innerJoin(businesses, eq(businesses.id, shares.businessId))
    .innerJoin(disclosures, eq(disclosures.hash, shares.disclosureHash))
    .where(and(eq(shares.id, id), isTheirs))
    .get();
  if (row === undefined) return null;
  const { share, business, person, ...rest } = row;
  return { ...rest, share: toShare(share, now), chains: chainsOf({ business, person }) };
};

export interface SharePast {
  readonly at: Instant;
  readonly type: FactType;
  /** The row of the entry, and whether the log has taken it. */
  readonly entryId: string;
  readonly isDrained: boolean;
}

export interface DetailedShare {
  readonly share: Share;
  readonly disclosureText: string;
  readonly anchor: PublishedAnchor | null;
  /** In the words of the business's chain, oldest first. */
  readonly history: readonly SharePast[];
  readonly chain: ShareChains["business"];
  readonly reasonSealed: string | null;
}

export const firstAnchor = (row: SQL) =>
  query
    .select({ row })
    .from(anchors)
    .where(allOf(eq(anchors.entityId, shares.id), inArray(anchors.event, ["share.created", "share.renewed"])))
    .orderBy(anchors.ord)
    .limit(1);

/** What happened to a share. That another took its place is told by the entry of that one. */
const isOfShare = (id: ShareId): SQL => {
  const { entityId, type } = auditOutbox;
  const successor = query.select({ id: shares.supersededBy }).from(shares).where(eq(shares.id, id));
  return sql`(${entityId} = ${id} or (${entityId} = (${successor}) and ${eq(type, "share.renewed")}))`;
};

/** Everything a business may read about a share of its own. One round trip. */
export const detailedShare = async (db: Database, id: ShareId, owner: ShareOwner, now: Instant): Promise<DetailedShare | null> => {
  const { at, type, drainedAt } = auditOutbox;
  const [[row], history] = await batch(db, [
    db
      .select({
        ...shareFields,
        disclosureText: disclosures.text.as("disclosure_text"),
        anchor: jsonRow(anchorFields, firstAnchor).as("anchor"),
        ...chainOfBusiness,
        reasonSealed: shares.reasonSealed,
      })
      .from(shares)
      .innerJoin(businesses, eq(businesses.id, shares.businessId))
      .innerJoin(disclosures, eq(disclosures.hash, shares.disclosureHash))
      .where(allOf(eq(shares.id, id), isOwn(owner))),
    db
      .select({ at, type, entryId: auditOutbox.id, drainedAt })
      .from(auditOutbox)
      .innerJoin(businesses, eq(businesses.auditChain, auditOutbox.chain))
      .where(allOf(isOfShare(id), eq(businesses.id, owner.businessId)))
      .orderBy(auditOutbox.ord),
  ]);
  if (row === undefined) return null;
  const { disclosureText, anchor, tag, shard, reasonSealed, ...share } = row;
  return {
    share: toShare(share, now),
    disclosureText,
    anchor,
    history: history.map(({ drainedAt: drained, ...entry }) => ({ ...entry, isDrained: drained !== null })),
    chain: { tag, shard },
    reasonSealed,
  };
};

export const sharesByIds = async (db: Database, ids: readonly ShareId[], now: Instant): Promise<readonly Share[]> =>
  (await sharesOf(db).where(inArray(shares.id, listed(ids)))).map((row) => toShare(row, now));
