// Loads the blind index of the person's email address, for finding certificates that name the person.
import type { AddressIndex } from "../../../core/access/address-index.ts";
import type { Person } from "../../../core/access/principal.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import { addressIndexField, findPersonRecord } from "../../../storage/people.ts";
import type { Stores } from "../dependencies.ts";

/** Returns the blind index of the address that the person signs in with, or null if the account no longer exists. */
export const loadEmailIndex = ({ shards, vault }: Stores, { id }: Pick<Person, "id">): Lookup<AddressIndex | null> =>
  findPersonRecord(shards.forId(id), id).map((record) => (record === null ? null : vault.readIndex(record.emailIndex)));

/**
 * Returns the person's index for use in a query of their own shard. Usually, this is an SQL expression that selects the index, which saves
 * a query. While an index encryption key is being rotated, a query must search for all forms of the index. In that case, loads the index,
 * and returns null if the account no longer exists.
 */
export const selectOwnIndex = async (
  services: Stores,
  person: Pick<Person, "id">,
): Promise<AddressIndex | ReturnType<typeof addressIndexField> | null> =>
  services.vault.hasSeveralIndexForms ? loadEmailIndex(services, person) : addressIndexField(person.id);
