// Looks up the person's email address among certificates without decrypting it.
import type { Person } from "../../../core/access/principal.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import { findPersonRecord } from "../../../storage/people.ts";
import type { Stores } from "../dependencies.ts";

/** Returns the blind index of the address that the person signs in with. Null for a person who is gone. */
export const loadEmailIndex = (services: Stores, { id }: Pick<Person, "id">): Lookup<string | null> =>
  findPersonRecord(services.shards.forId(id), id).map((record) => record?.emailIndex ?? null);
