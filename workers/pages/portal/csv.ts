// CSV (RFC 4180), streamed batch by batch. Cells that a spreadsheet would run as a formula get a leading apostrophe.
import type { Context } from "hono";
import type { AppEnv } from "../../http/context.ts";

const formulaPattern = /^[=+\-@\t\r]/;

const escapeCell = (text: string): string => {
  const safe = formulaPattern.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

type CsvRows = readonly (readonly string[])[];

const toCsv = (rows: CsvRows): string => rows.map((row) => `${row.map(escapeCell).join(",")}\r\n`).join("");

/**
 * Streams the header and the first batch, then each further batch when the reader is ready for it. If a batch cannot be read, the stream
 * fails, so that the download is reported as incomplete.
 */
export const streamCsv = (
  header: readonly string[],
  firstBatch: CsvRows,
  batches = 1,
  readBatch: (batch: number) => Promise<CsvRows> = async () => [],
): ReadableStream => {
  const utf8 = new TextEncoder();
  let batch = 1;
  return new ReadableStream({
    start: (controller) => {
      controller.enqueue(utf8.encode(toCsv([header, ...firstBatch])));
      if (batches <= 1) controller.close();
    },
    pull: async (controller) => {
      batch += 1;
      controller.enqueue(utf8.encode(toCsv(await readBatch(batch))));
      if (batch >= batches) controller.close();
    },
  });
};

export const csvResponse = (c: Context<AppEnv>, name: string, ...content: Parameters<typeof streamCsv>): Response =>
  c.body(streamCsv(...content), 200, {
    "Content-Disposition": `attachment; filename="${name}.csv"`,
    "Content-Type": "text/csv; charset=utf-8",
  });
