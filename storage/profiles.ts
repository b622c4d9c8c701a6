// A business's account as its own people see and change it.
import { eq } from "drizzle-orm";
import type { BusinessStatus, Plan } from "../core/access/entitlement.ts";
import type { Profile, ProfileChange } from "../core/accounts/profile.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { lookup, type Lookup } from "./lookups.ts";
import { businesses } from "./schema.ts";

export interface Account extends Profile {
  readonly id: BusinessId;
  readonly status: BusinessStatus;
  readonly plan: Plan;
  readonly createdAt: Instant;
}

const profile = {
  name: businesses.name,
  legalName: businesses.legalName,
  mailingAddress: businesses.mailingAddress,
  contactEmail: businesses.contactEmail,
  contactPhone: businesses.contactPhone,
  logoUrl: businesses.logoUrl,
  country: businesses.country,
  retentionYears: businesses.retentionYears,
  revocationScopeDefault: businesses.revocationScopeDefault,
  emitsIssued: businesses.emitCertificateIssued,
};

export const accountById = (db: Database, id: BusinessId): Lookup<Account | null> => {
  const { status, plan, createdAt } = businesses;
  const account = db
    .select({ id: businesses.id, status, plan, createdAt, ...profile })
    .from(businesses)
    .where(eq(businesses.id, id));
  return lookup(db, [account], ([[row]]) => row ?? null);
};

/** What is undefined stays. */
export const changeProfile = (db: Database, id: BusinessId, { emitsIssued, ...change }: ProfileChange) =>
  db
    .update(businesses)
    .set({ ...change, ...(emitsIssued !== undefined && { emitCertificateIssued: emitsIssued }) })
    .where(eq(businesses.id, id));
