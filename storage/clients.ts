// A business's clients. Public pages and scripts identify the business by a client ID.
import { eq } from "drizzle-orm";
import type { BusinessId, ClientId } from "../core/ids.ts";
import type { Database } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { ownerIfBelowLimit } from "./inserts.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { allOf, isDifferent } from "./query.ts";
import { clients } from "./schema.ts";

const { id, name, environment, createdAt, returnUrls, requireOrigin } = clients;
const listedFields = { id, name, environment, createdAt, returnUrls, requireOrigin };
export type Client = Pick<typeof clients.$inferSelect, keyof typeof listedFields>;
/** The settings that an owner can change. */
export type ClientSettings = Pick<Client, "returnUrls" | "requireOrigin">;

const maxClients = 50;

/** Inserts a client. Fails if the business already has 50 clients (`isClientLimitReached`). */
export const insertClient = (db: Database, businessId: BusinessId, client: Client) =>
  db.insert(clients).values({ ...client, businessId: ownerIfBelowLimit(clients.businessId, businessId, maxClients) });

export const isClientLimitReached = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", clients.businessId);

export const listClientsByBusiness = (db: Database, businessId: BusinessId): Lookup<readonly Client[]> =>
  createLookup(
    db,
    [db.select(listedFields).from(clients).where(eq(clients.businessId, businessId)).orderBy(createdAt, id)],
    ([rows]) => rows,
  );

const isOwnClient = (businessId: BusinessId, clientId: ClientId) => allOf(eq(id, clientId), eq(clients.businessId, businessId));

/** Finds a client of the business. Returns null if the client does not exist or belongs to another business. */
export const findOwnClient = async (db: Database, businessId: BusinessId, clientId: ClientId): Promise<Client | null> =>
  (await db.select(listedFields).from(clients).where(isOwnClient(businessId, clientId)).get()) ?? null;

/** Changes only the given settings. Changes no row if they already have these values. */
export const updateClient = (db: Database, businessId: BusinessId, clientId: ClientId, settings: Partial<ClientSettings>) =>
  db
    .update(clients)
    .set(settings)
    .where(allOf(isOwnClient(businessId, clientId), isDifferent(clients, settings)));
