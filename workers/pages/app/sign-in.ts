// Signing in to the app: an address, then the code that was mailed to it, or a passkey; the same steps, and the same cookies, as on the consent sheet.
// Every page of the app answers whoever is not signed in with these, and leads back to itself.
import type { Context, Hono } from "hono";
import { isMailbox } from "../../../core/mailbox.ts";
import type { Api } from "../../http/context.ts";
import { relyingParty } from "../../http/guards.ts";
import type { LimitName } from "../../limits.ts";
import { askToSignIn } from "../../operations/access/passkey-sign-in.ts";
import { appWords } from "../shared/i18n/app.ts";
import { sheetWords } from "../shared/i18n/sheet.ts";
import { keepLanguage, languageOf, pageAnswer } from "../shared/layout.tsx";
import { askedAddress, forgetAsked, mailCode, takeCode } from "../shared/mailed-sign-in.tsx";
import { postedForm, type PageForm } from "../shared/own-form.ts";
import { takePasskey } from "../shared/passkey-sign-in.ts";
import { passkeyStep } from "./passkey.tsx";
import { addressStep, codeStep } from "./sign-in-steps.tsx";

/** A page of the app and nothing else: whoever signs in is sent there. */
const nextPath = (text: string | undefined): string => (text !== undefined && /^\/app(?:\/[\w/-]*)?$/.test(text) ? text : "/app");

/** The step that the browser has come to. */
export const signInPage = async (c: Context<Api>, next: string): Promise<Response> => {
  const email = await askedAddress(c);
  const to = nextPath(next);
  const answered = c.req.query("answer");
  return pageAnswer(c, 200, (setting) =>
    email === null
      ? addressStep(setting, { next: to, ...(answered === "passkey" && { fault: appWords[setting.language].passkeyRefused }) })
      : codeStep(setting, { next: to, email, ...(answered === "failed" && { fault: sheetWords[setting.language].wrongCode }) }),
  );
};

const posted = async (c: Context<Api>, limit: LimitName): Promise<{ readonly form: PageForm; readonly next: string } | Response> => {
  const form = await postedForm(c, limit);
  return form instanceof Response ? form : { form, next: nextPath(form.get("next")) };
};

const askForCode = async (c: Context<Api>): Promise<Response> => {
  const sent = await posted(c, "AUTH_REQUEST_PER_IP");
  if (sent instanceof Response) return sent;
  const { form, next } = sent;
  const email = (form.get("email") ?? (await askedAddress(c)) ?? "").trim();
  if (!isMailbox(email))
    return pageAnswer(c, 400, (setting) =>
      addressStep(setting, { next, typed: email.slice(0, 320), fault: sheetWords[setting.language].badEmail }),
    );
  await mailCode(c, { email, realm: "consumer", language: languageOf(c) });
  return c.redirect(next, 303);
};

const giveCode = async (c: Context<Api>): Promise<Response> => {
  const sent = await posted(c, "AUTH_VERIFY_PER_IP");
  if (sent instanceof Response) return sent;
  const { form, next } = sent;
  const taken = await takeCode(c, form, "consumer");
  if (taken.outcome !== "malformed") return c.redirect(taken.outcome === "wrong" ? `${next}?answer=failed` : next, 303);
  const { email } = taken;
  return pageAnswer(c, 400, (setting) => codeStep(setting, { next, email, fault: sheetWords[setting.language].badCode }));
};

const otherAddress = async (c: Context<Api>): Promise<Response> => {
  const sent = await posted(c, "AUTH_VERIFY_PER_IP");
  if (sent instanceof Response) return sent;
  forgetAsked(c);
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
  return c.redirect((await takePasskey(c, sent.form)) ? sent.next : `${sent.next}?answer=passkey`, 303);
};

/** The step that was begun elsewhere, also where somebody is signed in already; afterwards, or without one, the app. */
export const signInPath = "/app/sign-in";

const goOn = async (c: Context<Api>): Promise<Response> => {
  keepLanguage(c);
  const email = await askedAddress(c);
  return email === null ? c.redirect("/app", 303) : signInPage(c, signInPath);
};

export const mountSignIn = (pages: Hono<Api>): void => {
  pages.get("/sign-in", goOn);
  pages.post("/sign-in", askForCode);
  pages.get("/code", goOn);
  pages.post("/code", giveCode);
  pages.post("/other-address", otherAddress);
  pages.get("/passkey", goOn);
  pages.post("/passkey", askPasskey);
  pages.post("/passkey/answer", givePasskey);
};
