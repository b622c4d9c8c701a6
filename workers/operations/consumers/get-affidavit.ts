import type { Person } from "../../../core/access/principal.ts";
import type { RemovalId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { findRemoval, openAffidavit } from "../../../storage/removals.ts";
import type { Stores } from "../dependencies.ts";

/** The file. Refuses `not_found` for somebody else's, `affidavit_not_ready` before the end. */
export const getAffidavit = async (
  services: Stores,
  person: Pick<Person, "id">,
  id: RemovalId | null,
): Promise<Result<Uint8Array<ArrayBuffer>, "not_found" | "affidavit_not_ready">> => {
  const known = id === null ? null : await findRemoval(services.shards.forId(id), services.vault, id);
  if (known === null || known.removal.consumerId !== person.id) return refuse("not_found");
  if (known.affidavitSealed === null) return refuse("affidavit_not_ready");
  return ok(await openAffidavit(services.vault, known.removal, known.affidavitSealed));
};
