// The API keys of a business: their hashes, and the day each was last used.
import { desc, eq, isNotNull, isNull, lt, or, type SQL } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { BusinessId } from "../core/ids.ts";
import { dayMs, type Instant } from "../core/time.ts";
import { batch, type Database } from "./database.ts";
import { violates } from "./faults.ts";
import { ownerBelow } from "./inserts.ts";
import { allOf, existsIn } from "./query.ts";
import { apiKeys } from "./schema.ts";

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly environment: Environment;
  readonly last4: string;
  readonly createdAt: Instant;
  /** The beginning of that day, UTC. */
  readonly lastUsedAt: Instant | null;
  readonly revokedAt: Instant | null;
}

const maxKeys = 20;
const shownRevoked = 100;

/** Fails, and takes its batch with it, when the business has as many as it may. */
export const insertKey = (
  db: Database,
  businessId: BusinessId,
  key: Pick<ApiKey, "id" | "name" | "environment" | "last4" | "createdAt"> & { readonly keyHash: string },
) => db.insert(apiKeys).values({ ...key, businessId: ownerBelow(apiKeys.businessId, businessId, maxKeys, isNull(apiKeys.revokedAt)) });

export const isTooManyKeys = (error: unknown): boolean => violates(error, "NOT NULL", apiKeys.businessId);

const shown = {
  id: apiKeys.id,
  name: apiKeys.name,
  environment: apiKeys.environment,
  last4: apiKeys.last4,
  createdAt: apiKeys.createdAt,
  lastUsedAt: apiKeys.lastUsedAt,
  revokedAt: apiKeys.revokedAt,
};

/** Keys that open something, oldest first; then those that were revoked, the latest first. */
export const keysOf = async (db: Database, businessId: BusinessId): Promise<readonly ApiKey[]> => {
  const { createdAt, revokedAt, id } = apiKeys;
  const of = (state: SQL) => allOf(eq(apiKeys.businessId, businessId), state);
  const [live, revoked] = await batch(db, [
    db
      .select(shown)
      .from(apiKeys)
      .where(of(isNull(revokedAt)))
      .orderBy(createdAt, id),
    db
      .select(shown)
      .from(apiKeys)
      .where(of(isNotNull(revokedAt)))
      .orderBy(desc(revokedAt), id)
      .limit(shownRevoked),
  ]);
  return [...live, ...revoked];
};

/** Null for a key that is not there, or not of this business. */
export const keyById = async (db: Database, businessId: BusinessId, id: string): Promise<ApiKey | null> =>
  (await db
    .select(shown)
    .from(apiKeys)
    .where(allOf(eq(apiKeys.id, id), eq(apiKeys.businessId, businessId)))
    .get()) ?? null;

export const revokeKey = (db: Database, businessId: BusinessId, id: string, now: Instant) =>
  db
    .update(apiKeys)
    .set({ revokedAt: now })
    .where(allOf(eq(apiKeys.id, id), eq(apiKeys.businessId, businessId), isNull(apiKeys.revokedAt)));

/** After `revokeKey` of the same moment: whether that was what ended it. */
export const isRevokedAt = (id: string, now: Instant): SQL => existsIn(apiKeys, eq(apiKeys.id, id), eq(apiKeys.revokedAt, now));

const dayOf = (now: Instant): Instant => now - (now % dayMs);

/** Whether its use of today is not noted yet. */
export const isUseUnnoted = (lastUsedAt: Instant | null, now: Instant): boolean => lastUsedAt === null || lastUsedAt < dayOf(now);

export const noteUse = (db: Database, id: string, now: Instant) => {
  const today = dayOf(now);
  const { lastUsedAt } = apiKeys;
  return db
    .update(apiKeys)
    .set({ lastUsedAt: today })
    .where(allOf(eq(apiKeys.id, id), or(isNull(lastUsedAt), lt(lastUsedAt, today)) as SQL));
};
