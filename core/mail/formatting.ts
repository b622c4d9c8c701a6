// Formats dates, lists of names and contact details for email text in every language.
import { isEmailAddress } from "../email-address.ts";
import { locales, type Language } from "../language.ts";
import type { Instant } from "../time.ts";
import { toPlainName } from "./message.ts";
import type { MailData } from "./templates.ts";

/** Formats a date such as `4 December 2026`, in UTC. */
export const formatDate = (language: Language, at: Instant): string => {
  const date = new Intl.DateTimeFormat(locales[language], { dateStyle: "long", timeZone: "UTC" }).format(at);
  return language === "fr-CA" ? date.replace(/^1 /, "1er ") : date;
};

/** Formats a time such as `20 November 2026, 10:05 UTC`, with non-breaking spaces in the time. */
export const formatMinute = (language: Language, at: Instant): string => {
  const format = new Intl.DateTimeFormat(locales[language], { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "UTC" });
  return `${formatDate(language, at)}, ${`${format.format(at)} UTC`.replaceAll(" ", "\u00a0")}`;
};

const maxListedNames = 20;

/** Lists at most 20 names. For the rest, `describeRest` returns a text that says how many there are. */
export const formatNames = (names: readonly string[], describeRest: (count: number) => string): readonly string[] => [
  ...names.slice(0, maxListedNames).map(toPlainName),
  ...(names.length > maxListedNames ? [describeRest(names.length - maxListedNames)] : []),
];

/** Returns the contact details of a business. An email address stays unchanged; `toPlainName` removes links from anything else. */
export const formatContact = (contact: string): string => (isEmailAddress(contact) ? contact : toPlainName(contact));

/** Returns the business name, contact and mailing address on one line. */
export const formatBusinessContact = ({
  businessName,
  contact,
  mailingAddress,
}: Pick<MailData["withdrawal_confirmation"], "businessName" | "contact" | "mailingAddress">): string =>
  [
    toPlainName(businessName),
    ...(contact === null ? [] : [formatContact(contact)]),
    ...(mailingAddress === null ? [] : [toPlainName(mailingAddress)]),
  ].join(", ");
