import type { BusinessId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { findBilledAccount, type BilledBusiness } from "../../../storage/billing.ts";
import type { Stores } from "../dependencies.ts";

export type Entitlement = Pick<BilledBusiness, "id" | "status" | "plan">;

export const loadBilledBusiness = async (services: Stores, id: BusinessId): Promise<BilledBusiness | null> => {
  const account = await findBilledAccount(services.shards.forId(id), id);
  return account?.kind === "business" ? account : null;
};

export const toEntitlement = ({ id, status, plan }: BilledBusiness): Entitlement => ({ id, status, plan });

export const getEntitlement = async (services: Stores, id: BusinessId): Promise<Result<Entitlement, "not_found">> => {
  const business = await loadBilledBusiness(services, id);
  return business === null ? refuse("not_found") : ok(toEntitlement(business));
};
