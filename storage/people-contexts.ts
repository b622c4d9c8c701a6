// Where the addresses of people are sealed; apart from the SQL, so that the demo's seed can seal its own.
import type { EncryptionContext } from "./vault.ts";

export const memberEmailContext = (id: string, businessId: string): EncryptionContext => ({
  table: "members",
  record: id,
  field: "email",
  owner: businessId,
});
export const consumerEmailContext = (id: string): EncryptionContext => ({ table: "consumers", record: id, field: "email", owner: id });
/** Of an address that is nobody's: opened where there is none to open, so that both take the same time. */
export const nobodyContext: EncryptionContext = consumerEmailContext("nobody");
