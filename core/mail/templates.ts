// Every mail there is. To add one: its data in `MailData`, its life in `mailLifeMs`, its words in the file of each language; the compiler
// asks for what is missing. What a business or a person chose is never in a subject.
import type { FieldGroup } from "../shares/fields.ts";
import { dayMs, minuteMs, type Instant } from "../time.ts";
import { en } from "./i18n/en.ts";
import { es } from "./i18n/es.ts";
import { frCa } from "./i18n/fr-CA.ts";
import type { MailLine, MailContent } from "./message.ts";

export type MailLanguage = "en" | "es" | "fr-CA";

interface ShareMailData {
  readonly business_name: string;
  readonly groups: readonly FieldGroup[];
  /** When it ends by itself. */
  readonly until: Instant;
}

interface RevokedShareMailData {
  readonly share_id: string;
  readonly business_name: string;
  /** When it was stopped; of a confirmation, when the business confirmed. */
  readonly at: Instant;
  readonly cease_by: Instant;
}

/** What each template is filled with. Kept sealed until the mail is sent. */
export interface MailData {
  /** To whoever asked to sign in. */
  readonly login_code: { readonly code: string };
  /** To the person whose account it was added to; `device` as the browser named itself, null where it did not. */
  readonly passkey_added: { readonly at: Instant; readonly device: string | null };
  /** To whoever asked for an account of a business. */
  readonly signup_code: { readonly code: string };
  /** To whom an owner invited. */
  readonly member_invited: { readonly business_name: string; readonly sign_in_url: string; readonly until: Instant };
  /** To the owners of a business whose domain does not show its proof any more. */
  readonly domain_missing: { readonly domain: string; readonly lapses_at: Instant };
  readonly domain_lapsed: { readonly domain: string };
  /** To the person on a certificate who asked to withdraw. */
  readonly withdrawal_code: {
    readonly code: string;
    readonly business_name: string;
    /** The certificate's page, with the token that withdraws behind the `#`. */
    readonly verify_url: string;
  };
  /** To the person, once a consent is withdrawn: by themselves, or as the business recorded it. */
  readonly withdrawal_confirmation: {
    readonly cert_id: string;
    readonly business_name: string;
    readonly by: "person" | "business";
    /** Only these recipients; null of the whole certificate. */
    readonly entities: readonly string[] | null;
    /** Everything given to the business under this address. */
    readonly is_everything: boolean;
    readonly cease_by: Instant;
    readonly receipt_url: string;
    /** Where the business can be reached, where it says so. */
    readonly contact: string | null;
    readonly mailing_address: string | null;
  };
  /** To the owners of a business: the certificates' ids and the deadline, and nothing of the person. */
  readonly withdrawal_owner_notice: { readonly cert_ids: readonly string[]; readonly cease_by: Instant };
  /** Likewise, of a withdrawal from single recipients. */
  readonly entities_owner_notice: { readonly cert_id: string; readonly entities: readonly string[]; readonly cease_by: Instant };
  /** To the person, with the link that stops the share: at the grant, and before it ends by itself. */
  readonly share_receipt: ShareMailData & {
    readonly host: string;
    readonly purpose: string;
    readonly stop_url: string;
    readonly app_url: string;
  };
  readonly share_expiring: ShareMailData & { readonly is_tomorrow: boolean; readonly renew_url: string; readonly stop_url: string };
  readonly share_stopped: RevokedShareMailData & {
    readonly groups: readonly FieldGroup[];
    readonly contact: string | null;
    readonly app_url: string;
  };
  readonly share_ceased: RevokedShareMailData & { readonly note: string | null };
  readonly share_overdue: RevokedShareMailData & { readonly contact: string | null };
  /** To the owners of a business: the share's id and the deadline, and nothing of the person. */
  readonly share_owner_notice: { readonly share_ids: readonly string[]; readonly cease_by: Instant };
  /** To the person whose assistant changed something, once an hour and token. */
  readonly agent_changed: { readonly token_id: string; readonly at: Instant; readonly app_url: string };
  /** The last mail to a person: it is all that is left of their address. */
  readonly account_deleted: { readonly at: Instant };
  readonly removal_completed: {
    readonly completed: number;
    readonly asked: number;
    readonly recheck_at: Instant;
    readonly affidavit_url: string;
  };
  /** To whoever let a program be connected, at each connection. */
  readonly agent_connected: {
    readonly client_name: string;
    /** Null for a program that only says who it is. */
    readonly client_host: string | null;
    readonly redirect_host: string;
    readonly at: Instant;
    readonly end_url: string;
  };
  /** Likewise, a week before a connection ends by itself. */
  readonly agent_ending: { readonly client_name: string; readonly until: Instant; readonly end_url: string };
  /** To the owners of a business whose endpoint does not answer. */
  readonly webhook_failing: { readonly webhook_id: string; readonly failing_since: Instant; readonly failures: number };
  /** To the owners of a business whose public client comes close to the day's limit of submissions without an API key. */
  readonly client_limit_near: { readonly client_id: string; readonly until: Instant };
}

export type MailTemplate = keyof MailData;

/** A template with its data. */
export type TemplatedMail = { readonly [T in MailTemplate]: { readonly template: T; readonly data: MailData[T] } }[MailTemplate];

/** How long sending is tried: a code that has expired is of no use to anybody. */
export const mailLifetimeMs: Readonly<Record<MailTemplate, number>> = {
  login_code: 10 * minuteMs,
  passkey_added: 3 * dayMs,
  signup_code: 10 * minuteMs,
  member_invited: 3 * dayMs,
  domain_missing: 3 * dayMs,
  domain_lapsed: 3 * dayMs,
  withdrawal_code: 10 * minuteMs,
  withdrawal_confirmation: 3 * dayMs,
  withdrawal_owner_notice: 3 * dayMs,
  share_receipt: 3 * dayMs,
  share_expiring: dayMs,
  share_stopped: 3 * dayMs,
  share_ceased: 3 * dayMs,
  share_overdue: 3 * dayMs,
  share_owner_notice: 3 * dayMs,
  account_deleted: dayMs,
  removal_completed: 3 * dayMs,
  entities_owner_notice: 3 * dayMs,
  agent_changed: 3 * dayMs,
  agent_connected: 3 * dayMs,
  agent_ending: 3 * dayMs,
  webhook_failing: dayMs,
  client_limit_near: dayMs,
};

/** Of one language: the subject of each mail, and its lines. */
export type MailMessages = {
  readonly [T in MailTemplate]: (data: MailData[T]) => readonly [subject: string, ...lines: readonly MailLine[]];
};

const messagesByLanguage: Readonly<Record<MailLanguage, MailMessages>> = { en, es, "fr-CA": frCa };

/** The words of a mail in a language. */
export const renderMail = (language: MailLanguage, mail: TemplatedMail): MailContent => {
  const [subject, ...lines] = (
    messagesByLanguage[language][mail.template] as (data: TemplatedMail["data"]) => ReturnType<MailMessages[MailTemplate]>
  )(mail.data);
  return { subject, lines };
};
