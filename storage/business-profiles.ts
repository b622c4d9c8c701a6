// A business account as members see and change it.
import { eq, getColumns } from "drizzle-orm";
import type { BusinessProfileChange } from "../core/accounts/profile.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Database, Found } from "./database.ts";
import { createLookup } from "./lookups.ts";
import { allOf, isDifferent } from "./query.ts";
import { businesses } from "./schema.ts";

/** Returns the account of a business, or null if the business is unknown. */
export const findBusinessAccount = (db: Database, id: BusinessId) => {
  const { auditChain, revision, emitCertificateIssued: emitsIssued, ...profile } = getColumns(businesses);
  const account = db
    .select({ ...profile, emitsIssued })
    .from(businesses)
    .where(eq(businesses.id, id));
  return createLookup(db, [account], ([[row]]) => row ?? null);
};

export type BusinessAccount = Found<typeof findBusinessAccount>;

/** Changes only the given fields. Changes no row if they already have these values. */
export const updateBusinessProfile = (db: Database, id: BusinessId, { emitsIssued, ...change }: BusinessProfileChange) => {
  const values = { ...change, ...(emitsIssued !== undefined && { emitCertificateIssued: emitsIssued }) };
  return db
    .update(businesses)
    .set(values)
    .where(allOf(eq(businesses.id, id), isDifferent(businesses, values)));
};
