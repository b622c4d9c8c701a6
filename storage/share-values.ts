// A share's copy of the shared values, sealed with the share's key.
import { eq, gte, sql } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { BusinessId, ShareId } from "../core/ids.ts";
import type { ContactFields } from "../core/shares/fields.ts";
import { dayMs, type Instant, toDayNumber } from "../core/time.ts";
import { parseContactFields } from "./contact-fields.ts";
import { batch, type Database } from "./database.ts";
import { recordShareChanges, createUnsealedPayload } from "./audit-entries.ts";
import { allOf, notExistsIn } from "./query.ts";
import { shareClockOffsetField, shareTime } from "./sandbox-clocks.ts";
import { auditEntries, shares, shareValues } from "./schema.ts";
import { columnContext, type Vault } from "./vault.ts";

/** The encryption context of a share's copy of the shared values. The record is the share's ID, and the owner is the business's ID. */
export const shareCopyContext = columnContext("share_values", "fields");

/** Returns the shared values, or null if the share has ended. */
export const openShareCopy = async (
  vault: Vault,
  share: { readonly id: ShareId; readonly businessId: BusinessId },
  { keySealed, valuesSealed }: { readonly keySealed: string | null; readonly valuesSealed: string | null },
): Promise<ContactFields | null> => {
  if (keySealed === null || valuesSealed === null) return null;
  return parseContactFields(await (await vault.withRecordKey(keySealed)).open(shareCopyContext(share.id, share.businessId), valuesSealed));
};

const copyFields = {
  state: shares.state,
  scope: shares.scope,
  expiresAt: shares.expiresAt,
  clockOffsetMs: shareClockOffsetField.as("clock_offset_ms"),
  keySealed: shares.keySealed,
  valuesSealed: shareValues.valuesSealed,
};
const isOwnShare = (id: ShareId, businessId: BusinessId, environment: Environment) =>
  allOf(eq(shares.id, id), eq(shares.businessId, businessId), eq(shares.environment, environment));

/** Finds an active test share and its copy, which contains all fields of the test person. Returns undefined for any other share. */
export const findTestShareCopy = (db: Database, businessId: BusinessId, id: ShareId) =>
  db
    .select({ ...copyFields, revision: shareValues.revision })
    .from(shares)
    .innerJoin(shareValues, eq(shareValues.shareId, shares.id))
    .where(allOf(isOwnShare(id, businessId, "sandbox"), eq(shares.state, "active")))
    .get();

const currentReadType = "consumer.current_read";

/**
 * Reads a share's current values for a business and records the read, in one round trip. Each read of an active share adds an entry to the
 * business's chain. The first read on each UTC day also adds an entry to the person's chain. Returns null if the share does not belong to
 * the business.
 */
export const readShareValues = async (
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
  const isOwn = isOwnShare(id, businessId, environment);
  const { entityId, type, chain, at } = auditEntries;
  const today = toDayNumber(now) * dayMs;
  const { copies } = await batch(db, {
    copies: db.select(copyFields).from(shares).leftJoin(shareValues, eq(shareValues.shareId, shares.id)).where(isOwn),
    ...recordShareChanges(db, {
      from: sql`${shares}`,
      where: sql`${isOwn} and ${shares.state} = 'active' and ${shares.expiresAt} > ${shareTime(now)}`,
      id: crypto.randomUUID(),
      type: currentReadType,
      at: now,
      max: 1,
      business: createUnsealedPayload({ actor: `api_key:${keyId}` }),
      person: createUnsealedPayload({ actor: "business", business_id: businessId }),
      personEntryIf: notExistsIn(
        auditEntries,
        eq(entityId, id),
        eq(type, currentReadType),
        eq(chain, shares.consumerChain),
        gte(at, today),
      ),
    }),
  });
  return copies[0] ?? null;
};
