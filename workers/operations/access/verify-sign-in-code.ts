// Implements POST /v1/auth/verify-code.
import type { Realm } from "../../../core/access/session.ts";
import { refuse, type Result } from "../../../core/result.ts";
import { trimTypedAddress } from "../../../core/email-address.ts";
import { parseLine } from "../../../core/text.ts";
import { completeSignIn, type SignInPerson, type SignInResult } from "./complete-sign-in.ts";
import type { AccessWriteDependencies } from "./dependencies.ts";
import { verifyEmailCode } from "./email-codes.ts";
import {
  invalidEmailMessage,
  lookUpAddress,
  openAddresseeEmail,
  signInCodeLimits,
  toCodeRequester,
  toSignInCodeBinding,
} from "./sign-in-address.ts";

const maxNameLength = 200;

/**
 * Signs the person in with an email code. Every entered code counts as an attempt. Returns `invalid_request` if the name or address is
 * invalid, and `login_failed` for every other failure.
 */
export const verifySignInCode = async (
  services: AccessWriteDependencies,
  request: SignInPerson & {
    readonly code: string;
    readonly realm: Realm;
    readonly replaces: string | null;
    /** The browser's ID; null if the browser has not requested a code. */
    readonly browser: string | null;
  },
): Promise<Result<SignInResult, "invalid_request" | "login_failed">> => {
  const name = parseLine("name", request.name, maxNameLength);
  if (!name.ok) return name;
  const lookup = await lookUpAddress(services, request.realm, request.email);
  if (lookup === null) return refuse("invalid_request", invalidEmailMessage);
  const knownEmail = await openAddresseeEmail(services, lookup);
  const attempt = { limits: signInCodeLimits, binding: () => toSignInCodeBinding(lookup, knownEmail), code: request.code };
  const codeId = await verifyEmailCode(services, lookup.db, toCodeRequester(lookup, request.browser), attempt);
  if (codeId === null) return refuse("login_failed");
  const { userAgent, replaces } = request;
  return completeSignIn(services, lookup, codeId, { email: trimTypedAddress(request.email), name: name.value, userAgent, replaces });
};
