// What each step of the consent sheet shows. Every form works without a script; the script only hands the answer back by itself.
import type { Child, FC } from "hono/jsx";
import { groupLine, groupsOf, type ContactFields, type ContactKey, type FieldGroup } from "../../../core/shares/fields.ts";
import { fieldLabels, groupLabels } from "../../../core/shares/labels.ts";
import { personaNames } from "../../../core/shares/persona.ts";
import type { Share } from "../../../core/shares/share.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import type { AuthorizedRequest } from "../../operations/shares/authorize.ts";
import { contactAutocomplete } from "../shared/contact-autocomplete.ts";
import { DeviceAsked } from "../shared/device-asked.tsx";
import { appWords } from "../shared/i18n/app.ts";
import { sheetWords, type SheetWords } from "../shared/i18n/sheet.ts";
import type { Language } from "../shared/language.ts";
import type { Page } from "../shared/layout.tsx";
import { AddressInput, CodeInput } from "../shared/mailed-sign-in.tsx";
import { dayIn, Exact, FieldFault, filled, Foreign, Remarks, Sentence, Shape, type Setting } from "../shared/parts.tsx";

/** Everything a step needs to know of the request. */
export interface SheetView {
  readonly request: AuthorizedRequest;
  /** With the question mark; every form and link goes on with it. */
  readonly search: string;
  /** Where the answer may go without the window that asked; null when only that window can have it. */
  readonly back: string | null;
  readonly setting: Setting;
}

const wordsOf = ({ language }: Setting): SheetWords => sheetWords[language];

export const groupsIn = (language: Language, groups: readonly FieldGroup[]): string =>
  new Intl.ListFormat(language, { type: "conjunction" }).format(groups.map((group) => groupLabels[language][group]));

/** As a sentence or a line begins. */
const capital = (language: Language, text: string): string => `${text.slice(0, 1).toLocaleUpperCase(language)}${text.slice(1)}`;

const hostOf = ({ origin }: AuthorizedRequest): string => new URL(origin).host;

const withAnswer = (back: string, answer: Readonly<Record<string, string>>): string => {
  const url = new URL(back);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  return url.href;
};

/** Who asks, in the same words on every step. */
const Asking: FC<{ view: SheetView; heading: string }> = ({ view, heading }) => {
  const { request, setting } = view;
  const words = wordsOf(setting);
  const { name } = request.client.business;
  const business = <Exact text={name} />;
  const isOwnMachine = request.client.environment === "sandbox" && new URL(request.origin).hostname === "localhost";
  return (
    <>
      {request.client.environment === "sandbox" && (
        <p class="status caution">
          <Shape name="warning" />
          {words.test}
        </p>
      )}
      <h1>
        <Sentence text={heading} parts={{ business }} />
      </h1>
      <Remarks text={name} setting={setting} />
      <p class="quiet">
        <Sentence text={isOwnMachine ? words.unproven : words.proven} parts={{ host: <strong>{hostOf(request)}</strong>, business }} />
      </p>
    </>
  );
};

const Purpose: FC<{ view: SheetView; lead: string }> = ({ view: { request, setting }, lead }) => {
  const words = wordsOf(setting);
  return (
    <>
      <p>
        {lead} <Foreign text={request.purpose} setting={setting} />
      </p>
      {request.disclosureText !== "" && (
        <figure>
          <figcaption class="quiet">{words.theirWords}</figcaption>
          <blockquote>
            <Foreign text={request.disclosureText} setting={setting} />
          </blockquote>
        </figure>
      )}
    </>
  );
};

/** What the script needs: the window that asked, and the other way back. */
const sheet = ({ request, back, setting }: SheetView, content: Child, more: Readonly<Record<string, string>> = {}): Page => ({
  title: `${filled(wordsOf(setting).title, { business: request.client.business.name })} · svc`,
  script: "authorize.js",
  formsTo: request.origin,
  speaksToOpener: true,
  keepsQuery: true,
  content: (
    <article class="sheet" data-origin={request.origin} data-state={request.state ?? ""} data-back={back ?? ""} {...more}>
      {content}
    </article>
  ),
});

/** Beside every decision: without a script it leads back where that is possible, and with one it closes the window. */
const NotNow: FC<{ view: SheetView }> = ({ view: { back, request, search, setting } }) => (
  <a
    class="button"
    data-not-now=""
    href={back === null ? `/authorize/not-now${search}` : withAnswer(back, { svc_error: "access_denied", svc_state: request.state ?? "" })}
  >
    {wordsOf(setting).notNow}
  </a>
);

/** Where no script runs: what becomes of a decision. And for the script: what to show when the window that asked is gone. */
const Touch: FC<{ view: SheetView }> = ({ view: { back, request, setting } }) => {
  const words = wordsOf(setting);
  const parts = { host: hostOf(request) };
  return (
    <>
      <noscript>
        <p class="quiet">{filled(back === null ? words.noScriptLost : words.noScript, parts)}</p>
      </noscript>
      {back === null && (
        <section data-lost="" hidden>
          <h2>{filled(words.lostHeading, parts)}</h2>
          <p>{words.lost}</p>
        </section>
      )}
    </>
  );
};

export const emailStep = (view: SheetView, fault?: string, typed = ""): Page => {
  const words = wordsOf(view.setting);
  const { language } = view.setting;
  return sheet(
    view,
    <>
      <Asking view={view} heading={words.heading} />
      <Purpose view={view} lead={filled(words.askFor, { groups: groupsIn(language, groupsOf(view.request.asked.scope)) })} />
      <p>{words.nothingYet}</p>
      <Touch view={view} />
      <form method="post" action={`/authorize/email${view.search}`} class="form" data-decides="">
        <label for="sheet-email">{words.email}</label>
        <p class="quiet" id="sheet-email-hint">
          {words.emailHint}
        </p>
        {fault !== undefined && <FieldFault text={fault} word={words.error} />}
        <AddressInput id="sheet-email" hasHint typed={typed} isWrong={fault !== undefined} />
        <button type="submit" class="primary">
          {words.send}
        </button>
        <NotNow view={view} />
      </form>
      <form method="post" action={`/authorize/passkey${view.search}`} class="form" data-decides="" data-offers-passkey="" hidden>
        <button type="submit">{appWords[language].usePasskey}</button>
      </form>
    </>,
  );
};

/** The device is asked: its answer signs in, and the sheet goes on. */
export const passkeyStep = (view: SheetView, options: object): Page => {
  const { setting, search } = view;
  const words = appWords[setting.language];
  return sheet(
    view,
    <>
      <h1>{words.passkeyWaiting}</h1>
      <p>{words.passkeyWaitingAdvice}</p>
      <form method="post" action={`/authorize/passkey/answer${search}`} class="form">
        <DeviceAsked how="get" options={options} label={words.usePasskey} setting={setting} />
      </form>
      <p>
        <a href={`/authorize${search}`}>{words.signIn}</a>
      </p>
    </>,
  );
};

export const codeStep = (view: SheetView, email: string, fault?: string): Page => {
  const words = wordsOf(view.setting);
  return sheet(
    view,
    <>
      <h1>{words.codeHeading}</h1>
      <p>{filled(words.codeTo, { address: email })}</p>
      <form method="post" action={`/authorize/code${view.search}`} class="form">
        <label for="sheet-code">{words.code}</label>
        {fault !== undefined && <FieldFault text={fault} word={words.error} />}
        <CodeInput id="sheet-code" isWrong={fault !== undefined} />
        <button type="submit" class="primary">
          {words.continue}
        </button>
      </form>
      <form method="post" action={`/authorize/other-address${view.search}`}>
        <button type="submit" class="button">
          {words.otherAddress}
        </button>
      </form>
    </>,
  );
};

const SignedIn: FC<{ view: SheetView; email: string }> = ({ view, email }) => {
  const words = wordsOf(view.setting);
  return (
    <form method="post" action={`/authorize/sign-out${view.search}`} class="signed-in">
      <p class="quiet">
        {filled(words.signedInAs, { address: email })}{" "}
        <button type="submit" class="link">
          {words.notYou}
        </button>
      </p>
    </form>
  );
};

export const detailsStep = (
  view: SheetView,
  email: string,
  asked: { readonly keys: readonly ContactKey[]; readonly values: Readonly<Partial<Record<ContactKey, string>>> },
  fault?: string,
): Page => {
  const words = wordsOf(view.setting);
  const labels = fieldLabels[view.setting.language];
  return sheet(
    view,
    <>
      <SignedIn view={view} email={email} />
      <h1>{words.detailsHeading}</h1>
      <p>{words.detailsIntro}</p>
      <p class="quiet">{words.detailsHint}</p>
      <form method="post" action={`/authorize/details${view.search}`} class="form">
        {fault !== undefined && <FieldFault text={fault} word={words.error} />}
        {asked.keys.map((key) => (
          <>
            <label for={`field-${key}`}>{labels[key]}</label>
            <input
              id={`field-${key}`}
              name={key}
              type={key === "email" ? "email" : key === "phone" ? "tel" : "text"}
              autocomplete={contactAutocomplete[key] as never}
              maxlength={key === "email" ? 254 : 200}
              value={asked.values[key] ?? ""}
            />
          </>
        ))}
        <button type="submit" class="primary">
          {words.continue}
        </button>
        <NotNow view={view} />
      </form>
    </>,
  );
};

const durations = [30, 90] as const;

/** Boxes and radios of a decision by name, as the person had left them; what is not in it stands as asked. */
export type Chosen = ReadonlyMap<string, string>;

export interface DecideStep {
  readonly token: string;
  /** Null for a test person. */
  readonly email: string | null;
  readonly fields: ContactFields;
  readonly now: Instant;
  /** What is shared with the business already. */
  readonly already: readonly Share[];
  readonly chosen: Chosen;
}

export const decideStep = (view: SheetView, { token, email, fields, now, already, chosen }: DecideStep, fault?: string): Page => {
  const { request, setting, search } = view;
  const words = wordsOf(setting);
  const { language } = setting;
  const { scope, needed } = request.asked;
  const business = <Exact text={request.client.business.name} />;
  const optional = scope.filter((key) => !needed.includes(key));
  const nameOf = (group: FieldGroup): string => capital(language, groupLabels[language][group]);
  const until = (days: number): string => dayIn(language, now + days * dayMs);
  const newest = already[0];
  const shorter = durations.filter((days) => days < request.durationDays);
  const chosenDays = shorter.find((days) => String(days) === chosen.get("days"));
  const chosenPersona = personaNames.find((name) => name === chosen.get("persona")) ?? personaNames[0];
  return sheet(
    view,
    <>
      {email !== null && <SignedIn view={view} email={email} />}
      <Asking view={view} heading={newest === undefined ? words.heading : words.headingMore} />
      <Purpose view={view} lead={words.to} />
      {newest !== undefined && <p>{filled(words.already, { date: dayIn(language, newest.expiresAt) })}</p>}
      <Touch view={view} />
      <form method="post" action={`/authorize/decide${search}`} class="form" data-decides="">
        <input type="hidden" name="token" value={token} />
        {fault !== undefined && <FieldFault text={fault} word={words.error} />}
        {needed.length > 0 && (
          <section>
            <h2>{words.needed}</h2>
            <dl class="rows">
              {groupsOf(needed).map((group) => (
                <div>
                  <dt>{nameOf(group)}</dt>
                  <dd>
                    <bdi>{groupLine(fields, needed, group) ?? words.none}</bdi>
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        )}
        {optional.length > 0 && (
          <fieldset class="boxes">
            <legend>{words.optional}</legend>
            {groupsOf(optional).map((group) => {
              const line = groupLine(fields, optional, group);
              return line === null ? (
                <p>
                  {nameOf(group)}: {words.none}
                </p>
              ) : (
                <p>
                  <input type="checkbox" name={`group.${group}`} value="on" id={`group-${group}`} checked={chosen.has(`group.${group}`)} />
                  <label for={`group-${group}`}>
                    {nameOf(group)} <bdi>{line}</bdi>
                  </label>
                </p>
              );
            })}
          </fieldset>
        )}
        {email === null ? (
          <fieldset class="boxes">
            <legend>{words.playAs}</legend>
            {personaNames.map((name) => (
              <p>
                <input type="radio" name="persona" value={name} id={`persona-${name}`} checked={name === chosenPersona} />
                <label for={`persona-${name}`}>{words.persona[name]}</label>
              </p>
            ))}
          </fieldset>
        ) : (
          <p>
            <a href={`/authorize${search}&edit=1`}>{words.change}</a>
          </p>
        )}
        <details open={chosenDays !== undefined}>
          <summary>{filled(words.until, { date: until(chosenDays ?? request.durationDays) })}</summary>
          <fieldset class="boxes">
            <legend>{words.howLong}</legend>
            {shorter.map((days) => (
              <p>
                <input type="radio" name="days" value={String(days)} id={`days-${days}`} checked={days === chosenDays} />
                <label for={`days-${days}`}>{filled(words.shorter, { days: String(days), date: until(days) })}</label>
              </p>
            ))}
            <p>
              <input type="radio" name="days" value="asked" id="days-asked" checked={chosenDays === undefined} />
              <label for="days-asked">
                {filled(words.asAsked, { days: String(request.durationDays), date: until(request.durationDays) })}
              </label>
            </p>
          </fieldset>
        </details>
        <p class="quiet">
          <Sentence text={words.stopAnyTime} parts={{ business }} />
        </p>
        <div class="decision">
          <NotNow view={view} />
          <button type="submit" class="primary">
            {request.client.environment === "sandbox" ? words.shareTest : words.share}
          </button>
        </div>
      </form>
    </>,
  );
};

/** The decision stands; the code is in this page only, until the window that asked has it. */
export const doneStep = (view: SheetView, share: Share, code: string, email: string | null): Page => {
  const { request, setting, back } = view;
  const words = wordsOf(setting);
  const { language } = setting;
  const host = hostOf(request);
  const href = back === null ? null : withAnswer(back, { svc_code: code, svc_state: request.state ?? "" });
  return sheet(
    view,
    <>
      <h1>
        <Sentence text={words.doneHeading} parts={{ business: <Exact text={share.business.name} /> }} />
      </h1>
      <p>
        {filled(words.done, {
          groups: capital(language, groupsIn(language, groupsOf(share.scope))),
          date: dayIn(language, share.expiresAt),
        })}
      </p>
      <p data-going="">{filled(words.goingBack, { host })}</p>
      {href !== null && (
        <p>
          <a class="button" data-go-back="" href={href}>
            {filled(words.goBack, { host })}
          </a>
        </p>
      )}
      <section data-unanswered="" hidden>
        <p role="status">{filled(words.noAnswer, { host })}</p>
      </section>
      {email !== null && <p class="quiet">{filled(words.receipt, { address: email })}</p>}
    </>,
    { "data-code": code },
  );
};

export const lateStep = (view: SheetView, token: string): Page => {
  const words = wordsOf(view.setting);
  return sheet(
    view,
    <>
      <h1>{words.lateHeading}</h1>
      <form method="post" action={`/authorize/decide${view.search}`} class="form">
        <input type="hidden" name="token" value={token} />
        <input type="hidden" name="again" value="on" />
        <p>{words.late}</p>
        <button type="submit" class="primary">
          {words.again}
        </button>
      </form>
    </>,
  );
};

export const overStep = (view: SheetView): Page => {
  const words = wordsOf(view.setting);
  return sheet(
    view,
    <>
      <h1>{words.overHeading}</h1>
      <p>{words.over}</p>
    </>,
  );
};

export const expiredStep = (view: SheetView, token: string, chosen: Chosen): Page => {
  const words = wordsOf(view.setting);
  return sheet(
    view,
    <>
      <h1>{words.expired}</h1>
      <p>{words.expiredAdvice}</p>
      <form method="post" action={`/authorize/again${view.search}`} class="form">
        <input type="hidden" name="token" value={token} />
        {[...chosen].map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <button type="submit" class="primary">
          {words.startAgain}
        </button>
      </form>
    </>,
  );
};

/** A request that cannot be decided on, or one that was not. */
export const sheetNotice = (title: string, advice: string, more?: Child): Page => ({
  title: `${title} · svc`,
  speaksToOpener: true,
  keepsQuery: true,
  content: (
    <article class="notice-page">
      <h1>{title}</h1>
      <p>{advice}</p>
      {more}
    </article>
  ),
});
