// Derives the token of the withdrawal link that is returned when a certificate is issued.
import { toBase64Url } from "../../../core/bytes.ts";
import type { CertId } from "../../../core/ids.ts";
import type { Stores } from "../dependencies.ts";

/**
 * Derives the token of a certificate's withdrawal link from a secret key and the certificate's salt. The salt is stored encrypted with the
 * certificate, so the key alone is not enough to compute the token. Erasing the person's data deletes the salt.
 */
export const deriveManageToken = (
  { vault }: Pick<Stores, "vault">,
  { certId, rootSalt }: { readonly certId: CertId; readonly rootSalt: Uint8Array },
): Promise<string> => vault.permanentToken(`manage ${certId} ${toBase64Url(rootSalt)}`);
