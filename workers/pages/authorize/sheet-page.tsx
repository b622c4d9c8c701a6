// The frame of every step of the consent sheet: the requesting business at the top, then the content, and two buttons of the same size at
// the bottom.
import type { Child, FC } from "hono/jsx";
import type { AuthorizedRequest } from "../../operations/shares/authorize-share-request.ts";
import { appMessages } from "../i18n/app.ts";
import type { SheetMessages } from "../i18n/sheet.ts";
import type { Language } from "../../../core/language.ts";
import type { Page } from "../shared/layout.tsx";
import {
  BusinessMessage,
  formatMessage,
  Icon,
  Monogram,
  StatusBadge,
  TextWarnings,
  UntrustedText,
  VerbatimText,
  BusinessQuote,
} from "../shared/components.tsx";

export interface SheetView {
  readonly request: AuthorizedRequest;
  /** The query string, including the question mark. The sheet's forms and links keep it. */
  readonly search: string;
  /** The URL that may receive the result through a redirect. If null, only the window that opened the sheet may receive it. */
  readonly returnUrl: string | null;
  readonly language: Language;
  readonly messages: SheetMessages;
}

export const getOriginHost = ({ origin }: AuthorizedRequest): string => new URL(origin).host;

export const addQueryParams = (returnUrl: string, parameters: Readonly<Record<string, string>>): string => {
  const url = new URL(returnUrl);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
};

/** Names the business that requests the data, and its site. The wording is the same on every step. */
const Asker: FC<{ view: SheetView }> = ({ view: { request, messages } }) => {
  const { name } = request.client.business;
  const isTest = request.client.environment === "sandbox";
  const isOwnMachine = isTest && new URL(request.origin).hostname === "localhost";
  return (
    <div class="asker">
      <Monogram name={name} />
      <p>
        <b>
          <VerbatimText text={name} />
        </b>
        <small>
          <Icon name="badge-check" class="good-i" />
          {formatMessage(isOwnMachine ? messages.ownMachine : messages.verifiedSite, { host: getOriginHost(request) })}
        </small>
        <TextWarnings text={name} />
        {isTest && <StatusBadge tone="caution" icon="triangle-alert" text={messages.test} />}
      </p>
    </div>
  );
};

export const RequestPurpose: FC<{ view: SheetView }> = ({ view: { request, messages } }) => (
  <>
    <p class="small">
      <strong>{messages.purpose}</strong> <UntrustedText text={request.purpose} />
    </p>
    <BusinessQuote lead={messages.theirWords} text={request.disclosureText} />
  </>
);

interface SheetOptions {
  readonly error?: string | undefined;
  readonly code?: string;
}

/** The `data-` attributes contain what the page script needs: the opener's origin, the state, the return URL and, once issued, the code. */
export const sheetPage = (view: SheetView, content: Child, { error, code }: SheetOptions = {}): Page => {
  const { request, returnUrl, messages } = view;
  return {
    hasError: error !== undefined,
    title: `${formatMessage(messages.title, { business: request.client.business.name })} · svc`,
    script: "authorize.js",
    formActionOrigin: request.origin,
    preservesQuery: true,
    surface: "sheet",
    content: (
      <div class="steps" data-origin={request.origin} data-state={request.state ?? ""} data-back={returnUrl ?? ""} data-code={code}>
        <Asker view={view} />
        {content}
      </div>
    ),
  };
};

/**
 * A link that declines the request. If the business's page opened this window, the page script closes the window. Otherwise, the link leads
 * to the return URL or, if there is none, to a page that says that nothing was shared.
 */
export const NotNowLink: FC<{ view: SheetView }> = ({ view: { returnUrl, request, search, language } }) => (
  <a
    class="btn"
    data-not-now=""
    href={
      returnUrl === null
        ? `/authorize/not-now${search}`
        : addQueryParams(returnUrl, { svc_error: "access_denied", svc_state: request.state ?? "" })
    }
  >
    {appMessages[language].notNow}
  </a>
);

export const Answers: FC<{ children?: Child }> = ({ children }) => <div class="answer">{children}</div>;

/** Links to the request's origin, which is always a verified website of the business or, for a test client, localhost. */
export const BackToSite: FC<{ view: SheetView }> = ({ view: { request, messages } }) => (
  <a class="btn primary" href={request.origin} rel="noreferrer">
    {messages.goBack}
  </a>
);

/**
 * Wraps a step that leads to the decision. If only the window that opened the sheet may receive the result, the page script must deliver
 * it. Without scripts, the page then shows a notice instead of the step.
 */
export const Decision: FC<{ view: SheetView; children?: Child }> = ({ view, children }) => {
  const { returnUrl, request, messages } = view;
  const parts = { host: getOriginHost(request) };
  if (returnUrl !== null)
    return (
      <div class="steps" data-decides="">
        {children}
      </div>
    );
  return (
    <>
      <div class="steps" data-lost="">
        <div class="inner">
          <noscript>
            <h1>{messages.needsScripts}</h1>
            <p>{formatMessage(messages.needsScriptsAdvice, parts)}</p>
          </noscript>
          <div data-lost-opener="" hidden>
            <h1>{formatMessage(messages.lostHeading, parts)}</h1>
            <p>{formatMessage(messages.lost, parts)}</p>
          </div>
        </div>
        <Answers>
          <BackToSite view={view} />
        </Answers>
      </div>
      <div class="steps" data-decides="" hidden>
        {children}
      </div>
    </>
  );
};

export const BusinessHeading: FC<{ view: SheetView; text: string }> = ({ view, text }) => (
  <h1>
    <BusinessMessage text={text} name={view.request.client.business.name} />
  </h1>
);
