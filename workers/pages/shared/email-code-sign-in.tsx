// Signing in by a code from a mail, wherever a page offers it: one form takes an address, the next the code that was mailed there. In
// between the address waits, sealed, in a cookie; each page keeps its own words and where it leads.
import type { Context } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import type { FC } from "hono/jsx";
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
import { formatMessage, usePageContext } from "./components.tsx";

/** The app, the consent sheet and the portal: what was begun at one of them goes on at the others. */
const pendingSignInCookie = "svc_sign_in";

/** The address that a code was mailed to; null when none was, or too long ago. */
export const findPendingSignInEmail = (c: Context<AppEnv>, cookie = pendingSignInCookie): Promise<string | null> =>
  openSignInEmail(c.var.services, findCookie(c, cookie));

export const savePendingSignInEmail = async (c: Context<AppEnv>, email: string, cookie = pendingSignInCookie): Promise<void> =>
  setCookie(c, cookie, await sealSignInEmail(c.var.services, email), { ...cookieOptions(c), maxAge: signInNoteSeconds });

export const clearPendingSignInEmail = (c: Context<AppEnv>, cookie = pendingSignInCookie): void => {
  deleteCookie(c, cookie, cookieOptions(c));
};

/** Mails a code, and remembers to whom. */
export const startEmailSignIn = async (
  c: Context<AppEnv>,
  to: { readonly email: string; readonly realm: Realm; readonly language: Language },
  cookie = pendingSignInCookie,
): Promise<void> => {
  await requestSignInCode(c.var.services, to);
  await savePendingSignInEmail(c, to.email, cookie);
};

/** None: no code was asked for, or too long ago. Malformed: what was typed is no code, and no try was spent. */
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
  const request = { email, code, realm, name: null, replaces: getSessionToken(c), userAgent: c.req.header("user-agent") };
  const signed = await verifySignInCode(c.var.services, request);
  if (!signed.ok) return { outcome: "wrong" };
  setSessionCookie(c, signed.value.token, realm);
  clearPendingSignInEmail(c, cookie);
  return { outcome: "signed", token: signed.value.token };
};

/** Where the code is typed, in a window of another page. Its forms are sent to `path`, and go on with `search`. */
export const EmailCodeStep: FC<{ name: string; path: string; search: string; email: string; fault: string | undefined }> = (step) => {
  const words = sheetMessages[usePageContext().language];
  return (
    <>
      <h1>{words.codeHeading}</h1>
      <p>{formatMessage(words.codeTo, { address: step.email })}</p>
      <form method="post" action={`${step.path}/code${step.search}`} class="form">
        <CodeField id={`${step.name}-code`} label={words.code} error={step.fault} />
        <SubmitButton>{words.continue}</SubmitButton>
      </form>
      <form method="post" action={`${step.path}/other-address${step.search}`}>
        <button type="submit" class="button">
          {words.otherAddress}
        </button>
      </form>
    </>
  );
};
