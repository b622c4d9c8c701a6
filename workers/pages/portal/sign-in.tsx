// Signing in and signing up: an address, then the code that was mailed to it; the same steps, and the same cookies, as on the consent
// sheet. A sign-up and a sign-in go on to the same page, whoever has the address.
import type { Context, Hono } from "hono";
import type { Child, FC } from "hono/jsx";
import { isMailbox } from "../../../core/mailbox.ts";
import type { Api } from "../../http/context.ts";
import { leaveSession, sessionToken } from "../../http/session-guards.ts";
import { listSeats } from "../../operations/access/seats.ts";
import { sessionOf } from "../../operations/access/sign-in.ts";
import { signUp } from "../../operations/access/sign-up.ts";
import { askedAddress, forgetAsked, keepAsked, mailCode, takeCode } from "../shared/mailed-sign-in.tsx";
import { postedForm, type PageForm } from "../shared/own-form.ts";
import { filled } from "../shared/parts.tsx";
import { choosing, nextPath } from "./businesses.tsx";
import { Field, FormContext, language, Submit, words, Wrong } from "./parts.tsx";
import { answerPage } from "./page.tsx";
import { addressOf } from "./paths.ts";
import { faultOf, type Fault } from "./visit.ts";

const { signIn, signUp: account } = words;

const back = (next: string, answer: "failed" | null = null): string =>
  addressOf("/portal/sign-in", { next: next === "/portal" ? null : next, answer });

interface Step {
  readonly title: string;
  readonly content: Child;
  /** What was typed before, where that is shown again. */
  readonly form?: PageForm;
  readonly fault?: Fault | undefined;
}

const show = (c: Context<Api>, { title, content, form, fault }: Step): Promise<Response> =>
  answerPage(c, {
    title,
    fault,
    content: (
      <article class="step portal-step">
        <h1>{title}</h1>
        <FormContext.Provider value={{ form, fault }}>{content}</FormContext.Provider>
      </article>
    ),
  });

const Next: FC<{ next: string }> = ({ next }) => <input type="hidden" name="next" value={next} />;

const addressStep = (c: Context<Api>, next: string, refused: Pick<Step, "form" | "fault"> = {}): Promise<Response> =>
  show(c, {
    ...refused,
    title: signIn.title,
    content: (
      <>
        <form method="post" action="/portal/sign-in" class="form">
          <Next next={next} />
          <Field name="email" label={signIn.email} hint={signIn.hint} type="email" autocomplete="email" required />
          <Submit label={signIn.send} />
        </form>
        <p>
          {signIn.new} <a href="/portal/sign-up">{account.title}</a>
        </p>
      </>
    ),
  });

const codeStep = (c: Context<Api>, next: string, email: string, fault?: Fault): Promise<Response> =>
  show(c, {
    fault,
    title: signIn.codeTitle,
    content: (
      <>
        <p>{filled(signIn.codeTo, { address: email })}</p>
        <form method="post" action="/portal/sign-in/code" class="form">
          <Next next={next} />
          <Field name="code" label={signIn.code} autocomplete="one-time-code" required maxlength={20} />
          <Submit label={signIn.continue} />
        </form>
        <p class="quiet">{signIn.noMail}</p>
        <form method="post" action="/portal/sign-in/other" class="form">
          <Next next={next} />
          <button type="submit">{signIn.other}</button>
        </form>
      </>
    ),
  });

const signUpStep = (c: Context<Api>, refused: Pick<Step, "form" | "fault"> = {}): Promise<Response> =>
  show(c, {
    ...refused,
    title: account.title,
    content: (
      <>
        <p>{account.intro}</p>
        <form method="post" action="/portal/sign-up" class="form">
          <Wrong fields={["business_name", "website", "email", "country"]} />
          <Field name="business_name" label={account.name} autocomplete="organization" required />
          <Field name="website" label={account.website} hint={account.websiteHint} autocomplete="url" />
          <Field name="email" label={account.email} type="email" autocomplete="email" required />
          <Field
            name="country"
            label={account.country}
            hint={account.countryHint}
            autocomplete="country"
            required
            value="US"
            maxlength={2}
          />
          <Submit label={account.submit} />
        </form>
        <p>
          {account.known} <a href="/portal/sign-in">{signIn.title}</a>
        </p>
      </>
    ),
  });

const isSignedIn = async (c: Context<Api>): Promise<boolean> => (await sessionOf(c.var.services, sessionToken(c)))?.realm === "business";

/** The step that the browser has come to. */
const showSignIn = async (c: Context<Api>): Promise<Response> => {
  const next = nextPath(c.req.query("next"));
  if (await isSignedIn(c)) return c.redirect(next, 303);
  const email = await askedAddress(c);
  if (email === null) return addressStep(c, next);
  const failed: Fault = { code: "login_failed", field: "code", text: signIn.wrongCode };
  return codeStep(c, next, email, c.req.query("answer") === "failed" ? failed : undefined);
};

const askForCode = async (c: Context<Api>): Promise<Response> => {
  const form = await postedForm(c, "AUTH_REQUEST_PER_IP");
  if (form instanceof Response) return form;
  const next = nextPath(form.get("next"));
  const email = (form.get("email") ?? "").trim();
  if (!isMailbox(email)) {
    const fault: Fault = { code: "invalid_request", field: "email", text: signIn.badEmail };
    return addressStep(c, next, { form, fault });
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
  const form = await postedForm(c, "AUTH_VERIFY_PER_IP");
  if (form instanceof Response) return form;
  const next = nextPath(form.get("next"));
  const taken = await takeCode(c, form, "business");
  if (taken.outcome === "signed") return c.redirect((await hasChoice(c, taken.token)) ? choosing(next) : next, 303);
  if (taken.outcome !== "malformed") return c.redirect(back(next, taken.outcome === "wrong" ? "failed" : null), 303);
  return codeStep(c, next, taken.email, { code: "invalid_request", field: "code", text: signIn.badCode });
};

const otherAddress = async (c: Context<Api>): Promise<Response> => {
  const form = await postedForm(c, "AUTH_VERIFY_PER_IP");
  if (form instanceof Response) return form;
  forgetAsked(c);
  return c.redirect(back(nextPath(form.get("next"))), 303);
};

const showSignUp = async (c: Context<Api>): Promise<Response> => ((await isSignedIn(c)) ? c.redirect("/portal", 303) : signUpStep(c));

const askForAccount = async (c: Context<Api>): Promise<Response> => {
  const form = await postedForm(c, "SIGNUP_PER_IP");
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
  if (!signedUp.ok) return signUpStep(c, { form, fault: faultOf(signedUp) });
  await keepAsked(c, asked.email.trim());
  return c.redirect("/portal/sign-in", 303);
};

/** Without the form's own token: a form from elsewhere ends at `postedForm`, and signing out needs no session that holds. */
const leave = async (c: Context<Api>): Promise<Response> => {
  const form = await postedForm(c, "AUTH_VERIFY_PER_IP");
  if (form instanceof Response) return form;
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
