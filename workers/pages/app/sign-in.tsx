// Signing in to the app: an address, then the code that was mailed to it, or a passkey; the same steps, and the same cookies, as on the consent sheet.
// Every page of the app answers whoever is not signed in with these, and leads back to itself.
import type { Context, Hono } from "hono";
import type { FC } from "hono/jsx";
import { isMailbox } from "../../../core/mailbox.ts";
import type { Api } from "../../http/context.ts";
import { relyingParty } from "../../http/guards.ts";
import { askToSignIn } from "../../operations/access/passkey-sign-in.ts";
import { AddressField, CodeField, maxMailbox, Submit } from "../shared/forms.tsx";
import { appWords } from "../shared/i18n/app.ts";
import { sheetWords } from "../shared/i18n/sheet.ts";
import type { Language } from "../shared/language.ts";
import { keepLanguage, languageOf, pageAnswer, type Page } from "../shared/layout.tsx";
import { askedAddress, forgetAsked, mailCode, takeCode } from "../shared/mailed-sign-in.tsx";
import { posting, type Sent } from "../shared/own-form.ts";
import { filled, useSetting } from "../shared/parts.tsx";
import { DeviceAsked, takePasskey } from "../shared/passkey-sign-in.tsx";

interface Step {
  /** The page that is opened afterwards. */
  readonly next: string;
  readonly fault?: string | undefined;
}

export const Next: FC<{ next: string }> = ({ next }) => <input type="hidden" name="next" value={next} />;

/** Offered by the script where the browser has passkeys. */
export const PasskeyOffer: FC<{ next: string }> = ({ next }) => (
  <form method="post" action="/app/passkey" class="form" data-offers-passkey="" hidden>
    <Next next={next} />
    <button type="submit">{appWords[useSetting().language].usePasskey}</button>
  </form>
);

const addressStep = (language: Language, { next, typed, fault }: Step & { readonly typed?: string }): Page => {
  const words = sheetWords[language];
  const { signIn, signInIntro } = appWords[language];
  return {
    title: `${signIn} · svc`,
    isFaulty: fault !== undefined,
    script: "passkey.js",
    content: (
      <article class="step">
        <div>
          <h1>{signIn}</h1>
          <p>{signInIntro}</p>
        </div>
        <form method="post" action="/app/sign-in" class="form">
          <Next next={next} />
          <AddressField id="email" label={words.email} hint={words.emailHint} fault={fault} typed={typed} />
          <Submit>{words.send}</Submit>
        </form>
        <PasskeyOffer next={next} />
      </article>
    ),
  };
};

export const codeStep = (language: Language, { next, email, fault }: Step & { readonly email: string }): Page => {
  const words = sheetWords[language];
  return {
    title: `${words.codeHeading} · svc`,
    isFaulty: fault !== undefined,
    content: (
      <article class="step">
        <div>
          <h1>{words.codeHeading}</h1>
          <p>{filled(words.codeTo, { address: email })}</p>
        </div>
        <form method="post" action="/app/code" class="form">
          <Next next={next} />
          <CodeField id="code" class="code" label={words.code} fault={fault} />
          <Submit>{words.continue}</Submit>
        </form>
        <div class="leave">
          <form method="post" action="/app/sign-in">
            <Next next={next} />
            <button type="submit" class="link">
              {appWords[language].another}
            </button>
          </form>
          <form method="post" action="/app/other-address">
            <Next next={next} />
            <button type="submit" class="link">
              {words.otherAddress}
            </button>
          </form>
        </div>
      </article>
    ),
  };
};

/** A device is asked: the page holds what it is asked, the script hands that over and sends back what it answered. */
const passkeyStep = (language: Language, next: string, options: object): Page => {
  const words = appWords[language];
  return {
    title: `${words.passkeyWaiting} · svc`,
    script: "passkey.js",
    content: (
      <article class="step">
        <div>
          <h1>{words.passkeyWaiting}</h1>
          <p>{words.passkeyWaitingAdvice}</p>
        </div>
        <form method="post" action="/app/passkey/answer" class="form">
          <DeviceAsked how="get" options={options} label={words.usePasskey}>
            <Next next={next} />
          </DeviceAsked>
        </form>
        <p class="leave">
          <a href={next}>{words.signIn}</a>
        </p>
      </article>
    ),
  };
};

/** A page of the app and nothing else: whoever signs in is sent there. */
const nextPath = (text: string | undefined): string => (text !== undefined && /^\/app(?:\/[\w/-]*)?$/.test(text) ? text : "/app");

/** The step that the browser has come to. */
export const signInPage = async (c: Context<Api>, to: string): Promise<Response> => {
  const email = await askedAddress(c);
  const next = nextPath(to);
  const answered = c.req.query("answer");
  return pageAnswer(c, 200, ({ language }) => {
    if (email === null)
      return addressStep(language, { next, fault: answered === "passkey" ? appWords[language].passkeyRefused : undefined });
    return codeStep(language, { next, email, fault: answered === "failed" ? sheetWords[language].wrongCode : undefined });
  });
};

type Posted = Sent<{ readonly next: string }>;

const acting = posting(async (_, form) => ({ next: nextPath(form.get("next")) }));

const askForCode = async (c: Context<Api>, { form, next }: Posted): Promise<Response> => {
  const email = (form.get("email") ?? (await askedAddress(c)) ?? "").trim();
  if (!isMailbox(email))
    return pageAnswer(c, 400, ({ language }) =>
      addressStep(language, { next, typed: email.slice(0, maxMailbox), fault: sheetWords[language].badEmail }),
    );
  await mailCode(c, { email, realm: "consumer", language: languageOf(c) });
  return c.redirect(next, 303);
};

const giveCode = async (c: Context<Api>, { form, next }: Posted): Promise<Response> => {
  const taken = await takeCode(c, form, "consumer");
  if (taken.outcome !== "malformed") return c.redirect(taken.outcome === "wrong" ? `${next}?answer=failed` : next, 303);
  const { email } = taken;
  return pageAnswer(c, 400, ({ language }) => codeStep(language, { next, email, fault: sheetWords[language].badCode }));
};

const otherAddress = (c: Context<Api>, { next }: Posted): Response => {
  forgetAsked(c);
  return c.redirect(next, 303);
};

const askPasskey = async (c: Context<Api>, { next }: Posted): Promise<Response> => {
  const options = await askToSignIn(c.var.services, relyingParty(c));
  return pageAnswer(c, 200, ({ language }) => passkeyStep(language, next, options));
};

const givePasskey = async (c: Context<Api>, { form, next }: Posted): Promise<Response> =>
  c.redirect((await takePasskey(c, form)) ? next : `${next}?answer=passkey`, 303);

/** The step that was begun elsewhere, also where somebody is signed in already; afterwards, or without one, the app. */
export const signInPath = "/app/sign-in";

const goOn = async (c: Context<Api>): Promise<Response> => {
  keepLanguage(c);
  const email = await askedAddress(c);
  return email === null ? c.redirect("/app", 303) : signInPage(c, signInPath);
};

export const mountSignIn = (pages: Hono<Api>): void => {
  pages.get("/sign-in", goOn);
  pages.post("/sign-in", acting("AUTH_REQUEST_PER_IP", askForCode));
  pages.get("/code", goOn);
  pages.post("/code", acting("AUTH_VERIFY_PER_IP", giveCode));
  pages.post("/other-address", acting("AUTH_VERIFY_PER_IP", otherAddress));
  pages.get("/passkey", goOn);
  pages.post("/passkey", acting("AUTH_VERIFY_PER_IP", askPasskey));
  pages.post("/passkey/answer", acting("AUTH_VERIFY_PER_IP", givePasskey));
};
