// The small parts pages are set from: text of strangers, moments, hashes, remarks, status. No part writes a style or a
// script into the page.
import { createContext, useContext, type Child, type FC } from "hono/jsx";
import { raw } from "hono/html";
import { toIso, type Instant } from "../../../core/time.ts";
import { analyzeAppearance } from "./text-appearance.ts";
import { publicMessages, type PublicMessages } from "../i18n/public.ts";
import { languageInfo, type Language } from "./language.ts";

/** What a part needs to know of the page it stands on. */
export interface PageContext {
  readonly language: Language;
  readonly messages: PublicMessages;
  /** The language that was chosen by hand: links and forms keep it. Otherwise the browser asks for its own again. */
  readonly selectedLanguage: Language | null;
}

export const createPageContext = (language: Language, choice: Language | null = null): PageContext => ({
  language,
  messages: publicMessages[language],
  selectedLanguage: choice,
});

/** A path that keeps the language that was chosen by hand. */
export const withLanguage = (path: string, choice: Language | null): string => (choice === null ? path : `${path}?lang=${choice}`);

/** The frame of a page (layout.tsx) provides its setting to all that stands on the page. */
export const PageContextScope = createContext(createPageContext("en"));
export const usePageContext = (): PageContext => useContext(PageContextScope);

// An HTML parser turns a carriage return into a line feed, and the hash of a disclosure would no longer fit; written as
// a character reference it stays what it is.
const preserveCarriageReturns = (text: string): Child => {
  const [first = "", ...rest] = text.split("\r");
  return [first, ...rest.flatMap((part) => [raw("&#13;"), part])];
};

/**
 * Text that somebody else wrote, exactly as it is stored: set apart from the direction of the line around it, in no
 * language we could name, and not to be translated. `bound` names the member of the record it is compared with.
 */
export const VerbatimText: FC<{ text: string; bound?: string | undefined; passage?: boolean }> = ({ text, bound, passage }) => (
  <bdi dir="auto" lang="" translate="no" data-bound={bound} class={passage ? "exact passage" : "exact"}>
    {preserveCarriageReturns(text)}
  </bdi>
);

const iconPaths = {
  tick: "M4 8.5 7 11.5 12.5 5",
  cross: "M4.5 4.5 11.5 11.5M11.5 4.5 4.5 11.5",
  clock: "M8 4.5V8l2.5 1.5",
  dot: "M8 8v.1",
  warning: "M8 6v3M8 11.2v.1",
} as const;
const iconOutlines = {
  tick: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13z",
  cross: "M5 1.5h6L14.5 5v6L11 14.5H5L1.5 11V5z",
  clock: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13z",
  dot: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13z",
  warning: "M8 1.8 15 14H1z",
} as const;

/** A shape beside a word, never instead of one. */
export const Icon: FC<{ name: keyof typeof iconPaths }> = ({ name }) => (
  <svg class={`shape shape-${name}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    <path class="outline" d={iconOutlines[name]} />
    <path class="stroke" d={iconPaths[name]} />
  </svg>
);

/** What is wrong with a field, between its label and it. */
export const FieldError: FC<{ text: string; id?: string }> = ({ text, id = "fault" }) => (
  <p class="field-error" id={id} role="alert">
    <Icon name="warning" />
    <span>
      <strong>{usePageContext().messages.error}</strong> {text}
    </span>
  </p>
);

/** What the eye would miss in a text, said beside it. */
export const TextWarnings: FC<{ text: string }> = ({ text }) => {
  const { messages } = usePageContext();
  const { invisibleCharacters, alphabets } = analyzeAppearance(text);
  const remarks = [
    invisibleCharacters.length > 0 &&
      `${messages.invisibleCharacters} ${invisibleCharacters.map(({ code, count }) => (count === 1 ? code : `${code} × ${count}`)).join(", ")}.`,
    alphabets.length > 0 &&
      `${messages.mixedAlphabets} ${alphabets.map((name) => messages.alphabets[name as keyof PublicMessages["alphabets"]]).join(", ")}.`,
  ].filter((remark) => remark !== false);
  return (
    <>
      {remarks.map((remark) => (
        <span class="remark">
          <Icon name="warning" />
          <span>{remark}</span>
        </span>
      ))}
    </>
  );
};

/** What the state of something is called, beside a shape. */
export interface StatusBadgeProps {
  readonly tone: "good" | "caution" | "bad" | "plain";
  readonly shape: keyof typeof iconPaths;
  readonly text: string;
}

export const StatusBadge: FC<StatusBadgeProps> = ({ tone, shape, text }) => (
  <span class={`status ${tone}`}>
    <Icon name={shape} />
    {text}
  </span>
);

/** Text of a stranger with its remarks. */
export const UntrustedText: FC<{ text: string; bound?: string | undefined }> = ({ text, bound }) => (
  <>
    <VerbatimText text={text} bound={bound} /> <TextWarnings text={text} />
  </>
);

/** What a business said it asks for, in its own words, where it sent any. */
export const BusinessQuote: FC<{ lead: string; text: string }> = ({ lead, text }) =>
  text === "" ? null : (
    <figure>
      <figcaption class="quiet">{lead}</figcaption>
      <blockquote>
        <UntrustedText text={text} />
      </blockquote>
    </figure>
  );

/** "4 March 2026". */
export const formatDay = (language: Language, at: Instant): string =>
  new Intl.DateTimeFormat(languageInfo[language].locale, { dateStyle: "long", timeZone: "UTC" }).format(at);

/** "4 March 2026, 05:06 UTC", with the exact instant for machines. */
export const Timestamp: FC<{ at: Instant; bound?: string | undefined }> = ({ at, bound }) => {
  const { language } = usePageContext();
  const { locale } = languageInfo[language];
  const time = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "UTC" }).format(at);
  return <time datetime={toIso(at)} data-bound={bound}>{`${formatDay(language, at)}, ${time}\u00a0UTC`}</time>;
};

const hashGroupLength = 8; // 64 characters are eight groups: countable, and each fits the narrowest screen

/** A hash or number that wraps between groups; selecting it gives it whole, without spaces. */
export const Hash: FC<{ value: string; id?: string; bound?: string }> = ({ value, id, bound }) => (
  <code class="hash" id={id} data-bound={bound} translate="no">
    {(value.match(new RegExp(`.{1,${hashGroupLength}}`, "g")) ?? []).map((group) => (
      <>
        <span>{group}</span>
        <wbr />
      </>
    ))}
  </code>
);

/** Shown by the page's script only: without it there is nothing to press. */
export const CopyButton: FC<{ of: string; label: string }> = ({ of, label }) => {
  const { messages } = usePageContext();
  return (
    <button type="button" class="copy" hidden data-copy={of} data-copied={messages.copied} aria-label={label}>
      {messages.copy}
    </button>
  );
};

/** A sentence of the catalogue with `{name}` replaced by parts; a name without a part stays visible as a mistake. */
export const FormattedMessage: FC<{ text: string; parts: Readonly<Record<string, Child>> }> = ({ text, parts }) => (
  <>{text.split(/\{([a-z]+)\}/).map((piece, at) => (at % 2 === 0 ? piece : (parts[piece] ?? `{${piece}}`)))}</>
);

/** A sentence that names a business, whose name is its own. */
export const BusinessMessage: FC<{ text: string; name: string; parts?: Readonly<Record<string, Child>> }> = ({ text, name, parts }) => (
  <FormattedMessage text={text} parts={{ business: <VerbatimText text={name} />, ...parts }} />
);

/** A sentence filled in with plain text. */
export const formatMessage = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{([a-z]+)\}/g, (whole, name: string) => values[name] ?? whole);

export const formatNumber = (value: number, language: Language): string =>
  new Intl.NumberFormat(languageInfo[language].locale).format(value);

/** A part of a page, under its heading. */
export const Section: FC<{ name: string; heading: string; children?: Child }> = ({ name, heading, children }) => (
  <section class={name} aria-labelledby={`${name}-heading`}>
    <h2 id={`${name}-heading`}>{heading}</h2>
    {children}
  </section>
);

const timelineIcons = { done: "tick", pending: "clock", counted: "dot", failed: "warning" } as const;
export type TimelineEntryKind = keyof typeof timelineIcons;

/** A line of what has happened or is still to come, with its moment where it has one. */
export const TimelineEntry: FC<{
  kind: TimelineEntryKind;
  text: Child;
  at: Instant | null;
  bound?: string | undefined;
  children?: Child;
}> = (event) => (
  <li class={event.kind}>
    <Icon name={timelineIcons[event.kind]} />
    <div>
      {event.text}
      {event.at !== null && (
        <>
          {" "}
          <Timestamp at={event.at} bound={event.bound} />
        </>
      )}
      {event.children}
    </div>
  </li>
);

/** A line of a list of terms and what they are. */
export const DescriptionRow: FC<{ name: Child; children?: Child }> = ({ name, children }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** In one line, with what stands between them. */
export const JoinedList: FC<{ of: readonly Child[]; by: string }> = ({ of, by }) => (
  <>{of.map((part, at) => (at === 0 ? part : [by, part]))}</>
);

/** Names or sentences, one to a line; nothing of those that are not there. */
export const BulletList: FC<{ of: readonly Child[] }> = ({ of }) => (
  <ul class="names">
    {of
      .filter((point) => point !== null && point !== false)
      .map((point) => (
        <li>{point}</li>
      ))}
  </ul>
);
