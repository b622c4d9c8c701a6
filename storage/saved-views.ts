// Saved views of a business's certificate list. Each view is a name and a URL query, shared by all members.
import { asc, eq } from "drizzle-orm";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { ownerIfBelowLimit } from "./inserts.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { allOf } from "./query.ts";
import { savedViews } from "./schema.ts";

/** `query` is the part of the URL after `?`. It must not contain personal data. */
export type SavedView = Pick<typeof savedViews.$inferSelect, "name" | "query">;

const maxViews = 20;

const { businessId, name } = savedViews;

export const listViewsByBusiness = (db: Database, id: BusinessId): Lookup<readonly SavedView[]> =>
  createLookup(
    db,
    [db.select({ name, query: savedViews.query }).from(savedViews).where(eq(businessId, id)).orderBy(asc(name))],
    ([views]) => views,
  );

/** Inserts a view. Fails if the business has 20 views (`isSavedViewLimitReached`) or the name is in use (`isSavedViewNameTaken`). */
export const insertSavedView = (db: Database, id: BusinessId, view: SavedView, createdAt: Instant) =>
  db.insert(savedViews).values({ ...view, businessId: ownerIfBelowLimit(businessId, id, maxViews), createdAt });

export const isSavedViewLimitReached = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", businessId);
export const isSavedViewNameTaken = (error: unknown): boolean => isConstraintViolation(error, "UNIQUE", businessId, name);

export const deleteSavedView = (db: Database, id: BusinessId, named: string) =>
  db.delete(savedViews).where(allOf(eq(businessId, id), eq(name, named)));
