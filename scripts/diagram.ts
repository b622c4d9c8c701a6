// `npm run diagram`: draws docs/images/system.svg, the diagram in the README, from its text source docs/images/system.txt.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { escapeHtml } from "../core/mail/message.ts";

export const diagramSource = "docs/images/system.txt";
export const diagramFile = "docs/images/system.svg";

const style = `.box { fill: none; stroke: #6b7280; stroke-width: 1.2 } .main { stroke: #1d4ed8; stroke-width: 1.8 } .frame { fill: none; stroke: #9ca3af; stroke-dasharray: 2 4 }
    text { fill: #111827 } .small { font-size: 12px; fill: #4b5563 } .line { stroke: #6b7280; fill: none; stroke-width: 1.2 } .later { stroke-dasharray: 5 4 }
    @media (prefers-color-scheme: dark) { text { fill: #e5e7eb } .small { fill: #9ca3af } .box, .line { stroke: #9ca3af } .main { stroke: #93c5fd } marker path { fill: #9ca3af } }`;

interface Line {
  readonly name: string;
  readonly numbers: readonly number[];
  readonly points: readonly string[];
  readonly labels: readonly string[];
  readonly flags: readonly string[];
}

const parseLine = (text: string): Line => {
  const [name = ""] = text.split(" ", 1);
  const words = text
    .slice(name.length)
    .replace(/"[^"]*"/g, "")
    .split(" ")
    .filter((word) => word !== "");
  return {
    name,
    numbers: words.filter((word) => /^\d+$/.test(word)).map(Number),
    points: words.filter((word) => /^\d+,\d+$/.test(word)).map((word) => word.replace(",", " ")),
    labels: [...text.matchAll(/"([^"]*)"/g)].map(([, label = ""]) => escapeHtml(label)),
    flags: words.filter((word) => /^[a-z]+$/.test(word)),
  };
};

const drawText = (x: number | string, y: number | string, text: string, attributes = ""): string =>
  `<text${attributes} x="${x}" y="${y}" text-anchor="middle">${text}</text>`;

const drawElement = ({ name, numbers, points, labels, flags }: Line): string => {
  const [x = 0, y = 0, width = 0, height = 0] = numbers;
  const rectangle = (className: string): string =>
    `<rect class="${className}" x="${x}" y="${y}" width="${width}" height="${height}" rx="6"/>`;
  if (name === "frame") return `${rectangle("frame")}<text class="small" x="${x + 132}" y="${y + 18}">${labels[0]}</text>`;
  if (name === "box") {
    const center = x + width / 2;
    const middle = y + height / 2;
    const [first = "", second = ""] = labels;
    return (
      rectangle(["box", ...flags].join(" ")) + drawText(center, middle - 3, first) + drawText(center, middle + 16, second, ' class="small"')
    );
  }
  if (name !== "line") throw new Error(`${diagramSource}: ${name} is not an element`);
  // A labeled line's last point is the position of its label.
  const path = labels.length === 0 ? points : points.slice(0, -1);
  const [labelX = "0", labelY = "0"] = (points.at(-1) ?? "").split(" ");
  const label = labels.length === 0 ? "" : drawText(labelX, labelY, labels[0] as string, ' class="small"');
  return `<path class="${["line", ...flags].join(" ")}" d="M${path.join("L")}" marker-end="url(#a)"/>${label}`;
};

/** Renders the source text of a diagram as SVG. Throws if the source contains an unknown element. */
export const drawDiagram = (source: string): string => {
  const lines = source.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const textOf = (name: string): string => escapeHtml(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? "");
  const [width, height] = textOf("canvas").split(" ");
  const elements = lines.filter((line) => !/^(?:canvas|title|desc) /.test(line)).map((line) => `  ${drawElement(parseLine(line))}`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="t d" font-family="system-ui, sans-serif" font-size="14">
  <title id="t">${textOf("title")}</title>
  <desc id="d">${textOf("desc")}</desc>
  <style>
    ${style}
  </style>
  <defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#6b7280"/></marker></defs>
${elements.join("\n")}
</svg>
`;
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync(diagramFile, drawDiagram(readFileSync(diagramSource, "utf8")));
  console.log(diagramFile);
}
