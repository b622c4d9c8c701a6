// Serves /portal/sign-in/link, the page that the link in a member's sign-in email opens. Opening it does not sign anyone in, because mail
// scanners open links too. The person signs in with a button, which works only in the browser that requested the email. In any other
// browser, the page asks for the code.
import type { Context, Hono } from "hono";
import type { AppEnv } from "../../http/context.ts";
import { signInLinkPaths } from "../../operations/access/sign-in-link.ts";
import type { PendingSignIn } from "../../operations/access/sign-in-note.ts";
import { FormattedMessage, VerbatimText } from "../shared/components.tsx";
import { completeLinkSignIn, completeSignInElsewhere, findLinkedSignIn, LinkOrCode } from "../shared/email-code-sign-in.tsx";
import { CodeField, maxTypedEmailLength, SubmitButton } from "../shared/form-fields.tsx";
import { parseRateLimitedForm } from "../shared/form-handlers.ts";
import { parseNextPath } from "./businesses.tsx";
import { Field, messages } from "./components.tsx";
import { renderPortalPage } from "./page.tsx";
import type { FormError } from "./portal-request.ts";
import { CodeStep, codeSentTo, redirectSignedIn, renderStep, renderUnlessSignedIn, type SignInStep } from "./sign-in.tsx";

const { signIn: signInMessages } = messages;
const linkPath = signInLinkPaths.business;

/** Renders the page that the link opens in the browser that requested the email. */
const renderLinkStep = (c: Context<AppEnv>, { email, next }: PendingSignIn, error?: FormError): Promise<Response> =>
  renderPortalPage(c, {
    title: signInMessages.title,
    error,
    script: "sign-in-link.js",
    content: (
      <div class="confirm stack">
        <div class="card">
          <div class="body">
            <LinkOrCode
              action={linkPath}
              link={
                <>
                  <h1>{signInMessages.title}</h1>
                  <p class="quiet">
                    <FormattedMessage text={signInMessages.linkIntro} parts={{ address: <VerbatimText text={email} /> }} />
                  </p>
                  <SubmitButton>{signInMessages.continue}</SubmitButton>
                </>
              }
              code={
                <>
                  <h1>{signInMessages.codeTitle}</h1>
                  <p class="quiet">{codeSentTo(email)}</p>
                  <CodeStep next={parseNextPath(next ?? undefined)} email={email} error={error} />
                </>
              }
            />
          </div>
        </div>
      </div>
    ),
  });

/** Renders the page that the link opens in a browser that did not request the email. */
const renderElsewhereStep = (c: Context<AppEnv>, refused: Pick<SignInStep, "form" | "error"> = {}): Promise<Response> =>
  renderStep(c, {
    ...refused,
    title: signInMessages.elsewhereTitle,
    intro: signInMessages.elsewhereIntro,
    content: (
      <form method="post" action="/portal/sign-in/elsewhere" class="form stack">
        <Field name="email" label={signInMessages.email} type="email" autocomplete="email" required maxlength={maxTypedEmailLength} />
        <CodeField id="code" label={signInMessages.code} error={refused.error?.field === "code" ? refused.error.text : undefined} />
        <SubmitButton>{signInMessages.continue}</SubmitButton>
      </form>
    ),
    others: (
      <p>
        <a href="/portal/sign-in">{signInMessages.resend}</a>
      </p>
    ),
  });

const renderLink = async (c: Context<AppEnv>): Promise<Response> => {
  const pending = await findLinkedSignIn(c);
  if (pending === null) return renderUnlessSignedIn(c, "/portal", () => renderElsewhereStep(c));
  const failed: FormError = { code: "login_failed", field: "code", text: signInMessages.linkFailed };
  return renderLinkStep(c, pending, c.req.query("outcome") === "failed" ? failed : undefined);
};

const handleLink = async (c: Context<AppEnv>): Promise<Response> => {
  const form = await parseRateLimitedForm(c, "AUTH_VERIFY_PER_IP");
  if (form instanceof Response) return form;
  const signed = await completeLinkSignIn(c, form, "business");
  if (signed === null) return c.redirect(`${linkPath}?outcome=failed`, 303);
  if (signed.next === null) return c.redirect("/portal?done=signedIn", 303);
  return redirectSignedIn(c, signed.token, parseNextPath(signed.next));
};

const elsewhereErrors = {
  email: { code: "invalid_request", field: "email", text: signInMessages.badEmail },
  code: { code: "invalid_request", field: "code", text: signInMessages.badCode },
  wrong: { code: "login_failed", field: "code", text: signInMessages.wrongCode },
} as const satisfies Record<string, FormError>;

const handleElsewhere = async (c: Context<AppEnv>): Promise<Response> => {
  const form = await parseRateLimitedForm(c, "AUTH_VERIFY_PER_IP");
  if (form instanceof Response) return form;
  const signed = await completeSignInElsewhere(c, form, "business");
  return signed.fault === null
    ? redirectSignedIn(c, signed.token, "/portal")
    : renderElsewhereStep(c, { form, error: elsewhereErrors[signed.fault] });
};

export const registerSignInLinkRoutes = (pages: Hono<AppEnv>): void => {
  pages.get("/sign-in/link", renderLink);
  pages.post("/sign-in/link", handleLink);
  pages.post("/sign-in/elsewhere", handleElsewhere);
};
