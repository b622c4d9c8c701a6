// Finds the business's other certificates that name the person's email address.
import type { AddressIndex } from "../../../core/access/address-index.ts";
import type { Database } from "../../../storage/database.ts";
import { findOtherCertificates, maxCounted } from "../../../storage/withdrawals.ts";
import type { Stores } from "../dependencies.ts";
import { queryIssuingShards } from "../query-issuing-shards.ts";
import type { LocatedRecord } from "./locate-record.ts";

const maxShownCertificates = 20;

export type OtherCertificates = Awaited<ReturnType<typeof findOtherCertificates>>;

/**
 * Returns the number of other active certificates (up to 1,000), and the newest 20 of them. After a withdrawal with scope `business`,
 * counts only later certificates, because consent for earlier ones has been withdrawn or will be within minutes.
 */
export const loadOtherCertificates = async (
  services: Stores,
  { db, record }: LocatedRecord,
  addressIndex: AddressIndex,
): Promise<OtherCertificates> => {
  const { certificate, withdrawal } = record;
  const { id: certId, businessId, environment } = certificate;
  const issuedAfter = withdrawal?.scope === "business" ? withdrawal.withdrawnAt : null;
  const scope = { businessId, environment, addressIndexes: [addressIndex] };
  const find = (shard: Database) => findOtherCertificates(shard, scope, { certId, issuedAfter }, maxShownCertificates);
  if (!record.hasOtherShards) return find(db);
  const found = await queryIssuingShards(services, businessId, find);
  return {
    count: Math.min(
      found.reduce((sum, { count }) => sum + count, 0),
      maxCounted,
    ),
    newest: found
      .flatMap(({ newest }) => newest)
      .sort((a, b) => b.issuedAt - a.issuedAt)
      .slice(0, maxShownCertificates),
  };
};
