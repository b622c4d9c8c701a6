// Lists events, newest first, and their deliveries to each endpoint. These pages do not show the encrypted data of an event, which is meant
// for receivers.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { eventToWire, type StoredEvent } from "../../../core/events/event.ts";
import { parseDeliveryId } from "../../../core/ids.ts";
import { selectableEventTypes } from "../../../core/webhooks/event-selection.ts";
import type { AppEnv } from "../../http/context.ts";
import type { EventDelivery } from "../../operations/portal/event-deliveries.ts";
import { getEvent } from "../../operations/portal/get-event.ts";
import { listEvents } from "../../operations/portal/list-events.ts";
import { getAccount } from "../../operations/portal/get-account.ts";
import { replayDelivery } from "../../operations/webhooks/replay-delivery.ts";
import {
  EmptyState,
  FormattedMessage,
  formatMessage,
  Notice,
  Timestamp,
  VerbatimText,
  UrlText,
  PropertyList,
} from "../shared/components.tsx";
import { CopyLine, Table } from "../shared/signed-in-components.tsx";
import { SubmitButton } from "../shared/form-fields.tsx";
import { CodeFigure, Json } from "./code-figure.tsx";
import {
  ActionButton,
  Card,
  formatCopyLabel,
  formatCount,
  Link,
  NoMatches,
  messages,
  Pagination,
  Field,
  ShortId,
  usePortalRequest,
} from "./components.tsx";
import { authenticatedAction, authenticatedPage, withId } from "./handlers.ts";
import { FilterChips, FilterPanel } from "./list-filters.tsx";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import { pathWithQuery } from "./paths.ts";
import { toReader, redirectTo, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";
import { ResponseText, DeliveryStatusLabel, DeliveryStep, DeliverySummary, OptInEventsNotice, RecentTime } from "./webhook-components.tsx";

const { events: eventMessages, webhooks: webhookMessages } = messages;
const listPath = "/portal/events";
const eventsPerPage = 25;

const EventSubject: FC<{ event: StoredEvent }> = ({ event: { certId, shareId } }) => {
  if (certId !== null)
    return (
      <>
        {messages.certificates.one} <Link to={`/portal/certificates/${certId}`} text={<ShortId id={certId} />} />
      </>
    );
  if (shareId !== null)
    return (
      <>
        {messages.shares.one} <Link to={`/portal/shares/${shareId}`} text={<ShortId id={shareId} />} />
      </>
    );
  return <>{messages.none}</>;
};

const seqPattern = /^[1-9]\d{0,14}$/;
const parseSeq = (text: string): number | null => (seqPattern.test(text) ? Number(text) : null);

const EventFilter: FC<{ type: string | null }> = ({ type }) => (
  <div class="body stack">
    <FilterPanel active={type === null ? 0 : 1}>
      <form method="get" action={usePortalRequest().pathInMode(listPath)} class="filter-bar">
        <Field
          name="type"
          label={eventMessages.type}
          value={type}
          options={{ "": messages.any, ...Object.fromEntries(selectableEventTypes.map((name) => [name, name])) }}
        />
        <SubmitButton class="btn">{messages.show}</SubmitButton>
      </form>
    </FilterPanel>
    <FilterChips
      path={listPath}
      chips={
        type === null
          ? []
          : [{ label: eventMessages.type, value: { text: type, content: <VerbatimText text={type} /> }, pathWithout: listPath }]
      }
    />
  </div>
);

const renderEventList = async (request: PortalRequest): Promise<Response> => {
  const { c, services, member } = request;
  const type = selectableEventTypes.find((name) => name === c.req.query("type")) ?? null;
  const before = parseSeq(c.req.query("before") ?? "");
  const [{ events, nextBefore }, account] = await Promise.all([
    listEvents(services, toReader(request), { type, before, limit: eventsPerPage }),
    getAccount(services, member),
  ]);
  const pathBefore = (seq: number | null): string => pathWithQuery(listPath, { type, before: seq });
  const isEmpty = events.length === 0 && type === null && before === null;
  return renderMemberPage(request, {
    tab: "events",
    hasLiveUpdates: before === null,
    intro: <FormattedMessage text={eventMessages.intro} parts={{ request: <code>GET /v1/events</code> }} />,
    actions: before === null && (
      <>
        <Link class="btn" to={pathBefore(null)} text={eventMessages.again} />
        <button type="button" class="btn" hidden data-follow="events" data-stop={eventMessages.stop}>
          {eventMessages.follow}
        </button>
      </>
    ),
    content: (
      <>
        <OptInEventsNotice account={account} types={type === null ? null : [type]} />
        <div class="card">
          {!isEmpty && <EventFilter type={type} />}
          <div id="events">
            {isEmpty ? (
              <EmptyState
                icon="activity"
                title={eventMessages.emptyTitle}
                advice={eventMessages.emptyAdvice}
                action={<Link class="btn primary" to="/portal/snippet" text={messages.certificates.installTag} />}
              />
            ) : (
              <Table
                label={messages.tabs.events}
                rows={events}
                empty={<NoMatches path={listPath} />}
                columns={[
                  [eventMessages.type, ({ event }) => <Link to={`${listPath}/${event.seq}`} text={<UrlText text={event.type} />} />],
                  [eventMessages.delivered, ({ deliveries }) => <DeliverySummary deliveries={deliveries} />, "corner"],
                  [eventMessages.about, ({ event }) => <EventSubject event={event} />],
                  [messages.timeUtc, ({ event }) => <RecentTime at={event.createdAt} withDay />],
                  [eventMessages.seq, ({ event }) => formatCount(event.seq), "number"],
                ]}
              />
            )}
          </div>
          <Pagination first={before !== null && pathBefore(null)} next={nextBefore !== null && pathBefore(nextBefore)} />
        </div>
      </>
    ),
  });
};

const DeliveriesCard: FC<{ seq: number; deliveries: readonly EventDelivery[] }> = ({ seq, deliveries }) => (
  <Card id="deliveries" title={webhookMessages.deliveries} note={eventMessages.deliveriesNote} isFlush>
    <Table
      label={webhookMessages.deliveries}
      rows={deliveries}
      emptyMessage={eventMessages.nobodyText}
      columns={[
        [
          messages.endpoint,
          ({ url, delivery }) => (
            <Link to={`/portal/webhooks/${delivery.webhookId}/deliveries/${delivery.id}`} text={<UrlText text={url} />} />
          ),
        ],
        [messages.state, ({ delivery }) => <DeliveryStatusLabel delivery={delivery} />, "corner"],
        [webhookMessages.lastResponse, ({ delivery }) => <ResponseText response={delivery} />],
        [webhookMessages.attempt, ({ delivery }) => formatMessage(webhookMessages.ofFive, { attempt: String(delivery.attempt) })],
        [webhookMessages.nextStep, ({ delivery }) => <DeliveryStep delivery={delivery} />, "plain"],
        [
          messages.action,
          ({ url, delivery }) => (
            <ActionButton
              requiredRole="member"
              action={`${listPath}/${seq}/replay`}
              label={eventMessages.resend}
              target={url}
              hiddenValues={{ delivery: delivery.id }}
            />
          ),
          "plain",
        ],
      ]}
    />
  </Card>
);

const renderEvent = async (request: PortalRequest, seq: number): Promise<Response> => {
  const found = await getEvent(request.services, toReader(request), seq);
  if (found === null) return notFoundPage(request);
  const { event, deliveries } = found;
  return renderMemberPage(request, {
    tab: "events",
    title: event.type,
    crumb: formatCount(event.seq),
    status: <DeliverySummary deliveries={deliveries} isInColumn={false} />,
    intro: <Timestamp at={event.createdAt} />,
    parent: { path: listPath, text: messages.tabs.events },
    content: (
      <>
        <div class="cols main">
          <Card id="body" title={eventMessages.body}>
            {event.dataSealed !== null && (
              <Notice icon="eye-off" title={webhookMessages.delivery.withheldTitle}>
                <p>{eventMessages.withheld}</p>
              </Notice>
            )}
            <CodeFigure id="event-body" label={eventMessages.body} caption="JSON">
              <Json text={JSON.stringify(eventToWire(event, null))} />
            </CodeFigure>
          </Card>
          <Card id="details" title={messages.details}>
            <PropertyList
              isStacked
              lines={[
                [eventMessages.id, <CopyLine id="event-id" value={event.id} copyLabel={formatCopyLabel(eventMessages.id)} />],
                [eventMessages.seq, formatCount(event.seq)],
                [eventMessages.about, <EventSubject event={event} />],
              ]}
            />
          </Card>
        </div>
        <DeliveriesCard seq={event.seq} deliveries={deliveries} />
      </>
    ),
  });
};

const handleReplayDelivery = async (request: PortalFormRequest, seq: number): Promise<Response> => {
  const id = parseDeliveryId(request.form.get("delivery") ?? "");
  if (id === null) return notFoundPage(request);
  const replayed = await replayDelivery(request.services, request.member.business.id, id);
  if (!replayed.ok && replayed.code === "not_found") return notFoundPage(request);
  const refused = replayed.ok ? null : replayed.code === "rate_limited" ? "paced" : "inactive";
  const done = replayed.ok && replayed.value.delivered ? "resent" : "unsent";
  return redirectTo(request, `${listPath}/${seq}`, refused ?? done);
};

export const registerEventRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/events", authenticatedPage(renderEventList));
  pages.get("/events/:seq", authenticatedPage(withId(parseSeq, renderEvent, "seq")));
  pages.post("/events/:seq/replay", authenticatedAction({ memberLimit: "WEBHOOK_CALLS" }, withId(parseSeq, handleReplayDelivery, "seq")));
};
