// Computes blind indexes of a person's contact fields. Contact checks use them to find the person's shares.
import type { AddressIndex } from "../../../core/access/address-index.ts";
import { recognizeFields } from "../../../core/certificates/recognized-fields.ts";
import { defaultCountry, type ContactFields, type ContactIndexes } from "../../../core/shares/fields.ts";
import type { ContactFieldDependencies } from "./dependencies.ts";

/**
 * Indexes the normalized email address and phone number, in the same way as for certificates. An index is null if the person has not set
 * the field. The email address counts as verified if the person signs in with it (its index is `ownEmailIndex`). A test person's address
 * always counts as verified.
 */
export const computeContactIndexes = async (
  { vault, toE164 }: ContactFieldDependencies,
  fields: ContactFields,
  ownEmailIndex: AddressIndex | null | "test person",
): Promise<ContactIndexes> => {
  const values = new Map(Object.entries(fields).map(([key, { value }]) => [key, value]));
  const { emails, phones } = recognizeFields(values, values.get("country") ?? defaultCountry, toE164);
  const [email] = emails;
  const [phone] = phones;
  const [emailIndex, phoneIndex] = await Promise.all([
    email === undefined ? null : vault.blindIndex("email", email),
    phone === undefined ? null : vault.blindIndex("phone", phone),
  ]);
  const isEmailProven = emailIndex !== null && (ownEmailIndex === "test person" || emailIndex === ownEmailIndex);
  return { email: emailIndex, phone: phoneIndex, isEmailProven };
};
