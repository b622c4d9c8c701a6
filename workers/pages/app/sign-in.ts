// Signing in to the app: an address, then the code that was mailed to it, or a passkey; the same steps, and the same cookies, as on the consent sheet.
// Every page of the app answers whoever is not signed in with these, and leads back to itself.
import type { Context, Hono } from "hono";
import { deleteCookie, setCookie } from "hono/cookie";
import { addressKey } from "../../../core/access/address.ts";
import { codePattern } from "../../../core/access/mailed-code.ts";
import { isMailbox } from "../../../core/mailbox.ts";
import type { Api } from "../../http/context.ts";
import { cookieOf, cookieOptions } from "../../http/cookies.ts";
import { limited, relyingParty } from "../../http/guards.ts";
import { signedIn } from "../../http/passkey-credentials.ts";
import { sessionToken, setSessionCookie } from "../../http/session-guards.ts";
import type { LimitName } from "../../limits.ts";
import { askedSignInSeconds, openAskedSignIn, sealAskedSignIn } from "../../operations/access/asked-sign-in.ts";
import { askToSignIn, signInWithPasskey } from "../../operations/access/passkey-sign-in.ts";
import { requestCode, verifyCode } from "../../operations/access/sign-in.ts";
import { readForm } from "../form-body.ts";
import { appWords } from "../i18n/app.ts";
import { sheetWords } from "../i18n/sheet.ts";
import { keepLanguage, languageOf, pageAnswer } from "../layout.tsx";
import { crowdedFormPage, foreignFormPage } from "../notices.tsx";
import { isOwnForm } from "../own-form.ts";
import { passkeyStep } from "./passkey.tsx";
import { addressStep, codeStep } from "./sign-in-steps.tsx";

/** Holds the address that a code was mailed to, sealed. */
export const askedCookie = "svc_sign_in";

/** A page of the app and nothing else: whoever signs in is sent there. */
const nextPath = (text: string | undefined): string => (text !== undefined && /^\/app(?:\/[\w/-]*)?$/.test(text) ? text : "/app");

/** The step that the browser has come to. */
export const signInPage = async (c: Context<Api>, next: string): Promise<Response> => {
  const email = await openAskedSignIn(c.var.services, cookieOf(c, askedCookie));
  const to = nextPath(next);
  const answered = c.req.query("answer");
  return pageAnswer(c, 200, (setting) =>
    email === null
      ? addressStep(setting, { next: to, ...(answered === "passkey" && { fault: appWords[setting.language].passkeyRefused }) })
      : codeStep(setting, { next: to, email, ...(answered === "failed" && { fault: sheetWords[setting.language].wrongCode }) }),
  );
};

const posted = async (
  c: Context<Api>,
  limit: LimitName,
): Promise<{ readonly form: ReadonlyMap<string, string>; readonly next: string } | Response> => {
  const refused = limited(c, limit, await c.var.services.takeByAddress(limit, addressKey(c.var.ip)));
  if (refused !== null) return crowdedFormPage(c, refused.headers.get("retry-after") ?? "60");
  const form = await readForm(c.req.raw);
  if (form === null || !isOwnForm(c, c.var.services.config.appUrl)) return foreignFormPage(c);
  return { form, next: nextPath(form.get("next")) };
};

/** Mails a code, and remembers to whom; the answer leads to the step that takes it. */
export const mailCode = async (c: Context<Api>, email: string): Promise<void> => {
  const { services } = c.var;
  await requestCode(services, { email, realm: "consumer", language: languageOf(c) });
  setCookie(c, askedCookie, await sealAskedSignIn(services, email), { ...cookieOptions(c), maxAge: askedSignInSeconds });
};

const askForCode = async (c: Context<Api>): Promise<Response> => {
  const sent = await posted(c, "AUTH_REQUEST_PER_IP");
  if (sent instanceof Response) return sent;
  const { services } = c.var;
  const { form, next } = sent;
  const email = (form.get("email") ?? (await openAskedSignIn(services, cookieOf(c, askedCookie))) ?? "").trim();
  if (!isMailbox(email))
    return pageAnswer(c, 400, (setting) =>
      addressStep(setting, { next, typed: email.slice(0, 320), fault: sheetWords[setting.language].badEmail }),
    );
  await mailCode(c, email);
  return c.redirect(next, 303);
};

const giveCode = async (c: Context<Api>): Promise<Response> => {
  const sent = await posted(c, "AUTH_VERIFY_PER_IP");
  if (sent instanceof Response) return sent;
  const { services } = c.var;
  const { form, next } = sent;
  const email = await openAskedSignIn(services, cookieOf(c, askedCookie));
  if (email === null) return c.redirect(next, 303);
  const code = (form.get("code") ?? "").replaceAll(/[\s-]/g, ""); // as people copy it
  if (!codePattern.test(code))
    return pageAnswer(c, 400, (setting) => codeStep(setting, { next, email, fault: sheetWords[setting.language].badCode }));
  const signed = await verifyCode(services, {
    email,
    code,
    realm: "consumer",
    name: null,
    replaces: sessionToken(c),
    userAgent: c.req.header("user-agent"),
  });
  if (!signed.ok) return c.redirect(`${next}?answer=failed`, 303);
  setSessionCookie(c, signed.value.token, "consumer");
  deleteCookie(c, askedCookie, cookieOptions(c));
  return c.redirect(next, 303);
};

const otherAddress = async (c: Context<Api>): Promise<Response> => {
  const sent = await posted(c, "AUTH_VERIFY_PER_IP");
  if (sent instanceof Response) return sent;
  deleteCookie(c, askedCookie, cookieOptions(c));
  return c.redirect(sent.next, 303);
};

const askPasskey = async (c: Context<Api>): Promise<Response> => {
  const sent = await posted(c, "AUTH_VERIFY_PER_IP");
  if (sent instanceof Response) return sent;
  const options = await askToSignIn(c.var.services, relyingParty(c));
  return pageAnswer(c, 200, (setting) => passkeyStep(setting, { next: sent.next, options }));
};

const givePasskey = async (c: Context<Api>): Promise<Response> => {
  const sent = await posted(c, "AUTH_VERIFY_PER_IP");
  if (sent instanceof Response) return sent;
  const credential = signedIn(sent.form.get("credential") ?? "");
  const request = { party: relyingParty(c), replaces: sessionToken(c), userAgent: c.req.header("user-agent") };
  const signed = credential === null ? null : await signInWithPasskey(c.var.services, { ...request, signed: credential });
  deleteCookie(c, askedCookie, cookieOptions(c)); // whatever was typed before, this was the other way
  if (!signed?.ok) return c.redirect(`${sent.next}?answer=passkey`, 303);
  setSessionCookie(c, signed.value.token, "consumer");
  return c.redirect(sent.next, 303);
};

/** The step that was begun elsewhere, also where somebody is signed in already; afterwards, or without one, the app. */
export const signInPath = "/app/sign-in";

const goOn = async (c: Context<Api>): Promise<Response> => {
  keepLanguage(c);
  const email = await openAskedSignIn(c.var.services, cookieOf(c, askedCookie));
  return email === null ? c.redirect("/app", 303) : signInPage(c, signInPath);
};

export const mountSignIn = (pages: Hono<Api>): void => {
  pages.get("/sign-in", goOn);
  pages.post("/sign-in", askForCode);
  pages.post("/code", giveCode);
  pages.post("/other-address", otherAddress);
  pages.post("/passkey", askPasskey);
  pages.post("/passkey/answer", givePasskey);
};
