// The two steps of signing in.
import { appWords } from "../shared/i18n/app.ts";
import { sheetWords } from "../shared/i18n/sheet.ts";
import type { Page } from "../shared/layout.tsx";
import { AddressInput, CodeInput } from "../shared/mailed-sign-in.tsx";
import { FieldFault, filled, type Setting } from "../shared/parts.tsx";

interface Step {
  /** The page that is opened afterwards. */
  readonly next: string;
  readonly fault?: string;
}

const titled = (title: string, { language }: Setting, { fault }: Step): string =>
  `${fault === undefined ? "" : `${sheetWords[language].error} `}${title} · svc`;

export const addressStep = (setting: Setting, step: Step & { readonly typed?: string }): Page => {
  const { language } = setting;
  const words = sheetWords[language];
  const { signIn, signInIntro } = appWords[language];
  return {
    title: titled(signIn, setting, step),
    script: "passkey.js",
    content: (
      <article class="step">
        <div>
          <h1>{signIn}</h1>
          <p>{signInIntro}</p>
        </div>
        <form method="post" action="/app/sign-in" class="form">
          <input type="hidden" name="next" value={step.next} />
          <label for="email">{words.email}</label>
          <p class="quiet" id="email-hint">
            {words.emailHint}
          </p>
          {step.fault !== undefined && <FieldFault text={step.fault} word={words.error} />}
          <AddressInput id="email" hasHint typed={step.typed} isWrong={step.fault !== undefined} />
          <button type="submit" class="primary">
            {words.send}
          </button>
        </form>
        <form method="post" action="/app/passkey" class="form" data-offers-passkey="" hidden>
          <input type="hidden" name="next" value={step.next} />
          <button type="submit">{appWords[language].usePasskey}</button>
        </form>
      </article>
    ),
  };
};

export const codeStep = (setting: Setting, step: Step & { readonly email: string }): Page => {
  const { language } = setting;
  const words = sheetWords[language];
  const next = <input type="hidden" name="next" value={step.next} />;
  return {
    title: titled(words.codeHeading, setting, step),
    content: (
      <article class="step">
        <div>
          <h1>{words.codeHeading}</h1>
          <p>{filled(words.codeTo, { address: step.email })}</p>
        </div>
        <form method="post" action="/app/code" class="form">
          {next}
          <label for="code">{words.code}</label>
          {step.fault !== undefined && <FieldFault text={step.fault} word={words.error} />}
          <CodeInput id="code" class="code" isWrong={step.fault !== undefined} />
          <button type="submit" class="primary">
            {words.continue}
          </button>
        </form>
        <div class="leave">
          <form method="post" action="/app/sign-in">
            {next}
            <button type="submit" class="link">
              {appWords[language].another}
            </button>
          </form>
          <form method="post" action="/app/other-address">
            {next}
            <button type="submit" class="link">
              {words.otherAddress}
            </button>
          </form>
        </div>
      </article>
    ),
  };
};
