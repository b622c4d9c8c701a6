// What the withdrawal form must remember between its pages, sealed in a cookie: the address that was typed, because an address belongs
// into no URL and nobody should have to type it twice; and then what proves it, so that the person can be told what else names it.
import { mailedCodeLimits } from "../../../core/access/mailed-code.ts";
import type { CertId } from "../../../core/ids.ts";
import { isMailbox } from "../../../core/mailbox.ts";
import type { EncryptionContext } from "../../../storage/vault.ts";
import type { Runtime, Stores } from "../../services.ts";

/** As long as the code it goes with. */
export const askedSeconds = mailedCodeLimits.withdrawal.lifeMs / 1_000;

const encryptionContext = (certId: CertId): EncryptionContext => ({ table: "cookie", record: certId, field: "address", owner: certId });

export interface Asked {
  /** As it was typed; null where a link from a mail needed none. */
  readonly email: string | null;
  /** Of the link that was mailed, once the code or the link was right. */
  readonly token: string | null;
}

export const sealAsked = (services: Runtime & Stores, certId: CertId, asked: Asked): Promise<string> =>
  services.vault.seal(
    encryptionContext(certId),
    JSON.stringify({ ...asked, until: services.clock() + mailedCodeLimits.withdrawal.lifeMs }),
  );

const nothing: Asked = { email: null, token: null };

/** What was typed and proved for this certificate; nothing when it is too long ago, and for whatever we did not seal. */
export const openAsked = async (services: Runtime & Stores, certId: CertId, sealed: string): Promise<Asked> => {
  try {
    const { until, email, token } = JSON.parse(await services.vault.open(encryptionContext(certId), sealed)) as Partial<Asked> & {
      until: number;
    };
    if (until <= services.clock()) return nothing;
    return { email: isMailbox(email ?? "") ? (email ?? null) : null, token: token ?? null };
  } catch {
    return nothing; // a cookie is whatever the browser sends
  }
};
