// Views of its certificates that the people of a business keep: a name and the rest of the address. One list a business.
import { asc, eq } from "drizzle-orm";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { violates } from "./faults.ts";
import { ownerBelow } from "./inserts.ts";
import { allOf } from "./query.ts";
import { savedViews } from "./schema.ts";

/** Its query is what stands behind the `?` of the address; it names no person. */
export type SavedView = Pick<typeof savedViews.$inferSelect, "name" | "query">;

/** CONTRACT 19. */
const maxViews = 20;

const { businessId, name } = savedViews;

export const viewsOf = (db: Database, id: BusinessId): Promise<readonly SavedView[]> =>
  db.select({ name, query: savedViews.query }).from(savedViews).where(eq(businessId, id)).orderBy(asc(name)).all();

/** Without its business, and so the batch fails, where there are as many as there may be. */
export const insertView = (db: Database, id: BusinessId, view: SavedView, createdAt: Instant) =>
  db.insert(savedViews).values({ ...view, businessId: ownerBelow(businessId, id, maxViews), createdAt });

export const isTooManyViews = (error: unknown): boolean => violates(error, "NOT NULL", businessId);
export const isTakenName = (error: unknown): boolean => violates(error, "UNIQUE", businessId, name);

export const deleteView = (db: Database, id: BusinessId, named: string) =>
  db.delete(savedViews).where(allOf(eq(businessId, id), eq(name, named)));
