// Writes text as a PDF file (ISO 32000-1). The same text always produces the same bytes: dates come from the text, nothing is random, and
// the fonts are standard fonts, which every PDF reader has.
import { encodeUtf8 } from "../bytes.ts";
import { toIso, type Instant } from "../time.ts";
import type { DocumentContent } from "./affidavit.ts";

const pageLayout = { width: 595, height: 842, margin: 64 }; // A4 in points
const bodyStyle = { font: "Body", size: 11, lineHeight: 16 };
const titleStyle = { font: "Title", size: 18, lineHeight: 30 };
const paragraphGap = 10;

interface PlacedLine {
  readonly text: string;
  readonly style: typeof bodyStyle;
  /** The height of the baseline above the bottom of the page, in points. */
  readonly y: number;
}

/** The width of each printable ASCII character in Helvetica, in thousandths of the font size (Adobe's metrics of the standard fonts). */
const widths = new Map<string, number>(
  Object.entries({
    191: "'",
    222: "ijl",
    260: "|",
    278: " !,./:;I[\\]ft",
    333: "()-`r",
    334: "{}",
    355: '"',
    389: "*",
    469: "^",
    500: "Jcksvxyz",
    556: "#$0123456789?L_abdeghnopqu",
    584: "+<=>~",
    611: "FTZ",
    667: "&ABEKPSVXY",
    722: "CDHNRUw",
    778: "GOQ",
    833: "Mm",
    889: "%",
    944: "W",
    1015: "@",
  }).flatMap(([width, characters]) => [...characters].map((character) => [character, Number(width)])),
);

const fitsLine = (line: string): boolean => {
  let width = 0;
  for (const character of line) width += widths.get(character) as number;
  return (width * bodyStyle.size) / 1_000 <= pageLayout.width - 2 * pageLayout.margin;
};

/**
 * Replaces non-ASCII characters, for example in an address, with `\u{…}` escapes, because the standard fonts lack most of these
 * characters.
 */
const escapeNonAscii = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e]/gu, (letter) => `\\u{${(letter.codePointAt(0) as number).toString(16)}}`);

/** Breaks text into lines at spaces. Splits words that are longer than a line. */
const wrapLines = (text: string): readonly string[] => {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (fitsLine(longer)) {
      line = longer;
      continue;
    }
    if (line !== "") lines.push(line);
    line = word;
    while (!fitsLine(line)) {
      let end = line.length - 1;
      while (!fitsLine(line.slice(0, end))) end -= 1;
      lines.push(line.slice(0, end));
      line = line.slice(end);
    }
  }
  return [...lines, line];
};

const layOutPages = ({ title, paragraphs }: DocumentContent): readonly (readonly PlacedLine[])[] => {
  let page: PlacedLine[] = [];
  let y = pageLayout.height - pageLayout.margin;
  const pages = [page];
  const addLine = (text: string, style: typeof bodyStyle): void => {
    if (y - style.lineHeight < pageLayout.margin) {
      page = [];
      pages.push(page);
      y = pageLayout.height - pageLayout.margin;
    }
    y -= style.lineHeight;
    page.push({ text, style, y });
  };
  addLine(escapeNonAscii(title), titleStyle);
  for (const paragraph of paragraphs) {
    y -= paragraphGap;
    for (const line of wrapLines(escapeNonAscii(paragraph))) addLine(line, bodyStyle);
  }
  return pages;
};

const formatString = (text: string): string => `(${text.replaceAll(/[\\()]/g, String.raw`\$&`)})`;

const formatPdfDate = (at: Instant): string => formatString(`D:${toIso(at).slice(0, 19).replaceAll(/\D/g, "")}Z`);

const formatLine = ({ text, style, y }: PlacedLine): string =>
  `BT /${style.font} ${style.size} Tf ${pageLayout.margin} ${y} Td ${formatString(text)} Tj ET`;

const formatStream = (content: string): string => `<< /Length ${content.length} >>\nstream\n${content}\nendstream`;

const formatFont = (name: string): string => `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`;

/** Builds the file: the objects, numbered from 1, and the table of their positions. All text is ASCII, so one character is one byte. */
const formatFile = (objects: readonly string[], trailer: string): string => {
  let file = "%PDF-1.7\n";
  const positions = objects.map((object, index) => {
    const position = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(position).padStart(10, "0")} 00000 n \n`;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${positions.join("")}`;
  return `${file}${table}trailer\n<< /Size ${size} ${trailer} >>\nstartxref\n${file.length}\n%%EOF\n`;
};

/** Returns an A4 document with a title and paragraphs. */
export const writePdf = (content: DocumentContent): Uint8Array<ArrayBuffer> => {
  const date = formatPdfDate(content.issuedAt);
  const pages = layOutPages(content);
  const firstPage = 6; // the number of the first page's object; each page is followed by its content
  const pageReferences = pages.map((_, index) => `${firstPage + 2 * index} 0 R`);
  const resources = "<< /Font << /Body 4 0 R /Title 5 0 R >> >>";
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${pageReferences.join(" ")}] /Count ${pages.length} /MediaBox [0 0 ${pageLayout.width} ${pageLayout.height}] /Resources ${resources} >>`,
    `<< /Title ${formatString(escapeNonAscii(content.title))} /CreationDate ${date} /ModDate ${date} >>`,
    formatFont("Helvetica"),
    formatFont("Helvetica-Bold"),
    ...pages.flatMap((lines, index) => [
      `<< /Type /Page /Parent 2 0 R /Contents ${firstPage + 2 * index + 1} 0 R >>`,
      formatStream(lines.map(formatLine).join("\n")),
    ]),
  ];
  return encodeUtf8(formatFile(objects, "/Root 1 0 R /Info 3 0 R"));
};
