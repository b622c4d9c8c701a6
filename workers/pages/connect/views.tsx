// What the pages of a connection show. Nothing runs but forms; a sentence of ours never takes its meaning from what a program wrote.
import type { Child, FC } from "hono/jsx";
import { tokenLifeMs, type AgentToken } from "../../../core/agents/token.ts";
import { redirectUriOf } from "../../../core/agents/redirect-uri.ts";
import type { Session } from "../../../core/access/session.ts";
import { masked } from "../../../core/masking.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import type { ConnectionRequest } from "../../operations/agents/connect.ts";
import { AddressField, Submit } from "../shared/forms.tsx";
import type { ConnectWords } from "../shared/i18n/connect.ts";
import { sheetWords } from "../shared/i18n/sheet.ts";
import type { Language } from "../shared/language.ts";
import type { Page } from "../shared/layout.tsx";
import { CodeStep } from "../shared/mailed-sign-in.tsx";
import { noticePage } from "../shared/notices.tsx";
import { dayIn, Exact, filled, Remarks, Sentence, Shape } from "../shared/parts.tsx";

/** What every step needs to know. */
export interface ConnectView {
  readonly request: ConnectionRequest;
  /** With the question mark; every form goes on with it. */
  readonly search: string;
  readonly language: Language;
  readonly words: ConnectWords;
}

/** Where a form of the page may lead: browsers hold it to that. IPv6 has no spelling there; it and apps are led by a page instead. */
export const formTarget = (redirectUri: string): string | undefined => {
  const kind = redirectUriOf(redirectUri)?.kind;
  if (kind === undefined || kind === "app" || redirectUri.startsWith("http://[")) return undefined;
  return new URL(redirectUri).origin;
};

const page = ({ request, words }: ConnectView, content: Child, fault?: string): Page => {
  const formsTo = formTarget(request.redirectUri);
  return {
    isFaulty: fault !== undefined,
    title: `${words.title} · svc`,
    ...(formsTo !== undefined && { formsTo }),
    keepsQuery: true,
    content: <article class="sheet">{content}</article>,
  };
};

/** Who asks, and where the access would go: on every step, in the same words. */
const Asking: FC<{ view: ConnectView }> = ({ view: { request, words } }) => {
  const { client, redirectUri } = request;
  const { kind = "https", host = "" } = redirectUriOf(redirectUri) ?? {};
  const goes = { https: words.goesTo, loopback: words.goesHere, app: words.goesToApp }[kind];
  const name = client.name === null ? filled(words.nameless, { host: client.host ?? host }) : <Exact text={client.name} />;
  return (
    <>
      <h1>
        <Sentence text={words.heading} parts={{ client: name }} />
      </h1>
      {client.name !== null && <Remarks text={client.name} />}
      <p>
        {client.host === null ? (
          words.unchecked
        ) : (
          <Sentence text={words.vouched} parts={{ host: <strong dir="ltr">{client.host}</strong> }} />
        )}
      </p>
      <p>
        <Sentence text={goes} parts={{ host: <strong dir="ltr">{host}</strong> }} />
      </p>
    </>
  );
};

export const emailStep = (view: ConnectView, fault?: string, typed = ""): Page => {
  const { search, words, language } = view;
  return page(
    view,
    <>
      <Asking view={view} />
      <p>{words.signIn}</p>
      <form method="post" action={`/oauth/authorize/email${search}`} class="form">
        <AddressField id="connect-email" label={sheetWords[language].email} fault={fault} typed={typed} />
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

export const codeStep = (view: ConnectView, email: string, fault?: string): Page =>
  page(view, <CodeStep name="connect" path="/oauth/authorize" search={view.search} email={email} fault={fault} />, fault);

const Listed: FC<{ lead: string; lines: readonly string[] }> = ({ lead, lines }) => (
  <>
    <h2>{lead}</h2>
    <ul class="points">
      {lines.map((line) => (
        <li>{line}</li>
      ))}
    </ul>
  </>
);

export interface Decision {
  readonly session: Session;
  readonly address: string;
  /** What the page showed, sealed. */
  readonly sealed: string;
  /** The same program is connected already. */
  readonly again: boolean;
  /** The person's own, where there are as many as there can be; none where there is room. */
  readonly full: readonly AgentToken[];
  readonly now: Instant;
}

/** Each with a button that ends it, since nothing can be connected before one of them has. */
const Full: FC<{ view: ConnectView; tokens: readonly AgentToken[] }> = ({ view: { search, words, language }, tokens }) => {
  const day = (at: Instant): string => dayIn(language, at);
  return (
    <section aria-labelledby="live" class="full">
      <p class="field-error" role="status">
        <Shape name="warning" />
        <span>{words.full}</span>
      </p>
      <h2 id="live">{words.live}</h2>
      <ul class="lines">
        {tokens.map(({ id, name, createdAt, lastUsedDay, client }, at) => (
          <li>
            <div id={`token-${at}`}>
              <strong>{name === null ? words.unnamed : <Exact text={name} />}</strong>
              <br />
              <small class="quiet">
                {client !== null && <bdi dir="ltr">{client.redirectHost} · </bdi>}
                {filled(words.made, { date: day(createdAt) })} ·{" "}
                {lastUsedDay === null ? words.usedNever : filled(words.usedLast, { date: day(lastUsedDay * dayMs) })}
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

export const decideStep = (view: ConnectView, { session, address, sealed, again, full, now }: Decision): Page => {
  const { search, words, language } = view;
  const isConsumer = session.realm === "consumer";
  const parts = {
    address: <bdi dir="ltr">{masked("email", address)}</bdi>,
    business: isConsumer ? "" : <Exact text={session.business.name} />,
    role: isConsumer ? "" : words.roles[session.role],
  };
  return page(
    view,
    <>
      <Asking view={view} />
      <p>
        <Sentence text={isConsumer ? words.asConsumer : words.asMember} parts={parts} />
      </p>
      {full.length > 0 && <Full view={view} tokens={full} />}
      <Listed lead={words.can} lines={isConsumer ? words.consumerCan : words.businessCan} />
      <Listed lead={words.never} lines={words.cannot} />
      <p class="quiet">{filled(words.ends, { date: dayIn(language, now + tokenLifeMs) })}</p>
      <form method="post" action={`/oauth/authorize/decide${search}`} class="form">
        <input type="hidden" name="request" value={sealed} />
        <div class="decision">
          <button type="submit" name="decision" value="deny" class="button">
            {words.deny}
          </button>
          {again && (
            <button type="submit" name="decision" value="replace" class="primary">
              {words.replace}
            </button>
          )}
          {full.length === 0 && (
            <button type="submit" name="decision" value="allow" class={again ? "button" : "primary"}>
              {again ? words.beside : words.allow}
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
export const returningStep = (words: ConnectWords, host: string, target: string, isAllowed: boolean): Page => {
  const said = filled(isAllowed ? words.returning : words.returningDenied, { host });
  return noticePage(words.title, said, <BackLink words={words} host={host} target={target} />);
};

export const BackLink: FC<{ words: ConnectWords; host: string; target: string }> = ({ words, host, target }) => (
  <p>
    <a href={target} rel="noreferrer">
      {filled(words.back, { host })}
    </a>
  </p>
);

export const endStep = (words: ConnectWords, action: string): Page => {
  const form = (
    <form method="post" action={action} class="form">
      <Submit>{words.end}</Submit>
    </form>
  );
  return { ...noticePage(words.endHeading, words.endAdvice, form), keepsQuery: true };
};
