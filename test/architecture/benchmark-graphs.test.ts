// Checks that the graphs of docs/reference/benchmarks.md match what `npm run bench -- --plot` draws from the tables on that page.
import { readFileSync } from "node:fs";
import { parseDocument, DomUtils } from "htmlparser2";
import { expect, test } from "vitest";
import { drawPlots } from "../../scripts/bench/plot.ts";

const document = readFileSync("docs/reference/benchmarks.md", "utf8");
const plots = drawPlots(document);

test.each(plots)("$file is drawn from a table of the page, and the page shows it", ({ file, svg }) => {
  expect(readFileSync(`docs/images/${file}`, "utf8"), "npm run bench -- --plot").toBe(svg);
  expect(document).toContain(`(../images/${file})`);
});

test.each(plots)("$file has a bar for each value, in proportion to it", ({ svg }) => {
  const texts = DomUtils.getElementsByTagName("text", parseDocument(svg), true).map((node) => DomUtils.textContent(node));
  const shown = texts.filter((text) => / (?:ms|req\/s)$/.test(text)).map((text) => Number(text.replace(/[^\d.]/g, "")));
  const bars = [...svg.matchAll(/<rect class="[abc]" x="300" y="\d+" width="(\d+)" height="14"/g)].map(([, width]) => Number(width));
  expect(bars.length).toBe(shown.length);
  const scale = Math.max(...bars) / Math.max(...shown);
  for (const [at, bar] of bars.entries()) expect(Math.abs(bar - (shown[at] as number) * scale)).toBeLessThanOrEqual(1);
});

test("redraws the bar when a value changes, and throws when a value is not a number", () => {
  const withRate = (rate: string): string => document.replace(/(\| POST \/v1\/consent \| )\d+ /, `$1${rate} `);
  const changed = drawPlots(withRate("1"));
  expect(changed.map(({ svg }, at) => svg === plots[at]?.svg)).toEqual([false, true]);
  expect(() => drawPlots(withRate("fast"))).toThrow("fast is not a number");
});
