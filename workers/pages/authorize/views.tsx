// Pages of the consent sheet, one per step, except the review (review-step.tsx). The page script delivers the result and confirms which
// page opened the sheet. If the result can be returned by redirect, every form works without the script.
import type { Child, FC } from "hono/jsx";
import { groupsFromKeys, type ContactKey } from "../../../core/shares/fields.ts";
import type { Share } from "../../../core/shares/share.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import { formatFieldGroups } from "../../../core/shares/labels.ts";
import { EmailField, SubmitButton, ButtonLink } from "../shared/form-fields.tsx";
import { appMessages } from "../i18n/app.ts";
import type { Page } from "../shared/layout.tsx";
import { EmailCodeStep, type CodeStep } from "../shared/email-code-sign-in.tsx";
import { noticePage } from "../shared/notice-pages.tsx";
import {
  formatDay,
  formatMessage,
  FormattedMessage,
  BusinessMessage,
  BusinessQuote,
  Icon,
  UntrustedText,
  IconList,
} from "../shared/components.tsx";
import { PasskeyPrompt } from "../shared/passkey-sign-in.tsx";
import {
  addQueryParams,
  Answers,
  BackToSite,
  BusinessHeading,
  Decision,
  getOriginHost,
  NotNowLink,
  sheetPage,
  type SheetView,
} from "./sheet-page.tsx";
import type { DecisionChoices } from "./review-form.ts";

const formatGroups = ({ language }: SheetView, keys: readonly ContactKey[]): string => formatFieldGroups(language, groupsFromKeys(keys));

/** Lists the requested details, for example "Your email and name, and your phone if you like". */
const RequestedDetails: FC<{ view: SheetView }> = ({ view }) => {
  const { messages } = view;
  const { scope, needed } = view.request.requestedScope;
  const optional = scope.filter((key) => !needed.includes(key));
  const groups = formatGroups(view, optional);
  if (needed.length === 0) return <>{formatMessage(messages.asksOptional, { groups })}</>;
  return (
    <>
      <strong>{formatMessage(messages.asks, { groups: formatGroups(view, needed) })}</strong>
      {optional.length > 0 && formatMessage(messages.asksBesides, { groups })}
    </>
  );
};

/** A short reminder of the requested details, for steps that do not show the whole request. */
const RequestReminder: FC<{ view: SheetView }> = ({ view }) => {
  const { request, messages } = view;
  return (
    <div class="ask">
      <div class="small">
        <p>
          <BusinessMessage text={messages.reminder} name={request.client.business.name} />
        </p>
        <p>
          <RequestedDetails view={view} />
        </p>
        <p>
          {messages.purpose} <UntrustedText text={request.purpose} />
        </p>
        <p class="quiet">{messages.nothingYet}</p>
      </div>
    </div>
  );
};

export const emailStepPage = (view: SheetView, now: Instant, error?: string, typed = ""): Page => {
  const { request, search, messages, language } = view;
  const date = formatDay(language, now + request.durationDays * dayMs);
  const until = <strong>{formatMessage(messages.until, { date })}</strong>;
  return sheetPage(
    view,
    <Decision view={view}>
      <form method="post" action={`/authorize/email${search}`} data-guarded="">
        <div class="inner">
          <BusinessHeading view={view} text={messages.heading} />
          <IconList
            items={[
              ["user", <RequestedDetails view={view} />],
              [
                "target",
                <>
                  <strong>{messages.purpose}</strong> <UntrustedText text={request.purpose} />
                </>,
              ],
              ["calendar", <FormattedMessage text={messages.untilOrSooner} parts={{ until }} />],
            ]}
          />
          <BusinessQuote lead={messages.theirWords} text={request.disclosureText} />
          <EmailField id="sheet-email" label={messages.email} hint={messages.emailHint} error={error} typed={typed} />
          <p class="small quiet">
            {messages.emailNew} {messages.nothingYet}
          </p>
          <p data-offers-passkey="" hidden>
            <button type="submit" class="btn" form="passkey">
              <Icon name="key-round" />
              {appMessages[language].usePasskey}
            </button>
          </p>
        </div>
        <Answers>
          <NotNowLink view={view} />
          <SubmitButton>{messages.continue}</SubmitButton>
        </Answers>
      </form>
      <form id="passkey" method="post" action={`/authorize/passkey${search}`} hidden />
    </Decision>,
    { error },
  );
};

/** Prompts for a passkey. Submitting the passkey's response signs the person in and returns them to the sheet. */
export const passkeyStepPage = (view: SheetView, options: object): Page => {
  const messages = appMessages[view.language];
  return sheetPage(
    view,
    <Decision view={view}>
      <form method="post" action={`/authorize/passkey/verify${view.search}`}>
        <div class="inner">
          <h1>{messages.passkeyWaiting}</h1>
          <p>{messages.passkeyWaitingAdvice}</p>
          <PasskeyPrompt how="get" options={options} label={messages.usePasskey} />
          <p>
            <a href={`/authorize${view.search}`}>{view.messages.useCode}</a>
          </p>
          <RequestReminder view={view} />
        </div>
        <Answers>
          <NotNowLink view={view} />
        </Answers>
      </form>
    </Decision>,
  );
};

export const codeStepPage = (view: SheetView, step: CodeStep): Page =>
  sheetPage(
    view,
    <Decision view={view}>
      <EmailCodeStep
        name="sheet"
        path="/authorize"
        search={view.search}
        {...step}
        context={<RequestReminder view={view} />}
        decline={<NotNowLink view={view} />}
      />
    </Decision>,
    { error: step.error },
  );

/**
 * Shown if there is no evidence that the request came from the business. The page does not ask for anything. If the window that opened the
 * sheet replies, the page script sends the form, and the reply's origin is the evidence.
 */
export const unconfirmedPage = (view: SheetView, token: string): Page => {
  const { request, search, messages } = view;
  const parts = { host: getOriginHost(request) };
  return sheetPage(
    view,
    <>
      <div class="inner" data-confirming="" hidden>
        <p role="status">{formatMessage(messages.confirming, parts)}</p>
      </div>
      <div class="inner" data-unconfirmed="">
        <h1>{messages.unconfirmedHeading}</h1>
        <p>
          <BusinessMessage text={messages.unconfirmed} name={request.client.business.name} parts={parts} />
        </p>
        <p>{formatMessage(messages.unconfirmedAdvice, parts)}</p>
      </div>
      <Answers>
        <BackToSite view={view} />
      </Answers>
      <form method="post" action={`/authorize/opened${search}`} data-confirms="" hidden>
        <input type="hidden" name="token" value={token} />
        <input type="hidden" name="opener_origin" value="" />
      </form>
    </>,
  );
};

const ResultPage: FC<{ isDone?: boolean; heading: Child; answers?: Child; children?: Child }> = ({
  isDone = false,
  heading,
  answers,
  children,
}) => (
  <>
    <div class="inner">
      <span class={isDone ? "done-mark" : "done-mark plain"}>
        <Icon name={isDone ? "check" : "x"} />
      </span>
      {heading}
      {children}
    </div>
    {answers}
  </>
);

/** Confirms the share. The page contains the code, so that the page script can deliver it. */
export const grantedPage = (view: SheetView, share: Share, code: string, email: string | null): Page => {
  const { request, returnUrl, messages, language } = view;
  const host = getOriginHost(request);
  const href = returnUrl === null ? null : addQueryParams(returnUrl, { svc_code: code, svc_state: request.state ?? "" });
  return sheetPage(
    view,
    <ResultPage
      isDone
      heading={<BusinessHeading view={view} text={messages.doneHeading} />}
      answers={
        (email !== null || href !== null) && (
          <Answers>
            {email !== null && (
              <a class="btn" href="/app" target="_blank" rel="noopener">
                {messages.myConsents}
              </a>
            )}
            {href !== null && (
              <a class="btn primary" data-go-back="" href={href}>
                {messages.goBack}
              </a>
            )}
          </Answers>
        )
      }
    >
      <p>
        {formatMessage(messages.done, {
          groups: formatGroups(view, share.scope),
          date: formatDay(language, share.expiresAt),
        })}
      </p>
      <p class="quiet" role="status" data-going="" hidden>
        {formatMessage(messages.goingBack, { host })}
      </p>
      <p role="status" data-unanswered="" hidden>
        {formatMessage(messages.noAnswer, { host })}
      </p>
      {email !== null && (
        <IconList
          items={[
            ["mail", formatMessage(messages.receipt, { address: email })],
            ["list-checks", messages.listed],
          ]}
        />
      )}
    </ResultPage>,
    { code },
  );
};

export const codeExpiredPage = (view: SheetView, token: string): Page => {
  const { search, messages } = view;
  return sheetPage(
    view,
    <form method="post" action={`/authorize/decide${search}`}>
      <div class="inner">
        <h1>{messages.lateHeading}</h1>
        <p>{formatMessage(messages.late, { host: getOriginHost(view.request) })}</p>
      </div>
      <input type="hidden" name="token" value={token} />
      <input type="hidden" name="again" value="on" />
      <Answers>
        <SubmitButton>{messages.again}</SubmitButton>
      </Answers>
    </form>,
  );
};

export const alreadyDecidedPage = (view: SheetView): Page =>
  sheetPage(
    view,
    <ResultPage heading={<h1>{view.messages.overHeading}</h1>}>
      <p>{view.messages.over}</p>
    </ResultPage>,
  );

export const decisionExpiredPage = (view: SheetView, token: string, choices: DecisionChoices): Page => {
  const { search, messages } = view;
  return sheetPage(
    view,
    <form method="post" action={`/authorize/review${search}`}>
      <div class="inner">
        <h1>{messages.expired}</h1>
        <p>{messages.expiredAdvice}</p>
      </div>
      <input type="hidden" name="token" value={token} />
      {[...choices].map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <Answers>
        <NotNowLink view={view} />
        <SubmitButton>{messages.startAgain}</SubmitButton>
      </Answers>
    </form>,
  );
};

/** Shown after "Not now" if the page script cannot close the window and the person cannot be returned to the business's page. */
export const declinedPage = (view: SheetView): Page => {
  const { request, search, messages } = view;
  return sheetPage(
    view,
    <ResultPage
      heading={<h1>{messages.refusedHeading}</h1>}
      answers={
        <Answers>
          <ButtonLink href={`/authorize${search}`}>{messages.seeRequest}</ButtonLink>
          <BackToSite view={view} />
        </Answers>
      }
    >
      <p>
        <BusinessMessage text={messages.refused} name={request.client.business.name} />
      </p>
    </ResultPage>,
  );
};

interface DeveloperNote {
  readonly text: string;
  /** The parameter of the request that is missing or invalid. */
  readonly parameter: string;
}

/** Builds the page for a request that is invalid or refused. `note` is for the developer of the business's page. */
export const sheetNoticePage = (title: string, advice: string, note?: DeveloperNote): Page => ({
  ...noticePage(
    title,
    advice,
    note !== undefined && (
      <p class="small">
        <FormattedMessage text={note.text} parts={{ parameter: <code translate="no">{note.parameter}</code> }} />
      </p>
    ),
  ),
  preservesQuery: true,
});
