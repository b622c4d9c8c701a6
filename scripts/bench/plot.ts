// Draws the graphs of docs/reference/benchmarks.md. Each graph is drawn from one table on that page, so that it shows only measured values.

interface Graph {
  readonly name: string;
  /** The heading of the section. The graph shows the section's first table. */
  readonly section: string;
  readonly title: string;
  readonly unit: string;
  /** The table columns drawn as bars, with their names in the legend. */
  readonly bars: readonly { readonly column: string; readonly legend: string }[];
}

const graphs: readonly Graph[] = [
  {
    name: "bench-requests",
    section: "Requests",
    title: "Requests per second next to bare floors of the same runtime",
    unit: "req/s",
    bars: [{ column: "req/s", legend: "requests per second" }],
  },
  {
    name: "bench-growth",
    section: "Growth",
    title: "Runtime CPU per request as one business's certificates grow",
    unit: "ms",
    bars: [
      { column: "1,000", legend: "1,000" },
      { column: "100,000", legend: "100,000" },
      { column: "1,000,000", legend: "1,000,000 certificates" },
    ],
  },
];

const parseCells = (line: string): string[] =>
  line
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim());

/** Parses a section's first table into headers and rows. */
const parseTable = (document: string, section: string): { readonly heads: string[]; readonly rows: string[][] } => {
  const text = document.split(/^## /m).find((part) => part.startsWith(section)) ?? "";
  const [heads, , ...rows] = text.split("\n").filter((line) => line.startsWith("|"));
  if (heads === undefined) throw new Error(`docs/reference/benchmarks.md: no table under ${section}`);
  const width = parseCells(heads).length;
  const end = rows.findIndex((row) => /^\|[-| ]+\|$/.test(row)); // the separator line of a second table in the same section
  return {
    heads: parseCells(heads),
    rows: (end === -1 ? rows : rows.slice(0, end - 1)).map(parseCells).filter((row) => row.length === width),
  };
};

interface Row {
  readonly label: string;
  /** The values as text, exactly as the table contains them. */
  readonly values: readonly string[];
}

const parseRows = (document: string, { section, bars }: Graph): Row[] => {
  const { heads, rows } = parseTable(document, section);
  const columns = bars.map(({ column }) => heads.indexOf(column));
  return rows.map((row) => ({ label: row[0] ?? "", values: columns.map((column) => row[column] ?? "") }));
};

const parseFigure = (text: string): number => {
  const value = Number(text.replaceAll(",", ""));
  if (text === "" || !Number.isFinite(value)) throw new Error(`docs/reference/benchmarks.md: ${text} is not a number`);
  return value;
};

const escapeXml = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const width = 860;
const labelEnd = 300;
const plotEnd = width - 90; // leaves room for the value next to the longest bar
const barHeight = 16;
const rowGap = 14;
const top = 64;

/** Returns the shade of a bar. In a graph with one bar per row, baselines ("floor") are lighter than measurements. */
const pickShade = (row: Row, at: number, graph: Graph): string =>
  graph.bars.length === 1 ? (row.label.startsWith("floor") ? "a" : "c") : ("abc"[at + 3 - graph.bars.length] as string);

const drawGraph = (graph: Graph, rows: readonly Row[]): string => {
  const largest = Math.max(...rows.flatMap(({ values }) => values.map(parseFigure)));
  const rowHeight = graph.bars.length * barHeight + rowGap;
  const legend = graph.bars.length === 1 ? [] : graph.bars;
  const bars = rows.flatMap((row, at) => {
    const y = top + at * rowHeight;
    return [
      `<text x="${labelEnd - 10}" y="${y + (graph.bars.length * barHeight) / 2 + 5}" text-anchor="end">${escapeXml(row.label)}</text>`,
      ...row.values.map((value, bar) => {
        const length = Math.max(1, Math.round(((plotEnd - labelEnd) * parseFigure(value)) / largest));
        const y1 = y + bar * barHeight;
        return `<rect class="${pickShade(row, bar, graph)}" x="${labelEnd}" y="${y1}" width="${length}" height="${barHeight - 2}"/><text class="small" x="${labelEnd + length + 6}" y="${y1 + 12}">${value} ${graph.unit}</text>`;
      }),
    ];
  });
  const height = top + rows.length * rowHeight;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="t d" font-family="system-ui, sans-serif" font-size="14">
  <title id="t">${escapeXml(graph.title)}</title>
  <desc id="d">${escapeXml(rows.map(({ label, values }) => `${label}: ${values.map((value, at) => `${graph.bars.length === 1 ? "" : `${graph.bars[at]?.legend} `}${value} ${graph.unit}`).join(", ")}`).join("; "))}.</desc>
  <style>
    text { fill: #111827 } .small { font-size: 12px; fill: #4b5563 } .head { font-weight: 600 } .axis { stroke: #6b7280 }
    .paper { fill: #ffffff } .a { fill: #9ca3af } .b { fill: #60a5fa } .c { fill: #1d4ed8 }
    @media (prefers-color-scheme: dark) { .paper { fill: #111827 } text { fill: #e5e7eb } .small { fill: #9ca3af } .axis { stroke: #9ca3af } .a { fill: #6b7280 } .b { fill: #3b82f6 } .c { fill: #93c5fd } }
  </style>
  <rect class="paper" width="${width}" height="${height}"/>
  <text class="head" x="10" y="24">${escapeXml(graph.title)}</text>
  ${legend.map(({ legend: name }, at) => `<rect class="${pickShade({ label: "", values: [] }, at, graph)}" x="${labelEnd + at * 130}" y="38" width="12" height="12"/><text class="small" x="${labelEnd + 18 + at * 130}" y="48">${escapeXml(name)}</text>`).join("\n  ")}
  <path class="axis" d="M${labelEnd} ${top - 4}V${height - rowGap + 4}"/>
  ${bars.join("\n  ")}
</svg>
`;
};

/** Draws every graph in the document and returns each with its file name in docs/images. */
export const drawPlots = (document: string): readonly { readonly file: string; readonly svg: string }[] =>
  graphs.map((graph) => ({ file: `${graph.name}.svg`, svg: drawGraph(graph, parseRows(document, graph)) }));
