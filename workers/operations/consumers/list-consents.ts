// Loads the data for the consents page: the person's shares, and the businesses with certificates that name the person.
import type { Person } from "../../../core/access/principal.ts";
import { shardOfId, type BusinessId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Database } from "../../../storage/database.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import { listSharesByPerson, type SharePage } from "../../../storage/shares.ts";
import type { ReadDependencies } from "../dependencies.ts";
import {
  listBusinessesNamingPerson,
  queryNamingBusinesses,
  queryOtherShards,
  mergeShardResults,
  type NamingBusinessPage,
} from "./list-businesses-naming-person.ts";
import { mergeSharePages } from "./list-own-shares.ts";
import { loadEmailIndex, selectOwnIndex } from "./load-email-index.ts";
import { queryOwnShard, queryShards } from "./query-shards.ts";

export interface ConsentPage extends SharePage {
  readonly naming: NamingBusinessPage;
}

/**
 * Returns the first page of businesses, and the person's shares. For later pages, returns only businesses. Throws if a shard that may
 * contain shares is unavailable, because hiding a share would be worse than an error. Returns `unauthorized` if the account no longer
 * exists.
 */
export const listConsents = async (
  services: ReadDependencies,
  person: Pick<Person, "id">,
  startingAfter: BusinessId | null,
): Promise<Result<ConsentPage, "unauthorized">> => {
  if (startingAfter !== null) {
    const naming = await listBusinessesNamingPerson(services, person, startingAfter);
    return naming.ok ? ok({ shares: [], hasMore: false, naming: naming.value }) : naming;
  }
  const { id } = person;
  const now = services.clock();
  const listShares = (db: Database) => listSharesByPerson(db, id, now);
  const ownIndex = await selectOwnIndex(services, person);
  if (ownIndex === null) return refuse("unauthorized");
  const { found, others } = await queryOwnShard(services, id, (ownDb) =>
    combineLookups(ownDb, [
      loadEmailIndex(services, person),
      listShares(ownDb),
      queryNamingBusinesses(ownDb, { addressIndex: ownIndex, consumerId: id }, null),
    ]),
  );
  const [address, shares, naming] = found;
  if (address === null) return refuse("unauthorized");
  const named = { addressIndex: address, consumerId: id };
  const [shareShards, remaining] = await Promise.all([
    queryShards(services, others, (db) => combineLookups(db, [listShares(db), queryNamingBusinesses(db, named, null)])),
    queryOtherShards(services, [shardOfId(id), ...others], named, null),
  ]);
  return ok({
    ...mergeSharePages([shares, ...shareShards.map(([part]) => part)]),
    naming: mergeShardResults([naming, ...shareShards.map(([, part]) => part), ...remaining]),
  });
};
