// Saved views of a business's certificate list: a name and the query of its URL, shared by all members.
import { asc, eq } from "drizzle-orm";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { ownerIfBelowLimit } from "./inserts.ts";
import { allOf } from "./query.ts";
import { savedViews } from "./schema.ts";

/** `query` is the part of the URL after `?`; it contains no personal data. */
export type SavedView = Pick<typeof savedViews.$inferSelect, "name" | "query">;

const maxViews = 20;

const { businessId, name } = savedViews;

/** The saved views of a business, by name. */
export const listViewsByBusiness = (db: Database, id: BusinessId): Promise<readonly SavedView[]> =>
  db.select({ name, query: savedViews.query }).from(savedViews).where(eq(businessId, id)).orderBy(asc(name)).all();

/** Fails as `isSavedViewLimitReached` says at 20 views, and as `isSavedViewNameTaken` says for a name in use. */
export const insertSavedView = (db: Database, id: BusinessId, view: SavedView, createdAt: Instant) =>
  db.insert(savedViews).values({ ...view, businessId: ownerIfBelowLimit(businessId, id, maxViews), createdAt });

/** True when the insert failed because the business has 20 views. */
export const isSavedViewLimitReached = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", businessId);
/** True when the insert failed because the name is in use. */
export const isSavedViewNameTaken = (error: unknown): boolean => isConstraintViolation(error, "UNIQUE", businessId, name);

/** Deletes a view. Changes no row for an unknown name. */
export const deleteSavedView = (db: Database, id: BusinessId, named: string) =>
  db.delete(savedViews).where(allOf(eq(businessId, id), eq(name, named)));
