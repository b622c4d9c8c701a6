import { normalizePhone } from "../../../core/certificates/normalized-subject.ts";
import { normalizeEmailAddress } from "../../../core/email-address.ts";
import type { SubjectIndexes } from "../../../storage/contact.ts";
import type { ContactDependencies } from "./dependencies.ts";

/** An address and a number, each as itself or as the SHA-256 of its comparable form; at least one is there. */
export interface SubjectQuery {
  readonly email: string | null;
  readonly emailSha256: string | null;
  readonly phone: string | null;
  readonly phoneSha256: string | null;
}

/** `country` is that of the business: numbers without a country code are taken as numbers there. What is no address is on no certificate. */
export const computeSubjectIndexes = async (
  { vault, toE164 }: ContactDependencies,
  country: string,
  asked: SubjectQuery,
): Promise<SubjectIndexes> => {
  const { email, emailSha256, phone, phoneSha256 } = asked;
  const ofHash = (kind: "email" | "phone", hash: string | null) => (hash === null ? null : vault.blindIndexOfHash(kind, hash));
  return {
    email: await (email === null ? ofHash("email", emailSha256) : vault.blindIndex("email", normalizeEmailAddress(email) ?? "")),
    phone: await (phone === null ? ofHash("phone", phoneSha256) : vault.blindIndex("phone", normalizePhone(phone, country, toE164))),
  };
};
