// Where the addresses of people are sealed; apart from the SQL, so that the demo's seed can seal its own.
import type { SealedPlace } from "./vault.ts";

export const memberEmailPlace = (id: string, businessId: string): SealedPlace => ({
  table: "members",
  record: id,
  field: "email",
  owner: businessId,
});
export const consumerEmailPlace = (id: string): SealedPlace => ({ table: "consumers", record: id, field: "email", owner: id });
