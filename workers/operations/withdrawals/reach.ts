// Where the business of a certificate can be reached, for whoever wants its contact to end.
import type { PublishedCertificate } from "../../../core/certificates/published.ts";
import { businessIdentity } from "../../../storage/accounts.ts";
import type { Stores } from "../../services.ts";

export interface Reach {
  readonly contact: string | null;
  readonly mailingAddress: string | null;
}

export const reachOf = async (services: Stores, { id, businessId }: Pick<PublishedCertificate, "id" | "businessId">): Promise<Reach> => {
  const { contact, mailingAddress } = await businessIdentity(services.homes.of(id), businessId);
  return { contact, mailingAddress };
};
