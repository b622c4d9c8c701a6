// The home page of a live business: open deadlines, recent activity with charts, failing endpoints and the newest events.
import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import type { AppEnv } from "../../http/context.ts";
import type { DeadlinePage } from "../../../storage/deadlines.ts";
import { listEvents } from "../../operations/portal/list-events.ts";
import { comparedMetrics, type Activity, type PeriodComparison } from "../../../core/accounts/activity.ts";
import { getActivity } from "../../operations/portal/get-activity.ts";
import { getOverview } from "../../operations/portal/get-overview.ts";
import { listWebhooks, type EndpointState } from "../../operations/webhooks/list-webhooks.ts";
import { languageInfo } from "../shared/language.ts";
import { VerbatimText, formatMessage, Timestamp } from "../shared/components.tsx";
import { Chart, exportChart, sumFigures, type ChartDefinition } from "./chart.tsx";
import {
  language,
  Link,
  LinkList,
  PlainList,
  formatCount,
  Section,
  StatusLabel,
  Table,
  usePortalRequest,
  messages,
} from "./components.tsx";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import { authenticatedAction } from "./handlers.ts";
import { toReader, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const overviewMessages = messages.overview;
const maxEventsShown = 5;

const charts = {
  certificate_days: { name: "certificate_days", unit: "day", csvHeader: ["day", "issued", "withdrawn"] },
  duty_months: { name: "duty_months", unit: "month", csvHeader: ["month", "on_time", "late"] },
} as const satisfies Readonly<Record<string, ChartDefinition>>;

/** For example, "Issued: 1,204 in 30 days, up from 1,108. Withdrawn: 12, up from 3." */
const formatDailyTrend = ({ comparisons: { issued, withdrawn } }: Activity): string => {
  const compare = ({ current, previous }: PeriodComparison): string =>
    current === previous
      ? overviewMessages.same
      : formatMessage(current > previous ? overviewMessages.more : overviewMessages.less, { before: formatCount(previous) });
  return formatMessage(overviewMessages.daysTrend, {
    issued: formatCount(issued.current),
    change: compare(issued),
    withdrawn: formatCount(withdrawn.current),
    difference: compare(withdrawn),
  });
};

const ActivityCounts: FC<{ activity: Activity }> = ({ activity: { comparisons } }) => {
  const percent = new Intl.NumberFormat(languageInfo[language].locale, { style: "percent" });
  const formatMetric = (name: (typeof comparedMetrics)[number], period: keyof PeriodComparison): string => {
    const [count, issued] = [comparisons[name][period], comparisons.issued[period]];
    if (name !== "withdrawn" || issued === 0) return formatCount(count);
    return formatMessage(overviewMessages.ofIssued, { count: formatCount(count), percent: percent.format(count / issued) });
  };
  return (
    <Section id="counts" title={overviewMessages.counts}>
      <Table
        label={overviewMessages.counts}
        rows={comparedMetrics}
        columns={[
          [overviewMessages.what, (name) => overviewMessages.counted[name]],
          [overviewMessages.thirty, (name) => formatMetric(name, "current")],
          [overviewMessages.before, (name) => formatMetric(name, "previous")],
        ]}
      />
    </Section>
  );
};

/** Links to the open deadlines and states how many there are. */
export const DeadlinesLink: FC<{ due: DeadlinePage }> = ({ due: { deadlines, hasMore } }) => {
  const { now } = usePortalRequest();
  const overdue = deadlines.filter(({ ceaseBy }) => ceaseBy < now).length;
  const counts = { open: `${formatCount(deadlines.length)}${hasMore ? "+" : ""}`, overdue: formatCount(overdue) };
  return <Link to="/portal/deadlines" text={formatMessage(messages.home.due, counts)} />;
};

const NextDeadline: FC<{ due: DeadlinePage }> = ({ due }) => {
  const [next] = due.deadlines;
  return next === undefined ? (
    <p>{messages.deadlines.empty}</p>
  ) : (
    <p class="band">
      <DeadlinesLink due={due} />{" "}
      <span>
        {overviewMessages.next} <Timestamp at={next.ceaseBy} />
      </span>
    </p>
  );
};

const FailingEndpoints: FC<{ endpoints: readonly EndpointState[] }> = ({ endpoints }) => {
  const failing = endpoints.flatMap(({ endpoint, health }) =>
    endpoint.status === "enabled" && health?.failingSince != null ? [{ endpoint, since: health.failingSince }] : [],
  );
  if (failing.length === 0) return <p>{endpoints.length === 0 ? messages.webhooks.empty : overviewMessages.allWork}</p>;
  return (
    <PlainList
      items={failing.map(({ endpoint, since }) => (
        <>
          <Link to={`/portal/webhooks/${endpoint.id}`} text={<VerbatimText text={endpoint.url} />} />{" "}
          <StatusLabel tone="bad" text={messages.webhooks.failing} /> <Timestamp at={since} />
        </>
      ))}
    />
  );
};

export const renderOverview = async (request: PortalRequest): Promise<Response> => {
  const { services, member, environment } = request;
  const [{ activity, due }, endpoints, { events }] = await Promise.all([
    getOverview(services, member, environment),
    listWebhooks(services, member),
    listEvents(services, toReader(request), { before: null, type: null, limit: maxEventsShown }),
  ]);
  const monthCounts = { kept: formatCount(sumFigures(activity.months, "up")), late: formatCount(sumFigures(activity.months, "down")) };
  return renderMemberPage(request, {
    tab: "home",
    content: (
      <>
        <NextDeadline due={due} />
        <ActivityCounts activity={activity} />
        <Chart
          definition={charts.certificate_days}
          exportPath="/portal/export"
          heading={overviewMessages.days}
          trend={formatDailyTrend(activity)}
          figures={activity.days}
          labels={{ start: overviewMessages.day, up: overviewMessages.issued, down: overviewMessages.withdrawn }}
        />
        <Chart
          definition={charts.duty_months}
          exportPath="/portal/export"
          heading={overviewMessages.months}
          trend={formatMessage(overviewMessages.monthsTrend, monthCounts)}
          figures={activity.months}
          labels={{ start: overviewMessages.month, up: overviewMessages.onTime, down: overviewMessages.late }}
        />
        <Section id="endpoints" title={messages.tabs.webhooks}>
          <FailingEndpoints endpoints={endpoints.filter((endpoint) => endpoint.environment === environment)} />
        </Section>
        <Section id="newest" title={overviewMessages.newest}>
          {events.length === 0 ? (
            <p>{messages.events.empty}</p>
          ) : (
            <PlainList
              items={events.map(({ event }) => (
                <>
                  <Link to={`/portal/events/${event.seq}`} text={<code>{event.type}</code>} /> <Timestamp at={event.createdAt} />
                </>
              ))}
            />
          )}
        </Section>
        <LinkList to="/portal/steps" text={messages.home.title} />
      </>
    ),
  });
};

const handleExportChart = async (request: PortalFormRequest): Promise<Response> => {
  const { services, member, form, environment } = request;
  const name = (Object.keys(charts) as (keyof typeof charts)[]).find((key) => key === form.get("chart"));
  if (name === undefined) return notFoundPage(request);
  const { days, months } = await getActivity(services, member, environment);
  return exportChart(request, charts[name], name === "certificate_days" ? days : months);
};

export const registerOverviewRoutes = (pages: Hono<AppEnv>): void => {
  pages.post("/export", authenticatedAction({ isReadOnly: true }, handleExportChart));
};
