// Signs people in to the app with an email code or a passkey, in the same steps and with the same cookies as on the consent sheet. Visitors
// who are not signed in see these steps on every page of the app.
import { cutText } from "../../../core/cut-text.ts";
import type { Context, Hono } from "hono";
import type { FC } from "hono/jsx";
import { isEmailAddress, trimTypedAddress } from "../../../core/email-address.ts";
import type { AppEnv } from "../../http/context.ts";
import { clearPendingSignIn } from "../../http/pending-sign-in.ts";
import { getRelyingParty } from "../../http/guards/app-origin.ts";
import { requestPasskeySignIn } from "../../operations/access/request-passkey-sign-in.ts";
import { EmailField, CodeField, maxTypedEmailLength, NextPathField, SubmitButton } from "../shared/form-fields.tsx";
import { appMessages } from "../i18n/app.ts";
import { sheetMessages } from "../i18n/sheet.ts";
import type { Language } from "../../../core/language.ts";
import { saveLanguage, getPageLanguage, renderPage, type Page } from "../shared/layout.tsx";
import { findCodeStep, findPendingSignInEmail, startEmailSignIn, completeEmailSignIn } from "../shared/email-code-sign-in.tsx";
import { createFormHandlerFactory, type FormRequest } from "../shared/form-handlers.ts";
import { FormattedMessage, usePageContext, VerbatimText, IconList, ConfirmCard } from "../shared/components.tsx";
import { PasskeyPrompt, PasskeySignInForm, completePasskeySignIn } from "../shared/passkey-sign-in.tsx";

interface SignInStep {
  /** The page to open after signing in. */
  readonly next: string;
  readonly error?: string | undefined;
}

const emailStepPage = (language: Language, { next, typed, error }: SignInStep & { readonly typed?: string }): Page => {
  const messages = sheetMessages[language];
  const { signIn, signInIntro, signInUses } = appMessages[language];
  return {
    title: `${signIn} · svc`,
    hasError: error !== undefined,
    script: "passkey.js",
    content: (
      <ConfirmCard>
        <h1>{signIn}</h1>
        <p>{signInIntro}</p>
        <IconList
          items={[
            ["eye", signInUses.see],
            ["hand", signInUses.stop],
            ["user", signInUses.details],
          ]}
        />
        <form method="post" action="/app/sign-in" class="stack">
          <NextPathField next={next} />
          <EmailField id="email" label={messages.email} hint={`${messages.emailHint} ${messages.emailNew}`} error={error} typed={typed} />
          <SubmitButton>{messages.send}</SubmitButton>
        </form>
        <PasskeySignInForm action="/app/passkey" next={next} />
      </ConfirmCard>
    ),
  };
};

export const CodeStep: FC<SignInStep & { readonly email: string }> = ({ next, email, error }) => {
  const messages = sheetMessages[usePageContext().language];
  return (
    <>
      <h1>{messages.codeHeading}</h1>
      <p>
        <FormattedMessage text={messages.codeTo} parts={{ address: <VerbatimText text={email} /> }} />
      </p>
      <form method="post" action="/app/code" class="stack">
        <NextPathField next={next} />
        <CodeField id="code" label={messages.code} error={error} />
        <SubmitButton>{messages.continue}</SubmitButton>
      </form>
      <div class="row">
        <form method="post" action="/app/sign-in">
          <NextPathField next={next} />
          <SubmitButton class="btn bare">{messages.newCode}</SubmitButton>
        </form>
        <form method="post" action="/app/other-address">
          <NextPathField next={next} />
          <SubmitButton class="btn bare">{messages.otherAddress}</SubmitButton>
        </form>
      </div>
    </>
  );
};

export const codeStepPage = (language: Language, step: SignInStep & { readonly email: string }): Page => ({
  title: `${sheetMessages[language].codeHeading} · svc`,
  hasError: step.error !== undefined,
  content: (
    <ConfirmCard>
      <CodeStep {...step} />
    </ConfirmCard>
  ),
});

/** The page with the options for the browser's passkey prompt. Its script shows the prompt and submits the result. */
const passkeyStepPage = (language: Language, next: string, options: object): Page => {
  const messages = appMessages[language];
  return {
    title: `${messages.passkeyWaiting} · svc`,
    script: "passkey.js",
    content: (
      <ConfirmCard>
        <h1>{messages.passkeyWaiting}</h1>
        <p>{messages.passkeyWaitingAdvice}</p>
        <form method="post" action="/app/passkey/verify">
          <PasskeyPrompt how="get" options={options} label={messages.usePasskey}>
            <NextPathField next={next} />
          </PasskeyPrompt>
        </form>
        <p>
          <a href={next}>{sheetMessages[language].useCode}</a>
        </p>
      </ConfirmCard>
    ),
  };
};

/**
 * Parses the page to open after signing in. Any path outside the app becomes `/app`, so that a sign-in link cannot lead to another site.
 */
export const parseNextPath = (text: string | undefined): string =>
  text !== undefined && /^\/app(?:\/[\w/-]*)?$/.test(text) ? text : "/app";

/** Shows the sign-in step that this browser has reached. A cookie records the step. */
export const renderSignIn = async (c: Context<AppEnv>, nextPath: string): Promise<Response> => {
  const next = parseNextPath(nextPath);
  const step = await findCodeStep(c, "consumer");
  const isRefused = c.req.query("outcome") === "passkey";
  return renderPage(c, 200, ({ language }) =>
    step === null
      ? emailStepPage(language, { next, error: isRefused ? appMessages[language].passkeyRefused : undefined })
      : codeStepPage(language, { next, ...step }),
  );
};

type SignInFormRequest = FormRequest<{ readonly next: string }>;

const signInAction = createFormHandlerFactory(async (_, form) => ({ next: parseNextPath(form.get("next")) }));

const handleSendCode = async (c: Context<AppEnv>, { form, next }: SignInFormRequest): Promise<Response> => {
  const email = trimTypedAddress(form.get("email") ?? (await findPendingSignInEmail(c)) ?? "");
  if (!isEmailAddress(email))
    return renderPage(c, 400, ({ language }) =>
      emailStepPage(language, { next, typed: cutText(email, maxTypedEmailLength), error: sheetMessages[language].badEmail }),
    );
  await startEmailSignIn(c, { email, realm: "consumer", language: getPageLanguage(c), next });
  return c.redirect(next, 303);
};

const handleSubmitCode = async (c: Context<AppEnv>, { form, next }: SignInFormRequest): Promise<Response> => {
  const result = await completeEmailSignIn(c, form, "consumer");
  if (result.outcome !== "malformed") return c.redirect(result.outcome === "wrong" ? `${next}?outcome=failed` : next, 303);
  const { email } = result;
  return renderPage(c, 400, ({ language }) => codeStepPage(language, { next, email, error: sheetMessages[language].badCode }));
};

const handleChangeEmail = (c: Context<AppEnv>, { next }: SignInFormRequest): Response => {
  clearPendingSignIn(c);
  return c.redirect(next, 303);
};

const renderPasskeyStep = async (c: Context<AppEnv>, { next }: SignInFormRequest): Promise<Response> => {
  const options = await requestPasskeySignIn(c.var.services, getRelyingParty(c));
  return renderPage(c, 200, ({ language }) => passkeyStepPage(language, next, options));
};

const handlePasskeyResponse = async (c: Context<AppEnv>, { form, next }: SignInFormRequest): Promise<Response> =>
  c.redirect((await completePasskeySignIn(c, form, "consumer")) !== null ? next : `${next}?outcome=passkey`, 303);

export const signInPath = "/app/sign-in";

/** Continues a sign-in that was started on another page; redirects to the app if there is none. */
const resumeSignIn = async (c: Context<AppEnv>): Promise<Response> => {
  saveLanguage(c);
  const email = await findPendingSignInEmail(c);
  return email === null ? c.redirect("/app", 303) : renderSignIn(c, signInPath);
};

export const registerSignInRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/sign-in", resumeSignIn);
  pages.post("/sign-in", signInAction("AUTH_REQUEST_PER_IP", handleSendCode));
  pages.get("/code", resumeSignIn);
  pages.post("/code", signInAction("AUTH_VERIFY_PER_IP", handleSubmitCode));
  pages.post("/other-address", signInAction("AUTH_VERIFY_PER_IP", handleChangeEmail));
  pages.get("/passkey", resumeSignIn);
  pages.post("/passkey", signInAction("AUTH_VERIFY_PER_IP", renderPasskeyStep));
  pages.post("/passkey/verify", signInAction("AUTH_VERIFY_PER_IP", handlePasskeyResponse));
};
