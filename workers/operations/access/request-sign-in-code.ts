import type { Realm } from "../../../core/access/session.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { trimWhiteSpace } from "../../../core/text.ts";
import { batch } from "../../../storage/database.ts";
import type { AccessWriteDependencies } from "./dependencies.ts";
import { prepareEmailCode } from "./email-codes.ts";
import {
  lookUpAddress,
  invalidEmailMessage,
  openAddresseeEmail,
  toCodeRequester,
  getSignInCodeLimits,
  toSignInCodeBinding,
} from "./sign-in-address.ts";

/**
 * Mails a code, if the address is one that may sign in: any address for a consumer, a member's for a business. The mail goes
 * to the address as it was first given, not as it is spelt now. Silent when there were too many.
 */
export const requestSignInCode = async (
  services: AccessWriteDependencies,
  request: { readonly email: string; readonly realm: Realm; readonly language: MailLanguage },
): Promise<Result<{ readonly accepted: true }, "invalid_request">> => {
  const asked = await lookUpAddress(services, request.realm, request.email);
  if (asked === null) return refuse("invalid_request", invalidEmailMessage);
  const { db, realm, addressee } = asked;
  const now = services.clock();
  const known = await openAddresseeEmail(services, asked);
  const { rows } = await prepareEmailCode(services, db, toCodeRequester(asked), {
    limits: getSignInCodeLimits(services),
    binding: () => toSignInCodeBinding(asked, known),
    to: known ?? (realm === "consumer" ? trimWhiteSpace(request.email) : null),
    mail: async (code) => ({ template: "login_code", data: { code } }),
    language: request.language,
    opens: addressee === null || addressee.kind === "person" ? null : addressee.id,
    now,
  });
  await batch(db, rows);
  services.scheduleMail();
  return ok({ accepted: true });
};
