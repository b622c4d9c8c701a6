// A text as a PDF file. The same text gives the same bytes: the dates are the text's, nothing is random, and the fonts are
// those that every reader has.
import type { DocumentText } from "../../core/removals/affidavit.ts";

export type WritePdf = (text: DocumentText) => Promise<Uint8Array<ArrayBuffer>>;

const page = { width: 595, height: 842, margin: 64 }; // A4 in points
const body = { size: 11, line: 16, gap: 10 };
const title = { size: 18, line: 30 };

/** The fonts know Latin letters; an address can hold others, which are told by their number. */
const printable = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e]/gu, (letter) => `\\u{${(letter.codePointAt(0) as number).toString(16)}}`);

/** Broken at spaces; a word that is longer than a line is cut. */
const linesOf = (text: string, fits: (line: string) => boolean): readonly string[] => {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (fits(longer)) {
      line = longer;
      continue;
    }
    if (line !== "") lines.push(line);
    line = word;
    while (!fits(line)) {
      let end = line.length - 1;
      while (!fits(line.slice(0, end))) end -= 1;
      lines.push(line.slice(0, end));
      line = line.slice(end);
    }
  }
  return [...lines, line];
};

export const writePdf: WritePdf = async (text) => {
  const { PDFDocument, StandardFonts } = await import("@cantoo/pdf-lib"); // half a megabyte that few isolates ever need
  const document = await PDFDocument.create({ updateMetadata: false });
  const [regular, bold] = [await document.embedFont(StandardFonts.Helvetica), await document.embedFont(StandardFonts.HelveticaBold)];
  document.setTitle(printable(text.title));
  document.setCreationDate(new Date(text.at));
  document.setModificationDate(new Date(text.at));
  let sheet = document.addPage([page.width, page.height]);
  let y = page.height - page.margin;
  const put = (line: string, font: typeof regular, { size, line: height }: { readonly size: number; readonly line: number }): void => {
    if (y - height < page.margin) {
      sheet = document.addPage([page.width, page.height]);
      y = page.height - page.margin;
    }
    y -= height;
    sheet.drawText(line, { x: page.margin, y, size, font });
  };
  put(printable(text.title), bold, title);
  const fits = (line: string): boolean => regular.widthOfTextAtSize(line, body.size) <= page.width - 2 * page.margin;
  for (const paragraph of text.paragraphs) {
    y -= body.gap;
    for (const line of linesOf(printable(paragraph), fits)) put(line, regular, body);
  }
  return Uint8Array.from(await document.save({ useObjectStreams: false, addDefaultPage: false }));
};
