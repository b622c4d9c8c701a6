// A bar chart of two counts, one above and one below the zero line. It is an SVG styled only with classes, because the content security
// policy forbids inline styles. A sentence and a table state the same figures.
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

const BarChart: FC<{ id: string; title: string; figures: readonly ChartPoint[]; highest: Readonly<Record<"up" | "down", number>> }> = ({
  id,
  title,
  figures,
  highest,
}) => {
  const scale = chartHeight / Math.max(1, highest.up + highest.down);
  const zero = highest.up + highest.down === 0 ? chartHeight / 2 : highest.up * scale;
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

/** Two formats for the start of a period: one for readers, and an ISO time truncated to the length of the example. */
const timeUnits = {
  hour: {
    shown: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" },
    iso: "2026-11-23T09:00:00.000Z",
  },
  day: { shown: { day: "numeric", month: "short", year: "numeric" }, iso: "2026-11-23" },
  month: { shown: { month: "long", year: "numeric" }, iso: "2026-11" },
} as const satisfies Readonly<Record<string, { readonly shown: Intl.DateTimeFormatOptions; readonly iso: string }>>;

/** Identifies a chart on its page, in its export form and in the exported file. */
export interface ChartDefinition {
  readonly name: Exclude<ListExport["list"], "certificates">;
  readonly unit: keyof typeof timeUnits;
  readonly csvHeader: readonly [start: string, up: string, down: string];
}

export const sumFigures = (figures: readonly ChartPoint[], side: "up" | "down"): number =>
  figures.reduce((sum, point) => sum + point[side], 0);

const formatStart = (unit: ChartDefinition["unit"], { start }: ChartPoint): string => toIso(start).slice(0, timeUnits[unit].iso.length);

interface ChartProps {
  readonly definition: ChartDefinition;
  /** The path of the export form; null if the chart cannot be exported. */
  readonly exportPath: string | null;
  readonly heading: string;
  /** A sentence that states the figures. */
  readonly trend: string;
  readonly figures: readonly ChartPoint[];
  readonly labels: { readonly start: string; readonly up: string; readonly down: string };
}

export const Chart: FC<ChartProps> = ({ definition: { name, unit }, exportPath, heading, trend, figures, labels }) => {
  const date = new Intl.DateTimeFormat(languageInfo[language].locale, { ...timeUnits[unit].shown, timeZone: "UTC" });
  const highest = { up: Math.max(...figures.map(({ up }) => up)), down: Math.max(...figures.map(({ down }) => down)) };
  const [first, last] = [figures[0], figures.at(-1)];
  const start = (point: ChartPoint) => <time datetime={formatStart(unit, point)}>{date.format(point.start)}</time>;
  return (
    <Section id={name} title={heading}>
      <figure class="chart">
        <figcaption>{trend}</figcaption>
        <p class="quiet">
          {formatMessage(chartMessages.most, {
            up: labels.up,
            down: labels.down,
            highest: formatCount(highest.up),
            lowest: formatCount(highest.down),
          })}
        </p>
        <BarChart id={`${name}-trend`} title={trend} figures={figures} highest={highest} />
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

/** Sends the figures of a chart as CSV, after the export is recorded in the audit log. */
export const exportChart = async (
  { c, services, member, environment }: PortalFormRequest,
  { name, unit, csvHeader }: ChartDefinition,
  figures: readonly ChartPoint[],
  endpoint: WebhookId | null = null,
): Promise<Response> => {
  await recordExport(services, member, { list: name, environment, rows: figures.length }, endpoint);
  const rows = figures.map((point) => [formatStart(unit, point), String(point.up), String(point.down)]);
  return csvResponse(c, name, csvHeader, rows);
};
