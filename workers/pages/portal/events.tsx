// What happened, newest first, and what became of it at each endpoint. An event's payload is for receivers and is not shown.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { eventBody, eventTypes, namedOnlyEventTypes, type StoredEvent } from "../../../core/events/event.ts";
import { deliveryIdOf } from "../../../core/ids.ts";
import type { Api } from "../../http/context.ts";
import { listEvents, readEvent, type Told } from "../../operations/portal/events.ts";
import { readAccount } from "../../operations/portal/profile.ts";
import { replayDelivery } from "../../operations/webhooks/deliveries.ts";
import { Exact, filled, Moment } from "../shared/parts.tsx";
import { Filter, Further, Link, LinkLine, number, Press, Properties, Section, Status, Table, words } from "./parts.tsx";
import { nothing, showPage } from "./page.tsx";
import { addressOf } from "./paths.ts";
import { answerText, DeliveryState, NextTime, SwitchedOff } from "./webhooks.tsx";
import { acting, reading, readerOf, to, withId, type Posted, type Visit } from "./visit.ts";

const { events: said, webhooks } = words;
const perPage = 25;
const types = [...eventTypes, ...namedOnlyEventTypes];

/** What became of an event at all endpoints, in one line. */
const Reached: FC<{ deliveries: readonly Told[] }> = ({ deliveries }) => {
  if (deliveries.length === 0) return <Status tone="plain" text={said.nobody} />;
  const count = (status: string): number => deliveries.filter(({ delivery }) => delivery.status === status).length;
  const failing = count("retrying") + count("abandoned");
  const text = filled(said.reached, { done: number(count("success")), all: number(deliveries.length) });
  if (failing > 0) return <Status tone="bad" text={`${text}, ${filled(said.failing, { count: number(failing) })}`} />;
  return <Status tone={count("pending") > 0 ? "caution" : "good"} text={text} />;
};

const About: FC<{ event: StoredEvent }> = ({ event: { certId, shareId } }) => {
  const { one: certificate } = words.certificates;
  const { one: share } = words.shares;
  if (certId !== null) return <Link to={`/portal/certificates/${certId}`} text={certificate} label={`${certificate} ${certId}`} />;
  if (shareId !== null) return <Link to={`/portal/shares/${shareId}`} text={share} label={`${share} ${shareId}`} />;
  return <>{words.none}</>;
};

const placePattern = /^[1-9]\d{0,14}$/;
const placeOf = (text: string): number | null => (placePattern.test(text) ? Number(text) : null);

const list = async (visit: Visit): Promise<Response> => {
  const { c, services, member } = visit;
  const type = types.find((one) => one === c.req.query("type")) ?? null;
  const before = placeOf(c.req.query("before") ?? "");
  const [{ events, olderBefore }, account] = await Promise.all([
    listEvents(services, readerOf(visit), { type, before, limit: perPage }),
    readAccount(services, member),
  ]);
  const addressBefore = (place: number | null): string => addressOf("/portal/events", { type, before: place });
  return showPage(visit, {
    tab: "events",
    isFollowed: before === null,
    content: (
      <>
        <p>{said.intro}</p>
        <Filter
          path="/portal/events"
          isOpen={type !== null}
          name="type"
          label={said.type}
          value={type}
          options={Object.fromEntries(types.map((one) => [one, one]))}
        />
        <SwitchedOff account={account} types={type === null ? null : [type]} />
        {before === null && (
          <p class="actions">
            <Link class="button" to={addressBefore(null)} text={said.again} />{" "}
            <button type="button" class="button" hidden data-follow="events" data-stop={said.stop}>
              {said.follow}
            </button>
          </p>
        )}
        <div id="events">
          <Table
            label={words.tabs.events}
            rows={events}
            empty={
              <>
                {before === null && type === null ? said.empty : words.noMatch}{" "}
                {type !== null && <Link to="/portal/events" text={words.clear} />}
              </>
            }
            columns={[
              [said.seq, ({ event }) => <Link to={`/portal/events/${event.seq}`} text={event.seq} />],
              [said.type, ({ event }) => <code>{event.type}</code>],
              [said.at, ({ event }) => <Moment at={event.createdAt} />],
              [said.about, ({ event }) => <About event={event} />],
              [said.delivered, ({ deliveries }) => <Reached deliveries={deliveries} />],
            ]}
          />
        </div>
        <Further first={before !== null && addressBefore(null)} next={olderBefore !== null && addressBefore(olderBefore)} />
      </>
    ),
  });
};

const detail = async (visit: Visit, seq: number): Promise<Response> => {
  const told = await readEvent(visit.services, readerOf(visit), seq);
  if (told === null) return nothing(visit);
  const { event, deliveries } = told;
  return showPage(visit, {
    tab: "events",
    title: said.one,
    content: (
      <>
        <p>
          <code>{event.type}</code> <Moment at={event.createdAt} />
        </p>
        <Properties
          lines={[
            [said.id, <code class="wraps">{event.id}</code>],
            [said.about, <About event={event} />],
          ]}
        />
        <Section id="body" title={said.body}>
          {event.dataSealed !== null && <p>{said.withheld}</p>}
          <pre>
            <code translate="no">{JSON.stringify(eventBody(event, null), null, 2)}</code>
          </pre>
        </Section>
        <Section id="deliveries" title={webhooks.deliveries}>
          <Table
            label={webhooks.deliveries}
            rows={deliveries}
            empty={said.nobodyText}
            columns={[
              [webhooks.one, ({ url, delivery }) => <Link to={`/portal/webhooks/${delivery.webhookId}`} text={<Exact text={url} />} />],
              [words.state, ({ delivery }) => <DeliveryState of={delivery} />],
              [webhooks.attempt, ({ delivery }) => filled(said.ofFive, { attempt: String(delivery.attempt) })],
              [webhooks.lastAnswer, ({ delivery }) => answerText(delivery)],
              [webhooks.next, ({ delivery }) => <NextTime of={delivery} />],
              [
                words.action,
                ({ url, delivery }) => (
                  <Press
                    by="member"
                    action={`/portal/events/${event.seq}/replay`}
                    label={webhooks.replay}
                    of={url}
                    values={{ delivery: delivery.id }}
                  />
                ),
              ],
            ]}
          />
        </Section>
        <LinkLine to="/portal/events" text={said.all} />
      </>
    ),
  });
};

const replay = async (visit: Posted, seq: number): Promise<Response> => {
  const id = deliveryIdOf(visit.form.get("delivery") ?? "");
  if (id === null) return nothing(visit);
  const replayed = await replayDelivery(visit.services, visit.member.business.id, id);
  if (!replayed.ok && replayed.code === "not_found") return nothing(visit);
  const done = !replayed.ok ? "inactive" : replayed.value.delivered ? "resent" : "unsent";
  return to(visit, `/portal/events/${seq}`, done);
};

export const mountEvents = (pages: Hono<Api>): void => {
  pages.get("/events", reading(list));
  pages.get("/events/:seq", reading(withId(placeOf, detail, "seq")));
  pages.post("/events/:seq/replay", acting({ memberLimit: "WEBHOOK_CALLS" }, withId(placeOf, replay, "seq")));
};
