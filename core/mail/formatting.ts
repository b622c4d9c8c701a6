// Formats dates, lists of names and contact details for email text in every language.
import { isEmailAddress } from "../email-address.ts";
import type { FieldGroup } from "../shares/fields.ts";
import { groupLabels } from "../shares/labels.ts";
import { toIso, type Instant } from "../time.ts";
import { toPlainName } from "./message.ts";
import type { MailData, MailLanguage } from "./templates.ts";

const dateLocales: Readonly<Record<MailLanguage, string>> = { en: "en-GB", es: "es", "fr-CA": "fr-CA" };

/** `4 December 2026`, in UTC. */
export const formatDate = (language: MailLanguage, at: Instant): string =>
  new Intl.DateTimeFormat(dateLocales[language], { dateStyle: "long", timeZone: "UTC" }).format(at);

/** `2026-11-20 10:05 UTC` */
export const formatMinute = (at: Instant): string => `${toIso(at).slice(0, 16).replace("T", " ")} UTC`;

const maxListedNames = 20;

/** Lists at most 20 names, one per line; `more` describes how many were left out. */
export const formatNameLines = (names: readonly string[], more: (count: number) => string): readonly string[] => [
  ...names.slice(0, maxListedNames).map(toPlainName),
  ...(names.length > maxListedNames ? [more(names.length - maxListedNames)] : []),
];

/** `email, phone and name`, in the language. */
export const formatFieldGroups = (language: MailLanguage, groups: readonly FieldGroup[]): string =>
  new Intl.ListFormat(language, { type: "conjunction" }).format(groups.map((group) => groupLabels[language][group]));

/** Returns the contact of a business. An email address stays unchanged; `toPlainName` removes links from anything else. */
export const formatContact = (contact: string): string => (isEmailAddress(contact) ? contact : toPlainName(contact));

/** Returns the business name, contact and mailing address on one line. */
export const formatBusinessContact = ({ businessName, contact, mailingAddress }: MailData["withdrawal_confirmation"]): string =>
  [
    toPlainName(businessName),
    ...(contact === null ? [] : [formatContact(contact)]),
    ...(mailingAddress === null ? [] : [toPlainName(mailingAddress)]),
  ].join(", ");
