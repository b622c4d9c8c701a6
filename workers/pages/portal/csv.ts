// Rows as CSV (RFC 4180), sent page by page as they are read. A cell that a spreadsheet would run as a formula begins with an apostrophe.
import type { Context } from "hono";
import type { Api } from "../../http/context.ts";

const isFormula = /^[=+\-@\t\r]/;

const cellOf = (text: string): string => {
  const safe = isFormula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

type Rows = readonly (readonly string[])[];

const csvOf = (rows: Rows): string => rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");

/** The head and the first page, then each further one when there is room for it. What cannot be read ends the file as broken off. */
export const csvStream = (
  head: readonly string[],
  first: Rows,
  pages = 1,
  pageOf: (page: number) => Promise<Rows> = async () => [],
): ReadableStream => {
  const utf8 = new TextEncoder();
  let page = 1;
  return new ReadableStream({
    start: (controller) => {
      controller.enqueue(utf8.encode(csvOf([head, ...first])));
      if (pages <= 1) controller.close();
    },
    pull: async (controller) => {
      page += 1;
      controller.enqueue(utf8.encode(csvOf(await pageOf(page))));
      if (page >= pages) controller.close();
    },
  });
};

export const csvAnswer = (c: Context<Api>, name: string, ...content: Parameters<typeof csvStream>): Response =>
  c.body(csvStream(...content), 200, {
    "Content-Disposition": `attachment; filename="${name}.csv"`,
    "Content-Type": "text/csv; charset=utf-8",
  });
