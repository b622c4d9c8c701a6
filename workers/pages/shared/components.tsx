// Small components for all pages: untrusted text, times, hashes, badges, lists. None contains inline styles or scripts, because the content
// security policy forbids them.
import { createContext, useContext, type Child, type FC } from "hono/jsx";
import { raw } from "hono/html";
import { toIso, type Instant } from "../../../core/time.ts";
import { analyzeAppearance } from "./text-appearance.ts";
import { publicMessages, type PublicMessages } from "../i18n/public.ts";
import { productName } from "./brand.ts";
import { splitCode } from "./code-tokens.ts";
import type { IconName } from "./icon-names.ts";
import { iconHref } from "./icons.ts";
import { locales, type Language } from "../../../core/language.ts";

export interface PageContext {
  readonly language: Language;
  readonly messages: PublicMessages;
  /** Set if the reader selected the language explicitly. Links and forms then keep it in their URLs. */
  readonly selectedLanguage: Language | null;
}

export const createPageContext = (language: Language, selectedLanguage: Language | null = null): PageContext => ({
  language,
  messages: publicMessages[language],
  selectedLanguage,
});

/** Adds the language that the reader selected to a path. */
export const withLanguage = (path: string, selected: Language | null): string => (selected === null ? path : `${path}?lang=${selected}`);

/** The context that `renderPage` (layout.tsx) provides to every component. */
export const PageContextScope = createContext(createPageContext("en"));
export const usePageContext = (): PageContext => useContext(PageContextScope);

// HTML parsers turn a carriage return into a line feed, which would change the hash of a disclosure text. Writing it as a character
// reference keeps it.
const preserveCarriageReturns = (text: string): Child => {
  const [first = "", ...rest] = text.split("\r");
  return [first, ...rest.flatMap((part) => [raw("&#13;"), part])];
};

/**
 * Shows text from users or businesses exactly as it is stored. The direction of the text does not affect what is around it, and browsers do
 * not translate it. `bound` names the member of the signed record that the page script compares with the text.
 */
export const VerbatimText: FC<{ text: string; bound?: string | undefined; passage?: boolean }> = ({ text, bound, passage }) => (
  <bdi dir="auto" lang="" translate="no" data-bound={bound} class={passage ? "exact passage" : "exact"}>
    {preserveCarriageReturns(text)}
  </bdi>
);

const urlBreakPattern = /(?<=[/.?&=_-])(?=[^/])/;

/** Shows a URL, host, path or event type that may wrap between its parts but not within a word. */
export const UrlText: FC<{ text: string }> = ({ text }) => (
  <bdi dir="ltr" translate="no" class="exact">
    {text.split(urlBreakPattern).map((part, at) => (at === 0 ? part : [<wbr />, part]))}
  </bdi>
);

/**
 * An icon that screen readers skip, because the text next to it or the label of its control says the same. It has a fixed size, because it
 * would fill the page if the stylesheet did not load.
 */
export const Icon: FC<{ name: IconName; class?: string }> = ({ name, class: classes }) => (
  <svg class={classes === undefined ? "icon" : `icon ${classes}`} width="18" height="18" aria-hidden="true">
    <use href={iconHref(name)} />
  </svg>
);

export const ArrowLink: FC<{ href: string; children?: Child }> = ({ href, children }) => (
  <a class="link" href={href}>
    {children} <Icon name="arrow-right" />
  </a>
);

/** Encodes characters such as `?` in the part before the @, which would otherwise start the headers of the email (RFC 6068). */
export const toMailtoUrl = (address: string): string => `mailto:${encodeURIComponent(address).replace("%40", "@")}`;

export const EmailLink: FC<{ address: string }> = ({ address }) => (
  <a href={toMailtoUrl(address)} translate="no">
    {address}
  </a>
);

/** The logo and the name, which link to the home page. */
export const Brand: FC<{ href?: string }> = ({ href = "/" }) => (
  <a class="brand" href={href}>
    <svg class="mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
      <circle cx="12" cy="12" r="11" fill="currentColor" />
      <path d="M7 12.4l3.4 3.4L17.2 8.8" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
    {productName}
  </a>
);

/** Returns the initials of the first two words of a name, which replace a logo. */
const toInitials = (name: string): string => {
  const initials = name.split(/\s+/).flatMap((word) => /[\p{L}\p{N}]/u.exec(word) ?? []);
  return initials.slice(0, 2).join("").toUpperCase();
};

/** A tile with the initials of a business. It is decorative, because the name is next to it. */
export const Monogram: FC<{ name: string; isSmall?: boolean }> = ({ name, isSmall = false }) => (
  <span class={isSmall ? "mono-tile s" : "mono-tile"} aria-hidden="true" translate="no">
    {toInitials(name)}
  </span>
);

export const FieldError: FC<{ text: string; id?: string }> = ({ text, id = "fault" }) => (
  <p class="error" id={id} role="alert">
    <Icon name="circle-alert" />
    <span>
      <span class="visually-hidden">{usePageContext().messages.error}</span> {text}
    </span>
  </p>
);

/** Warns about invisible characters and mixed alphabets in text. */
export const TextWarnings: FC<{ text: string }> = ({ text }) => {
  const { messages } = usePageContext();
  const { invisibleCharacters, alphabets } = analyzeAppearance(text);
  const warnings = [
    invisibleCharacters.length > 0 &&
      `${messages.invisibleCharacters} ${invisibleCharacters.map(({ code, count }) => (count === 1 ? code : `${code} × ${count}`)).join(", ")}.`,
    alphabets.length > 0 &&
      `${messages.mixedAlphabets} ${alphabets.map((name) => messages.alphabets[name as keyof PublicMessages["alphabets"]]).join(", ")}.`,
  ].filter((warning) => warning !== false);
  return (
    <>
      {warnings.map((warning) => (
        <>
          {" "}
          <small class="quiet remark">
            <Icon name="triangle-alert" />
            {warning}
          </small>
        </>
      ))}
    </>
  );
};

export interface StatusBadgeProps {
  readonly tone: "good" | "caution" | "bad" | "info" | "plain";
  readonly icon: IconName;
  readonly text: string;
}

export const StatusBadge: FC<StatusBadgeProps> = ({ tone, icon, text }) => (
  <span class={tone === "plain" ? "pill" : `pill ${tone}`}>
    <Icon name={icon} />
    {text}
  </span>
);

/** Shows verbatim text, followed by its warnings. */
export const UntrustedText: FC<{ text: string; bound?: string | undefined }> = ({ text, bound }) => (
  <>
    <VerbatimText text={text} bound={bound} />
    <TextWarnings text={text} />
  </>
);

/** Shows the text that a business wrote about its request. Renders nothing if the text is empty. */
export const BusinessQuote: FC<{ lead: string; text: string }> = ({ lead, text }) =>
  text === "" ? null : (
    <figure class="stack tight">
      <figcaption class="small quiet">{lead}</figcaption>
      <blockquote class="words">
        <UntrustedText text={text} />
      </blockquote>
    </figure>
  );

const createFormatters = (locale: string) => ({
  day: new Intl.DateTimeFormat(locale, { dateStyle: "long", timeZone: "UTC" }),
  time: new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "UTC" }),
  number: new Intl.NumberFormat(locale),
});

const formattersByLanguage = new Map<Language, ReturnType<typeof createFormatters>>();

/** Returns the formatters for a language. They are created once per isolate, because creating them takes far longer than using them. */
const getFormatters = (language: Language) => {
  const formatters = formattersByLanguage.get(language) ?? createFormatters(locales[language]);
  formattersByLanguage.set(language, formatters);
  return formatters;
};

/** Formats a date, for example "4 March 2026". */
export const formatDay = (language: Language, at: Instant): string => {
  const day = getFormatters(language).day.format(at);
  return language === "fr-CA" ? day.replace(/^1 /, "1er ") : day;
};

/** Shows a time, for example "4 March 2026, 05:06 UTC", with the exact instant for machines. The time of day does not wrap. */
export const Timestamp: FC<{ at: Instant; bound?: string | undefined }> = ({ at, bound }) => {
  const { language } = usePageContext();
  const time = `${getFormatters(language).time.format(at)} UTC`.replaceAll(" ", "\u00a0");
  return <time datetime={toIso(at)} data-bound={bound}>{`${formatDay(language, at)}, ${time}`}</time>;
};

/** Shows a day, for example "4 March 2026", for a deadline at the end of that day. */
export const Day: FC<{ at: Instant }> = ({ at }) => <time datetime={toIso(at)}>{formatDay(usePageContext().language, at)}</time>;

const hashGroupLength = 8; // a hash of 64 characters makes eight groups, and one group fits on the narrowest screen

/** Shows a hash or ID that wraps between groups but is copied without spaces. */
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

/** Hidden until the page script runs, because only the script can copy. */
export const CopyButton: FC<{ elementId: string; label: string }> = ({ elementId, label }) => {
  const { messages } = usePageContext();
  return (
    <button type="button" class="btn bare sm copy" hidden data-copy={elementId} data-copied={messages.copied} aria-label={label}>
      <Icon name="copy" />
      <span>{messages.copy}</span>
    </button>
  );
};

/** Shows a message with each `{name}` placeholder replaced with a component. A placeholder without a value stays visible. */
export const FormattedMessage: FC<{ text: string; parts: Readonly<Record<string, Child>> }> = ({ text, parts }) => (
  <>{text.split(/\{([a-z]+)\}/).map((piece, index) => (index % 2 === 0 ? piece : (parts[piece] ?? `{${piece}}`)))}</>
);

/** Shows a message with the placeholder `{business}` replaced by the name of a business. */
export const BusinessMessage: FC<{ text: string; name: string; parts?: Readonly<Record<string, Child>> }> = ({ text, name, parts }) => (
  <FormattedMessage text={text} parts={{ business: <VerbatimText text={name} />, ...parts }} />
);

/** Returns a message with each `{name}` placeholder replaced with plain text. A placeholder without a value stays as it is. */
export const formatMessage = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{([a-z]+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);

export const formatNumber = (value: number, language: Language): string => getFormatters(language).number.format(value);

interface SectionProps {
  readonly name: string;
  readonly heading: Child;
  readonly class?: string;
  readonly status?: Child;
  readonly hint?: Child;
  /** True if the content, such as a table or a list, fills the card from edge to edge. */
  readonly isFlush?: boolean;
  readonly footer?: Child;
  readonly children?: Child;
}

/** A card with a heading. Links can lead to it with the fragment `{name}-heading`. */
export const Section: FC<SectionProps> = ({ name, heading, class: classes, status, hint, isFlush = false, footer, children }) => (
  <section id={name} class={classes === undefined ? "card" : `card ${classes}`} aria-labelledby={`${name}-heading`}>
    <header>
      <h2 id={`${name}-heading`}>{heading}</h2>
      {status}
      {hint !== undefined && <p>{hint}</p>}
    </header>
    {isFlush ? children : <div class="body stack">{children}</div>}
    {footer !== undefined && <footer class="no-print">{footer}</footer>}
  </section>
);

export const Notice: FC<{
  tone?: "info" | "good" | "caution" | "bad";
  icon: IconName;
  title: Child;
  role?: "status" | "alert";
  action?: Child;
  children?: Child;
}> = ({ tone = "info", icon, title, role, action, children }) => (
  <div class={tone === "info" ? "notice" : `notice ${tone}`} role={role}>
    <Icon name={icon} />
    <div>
      <strong>{title}</strong>
      {children}
    </div>
    {action}
  </div>
);

/** A narrow card with a question and the buttons that answer it. */
export const ConfirmCard: FC<{ children?: Child }> = ({ children }) => (
  <div class="card confirm">
    <div class="body">{children}</div>
  </div>
);

interface EmptyStateProps {
  readonly icon: IconName;
  readonly title: string;
  readonly advice?: Child;
  readonly action?: Child;
}

export const EmptyState: FC<EmptyStateProps> = ({ icon, title, advice, action }) => (
  <div class="empty">
    <Icon name={icon} />
    <h2>{title}</h2>
    {advice !== undefined && <p>{advice}</p>}
    {action !== undefined && <div class="row">{action}</div>}
  </div>
);

export const EmptyCard: FC<EmptyStateProps> = (props) => (
  <div class="card">
    <EmptyState {...props} />
  </div>
);

interface CodeBlockProps {
  readonly label: string;
  /** The element ID of the code, for a copy button. */
  readonly id?: string | undefined;
  /** The member of the signed record that the code shows. */
  readonly bound?: string;
  readonly isWrapped?: boolean;
  readonly children?: Child;
}

/** Code that scrolls inside its frame. It can receive focus, so that people can scroll it with the keyboard. */
export const CodeBlock: FC<CodeBlockProps> = ({ label, id, bound, isWrapped = false, children }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset holds fields
  <pre class={isWrapped ? "wrapped" : undefined} tabindex={0} role="group" aria-label={label} translate="no">
    <code id={id} data-bound={bound}>
      {children}
    </code>
  </pre>
);

/** Shows code with its keywords, strings and comments colored. `language` is the language of a Markdown code block. */
export const HighlightedCode: FC<{ text: string; language: string }> = ({ text, language }) => (
  <>{splitCode(text, language).map(({ kind, text: part }) => (kind === null ? part : <span class={kind}>{part}</span>))}</>
);

/** Renders a sentence with Markdown: `code`, **strong** and *emphasis*. */
export const InlineMarkdown: FC<{ text: string }> = ({ text }) => (
  <>
    {text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*)/).map((piece, index) => {
      if (index % 2 === 0) return piece;
      if (piece.startsWith("`")) return <code>{piece.slice(1, -1)}</code>;
      return piece.startsWith("**") ? <strong>{piece.slice(2, -2)}</strong> : <em>{piece.slice(1, -1)}</em>;
    })}
  </>
);

const timelineIcons = { done: "circle-check", pending: "clock", counted: "eye", failed: "circle-x", withdrawn: "ban" } as const;
const timelineClasses = { done: "done", pending: "wait", counted: undefined, failed: "bad", withdrawn: "bad" } as const;
export type TimelineEntryKind = keyof typeof timelineIcons;

/** A past or expected event. `at` is null if no time is shown. */
export const TimelineEntry: FC<{
  kind: TimelineEntryKind;
  text: Child;
  at: Instant | null;
  bound?: string | undefined;
  /** True if the page script waits for this event to happen. */
  isPending?: boolean;
  children?: Child;
}> = (event) => (
  <li class={timelineClasses[event.kind]} {...(event.isPending === true && { "data-pending": "" })}>
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

/**
 * Lists names with their values. Lines whose value is null or false are left out. `isStacked` puts each value below its name, for narrow
 * columns. `isApart` aligns the values at the end of the lines.
 */
export const PropertyList: FC<{
  lines: readonly (readonly [name: Child, value: Child])[];
  isStacked?: boolean;
  isApart?: boolean;
}> = ({ lines, isStacked = false, isApart = false }) => (
  <dl class={isStacked ? "kv up" : isApart ? "kv apart" : "kv"}>
    {lines
      .filter(([, value]) => value !== null && value !== false)
      .map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);

/** A list whose items start with an icon, for example the consequences of a decision. */
export const IconList: FC<{ items: readonly (readonly [icon: IconName, text: Child])[] }> = ({ items }) => (
  <ul class="follows">
    {items.map(([icon, text]) => (
      <li>
        <Icon name={icon} />
        <span>{text}</span>
      </li>
    ))}
  </ul>
);

export const JoinedList: FC<{ items: readonly Child[]; separator: string }> = ({ items, separator }) => (
  <>{items.map((part, index) => (index === 0 ? part : [separator, part]))}</>
);

/** Renders a list. Items that are null or false are left out. */
export const BulletList: FC<{ items: readonly Child[] }> = ({ items }) => (
  <ul class="names">
    {items
      .filter((item) => item !== null && item !== false)
      .map((item) => (
        <li>{item}</li>
      ))}
  </ul>
);
