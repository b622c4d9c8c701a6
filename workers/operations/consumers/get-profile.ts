// Implements GET /v1/me.
import type { Person } from "../../../core/access/principal.ts";
import type { ConsumerPlan } from "../../../core/billing/plans.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import { findContactFields } from "../../../storage/contact-fields.ts";
import type { Database } from "../../../storage/database.ts";
import { combineLookups, type Lookup } from "../../../storage/lookups.ts";
import { consumerEmailContext } from "../../../storage/people-contexts.ts";
import { countActiveShares, findPersonRecord } from "../../../storage/people.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { queryOwnShard, queryShards } from "./query-shards.ts";

export interface Profile {
  readonly id: string;
  /** The verified email address that the person signs in with. */
  readonly email: string;
  readonly plan: ConsumerPlan;
  readonly createdAt: Instant;
  readonly activeShares: number;
  /** When the newest contact field value was set; null if no field has a value. */
  readonly fieldsUpdatedAt: Instant | null;
}

/**
 * Loads the profile. Runs `extraLookup` in the same round trip to the person's shard. Returns `unauthorized` if the account no longer
 * exists.
 */
export const loadProfileWith = async <T>(
  services: ReadDependencies,
  { id }: Pick<Person, "id">,
  extraLookup: (ownDb: Database) => Lookup<T>,
): Promise<Result<readonly [Profile, T], "unauthorized">> => {
  const { vault } = services;
  const now = services.clock();
  const countActive = (db: Database) => countActiveShares(db, id, now);
  const { found, others } = await queryOwnShard(services, id, (ownDb) =>
    combineLookups(ownDb, [findPersonRecord(ownDb, id), findContactFields(ownDb, vault, id), countActive(ownDb), extraLookup(ownDb)]),
  );
  const [record, stored, ownCount, rest] = found;
  if (record === null || stored === null) return refuse("unauthorized");
  const otherCounts = await queryShards(services, others, countActive);
  const times = Object.values(stored.fields).map(({ updatedAt }) => updatedAt);
  const profile: Profile = {
    id,
    email: await vault.open(consumerEmailContext(id), record.emailSealed),
    plan: record.plan,
    createdAt: record.createdAt,
    activeShares: otherCounts.reduce((sum, count) => sum + count, ownCount),
    fieldsUpdatedAt: times.length === 0 ? null : Math.max(...times),
  };
  return ok([profile, rest]);
};

/** Returns the person's profile. Returns `unauthorized` if the account no longer exists. */
export const getProfile = async (services: ReadDependencies, person: Person): Promise<Result<Profile, "unauthorized">> => {
  const read = await loadProfileWith(services, person, (ownDb) => combineLookups(ownDb, []));
  return read.ok ? ok(read.value[0]) : read;
};
