// HTML templates for the pages of the evidence. Inserted strings are escaped; only Markup values are inserted unchanged.
import { toIso, type Instant } from "../time.ts";

export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const htmlEntities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "\r": "&#13;",
};

type MarkupPiece = string | number | Markup | readonly Markup[] | null;

const renderPiece = (piece: MarkupPiece): string => {
  if (piece === null) return "";
  if (piece instanceof Markup) return piece.text;
  if (typeof piece === "object") return piece.map(({ text }) => text).join("");
  // An HTML parser would turn a CR into an LF, so CR is also escaped.
  return String(piece).replaceAll(/[&<>"'\r]/g, (char) => htmlEntities[char] as string);
};

/** A template tag that escapes every inserted string and number. */
export const html = (strings: TemplateStringsArray, ...pieces: readonly MarkupPiece[]): Markup =>
  new Markup(strings.reduce((text, string, at) => text + renderPiece(pieces[at - 1] ?? null) + string));

const monthNames = "January February March April May June July August September October November December".split(" ");

/**
 * Formats a time as `4 March 2026, 05:06:07 UTC`. The format is implemented here, because the platform's formatting changes between
 * versions.
 */
export const renderTime = (instant: Instant): Markup => {
  const iso = toIso(instant);
  const day = `${Number(iso.slice(8, 10))} ${monthNames[Number(iso.slice(5, 7)) - 1]} ${iso.slice(0, 4)}`;
  return html`<time datetime="${iso}">${day}, ${iso.slice(11, 19)} UTC</time>`;
};

export const parseInstant = (value: unknown): Instant | null => {
  const instant = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isFinite(instant) ? instant : null;
};

/** Renders a time from its text form. Returns null if the value is not a time. */
export const renderTimeText = (value: unknown): Markup | null => {
  const instant = parseInstant(value);
  return instant === null ? null : renderTime(instant);
};
