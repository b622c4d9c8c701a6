// The timeline of a certificate: what has happened, followed by what is still pending.
import type { Child, FC } from "hono/jsx";
import type { PublishedAnchor, PublishedCertificate } from "../../../core/certificates/published-certificate.ts";
import { buildReceiptUrl } from "../../../core/certificates/certificate-urls.ts";
import type { Instant } from "../../../core/time.ts";
import { isOverdue } from "../../../core/withdrawals/cease-acknowledgment.ts";
import type { CertificatePage } from "../../operations/certificates/get-certificate-page.ts";
import {
  Day,
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

/** An entry of the timeline. `at` is null if the event has not happened yet; the page script then waits for it. */
interface TimelineItem {
  readonly at: Instant | null;
  readonly text: Child;
  /** The kind of the entry, if it cannot be derived from `at`. */
  readonly kind?: TimelineEntryKind;
  readonly boundMember?: string;
  /** Shown instead of `at`. If null, no time is shown. */
  readonly when?: Child;
  readonly details?: Child;
}

const createAnchorItem = (
  { status, anchoredAt, ledgerId }: PublishedAnchor,
  done: string,
  pending: string,
  note?: string,
): TimelineItem => {
  const at = status === "anchored" ? anchoredAt : null;
  return {
    at,
    text: at === null ? pending : done,
    details: (
      <small class="no-print">
        <VerbatimText text={ledgerId} />
        {at === null && note !== undefined && (
          <>
            <br />
            {note}
          </>
        )}
      </small>
    ),
  };
};

interface TimelineProps {
  readonly page: CertificatePage;
  readonly apiBaseUrl: string;
  readonly now: Instant;
}

/**
 * Lists the entries for the withdrawal of the whole certificate: the withdrawal, its anchor, the deadline, and the business's confirmation
 * or an entry that says it is overdue.
 */
const listWithdrawalItems = ({ page: { certificate }, apiBaseUrl, now }: TimelineProps, { messages }: PageContext): TimelineItem[] => {
  const { id, withdrawal } = certificate;
  if (withdrawal === null) return [];
  const { anchor, acknowledgedAt, ceaseBy, withdrawnAt } = withdrawal;
  const receipt = (
    <small class="no-print">
      <a href={buildReceiptUrl(apiBaseUrl, id)} download={`withdrawal-${id}.json`}>
        {messages.withdraw.receipt}
      </a>
    </small>
  );
  const recordedBy = withdrawal.method === "business_recorded" ? messages.withdraw.recordedByBusiness : messages.withdrawnByPerson;
  const items: TimelineItem[] = [
    { at: withdrawnAt, text: recordedBy, kind: "withdrawn", details: receipt },
    {
      at: ceaseBy,
      text: messages.withdraw.deadline,
      kind: acknowledgedAt === null ? "pending" : "done",
      when: <FormattedMessage text={messages.withdraw.deadlineDay} parts={{ day: <Day at={ceaseBy} /> }} />,
    },
  ];
  if (anchor !== null) items.push(createAnchorItem(anchor, messages.withdraw.revocationAnchored, messages.withdraw.revocationPending));
  if (acknowledgedAt !== null) items.push({ at: acknowledgedAt, text: messages.withdraw.acknowledged });
  if (isOverdue(ceaseBy, acknowledgedAt, now)) items.push({ at: now, text: messages.withdraw.overdue, kind: "failed", when: null });
  return items;
};

const InlineNames: FC<{ entities: readonly { readonly entity: string }[] }> = ({ entities }) => (
  <small>
    <JoinedList items={entities.map(({ entity }) => <VerbatimText text={entity} />)} separator=", " />
  </small>
);

/** Lists the withdrawals for individual recipients, the business's confirmations, and the recipients whose deadline has passed. */
const listEntityWithdrawalItems = (
  { page: { certificate }, apiBaseUrl, now }: TimelineProps,
  { messages, language }: PageContext,
): TimelineItem[] => {
  const withdrawals = groupEntityWithdrawals(certificate).map(({ number, withdrawnAt, method, entities }): TimelineItem => {
    const { someEvent, someEventOne, someRecorded, someRecordedOne } = messages.withdraw;
    const [many, one] = method === "business_recorded" ? [someRecorded, someRecordedOne] : [someEvent, someEventOne];
    return {
      at: withdrawnAt,
      text: formatMessage(entities.length === 1 ? one : many, { count: formatNumber(entities.length, language) }),
      kind: "withdrawn",
      details: (
        <small class="no-print">
          <EntityReceiptLink id={certificate.id} number={number} apiBaseUrl={apiBaseUrl} />
        </small>
      ),
    };
  });
  // A business can confirm for several recipients at once that contact has ended. Confirmations with the same time share an entry.
  const acknowledgments = Map.groupBy(certificate.entitiesWithdrawn, ({ acknowledgedAt }) => acknowledgedAt);
  const acknowledged = [...acknowledgments].flatMap(([at, recipients]): TimelineItem[] =>
    at === null ? [] : [{ at, text: messages.withdraw.someAcknowledged, details: <InlineNames entities={recipients} /> }],
  );
  const certificateAcknowledgedAt = certificate.withdrawal?.acknowledgedAt ?? null;
  const late = certificate.entitiesWithdrawn.filter(({ ceaseBy, acknowledgedAt }) =>
    isOverdue(ceaseBy, acknowledgedAt ?? certificateAcknowledgedAt, now),
  );
  const overdue: TimelineItem = {
    at: now,
    text: messages.withdraw.someOverdue,
    kind: "failed",
    when: null,
    details: <InlineNames entities={late} />,
  };
  return [...withdrawals, ...acknowledged, ...(late.length > 0 ? [overdue] : [])];
};

/** Lists when the business received the requests that it recorded as withdrawals. Their deadlines count from these times. */
const listReceivedItems = ({ withdrawal, entitiesWithdrawn }: PublishedCertificate, text: string): TimelineItem[] => {
  const times = new Set([...entitiesWithdrawn, ...(withdrawal === null ? [] : [withdrawal])].map(({ receivedAt }) => receivedAt));
  return [...times].flatMap((at) => (at === null ? [] : [{ at, text }]));
};

/** Lists the entries in chronological order, with pending ones last. */
export const CertificateTimeline: FC<TimelineProps> = (props) => {
  const pageContext = usePageContext();
  const { messages, language } = pageContext;
  const { certificate, loggedAt } = props.page;
  const { anchor, subjectErasedAt, viewCount } = certificate;
  const items: TimelineItem[] = [
    { at: certificate.issuedAt, text: messages.issued, boundMember: "timestamp" },
    { at: loggedAt, text: loggedAt === null ? messages.loggedPending : messages.logged },
    ...(anchor === null ? [] : [createAnchorItem(anchor, messages.anchored, messages.anchoredPending, messages.anchoredPendingNote)]),
    ...listReceivedItems(certificate, messages.withdraw.receivedByBusiness),
    ...listEntityWithdrawalItems(props, pageContext),
    ...listWithdrawalItems(props, pageContext),
    ...(subjectErasedAt === null ? [] : [{ at: subjectErasedAt, text: messages.erasedAt }]),
  ];
  const sorted = items.sort((first, second) => (first.at ?? Number.MAX_VALUE) - (second.at ?? Number.MAX_VALUE));
  const opened = viewCount === 1 ? messages.openedOnce : formatMessage(messages.openedTimes, { count: formatNumber(viewCount, language) });
  return (
    <Section name="timeline" heading={messages.timeline}>
      <ol class="timeline">
        {sorted.map(({ at, text, kind = at === null ? "pending" : "done", boundMember, when, details }) => (
          <TimelineEntry
            kind={kind}
            text={<strong>{text}</strong>}
            at={when === undefined ? at : null}
            bound={boundMember}
            isPending={at === null}
          >
            {when !== undefined && when !== null && <small>{when}</small>}
            {details}
          </TimelineEntry>
        ))}
        <TimelineEntry kind="counted" text={viewCount === 0 ? messages.openedNever : opened} at={null} />
      </ol>
    </Section>
  );
};
