// What each step of the consent sheet shows. Every form works without a script; the script only hands the answer back by itself.
import type { Child, FC } from "hono/jsx";
import { formatFieldGroup, groupsFromKeys, type ContactFields, type ContactKey, type FieldGroup } from "../../../core/shares/fields.ts";
import { fieldLabels, groupLabels } from "../../../core/shares/labels.ts";
import { personaNames } from "../../../core/shares/persona.ts";
import type { Share } from "../../../core/shares/share.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import type { AuthorizedRequest } from "../../operations/shares/authorize-share-request.ts";
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

/** Everything a step needs to know of the request. */
export interface SheetView {
  readonly request: AuthorizedRequest;
  /** With the question mark; every form and link goes on with it. */
  readonly search: string;
  /** Where the answer may go without the window that asked; null when only that window can have it. */
  readonly back: string | null;
  readonly language: Language;
  readonly words: SheetMessages;
}

export const formatFieldGroups = (language: Language, groups: readonly FieldGroup[]): string =>
  new Intl.ListFormat(language, { type: "conjunction" }).format(groups.map((group) => groupLabels[language][group]));

/** As a sentence or a line begins. */
const capitalize = (language: Language, text: string): string => `${text.slice(0, 1).toLocaleUpperCase(language)}${text.slice(1)}`;

const getOriginHost = ({ origin }: AuthorizedRequest): string => new URL(origin).host;

const addQueryParams = (back: string, answer: Readonly<Record<string, string>>): string => {
  const url = new URL(back);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  return url.href;
};

/** Who asks, in the same words on every step. */
const RequesterHeading: FC<{ view: SheetView; heading: string }> = ({ view, heading }) => {
  const { request, words } = view;
  const { name } = request.client.business;
  const isOwnMachine = request.client.environment === "sandbox" && new URL(request.origin).hostname === "localhost";
  return (
    <>
      {request.client.environment === "sandbox" && (
        <p class="status caution">
          <Icon name="warning" />
          {words.test}
        </p>
      )}
      <h1>
        <BusinessMessage text={heading} name={name} />
      </h1>
      <TextWarnings text={name} />
      <p class="quiet">
        <BusinessMessage
          text={isOwnMachine ? words.unproven : words.proven}
          name={name}
          parts={{ host: <strong>{getOriginHost(request)}</strong> }}
        />
      </p>
    </>
  );
};

const RequestPurpose: FC<{ view: SheetView; lead: string }> = ({ view: { request, words }, lead }) => (
  <>
    <p>
      {lead} <UntrustedText text={request.purpose} />
    </p>
    <BusinessQuote lead={words.theirWords} text={request.disclosureText} />
  </>
);

interface SheetOptions {
  /** What is wrong with what was sent. */
  readonly error?: string | undefined;
  readonly code?: string;
}

/** What the script needs: the window that asked, the other way back, and the code once there is one. */
const sheetPage = ({ request, back, words }: SheetView, content: Child, { error, code }: SheetOptions = {}): Page => ({
  hasError: error !== undefined,
  title: `${formatMessage(words.title, { business: request.client.business.name })} · svc`,
  script: "authorize.js",
  formActionOrigin: request.origin,
  preservesQuery: true,
  content: (
    <article class="sheet" data-origin={request.origin} data-state={request.state ?? ""} data-back={back ?? ""} data-code={code}>
      {content}
    </article>
  ),
});

/** Beside every decision: without a script it leads back where that is possible, and with one it closes the window. */
const NotNowLink: FC<{ view: SheetView }> = ({ view: { back, request, search, language } }) => (
  <a
    class="button"
    data-not-now=""
    href={
      back === null ? `/authorize/not-now${search}` : addQueryParams(back, { svc_error: "access_denied", svc_state: request.state ?? "" })
    }
  >
    {appMessages[language].notNow}
  </a>
);

/** Where no script runs: what becomes of a decision. And for the script: what to show when the window that asked is gone. */
const ScriptNotices: FC<{ view: SheetView }> = ({ view: { back, request, words } }) => {
  const parts = { host: getOriginHost(request) };
  return (
    <>
      <noscript>
        <p class="quiet">{formatMessage(back === null ? words.noScriptLost : words.noScript, parts)}</p>
      </noscript>
      {back === null && (
        <section data-lost="" hidden>
          <h2>{formatMessage(words.lostHeading, parts)}</h2>
          <p>{words.lost}</p>
        </section>
      )}
    </>
  );
};

export const emailStepPage = (view: SheetView, fault?: string, typed = ""): Page => {
  const { request, search, words, language } = view;
  return sheetPage(
    view,
    <>
      <RequesterHeading view={view} heading={words.heading} />
      <RequestPurpose
        view={view}
        lead={formatMessage(words.askFor, { groups: formatFieldGroups(language, groupsFromKeys(request.requestedScope.scope)) })}
      />
      <p>{words.nothingYet}</p>
      <ScriptNotices view={view} />
      <form method="post" action={`/authorize/email${search}`} class="form" data-decides="">
        <EmailField id="sheet-email" label={words.email} hint={words.emailHint} error={fault} typed={typed} />
        <SubmitButton>{words.send}</SubmitButton>
        <NotNowLink view={view} />
      </form>
      <form method="post" action={`/authorize/passkey${search}`} class="form" data-decides="" data-offers-passkey="" hidden>
        <button type="submit">{appMessages[language].usePasskey}</button>
      </form>
    </>,
    { error: fault },
  );
};

/** The device is asked: its answer signs in, and the sheet goes on. */
export const passkeyStepPage = (view: SheetView, options: object): Page => {
  const words = appMessages[view.language];
  return sheetPage(
    view,
    <>
      <h1>{words.passkeyWaiting}</h1>
      <p>{words.passkeyWaitingAdvice}</p>
      <form method="post" action={`/authorize/passkey/answer${view.search}`} class="form">
        <PasskeyPrompt how="get" options={options} label={words.usePasskey} />
      </form>
      <p>
        <a href={`/authorize${view.search}`}>{words.signIn}</a>
      </p>
    </>,
  );
};

export const codeStepPage = (view: SheetView, email: string, fault?: string): Page =>
  sheetPage(view, <EmailCodeStep name="sheet" path="/authorize" search={view.search} email={email} error={fault} />, { error: fault });

const SignedInAs: FC<{ view: SheetView; email: string }> = ({ view: { search, words }, email }) => (
  <form method="post" action={`/authorize/sign-out${search}`} class="signed-in">
    <p class="quiet">
      {formatMessage(words.signedInAs, { address: email })}{" "}
      <button type="submit" class="link">
        {words.notYou}
      </button>
    </p>
  </form>
);

export const detailsStepPage = (
  view: SheetView,
  email: string,
  asked: { readonly keys: readonly ContactKey[]; readonly values: Readonly<Partial<Record<ContactKey, string>>> },
  fault?: string,
): Page => {
  const { search, words, language } = view;
  return sheetPage(
    view,
    <>
      <SignedInAs view={view} email={email} />
      <h1>{words.detailsHeading}</h1>
      <p>{words.detailsIntro}</p>
      <p class="quiet">{words.detailsHint}</p>
      <form method="post" action={`/authorize/details${search}`} class="form">
        {fault !== undefined && <FieldError text={fault} />}
        {asked.keys.map((key) => (
          <TextField
            id={`field-${key}`}
            label={fieldLabels[language][key]}
            {...getContactInputProps(key)}
            value={asked.values[key] ?? ""}
          />
        ))}
        <SubmitButton>{words.continue}</SubmitButton>
        <NotNowLink view={view} />
      </form>
    </>,
    { error: fault },
  );
};

/** In days, what a share may last other than what was asked for. */
export const shorterDurationDays = [30, 90] as const;

/** Boxes and radios of a decision by name, as the person had left them; what is not in it stands as asked. */
export type DecisionChoices = ReadonlyMap<string, string>;

export interface DecisionStep {
  readonly token: string;
  /** Null for a test person. */
  readonly email: string | null;
  readonly fields: ContactFields;
  readonly now: Instant;
  /** What is shared with the business already. */
  readonly already: readonly Share[];
  readonly chosen: DecisionChoices;
}

export const decisionStepPage = (view: SheetView, { token, email, fields, now, already, chosen }: DecisionStep, fault?: string): Page => {
  const { request, search, words, language } = view;
  const { scope, needed } = request.requestedScope;
  const optional = scope.filter((key) => !needed.includes(key));
  const nameOf = (group: FieldGroup): string => capitalize(language, groupLabels[language][group]);
  const until = (days: number): string => formatDay(language, now + days * dayMs);
  const newest = already[0];
  const shorter = shorterDurationDays.filter((days) => days < request.durationDays);
  const chosenDays = shorter.find((days) => String(days) === chosen.get("days"));
  const chosenPersona = personaNames.find((name) => name === chosen.get("persona")) ?? personaNames[0];
  return sheetPage(
    view,
    <>
      {email !== null && <SignedInAs view={view} email={email} />}
      <RequesterHeading view={view} heading={newest === undefined ? words.heading : words.headingMore} />
      <RequestPurpose view={view} lead={words.to} />
      {newest !== undefined && <p>{formatMessage(words.already, { date: formatDay(language, newest.expiresAt) })}</p>}
      <ScriptNotices view={view} />
      <form method="post" action={`/authorize/decide${search}`} class="form" data-decides="">
        <input type="hidden" name="token" value={token} />
        {fault !== undefined && <FieldError text={fault} />}
        {needed.length > 0 && (
          <section>
            <h2>{words.needed}</h2>
            <dl class="rows">
              {groupsFromKeys(needed).map((group) => (
                <DescriptionRow name={nameOf(group)}>
                  <bdi>{formatFieldGroup(fields, needed, group) ?? words.none}</bdi>
                </DescriptionRow>
              ))}
            </dl>
          </section>
        )}
        {optional.length > 0 && (
          <fieldset class="boxes">
            <legend>{words.optional}</legend>
            {groupsFromKeys(optional).map((group) => {
              const line = formatFieldGroup(fields, optional, group);
              return line === null ? (
                <p>
                  {nameOf(group)}: {words.none}
                </p>
              ) : (
                <ChoiceField
                  type="checkbox"
                  name={`group.${group}`}
                  value="on"
                  id={`group-${group}`}
                  checked={chosen.has(`group.${group}`)}
                >
                  {nameOf(group)} <bdi>{line}</bdi>
                </ChoiceField>
              );
            })}
          </fieldset>
        )}
        {email === null ? (
          <fieldset class="boxes">
            <legend>{words.playAs}</legend>
            {personaNames.map((name) => (
              <ChoiceField type="radio" name="persona" value={name} id={`persona-${name}`} checked={name === chosenPersona}>
                {words.persona[name]}
              </ChoiceField>
            ))}
          </fieldset>
        ) : (
          <p>
            <a href={`/authorize${search}&edit=1`}>{words.change}</a>
          </p>
        )}
        <details open={chosenDays !== undefined}>
          <summary>{formatMessage(words.until, { date: until(chosenDays ?? request.durationDays) })}</summary>
          <fieldset class="boxes">
            <legend>{words.howLong}</legend>
            {shorter.map((days) => (
              <ChoiceField type="radio" name="days" value={String(days)} id={`days-${days}`} checked={days === chosenDays}>
                {formatMessage(appMessages[language].shorter, { days: String(days), date: until(days) })}
              </ChoiceField>
            ))}
            <ChoiceField type="radio" name="days" value="asked" id="days-asked" checked={chosenDays === undefined}>
              {formatMessage(words.asAsked, { days: String(request.durationDays), date: until(request.durationDays) })}
            </ChoiceField>
          </fieldset>
        </details>
        <p class="quiet">
          <BusinessMessage text={words.stopAnyTime} name={request.client.business.name} />
        </p>
        <div class="decision">
          <NotNowLink view={view} />
          <SubmitButton>{request.client.environment === "sandbox" ? words.shareTest : words.share}</SubmitButton>
        </div>
      </form>
    </>,
    { error: fault },
  );
};

/** The decision stands; the code is in this page only, until the window that asked has it. */
export const grantedPage = (view: SheetView, share: Share, code: string, email: string | null): Page => {
  const { request, back, words, language } = view;
  const host = getOriginHost(request);
  const href = back === null ? null : addQueryParams(back, { svc_code: code, svc_state: request.state ?? "" });
  return sheetPage(
    view,
    <>
      <h1>
        <BusinessMessage text={words.doneHeading} name={share.business.name} />
      </h1>
      <p>
        {formatMessage(words.done, {
          groups: capitalize(language, formatFieldGroups(language, groupsFromKeys(share.scope))),
          date: formatDay(language, share.expiresAt),
        })}
      </p>
      <p data-going="">{formatMessage(words.goingBack, { host })}</p>
      {href !== null && (
        <p>
          <a class="button" data-go-back="" href={href}>
            {formatMessage(words.goBack, { host })}
          </a>
        </p>
      )}
      <section data-unanswered="" hidden>
        <p role="status">{formatMessage(words.noAnswer, { host })}</p>
      </section>
      {email !== null && <p class="quiet">{formatMessage(words.receipt, { address: email })}</p>}
    </>,
    { code },
  );
};

export const codeExpiredPage = (view: SheetView, token: string): Page => {
  const { search, words } = view;
  return sheetPage(
    view,
    <>
      <h1>{words.lateHeading}</h1>
      <form method="post" action={`/authorize/decide${search}`} class="form">
        <input type="hidden" name="token" value={token} />
        <input type="hidden" name="again" value="on" />
        <p>{words.late}</p>
        <SubmitButton>{words.again}</SubmitButton>
      </form>
    </>,
  );
};

export const alreadyDecidedPage = (view: SheetView): Page =>
  sheetPage(
    view,
    <>
      <h1>{view.words.overHeading}</h1>
      <p>{view.words.over}</p>
    </>,
  );

export const decisionExpiredPage = (view: SheetView, token: string, chosen: DecisionChoices): Page => {
  const { search, words } = view;
  return sheetPage(
    view,
    <>
      <h1>{words.expired}</h1>
      <p>{words.expiredAdvice}</p>
      <form method="post" action={`/authorize/again${search}`} class="form">
        <input type="hidden" name="token" value={token} />
        {[...chosen].map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <SubmitButton>{words.startAgain}</SubmitButton>
      </form>
    </>,
  );
};

/** A request that cannot be decided on, or one that was not. */
export const sheetNoticePage = (title: string, advice: string): Page => ({ ...noticePage(title, advice), preservesQuery: true });
