// Serves /app/sign-in/link, the page that the link in a sign-in email opens. Opening it does not sign anyone in, because mail scanners open
// links too. The person signs in with a button, which works only in the browser that requested the email. In any other browser, the page
// asks for the code.
import type { Context, Hono } from "hono";
import { cutText } from "../../../core/cut-text.ts";
import type { AppEnv } from "../../http/context.ts";
import { signInLinkPaths } from "../../operations/access/sign-in-link.ts";
import type { PendingSignIn } from "../../operations/access/sign-in-note.ts";
import { sheetMessages } from "../i18n/sheet.ts";
import { FormattedMessage, VerbatimText, ConfirmCard } from "../shared/components.tsx";
import { completeLinkSignIn, completeSignInElsewhere, findLinkedSignIn, LinkOrCode } from "../shared/email-code-sign-in.tsx";
import { CodeField, EmailField, maxTypedEmailLength, SubmitButton } from "../shared/form-fields.tsx";
import { findPageSession, parseRateLimitedForm } from "../shared/form-handlers.ts";
import type { Language } from "../../../core/language.ts";
import { renderPage, saveLanguage, type Page } from "../shared/layout.tsx";
import { noticePage, ActionLink } from "../shared/notice-pages.tsx";
import { CodeStep, parseNextPath } from "./sign-in.tsx";

const linkPath = signInLinkPaths.consumer;
const elsewherePath = "/app/sign-in/elsewhere";

const linkPage = (language: Language, { email, next }: PendingSignIn, error?: string): Page => {
  const messages = sheetMessages[language];
  return {
    title: `${messages.linkHeading} · svc`,
    hasError: error !== undefined,
    script: "sign-in-link.js",
    content: (
      <ConfirmCard>
        <LinkOrCode
          action={linkPath}
          link={
            <>
              <h1>{messages.linkHeading}</h1>
              <p>
                <FormattedMessage text={messages.linkIntro} parts={{ address: <VerbatimText text={email} /> }} />
              </p>
              <SubmitButton>{messages.linkPress}</SubmitButton>
            </>
          }
          code={<CodeStep next={parseNextPath(next ?? undefined)} email={email} error={error} />}
        />
      </ConfirmCard>
    ),
  };
};

interface ElsewhereStep {
  readonly typed?: string;
  readonly fault?: "email" | "code" | "wrong";
}

const elsewherePage = (language: Language, { typed, fault }: ElsewhereStep = {}): Page => {
  const messages = sheetMessages[language];
  const codeError = { email: undefined, code: messages.badCode, wrong: messages.wrongCode };
  return {
    title: `${messages.elsewhereHeading} · svc`,
    hasError: fault !== undefined,
    content: (
      <ConfirmCard>
        <h1>{messages.elsewhereHeading}</h1>
        <p>{messages.elsewhereIntro}</p>
        <form method="post" action={elsewherePath} class="stack">
          <EmailField
            id="email"
            label={messages.email}
            error={fault === "email" ? messages.badEmail : undefined}
            errorId="email-fault"
            typed={typed}
          />
          <CodeField id="code" label={messages.code} error={fault === undefined ? undefined : codeError[fault]} />
          <SubmitButton>{messages.continue}</SubmitButton>
        </form>
        <p>
          <a href="/app">{messages.newCode}</a>
        </p>
      </ConfirmCard>
    ),
  };
};

const signedInPage = (language: Language): Page => {
  const { linkDone, linkDoneAdvice, linkDoneOpen } = sheetMessages[language];
  return noticePage(linkDone, linkDoneAdvice, <ActionLink href="/app" text={linkDoneOpen} />, "circle-check");
};

const renderLink = async (c: Context<AppEnv>): Promise<Response> => {
  saveLanguage(c);
  const pending = await findLinkedSignIn(c);
  if (pending !== null) {
    const hasFailed = c.req.query("outcome") === "failed";
    return renderPage(c, 200, ({ language }) => linkPage(language, pending, hasFailed ? sheetMessages[language].linkFailed : undefined));
  }
  const session = await findPageSession(c);
  if (session instanceof Response) return session;
  return renderPage(c, 200, ({ language }) => (session?.realm === "consumer" ? signedInPage(language) : elsewherePage(language)));
};

const handleLink = async (c: Context<AppEnv>): Promise<Response> => {
  const form = await parseRateLimitedForm(c, "AUTH_VERIFY_PER_IP");
  if (form instanceof Response) return form;
  const signed = await completeLinkSignIn(c, form, "consumer");
  if (signed === null) return c.redirect(`${linkPath}?outcome=failed`, 303);
  return c.redirect(signed.next === null ? linkPath : parseNextPath(signed.next), 303);
};

const handleElsewhere = async (c: Context<AppEnv>): Promise<Response> => {
  const form = await parseRateLimitedForm(c, "AUTH_VERIFY_PER_IP");
  if (form instanceof Response) return form;
  const { fault } = await completeSignInElsewhere(c, form, "consumer");
  if (fault === null) return c.redirect("/app", 303);
  const typed = cutText(form.get("email") ?? "", maxTypedEmailLength);
  return renderPage(c, 400, ({ language }) => elsewherePage(language, { fault, typed }));
};

export const registerSignInLinkRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/sign-in/link", renderLink);
  pages.post("/sign-in/link", handleLink);
  pages.get("/sign-in/elsewhere", (c) => c.redirect(linkPath, 303)); // the language links on the page that reports a wrong code lead here
  pages.post("/sign-in/elsewhere", handleElsewhere);
};
