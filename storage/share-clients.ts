// A client and its business as the share protocol decides on them. One query.
import { eq, sql } from "drizzle-orm";
import type { VerifiedDomain } from "../core/access/origins.ts";
import type { ClientId } from "../core/ids.ts";
import type { GrantingClient } from "../core/shares/grant.ts";
import { chainOfBusiness, verifiedDomains } from "./accounts.ts";
import type { Database } from "./database.ts";
import { allOf, query } from "./query.ts";
import { businesses, clients } from "./schema.ts";

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
    })
    .from(clients)
    .innerJoin(businesses, eq(businesses.id, clients.businessId))
    .where(eq(clients.id, clientId))
    .get();
  if (row === undefined) return null;
  const { business, chain, domains, ...client } = row;
  return { ...client, domains: domains as readonly VerifiedDomain[], business: { ...business, chain } };
};

/** The business's id, to be read inside the change that depends on it: NULL where the account was changed since. */
export const businessIfStill = ({ business, revision }: Pick<GrantingClient, "business" | "revision">) => {
  const still = query.select({ id: businesses.id }).from(businesses);
  return sql`(${still.where(allOf(eq(businesses.id, business.id), eq(businesses.revision, revision)))})`;
};
