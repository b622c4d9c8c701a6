// Pages of the consent sheet, one per step. Every form works without scripts; the page script only delivers the result automatically.
import type { Child, FC } from "hono/jsx";
import { formatFieldGroup, groupsFromKeys, type ContactFields, type ContactKey, type FieldGroup } from "../../../core/shares/fields.ts";
import { fieldLabels, groupLabels } from "../../../core/shares/labels.ts";
import { personaNames } from "../../../core/shares/persona.ts";
import type { Share } from "../../../core/shares/share.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import type { AuthorizedRequest } from "../../operations/shares/authorize-share-request.ts";
import { formatFieldGroups, shorterDurationDays } from "../shared/share-options.ts";
import { EmailField, ChoiceField, getContactInputProps, SubmitButton, TextField } from "../shared/form-fields.tsx";
import { appMessages } from "../i18n/app.ts";
import type { SheetMessages } from "../i18n/sheet.ts";
import type { Language } from "../shared/language.ts";
import type { Page } from "../shared/layout.tsx";
import { EmailCodeStep } from "../shared/email-code-sign-in.tsx";
import { noticePage } from "../shared/notice-pages.tsx";
import {
  formatDay,
  FieldError,
  formatMessage,
  UntrustedText,
  BusinessMessage,
  TextWarnings,
  DescriptionRow,
  Icon,
  BusinessQuote,
} from "../shared/components.tsx";
import { PasskeyPrompt } from "../shared/passkey-sign-in.tsx";

/** Information about the request that every step needs. */
export interface SheetView {
  readonly request: AuthorizedRequest;
  /** The query string with its question mark; every form and link keeps it. */
  readonly search: string;
  /** Where the browser may return with the result without the opener window; null if only the opener may receive it. */
  readonly returnUrl: string | null;
  readonly language: Language;
  readonly messages: SheetMessages;
}

const capitalize = (language: Language, text: string): string => `${text.slice(0, 1).toLocaleUpperCase(language)}${text.slice(1)}`;

const getOriginHost = ({ origin }: AuthorizedRequest): string => new URL(origin).host;

const addQueryParams = (returnUrl: string, parameters: Readonly<Record<string, string>>): string => {
  const url = new URL(returnUrl);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
};

/** Names the business that requests the data and its site, with identical wording on every step. */
const RequesterHeading: FC<{ view: SheetView; heading: string }> = ({ view, heading }) => {
  const { request, messages } = view;
  const { name } = request.client.business;
  const isOwnMachine = request.client.environment === "sandbox" && new URL(request.origin).hostname === "localhost";
  return (
    <>
      {request.client.environment === "sandbox" && (
        <p class="status caution">
          <Icon name="triangle-alert" />
          {messages.test}
        </p>
      )}
      <h1>
        <BusinessMessage text={heading} name={name} />
      </h1>
      <TextWarnings text={name} />
      <p class="quiet">
        <BusinessMessage
          text={isOwnMachine ? messages.unproven : messages.proven}
          name={name}
          parts={{ host: <strong>{getOriginHost(request)}</strong> }}
        />
      </p>
    </>
  );
};

const RequestPurpose: FC<{ view: SheetView; lead: string }> = ({ view: { request, messages }, lead }) => (
  <>
    <p>
      {lead} <UntrustedText text={request.purpose} />
    </p>
    <BusinessQuote lead={messages.theirWords} text={request.disclosureText} />
  </>
);

interface SheetOptions {
  readonly error?: string | undefined;
  readonly code?: string;
}

/** The `data-` attributes are the input of the page script: the opener's origin, the return URL, and the code once it is issued. */
const sheetPage = ({ request, returnUrl, messages }: SheetView, content: Child, { error, code }: SheetOptions = {}): Page => ({
  hasError: error !== undefined,
  title: `${formatMessage(messages.title, { business: request.client.business.name })} · svc`,
  script: "authorize.js",
  formActionOrigin: request.origin,
  preservesQuery: true,
  content: (
    <article class="sheet" data-origin={request.origin} data-state={request.state ?? ""} data-back={returnUrl ?? ""} data-code={code}>
      {content}
    </article>
  ),
});

/** Without scripts it returns to the business's page where that is possible; with scripts it closes the window. */
const NotNowLink: FC<{ view: SheetView }> = ({ view: { returnUrl, request, search, language } }) => (
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

/** Explains what happens to a decision when scripts are off, and holds the hidden notice the page script shows if the opener is closed. */
const ScriptNotices: FC<{ view: SheetView }> = ({ view: { returnUrl, request, messages } }) => {
  const parts = { host: getOriginHost(request) };
  return (
    <>
      <noscript>
        <p class="quiet">{formatMessage(returnUrl === null ? messages.noScriptLost : messages.noScript, parts)}</p>
      </noscript>
      {returnUrl === null && (
        <section data-lost="" hidden>
          <h2>{formatMessage(messages.lostHeading, parts)}</h2>
          <p>{messages.lost}</p>
        </section>
      )}
    </>
  );
};

export const emailStepPage = (view: SheetView, error?: string, typed = ""): Page => {
  const { request, search, messages, language } = view;
  return sheetPage(
    view,
    <>
      <RequesterHeading view={view} heading={messages.heading} />
      <RequestPurpose
        view={view}
        lead={formatMessage(messages.askFor, { groups: formatFieldGroups(language, groupsFromKeys(request.requestedScope.scope)) })}
      />
      <p>{messages.nothingYet}</p>
      <ScriptNotices view={view} />
      <form method="post" action={`/authorize/email${search}`} class="form" data-decides="">
        <EmailField id="sheet-email" label={messages.email} hint={messages.emailHint} error={error} typed={typed} />
        <SubmitButton>{messages.send}</SubmitButton>
        <NotNowLink view={view} />
      </form>
      <form method="post" action={`/authorize/passkey${search}`} class="form" data-decides="" data-offers-passkey="" hidden>
        <button type="submit">{appMessages[language].usePasskey}</button>
      </form>
    </>,
    { error },
  );
};

/** Prompts for a passkey; its response signs the person in and returns to the sheet. */
export const passkeyStepPage = (view: SheetView, options: object): Page => {
  const messages = appMessages[view.language];
  return sheetPage(
    view,
    <>
      <h1>{messages.passkeyWaiting}</h1>
      <p>{messages.passkeyWaitingAdvice}</p>
      <form method="post" action={`/authorize/passkey/answer${view.search}`} class="form">
        <PasskeyPrompt how="get" options={options} label={messages.usePasskey} />
      </form>
      <p>
        <a href={`/authorize${view.search}`}>{messages.signIn}</a>
      </p>
    </>,
  );
};

export const codeStepPage = (view: SheetView, email: string, error?: string): Page =>
  sheetPage(view, <EmailCodeStep name="sheet" path="/authorize" search={view.search} email={email} error={error} />, { error });

const SignedInAs: FC<{ view: SheetView; email: string }> = ({ view: { search, messages }, email }) => (
  <form method="post" action={`/authorize/sign-out${search}`} class="signed-in">
    <p class="quiet">
      {formatMessage(messages.signedInAs, { address: email })}{" "}
      <button type="submit" class="link">
        {messages.notYou}
      </button>
    </p>
  </form>
);

export const detailsStepPage = (
  view: SheetView,
  email: string,
  details: { readonly keys: readonly ContactKey[]; readonly values: Readonly<Partial<Record<ContactKey, string>>> },
  error?: string,
): Page => {
  const { search, messages, language } = view;
  return sheetPage(
    view,
    <>
      <SignedInAs view={view} email={email} />
      <h1>{messages.detailsHeading}</h1>
      <p>{messages.detailsIntro}</p>
      <p class="quiet">{messages.detailsHint}</p>
      <form method="post" action={`/authorize/details${search}`} class="form">
        {error !== undefined && <FieldError text={error} />}
        {details.keys.map((key) => (
          <TextField
            id={`field-${key}`}
            label={fieldLabels[language][key]}
            {...getContactInputProps(key)}
            value={details.values[key] ?? ""}
          />
        ))}
        <SubmitButton>{messages.continue}</SubmitButton>
        <NotNowLink view={view} />
      </form>
    </>,
    { error },
  );
};

/** The person's checkboxes and radio buttons on the decision form, by field name. A missing name means the requested default. */
export type DecisionChoices = ReadonlyMap<string, string>;

export interface DecisionStep {
  readonly token: string;
  /** Null for a test person. */
  readonly email: string | null;
  readonly fields: ContactFields;
  readonly now: Instant;
  /** Active shares with the same business, newest first. */
  readonly activeShares: readonly Share[];
  readonly choices: DecisionChoices;
}

export const decisionStepPage = (
  view: SheetView,
  { token, email, fields, now, activeShares, choices }: DecisionStep,
  error?: string,
): Page => {
  const { request, search, messages, language } = view;
  const { scope, needed } = request.requestedScope;
  const optional = scope.filter((key) => !needed.includes(key));
  const getGroupName = (group: FieldGroup): string => capitalize(language, groupLabels[language][group]);
  const formatEndDate = (days: number): string => formatDay(language, now + days * dayMs);
  const newest = activeShares[0];
  const shorter = shorterDurationDays.filter((days) => days < request.durationDays);
  const chosenDays = shorter.find((days) => String(days) === choices.get("days"));
  const chosenPersona = personaNames.find((name) => name === choices.get("persona")) ?? personaNames[0];
  return sheetPage(
    view,
    <>
      {email !== null && <SignedInAs view={view} email={email} />}
      <RequesterHeading view={view} heading={newest === undefined ? messages.heading : messages.headingMore} />
      <RequestPurpose view={view} lead={messages.to} />
      {newest !== undefined && <p>{formatMessage(messages.already, { date: formatDay(language, newest.expiresAt) })}</p>}
      <ScriptNotices view={view} />
      <form method="post" action={`/authorize/decide${search}`} class="form" data-decides="">
        <input type="hidden" name="token" value={token} />
        {error !== undefined && <FieldError text={error} />}
        {needed.length > 0 && (
          <section>
            <h2>{messages.needed}</h2>
            <dl class="rows">
              {groupsFromKeys(needed).map((group) => (
                <DescriptionRow name={getGroupName(group)}>
                  <bdi>{formatFieldGroup(fields, needed, group) ?? messages.none}</bdi>
                </DescriptionRow>
              ))}
            </dl>
          </section>
        )}
        {optional.length > 0 && (
          <fieldset class="boxes">
            <legend>{messages.optional}</legend>
            {groupsFromKeys(optional).map((group) => {
              const line = formatFieldGroup(fields, optional, group);
              return line === null ? (
                <p>
                  {getGroupName(group)}: {messages.none}
                </p>
              ) : (
                <ChoiceField
                  type="checkbox"
                  name={`group.${group}`}
                  value="on"
                  id={`group-${group}`}
                  checked={choices.has(`group.${group}`)}
                >
                  {getGroupName(group)} <bdi>{line}</bdi>
                </ChoiceField>
              );
            })}
          </fieldset>
        )}
        {email === null ? (
          <fieldset class="boxes">
            <legend>{messages.playAs}</legend>
            {personaNames.map((name) => (
              <ChoiceField type="radio" name="persona" value={name} id={`persona-${name}`} checked={name === chosenPersona}>
                {messages.persona[name]}
              </ChoiceField>
            ))}
          </fieldset>
        ) : (
          <p>
            <a href={`/authorize${search}&edit=1`}>{messages.change}</a>
          </p>
        )}
        <details open={chosenDays !== undefined}>
          <summary>{formatMessage(messages.until, { date: formatEndDate(chosenDays ?? request.durationDays) })}</summary>
          <fieldset class="boxes">
            <legend>{messages.howLong}</legend>
            {shorter.map((days) => (
              <ChoiceField type="radio" name="days" value={String(days)} id={`days-${days}`} checked={days === chosenDays}>
                {formatMessage(appMessages[language].shorter, { days: String(days), date: formatEndDate(days) })}
              </ChoiceField>
            ))}
            <ChoiceField type="radio" name="days" value="asked" id="days-asked" checked={chosenDays === undefined}>
              {formatMessage(messages.asAsked, { days: String(request.durationDays), date: formatEndDate(request.durationDays) })}
            </ChoiceField>
          </fieldset>
        </details>
        <p class="quiet">
          <BusinessMessage text={messages.stopAnyTime} name={request.client.business.name} />
        </p>
        <div class="decision">
          <NotNowLink view={view} />
          <SubmitButton>{request.client.environment === "sandbox" ? messages.shareTest : messages.share}</SubmitButton>
        </div>
      </form>
    </>,
    { error },
  );
};

/** Confirms the share. This page is the only place that holds the code until the opener has received it. */
export const grantedPage = (view: SheetView, share: Share, code: string, email: string | null): Page => {
  const { request, returnUrl, messages, language } = view;
  const host = getOriginHost(request);
  const href = returnUrl === null ? null : addQueryParams(returnUrl, { svc_code: code, svc_state: request.state ?? "" });
  return sheetPage(
    view,
    <>
      <h1>
        <BusinessMessage text={messages.doneHeading} name={share.business.name} />
      </h1>
      <p>
        {formatMessage(messages.done, {
          groups: capitalize(language, formatFieldGroups(language, groupsFromKeys(share.scope))),
          date: formatDay(language, share.expiresAt),
        })}
      </p>
      <p data-going="">{formatMessage(messages.goingBack, { host })}</p>
      {href !== null && (
        <p>
          <a class="btn" data-go-back="" href={href}>
            {formatMessage(messages.goBack, { host })}
          </a>
        </p>
      )}
      <section data-unanswered="" hidden>
        <p role="status">{formatMessage(messages.noAnswer, { host })}</p>
      </section>
      {email !== null && <p class="quiet">{formatMessage(messages.receipt, { address: email })}</p>}
    </>,
    { code },
  );
};

export const codeExpiredPage = (view: SheetView, token: string): Page => {
  const { search, messages } = view;
  return sheetPage(
    view,
    <>
      <h1>{messages.lateHeading}</h1>
      <form method="post" action={`/authorize/decide${search}`} class="form">
        <input type="hidden" name="token" value={token} />
        <input type="hidden" name="again" value="on" />
        <p>{messages.late}</p>
        <SubmitButton>{messages.again}</SubmitButton>
      </form>
    </>,
  );
};

export const alreadyDecidedPage = (view: SheetView): Page =>
  sheetPage(
    view,
    <>
      <h1>{view.messages.overHeading}</h1>
      <p>{view.messages.over}</p>
    </>,
  );

export const decisionExpiredPage = (view: SheetView, token: string, choices: DecisionChoices): Page => {
  const { search, messages } = view;
  return sheetPage(
    view,
    <>
      <h1>{messages.expired}</h1>
      <p>{messages.expiredAdvice}</p>
      <form method="post" action={`/authorize/again${search}`} class="form">
        <input type="hidden" name="token" value={token} />
        {[...choices].map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <SubmitButton>{messages.startAgain}</SubmitButton>
      </form>
    </>,
  );
};

/** Builds the page for a request that is invalid or refused, or that the person declined. */
export const sheetNoticePage = (title: string, advice: string): Page => ({ ...noticePage(title, advice), preservesQuery: true });
