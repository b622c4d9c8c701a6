// The frame of a portal page: the navigation on the side, the top bar, and the banner of test mode. On a narrow screen, the navigation is a
// drawer that opens without scripts (`popover`).
import type { Child, FC } from "hono/jsx";
import { Brand, Icon, Monogram, VerbatimText, formatMessage, toMailtoUrl } from "../shared/components.tsx";
import { ActionButton, formatCount, messages, PostForm, usePortalRequest } from "./components.tsx";
import { navigationGroups, tabPath, type Tab } from "./navigation.ts";
import { accountPath, liveRootPath, testRootPath } from "./paths.ts";

const shellMessages = messages.shell;
const menuId = "menu";

export interface Breadcrumb {
  readonly path: string;
  readonly text: Child;
}

/** Shows the current business, with a menu if the member has other businesses or invitations. */
const BusinessSwitcher: FC = () => {
  const { pathInMode, member, memberships } = usePortalRequest();
  const { plan } = member;
  const { name } = member.business;
  const others = memberships.filter(({ id, invitedUntil }) => invitedUntil === null && id !== member.userId);
  const invitations = memberships.filter(({ invitedUntil }) => invitedUntil !== null).length;
  const current = (
    <>
      <Monogram name={name} isSmall />
      <span>
        <b>
          <VerbatimText text={name} />
        </b>
        <small>{messages.billing.plans[plan]}</small>
      </span>
    </>
  );
  if (others.length === 0 && invitations === 0) return <div class="who">{current}</div>;
  return (
    <details class="dropdown">
      <summary class="who">
        {current}
        <Icon name="chevrons-up-down" />
      </summary>
      <div>
        {others.map(({ id, business }) => (
          <PostForm action="/portal/businesses" hiddenValues={{ seat: id }}>
            <button type="submit">
              <VerbatimText text={business.name} />
            </button>
          </PostForm>
        ))}
        <a href={pathInMode("/portal/businesses")}>
          {invitations === 0 ? messages.businesses.all : formatMessage(messages.businesses.waiting, { count: String(invitations) })}
        </a>
      </div>
    </details>
  );
};

/**
 * Finds a certificate, a share or a refused request by its ID. The form uses POST, because people may type personal data, which must not
 * get into a URL.
 */
const IdLookup: FC<{ id: string }> = ({ id }) => (
  <PostForm
    action="/portal/lookup"
    class="lookup"
    role="search"
    label={id === "lookup" ? shellMessages.lookup : shellMessages.lookupInMenu}
  >
    <Icon name="search" />
    <label class="visually-hidden" for={id}>
      {shellMessages.lookupLabel}
    </label>
    <input id={id} name="id" placeholder={shellMessages.lookupHint} autocomplete="off" spellcheck={false} maxlength={60} />
  </PostForm>
);

/** Links to the documentation and to the operator. On wide screens, the link to the documentation is in the top bar instead. */
const HelpLinks: FC = () => {
  const { supportEmail } = usePortalRequest().services.config;
  const narrowOnly = supportEmail === null ? "narrow-only" : undefined;
  return (
    <>
      <p id="group-help" class={narrowOnly}>
        {shellMessages.help}
      </p>
      <ul aria-labelledby="group-help" class={narrowOnly}>
        <li class="narrow-only">
          <a href="/docs">
            <Icon name="book-open" />
            {shellMessages.docs}
          </a>
        </li>
        {supportEmail !== null && (
          <li>
            <a href={toMailtoUrl(supportEmail)}>
              <Icon name="mail" />
              {shellMessages.support}
            </a>
          </li>
        )}
      </ul>
    </>
  );
};

const Navigation: FC<{ tab: Tab | null }> = ({ tab }) => {
  const { c, pathInMode, environment, member } = usePortalRequest();
  const toConfirm = member.openDeadlines ?? 0;
  return (
    <nav class="pages" aria-label={shellMessages.navigation}>
      {navigationGroups.map(({ name, tabs }) => (
        <>
          {name !== null && <p id={`group-${name}`}>{shellMessages.groups[name]}</p>}
          <ul aria-labelledby={name === null ? undefined : `group-${name}`}>
            {tabs
              .filter(([entry]) => environment === "sandbox" || entry !== "sandbox")
              .map(([entry, icon]) => {
                const path = pathInMode(tabPath(entry));
                return (
                  <li>
                    <a href={path} aria-current={entry !== tab ? undefined : path === c.req.path ? "page" : "true"}>
                      <Icon name={icon} />
                      {messages.tabs[entry]}
                      {entry === "deadlines" && toConfirm > 0 && (
                        <span class="n">
                          <span class="visually-hidden">, </span>
                          {formatCount(toConfirm)}
                          <span class="visually-hidden"> {shellMessages.toConfirm}</span>
                        </span>
                      )}
                    </a>
                  </li>
                );
              })}
          </ul>
        </>
      ))}
      <HelpLinks />
    </nav>
  );
};

interface ShellProps {
  readonly tab: Tab | null;
  readonly title: Child;
  readonly parent?: Breadcrumb | readonly Breadcrumb[] | undefined;
  readonly hidesNavigation?: boolean;
}

export const Shell: FC<ShellProps> = ({ tab, title, parent, hidesNavigation = false }) => {
  const { member, email, environment, pathInMode } = usePortalRequest();
  const modes = [
    ["live", liveRootPath],
    ["sandbox", testRootPath],
  ] as const;
  return (
    <>
      <aside class="side" id={menuId} popover="auto" aria-label={shellMessages.side}>
        <div>
          <div class="row apart top">
            <Brand href={pathInMode(liveRootPath)} />
            <button type="button" class="btn bare sm close" popovertarget={menuId} popovertargetaction="hide">
              <Icon name="x" />
              {shellMessages.close}
            </button>
          </div>
          <BusinessSwitcher />
          {!hidesNavigation && (
            <>
              <nav class="seg" aria-label={shellMessages.mode}>
                {modes.map(([mode, path]) => (
                  <a href={path} aria-current={mode === environment ? "true" : undefined}>
                    {messages.environments[mode]}
                  </a>
                ))}
              </nav>
              <IdLookup id="lookup-menu" />
              <Navigation tab={tab} />
            </>
          )}
          <div class="me">
            <p>
              <a href={accountPath}>
                <VerbatimText text={email} />
              </a>
            </p>
            <div class="row apart">
              <span class="quiet">{shellMessages.roles[member.role]}</span>
              <ActionButton look="bare" action="/portal/sign-out" label={messages.signOut} />
            </div>
          </div>
        </div>
      </aside>
      <header class="topbar">
        <Brand href={pathInMode(liveRootPath)} />
        {parent === undefined ? (
          <span class="crumbs biz">
            <VerbatimText text={member.business.name} />
          </span>
        ) : (
          <nav class="crumbs" aria-label={shellMessages.breadcrumb}>
            <ol>
              {[parent].flat().map(({ path, text }) => (
                <li>
                  <a href={pathInMode(path)}>{text}</a>
                </li>
              ))}
              <li>
                <span aria-current="page">{title}</span>
              </li>
            </ol>
          </nav>
        )}
        {!hidesNavigation && <IdLookup id="lookup" />}
        <a class="btn bare sm wide-only" href="/docs">
          <Icon name="book-open" />
          {shellMessages.docs}
        </a>
        <button type="button" class="btn sm menu" popovertarget={menuId}>
          <Icon name="menu" />
          {shellMessages.menu}
        </button>
      </header>
      {environment === "sandbox" && (
        <section class="mode" aria-label={messages.environments.sandbox}>
          <Icon name="triangle-alert" />
          {messages.testBand}
          <a href={liveRootPath}>{messages.modes.sandbox}</a>
        </section>
      )}
    </>
  );
};
