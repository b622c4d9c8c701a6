// The sandbox's test people. Their values are constant, and they have no account or audit chain (SPEC Share).
import type { ContactFields, ContactKey } from "./fields.ts";

export const personaNames = ["default", "minimal"] as const;
export type PersonaName = (typeof personaNames)[number];

const personaValues: Readonly<Record<PersonaName, Readonly<Partial<Record<ContactKey, string>>>>> = {
  default: {
    email: "sandbox@example.com",
    phone: "+12025550123",
    address_line1: "1 Test St",
    city: "Testville",
    state: "CA",
    zip: "94000",
    country: "US",
    first_name: "Sandy",
    last_name: "Sample",
  },
  minimal: { email: "sandbox@example.com", first_name: "Sandy" },
};

/** Returns a persona's fields. Test values have the timestamp 0. */
export const getPersonaFields = (name: PersonaName): ContactFields =>
  Object.fromEntries(Object.entries(personaValues[name]).map(([key, value]) => [key, { value, updatedAt: 0 }]));

const alternateValues: Readonly<Record<ContactKey, string>> = {
  email: "sandbox.changed@example.com",
  phone: "+12025550199",
  address_line1: "2 Test St",
  address_line2: "Unit 2",
  city: "New Testville",
  state: "NV",
  zip: "89000",
  country: "CA",
  first_name: "Sandra",
  last_name: "Specimen",
};

/** Returns a value that differs from `current`, to simulate a change: the alternate value or, if that is the current one, the original. */
export const getAlternatePersonaValue = (key: ContactKey, current: string | null): string | null =>
  current === alternateValues[key] ? (personaValues.default[key] ?? null) : alternateValues[key];
