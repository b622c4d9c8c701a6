import type { PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import { getBusinessIdentity } from "../../../storage/accounts.ts";
import type { Stores } from "../dependencies.ts";

export type BusinessContactDetails = Pick<Awaited<ReturnType<typeof getBusinessIdentity>>, "contact" | "mailingAddress">;

/** Where the business of a certificate can be reached, for whoever wants its contact to end. */
export const getBusinessContact = (
  services: Stores,
  { id, businessId }: Pick<PublishedCertificate, "id" | "businessId">,
): Promise<BusinessContactDetails> => getBusinessIdentity(services.shards.forId(id), businessId);
