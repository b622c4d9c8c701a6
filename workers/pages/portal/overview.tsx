// What a business sees first, once it is live: what is due, what happened of late with its figures as a file, what does not work.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import type { Api } from "../../http/context.ts";
import { listEvents, type EventList } from "../../operations/portal/events.ts";
import { comparedCounts, readActivity, readOverview, type Activity, type DeadlinePage } from "../../operations/portal/overview.ts";
import { listWebhooks, type EndpointState } from "../../operations/webhooks/endpoints.ts";
import { catalogues } from "../shared/language.ts";
import type { Page } from "../shared/layout.tsx";
import { Exact, filled, Moment, numberText } from "../shared/parts.tsx";
import { Chart, exportChart, totalOf, type ChartFile } from "./chart.tsx";
import { portalPage, Status, Table, type PortalView } from "./parts.tsx";
import { acting, answer, nothing, readerOf, type Posted, type Visit } from "./visit.ts";

const shownEvents = 5;

const charts = {
  certificate_days: { name: "certificate_days", unit: "day", head: ["day", "issued", "withdrawn"] },
  duty_months: { name: "duty_months", unit: "month", head: ["month", "on_time", "late"] },
} as const satisfies Readonly<Record<string, ChartFile>>;

interface Shown {
  readonly activity: Activity;
  readonly due: DeadlinePage;
  readonly endpoints: readonly EndpointState[];
  readonly events: EventList;
}

/** "Issued: 1,204 in 30 days, up from 1,108. Withdrawn: 12, up from 3." */
const daysTrend = ({ words, setting }: PortalView, { compared: { issued, withdrawn } }: Activity): string => {
  const { overview: said } = words;
  const number = (value: number): string => numberText(value, setting.language);
  const compared = (now: number, earlier: number): string =>
    now === earlier ? said.same : filled(now > earlier ? said.more : said.less, { before: number(earlier) });
  return filled(said.daysTrend, {
    issued: number(issued.now),
    change: compared(issued.now, issued.before),
    withdrawn: number(withdrawn.now),
    difference: compared(withdrawn.now, withdrawn.before),
  });
};

const Counts: FC<{ view: PortalView; activity: Activity }> = ({ view: { words, setting }, activity: { compared } }) => {
  const { overview: said } = words;
  const { locale } = catalogues[setting.language];
  const text = (name: (typeof comparedCounts)[number], when: "now" | "before"): string => {
    const [count, issued] = [compared[name][when], compared.issued[when]];
    const told = numberText(count, setting.language);
    if (name !== "withdrawn" || issued === 0) return told;
    return filled(said.ofIssued, { count: told, percent: new Intl.NumberFormat(locale, { style: "percent" }).format(count / issued) });
  };
  return (
    <section aria-labelledby="counts">
      <h2 id="counts">{said.counts}</h2>
      <Table
        label={said.counts}
        rows={comparedCounts}
        columns={[
          { head: said.what, cell: (name) => said.counted[name] },
          { head: said.thirty, cell: (name) => text(name, "now") },
          { head: said.before, cell: (name) => text(name, "before") },
        ]}
      />
    </section>
  );
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
  const duties = { kept: number(totalOf(activity.months, "up")), late: number(totalOf(activity.months, "down")) };
  return portalPage(view, {
    tab: "home",
    title: words.tabs.home,
    content: (
      <>
        <Due view={view} due={due} />
        <Counts view={view} activity={activity} />
        <Chart
          view={view}
          file={charts.certificate_days}
          exports="/portal/export"
          heading={said.days}
          trend={daysTrend(view, activity)}
          figures={activity.days}
          labels={{ start: said.day, up: said.issued, down: said.withdrawn }}
        />
        <Chart
          view={view}
          file={charts.duty_months}
          exports="/portal/export"
          heading={said.months}
          trend={filled(said.monthsTrend, duties)}
          figures={activity.months}
          labels={{ start: said.month, up: said.onTime, down: said.late }}
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
  const [{ activity, due }, endpoints, events] = await Promise.all([
    readOverview(services, member, environment),
    listWebhooks(services, member),
    listEvents(services, readerOf(visit), { before: null, type: null, limit: shownEvents }),
  ]);
  const own = endpoints.filter((endpoint) => endpoint.environment === environment);
  return answer(visit, pageOf(view, { activity, due, endpoints: own, events }));
};

const exportFigures = async (visit: Posted): Promise<Response> => {
  const { services, member, form, view } = visit;
  const name = (Object.keys(charts) as (keyof typeof charts)[]).find((one) => one === form.get("chart"));
  if (name === undefined) return nothing(visit);
  const { environment } = view;
  const { days, months } = await readActivity(services, member, environment);
  return exportChart(visit, charts[name], { figures: name === "certificate_days" ? days : months, environment });
};

export const mountOverview = (pages: Hono<Api>): void => {
  pages.post("/export", acting({ reads: true }, exportFigures));
};
