// The content of each email and its order, which are the same in every language: the result, the facts, one action and, below them, what to
// do if something is wrong and why the recipient gets the email.
import type { Instant } from "../time.ts";
import { formatBusinessContact, formatContact, formatDate, formatFieldGroups, formatMinute, formatNames } from "./formatting.ts";
import type { MailMessages } from "./i18n/en.ts";
import { fillText, toPlainName, toPlainText, type MailContent, type MailFact, type MailLine, type MailSpan } from "./message.ts";
import type { MailData, MailLanguage, MailTemplate, OwnerNoticeKind } from "./templates.ts";

export interface LayoutContext {
  readonly language: MailLanguage;
  readonly messages: MailMessages;
  /** The address of the app and the portal. */
  readonly appUrl: string;
}

type Values = Readonly<Record<string, MailSpan>>;
type FactName = keyof MailMessages["facts"];

const fill = (text: string, values: Values): string => toPlainText(fillText(text, values));

const bold = (name: string): MailSpan => ({ strong: toPlainName(name) });

const paragraph = (text: string, values: Values = {}): MailLine => ({ kind: "paragraph", text: fillText(text, values) });

const heading = (title: string, text: string, values: Values = {}): MailLine => ({
  kind: "heading",
  heading: title,
  text: fillText(text, values),
});

const action = ({ action: label, hint }: { readonly action: string; readonly hint: string }, link: string): MailLine => ({
  kind: "action",
  label,
  link,
  hint,
});

/** Formats the facts of an email. Facts without a value are left out. */
const createFacts =
  ({ messages: { facts, byEndOf }, language }: LayoutContext) =>
  (...rows: readonly (readonly [FactName, string | readonly string[] | { readonly deadline: Instant } | null, "id"?])[]): MailLine => ({
    kind: "facts",
    facts: rows.flatMap(([name, value, style]): readonly MailFact[] => {
      const label = facts[name];
      if (value === null) return [];
      if (typeof value === "object" && "deadline" in value)
        return [{ label, values: [fill(byEndOf, { date: formatDate(language, value.deadline) })], style: "strong" }];
      return [{ label, values: typeof value === "string" ? [value] : value, ...(style !== undefined && { style }) }];
    }),
  });

/** The portal page that lists the records of a digest. */
const digestPages: Readonly<Record<OwnerNoticeKind, string>> = {
  withdrawal_owner_notice: "/portal/deadlines",
  entities_owner_notice: "/portal/deadlines",
  share_owner_notice: "/portal/deadlines",
  domain_missing: "/portal/domains",
  domain_lapsed: "/portal/domains",
  webhook_failing: "/portal/webhooks",
  webhook_secret_replaced: "/portal/webhooks",
  client_limit_near: "/portal/keys",
};

type Layouts = { readonly [T in MailTemplate]: (data: MailData[T], context: LayoutContext) => MailContent };

export const layouts: Layouts = {
  login_code: ({ code, signInUrl }, { messages: { login_code: text } }) => ({
    subject: text.subject,
    lines: [paragraph(text.intro), { kind: "code", code }, action(text, signInUrl), paragraph(text.secrecy)],
    footer: [heading(text.wrongTitle, text.wrong), paragraph(text.reason)],
  }),
  passkey_added: ({ at, device, accountUrl }, context) => {
    const { passkey_added: text, reasons } = context.messages;
    return {
      subject: text.subject,
      lines: [
        paragraph(text.intro),
        createFacts(context)(["added", formatMinute(context.language, at)], ["device", device]),
        action(text, accountUrl),
      ],
      footer: [heading(text.wrongTitle, text.wrong), paragraph(reasons.account)],
    };
  },
  signup_code: ({ code, signInUrl }, { messages: { signup_code: text } }) => ({
    subject: text.subject,
    lines: [paragraph(text.intro), { kind: "code", code }, action(text, signInUrl), paragraph(text.secrecy)],
    footer: [heading(text.wrongTitle, text.wrong), paragraph(text.reason)],
  }),
  member_invited: ({ businessName, signInUrl, until }, context) => {
    const { member_invited: text } = context.messages;
    return {
      subject: text.subject,
      lines: [
        paragraph(text.intro, { business: bold(businessName) }),
        createFacts(context)(["expires", formatMinute(context.language, until)]),
        action(text, signInUrl),
      ],
      footer: [heading(text.otherTitle, text.other), heading(text.wrongTitle, text.wrong), paragraph(text.reason)],
    };
  },
  domain_missing: ({ domain, lapsesAt }, context) => {
    const { domain_missing: text, reasons } = context.messages;
    return {
      subject: text.subject,
      lines: [
        paragraph(text.intro, { domain: { strong: domain } }),
        createFacts(context)(["domain", domain, "id"], ["verifiedUntil", formatMinute(context.language, lapsesAt)]),
        action(text, `${context.appUrl}/portal/domains`),
      ],
      footer: [heading(text.afterTitle, text.after), paragraph(reasons.owner)],
    };
  },
  domain_lapsed: ({ domain }, { messages: { domain_lapsed: text, reasons }, appUrl }) => ({
    subject: text.subject,
    lines: [paragraph(text.intro, { domain: { strong: domain } }), action(text, `${appUrl}/portal/domains`)],
    footer: [heading(text.afterTitle, text.after), paragraph(reasons.owner)],
  }),
  withdrawal_code: ({ code, businessName, verifyUrl }, { messages: { withdrawal_code: text } }) => ({
    subject: text.subject,
    lines: [paragraph(text.intro, { business: bold(businessName) }), { kind: "code", code }, action(text, verifyUrl)],
    footer: [heading(text.wrongTitle, text.wrong), paragraph(text.reason)],
  }),
  withdrawal_confirmation: (data, context) => {
    const { withdrawal_confirmation: text, moreRecipients } = context.messages;
    const { certId, businessName, by, entities, coversAllConsents, withdrawnAt, ceaseBy, receiptUrl } = data;
    const covers =
      entities === null
        ? [coversAllConsents ? text.coversAll : text.coversOne]
        : [text.coversRecipients, ...formatNames(entities, (count) => fill(moreRecipients, { count: String(count) }))];
    return {
      subject: text.subject,
      lines: [
        paragraph(by === "person" ? text.introByPerson : text.introByBusiness, { business: bold(businessName) }),
        createFacts(context)(
          ["covers", covers],
          ["withdrawn", formatMinute(context.language, withdrawnAt)],
          ["contactEnds", { deadline: ceaseBy }],
          ["certificate", certId, "id"],
        ),
        action(text, receiptUrl),
      ],
      footer: [
        heading(text.contactedTitle, text.contacted, { contact: formatBusinessContact(data) }),
        heading(text.wrongTitle, text.wrong),
        paragraph(text.reason),
      ],
    };
  },
  withdrawal_owner_notice: ({ certIds, ceaseBy }, context) => {
    const { withdrawal_owner_notice: text, reasons } = context.messages;
    return {
      subject: text.subject,
      lines: [
        paragraph(text.intro, { date: formatDate(context.language, ceaseBy) }),
        createFacts(context)(
          [certIds.length === 1 ? "certificate" : "certificates", certIds, "id"],
          ["contactEnds", { deadline: ceaseBy }],
        ),
        action(text, `${context.appUrl}/portal/deadlines`),
      ],
      footer: [heading(text.keptTitle, text.kept), paragraph(reasons.owner)],
    };
  },
  entities_owner_notice: ({ certId, entities, ceaseBy }, context) => {
    const { entities_owner_notice: text, reasons, moreRecipients } = context.messages;
    return {
      subject: text.subject,
      lines: [
        paragraph(text.intro, { date: formatDate(context.language, ceaseBy) }),
        createFacts(context)(
          ["recipients", formatNames(entities, (count) => fill(moreRecipients, { count: String(count) }))],
          ["contactEnds", { deadline: ceaseBy }],
          ["certificate", certId, "id"],
        ),
        action(text, `${context.appUrl}/portal/deadlines`),
      ],
      footer: [heading(text.keptTitle, text.kept), paragraph(reasons.owner)],
    };
  },
  share_receipt: ({ businessName, groups, host, purpose, until, stopUrl, appUrl }, context) => {
    const { share_receipt: text, reasons } = context.messages;
    return {
      subject: text.subject,
      lines: [
        paragraph(text.intro, { business: bold(businessName) }),
        createFacts(context)(
          ["details", formatFieldGroups(context.language, groups)],
          ["purpose", toPlainName(purpose)],
          ["requestedOn", host],
          ["sharedUntil", formatDate(context.language, until)],
        ),
        action(text, stopUrl),
        { kind: "link", label: text.all, link: appUrl },
      ],
      footer: [heading(text.wrongTitle, text.wrong), paragraph(reasons.account)],
    };
  },
  share_expiring: ({ businessName, groups, until, isTomorrow, renewUrl, stopUrl }, context) => {
    const { share_expiring: text, reasons } = context.messages;
    return {
      subject: isTomorrow ? text.subjectTomorrow : text.subjectWeek,
      lines: [
        paragraph(text.intro, { business: bold(businessName), date: formatDate(context.language, until) }),
        createFacts(context)(
          ["details", formatFieldGroups(context.language, groups)],
          ["sharedUntil", formatDate(context.language, until)],
        ),
        action(text, renewUrl),
        { kind: "link", label: text.stop, link: stopUrl },
      ],
      footer: [paragraph(reasons.account)],
    };
  },
  share_stopped: ({ shareId, businessName, groups, at, ceaseBy, contact, appUrl }, context) => {
    const { share_stopped: text, reasons } = context.messages;
    return {
      subject: text.subject,
      lines: [
        paragraph(text.intro, { business: bold(businessName), date: formatDate(context.language, ceaseBy) }),
        createFacts(context)(
          ["details", formatFieldGroups(context.language, groups)],
          ["stopped", formatMinute(context.language, at)],
          ["contactEnds", { deadline: ceaseBy }],
          ["share", shareId, "id"],
        ),
        action(text, appUrl),
      ],
      footer: [
        contact === null
          ? heading(text.heldTitle, text.held)
          : heading(text.heldTitle, text.heldContact, { contact: formatContact(contact) }),
        heading(text.contactedTitle, text.contacted),
        paragraph(reasons.account),
      ],
    };
  },
  share_ceased: ({ shareId, businessName, at, note }, context) => {
    const { share_ceased: text, reasons } = context.messages;
    return {
      subject: text.subject,
      lines: [
        paragraph(text.intro, { business: bold(businessName) }),
        createFacts(context)(
          ["confirmed", formatMinute(context.language, at)],
          ["theirMessage", note === null ? null : toPlainName(note)],
          ["share", shareId, "id"],
        ),
        action(text, `${context.appUrl}/app/shares/${shareId}`),
      ],
      footer: [heading(text.contactedTitle, text.contacted), paragraph(reasons.account)],
    };
  },
  share_overdue: ({ shareId, businessName, at, ceaseBy, contact }, context) => {
    const { share_overdue: text, reasons } = context.messages;
    return {
      subject: text.subject,
      lines: [
        paragraph(text.intro, { business: bold(businessName), date: formatDate(context.language, ceaseBy) }),
        createFacts(context)(["stopped", formatMinute(context.language, at)], ["share", shareId, "id"]),
        action(text, `${context.appUrl}/app/shares/${shareId}`),
      ],
      footer: [
        contact === null
          ? heading(text.contactedTitle, text.contacted)
          : heading(text.contactedTitle, text.contactedContact, { contact: formatContact(contact) }),
        paragraph(reasons.account),
      ],
    };
  },
  share_owner_notice: ({ shareIds, ceaseBy }, context) => {
    const { share_owner_notice: text, reasons } = context.messages;
    return {
      subject: text.subject,
      lines: [
        paragraph(text.intro, { date: formatDate(context.language, ceaseBy) }),
        createFacts(context)([shareIds.length === 1 ? "share" : "shares", shareIds, "id"], ["contactEnds", { deadline: ceaseBy }]),
        action(text, `${context.appUrl}/portal/deadlines`),
      ],
      footer: [heading(text.apiTitle, text.api), paragraph(reasons.owner)],
    };
  },
  agent_changed: ({ tokenId, at }, context) => {
    const { agent_changed: text, reasons } = context.messages;
    return {
      subject: text.subject,
      lines: [
        paragraph(text.intro),
        createFacts(context)(["changed", formatMinute(context.language, at)], ["token", tokenId, "id"]),
        action(text, `${context.appUrl}/app/history`),
      ],
      footer: [heading(text.wrongTitle, text.wrong), paragraph(reasons.account)],
    };
  },
  account_deleted: ({ at }, context) => {
    const { account_deleted: text } = context.messages;
    return {
      subject: text.subject,
      lines: [paragraph(text.intro), createFacts(context)(["deleted", formatMinute(context.language, at)]), paragraph(text.told)],
      footer: [heading(text.keptTitle, text.kept), heading(text.wrongTitle, text.wrong), paragraph(text.reason)],
    };
  },
  removal_completed: ({ completedCount, targetCount, recheckAt, affidavitUrl }, context) => {
    const { removal_completed: text, reasons } = context.messages;
    return {
      subject: text.subject,
      lines: [
        paragraph(text.intro, { completed: String(completedCount), total: String(targetCount) }),
        createFacts(context)(["nextCheck", formatDate(context.language, recheckAt)]),
        action(text, affidavitUrl),
      ],
      footer: [paragraph(reasons.account)],
    };
  },
  agent_connected: ({ clientName, clientHost, redirectHost, at, endUrl }, context) => {
    const { agent_connected: text } = context.messages;
    const identity = clientHost === null ? text.identityUnverified : fill(text.identityVerified, { host: clientHost });
    return {
      subject: text.subject,
      lines: [
        paragraph(text.intro, { client: bold(clientName) }),
        createFacts(context)(["connected", formatMinute(context.language, at)], ["identity", identity], ["accessSentTo", redirectHost]),
        paragraph(text.access),
        action(text, endUrl),
      ],
      footer: [heading(text.wrongTitle, text.wrong), paragraph(text.reason)],
    };
  },
  agent_ending: ({ clientName, until, endUrl }, { messages: { agent_ending: text }, language }) => ({
    subject: text.subject,
    lines: [
      paragraph(text.intro, { client: bold(clientName), date: formatDate(language, until) }),
      paragraph(text.renew),
      action(text, endUrl),
    ],
    footer: [paragraph(text.reason)],
  }),
  webhook_failing: ({ webhookId, failingSince, failures }, context) => {
    const { webhook_failing: text, reasons } = context.messages;
    return {
      subject: text.subject,
      lines: [
        paragraph(text.intro),
        createFacts(context)(
          ["endpoint", webhookId, "id"],
          ["failedAttempts", String(failures)],
          ["failingSince", formatMinute(context.language, failingSince)],
        ),
        action(text, `${context.appUrl}/portal/webhooks/${webhookId}`),
      ],
      footer: [heading(text.missedTitle, text.missed), paragraph(reasons.owner)],
    };
  },
  webhook_secret_replaced: ({ webhookId, until }, context) => {
    const { webhook_secret_replaced: text, reasons } = context.messages;
    return {
      subject: text.subject,
      lines: [
        paragraph(text.intro),
        createFacts(context)(["endpoint", webhookId, "id"]),
        paragraph(text.until, { time: formatMinute(context.language, until) }),
        action(text, `${context.appUrl}/portal/webhooks/${webhookId}`),
      ],
      footer: [paragraph(reasons.owner)],
    };
  },
  client_limit_near: ({ clientId, until }, context) => {
    const { client_limit_near: text, reasons } = context.messages;
    return {
      subject: text.subject,
      lines: [
        paragraph(text.intro),
        createFacts(context)(["client", clientId, "id"], ["resets", formatMinute(context.language, until)]),
        paragraph(text.over),
        action(text, `${context.appUrl}/portal/keys`),
      ],
      footer: [heading(text.moreTitle, text.more), heading(text.wrongTitle, text.wrong), paragraph(reasons.owner)],
    };
  },
  owner_digest: ({ kind, count, since, earliestCeaseBy }, context) => {
    const { owner_digest: digest, reasons } = context.messages;
    const text = digest[kind];
    const values = { count: new Intl.NumberFormat(context.language).format(count) };
    return {
      subject: fill(text.subject, values),
      lines: [
        paragraph(text.intro, values),
        createFacts(context)(
          ["since", formatMinute(context.language, since)],
          ["earliestDeadline", earliestCeaseBy === null ? null : { deadline: earliestCeaseBy }],
        ),
        action(text, `${context.appUrl}${digestPages[kind]}`),
      ],
      footer: [heading(digest.whyTitle, digest.why), paragraph(reasons.owner)],
    };
  },
};
