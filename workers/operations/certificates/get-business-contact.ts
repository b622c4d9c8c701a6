// Finds the contact details of the business that issued a certificate.
import type { PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import { getBusinessIdentity } from "../../../storage/accounts.ts";
import type { Stores } from "../dependencies.ts";

export type BusinessContactDetails = Pick<Awaited<ReturnType<typeof getBusinessIdentity>>, "contact" | "mailingAddress">;

/** Returns the contact details, for people who want the business to stop contacting them but cannot withdraw with a code. */
export const getBusinessContact = (
  services: Stores,
  { id, businessId }: Pick<PublishedCertificate, "id" | "businessId">,
): Promise<BusinessContactDetails> => getBusinessIdentity(services.shards.forId(id), businessId);
