// The email templates: the data of each template, and how long sending is retried. To add a template, declare it in `MailData` and
// `mailLifetimeMs`, arrange its content in layouts.ts, and write its text in every file in i18n/. Subjects never contain text that a
// business or a person chose.
import type { FieldGroup } from "../shares/fields.ts";
import { dayMs, minuteMs, type Instant } from "../time.ts";

interface ShareMailData {
  readonly businessName: string;
  readonly groups: readonly FieldGroup[];
  /** When the share expires. */
  readonly until: Instant;
}

interface RevokedShareMailData {
  readonly shareId: string;
  readonly businessName: string;
  /** When the share was revoked. In `share_ceased`, when the business acknowledged the revocation. */
  readonly at: Instant;
  readonly ceaseBy: Instant;
}

interface SignInMailData {
  readonly code: string;
  /**
   * The URL of a page with a sign-in button. Its fragment contains a token. The button works only in the browser that requested the code.
   */
  readonly signInUrl: string;
}

/**
 * The templates of notices to owners. After the first email of a kind, owners get at most one per hour. Notices that arrive in the meantime
 * are combined in a digest.
 */
export type OwnerNoticeKind =
  | "withdrawal_owner_notice"
  | "entities_owner_notice"
  | "share_owner_notice"
  | "domain_missing"
  | "domain_lapsed"
  | "webhook_failing"
  | "webhook_secret_replaced"
  | "client_limit_near";

/** The data for each template. The outbox stores it encrypted. */
export interface MailData {
  /** Sent to the person who requested a sign-in code. */
  readonly login_code: SignInMailData;
  /** Sent to the person whose passkey was added. `device` is a name such as `Firefox, Windows`, or null. */
  readonly passkey_added: { readonly at: Instant; readonly device: string | null; readonly accountUrl: string };
  /** Sent to the person who requested a business account. */
  readonly signup_code: SignInMailData;
  /** Sent to the invited person. */
  readonly member_invited: { readonly businessName: string; readonly signInUrl: string; readonly until: Instant };
  /** Sent to the owners of a business whose domain no longer publishes its verification record. */
  readonly domain_missing: { readonly domain: string; readonly lapsesAt: Instant };
  readonly domain_lapsed: { readonly domain: string };
  /** Sent to the person on a certificate who requested a withdrawal code. */
  readonly withdrawal_code: {
    readonly code: string;
    readonly businessName: string;
    readonly isTest: boolean;
    /** The URL of the certificate's page, with the withdrawal token in the fragment. */
    readonly verifyUrl: string;
  };
  /** Sent to the person after they withdraw or the business records their withdrawal. */
  readonly withdrawal_confirmation: {
    readonly certId: string;
    readonly businessName: string;
    readonly isTest: boolean;
    readonly by: "person" | "business";
    /** The recipients for whom consent was withdrawn; null if the whole certificate was withdrawn. */
    readonly entities: readonly string[] | null;
    /** True if the person withdrew every consent that they gave to the business with this email address. */
    readonly coversAllConsents: boolean;
    /** When the person withdrew. If the business recorded the withdrawal, this is when the business received the request. */
    readonly withdrawnAt: Instant;
    readonly ceaseBy: Instant;
    readonly receiptUrl: string;
    readonly contact: string | null;
    readonly mailingAddress: string | null;
  };
  /**
   * Sent to the person after they withdraw everything in their account from one business, or from all businesses (`business` is then null).
   */
  readonly account_withdrawal_confirmation: {
    readonly business: {
      readonly id: string;
      readonly businessName: string;
      readonly contact: string | null;
      readonly mailingAddress: string | null;
    } | null;
    readonly withdrawnAt: Instant;
    readonly ceaseBy: Instant;
  };
  /** Sent to the owners of a business after consent was withdrawn for whole certificates. Contains no data about the person. */
  readonly withdrawal_owner_notice: { readonly certIds: readonly string[]; readonly ceaseBy: Instant };
  /** Sent to the owners of a business after consent was withdrawn for individual recipients. */
  readonly entities_owner_notice: { readonly certId: string; readonly entities: readonly string[]; readonly ceaseBy: Instant };
  /** Sent to the person when a share is granted. */
  readonly share_receipt: ShareMailData & {
    readonly host: string;
    readonly purpose: string;
    readonly stopUrl: string;
    readonly appUrl: string;
  };
  readonly share_expiring: ShareMailData & { readonly renewUrl: string; readonly stopUrl: string };
  /**
   * Sent to the person whose share was revoked. `by` is `address_owner` if the share contained another person's email address and that
   * other person revoked it.
   */
  readonly share_stopped: RevokedShareMailData & {
    readonly by: "person" | "address_owner";
    readonly groups: readonly FieldGroup[];
    readonly contact: string | null;
    readonly appUrl: string;
  };
  readonly share_ceased: RevokedShareMailData & { readonly note: string | null };
  readonly share_overdue: RevokedShareMailData & { readonly contact: string | null };
  /** Sent to the owners of a business after shares with it were revoked. Contains no data about the person. */
  readonly share_owner_notice: { readonly shareIds: readonly string[]; readonly ceaseBy: Instant };
  /** Sent to the person whose agent changed something, at most once an hour per token. */
  readonly agent_changed: { readonly tokenId: string; readonly at: Instant };
  /** The last email to a person whose account was deleted. */
  readonly account_deleted: { readonly at: Instant };
  readonly removal_completed: {
    readonly completedCount: number;
    readonly targetCount: number;
    readonly recheckAt: Instant;
    readonly affidavitUrl: string;
  };
  /** Sent to the person who connected a program. */
  readonly agent_connected: {
    readonly clientName: string;
    /** The host that published the program's metadata document; null if there is none. */
    readonly clientHost: string | null;
    readonly redirectHost: string;
    readonly at: Instant;
    readonly endUrl: string;
  };
  /** Sent to the person who connected a program, one week before the connection expires. */
  readonly agent_ending: { readonly clientName: string; readonly until: Instant; readonly endUrl: string };
  /** Sent to the owners of a business whose webhook endpoint is failing. */
  readonly webhook_failing: { readonly webhookId: string; readonly failingSince: Instant; readonly failures: number };
  /**
   * Sent to the owners of a business after the operator replaced the signing secret of an endpoint. Deliveries are signed with both secrets
   * until `until`.
   */
  readonly webhook_secret_replaced: { readonly webhookId: string; readonly until: Instant };
  /** Sent to the owners of a business whose public client is near its daily limit of submissions without an API key. */
  readonly client_limit_near: { readonly clientId: string; readonly until: Instant };
  /** Sent to the owners of a business. Combines several notices of one kind (owner-notices.ts). */
  readonly owner_digest: {
    readonly kind: OwnerNoticeKind;
    /** The number of records in all combined notices; at least 2. */
    readonly count: number;
    /** When the owners got the previous email of this kind. */
    readonly since: Instant;
    readonly earliestCeaseBy: Instant | null;
  };
}

export type MailTemplate = keyof MailData;

export type TemplatedMail = { readonly [T in MailTemplate]: { readonly template: T; readonly data: MailData[T] } }[MailTemplate];

/** How long sending is retried. Codes are not sent after they expire. */
export const mailLifetimeMs: Readonly<Record<MailTemplate, number>> = {
  login_code: 10 * minuteMs,
  passkey_added: 3 * dayMs,
  signup_code: 10 * minuteMs,
  member_invited: 3 * dayMs,
  domain_missing: 3 * dayMs,
  domain_lapsed: 3 * dayMs,
  withdrawal_code: 10 * minuteMs,
  withdrawal_confirmation: 3 * dayMs,
  account_withdrawal_confirmation: 3 * dayMs,
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
  webhook_secret_replaced: 3 * dayMs,
  client_limit_near: dayMs,
  owner_digest: 3 * dayMs,
};
