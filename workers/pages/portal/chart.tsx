// Bar charts of two counts per period, and a table with the same figures. The SVG is styled with classes, because the content security
// policy forbids inline styles.
import type { FC } from "hono/jsx";
import type { WebhookId } from "../../../core/ids.ts";
import { toIso } from "../../../core/time.ts";
import { recordExport, type ListExport } from "../../operations/portal/record-export.ts";
import type { ChartPoint } from "../../../core/accounts/activity.ts";
import { capitalize, locales } from "../../../core/language.ts";
import { Icon } from "../shared/components.tsx";
import { Table } from "../shared/signed-in-components.tsx";
import { csvResponse } from "./csv.ts";
import { language, formatCount, ActionButton, Card, messages } from "./components.tsx";
import type { PortalFormRequest } from "./portal-request.ts";

const chartMessages = messages.chart;
const chartHeight = 100;
const barStep = 10;
const barWidth = 7;
const barOffset = 1.5;

/** Returns the labels of a vertical axis: whole numbers from 0 to at least `highest`, in at most `maxSteps` even steps. */
const axisLabels = (highest: number, maxSteps: 2 | 4): readonly number[] => {
  if (highest <= 2) return [0, 1, 2];
  const magnitude = 10 ** Math.floor(Math.log10(highest / 3));
  const step = [1, 2, 5, 10, 20].map((factor) => Math.max(1, factor * magnitude)).find((size) => size * maxSteps >= highest) ?? highest;
  return Array.from({ length: Math.ceil(highest / step) + 1 }, (_, line) => line * step);
};

type Side = "up" | "down";

interface PlotProps {
  readonly label: string;
  readonly figures: readonly ChartPoint[];
  /** The counts to draw for each period. If there are two, their bars are stacked. */
  readonly sides: readonly Side[];
  readonly describe: (point: ChartPoint, side: Side) => string;
  readonly isLow?: boolean;
  /** One label per bar, shown below it. Most are empty. */
  readonly axis?: readonly string[];
}

const barClasses = { up: "a", down: "b" } as const;

/**
 * Draws the bars in an SVG element that stretches, and the labels in HTML so that they do not stretch. The last bar is hollow, because its
 * period is not over.
 */
const Plot: FC<PlotProps> = ({ label, figures, sides, describe, isLow = false, axis }) => {
  const total = (point: ChartPoint): number => sides.reduce((sum, side) => sum + point[side], 0);
  const lines = axisLabels(Math.max(...figures.map(total)), isLow ? 2 : 4);
  const scale = chartHeight / (lines.at(-1) ?? 1);
  const width = figures.length * barStep;
  return (
    <div class={isLow ? "plot low" : "plot"}>
      <div class="y" aria-hidden="true">
        {lines.toReversed().map((line) => (
          <span>{formatCount(line)}</span>
        ))}
      </div>
      <svg role="img" aria-label={label} viewBox={`0 0 ${width} ${chartHeight}`} preserveAspectRatio="none">
        {lines.toReversed().map((line) => (
          <line class={line === 0 ? "zero" : undefined} x1={0} x2={width} y1={chartHeight - line * scale} y2={chartHeight - line * scale} />
        ))}
        {figures.flatMap((point, at) => {
          let base = chartHeight;
          return sides.map((side) => {
            const height = point[side] * scale;
            base -= height;
            return height === 0 ? null : (
              <rect
                class={at === figures.length - 1 ? `${barClasses[side]} open` : barClasses[side]}
                x={at * barStep + barOffset}
                y={Number(base.toFixed(1))}
                width={barWidth}
                height={Number(height.toFixed(1))}
              >
                <title>{describe(point, side)}</title>
              </rect>
            );
          });
        })}
      </svg>
      {axis !== undefined && (
        <div class="x" aria-hidden="true">
          {axis.map((text, at) => (
            <span class={at > 0 && at < axis.length - 1 && text !== "" ? (text.length > 9 ? "w long" : "w") : undefined}>
              {text !== "" && <b>{text}</b>}
            </span>
          ))}
        </div>
      )}
    </div>
  );
};

/**
 * How to format the start of a period: `shown` in the table, and `axis` below the chart. In the export and in `datetime`, the ISO time is
 * cut to the length of `iso`.
 */
const timeUnits = {
  hour: {
    shown: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" },
    axis: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
    iso: "2026-11-23T09:00:00.000Z",
  },
  day: { shown: { day: "numeric", month: "short", year: "numeric" }, axis: { day: "numeric", month: "short" }, iso: "2026-11-23" },
  month: { shown: { month: "long", year: "numeric" }, axis: { month: "short", year: "numeric" }, iso: "2026-11" },
} as const satisfies Readonly<
  Record<string, { readonly shown: Intl.DateTimeFormatOptions; readonly axis: Intl.DateTimeFormatOptions; readonly iso: string }>
>;

/** The name, time unit and CSV header of a chart. Both the chart's page and its export use them. */
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
  readonly note?: string;
  readonly figures: readonly ChartPoint[];
  /** `up` and `down` are shown after a count, as in "12 withdrawn". */
  readonly labels: { readonly start: string; readonly up: string; readonly down: string };
  /** True if one plot shows both counts. Otherwise, each count has its own plot. */
  readonly isStacked?: boolean;
  readonly nowLabel?: string;
}

/**
 * Chooses the labels of the axis: the first, the last, and about three in between. A chart of twelve months has room for only one in
 * between.
 */
const buildAxis = (texts: readonly string[], nowLabel: string | undefined): readonly string[] => {
  const every = Math.ceil(texts.length / (texts.length > 12 ? 4 : 2));
  const last = texts.length - 1;
  return texts.map((text, at) => (at === last ? (nowLabel ?? text) : at % every === 0 && last - at >= every / 2 ? text : ""));
};

/** Renders a card with bars, their totals, and the same figures as a table and as CSV. */
export const Chart: FC<ChartProps> = ({
  definition: { name, unit },
  exportPath,
  heading,
  note,
  figures,
  labels,
  isStacked = false,
  nowLabel,
}) => {
  const locale = locales[language];
  const date = new Intl.DateTimeFormat(locale, { ...timeUnits[unit].shown, timeZone: "UTC" });
  const axisDate = new Intl.DateTimeFormat(locale, { ...timeUnits[unit].axis, timeZone: "UTC" });
  const axis = buildAxis(
    figures.map((point) => axisDate.format(point.start)),
    nowLabel,
  );
  const describe = (point: ChartPoint, side: Side): string =>
    `${axisDate.format(point.start)}: ${formatCount(point[side])} ${labels[side]}`;
  const totals = { up: sumFigures(figures, "up"), down: sumFigures(figures, "down") };
  const summarize = (side: Side): string => `${heading}: ${formatCount(totals[side])} ${labels[side]}`;
  const series = (side: Side) => (
    <p class={side === "up" ? "series" : "series b"}>
      <strong>{formatCount(totals[side])}</strong> {labels[side]}
    </p>
  );
  const start = (point: ChartPoint) => <time datetime={formatStart(unit, point)}>{date.format(point.start)}</time>;
  return (
    <Card
      id={name}
      title={heading}
      note={note}
      footer={
        <>
          <details class="more">
            <summary>
              <Icon name="chevron-right" />
              {chartMessages.table}
            </summary>
            <Table
              label={heading}
              rows={figures}
              columns={[
                [labels.start, start],
                [capitalize(language, labels.up), ({ up }) => formatCount(up), "number"],
                [capitalize(language, labels.down), ({ down }) => formatCount(down), "number"],
              ]}
            />
          </details>
          {exportPath !== null && (
            <ActionButton action={exportPath} label={chartMessages.csv} icon="download" target={heading} hiddenValues={{ chart: name }} />
          )}
        </>
      }
    >
      {isStacked ? (
        <div class="plots">
          {series("up")}
          {series("down")}
          <Plot
            label={`${summarize("up")}, ${formatCount(totals.down)} ${labels.down}`}
            figures={figures}
            sides={["up", "down"]}
            describe={describe}
            axis={axis}
          />
        </div>
      ) : (
        <div class="plots">
          {series("up")}
          <Plot label={summarize("up")} figures={figures} sides={["up"]} describe={describe} />
          {series("down")}
          <Plot label={summarize("down")} figures={figures} sides={["down"]} describe={describe} axis={axis} isLow />
        </div>
      )}
    </Card>
  );
};

/** Records the export in the audit log, then sends the figures of a chart as CSV. */
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
