// Under what a share is found when a business asks about an address or a number: as certificates are, by what the values compare as.
import { comparableSubject } from "../../../core/certificates/matching.ts";
import { defaultCountry, type ContactFields } from "../../../core/shares/fields.ts";
import type { Phones, Stores } from "../../services.ts";

export interface ContactIndexes {
  readonly email: string | null;
  readonly phone: string | null;
}

export const contactIndexes = async ({ vault, toE164 }: Stores & Phones, fields: ContactFields): Promise<ContactIndexes> => {
  const values = new Map(Object.entries(fields).map(([key, { value }]) => [key, value]));
  const { email, phone } = comparableSubject(values, values.get("country") ?? defaultCountry, toE164);
  const [emailIndex, phoneIndex] = await Promise.all([
    email === null ? null : vault.blindIndex("email", email),
    phone === null ? null : vault.blindIndex("phone", phone),
  ]);
  return { email: emailIndex, phone: phoneIndex };
};
