// The home page of a business with live certificates: open deadlines, recent activity with charts, failing endpoints and the newest events.
import type { Hono } from "hono";
import type { Child, FC } from "hono/jsx";
import { once } from "../../../core/once.ts";
import type { Instant } from "../../../core/time.ts";
import type { AppEnv } from "../../http/context.ts";
import type { DeadlinePage } from "../../../storage/deadlines.ts";
import { listEvents, type EventList } from "../../operations/portal/list-events.ts";
import { comparedMetrics, type Activity, type PeriodComparison } from "../../../core/accounts/activity.ts";
import { getActivity } from "../../operations/portal/get-activity.ts";
import { getOverview } from "../../operations/portal/get-overview.ts";
import { listWebhooks, type EndpointState } from "../../operations/webhooks/list-webhooks.ts";
import { locales } from "../../../core/language.ts";
import type { IconName } from "../shared/icon-names.ts";
import { FormattedMessage, Icon, Timestamp, UrlText, formatDay, formatMessage, ArrowLink } from "../shared/components.tsx";
import { Table } from "../shared/signed-in-components.tsx";
import { Chart, exportChart, type ChartDefinition } from "./chart.tsx";
import { Card, Link, ShortId, StatusLabel, formatCount, language, messages, usePortalRequest } from "./components.tsx";
import { notFoundPage, renderMemberPage } from "./page.tsx";
import { authenticatedAction } from "./handlers.ts";
import { AttemptStrip, DeliverySummary, EndpointStatusLabel, formatHost, RecentTime } from "./webhook-components.tsx";
import { toReader, type PortalFormRequest, type PortalRequest } from "./portal-request.ts";

const overviewMessages = messages.overview;
const maxEventsShown = 5;

const charts = {
  certificate_days: { name: "certificate_days", unit: "day", csvHeader: ["day", "issued", "withdrawn"] },
  duty_months: { name: "duty_months", unit: "month", csvHeader: ["month", "on_time", "late"] },
} as const satisfies Readonly<Record<string, ChartDefinition>>;

const getPercentFormat = once(() => new Intl.NumberFormat(locales[language], { style: "percent", maximumFractionDigits: 1 }));

const changeIcons = { up: "arrow-up", down: "arrow-down" } as const;

/** Shows the change from the previous thirty days in percent, and the count in those days. */
const Change: FC<PeriodComparison> = ({ current, previous }) => {
  if (current === previous)
    return (
      <span class="delta">
        <Icon name="minus" />
        <b>{overviewMessages.same}</b>
      </span>
    );
  return (
    <span class="delta">
      <Icon name={changeIcons[current > previous ? "up" : "down"]} />
      {previous > 0 && <b>{getPercentFormat().format(Math.abs(current - previous) / previous)}</b>}{" "}
      {formatMessage(overviewMessages.versus, { before: formatCount(previous) })}
    </span>
  );
};

/** Returns false if nothing happened in the thirty days before the current period, for example because the business is new. */
const hasEarlierActivity = ({ comparisons }: Activity): boolean => comparedMetrics.some((name) => comparisons[name].previous > 0);

const maxLargeFigureLength = 7; // the length of "999,999", the longest text that fits in a tile at the large size

const Figure: FC<{ count: number }> = ({ count }) => {
  const text = formatCount(count);
  return <span class={text.length > maxLargeFigureLength ? "figure long" : "figure"}>{text}</span>;
};

const Tiles: FC<{ activity: Activity }> = ({ activity }) => {
  const { comparisons } = activity;
  const { issued, withdrawn } = comparisons;
  const rate = (period: keyof PeriodComparison): string => getPercentFormat().format(withdrawn[period] / issued[period]);
  return (
    <section aria-labelledby="figures">
      <h2 class="visually-hidden" id="figures">
        {overviewMessages.counts}
      </h2>
      <dl class="tiles">
        {comparedMetrics.map((name) => (
          <div class="tile">
            <dt>{overviewMessages.counted[name]}</dt>
            <dd>
              <Figure count={comparisons[name].current} />
              {name === "withdrawn" && issued.current > 0 ? (
                <span class="delta">
                  <span>
                    <FormattedMessage
                      text={issued.previous === 0 ? overviewMessages.ofIssued : overviewMessages.ofIssuedBefore}
                      parts={{ percent: <b>{rate("current")}</b>, ...(issued.previous > 0 && { before: rate("previous") }) }}
                    />
                  </span>
                </span>
              ) : (
                hasEarlierActivity(activity) && <Change {...comparisons[name]} />
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
};

interface AttentionItem {
  readonly icon: IconName;
  readonly tone: "bad" | "caution";
  readonly title: string;
  readonly detail: Child;
  readonly path: string;
  readonly action: string;
}

/** Lists what a member has to do: overdue withdrawals, withdrawals to confirm, and failing endpoints. */
const listAttentionItems = (due: DeadlinePage, endpoints: readonly EndpointState[], now: Instant): readonly AttentionItem[] => {
  const { attention } = overviewMessages;
  const isOverdue = ({ ceaseBy }: DeadlinePage["deadlines"][number]): boolean => ceaseBy < now;
  const overdue = due.deadlines.filter(isOverdue);
  const upcoming = due.deadlines.filter((deadline) => !isOverdue(deadline));
  const [longest, next] = [overdue[0], upcoming[0]];
  const pick = ({ one, many }: { readonly one: string; readonly many: string }, count: number, more = ""): string =>
    count === 1 && more === "" ? one : formatMessage(many, { count: `${formatCount(count)}${more}` });
  const items: AttentionItem[] = [];
  if (longest !== undefined)
    items.push({
      icon: "circle-alert",
      tone: "bad",
      title: pick(attention.overdue, overdue.length, upcoming.length === 0 && due.hasMore ? "+" : ""),
      detail: <FormattedMessage text={attention.overdueSince} parts={{ date: formatDay(language, longest.ceaseBy) }} />,
      path: "/portal/deadlines",
      action: attention.confirm,
    });
  if (next !== undefined)
    items.push({
      icon: "clock-alert",
      tone: "caution",
      title: pick(attention.open, upcoming.length, due.hasMore ? "+" : ""),
      detail: <FormattedMessage text={attention.nextDue} parts={{ date: formatDay(language, next.ceaseBy) }} />,
      path: "/portal/deadlines",
      action: attention.review,
    });
  for (const { endpoint, health } of endpoints) {
    if (endpoint.status !== "enabled" || health === null || health.failingSince === null) continue;
    items.push({
      icon: "webhook",
      tone: "bad",
      title: attention.failing,
      detail: (
        <FormattedMessage
          text={attention.failingSince}
          parts={{
            host: <UrlText text={formatHost(endpoint.url)} />,
            time: <Timestamp at={health.failingSince} />,
            count: formatCount(health.backlog),
          }}
        />
      ),
      path: `/portal/webhooks/${endpoint.id}`,
      action: attention.viewEndpoint,
    });
  }
  return items;
};

const Attention: FC<{ items: readonly AttentionItem[] }> = ({ items }) => {
  const { attention } = overviewMessages;
  return (
    <Card
      id="attention"
      title={attention.title}
      end={
        items.length > 0 && (
          <StatusLabel
            tone="caution"
            icon="bell"
            text={items.length === 1 ? attention.item : formatMessage(attention.items, { count: String(items.length) })}
          />
        )
      }
      isFlush
    >
      <ul class="lines">
        {items.length === 0 && (
          <li>
            <Icon name="circle-check" class="good-i" />
            <div>{attention.none}</div>
          </li>
        )}
        {items.map(({ icon, tone, title, detail, path, action }) => (
          <li>
            <Icon name={icon} class={`${tone}-i`} />
            <div>
              <strong>{title}</strong>
              <small class="quiet">{detail}</small>
            </div>
            <Link class="btn sm" to={path} text={action} label={`${action}: ${title}`} />
          </li>
        ))}
      </ul>
    </Card>
  );
};

const MoreLink: FC<{ path: string; text: string }> = ({ path, text }) => (
  <ArrowLink href={usePortalRequest().pathInMode(path)}>{text}</ArrowLink>
);

const EndpointHealthCard: FC<{ endpoints: readonly EndpointState[] }> = ({ endpoints }) => (
  <Card
    id="endpoints"
    title={overviewMessages.endpointHealth}
    note={overviewMessages.endpointHealthNote}
    end={<MoreLink path="/portal/webhooks" text={overviewMessages.allWebhooks} />}
    isFlush
  >
    <Table
      label={overviewMessages.endpointHealth}
      rows={endpoints}
      emptyMessage={messages.webhooks.empty}
      columns={[
        [
          messages.endpoint,
          ({ endpoint, health }) => (
            <>
              <Link to={`/portal/webhooks/${endpoint.id}`} text={<UrlText text={formatHost(endpoint.url)} />} />
              {health !== null && (
                <small class="quiet">
                  {formatMessage(health.lastResponseStatus === null ? overviewMessages.noResponse : overviewMessages.lastResponse, {
                    status: String(health.lastResponseStatus),
                    count: formatCount(health.backlog),
                  })}
                </small>
              )}
            </>
          ),
        ],
        [messages.state, ({ endpoint, health }) => <EndpointStatusLabel status={endpoint.status} health={health} />, "corner"],
        [overviewMessages.hours, ({ hours }) => <AttemptStrip hours={hours} />, "plain"],
      ]}
    />
  </Card>
);

const NewestEventsCard: FC<Pick<EventList, "events">> = ({ events }) => (
  <Card id="newest" title={overviewMessages.newest} end={<MoreLink path="/portal/events" text={overviewMessages.viewAll} />} isFlush>
    <Table
      label={overviewMessages.newest}
      rows={events}
      emptyMessage={messages.events.empty}
      columns={[
        [
          messages.event,
          ({ event }) => {
            const subject = event.certId ?? event.shareId;
            return (
              <>
                <Link to={`/portal/events/${event.seq}`} text={<UrlText text={event.type} />} />
                {subject !== null && (
                  <small class="quiet">
                    <ShortId id={subject} />
                  </small>
                )}
              </>
            );
          },
        ],
        [messages.events.delivered, ({ deliveries }) => <DeliverySummary deliveries={deliveries} />, "corner"],
        [messages.timeUtc, ({ event }) => <RecentTime at={event.createdAt} withDay />, "plain"],
      ]}
    />
  </Card>
);

export const renderOverview = async (request: PortalRequest): Promise<Response> => {
  const { services, member, environment, now } = request;
  const [{ activity, due }, listed, { events }] = await Promise.all([
    getOverview(services, member, environment),
    listWebhooks(services, member),
    listEvents(services, toReader(request), { before: null, type: null, limit: maxEventsShown }),
  ]);
  const endpoints = listed.filter((endpoint) => endpoint.environment === environment);
  return renderMemberPage(request, {
    tab: "home",
    intro: hasEarlierActivity(activity) ? overviewMessages.intro : overviewMessages.introFirst,
    actions: (
      <>
        <Link class="btn" to="/portal/steps" text={messages.home.title} />
        <Link class="btn" to="/portal/snippet" icon="code-xml" text={overviewMessages.addToForm} />
      </>
    ),
    content: (
      <>
        <Attention items={listAttentionItems(due, endpoints, now)} />
        <Tiles activity={activity} />
        <div class="cols main even">
          <Chart
            definition={charts.certificate_days}
            exportPath="/portal/export"
            heading={overviewMessages.days}
            figures={activity.days}
            nowLabel={overviewMessages.today}
            labels={{ start: overviewMessages.day, up: overviewMessages.issued, down: overviewMessages.withdrawn }}
          />
          <Chart
            definition={charts.duty_months}
            exportPath="/portal/export"
            heading={overviewMessages.months}
            note={overviewMessages.monthsNote}
            figures={activity.months}
            isStacked
            labels={{ start: overviewMessages.month, up: overviewMessages.onTime, down: overviewMessages.late }}
          />
        </div>
        <div class="cols two">
          <NewestEventsCard events={events} />
          <EndpointHealthCard endpoints={endpoints} />
        </div>
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
