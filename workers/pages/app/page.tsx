// The layout of the app's pages: navigation, heading, confirmation cards and notices.
import type { Child, FC } from "hono/jsx";
import type { RefusalCode } from "../../../core/refusals.ts";
import type { AppMessages } from "../i18n/app.ts";
import { ConfirmActions, SubmitButton, type ConfirmActionsProps } from "../shared/form-fields.tsx";
import type { IconName } from "../shared/icon-names.ts";
import type { Page } from "../shared/layout.tsx";
import {
  formatDay,
  VerbatimText,
  formatMessage,
  formatNumber,
  BusinessMessage,
  FormattedMessage,
  IconList,
  Monogram,
  toMailtoUrl,
  usePageContext,
} from "../shared/components.tsx";
import { ActionLink, NoticeCard } from "../shared/notice-pages.tsx";
import { FlashBanner, NavigationList } from "../shared/signed-in-components.tsx";
import { renderPageOrRefusal } from "../shared/signed-in-handlers.ts";
import type { AppRequest } from "./app-request.ts";
import { AppRequestProvider, BusinessLine, PostForm, Tabs, useAppRequest } from "./components.tsx";

type Tab = keyof AppMessages["tabs"];

const tabs: readonly (readonly [Tab, string])[] = [
  ["consents", "/app"],
  ["details", "/app/details"],
  ["history", "/app/history"],
  ["account", "/app/account"],
];

const AppNavigation: FC<{ tab: Tab | undefined }> = ({ tab }) => {
  const { messages } = useAppRequest();
  const links = tabs.map(([name, path]) => ({ path, text: messages.tabs[name], current: name === tab ? ("page" as const) : undefined }));
  return <NavigationList class="main" label={messages.tabsLabel} links={links} />;
};

const SignOutButton: FC = () => (
  <PostForm action="/app/sign-out">
    <SubmitButton class="btn bare sm">{useAppRequest().messages.signOut}</SubmitButton>
  </PostForm>
);

const AppFooter: FC = () => {
  const { messages, email, services } = useAppRequest();
  const { supportEmail } = services.config;
  const { front } = usePageContext().messages;
  return (
    <>
      <span>
        <FormattedMessage text={messages.signedInAs} parts={{ email: <VerbatimText text={email} /> }} />
      </span>
      <span class="row">
        <a href="/c/format">{messages.howItWorks}</a>
        {supportEmail !== null && <a href={toMailtoUrl(supportEmail)}>{front.support}</a>}
      </span>
    </>
  );
};

type AccountSection = keyof AppMessages["sections"];

const accountSections: readonly (readonly [AccountSection, string])[] = [
  ["security", "/app/account"],
  ["agents", "/app/agents"],
  ["removals", "/app/removals"],
  ["export", "/app/export"],
  ["delete", "/app/delete"],
];

const AppFlash: FC = () => {
  const { flash, messages, language } = useAppRequest();
  if (flash === null) return null;
  const date = flash.date === undefined ? "" : formatDay(language, flash.date);
  return (
    <FlashBanner>
      {formatMessage(messages.flash[flash.key], { date, count: flash.count === undefined ? "" : formatNumber(flash.count, language) })}
    </FlashBanner>
  );
};

interface FrameOptions extends Pick<Page, "script"> {
  readonly tab?: Tab;
  /** The placeholder `{business}` is replaced with the value of `business`. */
  readonly title: string;
  readonly business?: string;
  /** The error of the form on this page. */
  readonly error?: string | undefined;
  /** The reason for a refusal, which determines the HTTP status. Defaults to `invalid_request` if `error` is set. */
  readonly code?: RefusalCode | undefined;
}

const renderFrame = (
  request: AppRequest,
  { tab, title, business = "", script, error, code = error === undefined ? undefined : "invalid_request" }: FrameOptions,
  content: Child,
): Promise<Response> => {
  const withRequest = (part: Child): Child => <AppRequestProvider value={request}>{part}</AppRequestProvider>;
  const page: Page = {
    hasError: error !== undefined,
    ...(script !== undefined && { script }),
    title: `${formatMessage(title, { business })} · ${request.messages.name}`,
    navigation: withRequest(<AppNavigation tab={tab} />),
    mastheadEnd: withRequest(<SignOutButton />),
    footer: withRequest(<AppFooter />),
    preservesQuery: true,
    content: withRequest(
      <>
        <AppFlash />
        {content}
      </>,
    ),
  };
  return renderPageOrRefusal(request.c, page, request.language, code);
};

interface AppPageOptions extends FrameOptions {
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

const PageHead: FC<AppPageOptions> = ({ title, business = "", heading, hasMonogram = false, lede, status, actions, trail }) => (
  <div class="stack tight">
    {trail !== undefined && (
      <nav class="crumbs" aria-label={useAppRequest().messages.breadcrumb}>
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
        {lede !== undefined && <p class="lede">{lede}</p>}
      </div>
      {actions !== undefined && <div class="row">{actions}</div>}
    </div>
  </div>
);

export const renderAppPage = (request: AppRequest, options: AppPageOptions, content: Child): Promise<Response> => {
  const { section } = options;
  const { sectionsLabel, sections: names } = request.messages;
  return renderFrame(
    request,
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

interface ConfirmPageOptions extends FrameOptions {
  /** What the decision is about, shown below the name of the business. */
  readonly about?: Child;
  readonly action: string;
  readonly consequences: readonly (readonly [icon: IconName, text: Child])[];
  readonly buttons: ConfirmActionsProps;
  readonly more?: Child;
}

/** Renders a page that asks for a decision, for example before a share ends or is renewed. Its two buttons have the same size. */
export const renderConfirmPage = (
  request: AppRequest,
  { about, action, consequences, buttons, more, ...options }: ConfirmPageOptions,
  fields?: Child,
): Promise<Response> =>
  renderFrame(
    request,
    options,
    <>
      <PostForm action={action} class="card confirm">
        <div class="body">
          {options.business !== undefined && <BusinessLine name={options.business}>{about}</BusinessLine>}
          <h1>
            <BusinessMessage text={options.title} name={options.business ?? ""} />
          </h1>
          <IconList items={consequences} />
          {fields}
          <ConfirmActions {...buttons} />
        </div>
      </PostForm>
      {more}
    </>,
  );

/** Renders the reason for a refusal, with a link back to the list of consents. */
export const renderRefusal = (request: AppRequest, code: RefusalCode, title: string, advice: string, business = ""): Promise<Response> =>
  renderFrame(
    request,
    { title, business, code },
    <NoticeCard
      title={<BusinessMessage text={title} name={business} />}
      advice={advice}
      more={<ActionLink href="/app" text={request.messages.backToList} />}
    />,
  );

/** Renders a page for a record that does not exist or belongs to someone else, so that the response does not reveal which IDs exist. */
export const notFoundPage = (request: AppRequest, title: string, advice: string): Promise<Response> =>
  renderRefusal(request, "not_found", title, advice);
