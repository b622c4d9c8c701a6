// Names of contact fields and field groups in each language.
import type { Language } from "../language.ts";
import type { ContactKey, FieldGroup } from "./fields.ts";

export const fieldLabels: Readonly<Record<Language, Readonly<Record<ContactKey, string>>>> = {
  en: {
    email: "Email",
    phone: "Phone",
    address_line1: "Street address",
    address_line2: "Address line 2",
    city: "City",
    state: "State or province",
    zip: "Postal code",
    country: "Country",
    first_name: "First name",
    last_name: "Last name",
  },
  es: {
    email: "Correo electrónico",
    phone: "Teléfono",
    address_line1: "Calle y número",
    address_line2: "Dirección, segunda línea",
    city: "Ciudad",
    state: "Estado o provincia",
    zip: "Código postal",
    country: "País",
    first_name: "Nombre",
    last_name: "Apellido",
  },
  "fr-CA": {
    email: "Courriel",
    phone: "Téléphone",
    address_line1: "Numéro et rue",
    address_line2: "Adresse, deuxième ligne",
    city: "Ville",
    state: "Province ou État",
    zip: "Code postal",
    country: "Pays",
    first_name: "Prénom",
    last_name: "Nom de famille",
  },
};

/** The names of field groups for use within a sentence. */
export const groupLabels: Readonly<Record<Language, Readonly<Record<FieldGroup, string>>>> = {
  en: { email: "email", phone: "phone", address: "address", name: "name" },
  es: { email: "correo electrónico", phone: "teléfono", address: "dirección", name: "nombre" },
  "fr-CA": { email: "courriel", phone: "téléphone", address: "adresse", name: "nom" },
};

/** Joins the names of the groups into a list such as `email, phone, and name` in the given language. */
export const formatFieldGroups = (language: Language, groups: readonly FieldGroup[]): string =>
  new Intl.ListFormat(language, { type: "conjunction" }).format(groups.map((group) => groupLabels[language][group]));
