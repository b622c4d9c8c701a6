// Signing in and signing up: an address, then the code that was mailed to it; the same steps, and the same cookies, as on the consent
// sheet. A sign-up and a sign-in go on to the same page, whoever has the address.
import type { Context, Hono } from "hono";
import type { Child, FC } from "hono/jsx";
import { isMailbox } from "../../../core/mailbox.ts";
import type { Api } from "../../http/context.ts";
import { leaveSession, sessionToken } from "../../http/session-guards.ts";
import { statuses } from "../../http/statuses.ts";
import type { LimitName } from "../../limits.ts";
import { listSeats } from "../../operations/access/seats.ts";
import { sessionOf } from "../../operations/access/sign-in.ts";
import { signUp } from "../../operations/access/sign-up.ts";
import { brand } from "../shared/brand.ts";
import { portalWords } from "../shared/i18n/portal.ts";
import { pageAnswer, type Page } from "../shared/layout.tsx";
import { askedAddress, forgetAsked, keepAsked, mailCode, takeCode } from "../shared/mailed-sign-in.tsx";
import { postedForm, type PageForm } from "../shared/own-form.ts";
import { filled, settingOf } from "../shared/parts.tsx";
import { Field, Wrong } from "./parts.tsx";
import { choosing, nextPath } from "./businesses.tsx";
import { faultOf, language, type Fault } from "./visit.ts";

const words = portalWords[language];
const setting = settingOf(language);

const back = (next: string, more = ""): string => {
  const query = [...(next === "/portal" ? [] : [`next=${encodeURIComponent(next)}`]), ...(more === "" ? [] : [more])].join("&");
  return `/portal/sign-in${query === "" ? "" : `?${query}`}`;
};

const step = (title: string, content: Child, fault?: Fault | null): Page => ({
  title: `${fault === undefined || fault === null ? "" : `${words.error} `}${title} · ${brand}`,
  only: "en",
  content: (
    <article class="step portal-step">
      <h1>{title}</h1>
      {content}
    </article>
  ),
});

const Next: FC<{ next: string }> = ({ next }) => <input type="hidden" name="next" value={next} />;

const addressStep = (next: string, typed?: string, fault?: Fault): Page =>
  step(
    words.signIn.title,
    <>
      <form method="post" action="/portal/sign-in" class="form">
        <Next next={next} />
        <Field
          name="email"
          label={words.signIn.email}
          hint={words.signIn.hint}
          type="email"
          autocomplete="email"
          required
          value={typed}
          fault={fault}
          setting={setting}
        />
        <button type="submit" class="primary">
          {words.signIn.send}
        </button>
      </form>
      <p>
        {words.signIn.new} <a href="/portal/sign-up">{words.signUp.title}</a>
      </p>
    </>,
    fault,
  );

const codeStep = (next: string, email: string, fault?: Fault): Page =>
  step(
    words.signIn.codeTitle,
    <>
      <p>{filled(words.signIn.codeTo, { address: email })}</p>
      <form method="post" action="/portal/sign-in/code" class="form">
        <Next next={next} />
        <Field name="code" label={words.signIn.code} autocomplete="one-time-code" required fault={fault} setting={setting} maxlength={20} />
        <button type="submit" class="primary">
          {words.signIn.continue}
        </button>
      </form>
      <p class="quiet">{words.signIn.noMail}</p>
      <form method="post" action="/portal/sign-in/other" class="form">
        <Next next={next} />
        <button type="submit">{words.signIn.other}</button>
      </form>
    </>,
    fault,
  );

const names = ["business_name", "website", "email", "country"] as const;
type Typed = Readonly<Partial<Record<(typeof names)[number], string>>>;

const signUpStep = (typed: Typed, fault?: Fault): Page =>
  step(
    words.signUp.title,
    <>
      <p>{words.signUp.intro}</p>
      <form method="post" action="/portal/sign-up" class="form">
        <Wrong fault={fault} fields={names} setting={setting} />
        <Field
          name="business_name"
          label={words.signUp.name}
          autocomplete="organization"
          required
          value={typed.business_name}
          fault={fault}
          setting={setting}
        />
        <Field
          name="website"
          label={words.signUp.website}
          hint={words.signUp.websiteHint}
          autocomplete="url"
          value={typed.website}
          fault={fault}
          setting={setting}
        />
        <Field
          name="email"
          label={words.signUp.email}
          type="email"
          autocomplete="email"
          required
          value={typed.email}
          fault={fault}
          setting={setting}
        />
        <Field
          name="country"
          label={words.signUp.country}
          hint={words.signUp.countryHint}
          autocomplete="country"
          required
          value={typed.country ?? "US"}
          fault={fault}
          setting={setting}
          maxlength={2}
        />
        <button type="submit" class="primary">
          {words.signUp.submit}
        </button>
      </form>
      <p>
        {words.signUp.known} <a href="/portal/sign-in">{words.signIn.title}</a>
      </p>
    </>,
    fault,
  );

const answer = (c: Context<Api>, page: Page, fault?: Fault): Promise<Response> => {
  if (fault !== undefined) c.set("refused", fault.code);
  return pageAnswer(c, fault === undefined ? 200 : statuses[fault.code], () => page, language);
};

const isSignedIn = async (c: Context<Api>): Promise<boolean> => (await sessionOf(c.var.services, sessionToken(c)))?.realm === "business";

/** The step that the browser has come to. */
const showSignIn = async (c: Context<Api>): Promise<Response> => {
  const next = nextPath(c.req.query("next"));
  if (await isSignedIn(c)) return c.redirect(next, 303);
  const email = await askedAddress(c);
  if (email === null) return answer(c, addressStep(next));
  const failed: Fault = { code: "login_failed", field: "code", text: words.signIn.wrongCode };
  return c.req.query("answer") === "failed" ? answer(c, codeStep(next, email, failed), failed) : answer(c, codeStep(next, email));
};

const posted = async (c: Context<Api>, limit: LimitName): Promise<{ readonly form: PageForm; readonly next: string } | Response> => {
  const form = await postedForm(c, limit);
  return form instanceof Response ? form : { form, next: nextPath(form.get("next")) };
};

const askForCode = async (c: Context<Api>): Promise<Response> => {
  const sent = await posted(c, "AUTH_REQUEST_PER_IP");
  if (sent instanceof Response) return sent;
  const { form, next } = sent;
  const email = (form.get("email") ?? "").trim();
  if (!isMailbox(email)) {
    const fault: Fault = { code: "invalid_request", field: "email", text: words.signIn.badEmail };
    return answer(c, addressStep(next, email.slice(0, 320), fault), fault);
  }
  await mailCode(c, { email, realm: "business", language });
  return c.redirect(back(next), 303);
};

/** Whether whoever has just signed in acts for more than one business. */
const hasChoice = async (c: Context<Api>, token: string): Promise<boolean> => {
  const { services } = c.var;
  const session = await sessionOf(services, token);
  if (session?.realm !== "business") return false;
  return (await listSeats(services, session)).filter(({ invitedUntil }) => invitedUntil === null).length > 1;
};

const giveCode = async (c: Context<Api>): Promise<Response> => {
  const sent = await posted(c, "AUTH_VERIFY_PER_IP");
  if (sent instanceof Response) return sent;
  const { form, next } = sent;
  const taken = await takeCode(c, form, "business");
  if (taken.outcome === "signed") return c.redirect((await hasChoice(c, taken.token)) ? choosing(next) : next, 303);
  if (taken.outcome !== "malformed") return c.redirect(back(next, taken.outcome === "wrong" ? "answer=failed" : ""), 303);
  const fault: Fault = { code: "invalid_request", field: "code", text: words.signIn.badCode };
  return answer(c, codeStep(next, taken.email, fault), fault);
};

const otherAddress = async (c: Context<Api>): Promise<Response> => {
  const sent = await posted(c, "AUTH_VERIFY_PER_IP");
  if (sent instanceof Response) return sent;
  forgetAsked(c);
  return c.redirect(back(sent.next), 303);
};

const showSignUp = async (c: Context<Api>): Promise<Response> =>
  (await isSignedIn(c)) ? c.redirect("/portal", 303) : answer(c, signUpStep({}));

const askForAccount = async (c: Context<Api>): Promise<Response> => {
  const sent = await posted(c, "SIGNUP_PER_IP");
  if (sent instanceof Response) return sent;
  const { form } = sent;
  const typed = Object.fromEntries(names.map((name) => [name, (form.get(name) ?? "").slice(0, 2_048)])) as Required<Typed>;
  const asked = {
    businessName: typed.business_name,
    legalName: null,
    email: typed.email,
    country: typed.country.trim(),
    website: typed.website,
  };
  const signedUp = await signUp(c.var.services, asked, language);
  if (!signedUp.ok) {
    const fault = faultOf(signedUp);
    return answer(c, signUpStep(typed, fault), fault);
  }
  await keepAsked(c, typed.email.trim());
  return c.redirect("/portal/sign-in", 303);
};

/** Without the form's own token: a form from elsewhere ends at `postedForm`, and signing out needs no session that holds. */
const leave = async (c: Context<Api>): Promise<Response> => {
  const sent = await posted(c, "AUTH_VERIFY_PER_IP");
  if (sent instanceof Response) return sent;
  await leaveSession(c);
  return c.redirect("/portal/sign-in", 303);
};

export const mountSignIn = (pages: Hono<Api>): void => {
  pages.get("/sign-in", showSignIn);
  pages.post("/sign-in", askForCode);
  pages.post("/sign-in/code", giveCode);
  pages.post("/sign-in/other", otherAddress);
  pages.get("/sign-up", showSignUp);
  pages.post("/sign-up", askForAccount);
  pages.post("/sign-out", leave);
};
