// What happened, newest first, and what became of it at each endpoint. An event's payload is for receivers and is not shown.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { eventBody, eventTypes, namedOnlyEventTypes } from "../../../core/events/event.ts";
import { deliveryIdOf } from "../../../core/ids.ts";
import type { Api } from "../../http/context.ts";
import { listEvents, readEvent, type EventList, type Told, type ToldEvent } from "../../operations/portal/events.ts";
import { readAccount, type Account } from "../../operations/portal/profile.ts";
import { replayDelivery } from "../../operations/webhooks/deliveries.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact, filled, Moment, numberText } from "../shared/parts.tsx";
import { Allowed, Choice, portalPage, Press, Status, Table, type PortalView, type Tone } from "./parts.tsx";
import { SwitchedOff } from "./webhooks.tsx";
import { acting, answer, crowded, nothing, reading, readerOf, to, type Posted, type Visit } from "./visit.ts";

const perPage = 25;
const types = [...eventTypes, ...namedOnlyEventTypes];

interface Asked {
  readonly type: string | null;
  readonly before: number | null;
}

const addressOf = ({ type, before }: Asked): string => {
  const query = new URLSearchParams();
  if (type !== null) query.set("type", type);
  if (before !== null) query.set("before", String(before));
  return query.size === 0 ? "/portal/events" : `/portal/events?${query}`;
};

/** What became of an event at all endpoints, in one line. */
const Reached: FC<{ view: PortalView; deliveries: readonly Told[] }> = ({ view: { words, setting }, deliveries }) => {
  const { events: said } = words;
  if (deliveries.length === 0) return <Status tone="plain" text={said.nobody} />;
  const count = (status: string): number => deliveries.filter(({ delivery }) => delivery.status === status).length;
  const number = (value: number): string => numberText(value, setting.language);
  const failing = count("retrying") + count("abandoned");
  const tone: Tone = failing > 0 ? "bad" : count("pending") > 0 ? "caution" : "good";
  const text = filled(said.reached, { done: number(count("success")), all: number(deliveries.length) });
  return <Status tone={tone} text={failing === 0 ? text : `${text}, ${filled(said.failing, { count: number(failing) })}`} />;
};

const About: FC<{ view: PortalView; told: ToldEvent }> = ({ view, told: { event } }) => {
  const { words } = view;
  if (event.certId !== null)
    return (
      <a href={view.at(`/portal/certificates/${event.certId}`)} aria-label={`${words.certificates.one} ${event.certId}`}>
        {words.certificates.one}
      </a>
    );
  if (event.shareId === null) return <>{words.none}</>;
  return (
    <a href={view.at(`/portal/shares/${event.shareId}`)} aria-label={`${words.shares.one} ${event.shareId}`}>
      {words.shares.one}
    </a>
  );
};

const listPage = (view: PortalView, asked: Asked, { events, olderBefore }: EventList, account: Account): Page => {
  const { words, setting } = view;
  const { events: said } = words;
  const isNewest = asked.before === null;
  return portalPage(view, {
    tab: "events",
    title: words.tabs.events,
    ...(isNewest && { script: "follow.js" }),
    content: (
      <>
        <p>{said.intro}</p>
        <details class="filters" open={asked.type !== null}>
          <summary>{words.filter}</summary>
          <form method="get" action={view.at("/portal/events")} class="form">
            <Choice
              name="type"
              label={said.type}
              value={asked.type}
              options={[["", words.any], ...types.map((type) => [type, type] as const)]}
            />
            <button type="submit" class="primary">
              {words.show}
            </button>
          </form>
        </details>
        <SwitchedOff view={view} account={account} types={asked.type === null ? null : [asked.type]} />
        {isNewest && (
          <p class="actions">
            <a class="button" href={view.at(addressOf(asked))}>
              {said.again}
            </a>{" "}
            <button type="button" class="button" hidden data-follow="events" data-stop={said.stop}>
              {said.follow}
            </button>
          </p>
        )}
        <div id="events">
          {events.length === 0 ? (
            <p>
              {isNewest && asked.type === null ? said.empty : words.noMatch}{" "}
              {asked.type !== null && <a href={view.at("/portal/events")}>{words.clear}</a>}
            </p>
          ) : (
            <Table
              label={words.tabs.events}
              rows={events}
              columns={[
                { head: said.seq, cell: ({ event }) => <a href={view.at(`/portal/events/${event.seq}`)}>{String(event.seq)}</a> },
                { head: said.type, cell: ({ event }) => <code>{event.type}</code> },
                { head: said.at, cell: ({ event }) => <Moment at={event.createdAt} setting={setting} /> },
                { head: said.about, cell: (told) => <About view={view} told={told} /> },
                { head: said.delivered, cell: ({ deliveries }) => <Reached view={view} deliveries={deliveries} /> },
              ]}
            />
          )}
        </div>
        {(asked.before !== null || olderBefore !== null) && (
          <nav class="pages" aria-label={words.pages.label}>
            {asked.before !== null && <a href={view.at(addressOf({ ...asked, before: null }))}>{words.pages.first}</a>}
            {olderBefore !== null && (
              <a href={view.at(addressOf({ ...asked, before: olderBefore }))} rel="next">
                {words.pages.next}
              </a>
            )}
          </nav>
        )}
      </>
    ),
  });
};

const tones: Readonly<Record<Told["delivery"]["status"], Tone>> = {
  success: "good",
  pending: "plain",
  retrying: "caution",
  abandoned: "bad",
};

const detailPage = (view: PortalView, told: ToldEvent): Page => {
  const { words, setting } = view;
  const { events: said, webhooks } = words;
  const { event, deliveries } = told;
  return portalPage(view, {
    tab: "events",
    title: said.one,
    content: (
      <>
        <p>
          <code>{event.type}</code> <Moment at={event.createdAt} setting={setting} />
        </p>
        <dl>
          <div>
            <dt>{said.id}</dt>
            <dd>
              <code class="wraps">{event.id}</code>
            </dd>
          </div>
          <div>
            <dt>{said.about}</dt>
            <dd>
              <About view={view} told={told} />
            </dd>
          </div>
        </dl>
        <section aria-labelledby="body">
          <h2 id="body">{said.body}</h2>
          {event.dataSealed !== null && <p>{said.withheld}</p>}
          <pre>
            <code translate="no">{JSON.stringify(eventBody(event, null), null, 2)}</code>
          </pre>
        </section>
        <section aria-labelledby="deliveries">
          <h2 id="deliveries">{webhooks.deliveries}</h2>
          {deliveries.length === 0 ? (
            <p>{said.nobodyText}</p>
          ) : (
            <Table
              label={webhooks.deliveries}
              rows={deliveries}
              columns={[
                {
                  head: webhooks.one,
                  cell: ({ url, delivery }) => (
                    <a href={view.at(`/portal/webhooks/${delivery.webhookId}`)}>
                      <Exact text={url} />
                    </a>
                  ),
                },
                {
                  head: words.state,
                  cell: ({ delivery }) => <Status tone={tones[delivery.status]} text={webhooks.states[delivery.status]} />,
                },
                { head: webhooks.attempt, cell: ({ delivery }) => filled(said.ofFive, { attempt: String(delivery.attempt) }) },
                {
                  head: webhooks.lastAnswer,
                  cell: ({ delivery }) =>
                    delivery.responseStatus !== null && delivery.responseStatus > 0
                      ? String(delivery.responseStatus)
                      : delivery.error === null
                        ? words.none
                        : webhooks.errors[delivery.error],
                },
                {
                  head: webhooks.next,
                  cell: ({ delivery }) => {
                    const at = delivery.deliveredAt ?? delivery.nextAttemptAt;
                    return at === null ? words.none : <Moment at={at} setting={setting} />;
                  },
                },
                {
                  head: words.action,
                  cell: ({ url, delivery }) => (
                    <Allowed view={view} ownerOnly={false}>
                      <Press
                        view={view}
                        action={`/portal/events/${event.seq}/replay`}
                        label={webhooks.replay}
                        of={url}
                        values={{ delivery: delivery.id }}
                      />
                    </Allowed>
                  ),
                },
              ]}
            />
          )}
        </section>
        <p>
          <a href={view.at("/portal/events")}>{said.all}</a>
        </p>
      </>
    ),
  });
};

const placePattern = /^[1-9]\d{0,14}$/;
const placeOf = (text: string | undefined): number | null => (text !== undefined && placePattern.test(text) ? Number(text) : null);

const list = async (visit: Visit): Promise<Response> => {
  const { c, services, member, view } = visit;
  const asked = { type: types.find((type) => type === c.req.query("type")) ?? null, before: placeOf(c.req.query("before")) };
  const [events, account] = await Promise.all([
    listEvents(services, readerOf(visit), { ...asked, limit: perPage }),
    readAccount(services, member),
  ]);
  return answer(visit, listPage(view, asked, events, account));
};

const detail = async (visit: Visit): Promise<Response> => {
  const seq = placeOf(visit.c.req.param("seq"));
  const told = seq === null ? null : await readEvent(visit.services, readerOf(visit), seq);
  return told === null ? nothing(visit) : answer(visit, detailPage(visit.view, told));
};

const replay = async (visit: Posted): Promise<Response> => {
  const full = await crowded(visit.c, "WEBHOOK_CALLS", visit.member.userId);
  if (full !== null) return full;
  const [seq, id] = [placeOf(visit.c.req.param("seq")), deliveryIdOf(visit.form.get("delivery") ?? "")];
  if (seq === null || id === null) return nothing(visit);
  const replayed = await replayDelivery(visit.services, visit.member.business.id, id);
  if (!replayed.ok && replayed.code === "not_found") return nothing(visit);
  const done = !replayed.ok ? "inactive" : replayed.value.delivered ? "resent" : "unsent";
  return to(visit, `/portal/events/${seq}`, done);
};

export const mountEvents = (pages: Hono<Api>): void => {
  pages.get("/events", reading(list));
  pages.get("/events/:seq", reading(detail));
  pages.post("/events/:seq/replay", acting({}, replay));
};
