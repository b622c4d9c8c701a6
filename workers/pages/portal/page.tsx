// The frame that all pages of the portal stand in: who is signed in, the way around, what was just done; and the pages that say why there
// is no other.
import type { Context } from "hono";
import type { Child, FC } from "hono/jsx";
import type { RefusalCode } from "../../../core/refusals.ts";
import type { AppEnv } from "../../http/context.ts";
import { statusByCode } from "../../http/statuses.ts";
import { getUnpaidSince } from "../../operations/billing/get-unpaid-since.ts";
import { productName } from "../shared/brand.ts";
import { renderPage, type Page } from "../shared/layout.tsx";
import { VerbatimText, formatMessage, Timestamp, Icon } from "../shared/components.tsx";
import {
  FormContext,
  language,
  LinkList,
  PostForm,
  ActionButton,
  LabeledCopyButton,
  usePortalRequest,
  PortalRequestContext,
  messages,
} from "./components.tsx";
import { liveRootPath, tabs, testRootPath } from "./paths.ts";
import type { FormError, PortalRequest } from "./portal-request.ts";

type Tab = keyof typeof messages.tabs;

const TabNavigation: FC<{ tab: Tab | null; label: string; class: string }> = ({ tab, label, class: classes }) => {
  const { c, pathInMode, environment } = usePortalRequest();
  return (
    <nav class={classes} aria-label={label}>
      <ul>
        {tabs
          .filter(([name]) => environment === "sandbox" || name !== "sandbox")
          .map(([name, path]) => (
            <li>
              <a href={pathInMode(path)} aria-current={name === tab ? (pathInMode(path) === c.req.path ? "page" : "true") : undefined}>
                {messages.tabs[name]}
              </a>
            </li>
          ))}
      </ul>
    </nav>
  );
};

/** To another business of the same address; nothing for whoever has one and is invited to none. */
const BusinessSwitcher: FC = () => {
  const { businesses: said } = messages;
  const { pathInMode, member, memberships } = usePortalRequest();
  const others = memberships.filter(({ id, invitedUntil }) => invitedUntil === null && id !== member.userId);
  const invitations = memberships.filter(({ invitedUntil }) => invitedUntil !== null).length;
  return (
    <>
      {others.length > 0 && (
        <PostForm action="/portal/businesses" class="form press switch">
          <label for="switch" class="visually-hidden">
            {said.other}
          </label>
          <select id="switch" name="seat">
            {others.map(({ id, business }) => (
              <option value={id}>{business.name}</option>
            ))}
          </select>
          <button type="submit">{said.switch}</button>
        </PostForm>
      )}
      {(others.length > 0 || invitations > 0) && (
        <a href={pathInMode("/portal/businesses")}>
          {invitations === 0 ? said.all : formatMessage(said.waiting, { count: String(invitations) })}
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

type RefusalDetails = {
  readonly error?: FormError | undefined;
  /** Why it is answered instead of another page, where no fault says so. */
  readonly code?: RefusalCode | undefined;
};

/** Answers with a page in the portal's words, whoever reads it. */
export const renderPortalPage = (
  c: Context<AppEnv>,
  { error, code = error?.code, title, ...page }: Page & RefusalDetails,
): Promise<Response> => {
  if (code !== undefined) c.set("refused", code);
  const whole: Page = {
    ...page,
    title: `${error === undefined ? "" : `${messages.error} `}${title} · ${productName}`,
    onlyLanguage: language,
  };
  return renderPage(c, code === undefined ? 200 : statusByCode[code], () => whole, language);
};

interface MemberPage extends RefusalDetails {
  readonly tab: Tab | null;
  /** That of the tab, where none is given. */
  readonly title?: string;
  readonly content: Child;
  /** It is read again by a script, which then stands in place of the one that copies. */
  readonly hasLiveUpdates?: boolean;
  /** Nothing of the business is shown: there is nowhere to go. */
  readonly hidesNavigation?: true;
}

/** Answers a member with a page in its frame. */
export const renderMemberPage = (
  visit: PortalRequest,
  { tab, content, hasLiveUpdates, hidesNavigation, ...sheet }: MemberPage,
): Promise<Response> => {
  const { c, member, environment, pathInMode, form } = visit;
  const { error, code } = sheet;
  const tabName = tab === null ? null : messages.tabs[tab];
  const title = sheet.title ?? tabName ?? "";
  const done = c.req.query("done") ?? "";
  const inVisit = (part: Child) => <PortalRequestContext.Provider value={visit}>{part}</PortalRequestContext.Provider>;
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
    ...(hasLiveUpdates ? { script: "follow.js", readsItself: true } : { script: "copy.js" }),
    shell: { name: "portal", bar: inVisit(bar), side: hidesNavigation !== true && inVisit(side) },
    content: inVisit(
      <article class="portal-page">
        {Object.hasOwn(messages.done, done) && (
          <p class="flash" role="status">
            <Icon name="tick" /> {messages.done[done as keyof typeof messages.done]}
          </p>
        )}
        {member.business.status === "past_due" && (
          <p class="band">
            <Icon name="warning" /> <span>{messages.pastDueBand}</span> <a href={pathInMode("/portal/billing")}>{messages.tabs.billing}</a>
          </p>
        )}
        <h1>{title}</h1>
        <FormContext.Provider value={{ form, fault: error }}>{content}</FormContext.Provider>
      </article>,
    ),
  });
};

/** The same for what is not there and for what is another business's. */
export const notFoundPage = (visit: PortalRequest): Promise<Response> =>
  renderMemberPage(visit, { tab: null, title: messages.nothing, content: <p>{messages.nothingAdvice}</p>, code: "not_found" });

export const forbiddenPage = (visit: PortalRequest, code: RefusalCode, why: string): Promise<Response> =>
  renderMemberPage(visit, { tab: null, title: messages.notDone, content: <p>{why}</p>, code });

/** The account is suspended, pending or closed: nothing of it is shown. One that is suspended because a payment is missing can be paid for. */
export const inactiveAccountPage = async (visit: PortalRequest, code: RefusalCode): Promise<Response> => {
  const { business, role } = visit.member;
  const since = await getUnpaidSince(visit.services, visit.member);
  const suspended = since === null ? messages.closed.suspended : messages.closed.unpaid;
  const said = business.status === "pending" || business.status === "closed" ? messages.closed[business.status] : suspended;
  return renderMemberPage(visit, {
    tab: null,
    title: said.title,
    code,
    hidesNavigation: true,
    content: (
      <>
        <p>{said.advice}</p>
        {since !== null && (
          <>
            <p>
              {messages.closed.since} <Timestamp at={since} />.
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
  /** Null when it was shown before. */
  readonly value: string | null;
  readonly backPath: string;
}

/** What may be shown once only: the answer to the form that made it. */
export const renderSecretPage = (visit: PortalRequest, { tab, title, label, value, backPath }: SecretPage): Promise<Response> =>
  renderMemberPage(visit, {
    tab,
    title,
    content: (
      <section class="secret" aria-labelledby="secret">
        <h2 id="secret">{value === null ? messages.secret.over : messages.secret.heading}</h2>
        {value === null ? (
          <p>{messages.secret.overAdvice}</p>
        ) : (
          <>
            <p id="secret-label">{label}</p>
            <p>
              <code class="whole" id="secret-value" translate="no">
                {value}
              </code>{" "}
              <LabeledCopyButton of="secret-value" label={label} />
            </p>
          </>
        )}
        <LinkList class="button" to={backPath} text={value === null ? messages.secret.back : messages.secret.kept} />
      </section>
    ),
  });
