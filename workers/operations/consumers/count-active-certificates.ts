// Counts a business's active certificates that name the person.
import type { Person } from "../../../core/access/principal.ts";
import type { BusinessId } from "../../../core/ids.ts";
import { countActiveNamingCertificates, maxCountedRecords } from "../../../storage/person-certificates.ts";
import type { Stores } from "../dependencies.ts";
import { queryIssuingShards } from "../query-issuing-shards.ts";
import { loadEmailIndex } from "./load-email-index.ts";

/** Counts up to 1,000 certificates. Returns 0 if the account no longer exists. */
export const countActiveCertificates = async (services: Stores, person: Pick<Person, "id">, businessId: BusinessId): Promise<number> => {
  const address = await loadEmailIndex(services, person);
  if (address === null) return 0;
  const counts = await queryIssuingShards(services, businessId, (db) => countActiveNamingCertificates(db, address, businessId));
  return Math.min(
    counts.reduce((sum, count) => sum + count, 0),
    maxCountedRecords,
  );
};
