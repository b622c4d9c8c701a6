// Rows as CSV (RFC 4180), sent page by page as they are read. A cell that a spreadsheet would run as a formula begins with an apostrophe.
import type { Context } from "hono";
import type { AppEnv } from "../../http/context.ts";

const formulaPattern = /^[=+\-@\t\r]/;

const escapeCell = (text: string): string => {
  const safe = formulaPattern.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

type CsvRows = readonly (readonly string[])[];

const toCsv = (rows: CsvRows): string => rows.map((row) => `${row.map(escapeCell).join(",")}\r\n`).join("");

/** The head and the first page, then each further one when there is room for it. What cannot be read ends the file as broken off. */
export const streamCsv = (
  head: readonly string[],
  first: CsvRows,
  pages = 1,
  pageOf: (page: number) => Promise<CsvRows> = async () => [],
): ReadableStream => {
  const utf8 = new TextEncoder();
  let page = 1;
  return new ReadableStream({
    start: (controller) => {
      controller.enqueue(utf8.encode(toCsv([head, ...first])));
      if (pages <= 1) controller.close();
    },
    pull: async (controller) => {
      page += 1;
      controller.enqueue(utf8.encode(toCsv(await pageOf(page))));
      if (page >= pages) controller.close();
    },
  });
};

export const csvResponse = (c: Context<AppEnv>, name: string, ...content: Parameters<typeof streamCsv>): Response =>
  c.body(streamCsv(...content), 200, {
    "Content-Disposition": `attachment; filename="${name}.csv"`,
    "Content-Type": "text/csv; charset=utf-8",
  });
