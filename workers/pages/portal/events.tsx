// Events, newest first, and their deliveries to each endpoint. The sealed data of an event is for receivers and is not shown.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { eventToWire, standardEventTypes, optInEventTypes, type StoredEvent } from "../../../core/events/event.ts";
import { parseDeliveryId } from "../../../core/ids.ts";
import type { AppEnv } from "../../http/context.ts";
import type { EventDelivery } from "../../operations/portal/event-deliveries.ts";
import { getEvent } from "../../operations/portal/get-event.ts";
import { listEvents } from "../../operations/portal/list-events.ts";
import { getAccount } from "../../operations/portal/get-account.ts";
import { replayDelivery } from "../../operations/webhooks/replay-delivery.ts";
import { VerbatimText, formatMessage, Timestamp } from "../shared/components.tsx";
import {
  ListFilter,
  Pagination,
  Link,
  LinkList,
  formatCount,
  ActionButton,
  PropertyList,
  Section,
  StatusLabel,
  Table,
  messages,
} from "./components.tsx";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import { pathWithQuery } from "./paths.ts";
import { formatResponse, DeliveryStatusLabel, DeliveryTime, OptInEventsNotice } from "./webhooks.tsx";
import { authenticatedAction, authenticatedPage, withId } from "./handlers.ts";
import { toReader, redirectTo, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const { events: eventMessages, webhooks: webhookMessages } = messages;
const eventsPerPage = 25;
const allEventTypes = [...standardEventTypes, ...optInEventTypes];

/** A one-line summary of an event's deliveries to all endpoints. */
const DeliverySummary: FC<{ deliveries: readonly EventDelivery[] }> = ({ deliveries }) => {
  if (deliveries.length === 0) return <StatusLabel tone="plain" text={eventMessages.nobody} />;
  const count = (status: string): number => deliveries.filter(({ delivery }) => delivery.status === status).length;
  const failing = count("retrying") + count("abandoned");
  const text = formatMessage(eventMessages.reached, { done: formatCount(count("success")), all: formatCount(deliveries.length) });
  if (failing > 0)
    return <StatusLabel tone="bad" text={`${text}, ${formatMessage(eventMessages.failing, { count: formatCount(failing) })}`} />;
  return <StatusLabel tone={count("pending") > 0 ? "caution" : "good"} text={text} />;
};

const EventSubject: FC<{ event: StoredEvent }> = ({ event: { certId, shareId } }) => {
  const { one: certificate } = messages.certificates;
  const { one: share } = messages.shares;
  if (certId !== null) return <Link to={`/portal/certificates/${certId}`} text={certificate} label={`${certificate} ${certId}`} />;
  if (shareId !== null) return <Link to={`/portal/shares/${shareId}`} text={share} label={`${share} ${shareId}`} />;
  return <>{messages.none}</>;
};

const seqPattern = /^[1-9]\d{0,14}$/;
const parseSeq = (text: string): number | null => (seqPattern.test(text) ? Number(text) : null);

const renderEventList = async (request: PortalRequest): Promise<Response> => {
  const { c, services, member } = request;
  const type = allEventTypes.find((name) => name === c.req.query("type")) ?? null;
  const before = parseSeq(c.req.query("before") ?? "");
  const [{ events, nextBefore }, account] = await Promise.all([
    listEvents(services, toReader(request), { type, before, limit: eventsPerPage }),
    getAccount(services, member),
  ]);
  const pathBefore = (seq: number | null): string => pathWithQuery("/portal/events", { type, before: seq });
  return renderMemberPage(request, {
    tab: "events",
    hasLiveUpdates: before === null,
    content: (
      <>
        <p>{eventMessages.intro}</p>
        <ListFilter
          path="/portal/events"
          name="type"
          label={eventMessages.type}
          value={type}
          options={Object.fromEntries(allEventTypes.map((name) => [name, name]))}
        />
        <OptInEventsNotice account={account} types={type === null ? null : [type]} />
        {before === null && (
          <p class="actions">
            <Link class="btn" to={pathBefore(null)} text={eventMessages.again} />{" "}
            <button type="button" class="btn" hidden data-follow="events" data-stop={eventMessages.stop}>
              {eventMessages.follow}
            </button>
          </p>
        )}
        <div id="events">
          <Table
            label={messages.tabs.events}
            rows={events}
            emptyMessage={
              <>
                {before === null && type === null ? eventMessages.empty : messages.noMatch}{" "}
                {type !== null && <Link to="/portal/events" text={messages.clear} />}
              </>
            }
            columns={[
              [eventMessages.seq, ({ event }) => <Link to={`/portal/events/${event.seq}`} text={event.seq} />],
              [eventMessages.type, ({ event }) => <code>{event.type}</code>],
              [eventMessages.at, ({ event }) => <Timestamp at={event.createdAt} />],
              [eventMessages.about, ({ event }) => <EventSubject event={event} />],
              [eventMessages.delivered, ({ deliveries }) => <DeliverySummary deliveries={deliveries} />],
            ]}
          />
        </div>
        <Pagination first={before !== null && pathBefore(null)} next={nextBefore !== null && pathBefore(nextBefore)} />
      </>
    ),
  });
};

const renderEvent = async (request: PortalRequest, seq: number): Promise<Response> => {
  const found = await getEvent(request.services, toReader(request), seq);
  if (found === null) return notFoundPage(request);
  const { event, deliveries } = found;
  return renderMemberPage(request, {
    tab: "events",
    title: eventMessages.one,
    content: (
      <>
        <p>
          <code>{event.type}</code> <Timestamp at={event.createdAt} />
        </p>
        <PropertyList
          lines={[
            [eventMessages.id, <code class="wraps">{event.id}</code>],
            [eventMessages.about, <EventSubject event={event} />],
          ]}
        />
        <Section id="body" title={eventMessages.body}>
          {event.dataSealed !== null && <p>{eventMessages.withheld}</p>}
          <pre>
            <code translate="no">{JSON.stringify(eventToWire(event, null), null, 2)}</code>
          </pre>
        </Section>
        <Section id="deliveries" title={webhookMessages.deliveries}>
          <Table
            label={webhookMessages.deliveries}
            rows={deliveries}
            emptyMessage={eventMessages.nobodyText}
            columns={[
              [
                webhookMessages.one,
                ({ url, delivery }) => <Link to={`/portal/webhooks/${delivery.webhookId}`} text={<VerbatimText text={url} />} />,
              ],
              [messages.state, ({ delivery }) => <DeliveryStatusLabel of={delivery} />],
              [webhookMessages.attempt, ({ delivery }) => formatMessage(eventMessages.ofFive, { attempt: String(delivery.attempt) })],
              [webhookMessages.lastAnswer, ({ delivery }) => formatResponse(delivery)],
              [webhookMessages.next, ({ delivery }) => <DeliveryTime of={delivery} />],
              [
                messages.action,
                ({ url, delivery }) => (
                  <ActionButton
                    requiredRole="member"
                    action={`/portal/events/${event.seq}/replay`}
                    label={webhookMessages.replay}
                    of={url}
                    hiddenValues={{ delivery: delivery.id }}
                  />
                ),
              ],
            ]}
          />
        </Section>
        <LinkList to="/portal/events" text={eventMessages.all} />
      </>
    ),
  });
};

const handleReplayDelivery = async (request: PortalFormRequest, seq: number): Promise<Response> => {
  const id = parseDeliveryId(request.form.get("delivery") ?? "");
  if (id === null) return notFoundPage(request);
  const replayed = await replayDelivery(request.services, request.member.business.id, id);
  if (!replayed.ok && replayed.code === "not_found") return notFoundPage(request);
  const done = !replayed.ok ? "inactive" : replayed.value.delivered ? "resent" : "unsent";
  return redirectTo(request, `/portal/events/${seq}`, done);
};

export const registerEventRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/events", authenticatedPage(renderEventList));
  pages.get("/events/:seq", authenticatedPage(withId(parseSeq, renderEvent, "seq")));
  pages.post("/events/:seq/replay", authenticatedAction({ memberLimit: "WEBHOOK_CALLS" }, withId(parseSeq, handleReplayDelivery, "seq")));
};
