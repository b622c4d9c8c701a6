// The clients of each business. A client ID identifies the business in public pages and scripts.
import { eq } from "drizzle-orm";
import type { BusinessId } from "../core/ids.ts";
import type { Database } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { ownerIfBelowLimit } from "./inserts.ts";
import { clients } from "./schema.ts";

const { id, name, environment, createdAt } = clients;
const listedFields = { id, name, environment, createdAt };
export type Client = Pick<typeof clients.$inferSelect, keyof typeof listedFields>;

const maxClients = 50;

/** Fails if the business already has 50 clients; check with `isClientLimitReached`. */
export const insertClient = (db: Database, businessId: BusinessId, client: Client) =>
  db.insert(clients).values({ ...client, businessId: ownerIfBelowLimit(clients.businessId, businessId, maxClients) });

/** Returns true if the batch failed because the business already has 50 clients. */
export const isClientLimitReached = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", clients.businessId);

/** Lists all of a business's clients, oldest first. */
export const listClientsByBusiness = (db: Database, businessId: BusinessId): Promise<readonly Client[]> =>
  db.select(listedFields).from(clients).where(eq(clients.businessId, businessId)).orderBy(createdAt, id).all();
