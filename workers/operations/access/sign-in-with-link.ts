// Signs a person in with an emailed link, after they select the button on the page that the link opens.
import type { Realm } from "../../../core/access/session.ts";
import { refuse, type Result } from "../../../core/result.ts";
import { completeSignIn, type SignInResult } from "./complete-sign-in.ts";
import type { AccessWriteDependencies } from "./dependencies.ts";
import { lookUpAddress, openAddresseeEmail, toSignInCodeBinding } from "./sign-in-address.ts";
import { verifyLinkToken } from "./sign-in-link.ts";
import type { PendingSignIn } from "./sign-in-note.ts";

/**
 * Signs the person in if this browser requested the link and its code is still active. Returns `login_failed` for every other link,
 * including a link that another browser requested. The person can still enter the code.
 */
export const signInWithLink = async (
  services: AccessWriteDependencies,
  request: {
    readonly token: string;
    readonly realm: Realm;
    readonly pending: PendingSignIn;
    readonly replaces: string | null;
    readonly userAgent: string | undefined;
  },
): Promise<Result<SignInResult, "login_failed">> => {
  const { token, realm, replaces, userAgent } = request;
  const { email, browser } = request.pending;
  const lookup = await lookUpAddress(services, realm, email);
  if (lookup === null) return refuse("login_failed");
  const binding = toSignInCodeBinding(lookup, await openAddresseeEmail(services, lookup));
  const codeId = await verifyLinkToken(services, lookup, { token, browser, binding });
  return codeId === null ? refuse("login_failed") : completeSignIn(services, lookup, codeId, { email, name: null, replaces, userAgent });
};
