// Pages for connecting an agent to an account. They do not load scripts, and they show text from the client only as verbatim quotes.
import type { Child, FC } from "hono/jsx";
import { tokenLifetimeMs, type AgentToken } from "../../../core/agents/agent-token.ts";
import { parseRedirectUri } from "../../../core/agents/redirect-uri.ts";
import type { Session } from "../../../core/access/session.ts";
import { maskFieldValue } from "../../../core/masking.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import type { ConnectionSummary } from "../../../storage/agent-tokens.ts";
import type { ConnectionRequest } from "../../operations/agents/connection-request.ts";
import { EmailField, SubmitButton } from "../shared/form-fields.tsx";
import type { ConnectMessages } from "../i18n/connect.ts";
import { sheetMessages } from "../i18n/sheet.ts";
import type { Language } from "../../../core/language.ts";
import type { Page } from "../shared/layout.tsx";
import { EmailCodeStep, type CodeStep } from "../shared/email-code-sign-in.tsx";
import { noticePage } from "../shared/notice-pages.tsx";
import {
  formatDay,
  VerbatimText,
  formatMessage,
  Monogram,
  Notice,
  TextWarnings,
  FormattedMessage,
  Icon,
  IconList,
} from "../shared/components.tsx";

export interface ConnectView {
  readonly request: ConnectionRequest;
  /** The query string, including the question mark. Every form keeps it. */
  readonly search: string;
  /** The client's URL that the browser returns to if access is denied. */
  readonly deniedUrl: string;
  readonly language: Language;
  readonly messages: ConnectMessages;
}

/**
 * Returns the origin that the Content Security Policy's `form-action` directive must allow for the redirect to the client. Returns
 * undefined for app schemes and IPv6 hosts, because the directive cannot express them. In that case, the response is `returningPage`
 * instead of a redirect.
 */
export const getFormTargetOrigin = (redirectUri: string): string | undefined => {
  const kind = parseRedirectUri(redirectUri)?.kind;
  if (kind === undefined || kind === "app" || redirectUri.startsWith("http://[")) return undefined;
  return new URL(redirectUri).origin;
};

const getClientName = ({ request: { client, redirectUri }, messages }: Pick<ConnectView, "request" | "messages">): Child => {
  const host = client.host ?? parseRedirectUri(redirectUri)?.host ?? "";
  return client.name === null ? formatMessage(messages.nameless, { host }) : <VerbatimText text={client.name} />;
};

interface ClientIdentityProps {
  readonly messages: ConnectMessages;
  /** Shown instead of the name if the client has none. */
  readonly nameless: Child;
  readonly name: string | null;
  /** The host that vouches for the name; null if none does. */
  readonly vouchingHost: string | null;
  /** The host that receives access or, for an ended connection, received it. */
  readonly host: string;
  readonly children?: Child;
}

/** Names the client and says whether a host vouches for that name. */
const ClientIdentity: FC<ClientIdentityProps> = ({ messages, nameless, name, vouchingHost, host, children }) => (
  <div class="asker">
    <Monogram name={name ?? vouchingHost ?? host} />
    <p>
      <b>{name === null ? nameless : <VerbatimText text={name} />}</b>
      {name !== null && <TextWarnings text={name} />}
      {vouchingHost !== null && (
        <small>
          <FormattedMessage text={messages.vouched} parts={{ host: <strong dir="ltr">{vouchingHost}</strong> }} />
        </small>
      )}
      {vouchingHost === null && name !== null && <small>{messages.unchecked}</small>}
      {children}
    </p>
  </div>
);

/** Names the client and the host that receives the result. The wording is the same on every step. */
const Asker: FC<{ view: ConnectView }> = ({ view: { request, messages } }) => {
  const { client, redirectUri } = request;
  const { kind = "https", host = "" } = parseRedirectUri(redirectUri) ?? {};
  const destination = { https: messages.goesTo, loopback: messages.goesHere, app: messages.goesToApp }[kind];
  return (
    <ClientIdentity
      messages={messages}
      nameless={getClientName({ request, messages })}
      name={client.name}
      vouchingHost={client.host}
      host={host}
    >
      <small>
        <FormattedMessage text={destination} parts={{ host: <strong dir="ltr">{host}</strong> }} />
      </small>
    </ClientIdentity>
  );
};

const connectPage = (view: ConnectView, content: Child, error?: string): Page => {
  const formActionOrigin = getFormTargetOrigin(view.request.redirectUri);
  return {
    hasError: error !== undefined,
    title: `${view.messages.title} · svc`,
    ...(formActionOrigin !== undefined && { formActionOrigin }),
    preservesQuery: true,
    surface: "sheet",
    content: (
      <>
        <Asker view={view} />
        {content}
      </>
    ),
  };
};

const ConnectHeading: FC<{ view: ConnectView }> = ({ view }) => (
  <h1>
    <FormattedMessage text={view.messages.heading} parts={{ client: getClientName(view) }} />
  </h1>
);

/** Returns to the client without access. It is a link and not a form, because a refusal before sign-in is not recorded. */
const DeclineLink: FC<{ view: ConnectView }> = ({ view: { deniedUrl, messages } }) => (
  <a class="btn" href={deniedUrl} rel="noreferrer">
    {messages.deny}
  </a>
);

export const emailStepPage = (view: ConnectView, error?: string, typed = ""): Page => {
  const { search, messages, language } = view;
  return connectPage(
    view,
    <form method="post" action={`/oauth/authorize/email${search}`}>
      <div class="inner">
        <ConnectHeading view={view} />
        <p>{messages.signIn}</p>
        <EmailField
          id="connect-email"
          label={sheetMessages[language].email}
          hint={sheetMessages[language].emailHint}
          error={error}
          typed={typed}
        />
        <p class="row wide">
          <button type="submit" name="as" value="consumer" class="btn">
            {messages.forMe}
          </button>
          <button type="submit" name="as" value="business" class="btn">
            {messages.forBusiness}
          </button>
        </p>
      </div>
      <div class="answer">
        <DeclineLink view={view} />
      </div>
    </form>,
    error,
  );
};

export const codeStepPage = (view: ConnectView, step: CodeStep): Page =>
  connectPage(
    view,
    <EmailCodeStep
      name="connect"
      path="/oauth/authorize"
      search={view.search}
      {...step}
      context={<p class="small quiet">{view.messages.nothingYet}</p>}
      decline={<DeclineLink view={view} />}
    />,
    step.error,
  );

/** Shown to a person who has been invited to a business but has not joined it, and who therefore has no account to connect yet. */
export const invitedPage = ({ messages, search }: ConnectView): Page => ({
  ...noticePage(
    messages.invited,
    messages.invitedAdvice,
    <div class="row">
      <a class="btn primary" href="/portal/invitations">
        {messages.invitedOpen}
      </a>
      <form method="post" action={`/oauth/authorize/sign-out${search}`}>
        <SubmitButton class="btn">{messages.otherAccount}</SubmitButton>
      </form>
    </div>,
    "mail",
  ),
  preservesQuery: true,
});

const PermissionList: FC<{ lead: string; lines: readonly string[]; isAllowed: boolean }> = ({ lead, lines, isAllowed }) => (
  <section class="stack tight">
    <h2>{lead}</h2>
    <IconList items={lines.map((line) => [isAllowed ? "check" : "ban", line])} />
  </section>
);

export interface DecisionStep {
  readonly session: Session;
  readonly email: string;
  /** The request that this page shows, sealed. The decision applies to this request and not to the one in the URL. */
  readonly sealedRequest: string;
  /** True if the same client is already connected. */
  readonly isConnected: boolean;
  /** The user's own tokens if the limit is reached, otherwise empty. */
  readonly tokensAtLimit: readonly AgentToken[];
  readonly now: Instant;
}

/** Lists the tokens, each with a button that revokes it. The user must revoke one before connecting another agent. */
const TokenLimitNotice: FC<{ view: ConnectView; tokens: readonly AgentToken[] }> = ({ view: { search, messages, language }, tokens }) => {
  const day = (at: Instant): string => formatDay(language, at);
  return (
    <section aria-labelledby="live" class="stack">
      <Notice tone="caution" icon="triangle-alert" role="status" title={messages.full} />
      <h2 id="live">{messages.live}</h2>
      <ul class="lines">
        {tokens.map(({ id, name, createdAt, lastUsedDay, client }, index) => (
          <li class="row apart">
            <div id={`token-${index}`}>
              <strong>{name === null ? messages.unnamed : <VerbatimText text={name} />}</strong>
              <br />
              <small class="quiet">
                {client !== null && <bdi dir="ltr">{client.redirectHost} · </bdi>}
                {formatMessage(messages.made, { date: day(createdAt) })} ·{" "}
                {lastUsedDay === null ? messages.usedNever : formatMessage(messages.usedLast, { date: day(lastUsedDay * dayMs) })}
              </small>
            </div>
            <form method="post" action={`/oauth/authorize/end-one${search}`}>
              <input type="hidden" name="token_id" value={id} />
              <button type="submit" class="btn sm" aria-describedby={`token-${index}`}>
                {messages.endOne}
              </button>
            </form>
          </li>
        ))}
      </ul>
    </section>
  );
};

export const decisionStepPage = (
  view: ConnectView,
  { session, email, sealedRequest, isConnected, tokensAtLimit, now }: DecisionStep,
): Page => {
  const { search, messages, language } = view;
  const isConsumer = session.realm === "consumer";
  const parts = {
    address: <bdi dir="ltr">{maskFieldValue("email", email)}</bdi>,
    business: isConsumer ? "" : <VerbatimText text={session.business.name} />,
    role: isConsumer ? "" : messages.roles[session.role],
  };
  return connectPage(
    view,
    <>
      <div class="inner">
        <ConnectHeading view={view} />
        <p>
          <FormattedMessage text={isConsumer ? messages.asConsumer : messages.asMember} parts={parts} />
        </p>
        {isConnected && (
          <Notice icon="info" title={messages.connected}>
            <p>
              {messages.replaceResult}
              {tokensAtLimit.length === 0 && ` ${messages.besideResult}`}
            </p>
          </Notice>
        )}
        {tokensAtLimit.length > 0 && <TokenLimitNotice view={view} tokens={tokensAtLimit} />}
        <PermissionList lead={messages.can} lines={isConsumer ? messages.consumerCan : messages.businessCan} isAllowed />
        <PermissionList lead={messages.never} lines={messages.cannot} isAllowed={false} />
        <p class="small quiet">{formatMessage(messages.ends, { date: formatDay(language, now + tokenLifetimeMs) })}</p>
        <form method="post" action={`/oauth/authorize/sign-out${search}`}>
          <p class="small">
            <SubmitButton class="link">{messages.notYou}</SubmitButton>
          </p>
        </form>
      </div>
      <form method="post" action={`/oauth/authorize/decide${search}`} class="answer">
        <input type="hidden" name="request" value={sealedRequest} />
        <button type="submit" name="decision" value="deny" class={!isConnected && tokensAtLimit.length > 0 ? "btn wide" : "btn"}>
          {messages.deny}
        </button>
        {isConnected && (
          <button type="submit" name="decision" value="replace" class="btn primary">
            {messages.replace}
          </button>
        )}
        {tokensAtLimit.length === 0 && (
          <button type="submit" name="decision" value="allow" class={isConnected ? "btn wide" : "btn primary"}>
            {isConnected ? messages.beside : messages.allow}
          </button>
        )}
      </form>
    </>,
  );
};

/**
 * Shown for redirect URIs that `form-action` cannot allow. A `Refresh` header takes the browser to the client. The page also has a link, in
 * case that fails.
 */
export const returningPage = (messages: ConnectMessages, host: string, target: string, isAllowed: boolean): Page => {
  const text = formatMessage(isAllowed ? messages.returning : messages.returningDenied, { host });
  return noticePage(messages.title, text, <ReturnLink messages={messages} host={host} target={target} />);
};

export const ReturnLink: FC<{ messages: ConnectMessages; host: string; target: string }> = ({ messages, host, target }) => (
  <p>
    <a href={target} rel="noreferrer">
      {formatMessage(messages.back, { host })}
    </a>
  </p>
);

export interface EndConnectionView {
  /** Null if the link is valid, but the connection's record has already been deleted. */
  readonly connection: ConnectionSummary | null;
  readonly messages: ConnectMessages;
  readonly language: Language;
}

const EndedClient: FC<{ view: EndConnectionView }> = ({ view: { connection, messages, language } }) => {
  if (connection === null) return null;
  const { name, client, createdAt } = connection;
  const host = client?.redirectHost ?? "";
  return (
    <ClientIdentity
      messages={messages}
      nameless={formatMessage(messages.nameless, { host })}
      name={name}
      vouchingHost={client?.host ?? null}
      host={host}
    >
      <small>{formatMessage(messages.made, { date: formatDay(language, createdAt) })}</small>
    </ClientIdentity>
  );
};

export const endConnectionPage = (view: EndConnectionView, action: string): Page => ({
  title: `${view.messages.endHeading} · svc`,
  preservesQuery: true,
  content: (
    <div class="card confirm">
      <EndedClient view={view} />
      <form method="post" action={action} class="body">
        <h1>{view.messages.endHeading}</h1>
        <p>{view.messages.endAdvice}</p>
        <SubmitButton>{view.messages.end}</SubmitButton>
      </form>
    </div>
  ),
});

const endedConnectionPage = (view: EndConnectionView, title: string, advice: string): Page => ({
  title: `${title} · svc`,
  content: (
    <div class="card confirm">
      <EndedClient view={view} />
      <div class="empty">
        <Icon name="circle-check" />
        <h1>{title}</h1>
        <p>{advice}</p>
      </div>
    </div>
  ),
});

export const endedPage = (view: EndConnectionView): Page => endedConnectionPage(view, view.messages.ended, view.messages.endedAdvice);

/** Shown if the link was already used, or if the connection ended in another way. */
export const alreadyEndedPage = (view: EndConnectionView): Page =>
  endedConnectionPage(view, view.messages.alreadyEnded, view.messages.alreadyEndedAdvice);
