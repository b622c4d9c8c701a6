// What the words of mails are set from in every language: days, moments, lists of names, whom to turn to.
import { isEmailAddress } from "../email-address.ts";
import type { FieldGroup } from "../shares/fields.ts";
import { groupLabels } from "../shares/labels.ts";
import { toIso, type Instant } from "../time.ts";
import { toPlainName } from "./message.ts";
import type { MailData, MailLanguage } from "./templates.ts";

const dateLocales: Readonly<Record<MailLanguage, string>> = { en: "en-GB", es: "es", "fr-CA": "fr-CA" };

/** `4 December 2026`: deadlines end with their day, in UTC. */
export const formatDate = (language: MailLanguage, at: Instant): string =>
  new Intl.DateTimeFormat(dateLocales[language], { dateStyle: "long", timeZone: "UTC" }).format(at);

/** `2026-11-20 10:05 UTC` */
export const formatMinute = (at: Instant): string => `${toIso(at).slice(0, 16).replace("T", " ")} UTC`;

const maxListedNames = 20; // names in one mail

export const formatNameLines = (names: readonly string[], more: (count: number) => string): readonly string[] => [
  ...names.slice(0, maxListedNames).map(toPlainName),
  ...(names.length > maxListedNames ? [more(names.length - maxListedNames)] : []),
];

/** `name, e-mail and phone`. */
export const formatFieldGroups = (language: MailLanguage, groups: readonly FieldGroup[]): string =>
  new Intl.ListFormat(language, { type: "conjunction" }).format(groups.map((group) => groupLabels[language][group]));

/** What a business gave as its contact: one mailbox stands as it is, everything else as plain words. */
export const formatContact = (contact: string): string => (isEmailAddress(contact) ? contact : toPlainName(contact));

/** Whom to turn to. */
export const formatBusinessContact = ({ business_name, contact, mailing_address }: MailData["withdrawal_confirmation"]): string =>
  [
    toPlainName(business_name),
    ...(contact === null ? [] : [formatContact(contact)]),
    ...(mailing_address === null ? [] : [toPlainName(mailing_address)]),
  ].join(", ");
