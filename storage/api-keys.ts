// The API keys of a business: their hashes, and the day each was last used.
import { desc, eq, getColumns, isNotNull, isNull, lt, or, type SQL } from "drizzle-orm";
import type { BusinessId } from "../core/ids.ts";
import { dayMs, type Instant } from "../core/time.ts";
import { batch, type Database } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { ownerIfBelowLimit } from "./inserts.ts";
import { allOf, existsIn } from "./query.ts";
import { apiKeys } from "./schema.ts";

const { businessId: _, keyHash: __, ...shown } = getColumns(apiKeys);
export type ApiKey = Pick<typeof apiKeys.$inferSelect, keyof typeof shown>;

const maxKeys = 20;
const maxListedRevoked = 100;

/** Fails, and takes its batch with it, when the business has as many as it may. */
export const insertApiKey = (
  db: Database,
  businessId: BusinessId,
  key: Omit<typeof apiKeys.$inferSelect, "businessId" | "lastUsedAt" | "revokedAt">,
) =>
  db.insert(apiKeys).values({ ...key, businessId: ownerIfBelowLimit(apiKeys.businessId, businessId, maxKeys, isNull(apiKeys.revokedAt)) });

export const isApiKeyLimitReached = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", apiKeys.businessId);

/** Keys that open something, oldest first; then those that were revoked, the latest first. */
export const listKeysByBusiness = async (db: Database, businessId: BusinessId): Promise<readonly ApiKey[]> => {
  const { createdAt, revokedAt, id } = apiKeys;
  const of = (state: SQL) =>
    db
      .select(shown)
      .from(apiKeys)
      .where(allOf(eq(apiKeys.businessId, businessId), state));
  const [live, revoked] = await batch(db, [
    of(isNull(revokedAt)).orderBy(createdAt, id),
    of(isNotNull(revokedAt)).orderBy(desc(revokedAt), id).limit(maxListedRevoked),
  ]);
  return [...live, ...revoked];
};

const isOwnKey = (businessId: BusinessId, id: string): SQL => allOf(eq(apiKeys.id, id), eq(apiKeys.businessId, businessId));

/** Null for a key that is not there, or not of this business. */
export const findApiKey = async (db: Database, businessId: BusinessId, id: string): Promise<ApiKey | null> =>
  (await db.select(shown).from(apiKeys).where(isOwnKey(businessId, id)).get()) ?? null;

export const markApiKeyRevoked = (db: Database, businessId: BusinessId, id: string, now: Instant) =>
  db
    .update(apiKeys)
    .set({ revokedAt: now })
    .where(allOf(isOwnKey(businessId, id), isNull(apiKeys.revokedAt)));

/** After `revokeKey` of the same moment: whether that was what ended it. */
export const isApiKeyRevokedAt = (id: string, now: Instant): SQL => existsIn(apiKeys, eq(apiKeys.id, id), eq(apiKeys.revokedAt, now));

/** As `lastUsedAt` tells when it was used. */
const startOfDay = (now: Instant): Instant => now - (now % dayMs);

/** Whether its use of today is not noted yet. */
export const isFirstUseOfDay = (lastUsedAt: Instant | null, now: Instant): boolean => lastUsedAt === null || lastUsedAt < startOfDay(now);

export const recordApiKeyUse = (db: Database, id: string, now: Instant) => {
  const today = startOfDay(now);
  const { lastUsedAt } = apiKeys;
  return db
    .update(apiKeys)
    .set({ lastUsedAt: today })
    .where(allOf(eq(apiKeys.id, id), or(isNull(lastUsedAt), lt(lastUsedAt, today)) as SQL));
};
