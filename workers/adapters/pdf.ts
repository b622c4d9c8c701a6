// Writes text as a PDF file. The same text always produces the same bytes: dates come from the text, nothing is random, and all fonts are
// standard fonts.
import type { DocumentContent } from "../../core/removals/affidavit.ts";

export type WritePdf = (text: DocumentContent) => Promise<Uint8Array<ArrayBuffer>>;

const pageLayout = { width: 595, height: 842, margin: 64 }; // A4 in points
const bodyStyle = { size: 11, line: 16, gap: 10 };
const titleStyle = { size: 18, line: 30 };

/**
 * Replaces non-ASCII characters, for example in an address, with `\u{…}` escapes, because the standard fonts lack most of these
 * characters.
 */
const escapeNonAscii = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e]/gu, (letter) => `\\u{${(letter.codePointAt(0) as number).toString(16)}}`);

/** Breaks lines at spaces. Splits words that are longer than a line. */
const wrapLines = (text: string, fits: (line: string) => boolean): readonly string[] => {
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

/** Returns the bytes of an A4 document with a title and paragraphs. */
export const writePdf: WritePdf = async (text) => {
  const { PDFDocument, StandardFonts } = await import("@cantoo/pdf-lib"); // 480 KB that few isolates need
  const document = await PDFDocument.create({ updateMetadata: false });
  const [regular, bold] = [await document.embedFont(StandardFonts.Helvetica), await document.embedFont(StandardFonts.HelveticaBold)];
  document.setTitle(escapeNonAscii(text.title));
  document.setCreationDate(new Date(text.issuedAt));
  document.setModificationDate(new Date(text.issuedAt));
  let sheet = document.addPage([pageLayout.width, pageLayout.height]);
  let y = pageLayout.height - pageLayout.margin;
  const put = (line: string, font: typeof regular, { size, line: height }: { readonly size: number; readonly line: number }): void => {
    if (y - height < pageLayout.margin) {
      sheet = document.addPage([pageLayout.width, pageLayout.height]);
      y = pageLayout.height - pageLayout.margin;
    }
    y -= height;
    sheet.drawText(line, { x: pageLayout.margin, y, size, font });
  };
  put(escapeNonAscii(text.title), bold, titleStyle);
  const fits = (line: string): boolean => regular.widthOfTextAtSize(line, bodyStyle.size) <= pageLayout.width - 2 * pageLayout.margin;
  for (const paragraph of text.paragraphs) {
    y -= bodyStyle.gap;
    for (const line of wrapLines(escapeNonAscii(paragraph), fits)) put(line, regular, bodyStyle);
  }
  return Uint8Array.from(await document.save({ useObjectStreams: false, addDefaultPage: false }));
};
