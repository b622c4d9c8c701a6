// What the words of mails are set from in every language: days, moments, lists of names, whom to turn to.
import { isMailbox } from "../mailbox.ts";
import type { FieldGroup } from "../shares/fields.ts";
import { groupLabels } from "../shares/labels.ts";
import { isoOf, type Instant } from "../time.ts";
import { plainName } from "./message.ts";
import type { MailData, MailLanguage } from "./templates.ts";

const dateWords: Readonly<Record<MailLanguage, string>> = { en: "en-GB", es: "es", "fr-CA": "fr-CA" };

/** `4 December 2026`: deadlines end with their day, in UTC. */
export const dayIn = (language: MailLanguage, at: Instant): string =>
  new Intl.DateTimeFormat(dateWords[language], { dateStyle: "long", timeZone: "UTC" }).format(at);

/** `2026-11-20 10:05 UTC` */
export const minuteOf = (at: Instant): string => `${isoOf(at).slice(0, 16).replace("T", " ")} UTC`;

const maxListed = 20; // names in one mail

export const listedNames = (names: readonly string[], more: (count: number) => string): readonly string[] => [
  ...names.slice(0, maxListed).map(plainName),
  ...(names.length > maxListed ? [more(names.length - maxListed)] : []),
];

/** `name, e-mail and phone`. */
export const groupsIn = (language: MailLanguage, groups: readonly FieldGroup[]): string =>
  new Intl.ListFormat(language, { type: "conjunction" }).format(groups.map((group) => groupLabels[language][group]));

/** What a business gave as its contact: one mailbox stands as it is, everything else as plain words. */
export const reachableContact = (contact: string): string => (isMailbox(contact) ? contact : plainName(contact));

/** Whom to turn to. */
export const reachable = ({ business_name, contact, mailing_address }: MailData["withdrawal_confirmation"]): string =>
  [
    plainName(business_name),
    ...(contact === null ? [] : [reachableContact(contact)]),
    ...(mailing_address === null ? [] : [plainName(mailing_address)]),
  ].join(", ");
