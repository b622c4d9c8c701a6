// Shares as both sides read them. The home of a share is its business's, and it is the truth about the share: nothing of it is kept
// anywhere else. What is told as the status is computed with the time at hand.
import { and, desc, eq, gt, inArray, isNull, lt, lte, sql, type SQL } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { PublishedAnchor } from "../core/certificates/published.ts";
import type { FactType } from "../core/facts.ts";
import type { MailLanguage } from "../core/mail/templates.ts";
import type { BusinessId, ConsumerId, ShareId } from "../core/ids.ts";
import type { ShareChains } from "../core/shares/end.ts";
import { scopeOfBits, type ContactFields } from "../core/shares/fields.ts";
import { statusAt, type Share, type ShareStatus } from "../core/shares/share.ts";
import type { Instant } from "../core/time.ts";
import { anchorFields } from "./certificates.ts";
import { fieldsOfText } from "./contact-fields.ts";
import { batch, type Database } from "./database.ts";
import { jsonRow } from "./json-rows.ts";
import { allOf, listed, query } from "./query.ts";
import { shareClockOffset, timeOfOwner } from "./sandbox-clocks.ts";
import { anchors, auditOutbox, businesses, disclosures, shareAcknowledgements, shares } from "./schema.ts";
import type { EncryptionContext, Vault } from "./vault.ts";

const acknowledgedAt = sql<Instant | null>`${query
  .select({ at: shareAcknowledgements.acknowledgedAt })
  .from(shareAcknowledgements)
  .where(eq(shareAcknowledgements.shareId, shares.id))}`.as("acknowledged_at");

const shareFields = {
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

const sharesOf = (db: Database) => db.select(shareFields).from(shares);
type ShareRow = Awaited<ReturnType<ReturnType<typeof sharesOf>["all"]>>[number];

const lastReading = query
  .select({ at: auditOutbox.at })
  .from(auditOutbox)
  .where(allOf(eq(auditOutbox.entityId, shares.id), inArray(auditOutbox.type, ["share.redeemed", "consumer.current_read"])))
  .orderBy(desc(auditOutbox.ord)) // the newest entries of an active share are readings: the first that is looked at is mostly the one
  .limit(1);

/** As the person sees a share of theirs: also when something of it last reached the business. */
const personFields = {
  ...shareFields,
  lastDeliveredAt: sql<Instant | null>`nullif(max(coalesce(${shares.updateSentAt}, 0), coalesce(${lastReading}, 0)), 0)`.as(
    "last_delivered_at",
  ),
};

const toShare = (
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

const maxOfPerson = 500;

/** Of one home: active ones first, then newest first; whether there are more than are answered. */
export const sharesOfPerson = async (db: Database, consumerId: ConsumerId, now: Instant): Promise<SharePage> => {
  const isActive = allOf(eq(shares.state, "active"), gt(shares.expiresAt, now));
  const rows = await db
    .select(personFields)
    .from(shares)
    .where(eq(shares.consumerId, consumerId))
    .orderBy(desc(isActive), desc(shares.ord))
    .limit(maxOfPerson + 1);
  return { shares: rows.slice(0, maxOfPerson).map((row) => toShare(row, now)), hasMore: rows.length > maxOfPerson };
};

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
      business: { tag: businesses.auditChain, shard: businesses.auditShard },
      tag: shares.consumerChain,
      shard: shares.consumerShard,
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
  const { share, business, tag, shard, ...rest } = row;
  return { ...rest, share: toShare(share, now), chains: { business, person: tag === null || shard === null ? null : { tag, shard } } };
};

/** Shares of a person that nobody has ended yet, oldest first, with the chains that tell of them. */
export const unendedShares = async (
  db: Database,
  consumerId: ConsumerId,
  now: Instant,
  max: number,
): Promise<readonly Pick<ChangeableShare, "share" | "chains">[]> => {
  const rows = await db
    .select({
      share: shareFields,
      business: { tag: businesses.auditChain, shard: businesses.auditShard },
      tag: shares.consumerChain,
      shard: shares.consumerShard,
    })
    .from(shares)
    .innerJoin(businesses, eq(businesses.id, shares.businessId))
    .where(allOf(eq(shares.consumerId, consumerId), eq(shares.state, "active")))
    .orderBy(shares.ord)
    .limit(max);
  return rows.map(({ share, business, tag, shard }) => ({
    share: toShare(share, now),
    chains: { business, person: tag === null || shard === null ? null : { tag, shard } },
  }));
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

const firstAnchor = (row: SQL) =>
  query
    .select({ row })
    .from(anchors)
    .where(allOf(eq(anchors.entityId, shares.id), inArray(anchors.event, ["share.created", "share.renewed"])))
    .orderBy(anchors.ord)
    .limit(1);

/** Everything a business may read about a share of its own. One round trip. */
export const detailedShare = async (db: Database, id: ShareId, owner: ShareOwner, now: Instant): Promise<DetailedShare | null> => {
  const { at, type, drainedAt } = auditOutbox;
  const [[row], history] = await batch(db, [
    db
      .select({
        ...shareFields,
        disclosureText: disclosures.text.as("disclosure_text"),
        anchor: jsonRow(anchorFields, firstAnchor).as("anchor"),
        tag: businesses.auditChain,
        shard: businesses.auditShard,
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
      .where(allOf(eq(auditOutbox.entityId, id), eq(businesses.id, owner.businessId)))
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

export interface SharePersonSees extends Pick<DetailedShare, "share" | "disclosureText" | "anchor" | "reasonSealed"> {
  /** In the words of the person's chain, oldest first. */
  readonly history: readonly Pick<SharePast, "at" | "type">[];
  /** What the business wrote when it acknowledged. */
  readonly acknowledgementSealed: string | null;
  /** Where the business is asked to delete what it holds. */
  readonly contact: string | null;
  /** When the business was last told of a change of the values. */
  readonly updateSentAt: Instant | null;
}

/** Everything a person may read about a share of theirs. One round trip. */
export const shareOfPerson = async (db: Database, id: ShareId, consumerId: ConsumerId, now: Instant): Promise<SharePersonSees | null> => {
  const [[row], history] = await batch(db, [
    db
      .select({
        ...personFields,
        disclosureText: disclosures.text.as("disclosure_text"),
        anchor: jsonRow(anchorFields, firstAnchor).as("anchor"),
        reasonSealed: shares.reasonSealed,
        updateSentAt: shares.updateSentAt,
        acknowledgementSealed: shareAcknowledgements.detailsSealed,
        contact: businesses.contactEmail,
      })
      .from(shares)
      .innerJoin(businesses, eq(businesses.id, shares.businessId))
      .innerJoin(disclosures, eq(disclosures.hash, shares.disclosureHash))
      .leftJoin(shareAcknowledgements, eq(shareAcknowledgements.shareId, shares.id))
      .where(allOf(eq(shares.id, id), eq(shares.consumerId, consumerId))),
    db
      .select({ at: auditOutbox.at, type: auditOutbox.type })
      .from(auditOutbox)
      .innerJoin(shares, allOf(eq(shares.id, auditOutbox.entityId), eq(shares.consumerChain, auditOutbox.chain)))
      .where(allOf(eq(auditOutbox.entityId, id), eq(shares.consumerId, consumerId)))
      .orderBy(auditOutbox.ord),
  ]);
  if (row === undefined) return null;
  const { disclosureText, anchor, reasonSealed, acknowledgementSealed, contact, updateSentAt, ...share } = row;
  return { share: toShare(share, now), disclosureText, anchor, reasonSealed, acknowledgementSealed, contact, updateSentAt, history };
};

export interface ExportedShare {
  readonly share: Share;
  readonly disclosureText: string;
  readonly subjectHash: string;
  /** The values at the moment of the grant, sealed for the person. */
  readonly subjectSealed: string | null;
  /** Of the business. */
  readonly country: string;
  readonly anchor: PublishedAnchor | null;
}

const exportPage = 200;

/** All that a person ever shared from one home, oldest first. */
export const exportedShares = async (db: Database, consumerId: ConsumerId, now: Instant): Promise<readonly ExportedShare[]> => {
  const found: ExportedShare[] = [];
  for (let after = 0; ; ) {
    const rows = await db
      .select({
        share: personFields,
        disclosureText: disclosures.text,
        subjectHash: shares.subjectHash,
        subjectSealed: shares.subjectSealed,
        country: businesses.country,
        anchor: jsonRow(anchorFields, firstAnchor),
      })
      .from(shares)
      .innerJoin(businesses, eq(businesses.id, shares.businessId))
      .innerJoin(disclosures, eq(disclosures.hash, shares.disclosureHash))
      .where(allOf(eq(shares.consumerId, consumerId), gt(shares.ord, after)))
      .orderBy(shares.ord)
      .limit(exportPage);
    found.push(...rows.map(({ share, ...rest }) => ({ ...rest, share: toShare(share, now) })));
    after = rows.at(-1)?.share.ord ?? after;
    if (rows.length < exportPage) return found;
  }
};

/** Where the copy of the in-scope values is sealed, under the share's own key. */
export const copyContext = (shareId: string, businessId: string): EncryptionContext => ({
  table: "share_values",
  record: shareId,
  field: "fields",
  owner: businessId,
});

export interface SealedCopy {
  readonly keySealed: string | null;
  readonly valuesSealed: string | null;
}

/** The values of a share's scope; null once it is over. */
export const openCopy = async (
  vault: Vault,
  of: { readonly id: ShareId; readonly businessId: BusinessId },
  { keySealed, valuesSealed }: SealedCopy,
): Promise<ContactFields | null> => {
  if (keySealed === null || valuesSealed === null) return null;
  return fieldsOfText(await (await vault.under(keySealed)).open(copyContext(of.id, of.businessId), valuesSealed));
};

/** What a person shares with a business now, newest first. */
export const activeSharesWith = async (
  db: Database,
  consumerId: ConsumerId,
  businessId: BusinessId,
  now: Instant,
): Promise<readonly Share[]> =>
  (
    await sharesOf(db)
      .where(
        allOf(
          eq(shares.consumerId, consumerId),
          eq(shares.state, "active"),
          eq(shares.businessId, businessId),
          gt(shares.expiresAt, now),
          isNull(shares.supersededBy),
        ),
      )
      .orderBy(desc(shares.ord))
      .limit(20)
  ).map((row) => toShare(row, now));

export const sharesByIds = async (db: Database, ids: readonly ShareId[], now: Instant): Promise<readonly Share[]> =>
  (await sharesOf(db).where(inArray(shares.id, listed(ids)))).map((row) => toShare(row, now));
