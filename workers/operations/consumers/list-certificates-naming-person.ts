// Lists one business's live certificates that name the person.
import type { Person } from "../../../core/access/principal.ts";
import type { BusinessId, CertId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { listNamingCertificates, type NamingCertificate } from "../../../storage/person-certificates.ts";
import type { Stores } from "../dependencies.ts";
import { loadEmailIndex } from "./load-email-index.ts";

export interface NamingCertificatePage {
  readonly certificates: readonly NamingCertificate[];
  readonly hasMore: boolean;
}

const certificatesPerPage = 50;

/**
 * Lists 50 certificates, newest first. The list is empty for an unknown business. Returns `unauthorized` if the account no longer exists.
 */
export const listCertificatesNamingPerson = async (
  services: Stores,
  person: Pick<Person, "id">,
  businessId: BusinessId | null,
  startingAfter: CertId | null,
): Promise<Result<NamingCertificatePage, "unauthorized">> => {
  const address = await loadEmailIndex(services, person);
  if (address === null) return refuse("unauthorized");
  if (businessId === null) return ok({ certificates: [], hasMore: false });
  const page = { startingAfter, limit: certificatesPerPage + 1 };
  const found = await listNamingCertificates(services.shards.forId(businessId), address, businessId, page);
  return ok({ certificates: found.slice(0, certificatesPerPage), hasMore: found.length > certificatesPerPage });
};
