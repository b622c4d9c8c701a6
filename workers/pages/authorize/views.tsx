// What each step of the consent sheet shows. Every form works without a script; the script only hands the answer back by itself.
import type { Child, FC } from "hono/jsx";
import { groupLine, groupsOf, type ContactFields, type ContactKey, type FieldGroup } from "../../../core/shares/fields.ts";
import { fieldLabels, groupLabels } from "../../../core/shares/labels.ts";
import { personaNames } from "../../../core/shares/persona.ts";
import type { Share } from "../../../core/shares/share.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import type { AuthorizedRequest } from "../../operations/shares/authorize.ts";
import { AddressField, Box, contactInput, Submit, TextField } from "../shared/forms.tsx";
import { appWords } from "../shared/i18n/app.ts";
import type { SheetWords } from "../shared/i18n/sheet.ts";
import type { Language } from "../shared/language.ts";
import type { Page } from "../shared/layout.tsx";
import { CodeStep } from "../shared/mailed-sign-in.tsx";
import { noticePage } from "../shared/notices.tsx";
import { dayIn, FieldFault, filled, Foreign, Naming, Remarks, Row, Shape, TheirWords } from "../shared/parts.tsx";
import { DeviceAsked } from "../shared/passkey-sign-in.tsx";

/** Everything a step needs to know of the request. */
export interface SheetView {
  readonly request: AuthorizedRequest;
  /** With the question mark; every form and link goes on with it. */
  readonly search: string;
  /** Where the answer may go without the window that asked; null when only that window can have it. */
  readonly back: string | null;
  readonly language: Language;
  readonly words: SheetWords;
}

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
  const { request, words } = view;
  const { name } = request.client.business;
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
        <Naming text={heading} name={name} />
      </h1>
      <Remarks text={name} />
      <p class="quiet">
        <Naming text={isOwnMachine ? words.unproven : words.proven} name={name} parts={{ host: <strong>{hostOf(request)}</strong> }} />
      </p>
    </>
  );
};

const Purpose: FC<{ view: SheetView; lead: string }> = ({ view: { request, words }, lead }) => (
  <>
    <p>
      {lead} <Foreign text={request.purpose} />
    </p>
    <TheirWords lead={words.theirWords} text={request.disclosureText} />
  </>
);

interface SheetOptions {
  /** What is wrong with what was sent. */
  readonly fault?: string | undefined;
  readonly code?: string;
}

/** What the script needs: the window that asked, the other way back, and the code once there is one. */
const sheet = ({ request, back, words }: SheetView, content: Child, { fault, code }: SheetOptions = {}): Page => ({
  isFaulty: fault !== undefined,
  title: `${filled(words.title, { business: request.client.business.name })} · svc`,
  script: "authorize.js",
  formsTo: request.origin,
  keepsQuery: true,
  content: (
    <article class="sheet" data-origin={request.origin} data-state={request.state ?? ""} data-back={back ?? ""} data-code={code}>
      {content}
    </article>
  ),
});

/** Beside every decision: without a script it leads back where that is possible, and with one it closes the window. */
const NotNow: FC<{ view: SheetView }> = ({ view: { back, request, search, language } }) => (
  <a
    class="button"
    data-not-now=""
    href={back === null ? `/authorize/not-now${search}` : withAnswer(back, { svc_error: "access_denied", svc_state: request.state ?? "" })}
  >
    {appWords[language].notNow}
  </a>
);

/** Where no script runs: what becomes of a decision. And for the script: what to show when the window that asked is gone. */
const Touch: FC<{ view: SheetView }> = ({ view: { back, request, words } }) => {
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
  const { request, search, words, language } = view;
  return sheet(
    view,
    <>
      <Asking view={view} heading={words.heading} />
      <Purpose view={view} lead={filled(words.askFor, { groups: groupsIn(language, groupsOf(request.asked.scope)) })} />
      <p>{words.nothingYet}</p>
      <Touch view={view} />
      <form method="post" action={`/authorize/email${search}`} class="form" data-decides="">
        <AddressField id="sheet-email" label={words.email} hint={words.emailHint} fault={fault} typed={typed} />
        <Submit>{words.send}</Submit>
        <NotNow view={view} />
      </form>
      <form method="post" action={`/authorize/passkey${search}`} class="form" data-decides="" data-offers-passkey="" hidden>
        <button type="submit">{appWords[language].usePasskey}</button>
      </form>
    </>,
    { fault },
  );
};

/** The device is asked: its answer signs in, and the sheet goes on. */
export const passkeyStep = (view: SheetView, options: object): Page => {
  const words = appWords[view.language];
  return sheet(
    view,
    <>
      <h1>{words.passkeyWaiting}</h1>
      <p>{words.passkeyWaitingAdvice}</p>
      <form method="post" action={`/authorize/passkey/answer${view.search}`} class="form">
        <DeviceAsked how="get" options={options} label={words.usePasskey} />
      </form>
      <p>
        <a href={`/authorize${view.search}`}>{words.signIn}</a>
      </p>
    </>,
  );
};

export const codeStep = (view: SheetView, email: string, fault?: string): Page =>
  sheet(view, <CodeStep name="sheet" path="/authorize" search={view.search} email={email} fault={fault} />, { fault });

const SignedIn: FC<{ view: SheetView; email: string }> = ({ view: { search, words }, email }) => (
  <form method="post" action={`/authorize/sign-out${search}`} class="signed-in">
    <p class="quiet">
      {filled(words.signedInAs, { address: email })}{" "}
      <button type="submit" class="link">
        {words.notYou}
      </button>
    </p>
  </form>
);

export const detailsStep = (
  view: SheetView,
  email: string,
  asked: { readonly keys: readonly ContactKey[]; readonly values: Readonly<Partial<Record<ContactKey, string>>> },
  fault?: string,
): Page => {
  const { search, words, language } = view;
  return sheet(
    view,
    <>
      <SignedIn view={view} email={email} />
      <h1>{words.detailsHeading}</h1>
      <p>{words.detailsIntro}</p>
      <p class="quiet">{words.detailsHint}</p>
      <form method="post" action={`/authorize/details${search}`} class="form">
        {fault !== undefined && <FieldFault text={fault} />}
        {asked.keys.map((key) => (
          <TextField id={`field-${key}`} label={fieldLabels[language][key]} {...contactInput(key)} value={asked.values[key] ?? ""} />
        ))}
        <Submit>{words.continue}</Submit>
        <NotNow view={view} />
      </form>
    </>,
    { fault },
  );
};

/** In days, what a share may last other than what was asked for. */
export const shorterDays = [30, 90] as const;

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
  const { request, search, words, language } = view;
  const { scope, needed } = request.asked;
  const optional = scope.filter((key) => !needed.includes(key));
  const nameOf = (group: FieldGroup): string => capital(language, groupLabels[language][group]);
  const until = (days: number): string => dayIn(language, now + days * dayMs);
  const newest = already[0];
  const shorter = shorterDays.filter((days) => days < request.durationDays);
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
        {fault !== undefined && <FieldFault text={fault} />}
        {needed.length > 0 && (
          <section>
            <h2>{words.needed}</h2>
            <dl class="rows">
              {groupsOf(needed).map((group) => (
                <Row name={nameOf(group)}>
                  <bdi>{groupLine(fields, needed, group) ?? words.none}</bdi>
                </Row>
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
                <Box type="checkbox" name={`group.${group}`} value="on" id={`group-${group}`} checked={chosen.has(`group.${group}`)}>
                  {nameOf(group)} <bdi>{line}</bdi>
                </Box>
              );
            })}
          </fieldset>
        )}
        {email === null ? (
          <fieldset class="boxes">
            <legend>{words.playAs}</legend>
            {personaNames.map((name) => (
              <Box type="radio" name="persona" value={name} id={`persona-${name}`} checked={name === chosenPersona}>
                {words.persona[name]}
              </Box>
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
              <Box type="radio" name="days" value={String(days)} id={`days-${days}`} checked={days === chosenDays}>
                {filled(appWords[language].shorter, { days: String(days), date: until(days) })}
              </Box>
            ))}
            <Box type="radio" name="days" value="asked" id="days-asked" checked={chosenDays === undefined}>
              {filled(words.asAsked, { days: String(request.durationDays), date: until(request.durationDays) })}
            </Box>
          </fieldset>
        </details>
        <p class="quiet">
          <Naming text={words.stopAnyTime} name={request.client.business.name} />
        </p>
        <div class="decision">
          <NotNow view={view} />
          <Submit>{request.client.environment === "sandbox" ? words.shareTest : words.share}</Submit>
        </div>
      </form>
    </>,
    { fault },
  );
};

/** The decision stands; the code is in this page only, until the window that asked has it. */
export const doneStep = (view: SheetView, share: Share, code: string, email: string | null): Page => {
  const { request, back, words, language } = view;
  const host = hostOf(request);
  const href = back === null ? null : withAnswer(back, { svc_code: code, svc_state: request.state ?? "" });
  return sheet(
    view,
    <>
      <h1>
        <Naming text={words.doneHeading} name={share.business.name} />
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
    { code },
  );
};

export const lateStep = (view: SheetView, token: string): Page => {
  const { search, words } = view;
  return sheet(
    view,
    <>
      <h1>{words.lateHeading}</h1>
      <form method="post" action={`/authorize/decide${search}`} class="form">
        <input type="hidden" name="token" value={token} />
        <input type="hidden" name="again" value="on" />
        <p>{words.late}</p>
        <Submit>{words.again}</Submit>
      </form>
    </>,
  );
};

export const overStep = (view: SheetView): Page =>
  sheet(
    view,
    <>
      <h1>{view.words.overHeading}</h1>
      <p>{view.words.over}</p>
    </>,
  );

export const expiredStep = (view: SheetView, token: string, chosen: Chosen): Page => {
  const { search, words } = view;
  return sheet(
    view,
    <>
      <h1>{words.expired}</h1>
      <p>{words.expiredAdvice}</p>
      <form method="post" action={`/authorize/again${search}`} class="form">
        <input type="hidden" name="token" value={token} />
        {[...chosen].map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <Submit>{words.startAgain}</Submit>
      </form>
    </>,
  );
};

/** A request that cannot be decided on, or one that was not. */
export const sheetNotice = (title: string, advice: string): Page => ({ ...noticePage(title, advice), keepsQuery: true });
