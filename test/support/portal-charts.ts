// Charts of the portal in tests: the figures as their table has them, the picture, and the file.
import { named, textOf, withAttribute, type ReadPage } from "../pages/page.ts";
import { getPageText } from "./portal-pages.ts";
import type { TestResponse } from "./world.ts";

type Rows = readonly (readonly string[])[];

/** Without its head. */
export const parseTable = (page: ReadPage, heading: string): Rows => {
  const table = named(page.document, "table").find((one) => textOf(named([one], "caption")) === heading);
  if (table === undefined) throw new Error(`no table ${heading} in ${getPageText(page)}`);
  return named([table], "tr")
    .slice(1)
    .map((row) => [...named([row], "th"), ...named([row], "td")].map(textOf));
};

/** What is counted of the hour, day or month under way. */
export const getLastCounts = (page: ReadPage, heading: string): readonly [up: number, down: number] => {
  const [, up, down] = parseTable(page, heading).at(-1) as readonly string[];
  return [Number(up), Number(down)];
};

export const sumColumn = (rows: Rows, column: number): number => rows.reduce((total, row) => total + Number(row[column]), 0);

/** What the picture says, and how many bars go up and down. */
export const parseChart = (page: ReadPage, name: string) => {
  const [svg] = withAttribute(page.document, "aria-labelledby", `${name}-trend`);
  if (svg?.attribs.role !== "img") throw new Error(`no picture ${name} in ${getPageText(page)}`);
  const bars = named([svg as never], "rect").map(({ attribs }) => attribs.class);
  const count = (of: string): number => bars.filter((bar) => bar === of).length;
  return { title: textOf(named([svg as never], "title")), up: count("up"), down: count("down") };
};

/** A file as it was sent: its head, and what stands below. */
export const parseCsvFile = ({ text }: TestResponse): { readonly head: string; readonly rows: Rows } => {
  const [head = "", ...lines] = text.trimEnd().split("\r\n");
  return { head, rows: lines.map((line) => line.split(",")) };
};
