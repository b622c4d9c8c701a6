// What the withdrawal form must remember between its two pages: the address that was typed, sealed in a cookie, because an
// address belongs into no URL and nobody should have to type it twice.
import { mailedCodeLimits } from "../../../core/access/mailed-code.ts";
import type { CertId } from "../../../core/ids.ts";
import { isMailbox } from "../../../core/mailbox.ts";
import type { EncryptionContext } from "../../../storage/vault.ts";
import type { Runtime, Stores } from "../../services.ts";

/** As long as the code it goes with. */
export const askedSeconds = mailedCodeLimits.withdrawal.lifeMs / 1_000;

const encryptionContext = (certId: CertId): EncryptionContext => ({ table: "cookie", record: certId, field: "address", owner: certId });

export const sealAsked = (services: Runtime & Stores, certId: CertId, email: string): Promise<string> =>
  services.vault.seal(encryptionContext(certId), JSON.stringify({ email, until: services.clock() + mailedCodeLimits.withdrawal.lifeMs }));

/** The address typed for this certificate; null when none was, when it is too long ago, and for whatever we did not seal. */
export const openAsked = async (services: Runtime & Stores, certId: CertId, sealed: string): Promise<string | null> => {
  try {
    const asked = JSON.parse(await services.vault.open(encryptionContext(certId), sealed)) as { email: string; until: number };
    return asked.until > services.clock() && isMailbox(asked.email) ? asked.email : null;
  } catch {
    return null; // a cookie is whatever the browser sends
  }
};
