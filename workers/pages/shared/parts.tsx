// The small parts pages are set from: text of strangers, moments, hashes, remarks, status. No part writes a style or a
// script into the page.
import type { Child, FC } from "hono/jsx";
import { raw } from "hono/html";
import { isoOf, type Instant } from "../../../core/time.ts";
import { appearanceOf } from "./appearance.ts";
import type { Words } from "./i18n/words.ts";
import { catalogues, type Language } from "./language.ts";

/** What a part needs to know of the page it stands on. */
export interface Setting {
  readonly language: Language;
  readonly words: Words;
}

export const settingOf = (language: Language): Setting => ({ language, words: catalogues[language].words });

// An HTML parser turns a carriage return into a line feed, and the hash of a disclosure would no longer fit; written as
// a character reference it stays what it is.
const exactly = (text: string): Child => {
  const [first = "", ...rest] = text.split("\r");
  return [first, ...rest.flatMap((part) => [raw("&#13;"), part])];
};

/**
 * Text that somebody else wrote, exactly as it is stored: set apart from the direction of the line around it, in no
 * language we could name, and not to be translated. `bound` names the member of the record it is compared with.
 */
export const Exact: FC<{ text: string; bound?: string; passage?: boolean }> = ({ text, bound, passage }) => (
  <bdi dir="auto" lang="" translate="no" data-bound={bound} class={passage ? "exact passage" : "exact"}>
    {exactly(text)}
  </bdi>
);

const shapes = {
  tick: "M4 8.5 7 11.5 12.5 5",
  cross: "M4.5 4.5 11.5 11.5M11.5 4.5 4.5 11.5",
  clock: "M8 4.5V8l2.5 1.5",
  dot: "M8 8v.1",
  warning: "M8 6v3M8 11.2v.1",
} as const;
const outlines = {
  tick: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13z",
  cross: "M5 1.5h6L14.5 5v6L11 14.5H5L1.5 11V5z",
  clock: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13z",
  dot: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13z",
  warning: "M8 1.8 15 14H1z",
} as const;

/** A shape beside a word, never instead of one. */
export const Shape: FC<{ name: keyof typeof shapes }> = ({ name }) => (
  <svg class={`shape shape-${name}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    <path class="outline" d={outlines[name]} />
    <path class="stroke" d={shapes[name]} />
  </svg>
);

/** What is wrong with a field, between its label and it; `word` says "Error:" in the reader's language. */
export const FieldFault: FC<{ word: string; text: string; id?: string }> = ({ word, text, id = "fault" }) => (
  <p class="field-error" id={id} role="alert">
    <Shape name="warning" />
    <span>
      <strong>{word}</strong> {text}
    </span>
  </p>
);

/** What the eye would miss in a text, said beside it. */
export const Remarks: FC<{ text: string; setting: Setting }> = ({ text, setting: { words } }) => {
  const { invisible, alphabets } = appearanceOf(text);
  const remarks = [
    invisible.length > 0 &&
      `${words.invisibleCharacters} ${invisible.map(({ code, count }) => (count === 1 ? code : `${code} × ${count}`)).join(", ")}.`,
    alphabets.length > 0 &&
      `${words.mixedAlphabets} ${alphabets.map((name) => words.alphabets[name as keyof Words["alphabets"]]).join(", ")}.`,
  ].filter((remark) => remark !== false);
  return (
    <>
      {remarks.map((remark) => (
        <span class="remark">
          <Shape name="warning" />
          <span>{remark}</span>
        </span>
      ))}
    </>
  );
};

/** Text of a stranger with its remarks. */
export const Foreign: FC<{ text: string; bound?: string; setting: Setting }> = ({ text, bound, setting }) => (
  <>
    <Exact text={text} {...(bound !== undefined && { bound })} /> <Remarks text={text} setting={setting} />
  </>
);

/** "4 March 2026". */
export const dayIn = (language: Language, at: Instant): string =>
  new Intl.DateTimeFormat(catalogues[language].locale, { dateStyle: "long", timeZone: "UTC" }).format(at);

/** "4 March 2026, 05:06 UTC", with the exact instant for machines. */
export const Moment: FC<{ at: Instant; bound?: string; setting: Setting }> = ({ at, bound, setting }) => {
  const { locale } = catalogues[setting.language];
  const time = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "UTC" }).format(at);
  return <time datetime={isoOf(at)} data-bound={bound}>{`${dayIn(setting.language, at)}, ${time}\u00a0UTC`}</time>;
};

const groupLength = 8; // 64 characters are eight groups: countable, and each fits the narrowest screen

/** A hash or number that wraps between groups; selecting it gives it whole, without spaces. */
export const Hash: FC<{ value: string; id?: string; bound?: string }> = ({ value, id, bound }) => (
  <code class="hash" id={id} data-bound={bound} translate="no">
    {(value.match(new RegExp(`.{1,${groupLength}}`, "g")) ?? []).map((group) => (
      <>
        <span>{group}</span>
        <wbr />
      </>
    ))}
  </code>
);

/** Shown by the page's script only: without it there is nothing to press. */
export const CopyButton: FC<{ of: string; label: string; words: Words }> = ({ of, label, words }) => (
  <button type="button" class="copy" hidden data-copy={of} data-copied={words.copied} aria-label={label}>
    {words.copy}
  </button>
);

/** A sentence of the catalogue with `{name}` replaced by parts; a name without a part stays visible as a mistake. */
export const Sentence: FC<{ text: string; parts: Readonly<Record<string, Child>> }> = ({ text, parts }) => (
  <>{text.split(/\{([a-z]+)\}/).map((piece, at) => (at % 2 === 0 ? piece : (parts[piece] ?? `{${piece}}`)))}</>
);

/** The same for plain text. */
export const filled = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{([a-z]+)\}/g, (whole, name: string) => values[name] ?? whole);

export const numberText = (value: number, language: Language): string => new Intl.NumberFormat(catalogues[language].locale).format(value);
