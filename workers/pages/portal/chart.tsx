// A chart of two counts, one up and one down from a line that is zero. Drawn here, of rectangles and classes alone; what it shows
// stands beside it in words and behind it as a table.
import type { FC } from "hono/jsx";
import type { WebhookId } from "../../../core/ids.ts";
import { isoOf } from "../../../core/time.ts";
import { enterExport, type Exported } from "../../operations/portal/export.ts";
import type { Figures } from "../../operations/portal/overview.ts";
import { catalogues } from "../shared/language.ts";
import { filled } from "../shared/parts.tsx";
import { csvAnswer } from "./csv.ts";
import { language, number, Press, Section, Table, words } from "./parts.tsx";
import type { Posted } from "./visit.ts";

const said = words.chart;
const height = 100;
const step = 10;
const gap = 1;

const Bars: FC<{ id: string; title: string; figures: readonly Figures[]; most: Readonly<Record<"up" | "down", number>> }> = ({
  id,
  title,
  figures,
  most,
}) => {
  const scale = height / Math.max(1, most.up + most.down);
  const zero = most.up + most.down === 0 ? height / 2 : most.up * scale;
  return (
    <svg class="bars" viewBox={`0 0 ${figures.length * step} ${height}`} preserveAspectRatio="none" role="img" aria-labelledby={id}>
      <title id={id}>{title}</title>
      {figures.map(({ up, down }, at) => (
        <>
          {up > 0 && <rect class="up" x={at * step + gap} width={step - 2 * gap} y={zero - up * scale} height={up * scale} />}
          {down > 0 && <rect class="down" x={at * step + gap} width={step - 2 * gap} y={zero} height={down * scale} />}
        </>
      ))}
      <line class="zero" x1="0" x2={figures.length * step} y1={zero} y2={zero} />
    </svg>
  );
};

/** How the beginning of a figure is told: to people, and in an ISO time as long as says it. */
const units = {
  hour: {
    shown: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" },
    iso: "2026-11-23T09:00:00.000Z",
  },
  day: { shown: { day: "numeric", month: "short", year: "numeric" }, iso: "2026-11-23" },
  month: { shown: { month: "long", year: "numeric" }, iso: "2026-11" },
} as const satisfies Readonly<Record<string, { readonly shown: Intl.DateTimeFormatOptions; readonly iso: string }>>;

/** What a chart is in its page, in the form that exports it and in the file. */
export interface ChartFile {
  readonly name: Exclude<Exported["list"], "certificates">;
  readonly unit: keyof typeof units;
  readonly head: readonly [start: string, up: string, down: string];
}

export const totalOf = (figures: readonly Figures[], side: "up" | "down"): number => figures.reduce((sum, one) => sum + one[side], 0);

const startOf = (unit: ChartFile["unit"], { start }: Figures): string => isoOf(start).slice(0, units[unit].iso.length);

interface Told {
  readonly file: ChartFile;
  /** Where the form that exports it is sent; null where there is none. */
  readonly exports: string | null;
  readonly heading: string;
  /** What it shows, in a sentence. */
  readonly trend: string;
  readonly figures: readonly Figures[];
  readonly labels: { readonly start: string; readonly up: string; readonly down: string };
}

export const Chart: FC<Told> = ({ file: { name, unit }, exports, heading, trend, figures, labels }) => {
  const date = new Intl.DateTimeFormat(catalogues[language].locale, { ...units[unit].shown, timeZone: "UTC" });
  const most = { up: Math.max(...figures.map(({ up }) => up)), down: Math.max(...figures.map(({ down }) => down)) };
  const [first, last] = [figures[0], figures.at(-1)];
  const start = (one: Figures) => <time datetime={startOf(unit, one)}>{date.format(one.start)}</time>;
  return (
    <Section id={name} title={heading}>
      <figure class="chart">
        <figcaption>{trend}</figcaption>
        <p class="quiet">{filled(said.most, { up: labels.up, down: labels.down, highest: number(most.up), lowest: number(most.down) })}</p>
        <Bars id={`${name}-trend`} title={trend} figures={figures} most={most} />
        <p class="ends quiet">
          {first !== undefined && start(first)}
          {last !== undefined && start(last)}
        </p>
      </figure>
      <details>
        <summary>{said.table}</summary>
        <Table
          label={heading}
          rows={figures}
          columns={[
            [labels.start, start],
            [labels.up, ({ up }) => number(up)],
            [labels.down, ({ down }) => number(down)],
          ]}
        />
      </details>
      {exports !== null && <Press action={exports} label={said.csv} of={heading} values={{ chart: name }} />}
    </Section>
  );
};

/** Exactly the figures that are shown, as a file; its taking is entered before. */
export const exportChart = async (
  { c, services, member, environment }: Posted,
  { name, unit, head }: ChartFile,
  figures: readonly Figures[],
  endpoint: WebhookId | null = null,
): Promise<Response> => {
  await enterExport(services, member, { list: name, environment, rows: figures.length }, endpoint);
  const rows = figures.map((one) => [startOf(unit, one), String(one.up), String(one.down)]);
  return csvAnswer(c, name, head, rows);
};
