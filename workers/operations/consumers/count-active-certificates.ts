// How many active certificates of a business name the person.
import type { Person } from "../../../core/access/principal.ts";
import type { BusinessId } from "../../../core/ids.ts";
import { countActiveNamingCertificates } from "../../../storage/person-certificates.ts";
import type { Stores } from "../dependencies.ts";
import { loadEmailIndex } from "./load-email-index.ts";

/** Counts up to 1,000. Returns 0 for a person who is gone. */
export const countActiveCertificates = async (services: Stores, person: Pick<Person, "id">, businessId: BusinessId): Promise<number> => {
  const address = await loadEmailIndex(services, person);
  return address === null ? 0 : countActiveNamingCertificates(services.shards.forId(businessId), address, businessId);
};
