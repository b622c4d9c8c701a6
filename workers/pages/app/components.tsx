// What every page of the app is set from: the way around, what was just done, forms with their token, and what a share's state is called.
import { createContext, useContext, type Child, type FC } from "hono/jsx";
import { groupsFromKeys, type ContactKey } from "../../../core/shares/fields.ts";
import type { Share } from "../../../core/shares/share.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import { formatFieldGroups } from "../authorize/views.tsx";
import { accountMessages, type AccountMessages } from "../i18n/account.ts";
import type { AppMessages } from "../i18n/app.ts";
import type { Language } from "../shared/language.ts";
import type { Page } from "../shared/layout.tsx";
import {
  formatDay,
  VerbatimText,
  formatMessage,
  BusinessMessage,
  Icon,
  StatusBadge,
  usePageContext,
  type StatusBadgeProps,
} from "../shared/components.tsx";

/** What the person just did, said once. */
export interface FlashMessage {
  readonly key: keyof AppMessages["flash"];
  readonly date?: Instant;
  readonly count?: number;
}

/** What the pages know of whoever reads them. */
export interface AppView {
  readonly language: Language;
  readonly messages: AppMessages;
  /** The proven address. */
  readonly email: string;
  readonly flash: FlashMessage | null;
  readonly now: Instant;
  readonly formToken: (path: string) => Promise<string>;
}

const AppViewContext = createContext<AppView | null>(null);

/** What `appPage` was given, for all that stands on the page. */
export const useAppView = (): AppView => {
  const view = useContext(AppViewContext);
  if (view === null) throw new Error("app: a part of a page of the app stands on another page");
  return view;
};

export const getAccountMessages = ({ language }: AppView): AccountMessages => accountMessages[language];

/** A form of somebody who is signed in: only its own page knows its token. */
export const PostForm: FC<{ action: string; class?: string; children?: Child }> = async ({ action, class: classes = "form", children }) => (
  <form method="post" action={action} class={classes}>
    <input type="hidden" name="form" value={await useAppView().formToken(action)} />
    {children}
  </form>
);

/** A form of one button that says by its name what it is about. */
export const ItemActionButton: FC<{ action: string; id: string; text: string; label: string }> = ({ action, id, text, label }) => (
  <PostForm action={action}>
    <input type="hidden" name="id" value={id} />
    <button type="submit" aria-label={label}>
      {text}
    </button>
  </PostForm>
);

type Tab = keyof AppMessages["tabs"];

const tabs: readonly (readonly [Tab, string])[] = [
  ["consents", "/app"],
  ["details", "/app/details"],
  ["history", "/app/history"],
  ["account", "/app/account"],
];

const AppNavigation: FC<{ tab: Tab | undefined }> = ({ tab }) => {
  const { messages, email } = useAppView();
  return (
    <div class="app-bar">
      <nav aria-label={messages.tabsLabel}>
        <ul>
          {tabs.map(([name, path]) => (
            <li>
              <a href={path} aria-current={name === tab ? "page" : undefined}>
                {messages.tabs[name]}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <PostForm action="/app/sign-out" class="sign-out">
        <span class="quiet">
          <VerbatimText text={email} />
        </span>
        <button type="submit" class="link">
          {messages.signOut}
        </button>
      </PostForm>
    </div>
  );
};

type AccountSection = keyof AccountMessages["sections"];

const accountSections: readonly (readonly [AccountSection, string])[] = [
  ["security", "/app/account"],
  ["agents", "/app/agents"],
  ["removals", "/app/removals"],
  ["export", "/app/export"],
  ["delete", "/app/delete"],
];

/** A choice of pages above what is chosen. */
export const ViewTabs: FC<{ label: string; of: readonly { path: string; text: string; isOpen: boolean }[] }> = ({ label, of }) => (
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
export const ItemList: FC<{ of: readonly Child[]; none: string }> = ({ of, none }) =>
  of.length === 0 ? <p>{none}</p> : <ul class="lines">{of}</ul>;

/** A table whose rows are headed by their first cell; where it is narrow, each other cell says what it is. */
export const RecordTable: FC<{ headings: readonly string[]; rows: readonly (readonly Child[])[] }> = ({ headings, rows }) => (
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

const FlashBanner: FC = () => {
  const { flash, messages, language } = useAppView();
  if (flash === null) return null;
  const date = flash.date === undefined ? "" : formatDay(language, flash.date);
  return (
    <p class="flash" role="status">
      <Icon name="tick" />
      <span>{formatMessage(messages.flash[flash.key], { date, count: String(flash.count ?? "") })}</span>
    </p>
  );
};

interface AppPageOptions extends Pick<Page, "isFaulty" | "script"> {
  /** Where in the way around it belongs, if anywhere. */
  readonly tab?: Tab;
  /** In it `{business}` stands for the name of `business`. */
  readonly title: string;
  readonly business?: string;
  /** Where it is not the title. */
  readonly heading?: string;
  /** Among the pages of the account. */
  readonly section?: AccountSection;
}

/** A page of the app, under its heading. */
export const appPage = (
  view: AppView,
  { tab, title, business = "", heading = title, section, ...more }: AppPageOptions,
  content: Child,
): Page => {
  const { sectionsLabel, sections: names } = getAccountMessages(view);
  return {
    ...more,
    title: `${formatMessage(title, { business })} · ${view.messages.name}`,
    navigation: (
      <AppViewContext.Provider value={view}>
        <AppNavigation tab={tab} />
      </AppViewContext.Provider>
    ),
    keepsQuery: true,
    content: (
      <AppViewContext.Provider value={view}>
        <article class="own">
          <FlashBanner />
          <h1>
            <BusinessMessage text={heading} name={business} />
          </h1>
          {section !== undefined && (
            <ViewTabs
              label={sectionsLabel}
              of={accountSections.map(([name, path]) => ({ path, text: names[name], isOpen: name === section }))}
            />
          )}
          {content}
        </article>
      </AppViewContext.Provider>
    ),
  };
};

/** There is nothing here, or not any more; and the way back. */
export const appNoticePage = (view: AppView, title: string, advice: string, business = ""): Page =>
  appPage(
    view,
    { title, business },
    <>
      <p>{advice}</p>
      <p>
        <a href="/app">{view.messages.backToList}</a>
      </p>
    </>,
  );

/** Several names in a sentence. */
export const NameList: FC<{ names: readonly string[] }> = ({ names }) => (
  <>
    {new Intl.ListFormat(usePageContext().language, { type: "conjunction" })
      .formatToParts(names)
      .map(({ type, value }) => (type === "element" ? <VerbatimText text={value} /> : value))}
  </>
);

const endingSoonDays = 7; // as early as the first mail about it

const describeShareStatus = (share: Share, { messages: { status }, language, now }: AppView): StatusBadgeProps => {
  const { ceaseBy } = share;
  if (share.status === "active") {
    const days = Math.floor((share.expiresAt - now) / dayMs);
    if (days > endingSoonDays) return { tone: "good", shape: "tick", text: status.active };
    const text = days === 0 ? status.endingToday : days === 1 ? status.endingOne : formatMessage(status.ending, { days: String(days) });
    return { tone: "caution", shape: "clock", text };
  }
  if (share.status === "revoked" && ceaseBy !== null) {
    const date = formatDay(language, ceaseBy);
    return now > ceaseBy
      ? { tone: "bad", shape: "warning", text: formatMessage(status.overdue, { date }) }
      : { tone: "caution", shape: "clock", text: formatMessage(status.stopped, { date }) };
  }
  if (share.status === "ceased") return { tone: "good", shape: "tick", text: status.ceased };
  return { tone: "plain", shape: "dot", text: share.status === "superseded" ? status.superseded : status.expired };
};

export const ShareStatusLabel: FC<{ share: Share }> = ({ share }) => <StatusBadge {...describeShareStatus(share, useAppView())} />;

export const formatScope = ({ language }: AppView, scope: readonly ContactKey[]): string =>
  formatFieldGroups(language, groupsFromKeys(scope));
