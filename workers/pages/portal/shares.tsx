// Shares with the business: the list, and one share with its history. These pages do not show the shared values, which only the API
// returns.
import type { Hono } from "hono";
import type { Child, FC } from "hono/jsx";
import { parseShareId, type ShareId } from "../../../core/ids.ts";
import { getDaysUntilEnd } from "../../../core/shares/due-dates.ts";
import { groupsFromKeys } from "../../../core/shares/fields.ts";
import { shareStatuses, type Share, type ShareStatus } from "../../../core/shares/share.ts";
import { isOverdue } from "../../../core/withdrawals/cease-acknowledgment.ts";
import type { AppEnv } from "../../http/context.ts";
import { getBusinessShare, type ShareHistoryEntry } from "../../operations/shares/get-business-share.ts";
import { countShares, maxCountedShares } from "../../operations/portal/count-shares.ts";
import { listShares } from "../../operations/shares/list-shares.ts";
import { capitalize } from "../../../core/language.ts";
import { formatFieldGroups } from "../../../core/shares/labels.ts";
import {
  EmptyCard,
  FormattedMessage,
  Notice,
  TimelineEntry,
  Timestamp,
  UntrustedText,
  VerbatimText,
  formatDay,
  formatMessage,
  PropertyList,
  type TimelineEntryKind,
} from "../shared/components.tsx";
import { CopyLine, Table } from "../shared/signed-in-components.tsx";
import { CodeFigure } from "./code-figure.tsx";
import {
  Card,
  Link,
  NoMatches,
  Pagination,
  ShortId,
  ShortTime,
  StatusLabel,
  describeAuditEvent,
  formatCount,
  formatCopyLabel,
  formatDeadline,
  formatShortDeadline,
  language,
  messages,
  usePortalRequest,
  type Tone,
} from "./components.tsx";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import { pathWithQuery } from "./paths.ts";
import { authenticatedPage, withId } from "./handlers.ts";
import { toReader, type PortalRequest } from "./portal-request.ts";

const shareMessages = messages.shares;
const sharesPerPage = 25;
const shareTones: Readonly<Record<ShareStatus, Tone>> = {
  active: "good",
  revoked: "bad",
  expired: "plain",
  ceased: "plain",
  superseded: "plain",
};

const shareIcons = { active: "circle-check", revoked: "ban", expired: "clock", ceased: "circle-check", superseded: "refresh-cw" } as const;

const ShareStatusLabel: FC<{ share: Share }> = ({ share }) => {
  const { status } = share;
  const days = getDaysUntilEnd(share, usePortalRequest().now);
  if (days === null) return <StatusLabel tone={shareTones[status]} icon={shareIcons[status]} text={shareMessages.states[status]} />;
  const text =
    days === 0
      ? shareMessages.endingToday
      : days === 1
        ? shareMessages.endingOne
        : formatMessage(shareMessages.ending, { days: String(days) });
  return <StatusLabel tone="caution" icon="clock" text={text} />;
};

const eventKinds: Readonly<Record<string, TimelineEntryKind>> = {
  "share.revoked": "withdrawn",
  "share.expiring": "counted",
  "consumer.current_read": "counted",
};

/** Shows what has happened to the share and how it will end. */
const ShareTimeline: FC<{ share: Share; history: readonly ShareHistoryEntry[]; isLate: boolean }> = ({ share, history, isLate }) => (
  <ol class="timeline">
    {history.map(({ type, at, auditSeq }) => (
      <TimelineEntry kind={eventKinds[type] ?? "done"} text={<strong>{describeAuditEvent(type)}</strong>} at={at}>
        <small>{auditSeq === null ? messages.audit.waiting : formatMessage(shareMessages.auditEntry, { seq: auditSeq })}</small>
      </TimelineEntry>
    ))}
    {share.status === "active" && (
      <TimelineEntry kind="pending" text={<strong>{shareMessages.endsOnItsOwn}</strong>} at={share.expiresAt} />
    )}
    {share.status === "revoked" && share.ceaseBy !== null && (
      <TimelineEntry kind={isLate ? "failed" : "pending"} text={<strong>{messages.deadlines.due}</strong>} at={null}>
        <small>{formatDeadline(share.ceaseBy)}</small>
      </TimelineEntry>
    )}
  </ol>
);

/** Lists what is shared, for example "Email, phone, and name". */
const formatSharedDetails = ({ scope }: Pick<Share, "scope">): string =>
  capitalize(language, formatFieldGroups(language, groupsFromKeys(scope)));

/** Describes when the share ends or, once it is stopped, when contact must end. */
const describeEnd = (share: Share): Child =>
  share.status === "revoked" && share.ceaseBy !== null ? (
    <>
      {formatShortDeadline(share.ceaseBy)}
      <small class="quiet">{messages.deadlines.due}</small>
    </>
  ) : (
    <ShortTime at={share.expiresAt} />
  );

const formatTabCount = (count: number): string => (count < maxCountedShares ? formatCount(count) : `${maxCountedShares - 1}+`);

const ShareTable: FC<{ shares: readonly Share[] }> = ({ shares }) => (
  <Table
    label={messages.tabs.shares}
    rows={shares}
    empty={<NoMatches path="/portal/shares" />}
    columns={[
      [
        shareMessages.fields,
        (row) => (
          <>
            <Link to={`/portal/shares/${row.id}`} text={formatSharedDetails(row)} />
            <small class="quiet">
              <ShortId id={row.id} />
            </small>
          </>
        ),
      ],
      [messages.state, (row) => <ShareStatusLabel share={row} />, "corner"],
      [messages.purpose, (row) => <VerbatimText text={row.purpose} />],
      [shareMessages.ends, describeEnd],
      [shareMessages.grantedUtc, (row) => <ShortTime at={row.createdAt} />],
    ]}
  />
);

const renderShareList = async (request: PortalRequest): Promise<Response> => {
  const { c, services, pathInMode } = request;
  const status = shareStatuses.find((name) => name === c.req.query("status")) ?? null;
  const after = parseShareId(c.req.query("after") ?? "");
  const reader = toReader(request);
  const [found, counts] = await Promise.all([
    listShares(services, reader, { status, limit: sharesPerPage, startingAfter: after }),
    countShares(services, reader),
  ]);
  if (!found.ok) return notFoundPage(request);
  const { shares, hasMore } = found.value;
  const pathOf = (status: ShareStatus | null, id: ShareId | null = null): string => pathWithQuery("/portal/shares", { status, after: id });
  const last = shares.at(-1);
  return renderMemberPage(request, {
    tab: "shares",
    intro: shareMessages.intro,
    content:
      shares.length === 0 && status === null && after === null ? (
        <EmptyCard
          icon="share-2"
          title={shareMessages.emptyTitle}
          advice={shareMessages.empty}
          action={<Link class="btn primary" to="/portal/snippet" text={shareMessages.addButton} />}
        />
      ) : (
        <div class="card">
          <div class="tabbar">
            <nav class="tabs" aria-label={messages.state}>
              {[null, ...shareStatuses].map((of) => (
                <a href={pathInMode(pathOf(of))} aria-current={of === status ? "page" : undefined}>
                  {of === null ? messages.certificates.all : shareMessages.states[of]}{" "}
                  <span class="n">{formatTabCount(counts[of ?? "all"])}</span>
                </a>
              ))}
            </nav>
          </div>
          <ShareTable shares={shares} />
          <Pagination first={after !== null && pathOf(status)} next={hasMore && last !== undefined && pathOf(status, last.id)} />
        </div>
      ),
  });
};

/** Says when contact must end after the person stopped the share. */
const StoppedNotice: FC<{ share: Share; isLate: boolean }> = ({ share: { id, status, ceaseBy, revokedAt }, isLate }) =>
  status !== "revoked" || ceaseBy === null ? null : (
    <Notice
      tone={isLate ? "bad" : "caution"}
      icon={isLate ? "circle-alert" : "clock-alert"}
      title={formatMessage(isLate ? messages.certificates.notice.late : messages.certificates.notice.due, {
        date: formatDay(language, ceaseBy),
      })}
      action={<Link class="btn" to={`/portal/deadlines/${id}`} text={messages.deadlines.acknowledge} />}
    >
      {revokedAt !== null && <p>{formatMessage(shareMessages.stoppedOn, { date: formatDay(language, revokedAt) })}</p>}
    </Notice>
  );

/** Shows the request that returns the current values. After the share has ended, says that they are no longer available. */
const ValuesCard: FC<{ share: Share; currentValuesUrl: string }> = ({ share, currentValuesUrl }) =>
  share.status === "active" ? (
    <Card id="values" title={shareMessages.values} note={shareMessages.valuesText}>
      <CodeFigure id="read-values" label={shareMessages.values} caption={messages.webhooks.delivery.request}>
        {`curl ${currentValuesUrl} \\\n  -H "Authorization: Bearer $KEY"`}
      </CodeFigure>
    </Card>
  ) : (
    <Card id="values" title={shareMessages.values}>
      <p>{shareMessages.valuesEnded}</p>
    </Card>
  );

const DetailsCard: FC<{ share: Share }> = ({ share }) => (
  <Card id="facts" title={messages.details}>
    <PropertyList
      isStacked
      lines={[
        [shareMessages.id, <CopyLine id="share-id" value={share.id} copyLabel={formatCopyLabel(shareMessages.id)} />],
        [messages.certificates.website, share.origin],
        [shareMessages.ends, share.status === "active" && <Timestamp at={share.expiresAt} />],
        [shareMessages.ended, share.status === "expired" && <Timestamp at={share.expiresAt} />],
        [shareMessages.stopped, share.revokedAt !== null && <Timestamp at={share.revokedAt} />],
        [messages.deadlines.due, share.ceaseBy !== null && formatDeadline(share.ceaseBy)],
        [messages.certificates.contactEnded, share.acknowledgedAt !== null && <Timestamp at={share.acknowledgedAt} />],
      ]}
    />
  </Card>
);

const renderShare = async (request: PortalRequest, id: ShareId): Promise<Response> => {
  const found = await getBusinessShare(request.services, toReader(request), id);
  if (!found.ok) return notFoundPage(request);
  const { share, disclosureText, history, reason } = found.value;
  const isLate = isOverdue(share.ceaseBy, share.acknowledgedAt, request.now);
  return renderMemberPage(request, {
    tab: "shares",
    title: shareMessages.one,
    parent: { path: "/portal/shares", text: messages.tabs.shares },
    crumb: <ShortId id={share.id} />,
    heading: formatSharedDetails(share),
    status: <ShareStatusLabel share={share} />,
    intro: (
      <FormattedMessage
        text={shareMessages.summary}
        parts={{ purpose: <UntrustedText text={share.purpose} />, time: <Timestamp at={share.createdAt} /> }}
      />
    ),
    content: (
      <>
        <StoppedNotice share={share} isLate={isLate} />
        <div class="cols main">
          <div class="stack">
            {reason !== null && (
              <Card id="reason" title={shareMessages.reason}>
                <blockquote class="words">
                  <UntrustedText text={reason} />
                </blockquote>
              </Card>
            )}
            {disclosureText !== "" && (
              <Card id="text" title={messages.certificates.what}>
                <blockquote class="words">
                  <VerbatimText text={disclosureText} passage />
                </blockquote>
              </Card>
            )}
            <ValuesCard share={share} currentValuesUrl={`${request.services.config.baseUrl}/consumers/${share.id}/current`} />
          </div>
          <div class="stack">
            <DetailsCard share={share} />
            <Card id="history" title={shareMessages.history}>
              <ShareTimeline share={share} history={history} isLate={isLate} />
            </Card>
          </div>
        </div>
      </>
    ),
  });
};

export const registerShareRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/shares", authenticatedPage(renderShareList));
  pages.get("/shares/:id", authenticatedPage(withId(parseShareId, renderShare)));
};
