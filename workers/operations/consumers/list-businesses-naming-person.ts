import type { Person } from "../../../core/access/principal.ts";
import { shardOfId, type BusinessId, type ShardId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Database } from "../../../storage/database.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import { addressIndexField } from "../../../storage/people.ts";
import { listNamingBusinesses, type NamingBusiness } from "../../../storage/person-certificates.ts";
import { runIsolated } from "../../log.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { loadEmailIndex } from "./load-email-index.ts";

export interface NamingBusinessPage {
  readonly businesses: readonly NamingBusiness[];
  readonly hasMore: boolean;
  /** A home did not answer: there may be others. */
  readonly isIncomplete: boolean;
}

const businessesPerPage = 20;

export const queryNamingBusinesses = (
  db: Database,
  address: Parameters<typeof listNamingBusinesses>[1],
  startingAfter: BusinessId | null,
) => listNamingBusinesses(db, address, { after: startingAfter ?? "", limit: businessesPerPage + 1 });

type ShardResult = readonly NamingBusiness[] | undefined;

/** Of homes besides those that have answered, as far as they do. */
export const queryOtherShards = (
  services: ReadDependencies,
  known: readonly ShardId[],
  address: string,
  startingAfter: BusinessId | null,
): Promise<readonly ShardResult[]> =>
  Promise.all(
    services.shards
      .all()
      .filter(([home]) => !known.includes(home))
      .map(([, db]) => runIsolated(services, "certificates of a person", async () => queryNamingBusinesses(db, address, startingAfter))),
  );

export const mergeShardResults = (asked: readonly ShardResult[]): NamingBusinessPage => {
  const found = asked.flatMap((ofHome) => ofHome ?? []).sort((a, b) => (a.id < b.id ? -1 : 1));
  return {
    businesses: found.slice(0, businessesPerPage),
    hasMore: found.length > businessesPerPage,
    isIncomplete: asked.includes(undefined),
  };
};

/** By id, from behind `startingAfter`. Refuses `unauthorized` for a person who is gone. */
export const listBusinessesNamingPerson = async (
  services: ReadDependencies,
  person: Pick<Person, "id">,
  startingAfter: BusinessId | null,
): Promise<Result<NamingBusinessPage, "unauthorized">> => {
  const { id } = person;
  const own = services.shards.forId(id);
  const [address, here] = await combineLookups(own, [
    loadEmailIndex(services, person),
    queryNamingBusinesses(own, addressIndexField(id), startingAfter),
  ]);
  if (address === null) return refuse("unauthorized");
  return ok(mergeShardResults([here, ...(await queryOtherShards(services, [shardOfId(id)], address, startingAfter))]));
};
