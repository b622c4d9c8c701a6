// One share as its person reads it.
import type { Person } from "../../../core/access/principal.ts";
import type { ShareId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Share } from "../../../core/shares/share.ts";
import { changeableShare } from "../../../storage/shares.ts";
import type { Runtime, Stores } from "../../services.ts";

/** Refuses `not_found` for unknown shares and other people's alike. */
export const readOwnShare = async (services: Runtime & Stores, person: Person, id: ShareId | null): Promise<Result<Share, "not_found">> => {
  const db = id === null ? null : services.homes.of(id);
  const found = id === null || db === null ? null : await changeableShare(db, id, { consumerId: person.id }, services.clock());
  return found === null ? refuse("not_found") : ok(found.share);
};
