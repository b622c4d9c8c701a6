// Lists businesses with live certificates that name the person, or with shares that other people made with the person's address. The
// certificates are in the businesses' shards, so this queries every shard.
import type { Person } from "../../../core/access/principal.ts";
import { shardOfId, type BusinessId, type ShardId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Database } from "../../../storage/database.ts";
import { combineLookups } from "../../../storage/lookups.ts";
import { listNamingBusinesses, maxCountedRecords, type NamingBusiness } from "../../../storage/person-certificates.ts";
import { runIsolated } from "../../log.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { loadEmailIndex, selectOwnIndex } from "./load-email-index.ts";

export interface NamingBusinessPage {
  readonly businesses: readonly NamingBusiness[];
  readonly hasMore: boolean;
  /** True if a shard was unavailable. In that case, businesses may be missing. */
  readonly isIncomplete: boolean;
}

const businessesPerPage = 20;

/** Queries one page from a shard, plus one business, which shows that there is a next page. */
export const queryNamingBusinesses = (db: Database, person: Parameters<typeof listNamingBusinesses>[1], startingAfter: BusinessId | null) =>
  listNamingBusinesses(db, person, { after: startingAfter ?? "", limit: businessesPerPage + 1 });

type ShardResult = readonly NamingBusiness[] | undefined;

/** Queries all shards that are not in `known`. The result is undefined for an unavailable shard. */
export const queryOtherShards = (
  services: ReadDependencies,
  known: readonly ShardId[],
  person: Parameters<typeof listNamingBusinesses>[1],
  startingAfter: BusinessId | null,
): Promise<readonly ShardResult[]> =>
  Promise.all(
    services.shards
      .all()
      .filter(([shard]) => !known.includes(shard))
      .map(([, db]) => runIsolated(services, "certificates of a person", async () => queryNamingBusinesses(db, person, startingAfter))),
  );

type CountedKey = "certificates" | "active" | "othersShares" | "activeOthersShares";

/** Adds up the counts of one business from several shards. Each sum is capped at 1,000. */
const mergeBusiness = (parts: readonly [NamingBusiness, ...NamingBusiness[]]): NamingBusiness => {
  const sum = (key: CountedKey): number =>
    Math.min(
      parts.reduce((total, part) => total + part[key], 0),
      maxCountedRecords,
    );
  return {
    ...parts[0],
    certificates: sum("certificates"),
    active: sum("active"),
    othersShares: sum("othersShares"),
    activeOthersShares: sum("activeOthersShares"),
    lastIssuedAt: Math.max(...parts.map(({ lastIssuedAt }) => lastIssuedAt)),
  };
};

/** Merges the pages from all shards by business ID. */
export const mergeShardResults = (results: readonly ShardResult[]): NamingBusinessPage => {
  const byId = Map.groupBy(
    results.flatMap((result) => result ?? []),
    ({ id }) => id,
  );
  const found = [...byId.values()]
    .map((parts) => mergeBusiness(parts as [NamingBusiness, ...NamingBusiness[]]))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  return {
    businesses: found.slice(0, businessesPerPage),
    hasMore: found.length > businessesPerPage,
    isIncomplete: results.includes(undefined),
  };
};

/** Lists up to 20 businesses, ordered by ID, after `startingAfter`. Returns `unauthorized` if the account no longer exists. */
export const listBusinessesNamingPerson = async (
  services: ReadDependencies,
  person: Pick<Person, "id">,
  startingAfter: BusinessId | null,
): Promise<Result<NamingBusinessPage, "unauthorized">> => {
  const { id } = person;
  const ownDb = services.shards.forId(id);
  const ownIndex = await selectOwnIndex(services, person);
  if (ownIndex === null) return refuse("unauthorized");
  const [address, ownResult] = await combineLookups(ownDb, [
    loadEmailIndex(services, person),
    queryNamingBusinesses(ownDb, { addressIndex: ownIndex, consumerId: id }, startingAfter),
  ]);
  if (address === null) return refuse("unauthorized");
  return ok(
    mergeShardResults([
      ownResult,
      ...(await queryOtherShards(services, [shardOfId(id)], { addressIndex: address, consumerId: id }, startingAfter)),
    ]),
  );
};
