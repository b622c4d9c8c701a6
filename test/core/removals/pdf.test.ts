// Tests the PDF file of an affidavit: its structure, its text, and where lines and pages end.
import { describe, expect, test } from "vitest";
import { writePdf } from "../../../core/removals/pdf.ts";

const issuedAt = Date.parse("2026-11-20T10:05:00.000Z");
const write = (...paragraphs: readonly string[]): string =>
  new TextDecoder("latin1").decode(writePdf({ title: "Affidavit of removal", issuedAt, paragraphs }));

/** Returns the lines of text of each page, as a PDF viewer shows them. */
const readPages = (file: string): readonly (readonly string[])[] =>
  [...file.matchAll(/stream\n(.*?)\nendstream/gs)].map(([, content = ""]) =>
    [...content.matchAll(/\((.*)\) Tj/g)].map(([, text = ""]) => text.replaceAll(/\\(.)/g, "$1")),
  );

describe("writePdf", () => {
  test("writes a file whose table contains the position of each object", () => {
    const file = write("One paragraph.", "Another one.");
    const tableAt = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(file)?.[1]);
    expect(file.slice(tableAt, tableAt + 5)).toBe("xref\n");
    const positions = [...file.matchAll(/^(\d{10}) 00000 n $/gm)].map(([, position]) => Number(position));
    const objects = positions.map((position) => /^(\d+) 0 obj\n/.exec(file.slice(position))?.[1]);
    expect(objects).toEqual(["1", "2", "3", "4", "5", "6", "7"]);
    for (const [, length, content] of file.matchAll(/\/Length (\d+) >>\nstream\n(.*?)\nendstream/gs))
      expect(content?.length).toBe(Number(length));
  });

  test("contains the title, the date and the paragraphs", () => {
    const file = write("One paragraph.", "Another one.");
    expect(readPages(file)).toEqual([["Affidavit of removal", "One paragraph.", "Another one."]]);
    expect(file).toContain("/Title (Affidavit of removal) /CreationDate (D:20261120100500Z) /ModDate (D:20261120100500Z)");
  });

  test("writes brackets and backslashes as text, and characters outside ASCII as escapes", () => {
    const file = write(String.raw`jörg(\n)) Tj@shop.example 😀`);
    expect(readPages(file)).toEqual([["Affidavit of removal", String.raw`j\u{f6}rg(\n)) Tj@shop.example \u{1f600}`]]);
    expect(file).toMatch(/^[\n\x20-\x7e]*$/);
  });

  test("breaks lines at spaces, and splits words that are longer than a line", () => {
    const sentence = "The quick brown fox jumps over the lazy dog near the bank of a very quiet river at dawn. ".repeat(3).trim();
    const [lines = []] = readPages(write(sentence, "W".repeat(100), "i".repeat(200)));
    const end = lines.indexOf("W".repeat(44)); // 44 letters of 10.384 points fit in 467 points
    expect(lines.slice(1, end).join(" ")).toBe(sentence);
    expect(end).toBeGreaterThan(3);
    expect(lines.slice(end)).toEqual(["W".repeat(44), "W".repeat(44), "W".repeat(12), "i".repeat(191), "i".repeat(9)]);
  });

  test("continues on further pages", () => {
    const paragraphs = Array.from({ length: 60 }, (_, index) => `Paragraph ${index}.`);
    const file = write(...paragraphs);
    const pages = readPages(file);
    expect(pages.flat()).toEqual(["Affidavit of removal", ...paragraphs]);
    expect(pages.length).toBe(3);
    expect(file).toContain("/Kids [6 0 R 8 0 R 10 0 R] /Count 3 ");
  });
});
