// A client and its business as the share protocol decides on them. One query.
import { eq, sql } from "drizzle-orm";
import type { BusinessId, ClientId } from "../core/ids.ts";
import type { GrantingClient } from "../core/shares/grant.ts";
import { chainOfBusiness, verifiedDomains } from "./accounts.ts";
import type { Database } from "./database.ts";
import { allOf, countIn, query } from "./query.ts";
import { clientClockOffset } from "./sandbox-clocks.ts";
import { businesses, clients, shares } from "./schema.ts";

/** Counted for test clients alone: nothing bounds what people share. */
const isActiveTest = allOf(eq(shares.businessId, clients.businessId), eq(shares.environment, "sandbox"), eq(shares.state, "active"));
const activeTestShares = sql<number>`${sql`iif(${clients.environment} = 'sandbox', ${countIn(shares, isActiveTest)}, 0)`}`;

/** Null for an unknown client. */
export const businessOfClient = async (db: Database, clientId: ClientId): Promise<BusinessId | null> => {
  const row = await db.select({ id: clients.businessId }).from(clients).where(eq(clients.id, clientId)).get();
  return row?.id ?? null;
};

/** Null for an unknown client. */
export const grantingClient = async (db: Database, clientId: ClientId): Promise<GrantingClient | null> => {
  const row = await db
    .select({
      clientId: clients.id,
      environment: clients.environment,
      requireOrigin: clients.requireOrigin,
      returnUrls: clients.returnUrls,
      business: { id: businesses.id, name: businesses.name, status: businesses.status, country: businesses.country },
      revision: businesses.revision,
      domains: verifiedDomains,
      chain: chainOfBusiness,
      clockOffsetMs: clientClockOffset.as("clock_offset_ms"),
      activeTestShares: activeTestShares.as("active_test_shares"),
    })
    .from(clients)
    .innerJoin(businesses, eq(businesses.id, clients.businessId))
    .where(eq(clients.id, clientId))
    .get();
  if (row === undefined) return null;
  const { business, chain, ...client } = row;
  return { ...client, business: { ...business, chain } };
};

/** The business's id, to be read inside the change that depends on it: NULL where the account was changed since. */
export const businessIfStill = ({ business, revision }: Pick<GrantingClient, "business" | "revision">) => {
  const still = query.select({ id: businesses.id }).from(businesses);
  return sql`(${still.where(allOf(eq(businesses.id, business.id), eq(businesses.revision, revision)))})`;
};
