// Shares as the person reads them whose values they hold, from one of their homes: all of them, one with its history, and the export.
import { desc, eq, gt, inArray, isNull, sql } from "drizzle-orm";
import type { PublishedAnchor } from "../core/certificates/published.ts";
import type { BusinessId, ConsumerId, ShareId } from "../core/ids.ts";
import type { Share } from "../core/shares/share.ts";
import type { Instant } from "../core/time.ts";
import { anchorFields } from "./certificates.ts";
import { batch, type Database } from "./database.ts";
import { jsonRow } from "./json-rows.ts";
import { lookup, type Lookup } from "./lookups.ts";
import { allOf, query } from "./query.ts";
import { auditOutbox, businesses, disclosures, shareAcknowledgements, shares } from "./schema.ts";
import {
  chainFields,
  chainsOf,
  firstAnchor,
  shareFields,
  sharesOf,
  toShare,
  type ChangeableShare,
  type DetailedShare,
  type SharePage,
  type SharePast,
} from "./shares.ts";

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

const maxOfPerson = 500;

/** Of one home: active ones first, then newest first; whether there are more than are answered. */
export const sharesOfPerson = (db: Database, consumerId: ConsumerId, now: Instant): Lookup<SharePage> => {
  const isActive = allOf(eq(shares.state, "active"), gt(shares.expiresAt, now));
  const page = db
    .select(personFields)
    .from(shares)
    .where(eq(shares.consumerId, consumerId))
    .orderBy(desc(isActive), desc(shares.ord))
    .limit(maxOfPerson + 1);
  return lookup(db, [page], ([rows]) => ({
    shares: rows.slice(0, maxOfPerson).map((row) => toShare(row, now)),
    hasMore: rows.length > maxOfPerson,
  }));
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
      ...chainFields,
    })
    .from(shares)
    .innerJoin(businesses, eq(businesses.id, shares.businessId))
    .where(allOf(eq(shares.consumerId, consumerId), eq(shares.state, "active")))
    .orderBy(shares.ord)
    .limit(max);
  return rows.map(({ share, ...chains }) => ({ share: toShare(share, now), chains: chainsOf(chains) }));
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
