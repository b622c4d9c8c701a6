// What has happened to a certificate, in its order, and what is still to come.
import type { Child, FC } from "hono/jsx";
import type { PublishedAnchor } from "../../../core/certificates/published-certificate.ts";
import { buildReceiptUrl } from "../../../core/certificates/certificate-urls.ts";
import type { Instant } from "../../../core/time.ts";
import { isOverdue } from "../../../core/withdrawals/cease-acknowledgment.ts";
import type { CertificatePage } from "../../operations/certificates/get-certificate-page.ts";
import {
  TimelineEntry,
  VerbatimText,
  formatMessage,
  JoinedList,
  formatNumber,
  Section,
  FormattedMessage,
  usePageContext,
  type TimelineEntryKind,
  type PageContext,
} from "../shared/components.tsx";
import { groupEntityWithdrawals, EntityReceiptLink } from "../withdrawal/components.tsx";

/** One line of the timeline; `at` null is still to come. */
interface TimelineItem {
  readonly at: Instant | null;
  readonly text: Child;
  /** Where it is neither done nor still to come: "counted" has its place, and no moment. */
  readonly kind?: TimelineEntryKind;
  readonly boundMember?: string;
  readonly details?: Child;
}

const anchorItem = ({ status, anchoredAt, ledgerId }: PublishedAnchor, done: string, pending: string, note?: string): TimelineItem => {
  const at = status === "anchored" ? anchoredAt : null;
  return {
    at,
    text: (
      <span>
        <FormattedMessage text={at === null ? pending : done} parts={{ ledger: <VerbatimText text={ledgerId} /> }} />
      </span>
    ),
    details: at === null && note !== undefined && <p class="quiet">{note}</p>,
  };
};

interface TimelineProps {
  readonly page: CertificatePage;
  readonly apiBase: string;
  readonly now: Instant;
}

/** The withdrawal, its place in the ledger, the deadline and what the business has said. */
const withdrawalItems = ({ page: { certificate }, apiBase, now }: TimelineProps, { messages }: PageContext): TimelineItem[] => {
  const { id, withdrawal } = certificate;
  if (withdrawal === null) return [];
  const { anchor, acknowledgedAt, ceaseBy, withdrawnAt } = withdrawal;
  const receipt = (
    <p class="quiet">
      <a href={buildReceiptUrl(apiBase, id)} download={`withdrawal-${id}.json`}>
        {messages.withdraw.receipt}
      </a>
    </p>
  );
  const by = withdrawal.method === "business_recorded" ? messages.withdraw.recordedByBusiness : messages.withdrawnByPerson;
  const told: TimelineItem[] = [
    { at: withdrawnAt, text: by, details: receipt },
    { at: ceaseBy, text: messages.withdraw.deadline, kind: "pending" },
  ];
  if (anchor !== null) told.push(anchorItem(anchor, messages.withdraw.revocationAnchored, messages.withdraw.revocationPending));
  if (acknowledgedAt !== null) told.push({ at: acknowledgedAt, text: messages.withdraw.acknowledged });
  if (isOverdue(ceaseBy, acknowledgedAt, now)) told.push({ at: now, text: messages.withdraw.overdue, kind: "counted" });
  return told;
};

/** Names in one line; those of strangers are set apart each. */
const InlineNames: FC<{ of: readonly { readonly entity: string }[] }> = ({ of }) => (
  <p class="quiet">
    <JoinedList of={of.map(({ entity }) => <VerbatimText text={entity} />)} by=", " />
  </p>
);

/** Withdrawals from single recipients, while the certificate stood. */
const entityWithdrawalItems = (
  { page: { certificate }, apiBase, now }: TimelineProps,
  { messages, language }: PageContext,
): TimelineItem[] => {
  const acts = groupEntityWithdrawals(certificate).map(({ number, withdrawnAt, method, entities }): TimelineItem => {
    const by = method === "business_recorded" ? `${messages.withdraw.recordedByBusiness}: ` : "";
    const from = entities.length === 1 ? messages.withdraw.someEventOne : messages.withdraw.someEvent;
    return {
      at: withdrawnAt,
      text: `${by}${formatMessage(from, { count: formatNumber(entities.length, language) })}`,
      details: (
        <p class="quiet">
          <EntityReceiptLink id={certificate.id} number={number} apiBase={apiBase} />
        </p>
      ),
    };
  });
  // Recipients of which the business said so at one moment are one line.
  const ceased = Map.groupBy(certificate.entitiesWithdrawn, ({ acknowledgedAt }) => acknowledgedAt);
  const acknowledged = [...ceased].flatMap(([at, those]): TimelineItem[] =>
    at === null ? [] : [{ at, text: messages.withdraw.someAcknowledged, details: <InlineNames of={those} /> }],
  );
  const whole = certificate.withdrawal?.acknowledgedAt ?? null;
  const late = certificate.entitiesWithdrawn.filter(({ ceaseBy, acknowledgedAt }) => isOverdue(ceaseBy, acknowledgedAt ?? whole, now));
  const overdue: TimelineItem = { at: now, text: messages.withdraw.someOverdue, kind: "counted", details: <InlineNames of={late} /> };
  return [...acts, ...acknowledged, ...(late.length > 0 ? [overdue] : [])];
};

/** In the order of what happened; behind it what is still to come, said to be waiting, with what it is waiting for. */
export const CertificateTimeline: FC<TimelineProps> = (shown) => {
  const setting = usePageContext();
  const { messages, language } = setting;
  const { certificate, loggedAt } = shown.page;
  const { anchor, subjectErasedAt, viewCount } = certificate;
  const all: TimelineItem[] = [
    { at: certificate.issuedAt, text: messages.issued, boundMember: "timestamp" },
    { at: loggedAt, text: loggedAt === null ? messages.loggedPending : messages.logged },
    ...(anchor === null ? [] : [anchorItem(anchor, messages.anchored, messages.anchoredPending, messages.anchoredPendingNote)]),
    ...entityWithdrawalItems(shown, setting),
    ...withdrawalItems(shown, setting),
    ...(subjectErasedAt === null ? [] : [{ at: subjectErasedAt, text: messages.erasedAt }]),
  ];
  const inOrder = all.sort((one, other) => (one.at ?? Number.MAX_VALUE) - (other.at ?? Number.MAX_VALUE));
  const opened = viewCount === 1 ? messages.openedOnce : formatMessage(messages.openedTimes, { count: formatNumber(viewCount, language) });
  return (
    <Section name="timeline" heading={messages.timeline}>
      <ol>
        {inOrder.map(({ at, text, kind = at === null ? "pending" : "done", boundMember, details }) => (
          <TimelineEntry kind={kind} text={text} at={kind === "counted" ? null : at} bound={boundMember}>
            {details}
          </TimelineEntry>
        ))}
        <TimelineEntry kind="counted" text={viewCount === 0 ? messages.openedNever : opened} at={null} />
      </ol>
    </Section>
  );
};
