// What every page of the app is set from: the way around, what was just done, forms with their token, and what a share's state is called.
import type { Child, FC } from "hono/jsx";
import { groupsOf, type ContactKey } from "../../../core/shares/fields.ts";
import type { Share } from "../../../core/shares/share.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import { groupsIn } from "../authorize/views.tsx";
import type { AppWords } from "../shared/i18n/app.ts";
import { sheetWords } from "../shared/i18n/sheet.ts";
import type { Page } from "../shared/layout.tsx";
import { dayIn, Exact, FieldFault, filled, Sentence, Shape, type Setting } from "../shared/parts.tsx";

export { dayIn };

/** What the person just did, said once. */
export interface Flash {
  readonly key: keyof AppWords["flash"];
  readonly date?: Instant;
  readonly count?: number;
}

/** What the pages know of whoever reads them. */
export interface AppView {
  readonly setting: Setting;
  readonly words: AppWords;
  /** The proven address. */
  readonly email: string;
  readonly flash: Flash | null;
  readonly now: Instant;
  readonly formToken: (path: string) => Promise<string>;
}

export type Tab = keyof AppWords["tabs"];

const tabs: readonly (readonly [Tab, string])[] = [
  ["consents", "/app"],
  ["details", "/app/details"],
  ["history", "/app/history"],
  ["account", "/app/account"],
];

/** A form of somebody who is signed in: only its own page knows its token. */
export const PostForm: FC<{ view: AppView; action: string; class?: string; children?: Child }> = async ({
  view,
  action,
  class: classes = "form",
  children,
}) => (
  <form method="post" action={action} class={classes}>
    <input type="hidden" name="form" value={await view.formToken(action)} />
    {children}
  </form>
);

const Navigation: FC<{ view: AppView; tab: Tab | null }> = ({ view, tab }) => (
  <div class="app-bar">
    <nav aria-label={view.words.tabsLabel}>
      <ul>
        {tabs.map(([name, path]) => (
          <li>
            <a href={path} aria-current={name === tab ? "page" : undefined}>
              {view.words.tabs[name]}
            </a>
          </li>
        ))}
      </ul>
    </nav>
    <PostForm view={view} action="/app/sign-out" class="sign-out">
      <span class="quiet">
        <Exact text={view.email} />
      </span>
      <button type="submit" class="link">
        {view.words.signOut}
      </button>
    </PostForm>
  </div>
);

const FlashLine: FC<{ view: AppView }> = ({ view: { flash, words, setting } }) =>
  flash === null ? null : (
    <p class="flash" role="status">
      <Shape name="tick" />
      <span>
        {filled(words.flash[flash.key], {
          date: flash.date === undefined ? "" : dayIn(setting.language, flash.date),
          count: String(flash.count ?? ""),
        })}
      </span>
    </p>
  );

/** A page within the app. */
export const appPage = (view: AppView, tab: Tab | null, title: string, content: Child): Page => ({
  title: `${title} · ${view.words.name}`,
  navigation: <Navigation view={view} tab={tab} />,
  keepsQuery: true,
  content: (
    <article class="own">
      <FlashLine view={view} />
      {content}
    </article>
  ),
});

/** The same page, whose title says first that something is wrong on it. */
export const faulty = ({ setting: { language } }: AppView, fault: string | undefined, page: Page): Page =>
  fault === undefined ? page : { ...page, title: `${sheetWords[language].error} ${page.title}` };

/** There is nothing here, or not any more; and the way back. */
export const appNotice = (view: AppView, title: string, advice: string): Page =>
  appPage(
    view,
    null,
    title,
    <>
      <h1>{title}</h1>
      <p>{advice}</p>
      <p>
        <a href="/app">{view.words.backToList}</a>
      </p>
    </>,
  );

/** What went wrong with a form, first in it. */
export const Fault: FC<{ view: AppView; text: string; id?: string }> = ({ view: { setting }, text, id = "fault" }) => (
  <FieldFault id={id} text={text} word={sheetWords[setting.language].error} />
);

/** A sentence that names a business, whose name is its own. */
export const Naming: FC<{ text: string; name: string; more?: Readonly<Record<string, Child>> }> = ({ text, name, more = {} }) => (
  <Sentence text={text} parts={{ business: <Exact text={name} />, ...more }} />
);

export const titleOf = (text: string, name: string): string => filled(text, { business: name });

/** Several names in a sentence. */
export const Names: FC<{ names: readonly string[]; setting: Setting }> = ({ names, setting }) => (
  <>
    {new Intl.ListFormat(setting.language, { type: "conjunction" })
      .formatToParts(names)
      .map(({ type, value }) => (type === "element" ? <Exact text={value} /> : value))}
  </>
);

const soonDays = 7; // as early as the first mail about it

interface Standing {
  readonly tone: "good" | "caution" | "bad" | "plain";
  readonly shape: "tick" | "clock" | "warning" | "dot";
  readonly text: string;
}

const standingOf = (share: Share, { words: { status }, setting: { language }, now }: AppView): Standing => {
  const { ceaseBy } = share;
  if (share.status === "active") {
    const days = Math.floor((share.expiresAt - now) / dayMs);
    if (days > soonDays) return { tone: "good", shape: "tick", text: status.active };
    const text = days === 0 ? status.endingToday : days === 1 ? status.endingOne : filled(status.ending, { days: String(days) });
    return { tone: "caution", shape: "clock", text };
  }
  if (share.status === "revoked" && ceaseBy !== null) {
    const date = dayIn(language, ceaseBy);
    return now > ceaseBy
      ? { tone: "bad", shape: "warning", text: filled(status.overdue, { date }) }
      : { tone: "caution", shape: "clock", text: filled(status.stopped, { date }) };
  }
  if (share.status === "ceased") return { tone: "good", shape: "tick", text: status.ceased };
  return { tone: "plain", shape: "dot", text: share.status === "superseded" ? status.superseded : status.expired };
};

export const Standing: FC<{ share: Share; view: AppView }> = ({ share, view }) => {
  const { tone, shape, text } = standingOf(share, view);
  return (
    <span class={`status ${tone}`}>
      <Shape name={shape} />
      {text}
    </span>
  );
};

export const groupsText = ({ setting }: AppView, scope: readonly ContactKey[]): string => groupsIn(setting.language, groupsOf(scope));
