// Components for the app pages: the page layout with its navigation, forms, lists and the status of a share.
import type { Child, FC } from "hono/jsx";
import { groupsFromKeys, type ContactKey } from "../../../core/shares/fields.ts";
import type { Share } from "../../../core/shares/share.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import { formatFieldGroups } from "../shared/share-options.ts";
import { accountMessages, type AccountMessages } from "../i18n/account.ts";
import type { AppMessages } from "../i18n/app.ts";
import type { Language } from "../shared/language.ts";
import type { Page } from "../shared/layout.tsx";
import {
  formatDay,
  VerbatimText,
  formatMessage,
  BusinessMessage,
  StatusBadge,
  usePageContext,
  type StatusBadgeProps,
} from "../shared/components.tsx";
import {
  createRequiredContext,
  DataTable,
  FlashBanner,
  NavigationList,
  TokenForm,
  type PostFormProps,
} from "../shared/signed-in-components.tsx";
import type { SignedInRequest } from "../shared/signed-in-handlers.ts";

/** States what the person just did. Shown once. */
export interface FlashMessage {
  readonly key: keyof AppMessages["flash"];
  readonly date?: Instant;
  readonly count?: number;
}

/** Information about the reader for the components of a page. */
export interface AppView extends Pick<SignedInRequest, "email" | "now" | "formToken"> {
  readonly language: Language;
  readonly messages: AppMessages;
  readonly flash: FlashMessage | null;
}

const { Provider: AppViewProvider, use: useAppView } = createRequiredContext<AppView>("app");
export { useAppView };

export const getAccountMessages = ({ language }: AppView): AccountMessages => accountMessages[language];

/** A form for `authenticatedAction`. */
export const PostForm: FC<PostFormProps> = (form) => <TokenForm {...form} formToken={useAppView().formToken} />;

/** A button that sends the ID of a list item. `label` names the item for screen readers. */
export const ItemActionButton: FC<{ action: string; id: string; text: string; label: string }> = ({ action, id, text, label }) => (
  <PostForm action={action} hiddenValues={{ id }}>
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
  const links = tabs.map(([name, path]) => ({ path, text: messages.tabs[name], current: name === tab ? ("page" as const) : undefined }));
  return (
    <div class="app-bar">
      <NavigationList label={messages.tabsLabel} links={links} />
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

/** `items` are `li` elements. */
export const ItemList: FC<{ items: readonly Child[]; emptyMessage: string }> = ({ items, emptyMessage }) =>
  items.length === 0 ? <p>{emptyMessage}</p> : <ul class="lines">{items}</ul>;

export const RecordTable: FC<{ label: string; headings: readonly string[]; rows: readonly (readonly Child[])[] }> = ({
  label,
  headings,
  rows,
}) => <DataTable label={label} columns={headings.map((heading) => ({ heading }))} rows={rows} />;

const AppFlash: FC = () => {
  const { flash, messages, language } = useAppView();
  if (flash === null) return null;
  const date = flash.date === undefined ? "" : formatDay(language, flash.date);
  return (
    <FlashBanner>
      <span>{formatMessage(messages.flash[flash.key], { date, count: String(flash.count ?? "") })}</span>
    </FlashBanner>
  );
};

interface AppPageOptions extends Pick<Page, "hasError" | "script"> {
  readonly tab?: Tab;
  /** `{business}` is replaced with the name in `business`. */
  readonly title: string;
  readonly business?: string;
  /** Defaults to the title. */
  readonly heading?: string;
  /** Set on the pages of the account: shows the links between them. */
  readonly section?: AccountSection;
}

/** Builds a page inside the app layout: navigation, flash message, heading, content. */
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
      <AppViewProvider value={view}>
        <AppNavigation tab={tab} />
      </AppViewProvider>
    ),
    preservesQuery: true,
    content: (
      <AppViewProvider value={view}>
        <article class="own">
          <AppFlash />
          <h1>
            <BusinessMessage text={heading} name={business} />
          </h1>
          {section !== undefined && (
            <NavigationList
              class="views"
              label={sectionsLabel}
              links={accountSections.map(([name, path]) => ({ path, text: names[name], current: name === section ? "true" : undefined }))}
            />
          )}
          {content}
        </article>
      </AppViewProvider>
    ),
  };
};

/** Builds a page with one message and a link back to the list of consents. */
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

/** Names of businesses, joined as in a sentence. */
export const NameList: FC<{ names: readonly string[] }> = ({ names }) => (
  <>
    {new Intl.ListFormat(usePageContext().language, { type: "conjunction" })
      .formatToParts(names)
      .map(({ type, value }) => (type === "element" ? <VerbatimText text={value} /> : value))}
  </>
);

const endingSoonDays = 7; // when the first email about the upcoming end is sent

const describeShareStatus = (share: Share, { messages: { status }, language, now }: AppView): StatusBadgeProps => {
  const { ceaseBy } = share;
  if (share.status === "active") {
    const days = Math.floor((share.expiresAt - now) / dayMs);
    if (days > endingSoonDays) return { tone: "good", icon: "circle-check", text: status.active };
    const text = days === 0 ? status.endingToday : days === 1 ? status.endingOne : formatMessage(status.ending, { days: String(days) });
    return { tone: "caution", icon: "clock-alert", text };
  }
  if (share.status === "revoked" && ceaseBy !== null) {
    const date = formatDay(language, ceaseBy);
    return now > ceaseBy
      ? { tone: "bad", icon: "circle-alert", text: formatMessage(status.overdue, { date }) }
      : { tone: "caution", icon: "clock-alert", text: formatMessage(status.stopped, { date }) };
  }
  if (share.status === "ceased") return { tone: "good", icon: "circle-check", text: status.ceased };
  return { tone: "plain", icon: "circle-minus", text: share.status === "superseded" ? status.superseded : status.expired };
};

export const ShareStatusLabel: FC<{ share: Share }> = ({ share }) => <StatusBadge {...describeShareStatus(share, useAppView())} />;

export const formatScope = ({ language }: AppView, scope: readonly ContactKey[]): string =>
  formatFieldGroups(language, groupsFromKeys(scope));
