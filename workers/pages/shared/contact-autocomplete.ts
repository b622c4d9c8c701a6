// What a browser may fill in by itself, for each contact field.
import type { ContactKey } from "../../../core/shares/fields.ts";

export const contactAutocomplete: Readonly<Record<ContactKey, string>> = {
  email: "email",
  phone: "tel",
  address_line1: "address-line1",
  address_line2: "address-line2",
  city: "address-level2",
  state: "address-level1",
  zip: "postal-code",
  country: "country",
  first_name: "given-name",
  last_name: "family-name",
};
