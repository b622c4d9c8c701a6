// A business's account as its own people see and change it.
import { eq, getColumns } from "drizzle-orm";
import type { ProfileChange } from "../core/accounts/profile.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Database, Found } from "./database.ts";
import { lookup } from "./lookups.ts";
import { businesses } from "./schema.ts";

export const accountById = (db: Database, id: BusinessId) => {
  const { auditChain, auditShard, revision, emitCertificateIssued: emitsIssued, ...profile } = getColumns(businesses);
  const account = db
    .select({ ...profile, emitsIssued })
    .from(businesses)
    .where(eq(businesses.id, id));
  return lookup(db, [account], ([[row]]) => row ?? null);
};

export type Account = Found<typeof accountById>;

/** What is undefined stays. */
export const changeProfile = (db: Database, id: BusinessId, { emitsIssued, ...change }: ProfileChange) =>
  db
    .update(businesses)
    .set({ ...change, ...(emitsIssued !== undefined && { emitCertificateIssued: emitsIssued }) })
    .where(eq(businesses.id, id));
