// Tests a CSV export with many batches. It contains every row once and in order, reads rows only as fast as the client receives them, and
// never looks complete if a batch failed.
import { describe, expect, test } from "vitest";
import { streamCsv } from "../../workers/pages/portal/csv.ts";

const size = 500;
const buildRows = (page: number, total: number): readonly (readonly string[])[] =>
  Array.from({ length: Math.min(size, total - (page - 1) * size) }, (_, at) => [`row ${(page - 1) * size + at + 1}`, '=1+1, "quoted"']);

const createCsvStream = (total: number, pageOf = async (page: number) => buildRows(page, total)): ReadableStream => {
  let page = 1;
  return streamCsv(["name", "value"], buildRows(1, total), () => {
    page += 1;
    return pageOf(page);
  });
};

describe("a CSV export", () => {
  test.each([0, 1, 500, 501, 2_345, 10_000])("of %i rows has its header and each row once, in order", async (total) => {
    const bytes = new Uint8Array(await new Response(createCsvStream(total)).arrayBuffer());
    expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    const lines = new TextDecoder().decode(bytes).split("\r\n"); // the decoder removes the byte order mark
    const buildLine = (at: number): string => `"row ${at}","'=1+1, ""quoted"""`;
    expect(lines).toEqual(['"name","value"', ...Array.from({ length: total }, (_, at) => buildLine(at + 1)), ""]);
  });

  test.each([
    ["=1+1", "'=1+1"],
    ["+1 202 555 0123", "'+1 202 555 0123"],
    ["-1", "'-1"],
    ["@sum", "'@sum"],
    ["＝1+1", "'＝1+1"],
    ["＋1", "'＋1"],
    [" =1", " '=1"],
    ["a;=HYPERLINK(x)", "a;'=HYPERLINK(x)"],
    ["a; =HYPERLINK(x)", "a; '=HYPERLINK(x)"],
    ["a,=1", "a,'=1"],
    ["a\t=1", "a\t'=1"],
    ["a|＝1", "a|'＝1"],
    ["a\n@x", "a\n'@x"],
    ['a";=1', 'a"";\'=1'],
    ['a;"=1', 'a;""\'=1'],
    ["\tabc", "'\tabc"],
    ["\t=1", "\t'=1"],
    ["\r=1", "\r'=1"],
    ["\ufeff=1", "\ufeff'=1"],
    ["'=1", "''=1"],
    ["a\u000b=1", "a\u000b'=1"],
    ["a\u0085+1", "a\u0085'+1"],
    ["a\u2028@x", "a\u2028'@x"],
    ["﹦1+1", "'﹦1+1"],
    ["a;;;=1", "a;;;'=1"],
    ["a-b = c + d", "a-b = c + d"],
    ["1-2", "1-2"],
    ["pat@example.com", "pat@example.com"],
  ])("prevents a spreadsheet from running %j", async (text, cell) => {
    expect(await new Response(streamCsv(["x"], [[text]])).text()).toBe(`"x"\r\n"${cell}"\r\n`);
  });

  test("reads no more batches than the reader takes", async () => {
    const readBatches: number[] = [];
    const reader = createCsvStream(10_000, async (page) => {
      readBatches.push(page);
      return buildRows(page, 10_000);
    }).getReader();
    await reader.read();
    await reader.read();
    expect(readBatches.length).toBeLessThan(4);
    await reader.cancel();
  });

  test("fails instead of ending early when a batch cannot be read", async () => {
    const file = createCsvStream(2_000, async (page) => {
      if (page === 3) throw new Error("the database is away");
      return buildRows(page, 2_000);
    });
    await expect(new Response(file).text()).rejects.toThrow("the database is away");
  });
});
