// What a person's account says about itself, and the shares of theirs in each home.
import { count, eq, gt, isNull, sql, type SQL } from "drizzle-orm";
import type { ConsumerPlan } from "../core/billing/plans.ts";
import type { ConsumerId, Home } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { lookup, type Lookup } from "./lookups.ts";
import { allOf, query } from "./query.ts";
import { consumerHomes, consumers, shares } from "./schema.ts";

export interface PersonRecord {
  readonly createdAt: Instant;
  readonly emailSealed: string;
  /** Under what certificates name the person. */
  readonly emailIndex: string;
  readonly plan: ConsumerPlan;
}

/** Null for a person who is not here, or is erased. */
export const personRecord = (db: Database, id: ConsumerId): Lookup<PersonRecord | null> => {
  const { createdAt, emailSealed, emailIndex, plan, erasedAt } = consumers;
  const person = db.select({ createdAt, emailSealed, emailIndex, plan, erasedAt }).from(consumers).where(eq(consumers.id, id));
  return lookup(db, [person], ([[row]]) => {
    if (row === undefined || row.erasedAt !== null) return null;
    const { erasedAt: _, ...record } = row;
    return record;
  });
};

/** Under what certificates name the person, for a query of their own home; null for a person who is gone. */
export const addressIndexOf = (id: ConsumerId): SQL<string> => {
  const { emailIndex, erasedAt } = consumers;
  return sql`${query
    .select({ emailIndex })
    .from(consumers)
    .where(allOf(eq(consumers.id, id), isNull(erasedAt)))}`;
};

/** Where the person may have shares. */
export const homesOfPerson = (db: Database, id: ConsumerId): Lookup<readonly Home[]> =>
  lookup(db, [db.select({ home: consumerHomes.home }).from(consumerHomes).where(eq(consumerHomes.consumerId, id))], ([rows]) =>
    rows.map(({ home }) => home),
  );

export const countActiveShares = (db: Database, id: ConsumerId, now: Instant): Lookup<number> => {
  const isActive = allOf(eq(shares.consumerId, id), eq(shares.state, "active"), gt(shares.expiresAt, now));
  return lookup(db, [db.select({ active: count() }).from(shares).where(isActive)], ([[row]]) => row?.active ?? 0);
};
