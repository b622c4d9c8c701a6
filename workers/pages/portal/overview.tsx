// What a business sees first, once it is live: what is due, what happened of late with its figures as a file, what does not work.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import type { Api } from "../../http/context.ts";
import type { DeadlinePage } from "../../operations/portal/overview.ts";
import { listEvents } from "../../operations/portal/events.ts";
import { comparedCounts, readActivity, readOverview, type Activity } from "../../operations/portal/overview.ts";
import { listWebhooks, type EndpointState } from "../../operations/webhooks/endpoints.ts";
import { catalogues } from "../shared/language.ts";
import { Exact, filled, Moment } from "../shared/parts.tsx";
import { Chart, exportChart, totalOf, type ChartFile } from "./chart.tsx";
import { language, Link, LinkLine, List, number, Section, Status, Table, useVisit, words } from "./parts.tsx";
import { nothing, showPage } from "./page.tsx";
import { acting, readerOf, type Posted, type Visit } from "./visit.ts";

const said = words.overview;
const shownEvents = 5;

const charts = {
  certificate_days: { name: "certificate_days", unit: "day", head: ["day", "issued", "withdrawn"] },
  duty_months: { name: "duty_months", unit: "month", head: ["month", "on_time", "late"] },
} as const satisfies Readonly<Record<string, ChartFile>>;

/** "Issued: 1,204 in 30 days, up from 1,108. Withdrawn: 12, up from 3." */
const daysTrend = ({ compared: { issued, withdrawn } }: Activity): string => {
  const compared = ({ now, before }: { readonly now: number; readonly before: number }): string =>
    now === before ? said.same : filled(now > before ? said.more : said.less, { before: number(before) });
  return filled(said.daysTrend, {
    issued: number(issued.now),
    change: compared(issued),
    withdrawn: number(withdrawn.now),
    difference: compared(withdrawn),
  });
};

const Counts: FC<{ activity: Activity }> = ({ activity: { compared } }) => {
  const percent = new Intl.NumberFormat(catalogues[language].locale, { style: "percent" });
  const text = (name: (typeof comparedCounts)[number], when: "now" | "before"): string => {
    const [count, issued] = [compared[name][when], compared.issued[when]];
    if (name !== "withdrawn" || issued === 0) return number(count);
    return filled(said.ofIssued, { count: number(count), percent: percent.format(count / issued) });
  };
  return (
    <Section id="counts" title={said.counts}>
      <Table
        label={said.counts}
        rows={comparedCounts}
        columns={[
          [said.what, (name) => said.counted[name]],
          [said.thirty, (name) => text(name, "now")],
          [said.before, (name) => text(name, "before")],
        ]}
      />
    </Section>
  );
};

/** How many wait to be acknowledged, as a link to them. */
export const DueLink: FC<{ due: DeadlinePage }> = ({ due: { deadlines, hasMore } }) => {
  const { now } = useVisit();
  const overdue = deadlines.filter(({ ceaseBy }) => ceaseBy < now).length;
  const counts = { open: `${number(deadlines.length)}${hasMore ? "+" : ""}`, overdue: number(overdue) };
  return <Link to="/portal/deadlines" text={filled(words.home.due, counts)} />;
};

const Due: FC<{ due: DeadlinePage }> = ({ due }) => {
  const [next] = due.deadlines;
  return next === undefined ? (
    <p>{words.deadlines.empty}</p>
  ) : (
    <p class="band">
      <DueLink due={due} />{" "}
      <span>
        {said.next} <Moment at={next.ceaseBy} />
      </span>
    </p>
  );
};

const Failing: FC<{ endpoints: readonly EndpointState[] }> = ({ endpoints }) => {
  const failing = endpoints.flatMap(({ endpoint, health }) =>
    endpoint.status === "enabled" && health?.failingSince != null ? [{ endpoint, since: health.failingSince }] : [],
  );
  if (failing.length === 0) return <p>{endpoints.length === 0 ? words.webhooks.empty : said.allWork}</p>;
  return (
    <List
      items={failing.map(({ endpoint, since }) => (
        <>
          <Link to={`/portal/webhooks/${endpoint.id}`} text={<Exact text={endpoint.url} />} />{" "}
          <Status tone="bad" text={words.webhooks.failing} /> <Moment at={since} />
        </>
      ))}
    />
  );
};

/** Of the mode's records. */
export const showOverview = async (visit: Visit): Promise<Response> => {
  const { services, member, environment } = visit;
  const [{ activity, due }, endpoints, { events }] = await Promise.all([
    readOverview(services, member, environment),
    listWebhooks(services, member),
    listEvents(services, readerOf(visit), { before: null, type: null, limit: shownEvents }),
  ]);
  const duties = { kept: number(totalOf(activity.months, "up")), late: number(totalOf(activity.months, "down")) };
  return showPage(visit, {
    tab: "home",
    content: (
      <>
        <Due due={due} />
        <Counts activity={activity} />
        <Chart
          file={charts.certificate_days}
          exports="/portal/export"
          heading={said.days}
          trend={daysTrend(activity)}
          figures={activity.days}
          labels={{ start: said.day, up: said.issued, down: said.withdrawn }}
        />
        <Chart
          file={charts.duty_months}
          exports="/portal/export"
          heading={said.months}
          trend={filled(said.monthsTrend, duties)}
          figures={activity.months}
          labels={{ start: said.month, up: said.onTime, down: said.late }}
        />
        <Section id="endpoints" title={words.tabs.webhooks}>
          <Failing endpoints={endpoints.filter((endpoint) => endpoint.environment === environment)} />
        </Section>
        <Section id="newest" title={said.newest}>
          {events.length === 0 ? (
            <p>{words.events.empty}</p>
          ) : (
            <List
              items={events.map(({ event }) => (
                <>
                  <Link to={`/portal/events/${event.seq}`} text={<code>{event.type}</code>} /> <Moment at={event.createdAt} />
                </>
              ))}
            />
          )}
        </Section>
        <LinkLine to="/portal/steps" text={words.home.title} />
      </>
    ),
  });
};

const exportFigures = async (visit: Posted): Promise<Response> => {
  const { services, member, form, environment } = visit;
  const name = (Object.keys(charts) as (keyof typeof charts)[]).find((one) => one === form.get("chart"));
  if (name === undefined) return nothing(visit);
  const { days, months } = await readActivity(services, member, environment);
  return exportChart(visit, charts[name], name === "certificate_days" ? days : months);
};

export const mountOverview = (pages: Hono<Api>): void => {
  pages.post("/export", acting({ reads: true }, exportFigures));
};
