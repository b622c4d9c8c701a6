// What a business sees first, once it is live: what is due, what happened of late with its figures as a file, what does not work.
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
import { authenticatedAction, toReader, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const overviewMessages = messages.overview;
const maxEventsShown = 5;

const charts = {
  certificate_days: { name: "certificate_days", unit: "day", csvHeader: ["day", "issued", "withdrawn"] },
  duty_months: { name: "duty_months", unit: "month", csvHeader: ["month", "on_time", "late"] },
} as const satisfies Readonly<Record<string, ChartDefinition>>;

/** "Issued: 1,204 in 30 days, up from 1,108. Withdrawn: 12, up from 3." */
const formatDailyTrend = ({ comparisons: { issued, withdrawn } }: Activity): string => {
  const compared = ({ current, previous }: PeriodComparison): string =>
    current === previous
      ? overviewMessages.same
      : formatMessage(current > previous ? overviewMessages.more : overviewMessages.less, { before: formatCount(previous) });
  return formatMessage(overviewMessages.daysTrend, {
    issued: formatCount(issued.current),
    change: compared(issued),
    withdrawn: formatCount(withdrawn.current),
    difference: compared(withdrawn),
  });
};

const ActivityCounts: FC<{ activity: Activity }> = ({ activity: { comparisons } }) => {
  const percent = new Intl.NumberFormat(languageInfo[language].locale, { style: "percent" });
  const text = (name: (typeof comparedMetrics)[number], when: keyof PeriodComparison): string => {
    const [count, issued] = [comparisons[name][when], comparisons.issued[when]];
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
          [overviewMessages.thirty, (name) => text(name, "current")],
          [overviewMessages.before, (name) => text(name, "previous")],
        ]}
      />
    </Section>
  );
};

/** How many wait to be acknowledged, as a link to them. */
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

/** Of the mode's records. */
export const renderOverview = async (visit: PortalRequest): Promise<Response> => {
  const { services, member, environment } = visit;
  const [{ activity, due }, endpoints, { events }] = await Promise.all([
    getOverview(services, member, environment),
    listWebhooks(services, member),
    listEvents(services, toReader(visit), { before: null, type: null, limit: maxEventsShown }),
  ]);
  const duties = { kept: formatCount(sumFigures(activity.months, "up")), late: formatCount(sumFigures(activity.months, "down")) };
  return renderMemberPage(visit, {
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
          trend={formatMessage(overviewMessages.monthsTrend, duties)}
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

const handleExportChart = async (visit: PortalFormRequest): Promise<Response> => {
  const { services, member, form, environment } = visit;
  const name = (Object.keys(charts) as (keyof typeof charts)[]).find((one) => one === form.get("chart"));
  if (name === undefined) return notFoundPage(visit);
  const { days, months } = await getActivity(services, member, environment);
  return exportChart(visit, charts[name], name === "certificate_days" ? days : months);
};

export const registerOverviewRoutes = (pages: Hono<AppEnv>): void => {
  pages.post("/export", authenticatedAction({ isReadOnly: true }, handleExportChart));
};
