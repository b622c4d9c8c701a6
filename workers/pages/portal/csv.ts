// CSV (RFC 4180) in UTF-8 with a byte order mark, streamed batch by batch. Every cell is quoted. Spreadsheets may also split cells at
// separators other than the comma, and may run text that looks like a formula. Therefore, an apostrophe is inserted before a formula
// wherever a cell could begin.
import type { Context } from "hono";
import type { AppEnv } from "../../http/context.ts";

/**
 * Matches the start of a formula, including full-width and small forms, at the start of a cell or after a separator or any kind of line
 * break. Whitespace and quotation marks may precede it.
 */
const formulaPattern = /(^|[,;|\t-\r\u0085\u2028\u2029])([\s"']*)(?=[=+\-@＝＋－＠﹦﹢﹣﹫\t\r])/g;

const escapeCell = (text: string): string => `"${text.replaceAll(formulaPattern, "$1$2'").replaceAll('"', '""')}"`;

const byteOrderMark = "\ufeff"; // without this mark, some spreadsheets read UTF-8 as another encoding

type CsvRows = readonly (readonly string[])[];

const toCsv = (rows: CsvRows): string => rows.map((row) => `${row.map(escapeCell).join(",")}\r\n`).join("");

/**
 * Streams the header and the first batch, then each further batch when the reader is ready for it, until a batch is empty. If a batch
 * cannot be read, the stream fails, so that the download is reported as incomplete.
 */
export const streamCsv = (
  header: readonly string[],
  firstBatch: CsvRows,
  readNextBatch: () => Promise<CsvRows> = async () => [],
): ReadableStream => {
  const utf8 = new TextEncoder();
  return new ReadableStream({
    start: (controller) => {
      controller.enqueue(utf8.encode(byteOrderMark + toCsv([header, ...firstBatch])));
    },
    pull: async (controller) => {
      const rows = await readNextBatch();
      if (rows.length === 0) controller.close();
      else controller.enqueue(utf8.encode(toCsv(rows)));
    },
  });
};

export const csvResponse = (c: Context<AppEnv>, name: string, ...content: Parameters<typeof streamCsv>): Response =>
  c.body(streamCsv(...content), 200, {
    "Content-Disposition": `attachment; filename="${name}.csv"`,
    "Content-Type": "text/csv; charset=utf-8",
  });
