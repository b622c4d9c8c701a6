// What the pages of a connection show. Nothing runs but forms; a sentence of ours never takes its meaning from what a program wrote.
import type { Child, FC } from "hono/jsx";
import { tokenLifetimeMs, type AgentToken } from "../../../core/agents/agent-token.ts";
import { parseRedirectUri } from "../../../core/agents/redirect-uri.ts";
import type { Session } from "../../../core/access/session.ts";
import { maskFieldValue } from "../../../core/masking.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import type { ConnectionRequest } from "../../operations/agents/connection-request.ts";
import { EmailField, SubmitButton } from "../shared/form-fields.tsx";
import type { ConnectMessages } from "../i18n/connect.ts";
import { sheetMessages } from "../i18n/sheet.ts";
import type { Language } from "../shared/language.ts";
import type { Page } from "../shared/layout.tsx";
import { EmailCodeStep } from "../shared/email-code-sign-in.tsx";
import { noticePage } from "../shared/notice-pages.tsx";
import { formatDay, VerbatimText, formatMessage, TextWarnings, FormattedMessage, Icon } from "../shared/components.tsx";

/** What every step needs to know. */
export interface ConnectView {
  readonly request: ConnectionRequest;
  /** With the question mark; every form goes on with it. */
  readonly search: string;
  readonly language: Language;
  readonly words: ConnectMessages;
}

/** Where a form of the page may lead: browsers hold it to that. IPv6 has no spelling there; it and apps are led by a page instead. */
export const getFormTargetOrigin = (redirectUri: string): string | undefined => {
  const kind = parseRedirectUri(redirectUri)?.kind;
  if (kind === undefined || kind === "app" || redirectUri.startsWith("http://[")) return undefined;
  return new URL(redirectUri).origin;
};

const connectPage = ({ request, words }: ConnectView, content: Child, fault?: string): Page => {
  const formActionOrigin = getFormTargetOrigin(request.redirectUri);
  return {
    hasError: fault !== undefined,
    title: `${words.title} · svc`,
    ...(formActionOrigin !== undefined && { formActionOrigin }),
    preservesQuery: true,
    content: <article class="sheet">{content}</article>,
  };
};

/** Who asks, and where the access would go: on every step, in the same words. */
const RequesterHeading: FC<{ view: ConnectView }> = ({ view: { request, words } }) => {
  const { client, redirectUri } = request;
  const { kind = "https", host = "" } = parseRedirectUri(redirectUri) ?? {};
  const goes = { https: words.goesTo, loopback: words.goesHere, app: words.goesToApp }[kind];
  const name = client.name === null ? formatMessage(words.nameless, { host: client.host ?? host }) : <VerbatimText text={client.name} />;
  return (
    <>
      <h1>
        <FormattedMessage text={words.heading} parts={{ client: name }} />
      </h1>
      {client.name !== null && <TextWarnings text={client.name} />}
      <p>
        {client.host === null ? (
          words.unchecked
        ) : (
          <FormattedMessage text={words.vouched} parts={{ host: <strong dir="ltr">{client.host}</strong> }} />
        )}
      </p>
      <p>
        <FormattedMessage text={goes} parts={{ host: <strong dir="ltr">{host}</strong> }} />
      </p>
    </>
  );
};

export const emailStepPage = (view: ConnectView, fault?: string, typed = ""): Page => {
  const { search, words, language } = view;
  return connectPage(
    view,
    <>
      <RequesterHeading view={view} />
      <p>{words.signIn}</p>
      <form method="post" action={`/oauth/authorize/email${search}`} class="form">
        <EmailField id="connect-email" label={sheetMessages[language].email} error={fault} typed={typed} />
        <button type="submit" name="as" value="consumer" class="primary">
          {words.forMe}
        </button>
        <button type="submit" name="as" value="business" class="primary">
          {words.forBusiness}
        </button>
      </form>
    </>,
    fault,
  );
};

export const codeStepPage = (view: ConnectView, email: string, fault?: string): Page =>
  connectPage(view, <EmailCodeStep name="connect" path="/oauth/authorize" search={view.search} email={email} error={fault} />, fault);

const PermissionList: FC<{ lead: string; lines: readonly string[] }> = ({ lead, lines }) => (
  <>
    <h2>{lead}</h2>
    <ul class="points">
      {lines.map((line) => (
        <li>{line}</li>
      ))}
    </ul>
  </>
);

export interface DecisionStep {
  readonly session: Session;
  readonly email: string;
  /** What the page showed, sealed. */
  readonly sealedRequest: string;
  /** The same program is connected already. */
  readonly isConnected: boolean;
  /** The person's own, where there are as many as there can be; none where there is room. */
  readonly tokensAtLimit: readonly AgentToken[];
  readonly now: Instant;
}

/** Each with a button that ends it, since nothing can be connected before one of them has. */
const TokenLimitNotice: FC<{ view: ConnectView; tokens: readonly AgentToken[] }> = ({ view: { search, words, language }, tokens }) => {
  const day = (at: Instant): string => formatDay(language, at);
  return (
    <section aria-labelledby="live" class="full">
      <p class="field-error" role="status">
        <Icon name="warning" />
        <span>{words.full}</span>
      </p>
      <h2 id="live">{words.live}</h2>
      <ul class="lines">
        {tokens.map(({ id, name, createdAt, lastUsedDay, client }, at) => (
          <li>
            <div id={`token-${at}`}>
              <strong>{name === null ? words.unnamed : <VerbatimText text={name} />}</strong>
              <br />
              <small class="quiet">
                {client !== null && <bdi dir="ltr">{client.redirectHost} · </bdi>}
                {formatMessage(words.made, { date: day(createdAt) })} ·{" "}
                {lastUsedDay === null ? words.usedNever : formatMessage(words.usedLast, { date: day(lastUsedDay * dayMs) })}
              </small>
            </div>
            <form method="post" action={`/oauth/authorize/end-one${search}`}>
              <input type="hidden" name="token_id" value={id} />
              <button type="submit" class="button" aria-describedby={`token-${at}`}>
                {words.endOne}
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
  const { search, words, language } = view;
  const isConsumer = session.realm === "consumer";
  const parts = {
    address: <bdi dir="ltr">{maskFieldValue("email", email)}</bdi>,
    business: isConsumer ? "" : <VerbatimText text={session.business.name} />,
    role: isConsumer ? "" : words.roles[session.role],
  };
  return connectPage(
    view,
    <>
      <RequesterHeading view={view} />
      <p>
        <FormattedMessage text={isConsumer ? words.asConsumer : words.asMember} parts={parts} />
      </p>
      {tokensAtLimit.length > 0 && <TokenLimitNotice view={view} tokens={tokensAtLimit} />}
      <PermissionList lead={words.can} lines={isConsumer ? words.consumerCan : words.businessCan} />
      <PermissionList lead={words.never} lines={words.cannot} />
      <p class="quiet">{formatMessage(words.ends, { date: formatDay(language, now + tokenLifetimeMs) })}</p>
      <form method="post" action={`/oauth/authorize/decide${search}`} class="form">
        <input type="hidden" name="request" value={sealedRequest} />
        <div class="decision">
          <button type="submit" name="decision" value="deny" class="button">
            {words.deny}
          </button>
          {isConnected && (
            <button type="submit" name="decision" value="replace" class="primary">
              {words.replace}
            </button>
          )}
          {tokensAtLimit.length === 0 && (
            <button type="submit" name="decision" value="allow" class={isConnected ? "button" : "primary"}>
              {isConnected ? words.beside : words.allow}
            </button>
          )}
        </div>
      </form>
      <form method="post" action={`/oauth/authorize/sign-out${search}`} class="signed-in">
        <button type="submit" class="link">
          {words.notYou}
        </button>
      </form>
    </>,
  );
};

/** Where a form may not lead by itself: the browser goes on, and a link is there if it does not. */
export const returningPage = (words: ConnectMessages, host: string, target: string, isAllowed: boolean): Page => {
  const said = formatMessage(isAllowed ? words.returning : words.returningDenied, { host });
  return noticePage(words.title, said, <ReturnLink words={words} host={host} target={target} />);
};

export const ReturnLink: FC<{ words: ConnectMessages; host: string; target: string }> = ({ words, host, target }) => (
  <p>
    <a href={target} rel="noreferrer">
      {formatMessage(words.back, { host })}
    </a>
  </p>
);

export const endConnectionPage = (words: ConnectMessages, action: string): Page => {
  const form = (
    <form method="post" action={action} class="form">
      <SubmitButton>{words.end}</SubmitButton>
    </form>
  );
  return { ...noticePage(words.endHeading, words.endAdvice, form), preservesQuery: true };
};
