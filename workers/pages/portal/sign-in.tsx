// Signs members in with an email code or a passkey, and signs them up. The steps and cookies are those of the consent sheet. The response
// is the same whether or not the email address is known, so that it does not reveal which addresses have an account.
import { cutText } from "../../../core/cut-text.ts";
import { refusals } from "../../../core/refusals.ts";
import { refuse } from "../../../core/result.ts";
import type { Context, Hono } from "hono";
import type { Child, FC } from "hono/jsx";
import { isEmailAddress, trimTypedAddress } from "../../../core/email-address.ts";
import type { AppEnv } from "../../http/context.ts";
import { clearPendingSignIn, findPendingSignIn, identifySignInBrowser, savePendingSignIn } from "../../http/pending-sign-in.ts";
import { getRelyingParty } from "../../http/guards/app-origin.ts";
import { signOutBrowser } from "../../http/guards/session-cookie.ts";
import { listMemberships } from "../../operations/access/list-memberships.ts";
import { requestPasskeySignIn } from "../../operations/access/request-passkey-sign-in.ts";
import { authenticateSession } from "../../operations/access/authenticate-session.ts";
import { signUp, type SignupInput } from "../../operations/access/sign-up.ts";
import { startEmailSignIn, completeEmailSignIn } from "../shared/email-code-sign-in.tsx";
import { CodeField, maxTypedEmailLength, NextPathField, SubmitButton } from "../shared/form-fields.tsx";
import {
  createFormHandlerFactory,
  findAnyPageSession,
  findPageSession,
  type FormFields,
  type FormRequest,
} from "../shared/form-handlers.ts";
import { FormattedMessage, VerbatimText } from "../shared/components.tsx";
import { businessChoicePath, parseNextPath } from "./businesses.tsx";
import { Field, FormContext, language, messages, FormErrorMessage } from "./components.tsx";
import { listCountryNames } from "../shared/country-names.ts";
import { renderPortalPage } from "./page.tsx";
import { completePasskeySignIn, PasskeyPrompt, PasskeySignInForm } from "../shared/passkey-sign-in.tsx";
import { invitationsPath, passkeyPath, pathWithQuery, reauthenticatePath } from "./paths.ts";
import { toFormError, type FormError } from "./portal-request.ts";

const { signIn: signInMessages, signUp: signUpMessages } = messages;

const signInPathFor = (next: string, outcome: "failed" | "passkey" | null = null): string =>
  pathWithQuery("/portal/sign-in", { next: next === "/portal" ? null : next, outcome });

export interface SignInStep {
  readonly title: string;
  /** The text below the title, such as what the account is for or where the code was sent. */
  readonly intro: Child;
  readonly content: Child;
  readonly script?: "passkey.js";
  readonly others?: Child;
  /** The form that was submitted, if it was refused. */
  readonly form?: FormFields;
  readonly error?: FormError | undefined;
}

export const renderStep = (c: Context<AppEnv>, { title, intro, content, script, others, form, error }: SignInStep): Promise<Response> =>
  renderPortalPage(c, {
    title,
    error,
    ...(script !== undefined && { script }),
    content: (
      <div class="confirm stack">
        <div class="card">
          <div class="body stack">
            <h1>{title}</h1>
            <p class="quiet">{intro}</p>
            <FormContext.Provider value={{ form, error }}>{content}</FormContext.Provider>
          </div>
        </div>
        {others}
      </div>
    ),
  });

/** Links to the app, for people who do not represent a business. */
const PersonLink: FC = () => (
  <p class="small quiet">
    {signInMessages.person} <a href="/app">{signInMessages.personLink}</a>
  </p>
);

const renderEmailStep = (c: Context<AppEnv>, next: string, refused: Pick<SignInStep, "form" | "error"> = {}): Promise<Response> =>
  renderStep(c, {
    ...refused,
    title: signInMessages.title,
    intro: signInMessages.purpose,
    script: "passkey.js",
    content: (
      <>
        <form method="post" action="/portal/sign-in" class="form stack">
          <NextPathField next={next} />
          <Field
            name="email"
            label={signInMessages.email}
            hint={signInMessages.hint}
            type="email"
            autocomplete="email"
            required
            maxlength={maxTypedEmailLength}
          />
          <SubmitButton>{signInMessages.send}</SubmitButton>
        </form>
        <PasskeySignInForm action={passkeyPath} next={next} />
      </>
    ),
    others: (
      <>
        <p>
          {signInMessages.new} <a href="/portal/sign-up">{signUpMessages.title}</a>
        </p>
        <PersonLink />
      </>
    ),
  });

/** A button that leads back to the form for the email address. */
const OtherEmailForm: FC<{ next: string }> = ({ next }) => (
  <form method="post" action="/portal/sign-in/other">
    <NextPathField next={next} />
    <SubmitButton class="btn sm">{signInMessages.other}</SubmitButton>
  </form>
);

interface CodeStepProps {
  readonly next: string;
  readonly email: string;
  readonly error: FormError | undefined;
  /** The page that a signed-in member can return to instead of signing in again. If set, the email address cannot be changed. */
  readonly cancelPath?: string;
}

export const CodeStep: FC<CodeStepProps> = ({ next, email, error, cancelPath }) => (
  <>
    <form method="post" action="/portal/sign-in/code" class="form stack">
      <NextPathField next={next} />
      <CodeField id="code" label={signInMessages.code} error={error?.text} />
      <SubmitButton>{cancelPath === undefined ? signInMessages.continue : messages.account.proveSubmit}</SubmitButton>
    </form>
    {cancelPath === undefined && <p class="small quiet">{signInMessages.noMail}</p>}
    <div class="row">
      <form method="post" action="/portal/sign-in">
        <NextPathField next={next} />
        <input type="hidden" name="email" value={email} />
        <SubmitButton class="btn sm">{signInMessages.resend}</SubmitButton>
      </form>
      {cancelPath === undefined ? (
        <OtherEmailForm next={next} />
      ) : (
        <a class="btn sm" href={cancelPath}>
          {messages.cancel}
        </a>
      )}
    </div>
  </>
);
export const codeSentTo = (email: string): Child => (
  <FormattedMessage text={signInMessages.codeTo} parts={{ address: <VerbatimText text={email} /> }} />
);

const renderCodeStep = (c: Context<AppEnv>, next: string, email: string, error?: FormError): Promise<Response> =>
  renderStep(c, {
    error,
    title: signInMessages.codeTitle,
    intro: codeSentTo(email),
    content: <CodeStep next={next} email={email} error={error} />,
  });

const signUpFields = ["business_name", "website", "email", "country"] as const;

const renderSignUpStep = (c: Context<AppEnv>, refused: Pick<SignInStep, "form" | "error"> = {}): Promise<Response> =>
  renderStep(c, {
    ...refused,
    title: signUpMessages.title,
    intro: signUpMessages.intro,
    content: (
      <form method="post" action="/portal/sign-up" class="form stack">
        <FormErrorMessage fields={signUpFields} />
        <Field name="business_name" label={signUpMessages.name} autocomplete="organization" required />
        <Field name="website" label={signUpMessages.website} hint={signUpMessages.websiteHint} autocomplete="url" isOptional />
        <Field name="email" label={signInMessages.email} type="email" autocomplete="email" required maxlength={maxTypedEmailLength} />
        <Field name="country" label={signUpMessages.country} options={listCountryNames(language)} value="US" />
        <SubmitButton>{signInMessages.send}</SubmitButton>
      </form>
    ),
    others: (
      <>
        <p>
          {signUpMessages.known} <a href="/portal/sign-in">{signUpMessages.signIn}</a>
        </p>
        <PersonLink />
      </>
    ),
  });

/**
 * Redirects signed-in members to `path`. Redirects people who have been invited but have not joined to their invitations. Runs `render` for
 * everyone else.
 */
export const renderUnlessSignedIn = async (c: Context<AppEnv>, path: string, render: () => Promise<Response>): Promise<Response> => {
  const session = await findAnyPageSession(c);
  if (session instanceof Response) return session;
  if (session?.realm === "invited") return c.redirect(invitationsPath, 303);
  return session?.realm === "business" ? c.redirect(path, 303) : render();
};

/** Shows the sign-in step that this browser has reached. A cookie records the step. */
const renderSignInStep = async (c: Context<AppEnv>, next: string): Promise<Response> => {
  const pending = await findPendingSignIn(c);
  const outcome = c.req.query("outcome");
  const refused: FormError = { code: "login_failed", field: "email", text: signInMessages.passkeyRefused };
  if (pending === null) return renderEmailStep(c, next, outcome === "passkey" ? { error: refused } : {});
  const failed: FormError = { code: "login_failed", field: "code", text: signInMessages.wrongCode };
  return renderCodeStep(c, next, pending.email, outcome === "failed" ? failed : undefined);
};

const renderSignIn = (c: Context<AppEnv>): Promise<Response> => {
  const next = parseNextPath(c.req.query("next"));
  // A member who must sign in again still has a session and is redirected, so the page that asked for the sign-in shows the outcome.
  const signedInPath = next === reauthenticatePath ? pathWithQuery(next, { outcome: c.req.query("outcome") ?? null }) : next;
  return renderUnlessSignedIn(c, signedInPath, () => renderSignInStep(c, next));
};

type SignInFormRequest = FormRequest<{ readonly next: string }>;

const signInAction = createFormHandlerFactory(async (_, form) => ({ next: parseNextPath(form.get("next")) }));

const handleSendCode = async (c: Context<AppEnv>, { form, next }: SignInFormRequest): Promise<Response> => {
  const email = trimTypedAddress(form.get("email") ?? "");
  if (!isEmailAddress(email)) {
    const error: FormError = { code: "invalid_request", field: "email", text: signInMessages.badEmail };
    return renderEmailStep(c, next, { form, error });
  }
  await startEmailSignIn(c, { email, realm: "business", language, next });
  return c.redirect(signInPathFor(next), 303);
};

/**
 * Redirects the person after signing in. People who belong to no business get their invitations. Members of several businesses get the
 * business list, unless `next` is `reauthenticatePath`. All others get `next`.
 */
export const redirectSignedIn = async (c: Context<AppEnv>, token: string, next: string): Promise<Response> => {
  const { services } = c.var;
  const session = await authenticateSession(services, token);
  if (session?.realm === "invited") return c.redirect(invitationsPath, 303);
  const memberships = session?.realm === "business" ? await listMemberships(services, session) : [];
  const hasSeveral = next !== reauthenticatePath && memberships.filter(({ invitedUntil }) => invitedUntil === null).length > 1;
  return c.redirect(hasSeveral ? businessChoicePath(next) : next, 303);
};

const handleSubmitCode = async (c: Context<AppEnv>, { form, next }: SignInFormRequest): Promise<Response> => {
  const result = await completeEmailSignIn(c, form, "business");
  if (result.outcome === "signed") return redirectSignedIn(c, result.token, next);
  if (result.outcome !== "malformed") return c.redirect(signInPathFor(next, result.outcome === "wrong" ? "failed" : null), 303);
  return renderCodeStep(c, next, result.email, { code: "invalid_request", field: "code", text: signInMessages.badCode });
};

const handleChangeEmail = (c: Context<AppEnv>, { next }: SignInFormRequest): Response => {
  clearPendingSignIn(c);
  return c.redirect(signInPathFor(next), 303);
};

/** Shows the page whose script starts the browser's passkey prompt and submits the credential. */
const renderPasskeyPrompt = async (c: Context<AppEnv>, { next }: SignInFormRequest): Promise<Response> => {
  const options = await requestPasskeySignIn(c.var.services, getRelyingParty(c));
  return renderStep(c, {
    title: signInMessages.usePasskey,
    intro: messages.account.confirmOnDevice,
    script: "passkey.js",
    content: (
      <>
        <form method="post" action={`${passkeyPath}/verify`} class="form">
          <PasskeyPrompt how="get" options={options} label={signInMessages.usePasskey}>
            <NextPathField next={next} />
          </PasskeyPrompt>
        </form>
        <p>
          <a href={signInPathFor(next)}>{signInMessages.useCode}</a>
        </p>
      </>
    ),
  });
};

const handlePasskeyResponse = async (c: Context<AppEnv>, { form, next }: SignInFormRequest): Promise<Response> => {
  const token = await completePasskeySignIn(c, form, "business");
  return token === null ? c.redirect(signInPathFor(next, "passkey"), 303) : redirectSignedIn(c, token, next);
};

/**
 * Shows the sign-up page. People who have been invited but have not joined also see it, because they can open their own business account.
 */
const renderSignUp = async (c: Context<AppEnv>): Promise<Response> => {
  const session = await findPageSession(c);
  if (session instanceof Response) return session;
  return session?.realm === "business" ? c.redirect("/portal", 303) : renderSignUpStep(c);
};

/** Combines the errors of all invalid fields. The first of these fields in the form takes the focus. */
const toSignUpError = (faults: readonly string[], { businessName }: SignupInput): FormError => {
  const rules = new Map(faults.map((detail) => toFormError(refuse("invalid_request", detail))).map(({ field, text }) => [field, text]));
  const [first, ...others] = signUpFields.filter((name) => rules.has(name));
  if (first === undefined) return { code: "invalid_request", field: null, text: refusals.invalid_request };
  const { invalid } = signUpMessages;
  // If a name was typed, show the rule that it breaks, for example that it contains an invisible character.
  const nameRule = businessName.trim() === "" ? undefined : rules.get("business_name");
  const texts = { ...invalid, business_name: nameRule ?? invalid.business_name };
  return {
    code: "invalid_request",
    field: first,
    text: texts[first],
    others: Object.fromEntries(others.map((name) => [name, texts[name]])),
  };
};

const handleSignUp = async (c: Context<AppEnv>, { form }: SignInFormRequest): Promise<Response> => {
  const typed = (name: string): string => cutText(form.get(name) ?? "", 2_048);
  const registration = {
    businessName: typed("business_name"),
    legalName: null,
    email: typed("email"),
    country: typed("country").trim(),
    website: typed("website"),
  };
  const browser = await identifySignInBrowser(c);
  const signedUp = await signUp(c.var.services, registration, { language, browser });
  if (!signedUp.ok) return renderSignUpStep(c, { form, error: toSignUpError(signedUp.faults, registration) });
  await savePendingSignIn(c, { email: trimTypedAddress(registration.email), browser, next: "/portal" });
  return c.redirect("/portal/sign-in", 303);
};

/**
 * Does not check a form token, because signing out must also work with an expired session. `signInAction` already refuses forms from other
 * sites.
 */
const handleSignOut = async (c: Context<AppEnv>): Promise<Response> => {
  await signOutBrowser(c);
  return c.redirect("/portal/sign-in", 303);
};

export const registerSignInRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/sign-in", renderSignIn);
  pages.post("/sign-in", signInAction("AUTH_REQUEST_PER_IP", handleSendCode));
  pages.post("/sign-in/code", signInAction("AUTH_VERIFY_PER_IP", handleSubmitCode));
  pages.post("/sign-in/other", signInAction("AUTH_VERIFY_PER_IP", handleChangeEmail));
  pages.get("/sign-in/passkey", (c) => c.redirect("/portal/sign-in", 303));
  pages.post("/sign-in/passkey", signInAction("AUTH_VERIFY_PER_IP", renderPasskeyPrompt));
  pages.post("/sign-in/passkey/verify", signInAction("AUTH_VERIFY_PER_IP", handlePasskeyResponse));
  pages.get("/sign-up", renderSignUp);
  pages.post("/sign-up", signInAction("SIGNUP_PER_IP", handleSignUp));
  pages.post("/sign-out", signInAction("AUTH_VERIFY_PER_IP", handleSignOut));
};
