// A chart of two counts, one up and one down from a line that is zero. Drawn here, of rectangles and classes alone; what it shows
// stands beside it in words and behind it as a table.
import type { Child, FC } from "hono/jsx";
import { isoOf } from "../../../core/time.ts";
import type { Figures } from "../../operations/portal/overview.ts";
import { filled, numberText } from "../parts.tsx";
import { Press, Table, type PortalView } from "./parts.tsx";

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

interface Told {
  readonly view: PortalView;
  /** Names the chart in the page and in the form that exports it. */
  readonly name: string;
  readonly heading: string;
  /** What it shows, in a sentence. */
  readonly trend: string;
  readonly figures: readonly Figures[];
  readonly labels: { readonly start: string; readonly up: string; readonly down: string };
  readonly startText: (figures: Figures) => string;
  readonly children?: Child;
}

export const Chart: FC<Told> = ({ view, name, heading, trend, figures, labels, startText, children }) => {
  const { words, setting } = view;
  const { chart: said } = words;
  const number = (value: number): string => numberText(value, setting.language);
  const most = { up: Math.max(...figures.map(({ up }) => up)), down: Math.max(...figures.map(({ down }) => down)) };
  const [first, last] = [figures[0], figures.at(-1)];
  const start = (one: Figures) => <time datetime={isoOf(one.start).slice(0, 10)}>{startText(one)}</time>;
  return (
    <section aria-labelledby={name}>
      <h2 id={name}>{heading}</h2>
      {children}
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
            { head: labels.start, cell: start },
            { head: labels.up, cell: ({ up }) => number(up) },
            { head: labels.down, cell: ({ down }) => number(down) },
          ]}
        />
      </details>
      <Press view={view} action="/portal/export" label={said.csv} of={heading} values={{ chart: name }} />
    </section>
  );
};
