// Lists one business's live certificates that name the person.
import type { AddressIndex } from "../../../core/access/address-index.ts";
import type { Person } from "../../../core/access/principal.ts";
import { shardOfId, type BusinessId, type CertId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { findNamedAt, listNamingCertificates, type NamingCertificate } from "../../../storage/person-certificates.ts";
import type { Stores } from "../dependencies.ts";
import { listOtherShards, queryShardsInGroups } from "../query-issuing-shards.ts";
import { loadEmailIndex } from "./load-email-index.ts";

export interface NamingCertificatePage {
  readonly certificates: readonly NamingCertificate[];
  readonly hasMore: boolean;
}

const certificatesPerPage = 50;

/**
 * Queries one page, plus one certificate, which shows that there is a next page. Certificates from the same millisecond are sorted by
 * shard.
 */
const listInShards = async (
  services: Stores,
  address: AddressIndex,
  businessId: BusinessId,
  startingAfter: CertId | null,
): Promise<readonly NamingCertificate[]> => {
  const { shards } = services;
  const limit = certificatesPerPage + 1;
  const inOrder = [shardOfId(businessId), ...(await listOtherShards(services, businessId))];
  const last = startingAfter === null ? null : shardOfId(startingAfter);
  const before =
    startingAfter === null || inOrder.length === 1 ? null : await findNamedAt(shards.forId(startingAfter), address, startingAfter);
  const pages = await queryShardsInGroups(services, inOrder, (db, shard) => {
    if (before === null || shard === last) return listNamingCertificates(db, address, businessId, { startingAfter, limit });
    const isIncluded = last !== null && inOrder.indexOf(shard) > inOrder.indexOf(last);
    return listNamingCertificates(db, address, businessId, { before, isIncluded, limit });
  });
  return pages
    .flat()
    .sort((a, b) => b.issuedAt - a.issuedAt)
    .slice(0, limit);
};

/**
 * Lists up to 50 certificates, newest first. The list is empty for an unknown business. Returns `unauthorized` if the account no longer
 * exists.
 */
export const listCertificatesNamingPerson = async (
  services: Stores,
  person: Pick<Person, "id">,
  businessId: BusinessId | null,
  startingAfter: CertId | null,
): Promise<Result<NamingCertificatePage, "unauthorized">> => {
  const address = await loadEmailIndex(services, person);
  if (address === null) return refuse("unauthorized");
  // The ID comes from the request and may contain a shard that does not exist.
  if (businessId === null || !services.shards.hasShardOf(businessId)) return ok({ certificates: [], hasMore: false });
  const found = await listInShards(services, address, businessId, startingAfter);
  return ok({ certificates: found.slice(0, certificatesPerPage), hasMore: found.length > certificatesPerPage });
};
