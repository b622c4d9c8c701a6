// Signing in and signing up: an address, then the code that was mailed to it; the same steps, and the same cookies, as on the consent
// sheet. A sign-up and a sign-in go on to the same page, whoever has the address.
import type { Context, Hono } from "hono";
import type { Child, FC } from "hono/jsx";
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
import { parseRateLimitedForm, type FormFields } from "../shared/form-handlers.ts";
import { formatMessage } from "../shared/components.tsx";
import { businessChoicePath, parseNextPath } from "./businesses.tsx";
import { Field, FormContext, language, SubmitButton, messages, FormErrorMessage } from "./components.tsx";
import { renderPortalPage } from "./page.tsx";
import { pathWithQuery } from "./paths.ts";
import { toFormError, type FormError } from "./portal-request.ts";

const { signIn: signInMessages, signUp: signUpMessages } = messages;

const signInPathFor = (next: string, answer: "failed" | null = null): string =>
  pathWithQuery("/portal/sign-in", { next: next === "/portal" ? null : next, answer });

interface SignInStep {
  readonly title: string;
  readonly content: Child;
  /** What was typed before, where that is shown again. */
  readonly form?: FormFields;
  readonly fault?: FormError | undefined;
}

const renderStep = (c: Context<AppEnv>, { title, content, form, fault }: SignInStep): Promise<Response> =>
  renderPortalPage(c, {
    title,
    error: fault,
    content: (
      <article class="step portal-step">
        <h1>{title}</h1>
        <FormContext.Provider value={{ form, fault }}>{content}</FormContext.Provider>
      </article>
    ),
  });

const NextPathField: FC<{ next: string }> = ({ next }) => <input type="hidden" name="next" value={next} />;

const renderEmailStep = (c: Context<AppEnv>, next: string, refused: Pick<SignInStep, "form" | "fault"> = {}): Promise<Response> =>
  renderStep(c, {
    ...refused,
    title: signInMessages.title,
    content: (
      <>
        <form method="post" action="/portal/sign-in" class="form">
          <NextPathField next={next} />
          <Field name="email" label={signInMessages.email} hint={signInMessages.hint} type="email" autocomplete="email" required />
          <SubmitButton label={signInMessages.send} />
        </form>
        <p>
          {signInMessages.new} <a href="/portal/sign-up">{signUpMessages.title}</a>
        </p>
      </>
    ),
  });

const renderCodeStep = (c: Context<AppEnv>, next: string, email: string, fault?: FormError): Promise<Response> =>
  renderStep(c, {
    fault,
    title: signInMessages.codeTitle,
    content: (
      <>
        <p>{formatMessage(signInMessages.codeTo, { address: email })}</p>
        <form method="post" action="/portal/sign-in/code" class="form">
          <NextPathField next={next} />
          <Field name="code" label={signInMessages.code} autocomplete="one-time-code" required maxlength={20} />
          <SubmitButton label={signInMessages.continue} />
        </form>
        <p class="quiet">{signInMessages.noMail}</p>
        <form method="post" action="/portal/sign-in/other" class="form">
          <NextPathField next={next} />
          <button type="submit">{signInMessages.other}</button>
        </form>
      </>
    ),
  });

const renderSignUpStep = (c: Context<AppEnv>, refused: Pick<SignInStep, "form" | "fault"> = {}): Promise<Response> =>
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
          <SubmitButton label={signUpMessages.submit} />
        </form>
        <p>
          {signUpMessages.known} <a href="/portal/sign-in">{signInMessages.title}</a>
        </p>
      </>
    ),
  });

const isSignedIn = async (c: Context<AppEnv>): Promise<boolean> =>
  (await authenticateSession(c.var.services, getSessionToken(c)))?.realm === "business";

/** The step that the browser has come to. */
const renderSignIn = async (c: Context<AppEnv>): Promise<Response> => {
  const next = parseNextPath(c.req.query("next"));
  if (await isSignedIn(c)) return c.redirect(next, 303);
  const email = await findPendingSignInEmail(c);
  if (email === null) return renderEmailStep(c, next);
  const failed: FormError = { code: "login_failed", field: "code", text: signInMessages.wrongCode };
  return renderCodeStep(c, next, email, c.req.query("answer") === "failed" ? failed : undefined);
};

const handleSendCode = async (c: Context<AppEnv>): Promise<Response> => {
  const form = await parseRateLimitedForm(c, "AUTH_REQUEST_PER_IP");
  if (form instanceof Response) return form;
  const next = parseNextPath(form.get("next"));
  const email = (form.get("email") ?? "").trim();
  if (!isEmailAddress(email)) {
    const fault: FormError = { code: "invalid_request", field: "email", text: signInMessages.badEmail };
    return renderEmailStep(c, next, { form, fault });
  }
  await startEmailSignIn(c, { email, realm: "business", language });
  return c.redirect(signInPathFor(next), 303);
};

/** Whether whoever has just signed in acts for more than one business. */
const hasMultipleBusinesses = async (c: Context<AppEnv>, token: string): Promise<boolean> => {
  const { services } = c.var;
  const session = await authenticateSession(services, token);
  if (session?.realm !== "business") return false;
  return (await listMemberships(services, session)).filter(({ invitedUntil }) => invitedUntil === null).length > 1;
};

const handleSubmitCode = async (c: Context<AppEnv>): Promise<Response> => {
  const form = await parseRateLimitedForm(c, "AUTH_VERIFY_PER_IP");
  if (form instanceof Response) return form;
  const next = parseNextPath(form.get("next"));
  const taken = await completeEmailSignIn(c, form, "business");
  if (taken.outcome === "signed") return c.redirect((await hasMultipleBusinesses(c, taken.token)) ? businessChoicePath(next) : next, 303);
  if (taken.outcome !== "malformed") return c.redirect(signInPathFor(next, taken.outcome === "wrong" ? "failed" : null), 303);
  return renderCodeStep(c, next, taken.email, { code: "invalid_request", field: "code", text: signInMessages.badCode });
};

const handleChangeEmail = async (c: Context<AppEnv>): Promise<Response> => {
  const form = await parseRateLimitedForm(c, "AUTH_VERIFY_PER_IP");
  if (form instanceof Response) return form;
  clearPendingSignInEmail(c);
  return c.redirect(signInPathFor(parseNextPath(form.get("next"))), 303);
};

const renderSignUp = async (c: Context<AppEnv>): Promise<Response> =>
  (await isSignedIn(c)) ? c.redirect("/portal", 303) : renderSignUpStep(c);

const handleSignUp = async (c: Context<AppEnv>): Promise<Response> => {
  const form = await parseRateLimitedForm(c, "SIGNUP_PER_IP");
  if (form instanceof Response) return form;
  const typed = (name: string): string => (form.get(name) ?? "").slice(0, 2_048);
  const asked = {
    businessName: typed("business_name"),
    legalName: null,
    email: typed("email"),
    country: typed("country").trim(),
    website: typed("website"),
  };
  const signedUp = await signUp(c.var.services, asked, language);
  if (!signedUp.ok) return renderSignUpStep(c, { form, fault: toFormError(signedUp) });
  await savePendingSignInEmail(c, asked.email.trim());
  return c.redirect("/portal/sign-in", 303);
};

/** Without the form's own token: a form from elsewhere ends at `postedForm`, and signing out needs no session that holds. */
const handleSignOut = async (c: Context<AppEnv>): Promise<Response> => {
  const form = await parseRateLimitedForm(c, "AUTH_VERIFY_PER_IP");
  if (form instanceof Response) return form;
  await signOutBrowser(c);
  return c.redirect("/portal/sign-in", 303);
};

export const registerSignInRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/sign-in", renderSignIn);
  pages.post("/sign-in", handleSendCode);
  pages.post("/sign-in/code", handleSubmitCode);
  pages.post("/sign-in/other", handleChangeEmail);
  pages.get("/sign-up", renderSignUp);
  pages.post("/sign-up", handleSignUp);
  pages.post("/sign-out", handleSignOut);
};
