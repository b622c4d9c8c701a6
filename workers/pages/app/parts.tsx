// What every page of the app is set from: the way around, what was just done, forms with their token, and what a share's state is called.
import { createContext, useContext, type Child, type FC } from "hono/jsx";
import { groupsOf, type ContactKey } from "../../../core/shares/fields.ts";
import type { Share } from "../../../core/shares/share.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import { groupsIn } from "../authorize/views.tsx";
import { accountWords, type AccountWords } from "../shared/i18n/account.ts";
import type { AppWords } from "../shared/i18n/app.ts";
import type { Language } from "../shared/language.ts";
import type { Page } from "../shared/layout.tsx";
import { dayIn, Exact, filled, Naming, Shape, Status, useSetting, type Standing } from "../shared/parts.tsx";

/** What the person just did, said once. */
export interface Flash {
  readonly key: keyof AppWords["flash"];
  readonly date?: Instant;
  readonly count?: number;
}

/** What the pages know of whoever reads them. */
export interface AppView {
  readonly language: Language;
  readonly words: AppWords;
  /** The proven address. */
  readonly email: string;
  readonly flash: Flash | null;
  readonly now: Instant;
  readonly formToken: (path: string) => Promise<string>;
}

const View = createContext<AppView | null>(null);

/** What `appPage` was given, for all that stands on the page. */
export const useView = (): AppView => {
  const view = useContext(View);
  if (view === null) throw new Error("app: a part of a page of the app stands on another page");
  return view;
};

export const accountWordsOf = ({ language }: AppView): AccountWords => accountWords[language];

/** A form of somebody who is signed in: only its own page knows its token. */
export const PostForm: FC<{ action: string; class?: string; children?: Child }> = async ({ action, class: classes = "form", children }) => (
  <form method="post" action={action} class={classes}>
    <input type="hidden" name="form" value={await useView().formToken(action)} />
    {children}
  </form>
);

/** A form of one button that says by its name what it is about. */
export const OneButton: FC<{ action: string; id: string; text: string; label: string }> = ({ action, id, text, label }) => (
  <PostForm action={action}>
    <input type="hidden" name="id" value={id} />
    <button type="submit" aria-label={label}>
      {text}
    </button>
  </PostForm>
);

type Tab = keyof AppWords["tabs"];

const tabs: readonly (readonly [Tab, string])[] = [
  ["consents", "/app"],
  ["details", "/app/details"],
  ["history", "/app/history"],
  ["account", "/app/account"],
];

const Navigation: FC<{ tab: Tab | undefined }> = ({ tab }) => {
  const { words, email } = useView();
  return (
    <div class="app-bar">
      <nav aria-label={words.tabsLabel}>
        <ul>
          {tabs.map(([name, path]) => (
            <li>
              <a href={path} aria-current={name === tab ? "page" : undefined}>
                {words.tabs[name]}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <PostForm action="/app/sign-out" class="sign-out">
        <span class="quiet">
          <Exact text={email} />
        </span>
        <button type="submit" class="link">
          {words.signOut}
        </button>
      </PostForm>
    </div>
  );
};

type Section = keyof AccountWords["sections"];

const sections: readonly (readonly [Section, string])[] = [
  ["security", "/app/account"],
  ["agents", "/app/agents"],
  ["removals", "/app/removals"],
  ["export", "/app/export"],
  ["delete", "/app/delete"],
];

/** A choice of pages above what is chosen. */
export const Views: FC<{ label: string; of: readonly { path: string; text: string; isOpen: boolean }[] }> = ({ label, of }) => (
  <nav class="views" aria-label={label}>
    <ul>
      {of.map(({ path, text, isOpen }) => (
        <li>
          <a href={path} aria-current={isOpen ? "true" : undefined}>
            {text}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);

/** Things of the person's, each in its `li`; where there are none, a sentence that says so. */
export const Lines: FC<{ of: readonly Child[]; none: string }> = ({ of, none }) =>
  of.length === 0 ? <p>{none}</p> : <ul class="lines">{of}</ul>;

/** A table whose rows are headed by their first cell; where it is narrow, each other cell says what it is. */
export const Records: FC<{ headings: readonly string[]; rows: readonly (readonly Child[])[] }> = ({ headings, rows }) => (
  <table class="records">
    <thead>
      <tr>
        {headings.map((heading) => (
          <th scope="col">{heading}</th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map((cells) => (
        <tr>{cells.map((cell, at) => (at === 0 ? <th scope="row">{cell}</th> : <td data-label={headings[at]}>{cell}</td>))}</tr>
      ))}
    </tbody>
  </table>
);

const FlashLine: FC = () => {
  const { flash, words, language } = useView();
  if (flash === null) return null;
  const date = flash.date === undefined ? "" : dayIn(language, flash.date);
  return (
    <p class="flash" role="status">
      <Shape name="tick" />
      <span>{filled(words.flash[flash.key], { date, count: String(flash.count ?? "") })}</span>
    </p>
  );
};

interface Shown extends Pick<Page, "isFaulty" | "script"> {
  /** Where in the way around it belongs, if anywhere. */
  readonly tab?: Tab;
  /** In it `{business}` stands for the name of `business`. */
  readonly title: string;
  readonly business?: string;
  /** Where it is not the title. */
  readonly heading?: string;
  /** Among the pages of the account. */
  readonly section?: Section;
}

/** A page of the app, under its heading. */
export const appPage = (view: AppView, { tab, title, business = "", heading = title, section, ...more }: Shown, content: Child): Page => {
  const { sectionsLabel, sections: names } = accountWordsOf(view);
  return {
    ...more,
    title: `${filled(title, { business })} · ${view.words.name}`,
    navigation: (
      <View.Provider value={view}>
        <Navigation tab={tab} />
      </View.Provider>
    ),
    keepsQuery: true,
    content: (
      <View.Provider value={view}>
        <article class="own">
          <FlashLine />
          <h1>
            <Naming text={heading} name={business} />
          </h1>
          {section !== undefined && (
            <Views label={sectionsLabel} of={sections.map(([name, path]) => ({ path, text: names[name], isOpen: name === section }))} />
          )}
          {content}
        </article>
      </View.Provider>
    ),
  };
};

/** There is nothing here, or not any more; and the way back. */
export const appNotice = (view: AppView, title: string, advice: string, business = ""): Page =>
  appPage(
    view,
    { title, business },
    <>
      <p>{advice}</p>
      <p>
        <a href="/app">{view.words.backToList}</a>
      </p>
    </>,
  );

/** Several names in a sentence. */
export const Names: FC<{ names: readonly string[] }> = ({ names }) => (
  <>
    {new Intl.ListFormat(useSetting().language, { type: "conjunction" })
      .formatToParts(names)
      .map(({ type, value }) => (type === "element" ? <Exact text={value} /> : value))}
  </>
);

const soonDays = 7; // as early as the first mail about it

const standingOf = (share: Share, { words: { status }, language, now }: AppView): Standing => {
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

export const ShareStanding: FC<{ share: Share }> = ({ share }) => <Status {...standingOf(share, useView())} />;

export const groupsText = ({ language }: AppView, scope: readonly ContactKey[]): string => groupsIn(language, groupsOf(scope));
