// Arranges the content of each email. The order is the same in every language: the result, the details and one action. The footer says what
// to do if something is wrong and why the recipient gets the email.
import { capitalize, locales, type Language } from "../language.ts";
import type { FieldGroup } from "../shares/fields.ts";
import { formatFieldGroups } from "../shares/labels.ts";
import type { Instant } from "../time.ts";
import { formatBusinessContact, formatContact, formatDate, formatMinute, formatNames } from "./formatting.ts";
import type { MailMessages } from "./i18n/en.ts";
import { fillText, toPlainName, toPlainText, type MailContent, type MailFact, type MailLine, type MailSpan } from "./message.ts";
import type { MailData, MailTemplate, OwnerNoticeKind, TemplatedMail } from "./templates.ts";

export interface LayoutContext {
  readonly language: Language;
  readonly messages: MailMessages;
  /** The base URL of the app and the portal. */
  readonly appUrl: string;
  /** The operator's address for questions, in the footer of every email. Null if there is none. */
  readonly supportEmail: string | null;
}

type Values = Readonly<Record<string, MailSpan>>;
type FactName = keyof MailMessages["facts"];
type FactRow = readonly [FactName, string | readonly string[] | { readonly deadline: Instant } | null, "id"?];

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

/** The functions and values that layouts use. They depend on the language of the email. */
const createLayoutTools = ({ language, messages, appUrl, supportEmail }: LayoutContext) => {
  const { facts: labels, byEndOf, moreRecipients, reasons } = messages;
  const formatDay = (at: Instant): string => formatDate(language, at);
  return {
    language,
    reasons,
    appUrl,
    supportEmail,
    formatDay,
    formatTime: (at: Instant): string => formatMinute(language, at),
    formatGroups: (groups: readonly FieldGroup[]): string => capitalize(language, formatFieldGroups(language, groups)),
    formatRecipients: (names: readonly string[]): readonly string[] =>
      formatNames(names, (count) => fill(moreRecipients, { count: String(count) })),
    /** Creates the table of facts. Leaves out facts whose value is null. */
    createFacts: (...rows: readonly FactRow[]): MailLine => ({
      kind: "facts",
      facts: rows.flatMap(([name, value, style]): readonly MailFact[] => {
        const label = labels[name];
        if (value === null) return [];
        if (typeof value === "object" && "deadline" in value)
          return [{ label, values: [fill(byEndOf, { date: formatDay(value.deadline) })], style: "strong" }];
        return [{ label, values: typeof value === "string" ? [value] : value, ...(style !== undefined && { style }) }];
      }),
    }),
  };
};

/** The portal page to which each digest links. */
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

type Layout<T extends MailTemplate> = (
  data: MailData[T],
  text: MailMessages[T],
  tools: ReturnType<typeof createLayoutTools>,
) => MailContent;

const layOutSignInCode: Layout<"login_code" | "signup_code"> = ({ code, signInUrl }, text) => ({
  subject: text.subject,
  lines: [paragraph(text.intro), { kind: "code", code }, action(text, signInUrl), paragraph(text.secrecy)],
  footer: [heading(text.wrongTitle, text.wrong), paragraph(text.reason)],
});

const layouts: { readonly [T in MailTemplate]: Layout<T> } = {
  login_code: layOutSignInCode,
  passkey_added: ({ at, device, accountUrl }, text, { createFacts, formatTime, reasons }) => ({
    subject: text.subject,
    lines: [paragraph(text.intro), createFacts(["added", formatTime(at)], ["device", device]), action(text, accountUrl)],
    footer: [heading(text.wrongTitle, text.wrong), paragraph(reasons.account)],
  }),
  signup_code: layOutSignInCode,
  member_invited: ({ businessName, signInUrl, until }, text, { createFacts, formatTime }) => ({
    subject: text.subject,
    lines: [paragraph(text.intro, { business: bold(businessName) }), createFacts(["expires", formatTime(until)]), action(text, signInUrl)],
    footer: [heading(text.otherTitle, text.other), heading(text.wrongTitle, text.wrong), paragraph(text.reason)],
  }),
  domain_missing: ({ domain, lapsesAt }, text, { createFacts, formatTime, reasons, appUrl }) => ({
    subject: text.subject,
    lines: [
      paragraph(text.intro, { domain: { strong: domain } }),
      createFacts(["domain", domain, "id"], ["verifiedUntil", formatTime(lapsesAt)]),
      action(text, `${appUrl}/portal/domains`),
    ],
    footer: [heading(text.afterTitle, text.after), paragraph(reasons.owner)],
  }),
  domain_lapsed: ({ domain }, text, { reasons, appUrl }) => ({
    subject: text.subject,
    lines: [paragraph(text.intro, { domain: { strong: domain } }), action(text, `${appUrl}/portal/domains`)],
    footer: [heading(text.afterTitle, text.after), paragraph(reasons.owner)],
  }),
  withdrawal_code: ({ code, businessName, isTest, verifyUrl }, text) => ({
    subject: text.subject,
    lines: [
      paragraph(text.intro, { business: bold(businessName) }),
      ...(isTest ? [paragraph(text.test)] : []),
      { kind: "code", code },
      action(text, verifyUrl),
    ],
    footer: [heading(text.wrongTitle, text.wrong), paragraph(text.reason)],
  }),
  withdrawal_confirmation: (data, text, { createFacts, formatTime, formatRecipients }) => {
    const { certId, businessName, isTest, by, entities, coversAllConsents, withdrawnAt, ceaseBy, receiptUrl } = data;
    const covers =
      entities === null ? [coversAllConsents ? text.coversAll : text.coversOne] : [text.coversRecipients, ...formatRecipients(entities)];
    return {
      subject: text.subject,
      lines: [
        paragraph(by === "person" ? text.introByPerson : text.introByBusiness, { business: bold(businessName) }),
        ...(isTest ? [paragraph(text.test)] : []),
        createFacts(
          ["covers", covers],
          ["withdrawn", formatTime(withdrawnAt)],
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
  account_withdrawal_confirmation: ({ business, withdrawnAt, ceaseBy }, text, { createFacts, formatTime, reasons, appUrl }) => ({
    subject: text.subject,
    lines: [
      business === null ? paragraph(text.introAll) : paragraph(text.intro, { business: bold(business.businessName) }),
      createFacts(
        ["covers", business === null ? text.coversAll : text.covers],
        ["withdrawn", formatTime(withdrawnAt)],
        ["contactEnds", { deadline: ceaseBy }],
      ),
      action(text, business === null ? `${appUrl}/app` : `${appUrl}/app/with/${business.id}`),
    ],
    footer: [
      business === null
        ? heading(text.contactedTitle, text.contactedAll)
        : heading(text.contactedTitle, text.contacted, { contact: formatBusinessContact(business) }),
      heading(text.wrongTitle, text.wrong),
      paragraph(reasons.account),
    ],
  }),
  withdrawal_owner_notice: ({ certIds, ceaseBy }, text, { createFacts, formatDay, reasons, appUrl }) => ({
    subject: text.subject,
    lines: [
      paragraph(text.intro, { date: formatDay(ceaseBy) }),
      createFacts([certIds.length === 1 ? "certificate" : "certificates", certIds, "id"], ["contactEnds", { deadline: ceaseBy }]),
      action(text, `${appUrl}/portal/deadlines`),
    ],
    footer: [heading(text.keptTitle, text.kept), paragraph(reasons.owner)],
  }),
  entities_owner_notice: ({ certId, entities, ceaseBy }, text, { createFacts, formatDay, formatRecipients, reasons, appUrl }) => ({
    subject: text.subject,
    lines: [
      paragraph(text.intro, { date: formatDay(ceaseBy) }),
      createFacts(["recipients", formatRecipients(entities)], ["contactEnds", { deadline: ceaseBy }], ["certificate", certId, "id"]),
      action(text, `${appUrl}/portal/deadlines`),
    ],
    footer: [heading(text.keptTitle, text.kept), paragraph(reasons.owner)],
  }),
  share_receipt: (
    { businessName, groups, host, purpose, until, stopUrl, appUrl },
    text,
    { createFacts, formatDay, formatGroups, reasons },
  ) => ({
    subject: text.subject,
    lines: [
      paragraph(text.intro, { business: bold(businessName) }),
      createFacts(
        ["details", formatGroups(groups)],
        ["purpose", toPlainName(purpose)],
        ["requestedOn", host],
        ["sharedUntil", formatDay(until)],
      ),
      action(text, stopUrl),
      { kind: "link", label: text.all, link: appUrl },
    ],
    footer: [heading(text.wrongTitle, text.wrong), paragraph(reasons.account)],
  }),
  share_expiring: ({ businessName, groups, until, renewUrl, stopUrl }, text, { createFacts, formatDay, formatGroups, reasons }) => ({
    subject: fill(text.subject, { date: formatDay(until) }),
    lines: [
      paragraph(text.intro, { business: bold(businessName), date: formatDay(until) }),
      createFacts(["details", formatGroups(groups)], ["sharedUntil", formatDay(until)]),
      action(text, renewUrl),
      { kind: "link", label: text.stop, link: stopUrl },
    ],
    footer: [paragraph(reasons.account)],
  }),
  share_stopped: (
    { shareId, businessName, groups, by, at, ceaseBy, contact, appUrl },
    text,
    { createFacts, formatDay, formatTime, formatGroups, reasons },
  ) => ({
    subject: by === "address_owner" ? text.subjectOwner : text.subject,
    lines: [
      paragraph(by === "address_owner" ? text.introOwner : text.intro, { business: bold(businessName), date: formatDay(ceaseBy) }),
      createFacts(
        ["details", formatGroups(groups)],
        ["stopped", formatTime(at)],
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
  }),
  share_ceased: ({ shareId, businessName, at, note }, text, { createFacts, formatTime, reasons, appUrl }) => ({
    subject: text.subject,
    lines: [
      paragraph(text.intro, { business: bold(businessName) }),
      createFacts(["confirmed", formatTime(at)], ["theirMessage", note === null ? null : toPlainName(note)], ["share", shareId, "id"]),
      action(text, `${appUrl}/app/shares/${shareId}`),
    ],
    footer: [heading(text.contactedTitle, text.contacted), paragraph(reasons.account)],
  }),
  share_overdue: ({ shareId, businessName, at, ceaseBy, contact }, text, { createFacts, formatDay, formatTime, reasons, appUrl }) => ({
    subject: text.subject,
    lines: [
      paragraph(text.intro, { business: bold(businessName), date: formatDay(ceaseBy) }),
      createFacts(["stopped", formatTime(at)], ["share", shareId, "id"]),
      action(text, `${appUrl}/app/shares/${shareId}`),
    ],
    footer: [
      contact === null
        ? heading(text.contactedTitle, text.contacted)
        : heading(text.contactedTitle, text.contactedContact, { contact: formatContact(contact) }),
      paragraph(reasons.account),
    ],
  }),
  share_owner_notice: ({ shareIds, ceaseBy }, text, { createFacts, formatDay, reasons, appUrl }) => ({
    subject: text.subject,
    lines: [
      paragraph(text.intro, { date: formatDay(ceaseBy) }),
      createFacts([shareIds.length === 1 ? "share" : "shares", shareIds, "id"], ["contactEnds", { deadline: ceaseBy }]),
      action(text, `${appUrl}/portal/deadlines`),
    ],
    footer: [heading(text.apiTitle, text.api), paragraph(reasons.owner)],
  }),
  agent_changed: ({ tokenId, at }, text, { createFacts, formatTime, reasons, appUrl }) => ({
    subject: text.subject,
    lines: [
      paragraph(text.intro),
      createFacts(["changed", formatTime(at)], ["token", tokenId, "id"]),
      action(text, `${appUrl}/app/history`),
    ],
    footer: [heading(text.wrongTitle, text.wrong), paragraph(reasons.account)],
  }),
  account_deleted: ({ at }, text, { createFacts, formatTime }) => ({
    subject: text.subject,
    lines: [paragraph(text.intro), createFacts(["deleted", formatTime(at)]), paragraph(text.told)],
    footer: [heading(text.keptTitle, text.kept), heading(text.wrongTitle, text.wrong), paragraph(text.reason)],
  }),
  removal_completed: ({ completedCount, targetCount, recheckAt, affidavitUrl }, text, { createFacts, formatDay, reasons }) => ({
    subject: text.subject,
    lines: [
      paragraph(text.intro, { completed: String(completedCount), total: String(targetCount) }),
      createFacts(["nextCheck", formatDay(recheckAt)]),
      action(text, affidavitUrl),
    ],
    footer: [paragraph(reasons.account)],
  }),
  agent_connected: ({ clientName, clientHost, redirectHost, at, endUrl }, text, { createFacts, formatTime }) => {
    const identity = clientHost === null ? text.identityUnverified : fill(text.identityVerified, { host: clientHost });
    return {
      subject: text.subject,
      lines: [
        paragraph(text.intro, { client: bold(clientName) }),
        createFacts(["connected", formatTime(at)], ["identity", identity], ["accessSentTo", redirectHost]),
        paragraph(text.access),
        action(text, endUrl),
      ],
      footer: [heading(text.wrongTitle, text.wrong), paragraph(text.reason)],
    };
  },
  agent_ending: ({ clientName, until, endUrl }, text, { formatDay }) => ({
    subject: text.subject,
    lines: [paragraph(text.intro, { client: bold(clientName), date: formatDay(until) }), paragraph(text.renew), action(text, endUrl)],
    footer: [paragraph(text.reason)],
  }),
  webhook_failing: ({ webhookId, failingSince, failures }, text, { createFacts, formatTime, reasons, appUrl }) => ({
    subject: text.subject,
    lines: [
      paragraph(text.intro),
      createFacts(["endpoint", webhookId, "id"], ["failedAttempts", String(failures)], ["failingSince", formatTime(failingSince)]),
      action(text, `${appUrl}/portal/webhooks/${webhookId}`),
    ],
    footer: [heading(text.missedTitle, text.missed), paragraph(reasons.owner)],
  }),
  webhook_secret_replaced: ({ webhookId, until }, text, { createFacts, formatTime, reasons, appUrl }) => ({
    subject: text.subject,
    lines: [
      paragraph(text.intro),
      createFacts(["endpoint", webhookId, "id"]),
      paragraph(text.until, { time: formatTime(until) }),
      action(text, `${appUrl}/portal/webhooks/${webhookId}`),
    ],
    footer: [paragraph(reasons.owner)],
  }),
  client_limit_near: ({ clientId, until }, text, { createFacts, formatTime, reasons, appUrl, supportEmail }) => ({
    subject: text.subject,
    lines: [
      paragraph(text.intro),
      createFacts(["client", clientId, "id"], ["resets", formatTime(until)]),
      paragraph(text.over),
      action(text, `${appUrl}/portal/keys`),
    ],
    footer: [
      ...(supportEmail === null ? [] : [heading(text.moreTitle, text.more, { support: supportEmail })]),
      heading(text.wrongTitle, text.wrong),
      paragraph(reasons.owner),
    ],
  }),
  owner_digest: ({ kind, count, since, earliestCeaseBy }, digest, { createFacts, formatTime, language, reasons, appUrl }) => {
    const text = digest[kind];
    const values = { count: new Intl.NumberFormat(locales[language]).format(count) };
    return {
      subject: fill(text.subject, values),
      lines: [
        paragraph(text.intro, values),
        createFacts(["since", formatTime(since)], ["earliestDeadline", earliestCeaseBy === null ? null : { deadline: earliestCeaseBy }]),
        action(text, `${appUrl}${digestPages[kind]}`),
      ],
      footer: [heading(digest.whyTitle, digest.why), paragraph(reasons.owner)],
    };
  },
};

export const layOutMail = ({ template, data }: TemplatedMail, context: LayoutContext): MailContent => {
  const { messages, supportEmail } = context;
  const layout = layouts[template] as Layout<MailTemplate>;
  const content = layout(data as MailData[MailTemplate], messages[template], createLayoutTools(context));
  return supportEmail === null
    ? content
    : { ...content, footer: [...content.footer, paragraph(messages.questions, { support: supportEmail })] };
};
