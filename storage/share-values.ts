// The copy of the in-scope values that a share holds, sealed under the share's own key: without the key nobody reads it.
import type { ShareId, BusinessId } from "../core/ids.ts";
import type { ContactFields } from "../core/shares/fields.ts";
import { fieldsOfText } from "./contact-fields.ts";
import { contextIn, type Vault } from "./vault.ts";

export const copyContext = contextIn("share_values", "fields");

export interface SealedCopy {
  readonly keySealed: string | null;
  readonly valuesSealed: string | null;
}

/** The values of a share's scope; null once it is over. */
export const openCopy = async (
  vault: Vault,
  of: { readonly id: ShareId; readonly businessId: BusinessId },
  { keySealed, valuesSealed }: SealedCopy,
): Promise<ContactFields | null> => {
  if (keySealed === null || valuesSealed === null) return null;
  return fieldsOfText(await (await vault.under(keySealed)).open(copyContext(of.id, of.businessId), valuesSealed));
};
