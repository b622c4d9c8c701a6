// The layout of the app's pages: navigation, heading, confirmation cards and notices.
import type { Child, FC } from "hono/jsx";
import type { AccountMessages } from "../i18n/account.ts";
import type { AppMessages } from "../i18n/app.ts";
import { ButtonLink, ConfirmActions, type ConfirmActionsProps } from "../shared/form-fields.tsx";
import type { Page } from "../shared/layout.tsx";
import {
  formatDay,
  VerbatimText,
  formatMessage,
  formatNumber,
  BusinessMessage,
  FormattedMessage,
  Icon,
  Monogram,
} from "../shared/components.tsx";
import { FlashBanner, NavigationList } from "../shared/signed-in-components.tsx";
import {
  AppViewProvider,
  BusinessLine,
  ConsequenceList,
  getAccountMessages,
  PostForm,
  Tabs,
  useAppView,
  type AppView,
  type Consequence,
} from "./components.tsx";

type Tab = keyof AppMessages["tabs"];

const tabs: readonly (readonly [Tab, string])[] = [
  ["consents", "/app"],
  ["details", "/app/details"],
  ["history", "/app/history"],
  ["account", "/app/account"],
];

const AppNavigation: FC<{ tab: Tab | undefined }> = ({ tab }) => {
  const { messages } = useAppView();
  const links = tabs.map(([name, path]) => ({ path, text: messages.tabs[name], current: name === tab ? ("page" as const) : undefined }));
  return <NavigationList class="main" label={messages.tabsLabel} links={links} />;
};

const SignOutButton: FC = () => (
  <PostForm action="/app/sign-out">
    <button type="submit" class="btn bare sm">
      {useAppView().messages.signOut}
    </button>
  </PostForm>
);

const AppFooter: FC = () => {
  const { messages, email } = useAppView();
  return (
    <>
      <span>
        <FormattedMessage text={messages.signedInAs} parts={{ email: <VerbatimText text={email} /> }} />
      </span>
      <a href="/c/format">{messages.howItWorks}</a>
    </>
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

const AppFlash: FC = () => {
  const { flash, messages, language } = useAppView();
  if (flash === null) return null;
  const date = flash.date === undefined ? "" : formatDay(language, flash.date);
  return (
    <FlashBanner>
      {formatMessage(messages.flash[flash.key], { date, count: flash.count === undefined ? "" : formatNumber(flash.count, language) })}
    </FlashBanner>
  );
};

interface AppPageOptions extends Pick<Page, "hasError" | "script"> {
  readonly tab?: Tab;
  /** The placeholder `{business}` is replaced with the value of `business`. */
  readonly title: string;
  readonly business?: string;
}

const framePage = (view: AppView, { tab, title, business = "", hasError, script }: AppPageOptions, content: Child): Page => {
  const inView = (part: Child): Child => <AppViewProvider value={view}>{part}</AppViewProvider>;
  return {
    ...(hasError === true && { hasError }),
    ...(script !== undefined && { script }),
    title: `${formatMessage(title, { business })} · ${view.messages.name}`,
    navigation: inView(<AppNavigation tab={tab} />),
    mastheadEnd: inView(<SignOutButton />),
    footer: inView(<AppFooter />),
    preservesQuery: true,
    content: inView(
      <>
        <AppFlash />
        {content}
      </>,
    ),
  };
};

interface HeadedPageOptions extends AppPageOptions {
  /** The heading. Defaults to the title. */
  readonly heading?: Child;
  readonly hasMonogram?: boolean;
  readonly lede?: Child;
  readonly status?: Child;
  readonly actions?: Child;
  /** The pages above this one, for the breadcrumb. `current` is the name of this page. */
  readonly trail?: { readonly parents: readonly { readonly path: string; readonly text: Child }[]; readonly current: Child };
  /** Set on account pages, which show links to each other. */
  readonly section?: AccountSection;
}

const PageHead: FC<HeadedPageOptions> = ({ title, business = "", heading, hasMonogram = false, lede, status, actions, trail }) => (
  <div class="stack tight">
    {trail !== undefined && (
      <nav class="crumbs" aria-label={useAppView().messages.breadcrumb}>
        <ol>
          {trail.parents.map(({ path, text }) => (
            <li>
              <a href={path}>{text}</a>
            </li>
          ))}
          <li>
            <span aria-current="page">{trail.current}</span>
          </li>
        </ol>
      </nav>
    )}
    <div class="row apart page-head">
      <div class="stack tight">
        <div class={hasMonogram ? "row named" : undefined}>
          {hasMonogram && <Monogram name={business} />}
          <h1>{heading ?? <BusinessMessage text={title} name={business} />}</h1>
        </div>
        {status !== undefined && <p class="row">{status}</p>}
      </div>
      {actions !== undefined && <div class="row">{actions}</div>}
    </div>
    {lede !== undefined && <p class="lede">{lede}</p>}
  </div>
);

export const appPage = (view: AppView, options: HeadedPageOptions, content: Child): Page => {
  const { section } = options;
  const { sectionsLabel, sections: names } = getAccountMessages(view);
  return framePage(
    view,
    options,
    <>
      <PageHead {...options} />
      {section !== undefined && (
        <Tabs
          label={sectionsLabel}
          links={accountSections.map(([name, path]) => ({ path, text: names[name], isCurrent: name === section }))}
        />
      )}
      {content}
    </>,
  );
};

interface ConfirmPageOptions extends AppPageOptions {
  /** What the decision is about, shown below the name of the business. */
  readonly about?: Child;
  readonly action: string;
  readonly consequences: readonly Consequence[];
  readonly buttons: ConfirmActionsProps;
  readonly more?: Child;
}

/** Builds a page that asks for a decision, for example before a share ends or is renewed. Its two buttons have the same size. */
export const confirmPage = (
  view: AppView,
  { about, action, consequences, buttons, more, ...options }: ConfirmPageOptions,
  fields?: Child,
): Page =>
  framePage(
    view,
    options,
    <>
      <PostForm action={action} class="card confirm">
        <div class="body">
          {options.business !== undefined && <BusinessLine name={options.business}>{about}</BusinessLine>}
          <h1>
            <BusinessMessage text={options.title} name={options.business ?? ""} />
          </h1>
          <ConsequenceList of={consequences} />
          {fields}
          <ConfirmActions {...buttons} />
        </div>
      </PostForm>
      {more}
    </>,
  );

/** Builds a page with one message and a link back to the list of consents. */
export const appNoticePage = (view: AppView, title: string, advice: string, business = ""): Page =>
  framePage(
    view,
    { title, business },
    <div class="card confirm">
      <div class="empty">
        <Icon name="info" />
        <h1>
          <BusinessMessage text={title} name={business} />
        </h1>
        <p>{advice}</p>
        <div class="row">
          <ButtonLink href="/app">{view.messages.backToList}</ButtonLink>
        </div>
      </div>
    </div>,
  );
