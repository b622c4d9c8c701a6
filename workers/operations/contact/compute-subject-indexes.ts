// Computes the blind indexes of an email address and a phone number. Each is given as plain text or as a hash.
import { normalizeEmailAddress } from "../../../core/email-address.ts";
import type { SubjectIndexes } from "../../../storage/contact.ts";
import type { ContactDependencies } from "./dependencies.ts";

/** An email address, a phone number or both, each as plain text or as the SHA-256 of its normalized form. */
export interface SubjectQuery {
  readonly email: string | null;
  readonly emailSha256: string | null;
  readonly phone: string | null;
  readonly phoneSha256: string | null;
}

/**
 * Computes the indexes. `country` is the business's country, for phone numbers without a country code. An invalid value gets an index that
 * matches nothing.
 */
export const computeSubjectIndexes = async (
  { vault, toE164 }: ContactDependencies,
  country: string,
  query: SubjectQuery,
): Promise<SubjectIndexes> => {
  const { email, emailSha256, phone, phoneSha256 } = query;
  const indexHash = (kind: "email" | "phone", hash: string | null) => (hash === null ? null : vault.blindIndexOfHash(kind, hash));
  return {
    email: await (email === null ? indexHash("email", emailSha256) : vault.blindIndex("email", normalizeEmailAddress(email) ?? "")),
    phone: await (phone === null ? indexHash("phone", phoneSha256) : vault.blindIndex("phone", toE164(phone, country) ?? "")),
  };
};
