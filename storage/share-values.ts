// The copy of the in-scope values that a share holds, sealed under the share's own key: without the key nobody reads it.
import { eq, gte, sql } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { BusinessId, ShareId } from "../core/ids.ts";
import type { ContactFields } from "../core/shares/fields.ts";
import { dayMs, type Instant } from "../core/time.ts";
import { fieldsOfText } from "./contact-fields.ts";
import { batch, type Database } from "./database.ts";
import { insertShareEntries, openEntry } from "./outboxes/audit.ts";
import { allOf, noneIn } from "./query.ts";
import { shareClockOffset, timeOfShare } from "./sandbox-clocks.ts";
import { auditOutbox, shares, shareValues } from "./schema.ts";
import { contextIn, type Vault } from "./vault.ts";

export const copyContext = contextIn("share_values", "fields");

/** The values of a share's scope; null once it is over. */
export const openCopy = async (
  vault: Vault,
  of: { readonly id: ShareId; readonly businessId: BusinessId },
  { keySealed, valuesSealed }: { readonly keySealed: string | null; readonly valuesSealed: string | null },
): Promise<ContactFields | null> => {
  if (keySealed === null || valuesSealed === null) return null;
  return fieldsOfText(await (await vault.under(keySealed)).open(copyContext(of.id, of.businessId), valuesSealed));
};

const copyFields = {
  state: shares.state,
  scope: shares.scope,
  expiresAt: shares.expiresAt,
  clockOffsetMs: shareClockOffset.as("clock_offset_ms"),
  keySealed: shares.keySealed,
  valuesSealed: shareValues.valuesSealed,
};
const isOwn = (id: ShareId, businessId: BusinessId, environment: Environment) =>
  allOf(eq(shares.id, id), eq(shares.businessId, businessId), eq(shares.environment, environment));

/** An active test share with its copy, which stands for a test person's fields; undefined for any other. */
export const testCopy = (db: Database, businessId: BusinessId, id: ShareId) =>
  db
    .select({ ...copyFields, revision: shareValues.revision })
    .from(shares)
    .innerJoin(shareValues, eq(shareValues.shareId, shares.id))
    .where(allOf(isOwn(id, businessId, "sandbox"), eq(shares.state, "active")))
    .get();

const fact = "consumer.current_read";

/**
 * A business reads the current values of a share: the values, and the entries that tell of the reading, in one round trip. The business's
 * chain has an entry for each reading, the person's one a share and day. Null for a share that is not the business's. The entries are
 * written only where the share is active.
 */
export const readCurrent = async (
  db: Database,
  reading: {
    readonly id: ShareId;
    readonly businessId: BusinessId;
    readonly environment: Environment;
    readonly keyId: string;
    readonly now: Instant;
  },
) => {
  const { id, businessId, environment, keyId, now } = reading;
  const own = isOwn(id, businessId, environment);
  const { entityId, type, chain, at } = auditOutbox;
  const today = Math.floor(now / dayMs) * dayMs;
  const [[row]] = await batch(db, [
    db.select(copyFields).from(shares).leftJoin(shareValues, eq(shareValues.shareId, shares.id)).where(own),
    insertShareEntries(db, {
      from: sql`${shares}`,
      where: sql`${own} and ${shares.state} = 'active' and ${shares.expiresAt} > ${timeOfShare(now)}`,
      id: crypto.randomUUID(),
      type: fact,
      at: now,
      business: openEntry({ actor: `api_key:${keyId}` }),
      person: openEntry({ actor: "business", business_id: businessId }),
      toldToPersonIf: noneIn(auditOutbox, eq(entityId, id), eq(type, fact), eq(chain, shares.consumerChain), gte(at, today)),
    }),
  ]);
  return row ?? null;
};
