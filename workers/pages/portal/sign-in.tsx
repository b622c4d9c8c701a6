// Signing in and signing up with an email code; the same steps and cookies as on the consent sheet. Both lead to the same page whether or
// not the email address is known, so that email addresses cannot be probed.
import type { Context, Hono } from "hono";
import type { Child } from "hono/jsx";
import { isEmailAddress } from "../../../core/email-address.ts";
import type { AppEnv } from "../../http/context.ts";
import { signOutBrowser, getSessionToken } from "../../http/guards/session-cookie.ts";
import { listMemberships } from "../../operations/access/list-memberships.ts";
import { authenticateSession } from "../../operations/access/authenticate-session.ts";
import { signUp } from "../../operations/access/sign-up.ts";
import {
  findPendingSignInEmail,
  clearPendingSignInEmail,
  savePendingSignInEmail,
  startEmailSignIn,
  completeEmailSignIn,
} from "../shared/email-code-sign-in.tsx";
import { NextPathField, SubmitButton } from "../shared/form-fields.tsx";
import { createFormHandlerFactory, type FormFields, type FormRequest } from "../shared/form-handlers.ts";
import { formatMessage } from "../shared/components.tsx";
import { businessChoicePath, parseNextPath } from "./businesses.tsx";
import { Field, FormContext, language, messages, FormErrorMessage } from "./components.tsx";
import { renderPortalPage } from "./page.tsx";
import { pathWithQuery } from "./paths.ts";
import { toFormError, type FormError } from "./portal-request.ts";

const { signIn: signInMessages, signUp: signUpMessages } = messages;

const signInPathFor = (next: string, answer: "failed" | null = null): string =>
  pathWithQuery("/portal/sign-in", { next: next === "/portal" ? null : next, answer });

interface SignInStep {
  readonly title: string;
  readonly content: Child;
  /** Set if the page is the response to a refused form. */
  readonly form?: FormFields;
  readonly error?: FormError | undefined;
}

const renderStep = (c: Context<AppEnv>, { title, content, form, error }: SignInStep): Promise<Response> =>
  renderPortalPage(c, {
    title,
    error,
    content: (
      <article class="step portal-step">
        <h1>{title}</h1>
        <FormContext.Provider value={{ form, error }}>{content}</FormContext.Provider>
      </article>
    ),
  });

const renderEmailStep = (c: Context<AppEnv>, next: string, refused: Pick<SignInStep, "form" | "error"> = {}): Promise<Response> =>
  renderStep(c, {
    ...refused,
    title: signInMessages.title,
    content: (
      <>
        <form method="post" action="/portal/sign-in" class="form">
          <NextPathField next={next} />
          <Field name="email" label={signInMessages.email} hint={signInMessages.hint} type="email" autocomplete="email" required />
          <SubmitButton>{signInMessages.send}</SubmitButton>
        </form>
        <p>
          {signInMessages.new} <a href="/portal/sign-up">{signUpMessages.title}</a>
        </p>
      </>
    ),
  });

const renderCodeStep = (c: Context<AppEnv>, next: string, email: string, error?: FormError): Promise<Response> =>
  renderStep(c, {
    error,
    title: signInMessages.codeTitle,
    content: (
      <>
        <p>{formatMessage(signInMessages.codeTo, { address: email })}</p>
        <form method="post" action="/portal/sign-in/code" class="form">
          <NextPathField next={next} />
          <Field name="code" label={signInMessages.code} autocomplete="one-time-code" required maxlength={20} />
          <SubmitButton>{signInMessages.continue}</SubmitButton>
        </form>
        <p class="quiet">{signInMessages.noMail}</p>
        <form method="post" action="/portal/sign-in/other" class="form">
          <NextPathField next={next} />
          <button type="submit">{signInMessages.other}</button>
        </form>
      </>
    ),
  });

const renderSignUpStep = (c: Context<AppEnv>, refused: Pick<SignInStep, "form" | "error"> = {}): Promise<Response> =>
  renderStep(c, {
    ...refused,
    title: signUpMessages.title,
    content: (
      <>
        <p>{signUpMessages.intro}</p>
        <form method="post" action="/portal/sign-up" class="form">
          <FormErrorMessage fields={["business_name", "website", "email", "country"]} />
          <Field name="business_name" label={signUpMessages.name} autocomplete="organization" required />
          <Field name="website" label={signUpMessages.website} hint={signUpMessages.websiteHint} autocomplete="url" />
          <Field name="email" label={signUpMessages.email} type="email" autocomplete="email" required />
          <Field
            name="country"
            label={signUpMessages.country}
            hint={signUpMessages.countryHint}
            autocomplete="country"
            required
            value="US"
            maxlength={2}
          />
          <SubmitButton>{signUpMessages.submit}</SubmitButton>
        </form>
        <p>
          {signUpMessages.known} <a href="/portal/sign-in">{signInMessages.title}</a>
        </p>
      </>
    ),
  });

const isSignedIn = async (c: Context<AppEnv>): Promise<boolean> =>
  (await authenticateSession(c.var.services, getSessionToken(c)))?.realm === "business";

/** Shows the browser's current step, according to its cookie. */
const renderSignIn = async (c: Context<AppEnv>): Promise<Response> => {
  const next = parseNextPath(c.req.query("next"));
  if (await isSignedIn(c)) return c.redirect(next, 303);
  const email = await findPendingSignInEmail(c);
  if (email === null) return renderEmailStep(c, next);
  const failed: FormError = { code: "login_failed", field: "code", text: signInMessages.wrongCode };
  return renderCodeStep(c, next, email, c.req.query("answer") === "failed" ? failed : undefined);
};

type SignInFormRequest = FormRequest<{ readonly next: string }>;

const signInAction = createFormHandlerFactory(async (_, form) => ({ next: parseNextPath(form.get("next")) }));

const handleSendCode = async (c: Context<AppEnv>, { form, next }: SignInFormRequest): Promise<Response> => {
  const email = (form.get("email") ?? "").trim();
  if (!isEmailAddress(email)) {
    const error: FormError = { code: "invalid_request", field: "email", text: signInMessages.badEmail };
    return renderEmailStep(c, next, { form, error });
  }
  await startEmailSignIn(c, { email, realm: "business", language });
  return c.redirect(signInPathFor(next), 303);
};

const hasMultipleBusinesses = async (c: Context<AppEnv>, token: string): Promise<boolean> => {
  const { services } = c.var;
  const session = await authenticateSession(services, token);
  if (session?.realm !== "business") return false;
  return (await listMemberships(services, session)).filter(({ invitedUntil }) => invitedUntil === null).length > 1;
};

const handleSubmitCode = async (c: Context<AppEnv>, { form, next }: SignInFormRequest): Promise<Response> => {
  const result = await completeEmailSignIn(c, form, "business");
  if (result.outcome === "signed") return c.redirect((await hasMultipleBusinesses(c, result.token)) ? businessChoicePath(next) : next, 303);
  if (result.outcome !== "malformed") return c.redirect(signInPathFor(next, result.outcome === "wrong" ? "failed" : null), 303);
  return renderCodeStep(c, next, result.email, { code: "invalid_request", field: "code", text: signInMessages.badCode });
};

const handleChangeEmail = (c: Context<AppEnv>, { next }: SignInFormRequest): Response => {
  clearPendingSignInEmail(c);
  return c.redirect(signInPathFor(next), 303);
};

const renderSignUp = async (c: Context<AppEnv>): Promise<Response> =>
  (await isSignedIn(c)) ? c.redirect("/portal", 303) : renderSignUpStep(c);

const handleSignUp = async (c: Context<AppEnv>, { form }: SignInFormRequest): Promise<Response> => {
  const typed = (name: string): string => (form.get(name) ?? "").slice(0, 2_048);
  const registration = {
    businessName: typed("business_name"),
    legalName: null,
    email: typed("email"),
    country: typed("country").trim(),
    website: typed("website"),
  };
  const signedUp = await signUp(c.var.services, registration, language);
  if (!signedUp.ok) return renderSignUpStep(c, { form, error: toFormError(signedUp) });
  await savePendingSignInEmail(c, registration.email.trim());
  return c.redirect("/portal/sign-in", 303);
};

/** Does not check a form token: `signInAction` refuses forms from other sites, and signing out must work with an expired session. */
const handleSignOut = async (c: Context<AppEnv>): Promise<Response> => {
  await signOutBrowser(c);
  return c.redirect("/portal/sign-in", 303);
};

export const registerSignInRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/sign-in", renderSignIn);
  pages.post("/sign-in", signInAction("AUTH_REQUEST_PER_IP", handleSendCode));
  pages.post("/sign-in/code", signInAction("AUTH_VERIFY_PER_IP", handleSubmitCode));
  pages.post("/sign-in/other", signInAction("AUTH_VERIFY_PER_IP", handleChangeEmail));
  pages.get("/sign-up", renderSignUp);
  pages.post("/sign-up", signInAction("SIGNUP_PER_IP", handleSignUp));
  pages.post("/sign-out", signInAction("AUTH_VERIFY_PER_IP", handleSignOut));
};
