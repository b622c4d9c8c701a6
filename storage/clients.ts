// The public clients of a business.
import { eq } from "drizzle-orm";
import type { Environment } from "../core/access/entitlement.ts";
import type { BusinessId, ClientId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { violates } from "./faults.ts";
import { ownerBelow } from "./inserts.ts";
import { clients } from "./schema.ts";

export interface Client {
  readonly id: ClientId;
  readonly name: string;
  readonly environment: Environment;
  readonly createdAt: Instant;
}

const maxClients = 50;

/** Fails, and takes its batch with it, when the business has as many as it may. */
export const insertClient = (db: Database, businessId: BusinessId, client: Client) =>
  db.insert(clients).values({ ...client, businessId: ownerBelow(clients.businessId, businessId, maxClients) });

export const isTooManyClients = (error: unknown): boolean => violates(error, "NOT NULL", clients.businessId);

/** Oldest first. */
export const clientsOf = (db: Database, businessId: BusinessId): Promise<readonly Client[]> => {
  const { id, name, environment, createdAt } = clients;
  return db
    .select({ id, name, environment, createdAt })
    .from(clients)
    .where(eq(clients.businessId, businessId))
    .orderBy(createdAt, id)
    .all();
};
