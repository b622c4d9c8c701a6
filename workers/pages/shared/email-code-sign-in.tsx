// Signing in with an email code, shared by all surfaces: one form asks for the email address, the next for the code. In between, the email
// address is sealed in a cookie.
import type { Context } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import type { Child, FC } from "hono/jsx";
import { parseEmailCode } from "../../../core/access/email-code.ts";
import type { Realm } from "../../../core/access/session.ts";
import type { AppEnv } from "../../http/context.ts";
import { findCookie, cookieOptions } from "../../http/cookies.ts";
import { getSessionToken, setSessionCookie } from "../../http/guards/session-cookie.ts";
import { signInNoteSeconds, openSignInEmail, sealSignInEmail } from "../../operations/access/sign-in-note.ts";
import { requestSignInCode } from "../../operations/access/request-sign-in-code.ts";
import { verifySignInCode } from "../../operations/access/verify-sign-in-code.ts";
import { CodeField, SubmitButton } from "./form-fields.tsx";
import { sheetMessages } from "../i18n/sheet.ts";
import type { Language } from "./language.ts";
import type { FormFields } from "./form-handlers.ts";
import { FormattedMessage, usePageContext } from "./components.tsx";

/** Shared by the app, the consent sheet and the portal: a sign-in started on one of them can be completed on another. */
const pendingSignInCookie = "svc_sign_in";

/** The email address that a code was sent to; null if there is none or if it has expired. */
export const findPendingSignInEmail = (c: Context<AppEnv>, cookie = pendingSignInCookie): Promise<string | null> =>
  openSignInEmail(c.var.services, findCookie(c, cookie));

/** Stores the sealed email address in the cookie. Its value identifies the browser when attempts are counted. */
export const savePendingSignIn = (c: Context<AppEnv>, sealedEmail: string, cookie = pendingSignInCookie): void =>
  setCookie(c, cookie, sealedEmail, { ...cookieOptions(c), maxAge: signInNoteSeconds });

export const clearPendingSignInEmail = (c: Context<AppEnv>, cookie = pendingSignInCookie): void => {
  deleteCookie(c, cookie, cookieOptions(c));
};

/** Sends a code and stores the email address in the cookie. */
export const startEmailSignIn = async (
  c: Context<AppEnv>,
  recipient: { readonly email: string; readonly realm: Realm; readonly language: Language },
  cookie = pendingSignInCookie,
): Promise<void> => {
  const context = await sealSignInEmail(c.var.services, recipient.email);
  await requestSignInCode(c.var.services, { ...recipient, context });
  savePendingSignIn(c, context, cookie);
};

/** `none`: no code is pending, or it expired. `malformed`: the input is not a code, so no attempt was counted. */
type EmailSignInResult =
  | { readonly outcome: "none" | "wrong" }
  | { readonly outcome: "signed"; readonly token: string }
  | { readonly outcome: "malformed"; readonly email: string };

export const completeEmailSignIn = async (
  c: Context<AppEnv>,
  form: FormFields,
  realm: Realm,
  cookie = pendingSignInCookie,
): Promise<EmailSignInResult> => {
  const email = await findPendingSignInEmail(c, cookie);
  if (email === null) return { outcome: "none" };
  const code = parseEmailCode(form.get("code") ?? "");
  if (code === null) return { outcome: "malformed", email };
  const userAgent = c.req.header("user-agent");
  const request = { email, code, realm, name: null, replaces: getSessionToken(c), userAgent, context: findCookie(c, cookie) ?? null };
  const signed = await verifySignInCode(c.var.services, request);
  if (!signed.ok) return { outcome: "wrong" };
  setSessionCookie(c, signed.value.token, realm);
  clearPendingSignInEmail(c, cookie);
  return { outcome: "signed", token: signed.value.token };
};

interface EmailCodeStepProps {
  readonly name: string;
  readonly path: string;
  readonly search: string;
  readonly email: string;
  readonly error: string | undefined;
  /** The person has just asked for a new code. */
  readonly isResent: boolean;
  /** Reminds the person of what the code is for. */
  readonly context?: Child;
  /** Declines the request. It is beside the button that continues. */
  readonly decline: Child;
}

/** The form for the code on the consent sheet and the connect page. Its forms post to `path` and keep `search`. */
export const EmailCodeStep: FC<EmailCodeStepProps> = ({ name, path, search, email, error, isResent, context, decline }) => {
  const messages = sheetMessages[usePageContext().language];
  return (
    <>
      <form method="post" action={`${path}/code${search}`}>
        <div class="inner">
          <h1>{messages.codeHeading}</h1>
          <p>
            <FormattedMessage text={messages.codeTo} parts={{ address: <strong>{email}</strong> }} />
          </p>
          {isResent && <p role="status">{messages.newCodeSent}</p>}
          <CodeField id={`${name}-code`} label={messages.code} error={error} />
          <p class="row small">
            <button type="submit" class="link" form={`${name}-new-code`}>
              {messages.newCode}
            </button>
            <button type="submit" class="link" form={`${name}-other-address`}>
              {messages.otherAddress}
            </button>
          </p>
          {context}
        </div>
        <div class="answer">
          {decline}
          <SubmitButton>{messages.continue}</SubmitButton>
        </div>
      </form>
      <form id={`${name}-new-code`} method="post" action={`${path}/new-code${search}`} hidden />
      <form id={`${name}-other-address`} method="post" action={`${path}/other-address${search}`} hidden />
    </>
  );
};
