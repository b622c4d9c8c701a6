// What a business sees first, once it is live: what is due, what happened of late with its figures as a file, what does not work.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import { isoOf } from "../../../core/time.ts";
import type { Api } from "../../http/context.ts";
import { listDeadlines, type DeadlinePage } from "../../operations/portal/deadlines.ts";
import { listEvents, type EventList } from "../../operations/portal/events.ts";
import { enterExport } from "../../operations/portal/export.ts";
import { readActivity, type Activity, type Figures } from "../../operations/portal/overview.ts";
import { listWebhooks, type EndpointState } from "../../operations/webhooks/endpoints.ts";
import { catalogues } from "../language.ts";
import type { Page } from "../layout.tsx";
import { Exact, filled, Moment, numberText } from "../parts.tsx";
import { Chart } from "./chart.tsx";
import { csvStream } from "./csv.ts";
import { portalPage, Status, type PortalView } from "./parts.tsx";
import { acting, answer, nothing, readerOf, type Posted, type Visit } from "./visit.ts";

const shownEvents = 5;

interface Shown {
  readonly activity: Activity;
  readonly due: DeadlinePage;
  readonly endpoints: readonly EndpointState[];
  readonly events: EventList;
}

const total = (figures: readonly Figures[], side: "up" | "down"): number => figures.reduce((sum, one) => sum + one[side], 0);

/** "Issued: 1,204 in 30 days, up from 1,108. Withdrawn: 12, up from 3." */
const daysTrend = ({ words, setting }: PortalView, { days, before }: Activity): string => {
  const { overview: said } = words;
  const number = (value: number): string => numberText(value, setting.language);
  const compared = (now: number, earlier: number): string =>
    now === earlier ? said.same : filled(now > earlier ? said.more : said.less, { before: number(earlier) });
  const [issued, withdrawn] = [total(days, "up"), total(days, "down")];
  return filled(said.daysTrend, {
    issued: number(issued),
    change: compared(issued, before.up),
    withdrawn: number(withdrawn),
    difference: compared(withdrawn, before.down),
  });
};

const Due: FC<{ view: PortalView; due: DeadlinePage }> = ({ view, due: { deadlines, hasMore } }) => {
  const { words, setting, now } = view;
  const { overview: said } = words;
  const [next] = deadlines;
  if (next === undefined) return <p>{words.deadlines.empty}</p>;
  const overdue = deadlines.filter(({ ceaseBy }) => ceaseBy < now).length;
  const number = (value: number): string => numberText(value, setting.language);
  return (
    <p class="band">
      <a href={view.at("/portal/deadlines")}>
        {filled(words.home.due, { open: `${number(deadlines.length)}${hasMore ? "+" : ""}`, overdue: number(overdue) })}
      </a>{" "}
      <span>
        {said.next} <Moment at={next.ceaseBy} setting={setting} />
      </span>
    </p>
  );
};

const Failing: FC<{ view: PortalView; endpoints: readonly EndpointState[] }> = ({ view, endpoints }) => {
  const { words, setting } = view;
  const failing = endpoints.flatMap(({ endpoint, health }) =>
    endpoint.status === "enabled" && health?.failingSince != null ? [{ endpoint, since: health.failingSince }] : [],
  );
  if (failing.length === 0) return <p>{endpoints.length === 0 ? words.webhooks.empty : words.overview.allWork}</p>;
  return (
    <ul class="plain">
      {failing.map(({ endpoint, since }) => (
        <li>
          <a href={view.at(`/portal/webhooks/${endpoint.id}`)}>
            <Exact text={endpoint.url} />
          </a>{" "}
          <Status tone="bad" text={words.webhooks.failing} /> <Moment at={since} setting={setting} />
        </li>
      ))}
    </ul>
  );
};

const Newest: FC<{ view: PortalView; events: EventList["events"] }> = ({ view, events }) =>
  events.length === 0 ? (
    <p>{view.words.events.empty}</p>
  ) : (
    <ul class="plain">
      {events.map(({ event }) => (
        <li>
          <a href={view.at(`/portal/events/${event.seq}`)}>
            <code>{event.type}</code>
          </a>{" "}
          <Moment at={event.createdAt} setting={view.setting} />
        </li>
      ))}
    </ul>
  );

const pageOf = (view: PortalView, { activity, due, endpoints, events }: Shown): Page => {
  const { words, setting } = view;
  const { overview: said } = words;
  const number = (value: number): string => numberText(value, setting.language);
  const dated =
    (options: Intl.DateTimeFormatOptions) =>
    ({ start }: Figures): string =>
      new Intl.DateTimeFormat(catalogues[setting.language].locale, { ...options, timeZone: "UTC" }).format(start);
  const duties = { kept: number(total(activity.months, "up")), late: number(total(activity.months, "down")) };
  return portalPage(view, {
    tab: "home",
    title: words.tabs.home,
    content: (
      <>
        <Due view={view} due={due} />
        <Chart
          view={view}
          name="certificate_days"
          heading={said.days}
          trend={daysTrend(view, activity)}
          figures={activity.days}
          labels={{ start: said.day, up: said.issued, down: said.withdrawn }}
          startText={dated({ day: "numeric", month: "short", year: "numeric" })}
        />
        <Chart
          view={view}
          name="duty_months"
          heading={said.months}
          trend={filled(said.monthsTrend, duties)}
          figures={activity.months}
          labels={{ start: said.month, up: said.onTime, down: said.late }}
          startText={dated({ month: "long", year: "numeric" })}
        />
        <section aria-labelledby="endpoints">
          <h2 id="endpoints">{words.tabs.webhooks}</h2>
          <Failing view={view} endpoints={endpoints} />
        </section>
        <section aria-labelledby="newest">
          <h2 id="newest">{said.newest}</h2>
          <Newest view={view} events={events.events} />
        </section>
        <p>
          <a href={view.at("/portal/steps")}>{words.home.title}</a>
        </p>
      </>
    ),
  });
};

/** Of the mode's records. */
export const showOverview = async (visit: Visit): Promise<Response> => {
  const { services, member, view } = visit;
  const { environment } = view;
  const [activity, due, endpoints, events] = await Promise.all([
    readActivity(services, member, environment),
    listDeadlines(services, member, environment),
    listWebhooks(services, member),
    listEvents(services, readerOf(visit), { before: null, type: null, limit: shownEvents }),
  ]);
  const own = endpoints.filter((endpoint) => endpoint.environment === environment);
  return answer(visit, pageOf(view, { activity, due, endpoints: own, events }));
};

const charts = {
  certificate_days: { head: ["day", "issued", "withdrawn"], of: ({ days }: Activity) => days, places: "2026-11-23".length },
  duty_months: { head: ["month", "on_time", "late"], of: ({ months }: Activity) => months, places: "2026-11".length },
} as const;

const exportChart = async (visit: Posted): Promise<Response> => {
  const { c, services, member, form, view } = visit;
  const name = (Object.keys(charts) as (keyof typeof charts)[]).find((one) => one === form.get("chart"));
  if (name === undefined) return nothing(visit);
  const { head, of, places } = charts[name];
  const figures = of(await readActivity(services, member, view.environment));
  await enterExport(services, member, { list: name, environment: view.environment, rows: figures.length });
  const rows = figures.map(({ start, up, down }) => [isoOf(start).slice(0, places), String(up), String(down)]);
  c.header("Content-Disposition", `attachment; filename="${name}.csv"`);
  return c.body(
    csvStream(head, rows, 1, async () => []),
    200,
    { "Content-Type": "text/csv; charset=utf-8" },
  );
};

export const mountOverview = (pages: Hono<Api>): void => {
  pages.post("/export", acting({ reads: true }, exportChart));
};
