// Implements GET /v1/admin/businesses/{business_id}.
import type { BusinessId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { findBilledAccount, type BilledBusiness } from "../../../storage/billing.ts";
import type { Stores } from "../dependencies.ts";

export type Entitlement = Pick<BilledBusiness, "id" | "status" | "plan">;

/** Loads a business's billed account. Returns null for an unknown ID. */
export const loadBilledBusiness = async (services: Stores, id: BusinessId): Promise<BilledBusiness | null> => {
  const account = await findBilledAccount(services.shards.forId(id), id);
  return account?.kind === "business" ? account : null;
};

export const toEntitlement = ({ id, status, plan }: BilledBusiness): Entitlement => ({ id, status, plan });

/** Returns the status and plan of a business. Can return `not_found`. */
export const getEntitlement = async (services: Stores, id: BusinessId): Promise<Result<Entitlement, "not_found">> => {
  const business = await loadBilledBusiness(services, id);
  return business === null ? refuse("not_found") : ok(toEntitlement(business));
};
