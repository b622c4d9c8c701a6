// Loads the blind index of the person's email address, for finding certificates that name the person.
import type { Person } from "../../../core/access/principal.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import { findPersonRecord } from "../../../storage/people.ts";
import type { Stores } from "../dependencies.ts";

/** Returns the blind index of the address with which the person signs in, or null if the account no longer exists. */
export const loadEmailIndex = (services: Stores, { id }: Pick<Person, "id">): Lookup<string | null> =>
  findPersonRecord(services.shards.forId(id), id).map((record) => record?.emailIndex ?? null);
