// Reads the portal's charts: the data table, the image and the CSV file.
import { findByTagName, extractText, withAttribute, type ReadPage } from "../pages/page.ts";
import { getPageText } from "./portal-pages.ts";
import type { TestResponse } from "./world.ts";

type Rows = readonly (readonly string[])[];

/** Returns the rows of the table with this name, without the header row. */
export const parseTable = (page: ReadPage, heading: string): Rows => {
  const table = findByTagName(page.document, "table").find((one) => one.attribs["aria-label"] === heading);
  if (table === undefined) throw new Error(`no table ${heading} in ${getPageText(page)}`);
  return findByTagName([table], "tr")
    .slice(1)
    .map((row) => [...findByTagName([row], "th"), ...findByTagName([row], "td")].map(extractText));
};

/** Returns the counts for the current hour, day or month. */
export const getLastCounts = (page: ReadPage, heading: string): readonly [up: number, down: number] => {
  const [, up, down] = parseTable(page, heading).at(-1) as readonly string[];
  return [Number(up), Number(down)];
};

export const sumColumn = (rows: Rows, column: number): number => rows.reduce((total, row) => total + Number(row[column]), 0);

/** Returns the text alternatives of a chart's images, and the number of bars of each kind. */
export const parseChart = (page: ReadPage, name: string) => {
  const pictures = withAttribute(withAttribute(page.document, "aria-labelledby", name), "role", "img");
  if (pictures.length === 0) throw new Error(`no picture ${name} in ${getPageText(page)}`);
  const bars = findByTagName(pictures, "rect").map(({ attribs }) => attribs.class?.split(" ")[0]);
  const count = (target: string): number => bars.filter((bar) => bar === target).length;
  return { titles: pictures.map(({ attribs }) => attribs["aria-label"]), up: count("a"), down: count("b") };
};

/** Returns the header and the rows of a CSV file. Every cell must be quoted and must not contain quotes or commas. */
export const parseCsvFile = ({ text }: TestResponse): { readonly head: string; readonly rows: Rows } => {
  const [head = [], ...rows] = text
    .trimEnd()
    .split("\r\n")
    .map((line) => line.slice(1, -1).split('","'));
  return { head: head.join(), rows };
};
