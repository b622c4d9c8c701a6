// Implements POST /v1/auth/request-code.
import type { Realm } from "../../../core/access/session.ts";
import type { ConsumerId } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { trimTypedAddress } from "../../../core/email-address.ts";
import { batch } from "../../../storage/database.ts";
import type { AccessWriteDependencies } from "./dependencies.ts";
import { prepareEmailCode } from "./email-codes.ts";
import { createSignInUrl } from "./sign-in-link.ts";
import {
  lookUpAddress,
  invalidEmailMessage,
  openAddresseeEmail,
  toCodeRequester,
  getSignInCodeLimits,
  toSignInCodeBinding,
} from "./sign-in-address.ts";

/**
 * Emails a code if the address may sign in. Any address may sign in as a consumer. Only members, invited people and people with an open
 * sign-up may sign in to a business. If the address is known, the code is sent to the stored spelling of the address, not to the spelling
 * in this request. The response does not reveal whether the address is known or a limit is exceeded. The email also contains a link that
 * signs the person in without the code, but only in the browser that requested it. Returns `invalid_request` if the text is not an email
 * address.
 */
export const requestSignInCode = async (
  services: AccessWriteDependencies,
  request: { readonly email: string; readonly realm: Realm; readonly language: Language; readonly browser: string },
): Promise<Result<{ readonly accepted: true }, "invalid_request">> => {
  const lookup = await lookUpAddress(services, request.realm, request.email);
  if (lookup === null) return refuse("invalid_request", invalidEmailMessage);
  const { db, realm, addressee } = lookup;
  const now = services.clock();
  const knownEmail = await openAddresseeEmail(services, lookup);
  const binding = toSignInCodeBinding(lookup, knownEmail);
  const { statements } = await prepareEmailCode(services, db, toCodeRequester(lookup, request.browser), {
    limits: getSignInCodeLimits(services),
    binding: () => binding,
    to: knownEmail ?? (realm === "consumer" ? trimTypedAddress(request.email) : null),
    mail: async (code, id) => ({ template: "login_code", data: { code, signInUrl: await createSignInUrl(services, realm, id, binding) } }),
    language: request.language,
    signupId: addressee === null || addressee.kind === "person" ? null : addressee.id,
    ...(realm === "consumer" && addressee !== null && { consumerId: addressee.id as ConsumerId }),
    now,
  });
  await batch(db, statements);
  services.scheduleMail();
  return ok({ accepted: true });
};
