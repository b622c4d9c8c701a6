// The public clients of a business.
import { eq } from "drizzle-orm";
import type { BusinessId } from "../core/ids.ts";
import type { Database } from "./database.ts";
import { violates } from "./faults.ts";
import { ownerBelow } from "./inserts.ts";
import { clients } from "./schema.ts";

const { id, name, environment, createdAt } = clients;
const shown = { id, name, environment, createdAt };
export type Client = Pick<typeof clients.$inferSelect, keyof typeof shown>;

const maxClients = 50;

/** Fails, and takes its batch with it, when the business has as many as it may. */
export const insertClient = (db: Database, businessId: BusinessId, client: Client) =>
  db.insert(clients).values({ ...client, businessId: ownerBelow(clients.businessId, businessId, maxClients) });

export const isTooManyClients = (error: unknown): boolean => violates(error, "NOT NULL", clients.businessId);

/** Oldest first. */
export const clientsOf = (db: Database, businessId: BusinessId): Promise<readonly Client[]> =>
  db.select(shown).from(clients).where(eq(clients.businessId, businessId)).orderBy(createdAt, id).all();
