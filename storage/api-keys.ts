// API keys of businesses. Only their hashes are stored. SPEC Authentication.
import { desc, eq, getColumns, isNotNull, isNull, lt, or, type SQL } from "drizzle-orm";
import type { BusinessId } from "../core/ids.ts";
import { dayMs, type Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { ownerIfBelowLimit } from "./inserts.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { allOf, existsIn } from "./query.ts";
import { apiKeys } from "./schema.ts";

const { businessId: _, keyHash: __, ...shown } = getColumns(apiKeys);
export type ApiKey = Pick<typeof apiKeys.$inferSelect, keyof typeof shown>;

const maxKeys = 20;
const maxListedRevoked = 100;

/** Inserts an API key. Fails if the business already has 20 active keys (`isApiKeyLimitReached`). */
export const insertApiKey = (
  db: Database,
  businessId: BusinessId,
  key: Omit<typeof apiKeys.$inferSelect, "businessId" | "lastUsedAt" | "revokedAt">,
) =>
  db.insert(apiKeys).values({ ...key, businessId: ownerIfBelowLimit(apiKeys.businessId, businessId, maxKeys, isNull(apiKeys.revokedAt)) });

export const isApiKeyLimitReached = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", apiKeys.businessId);

/** Lists the active keys, oldest first, followed by up to 100 revoked keys, last revoked first. */
export const listKeysByBusiness = (db: Database, businessId: BusinessId): Lookup<readonly ApiKey[]> => {
  const { createdAt, revokedAt, id } = apiKeys;
  const selectKeys = (state: SQL) =>
    db
      .select(shown)
      .from(apiKeys)
      .where(allOf(eq(apiKeys.businessId, businessId), state));
  return createLookup(
    db,
    [
      selectKeys(isNull(revokedAt)).orderBy(createdAt, id),
      selectKeys(isNotNull(revokedAt)).orderBy(desc(revokedAt), desc(id)).limit(maxListedRevoked),
    ],
    ([live, revoked]) => [...live, ...revoked],
  );
};

const isOwnKey = (businessId: BusinessId, id: string): SQL => allOf(eq(apiKeys.id, id), eq(apiKeys.businessId, businessId));

/** Finds an API key. Returns null if the key does not exist or belongs to another business. */
export const findApiKey = async (db: Database, businessId: BusinessId, id: string): Promise<ApiKey | null> =>
  (await db.select(shown).from(apiKeys).where(isOwnKey(businessId, id)).get()) ?? null;

/** Revokes an API key. Does nothing if the key is already revoked. */
export const markApiKeyRevoked = (db: Database, businessId: BusinessId, id: string, now: Instant) =>
  db
    .update(apiKeys)
    .set({ revokedAt: now })
    .where(allOf(isOwnKey(businessId, id), isNull(apiKeys.revokedAt)));

/** Builds a condition for statements after `markApiKeyRevoked` with the same `now`. It is true if the key was revoked by that statement. */
export const isApiKeyRevokedAt = (id: string, now: Instant): SQL => existsIn(apiKeys, eq(apiKeys.id, id), eq(apiKeys.revokedAt, now));

const startOfDay = (now: Instant): Instant => now - (now % dayMs);

/** Returns true if no use of the key has been recorded today (UTC). */
export const isFirstUseOfDay = (lastUsedAt: Instant | null, now: Instant): boolean => lastUsedAt === null || lastUsedAt < startOfDay(now);

/** Records that the key was used today, by storing the start of the day (UTC). Does nothing if this is already recorded. */
export const recordApiKeyUse = (db: Database, id: string, now: Instant) => {
  const today = startOfDay(now);
  const { lastUsedAt } = apiKeys;
  return db
    .update(apiKeys)
    .set({ lastUsedAt: today })
    .where(allOf(eq(apiKeys.id, id), or(isNull(lastUsedAt), lt(lastUsedAt, today)) as SQL));
};
