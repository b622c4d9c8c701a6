import type { ShareId, BusinessId } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import { findTestShareCopy, openShareCopy } from "../../../storage/share-values.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** The copy that stands for their fields; null once the share is over. */
export const loadTestFields = async (
  services: ReadDependencies,
  db: Database,
  of: { readonly id: ShareId; readonly businessId: BusinessId },
) => {
  const copy = await findTestShareCopy(db, of.businessId, of.id);
  if (copy === undefined || copy.expiresAt <= services.clock() + copy.clockOffsetMs) return null;
  const fields = await openShareCopy(services.vault, of, copy);
  return fields === null || copy.keySealed === null ? null : { ...copy, keySealed: copy.keySealed, fields };
};
