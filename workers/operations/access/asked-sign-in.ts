// What a page of signing in must remember between its two steps: the address that was typed, sealed in a cookie, because an address
// belongs into no URL and nobody should have to type it twice.
import { mailedCodeLimits } from "../../../core/access/mailed-code.ts";
import { isMailbox } from "../../../core/mailbox.ts";
import type { EncryptionContext } from "../../../storage/vault.ts";
import type { Runtime, Stores } from "../../services.ts";

/** As long as the code it goes with. */
export const askedSignInSeconds = mailedCodeLimits.login.lifeMs / 1_000;

const context: EncryptionContext = { table: "cookie", record: "sign-in", field: "address", owner: "browser" };

export const sealAskedSignIn = (services: Runtime & Stores, email: string): Promise<string> =>
  services.vault.seal(context, JSON.stringify({ email, until: services.clock() + mailedCodeLimits.login.lifeMs }));

/** Null when nothing was typed, when it is too long ago, and for whatever we did not seal. */
export const openAskedSignIn = async (services: Runtime & Stores, sealed: string | undefined): Promise<string | null> => {
  if (sealed === undefined) return null;
  try {
    const asked = JSON.parse(await services.vault.open(context, sealed)) as { email: string; until: number };
    return asked.until > services.clock() && isMailbox(asked.email) ? asked.email : null;
  } catch {
    return null; // a cookie is whatever the browser sends
  }
};
