// Test shares of a business: the client they are made for, the copy that stands for a test person's fields, and their common end.
import { and, eq, inArray, sql } from "drizzle-orm";
import type { BusinessId, ClientId, ShareId } from "../core/ids.ts";
import type { Revocation } from "../core/shares/end.ts";
import type { Database } from "./database.ts";
import { allOf, listed } from "./query.ts";
import { shareClockOffset } from "./sandbox-clocks.ts";
import { clients, shares, shareValues } from "./schema.ts";
import { over } from "./share-changes.ts";

const isTest = (businessId: BusinessId) => allOf(eq(shares.businessId, businessId), eq(shares.environment, "sandbox"));

/** The first test client of the business; null where it has none. */
export const testClientOf = async (db: Database, businessId: BusinessId): Promise<ClientId | null> => {
  const row = await db
    .select({ id: clients.id })
    .from(clients)
    .where(allOf(eq(clients.businessId, businessId), eq(clients.environment, "sandbox")))
    .orderBy(clients.createdAt, clients.id)
    .limit(1)
    .get();
  return row?.id ?? null;
};

/** An active test share with its copy; null for any other. */
export const testCopy = (db: Database, businessId: BusinessId, id: ShareId) =>
  db
    .select({
      scope: shares.scope,
      expiresAt: shares.expiresAt,
      keySealed: shares.keySealed,
      clockOffsetMs: shareClockOffset.as("clock_offset_ms"),
      valuesSealed: shareValues.valuesSealed,
      revision: shareValues.revision,
    })
    .from(shares)
    .innerJoin(shareValues, eq(shareValues.shareId, shares.id))
    .where(and(eq(shares.id, id), isTest(businessId), eq(shares.state, "active")))
    .get();

/** The oldest ids first. */
export const activeTestShareIds = async (db: Database, businessId: BusinessId, max: number): Promise<readonly ShareId[]> => {
  const rows = await db
    .select({ id: shares.id })
    .from(shares)
    .where(allOf(isTest(businessId), eq(shares.state, "active")))
    .orderBy(shares.ord)
    .limit(max);
  return rows.map(({ id }) => id);
};

/** Fails as `isOutdatedShare` says when one of them ended meanwhile. */
export const updateTestSharesRevoked = (
  db: Database,
  ids: readonly ShareId[],
  { revokedAt, ceaseBy }: Pick<Revocation, "revokedAt" | "ceaseBy">,
  requestId: string,
) =>
  db
    .update(shares)
    .set({
      ...over,
      state: "revoked",
      revokedAt,
      ceaseBy,
      changedBy: sql`case when ${shares.state} = 'active' then ${requestId} end`,
    })
    .where(and(inArray(shares.id, listed(ids)), eq(shares.environment, "sandbox")));
