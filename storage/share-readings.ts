// A business reads the current values of a share: the values, and the entries that tell of the reading, in one round trip. The
// business's chain has an entry for each reading, the person's one a share and day.
import { eq, gte, sql } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { BusinessId, ShareId } from "../core/ids.ts";
import { dayMs, type Instant } from "../core/time.ts";
import { batch, type Database } from "./database.ts";
import { openEntry } from "./outboxes/audit.ts";
import { allOf, noneIn } from "./query.ts";
import { shareClockOffset, timeOfShare } from "./sandbox-clocks.ts";
import { auditOutbox, businesses, shares, shareValues } from "./schema.ts";

const fact = "consumer.current_read";

export interface CurrentReading {
  readonly id: ShareId;
  readonly businessId: BusinessId;
  readonly environment: Environment;
  readonly keyId: string;
  readonly now: Instant;
}

/** Null for a share that is not the business's. The entries are written only where the share is active. */
export const readCurrent = async (db: Database, { id, businessId, environment, keyId, now }: CurrentReading) => {
  const isOwn = allOf(eq(shares.id, id), eq(shares.businessId, businessId), eq(shares.environment, environment));
  const isActive = sql`${isOwn} and ${shares.state} = 'active' and ${shares.expiresAt} > ${timeOfShare(now)}`;
  const today = Math.floor(now / dayMs) * dayMs;
  const { entityId, type, chain, at } = auditOutbox;
  const isUntoldToday = noneIn(auditOutbox, eq(entityId, id), eq(type, fact), eq(chain, shares.consumerChain), gte(at, today));
  const entryId = crypto.randomUUID();
  const business = openEntry(fact, { actor: `api_key:${keyId}` });
  const person = openEntry(fact, { actor: "business", business_id: businessId });
  const words = sql`${fact}, 'share', ${shares.id}, ${now}`;
  const [[row]] = await batch(db, [
    db
      .select({
        state: shares.state,
        scope: shares.scope,
        expiresAt: shares.expiresAt,
        clockOffsetMs: shareClockOffset.as("clock_offset_ms"),
        keySealed: shares.keySealed,
        valuesSealed: shareValues.valuesSealed,
      })
      .from(shares)
      .leftJoin(shareValues, eq(shareValues.shareId, shares.id))
      .where(isOwn),
    db
      .insert(auditOutbox, "id", "shard", "chain", "type", "entityType", "entityId", "at", "payloadHash", "payloadSealed")
      .select(
        sql`select ${entryId}, ${businesses.auditShard}, ${businesses.auditChain}, ${words}, ${business.hash}, ${business.text} from ${shares} inner join ${businesses} on ${businesses.id} = ${shares.businessId} where ${isActive} union all select ${entryId}, ${shares.consumerShard}, ${shares.consumerChain}, ${words}, ${person.hash}, ${person.text} from ${shares} where ${isActive} and ${shares.consumerChain} is not null and ${isUntoldToday}`,
      ),
  ]);
  return row ?? null;
};
