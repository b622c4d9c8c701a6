// The layout of the portal pages (header, navigation, flash message), and the pages that every part of the portal can respond with, such as
// the not-found page.
import type { Context } from "hono";
import type { Child } from "hono/jsx";
import type { RefusalCode } from "../../../core/refusals.ts";
import type { AppEnv } from "../../http/context.ts";
import { getUnpaidSince } from "../../operations/billing/get-unpaid-since.ts";
import { productName } from "../shared/brand.ts";
import type { Page } from "../shared/layout.tsx";
import { EmptyCard, Notice, Timestamp } from "../shared/components.tsx";
import { FlashBanner, SecretSection } from "../shared/signed-in-components.tsx";
import { renderPageOrRefusal } from "../shared/signed-in-handlers.ts";
import { ButtonLink } from "../shared/form-fields.tsx";
import {
  checkoutPath,
  FormContext,
  formatCopyLabel,
  language,
  Link,
  PortalRequestProvider,
  messages,
  SupportSentence,
} from "./components.tsx";
import type { Tab } from "./navigation.ts";
import { Shell, type Breadcrumb } from "./shell.tsx";
import type { FormError, PortalRequest } from "./portal-request.ts";

interface RefusalDetails {
  readonly error?: FormError | undefined;
  /** The refusal code for the HTTP status and the log. Defaults to the error's code. */
  readonly code?: RefusalCode | undefined;
}

/** Renders a page in the language of the portal, even for visitors who are not signed in. */
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
  /** The heading, if it differs from the title, for example because it shows an ID in a monospaced font. */
  readonly heading?: Child;
  readonly status?: Child;
  readonly intro?: Child;
  readonly actions?: Child;
  /** The parent page, or all ancestors of this page, outermost first. */
  readonly parent?: Breadcrumb | readonly Breadcrumb[];
  /** The last part of the breadcrumb. Defaults to the heading. */
  readonly crumb?: Child;
  readonly content: Child;
  /** True if the page needs the script for live updates, which includes the one for copy buttons. */
  readonly hasLiveUpdates?: boolean;
  /** Set if the page prompts for a passkey. The page then does not load the script for copy buttons. */
  readonly script?: "passkey.js";
  /** Set if the account's other pages cannot be opened. */
  readonly hidesNavigation?: true;
}

export const renderMemberPage = (
  request: PortalRequest,
  { tab, content, heading, status, intro, actions, parent, crumb, hasLiveUpdates, script, hidesNavigation, ...refusal }: MemberPage,
): Promise<Response> => {
  const { c, services, member, form } = request;
  const { error, code } = refusal;
  const canPay = member.role === "owner" && services.paymentProvider !== null;
  const title = refusal.title ?? (tab === null ? "" : messages.tabs[tab]);
  const done = c.req.query("done") ?? "";
  const withRequest = (part: Child) => <PortalRequestProvider value={request}>{part}</PortalRequestProvider>;
  return renderPortalPage(c, {
    title,
    error,
    code,
    ...(hasLiveUpdates ? { script: "follow.js", canFetchItself: true } : { script: script ?? "copy.js" }),
    surface: "portal",
    header: withRequest(<Shell tab={tab} title={crumb ?? heading ?? title} parent={parent} hidesNavigation={hidesNavigation === true} />),
    content: withRequest(
      <>
        <div class="head">
          <div>
            <div class="title">
              <h1>{heading ?? title}</h1>
              {status}
            </div>
            {intro !== undefined && <p>{intro}</p>}
          </div>
          {actions !== undefined && <div class="row">{actions}</div>}
        </div>
        {Object.hasOwn(messages.done, done) && <FlashBanner>{messages.done[done as keyof typeof messages.done]}</FlashBanner>}
        {member.business.status === "past_due" && (
          <Notice
            tone="caution"
            icon="triangle-alert"
            title={messages.pastDueTitle}
            action={canPay && <Link class="btn primary" to={checkoutPath} text={messages.payNow} />}
          >
            <p>
              {canPay || member.role === "owner" ? messages.pastDueBand : messages.pastDueBandMember}
              {!canPay && member.role === "owner" && <SupportSentence text={messages.support.pay} />}
            </p>
          </Notice>
        )}
        <FormContext.Provider value={{ form, error }}>{content}</FormContext.Provider>
      </>,
    ),
  });
};

/**
 * Renders the same page for a record that does not exist and for a record of a different business, so that the response does not reveal
 * which IDs exist.
 */
export const notFoundPage = (request: PortalRequest): Promise<Response> =>
  renderMemberPage(request, {
    tab: null,
    title: messages.nothing,
    content: (
      <EmptyCard
        icon="search"
        title={messages.nothingTitle}
        advice={messages.nothingAdvice}
        action={<Link class="btn primary" to="/portal" text={messages.toOverview} />}
      />
    ),
    code: "not_found",
  });

export const forbiddenPage = (request: PortalRequest, code: RefusalCode, reason: string): Promise<Response> =>
  renderMemberPage(request, {
    tab: null,
    title: messages.notDone,
    content: (
      <EmptyCard
        icon="lock"
        title={code === "owner_required" ? messages.ownersOnlyTitle : messages.cannotChangeYet}
        advice={reason}
        action={
          <>
            {code === "owner_required" && <Link class="btn primary" to="/portal/team" text={messages.team.goToTeam} />}
            <Link class="btn" to="/portal" text={messages.toOverview} />
          </>
        }
      />
    ),
    code,
  });

const inactiveAccountIcons = { pending: "clock", suspended: "lock", unpaid: "credit-card", closed: "archive" } as const;

/**
 * Renders the page for a pending, suspended or closed account. It shows no account data. If the account is suspended for nonpayment,
 * owners get a link to checkout. On a deployment without billing, the page shows the support address instead, if there is one.
 */
export const inactiveAccountPage = async (request: PortalRequest, code: RefusalCode): Promise<Response> => {
  const { business, role } = request.member;
  const unpaidSince = await getUnpaidSince(request.services, request.member);
  const kind =
    business.status === "pending" || business.status === "closed" ? business.status : unpaidSince === null ? "suspended" : "unpaid";
  const { title, heading, advice } = messages.closed[kind];
  const canPay = role === "owner" && request.services.paymentProvider !== null;
  const isOffline = request.services.paymentProvider === null;
  const unpaidAdvice = isOffline ? messages.closed.unpaidOffline : canPay ? advice : `${advice} ${messages.ownersOnly}`;
  return renderMemberPage(request, {
    tab: null,
    title,
    code,
    hidesNavigation: true,
    intro: unpaidSince !== null && (
      <>
        {messages.closed.since} <Timestamp at={unpaidSince} />
      </>
    ),
    content: (
      <EmptyCard
        icon={inactiveAccountIcons[kind]}
        title={heading}
        advice={
          <>
            {kind === "unpaid" ? unpaidAdvice : advice}
            {kind === "suspended" && <SupportSentence text={messages.support.reason} />}
            {kind === "unpaid" && isOffline && <SupportSentence text={messages.support.reactivate} />}
          </>
        }
        action={
          kind === "unpaid" && canPay ? (
            <Link class="btn primary" to={checkoutPath} text={messages.payNow} />
          ) : kind === "pending" ? (
            <ButtonLink href="/docs/first-hour">{messages.closed.quickstart}</ButtonLink>
          ) : (
            <ButtonLink href="/">{messages.closed.check}</ButtonLink>
          )
        }
      />
    ),
  });
};

interface SecretPage {
  readonly tab: Tab;
  readonly title: string;
  readonly label: string;
  /** Replaces the default heading, which says that the secret will not be shown again. */
  readonly heading?: string;
  /** Null if the secret was already shown. */
  readonly value: string | null;
  readonly backPath: string;
}

/** Shows a secret in the response to the form that created or revealed it. */
export const renderSecretPage = (
  request: PortalRequest,
  { tab, title, label, heading = messages.secret.heading, value, backPath }: SecretPage,
): Promise<Response> =>
  renderMemberPage(request, {
    tab,
    title,
    content: (
      <SecretSection
        heading={value === null ? messages.secret.over : heading}
        value={value}
        label={label}
        labelId="secret-label"
        copyLabel={formatCopyLabel(label)}
      >
        {value === null && <p>{messages.secret.overAdvice}</p>}
        <Link
          class={value === null ? "btn" : "btn primary"}
          to={backPath}
          text={value === null ? messages.secret.back : messages.secret.kept}
        />
      </SecretSection>
    ),
  });
