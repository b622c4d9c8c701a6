// Views of its certificates that the people of a business keep: a name and the rest of the address. One list a business.
import { asc, eq } from "drizzle-orm";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { ownerIfBelowLimit } from "./inserts.ts";
import { allOf } from "./query.ts";
import { savedViews } from "./schema.ts";

/** Its query is what stands behind the `?` of the address; it names no person. */
export type SavedView = Pick<typeof savedViews.$inferSelect, "name" | "query">;

/** CONTRACT 19. */
const maxViews = 20;

const { businessId, name } = savedViews;

export const listViewsByBusiness = (db: Database, id: BusinessId): Promise<readonly SavedView[]> =>
  db.select({ name, query: savedViews.query }).from(savedViews).where(eq(businessId, id)).orderBy(asc(name)).all();

/** Without its business, and so the batch fails, where there are as many as there may be. */
export const insertSavedView = (db: Database, id: BusinessId, view: SavedView, createdAt: Instant) =>
  db.insert(savedViews).values({ ...view, businessId: ownerIfBelowLimit(businessId, id, maxViews), createdAt });

export const isSavedViewLimitReached = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", businessId);
export const isSavedViewNameTaken = (error: unknown): boolean => isConstraintViolation(error, "UNIQUE", businessId, name);

export const deleteSavedView = (db: Database, id: BusinessId, named: string) =>
  db.delete(savedViews).where(allOf(eq(businessId, id), eq(name, named)));
