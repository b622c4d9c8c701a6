// Signs people in by email, on all surfaces. One form asks for the email address, and the next form asks for the emailed code. Between the
// two, a sealed cookie contains the address. The email also has a link to a page of the app or the portal, where a button signs the person
// in.
import type { Context } from "hono";
import type { Child, FC } from "hono/jsx";
import { parseEmailCode } from "../../../core/access/email-code.ts";
import type { Realm } from "../../../core/access/session.ts";
import { isEmailAddress, trimTypedAddress } from "../../../core/email-address.ts";
import type { AppEnv } from "../../http/context.ts";
import { getSessionToken, setSessionCookie } from "../../http/guards/session-cookie.ts";
import {
  clearPendingSignIn,
  findPendingSignIn,
  identifySignInBrowser,
  pendingSignInCookies,
  savePendingSignIn,
  type PendingSignInCookie,
} from "../../http/pending-sign-in.ts";
import { hasSignInEmailFailed } from "../../operations/access/has-sign-in-email-failed.ts";
import { requestSignInCode } from "../../operations/access/request-sign-in-code.ts";
import { signInWithLink } from "../../operations/access/sign-in-with-link.ts";
import { verifySignInCode } from "../../operations/access/verify-sign-in-code.ts";
import { CodeField, SubmitButton } from "./form-fields.tsx";
import { sheetMessages } from "../i18n/sheet.ts";
import type { Language } from "../../../core/language.ts";
import type { FormFields } from "./form-handlers.ts";
import { FormattedMessage, usePageContext } from "./components.tsx";
import { getPageLanguage } from "./layout.tsx";

/** Returns the email address of the pending sign-in, or null if there is none. */
export const findPendingSignInEmail = async (c: Context<AppEnv>, cookie?: PendingSignInCookie): Promise<string | null> =>
  (await findPendingSignIn(c, cookie))?.email ?? null;

export interface CodeStep {
  readonly email: string;
  readonly error?: string | undefined;
  /** True if the person has just asked for a new code. */
  readonly isResent?: boolean;
}

/**
 * Returns what the form for the code shows, or null if no sign-in is pending. The error says that the code could not be delivered or was
 * wrong. Delivery is not checked for members (see has-sign-in-email-failed.ts).
 */
export const findCodeStep = async (c: Context<AppEnv>, realm: Realm, cookie?: PendingSignInCookie): Promise<CodeStep | null> => {
  const pending = await findPendingSignIn(c, cookie);
  if (pending === null) return null;
  const outcome = c.req.query("outcome");
  const isUndelivered = realm === "consumer" && (await hasSignInEmailFailed(c.var.services, pending));
  const { undelivered, wrongCode } = sheetMessages[getPageLanguage(c)];
  const error = isUndelivered ? undelivered : outcome === "failed" ? wrongCode : undefined;
  return { email: pending.email, error, isResent: outcome === "sent" };
};

/** Requests a code and saves the pending sign-in in the cookie. */
export const startEmailSignIn = async (
  c: Context<AppEnv>,
  { next, ...recipient }: { readonly email: string; readonly realm: Realm; readonly language: Language; readonly next: string | null },
  cookie?: PendingSignInCookie,
): Promise<void> => {
  const browser = await identifySignInBrowser(c, cookie);
  await requestSignInCode(c.var.services, { ...recipient, browser });
  await savePendingSignIn(c, { email: recipient.email, browser, next }, cookie);
};

/** `none`: no sign-in is pending, or it has expired. `malformed`: the input is not a code, and does not count as an attempt. */
type EmailSignInResult =
  | { readonly outcome: "none" | "wrong" }
  | { readonly outcome: "signed"; readonly token: string }
  | { readonly outcome: "malformed"; readonly email: string };

const getSignInRequest = (c: Context<AppEnv>) => ({ replaces: getSessionToken(c), userAgent: c.req.header("user-agent") });

export const completeEmailSignIn = async (
  c: Context<AppEnv>,
  form: FormFields,
  realm: Realm,
  cookie?: PendingSignInCookie,
): Promise<EmailSignInResult> => {
  const pending = await findPendingSignIn(c, cookie);
  if (pending === null) return { outcome: "none" };
  const { email, browser } = pending;
  const code = parseEmailCode(form.get("code") ?? "");
  if (code === null) return { outcome: "malformed", email };
  const signed = await verifySignInCode(c.var.services, { email, code, realm, name: null, browser, ...getSignInRequest(c) });
  if (!signed.ok) return { outcome: "wrong" };
  setSessionCookie(c, signed.value.token, realm);
  clearPendingSignIn(c, cookie);
  return { outcome: "signed", token: signed.value.token };
};

/** Signs in with an email address and a code that were typed in a browser that did not request the code. */
export const completeSignInElsewhere = async (
  c: Context<AppEnv>,
  form: FormFields,
  realm: Realm,
): Promise<{ readonly fault: "email" | "code" | "wrong" } | { readonly fault: null; readonly token: string }> => {
  const email = trimTypedAddress(form.get("email") ?? "");
  const code = parseEmailCode(form.get("code") ?? "");
  if (!isEmailAddress(email)) return { fault: "email" };
  if (code === null) return { fault: "code" };
  const signed = await verifySignInCode(c.var.services, { email, code, realm, name: null, browser: null, ...getSignInRequest(c) });
  if (!signed.ok) return { fault: "wrong" };
  setSessionCookie(c, signed.value.token, realm);
  return { fault: null, token: signed.value.token };
};

/**
 * Signs in a person who clicked the button on an emailed link's page. Returns null if this browser did not request the link, or if the link
 * is no longer valid.
 */
export const completeLinkSignIn = async (
  c: Context<AppEnv>,
  form: FormFields,
  realm: Realm,
): Promise<{ readonly token: string; readonly next: string | null } | null> => {
  for (const cookie of pendingSignInCookies) {
    const pending = await findPendingSignIn(c, cookie);
    if (pending === null) continue;
    const signed = await signInWithLink(c.var.services, { token: form.get("token") ?? "", realm, pending, ...getSignInRequest(c) });
    if (!signed.ok) continue;
    setSessionCookie(c, signed.value.token, realm);
    clearPendingSignIn(c, cookie);
    return { token: signed.value.token, next: pending.next };
  }
  return null;
};

/** Finds the pending sign-in that the button on an emailed link's page would complete in this browser. */
export const findLinkedSignIn = async (c: Context<AppEnv>) => {
  const [shared, connecting] = await Promise.all(pendingSignInCookies.map((cookie) => findPendingSignIn(c, cookie)));
  return shared ?? connecting ?? null;
};

/**
 * Contains two forms: one that signs in with the emailed link's token, and one for the code. Only the page script can read the token. If
 * the link has a token, the script shows the first form instead of the second.
 */
export const LinkOrCode: FC<{ action: string; link: Child; code: Child }> = ({ action, link, code }) => (
  <div>
    <form method="post" action={action} class="stack" id="sign-in-link" hidden>
      <input type="hidden" name="token" value="" />
      {link}
    </form>
    <div class="stack" id="sign-in-code">
      {code}
    </div>
  </div>
);

interface EmailCodeStepProps extends CodeStep {
  readonly name: string;
  readonly path: string;
  readonly search: string;
  /** Reminds the person what the code is for. */
  readonly context: Child;
  /** The link or button that declines the request. It is next to the button that continues. */
  readonly decline: Child;
}

/** The step that asks for the code on the consent sheet and the connect page. Its forms post to `path` and keep `search`. */
export const EmailCodeStep: FC<EmailCodeStepProps> = ({ name, path, search, email, error, isResent = false, context, decline }) => {
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
            <a class="link" href={`${path}${search}`}>
              {messages.usedLink}
            </a>
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
