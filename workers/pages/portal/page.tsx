// The layout of the portal pages (header, navigation, flash message) and the pages that every part of the portal needs.
import type { Context } from "hono";
import type { Child, FC } from "hono/jsx";
import type { RefusalCode } from "../../../core/refusals.ts";
import type { AppEnv } from "../../http/context.ts";
import { getUnpaidSince } from "../../operations/billing/get-unpaid-since.ts";
import { productName } from "../shared/brand.ts";
import type { Page } from "../shared/layout.tsx";
import { VerbatimText, formatMessage, Timestamp, Icon } from "../shared/components.tsx";
import { FlashBanner, NavigationList, SecretSection } from "../shared/signed-in-components.tsx";
import { renderPageOrRefusal } from "../shared/signed-in-handlers.ts";
import {
  FormContext,
  formatCopyLabel,
  language,
  LinkList,
  PostForm,
  ActionButton,
  usePortalRequest,
  PortalRequestProvider,
  messages,
} from "./components.tsx";
import { liveRootPath, tabs, testRootPath } from "./paths.ts";
import type { FormError, PortalRequest } from "./portal-request.ts";

type Tab = keyof typeof messages.tabs;

const TabNavigation: FC<{ tab: Tab | null; label: string; class: string }> = ({ tab, ...navigation }) => {
  const { c, pathInMode, environment } = usePortalRequest();
  const links = tabs
    .filter(([name]) => environment === "sandbox" || name !== "sandbox")
    .map(([name, path]) => ({
      path: pathInMode(path),
      text: messages.tabs[name],
      current: name !== tab ? undefined : pathInMode(path) === c.req.path ? ("page" as const) : ("true" as const),
    }));
  return <NavigationList {...navigation} links={links} />;
};

/** Links to other businesses and invitations for the member's email address. Renders nothing if there are none. */
const BusinessSwitcher: FC = () => {
  const { businesses: businessMessages } = messages;
  const { pathInMode, member, memberships } = usePortalRequest();
  const others = memberships.filter(({ id, invitedUntil }) => invitedUntil === null && id !== member.userId);
  const invitations = memberships.filter(({ invitedUntil }) => invitedUntil !== null).length;
  return (
    <>
      {others.length > 0 && (
        <PostForm action="/portal/businesses" class="form press switch">
          <label for="switch" class="visually-hidden">
            {businessMessages.other}
          </label>
          <select id="switch" name="seat">
            {others.map(({ id, business }) => (
              <option value={id}>{business.name}</option>
            ))}
          </select>
          <button type="submit">{businessMessages.switch}</button>
        </PostForm>
      )}
      {(others.length > 0 || invitations > 0) && (
        <a href={pathInMode("/portal/businesses")}>
          {invitations === 0 ? businessMessages.all : formatMessage(businessMessages.waiting, { count: String(invitations) })}
        </a>
      )}
    </>
  );
};

const PortalHeader: FC = () => {
  const { member, email, environment } = usePortalRequest();
  return (
    <div class="portal-bar">
      <span>
        <strong>
          <VerbatimText text={member.business.name} />
        </strong>
      </span>
      <BusinessSwitcher />
      <span>
        {messages.environments[environment]} ·{" "}
        <a href={environment === "live" ? testRootPath : liveRootPath}>{messages.modes[environment]}</a>
      </span>
      <span>
        <VerbatimText text={email} /> ({messages.roles[member.role]})
      </span>
      <ActionButton action="/portal/sign-out" label={messages.signOut} />
    </div>
  );
};

interface RefusalDetails {
  readonly error?: FormError | undefined;
  /** The refusal code of the response. Defaults to the error's code. */
  readonly code?: RefusalCode | undefined;
}

/** Renders a page in the language of the portal, also for visitors who are not signed in. */
export const renderPortalPage = (
  c: Context<AppEnv>,
  { error, code = error?.code, title, ...page }: Page & RefusalDetails,
): Promise<Response> => {
  const fullTitle = `${error === undefined ? "" : `${messages.error} `}${title} · ${productName}`;
  return renderPageOrRefusal(c, { ...page, title: fullTitle, onlyLanguage: language }, language, code);
};

interface MemberPage extends RefusalDetails {
  readonly tab: Tab | null;
  /** Defaults to the name of the tab. */
  readonly title?: string;
  readonly content: Child;
  /** Loads the script that refreshes the page instead of the one that copies. */
  readonly hasLiveUpdates?: boolean;
  /** For accounts that may not be read: there is no page to go to. */
  readonly hidesNavigation?: true;
}

/** Renders a member's page inside the portal layout. */
export const renderMemberPage = (
  request: PortalRequest,
  { tab, content, hasLiveUpdates, hidesNavigation, ...refusal }: MemberPage,
): Promise<Response> => {
  const { c, member, environment, pathInMode, form } = request;
  const { error, code } = refusal;
  const tabName = tab === null ? null : messages.tabs[tab];
  const title = refusal.title ?? tabName ?? "";
  const done = c.req.query("done") ?? "";
  const withRequest = (part: Child) => <PortalRequestProvider value={request}>{part}</PortalRequestProvider>;
  const bar = (
    <>
      {environment === "sandbox" && (
        <p class="band mode">
          <Icon name="warning" /> <span>{messages.testBand}</span> <a href={liveRootPath}>{messages.modes.sandbox}</a>
        </p>
      )}
      <PortalHeader />
    </>
  );
  const side = (
    <>
      <details class="menu">
        <summary>{formatMessage(messages.menu, { page: tabName ?? title })}</summary>
        <TabNavigation tab={tab} label={messages.menuLabel} class="folded" />
      </details>
      <TabNavigation tab={tab} label={messages.sideLabel} class="side" />
    </>
  );
  return renderPortalPage(c, {
    title,
    error,
    code,
    ...(hasLiveUpdates ? { script: "follow.js", canFetchItself: true } : { script: "copy.js" }),
    shell: { name: "portal", bar: withRequest(bar), side: hidesNavigation !== true && withRequest(side) },
    content: withRequest(
      <article class="portal-page">
        {Object.hasOwn(messages.done, done) && <FlashBanner> {messages.done[done as keyof typeof messages.done]}</FlashBanner>}
        {member.business.status === "past_due" && (
          <p class="band">
            <Icon name="warning" /> <span>{messages.pastDueBand}</span> <a href={pathInMode("/portal/billing")}>{messages.tabs.billing}</a>
          </p>
        )}
        <h1>{title}</h1>
        <FormContext.Provider value={{ form, error }}>{content}</FormContext.Provider>
      </article>,
    ),
  });
};

/** The same page for records that do not exist and records of another business, so that IDs cannot be probed. */
export const notFoundPage = (request: PortalRequest): Promise<Response> =>
  renderMemberPage(request, { tab: null, title: messages.nothing, content: <p>{messages.nothingAdvice}</p>, code: "not_found" });

export const forbiddenPage = (request: PortalRequest, code: RefusalCode, reason: string): Promise<Response> =>
  renderMemberPage(request, { tab: null, title: messages.notDone, content: <p>{reason}</p>, code });

/**
 * The page for a pending, suspended or closed account. It does not show any account data. If a payment is missing, it offers
 * the checkout to owners.
 */
export const inactiveAccountPage = async (request: PortalRequest, code: RefusalCode): Promise<Response> => {
  const { business, role } = request.member;
  const unpaidSince = await getUnpaidSince(request.services, request.member);
  const suspended = unpaidSince === null ? messages.closed.suspended : messages.closed.unpaid;
  const { title, advice } = business.status === "pending" || business.status === "closed" ? messages.closed[business.status] : suspended;
  return renderMemberPage(request, {
    tab: null,
    title,
    code,
    hidesNavigation: true,
    content: (
      <>
        <p>{advice}</p>
        {unpaidSince !== null && (
          <>
            <p>
              {messages.closed.since} <Timestamp at={unpaidSince} />.
            </p>
            {role === "owner" ? (
              <LinkList class="button" to="/portal/billing/checkout" text={messages.closed.pay} />
            ) : (
              <p>{messages.ownersOnly}</p>
            )}
          </>
        )}
      </>
    ),
  });
};

interface SecretPage {
  readonly tab: Tab;
  readonly title: string;
  readonly label: string;
  /** Null if the secret was already shown. */
  readonly value: string | null;
  readonly backPath: string;
}

/** Shows a secret once, as the response to the form that created it. */
export const renderSecretPage = (request: PortalRequest, { tab, title, label, value, backPath }: SecretPage): Promise<Response> =>
  renderMemberPage(request, {
    tab,
    title,
    content: (
      <SecretSection
        heading={value === null ? messages.secret.over : messages.secret.heading}
        value={value}
        label={label}
        labelId="secret-label"
        copyLabel={formatCopyLabel(label)}
      >
        {value === null && <p>{messages.secret.overAdvice}</p>}
        <LinkList class="button" to={backPath} text={value === null ? messages.secret.back : messages.secret.kept} />
      </SecretSection>
    ),
  });
