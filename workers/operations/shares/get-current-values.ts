// Implements GET /v1/consumers/{share_id}/current.
import type { Principal } from "../../../core/access/principal.ts";
import type { ShareId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { ContactKey, ContactFields } from "../../../core/shares/fields.ts";
import { getShareStatus } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import { readShareValues, openShareCopy } from "../../../storage/share-values.ts";
import type { WriteDependencies } from "../dependencies.ts";

export interface CurrentValues {
  readonly shareId: ShareId;
  readonly scope: readonly ContactKey[];
  /** The fields in the scope that have a value. */
  readonly fields: ContactFields;
  readonly asOf: Instant;
}

/** Returns the current values of an active share. The read is audited (SPEC Share). Can return `not_found` or `share_inactive`. */
export const getCurrentValues = async (
  services: WriteDependencies,
  principal: Principal,
  id: ShareId | null,
): Promise<Result<CurrentValues, "not_found" | "share_inactive">> => {
  if (id === null) return refuse("not_found");
  const { business, environment, keyId } = principal;
  const now = services.clock();
  const row = await readShareValues(services.shards.forId(id), { id, businessId: business.id, environment, keyId, now });
  if (row === null) return refuse("not_found");
  const asOf = now + row.clockOffsetMs;
  const isActive = getShareStatus(row.state, row.expiresAt, asOf) === "active";
  const fields = isActive ? await openShareCopy(services.vault, { id, businessId: business.id }, row) : null;
  if (fields === null) return refuse("share_inactive");
  services.scheduleFollowUp();
  return ok({ shareId: id, scope: row.scope, fields, asOf });
};
