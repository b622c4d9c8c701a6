// Components for the pages about endpoints, deliveries and events: statuses, short times and the chart of the last 48 hours.
import type { Child, FC } from "hono/jsx";
import { cutText } from "../../../core/cut-text.ts";
import { optInEventTypes } from "../../../core/events/event.ts";
import { once } from "../../../core/once.ts";
import { toIso, type Instant } from "../../../core/time.ts";
import type { Delivery, DeliveryError, DeliveryStatus, EndpointHealth, EndpointStatus } from "../../../core/webhooks/endpoint.ts";
import { toHourlyFigures, type HourlyAttempts } from "../../../core/webhooks/hourly-attempts.ts";
import type { EventDelivery } from "../../operations/portal/event-deliveries.ts";
import type { BusinessAccount } from "../../../storage/business-profiles.ts";
import { locales } from "../../../core/language.ts";
import { FormattedMessage, JoinedList, Notice, formatMessage } from "../shared/components.tsx";
import { Link, StatusLabel, formatCount, language, messages, usePortalRequest, type Tone } from "./components.tsx";

const webhookMessages = messages.webhooks;
const locale = locales[language];

const getTimeFormats = once(() => ({
  minutes: new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "UTC" }),
  seconds: new Intl.DateTimeFormat(locale, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZone: "UTC",
  }),
  day: new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", timeZone: "UTC" }),
}));

interface RecentTimeProps {
  readonly at: Instant;
  readonly precision?: "minutes" | "seconds";
  /** Shows the day even for a time today. */
  readonly withDay?: boolean;
  /** Text after the time, such as the time zone if no heading shows it. */
  readonly suffix?: string;
}

/** Shows a time, for example "22:51:08" if it is today and "25 Nov, 22:51:08" otherwise. */
export const RecentTime: FC<RecentTimeProps> = ({ at, precision = "seconds", withDay = false, suffix = "" }) => {
  const formats = getTimeFormats();
  const time = formats[precision].format(at);
  const isToday = toIso(at).slice(0, 10) === toIso(usePortalRequest().now).slice(0, 10);
  return <time datetime={toIso(at)}>{`${isToday && !withDay ? time : `${formats.day.format(at)}, ${time}`}${suffix}`}</time>;
};

const maxEndpointNameLength = 80; // fits in three lines of a heading on a phone

/** Returns an endpoint's URL without the scheme, which headings use as its name. A long name is cut off. */
export const formatEndpointName = (url: string): string => {
  const name = url.replace(/^https?:\/\//, "");
  return name.length <= maxEndpointNameLength ? name : `${cutText(name, maxEndpointNameLength)}…`;
};

export const formatHost = (url: string): string => new URL(url).host;

export const EndpointStatusLabel: FC<{ status: EndpointStatus; health: EndpointHealth | null }> = ({ status, health }) => {
  const { health: names } = webhookMessages;
  if (status === "disabled") return <StatusLabel tone="plain" icon="power" text={names.disabled} />;
  if (health === null) return <StatusLabel tone="plain" text={names.unknown} />;
  return health.failingSince === null ? <StatusLabel tone="good" text={names.healthy} /> : <StatusLabel tone="bad" text={names.failing} />;
};

export const formatEventTypes = (events: readonly string[] | null): string =>
  events === null
    ? webhookMessages.allEvents
    : events.length === 1
      ? webhookMessages.oneEvent
      : formatMessage(webhookMessages.someEvents, { count: String(events.length) });

export const formatWaiting = (count: number): string =>
  count === 0
    ? webhookMessages.noneWaiting
    : count === 1
      ? webhookMessages.oneWaiting
      : formatMessage(webhookMessages.someWaiting, { count: formatCount(count) });

const hoursPerBar = 2;
const barHeights = { a: 16, b: 24, o: 5 } as const;
const stripHeight = 24;

/**
 * Shows the attempts of the last 48 hours, two hours per bar. A bar with a failure is taller, so that it does not differ by color alone.
 */
export const AttemptStrip: FC<{ hours: readonly HourlyAttempts[] | null }> = ({ hours }) => {
  const { strip } = webhookMessages;
  const figures = toHourlyFigures(hours ?? [], usePortalRequest().now);
  const bars = Array.from({ length: figures.length / hoursPerBar }, (_, at) => {
    const part = figures.slice(at * hoursPerBar, (at + 1) * hoursPerBar);
    return part.some(({ down }) => down > 0) ? "b" : part.some(({ up }) => up > 0) ? "a" : "o";
  });
  const failed = figures.reduce((sum, { down }) => sum + down, 0);
  const total = figures.reduce((sum, { up, down }) => sum + up + down, 0);
  const label =
    hours === null
      ? strip.unknown
      : total === 0
        ? strip.none
        : failed === 0
          ? strip.delivered
          : formatMessage(strip.failed, { failed: formatCount(failed), total: formatCount(total) });
  return (
    <svg class="strip" role="img" viewBox={`0 0 ${bars.length * 4} ${stripHeight}`} preserveAspectRatio="none">
      <title>{label}</title>
      {bars.map((kind, at) => (
        <rect class={kind} x={at * 4 + 0.5} y={stripHeight - barHeights[kind]} width={3} height={barHeights[kind]} />
      ))}
    </svg>
  );
};

const deliveryTones: Readonly<Record<DeliveryStatus, Tone>> = { success: "good", pending: "plain", retrying: "caution", abandoned: "bad" };

export const DeliveryStatusLabel: FC<{ delivery: Pick<Delivery, "status"> }> = ({ delivery: { status } }) => (
  <StatusLabel
    tone={deliveryTones[status]}
    text={webhookMessages.states[status]}
    {...(status === "pending" && { icon: "circle-dashed" as const })}
  />
);

interface DeliveryResponse {
  readonly responseStatus: number | null;
  readonly error: DeliveryError | null;
}

/** Returns the HTTP status, for example "503", or why there was no response. Returns null before the first attempt. */
export const formatDeliveryResponse = ({ responseStatus, error }: DeliveryResponse): string | null =>
  responseStatus !== null ? String(responseStatus) : error === null ? null : webhookMessages.errors[error];

export const ResponseText: FC<{ response: DeliveryResponse }> = ({ response }) =>
  response.responseStatus === null ? (
    (formatDeliveryResponse(response) ?? webhookMessages.noResponseYet)
  ) : (
    <code>{response.responseStatus}</code>
  );

/** Describes what happens next with a delivery, or how it ended. */
export const DeliveryStep: FC<{ delivery: Delivery }> = ({ delivery: { status, nextAttemptAt, durationMs, error } }) => {
  const { steps } = webhookMessages;
  if (status === "retrying" && nextAttemptAt !== null)
    return <FormattedMessage text={steps.retrying} parts={{ time: <RecentTime at={nextAttemptAt} /> }} />;
  if (status === "success") return <>{formatMessage(steps.success, { ms: formatCount(durationMs ?? 0) })}</>;
  if (status === "abandoned") return <>{error === null ? steps.canceled : steps.abandoned}</>;
  return <>{status === "retrying" ? steps.resending : steps.pending}</>;
};

/** Lists the names of the opt-in event types in a sentence. */
export const OptInEventTypes: FC<{ join: string }> = ({ join }) => (
  <JoinedList items={optInEventTypes.map((type) => <code>{type}</code>) as readonly Child[]} separator={join} />
);

/** Warns that selected event types are turned off in the settings, because the endpoint would never receive them. */
export const OptInEventsNotice: FC<{ account: BusinessAccount; types: readonly string[] | null }> = ({ account, types }) => {
  const selectsOptIn = optInEventTypes.some((type) => types?.includes(type));
  return account.emitsIssued || !selectsOptIn ? null : (
    <Notice icon="info" title={formatMessage(webhookMessages.off.title, { count: String(optInEventTypes.length) })}>
      <p>
        <FormattedMessage
          text={webhookMessages.off.text}
          parts={{
            types: <OptInEventTypes join=" and " />,
            settings: <Link to="/portal/settings" text={messages.tabs.settings} />,
          }}
        />
      </p>
    </Notice>
  );
};

/**
 * Summarizes an event's deliveries to all endpoints in one line. `isInColumn` is true in a "Delivered" column, where the heading already
 * says what is counted.
 */
export const DeliverySummary: FC<{ deliveries: readonly EventDelivery[]; isInColumn?: boolean }> = ({ deliveries, isInColumn = true }) => {
  if (deliveries.length === 0) return <StatusLabel tone="plain" text={messages.events.noEndpoint} />;
  const count = (status: string): number => deliveries.filter(({ delivery }) => delivery.status === status).length;
  const failing = count("retrying") + count("abandoned");
  const text = formatMessage(isInColumn ? messages.events.reached : messages.events.reachedAll, {
    done: formatCount(count("success")),
    all: formatCount(deliveries.length),
  });
  if (failing > 0)
    return <StatusLabel tone="bad" text={`${text}, ${formatMessage(messages.events.failing, { count: formatCount(failing) })}`} />;
  return <StatusLabel tone={count("pending") > 0 ? "caution" : "good"} text={text} />;
};
