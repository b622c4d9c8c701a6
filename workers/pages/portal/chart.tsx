// A chart of two counts, one up and one down from a line that is zero. Drawn here, of rectangles and classes alone; what it shows
// stands beside it in words and behind it as a table.
import type { FC } from "hono/jsx";
import type { WebhookId } from "../../../core/ids.ts";
import { toIso } from "../../../core/time.ts";
import { recordExport, type ListExport } from "../../operations/portal/record-export.ts";
import type { ChartPoint } from "../../../core/accounts/activity.ts";
import { languageInfo } from "../shared/language.ts";
import { formatMessage } from "../shared/components.tsx";
import { csvResponse } from "./csv.ts";
import { language, formatCount, ActionButton, Section, Table, messages } from "./components.tsx";
import type { PortalFormRequest } from "./portal-request.ts";

const chartMessages = messages.chart;
const chartHeight = 100;
const barStep = 10;
const barGap = 1;

const BarChart: FC<{ id: string; title: string; figures: readonly ChartPoint[]; most: Readonly<Record<"up" | "down", number>> }> = ({
  id,
  title,
  figures,
  most,
}) => {
  const scale = chartHeight / Math.max(1, most.up + most.down);
  const zero = most.up + most.down === 0 ? chartHeight / 2 : most.up * scale;
  return (
    <svg class="bars" viewBox={`0 0 ${figures.length * barStep} ${chartHeight}`} preserveAspectRatio="none" role="img" aria-labelledby={id}>
      <title id={id}>{title}</title>
      {figures.map(({ up, down }, at) => (
        <>
          {up > 0 && <rect class="up" x={at * barStep + barGap} width={barStep - 2 * barGap} y={zero - up * scale} height={up * scale} />}
          {down > 0 && <rect class="down" x={at * barStep + barGap} width={barStep - 2 * barGap} y={zero} height={down * scale} />}
        </>
      ))}
      <line class="zero" x1="0" x2={figures.length * barStep} y1={zero} y2={zero} />
    </svg>
  );
};

/** How the beginning of a figure is told: to people, and in an ISO time as long as says it. */
const timeUnits = {
  hour: {
    shown: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" },
    iso: "2026-11-23T09:00:00.000Z",
  },
  day: { shown: { day: "numeric", month: "short", year: "numeric" }, iso: "2026-11-23" },
  month: { shown: { month: "long", year: "numeric" }, iso: "2026-11" },
} as const satisfies Readonly<Record<string, { readonly shown: Intl.DateTimeFormatOptions; readonly iso: string }>>;

/** What a chart is in its page, in the form that exports it and in the file. */
export interface ChartDefinition {
  readonly name: Exclude<ListExport["list"], "certificates">;
  readonly unit: keyof typeof timeUnits;
  readonly csvHeader: readonly [start: string, up: string, down: string];
}

export const sumFigures = (figures: readonly ChartPoint[], side: "up" | "down"): number => figures.reduce((sum, one) => sum + one[side], 0);

const formatStart = (unit: ChartDefinition["unit"], { start }: ChartPoint): string => toIso(start).slice(0, timeUnits[unit].iso.length);

interface ChartProps {
  readonly definition: ChartDefinition;
  /** Where the form that exports it is sent; null where there is none. */
  readonly exportPath: string | null;
  readonly heading: string;
  /** What it shows, in a sentence. */
  readonly trend: string;
  readonly figures: readonly ChartPoint[];
  readonly labels: { readonly start: string; readonly up: string; readonly down: string };
}

export const Chart: FC<ChartProps> = ({ definition: { name, unit }, exportPath, heading, trend, figures, labels }) => {
  const date = new Intl.DateTimeFormat(languageInfo[language].locale, { ...timeUnits[unit].shown, timeZone: "UTC" });
  const most = { up: Math.max(...figures.map(({ up }) => up)), down: Math.max(...figures.map(({ down }) => down)) };
  const [first, last] = [figures[0], figures.at(-1)];
  const start = (one: ChartPoint) => <time datetime={formatStart(unit, one)}>{date.format(one.start)}</time>;
  return (
    <Section id={name} title={heading}>
      <figure class="chart">
        <figcaption>{trend}</figcaption>
        <p class="quiet">
          {formatMessage(chartMessages.most, {
            up: labels.up,
            down: labels.down,
            highest: formatCount(most.up),
            lowest: formatCount(most.down),
          })}
        </p>
        <BarChart id={`${name}-trend`} title={trend} figures={figures} most={most} />
        <p class="ends quiet">
          {first !== undefined && start(first)}
          {last !== undefined && start(last)}
        </p>
      </figure>
      <details>
        <summary>{chartMessages.table}</summary>
        <Table
          label={heading}
          rows={figures}
          columns={[
            [labels.start, start],
            [labels.up, ({ up }) => formatCount(up)],
            [labels.down, ({ down }) => formatCount(down)],
          ]}
        />
      </details>
      {exportPath !== null && <ActionButton action={exportPath} label={chartMessages.csv} of={heading} hiddenValues={{ chart: name }} />}
    </Section>
  );
};

/** Exactly the figures that are shown, as a file; its taking is entered before. */
export const exportChart = async (
  { c, services, member, environment }: PortalFormRequest,
  { name, unit, csvHeader }: ChartDefinition,
  figures: readonly ChartPoint[],
  endpoint: WebhookId | null = null,
): Promise<Response> => {
  await recordExport(services, member, { list: name, environment, rows: figures.length }, endpoint);
  const rows = figures.map((one) => [formatStart(unit, one), String(one.up), String(one.down)]);
  return csvResponse(c, name, csvHeader, rows);
};
