// Counts a business's shares that other people created with the person's address.
import type { Person } from "../../../core/access/principal.ts";
import type { BusinessId } from "../../../core/ids.ts";
import { countOthersShares as countByAddress } from "../../../storage/person-certificates.ts";
import type { Stores } from "../dependencies.ts";
import { loadEmailIndex } from "./load-email-index.ts";

/** Counts up to 1,000 shares. Returns null if there are none or the account no longer exists. */
export const countOthersShares = async (services: Stores, person: Pick<Person, "id">, businessId: BusinessId) => {
  const address = await loadEmailIndex(services, person);
  return address === null ? null : countByAddress(services.shards.forId(businessId), address, person.id, businessId);
};
