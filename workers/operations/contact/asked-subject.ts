// Whom a business asks about. Only blind indexes are compared; nothing personal is opened or answered.
import { comparablePhone } from "../../../core/certificates/matching.ts";
import { comparableMailbox } from "../../../core/mailbox.ts";
import type { SubjectIndexes } from "../../../storage/contact.ts";
import type { Phones, Stores } from "../../services.ts";

/** An address and a number, each as itself or as the SHA-256 of its comparable form; at least one is there. */
export interface AskedSubject {
  readonly email: string | null;
  readonly emailSha256: string | null;
  readonly phone: string | null;
  readonly phoneSha256: string | null;
}

/** `country` is that of the business: numbers without a country code are taken as numbers there. */
export const subjectIndexes = async (services: Stores & Phones, country: string, asked: AskedSubject): Promise<SubjectIndexes> => {
  const { vault } = services;
  const email =
    asked.email !== null
      ? await vault.blindIndex("email", comparableMailbox(asked.email) ?? "") // what is no address is on no certificate
      : asked.emailSha256 !== null
        ? await vault.blindIndexOfHash("email", asked.emailSha256)
        : null;
  const phone =
    asked.phone !== null
      ? await vault.blindIndex("phone", comparablePhone(asked.phone, country, services.toE164))
      : asked.phoneSha256 !== null
        ? await vault.blindIndexOfHash("phone", asked.phoneSha256)
        : null;
  return { email, phone };
};
