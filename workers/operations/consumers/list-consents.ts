import type { Person } from "../../../core/access/principal.ts";
import { shardOfId, type BusinessId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Database } from "../../../storage/database.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import { addressIndexField } from "../../../storage/people.ts";
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
import { loadEmailIndex } from "./load-email-index.ts";
import { queryOwnShard, queryShards } from "./query-shards.ts";

export interface ConsentPage extends SharePage {
  readonly naming: NamingBusinessPage;
}

/**
 * The first page has every share; those behind it only what is left of consents on forms. A home that may hold shares has to answer.
 * Refuses as `businessesNaming`.
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
  const sharesIn = (db: Database) => listSharesByPerson(db, id, now);
  const { found, others } = await queryOwnShard(services, id, (own) =>
    combineLookups(own, [loadEmailIndex(services, person), sharesIn(own), queryNamingBusinesses(own, addressIndexField(id), null)]),
  );
  const [address, shares, naming] = found;
  if (address === null) return refuse("unauthorized");
  const [there, elsewhere] = await Promise.all([
    queryShards(services, others, (db) => combineLookups(db, [sharesIn(db), queryNamingBusinesses(db, address, null)])),
    queryOtherShards(services, [shardOfId(id), ...others], address, null),
  ]);
  return ok({
    ...mergeSharePages([shares, ...there.map(([ofHome]) => ofHome)]),
    naming: mergeShardResults([naming, ...there.map(([, ofHome]) => ofHome), ...elsewhere]),
  });
};
