// Implements GET /v1/me/removals/{id}/affidavit. Returns the PDF that certifies a removal's result.
import type { Person } from "../../../core/access/principal.ts";
import type { RemovalId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { findRemoval, openAffidavit } from "../../../storage/removals.ts";
import type { Stores } from "../dependencies.ts";

/**
 * Returns the PDF file. Returns `not_found` for unknown removals and other people's removals, and `affidavit_not_ready` before the removal
 * is completed.
 */
export const getAffidavit = async (
  services: Stores,
  person: Pick<Person, "id">,
  id: RemovalId | null,
): Promise<Result<Uint8Array<ArrayBuffer>, "not_found" | "affidavit_not_ready">> => {
  const stored = id === null ? null : await findRemoval(services.shards.forId(id), services.vault, id);
  if (stored === null || stored.removal.consumerId !== person.id) return refuse("not_found");
  if (stored.affidavitSealed === null) return refuse("affidavit_not_ready");
  return ok(await openAffidavit(services.vault, stored.removal, stored.affidavitSealed));
};
