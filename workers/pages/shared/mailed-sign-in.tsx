// Signing in by a code from a mail, wherever a page offers it: one form takes an address, the next the code that was mailed there. In
// between the address waits, sealed, in a cookie; each page keeps its own words and where it leads.
import type { Context } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import type { FC } from "hono/jsx";
import { typedCodeOf } from "../../../core/access/mailed-code.ts";
import type { Realm } from "../../../core/access/session.ts";
import type { Api } from "../../http/context.ts";
import { cookieOf, cookieOptions } from "../../http/cookies.ts";
import { sessionToken, setSessionCookie } from "../../http/session-guards.ts";
import { askedSignInSeconds, openAskedSignIn, sealAskedSignIn } from "../../operations/access/sealed-notes.ts";
import { requestCode, verifyCode } from "../../operations/access/sign-in.ts";
import { CodeField, Submit } from "./forms.tsx";
import { sheetWords } from "./i18n/sheet.ts";
import type { Language } from "./language.ts";
import type { PageForm } from "./own-form.ts";
import { filled, useSetting } from "./parts.tsx";

/** The app, the consent sheet and the portal: what was begun at one of them goes on at the others. */
const sharedCookie = "svc_sign_in";

/** The address that a code was mailed to; null when none was, or too long ago. */
export const askedAddress = (c: Context<Api>, cookie = sharedCookie): Promise<string | null> =>
  openAskedSignIn(c.var.services, cookieOf(c, cookie));

export const keepAsked = async (c: Context<Api>, email: string, cookie = sharedCookie): Promise<void> =>
  setCookie(c, cookie, await sealAskedSignIn(c.var.services, email), { ...cookieOptions(c), maxAge: askedSignInSeconds });

export const forgetAsked = (c: Context<Api>, cookie = sharedCookie): void => {
  deleteCookie(c, cookie, cookieOptions(c));
};

/** Mails a code, and remembers to whom. */
export const mailCode = async (
  c: Context<Api>,
  to: { readonly email: string; readonly realm: Realm; readonly language: Language },
  cookie = sharedCookie,
): Promise<void> => {
  await requestCode(c.var.services, to);
  await keepAsked(c, to.email, cookie);
};

/** None: no code was asked for, or too long ago. Malformed: what was typed is no code, and no try was spent. */
type Taken =
  | { readonly outcome: "none" | "wrong" }
  | { readonly outcome: "signed"; readonly token: string }
  | { readonly outcome: "malformed"; readonly email: string };

export const takeCode = async (c: Context<Api>, form: PageForm, realm: Realm, cookie = sharedCookie): Promise<Taken> => {
  const email = await askedAddress(c, cookie);
  if (email === null) return { outcome: "none" };
  const code = typedCodeOf(form.get("code") ?? "");
  if (code === null) return { outcome: "malformed", email };
  const request = { email, code, realm, name: null, replaces: sessionToken(c), userAgent: c.req.header("user-agent") };
  const signed = await verifyCode(c.var.services, request);
  if (!signed.ok) return { outcome: "wrong" };
  setSessionCookie(c, signed.value.token, realm);
  forgetAsked(c, cookie);
  return { outcome: "signed", token: signed.value.token };
};

/** Where the code is typed, in a window of another page. Its forms are sent to `path`, and go on with `search`. */
export const CodeStep: FC<{ name: string; path: string; search: string; email: string; fault: string | undefined }> = (step) => {
  const words = sheetWords[useSetting().language];
  return (
    <>
      <h1>{words.codeHeading}</h1>
      <p>{filled(words.codeTo, { address: step.email })}</p>
      <form method="post" action={`${step.path}/code${step.search}`} class="form">
        <CodeField id={`${step.name}-code`} label={words.code} fault={step.fault} />
        <Submit>{words.continue}</Submit>
      </form>
      <form method="post" action={`${step.path}/other-address${step.search}`}>
        <button type="submit" class="button">
          {words.otherAddress}
        </button>
      </form>
    </>
  );
};
