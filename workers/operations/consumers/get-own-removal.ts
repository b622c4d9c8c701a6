// Reads one of the person's removals.
import type { Person } from "../../../core/access/principal.ts";
import type { RemovalId } from "../../../core/ids.ts";
import type { Removal } from "../../../core/removals/removal.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { findRemoval } from "../../../storage/removals.ts";
import type { Stores } from "../dependencies.ts";

/** Returns the removal, or `not_found` for unknown removals and other people's removals. */
export const getOwnRemoval = async (
  { shards, vault }: Stores,
  person: Pick<Person, "id">,
  id: RemovalId | null,
): Promise<Result<Removal, "not_found">> => {
  const stored = id === null ? null : await findRemoval(shards.forId(id), vault, id);
  return stored?.removal.consumerId === person.id ? ok(stored.removal) : refuse("not_found");
};
