// Creates and checks the link in a sign-in email. The link's token is derived from the code's ID and never stored. The link works only in
// the browser that requested the code. A forwarded link, or one that a stranger requested, therefore signs no one in.
import { findMatchingCodeId } from "../../../core/access/email-code.ts";
import type { Realm } from "../../../core/access/session.ts";
import { listOwnCodeIds } from "../../../storage/email-codes.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { signInCodeLimits, toCodeRequester, type AddressLookup } from "./sign-in-address.ts";

export const signInLinkPaths: Readonly<Record<Realm, string>> = { consumer: "/app/sign-in/link", business: "/portal/sign-in/link" };

/** `binding` is the text that the code is bound to. It makes the link valid only for the same mailbox. */
const toPurpose = (codeId: string, binding: string): string => `sign in\n${codeId}\n${binding}`;

/** Builds the link that is emailed with a code. The token is in the URL's fragment, which browsers do not send to servers. */
export const createSignInUrl = async (services: ReadDependencies, realm: Realm, codeId: string, binding: string): Promise<string> =>
  `${services.config.appUrl}${signInLinkPaths[realm]}#s=${await services.vault.linkToken(toPurpose(codeId, binding))}`;

/**
 * Returns the ID of the active code with this token, or null. Compares only codes that `browser` requested. A wrong token does not count as
 * an attempt, because a 256-bit token cannot be guessed.
 */
export const verifyLinkToken = async (
  services: ReadDependencies,
  lookup: AddressLookup,
  { token, browser, binding }: { readonly token: string; readonly browser: string; readonly binding: string },
): Promise<string | null> => {
  const ids = await listOwnCodeIds(lookup.db, toCodeRequester(lookup, browser), services.clock());
  // Always compute the tokens of `maxActive` codes, so that the duration does not reveal how many codes exist.
  const slots = Array.from({ length: signInCodeLimits.maxActive }, (_, index) => ids[index] ?? "");
  const accepted = await Promise.all(
    slots.map(async (id) =>
      (await services.vault.listLinkTokens(toPurpose(id, binding))).map((expected) => ({ id, expected, submitted: token })),
    ),
  );
  const matching = findMatchingCodeId(accepted.flat());
  return matching === "" ? null : matching;
};
