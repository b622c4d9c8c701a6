// Formats dates, lists of names and contact details for email text in every language.
import { isEmailAddress } from "../email-address.ts";
import type { FieldGroup } from "../shares/fields.ts";
import { groupLabels } from "../shares/labels.ts";
import type { Instant } from "../time.ts";
import { toPlainName } from "./message.ts";
import type { MailData, MailLanguage } from "./templates.ts";

const dateLocales: Readonly<Record<MailLanguage, string>> = { en: "en-GB", es: "es", "fr-CA": "fr-CA" };

/** Formats a date such as `4 December 2026`, in UTC. */
export const formatDate = (language: MailLanguage, at: Instant): string => {
  const date = new Intl.DateTimeFormat(dateLocales[language], { dateStyle: "long", timeZone: "UTC" }).format(at);
  return language === "fr-CA" ? date.replace(/^1 /, "1er ") : date;
};

/** Formats a time such as `20 November 2026, 10:05 UTC`, with non-breaking spaces in the time. */
export const formatMinute = (language: MailLanguage, at: Instant): string => {
  const format = new Intl.DateTimeFormat(dateLocales[language], { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "UTC" });
  return `${formatDate(language, at)}, ${`${format.format(at)} UTC`.replaceAll(" ", "\u00a0")}`;
};

const maxListedNames = 20;

/** Lists at most 20 names. `describeRest` returns the text for the number of names that were left out. */
export const formatNames = (names: readonly string[], describeRest: (count: number) => string): readonly string[] => [
  ...names.slice(0, maxListedNames).map(toPlainName),
  ...(names.length > maxListedNames ? [describeRest(names.length - maxListedNames)] : []),
];

/** Formats a list such as `email, phone and name` in the given language. */
export const formatFieldGroups = (language: MailLanguage, groups: readonly FieldGroup[]): string =>
  new Intl.ListFormat(language, { type: "conjunction" }).format(groups.map((group) => groupLabels[language][group]));

/** Returns the contact details of a business. An email address stays unchanged; `toPlainName` removes links from anything else. */
export const formatContact = (contact: string): string => (isEmailAddress(contact) ? contact : toPlainName(contact));

/** Returns the business name, contact and mailing address on one line. */
export const formatBusinessContact = ({ businessName, contact, mailingAddress }: MailData["withdrawal_confirmation"]): string =>
  [
    toPlainName(businessName),
    ...(contact === null ? [] : [formatContact(contact)]),
    ...(mailingAddress === null ? [] : [toPlainName(mailingAddress)]),
  ].join(", ");
