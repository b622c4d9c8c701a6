// Loads a test person's contact fields. Test people have no account, so the fields are stored only in the share.
import type { ShareId, BusinessId } from "../../../core/ids.ts";
import type { Database } from "../../../storage/database.ts";
import { findTestShareCopy, openShareCopy } from "../../../storage/share-values.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** Returns the share's copy of the fields, decrypted, or null if the share is not active. */
export const loadTestFields = async (
  services: ReadDependencies,
  db: Database,
  share: { readonly id: ShareId; readonly businessId: BusinessId },
) => {
  const copy = await findTestShareCopy(db, share.businessId, share.id);
  if (copy === undefined || copy.expiresAt <= services.clock() + copy.clockOffsetMs) return null;
  const fields = await openShareCopy(services.vault, share, copy);
  return fields === null || copy.keySealed === null ? null : { ...copy, keySealed: copy.keySealed, fields };
};
